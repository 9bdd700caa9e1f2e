"""Functions of rows as expressions: only where engines agree on every value."""

from __future__ import annotations

import operator
from collections.abc import Callable
from datetime import datetime
from typing import Any

import numpy as np
import pandas as pd
import pytest

import marsdask.dataframe as md
from marsdask.core.config import option_context
from marsdask.core.graph import Graph
from marsdask.dataframe.relations.planning import _tables
from tests.dataframe.tables import equal

FRAME = pd.DataFrame(
    {
        "f": [1.0, np.nan, -np.inf, np.inf, 0.0, -0.0],
        "g": [np.nan, np.nan, 1.0, 2.0, np.nan, 0.0],
        "i": [1, 0, 3, -1, 0, 0],
        "tiny": np.array([1, 0, 3, -1, 0, 0], np.int8),
        "large": np.array([1, 0, 3, 2**64 - 1, 0, 0], np.uint64),
        "s": pd.Series(["a", None, "Ab", "b", "", "a.b"], dtype="str"),
        "t": pd.Series(
            [
                pd.Timestamp("1999-12-31 23:59:59.999999999"),
                pd.NaT,
                *[pd.Timestamp("2000-01-01")] * 4,
            ]
        ),
        "day": pd.to_datetime(["1999-12-31", "2000-02-29", *["2000-01-01"] * 4]).as_unit("us"),
        "c": pd.Series(["x", "y", "x", "y", "x", "y"], dtype="category"),
    }
)
COMPARISONS = [getattr(operator, name) for name in ("lt", "le", "gt", "ge", "eq", "ne")]

MASKS: list[Callable[[Any], Any]] = [
    lambda d: d.s == "a",
    lambda d: d.s != "a",
    lambda d: d.s >= "a",
    lambda d: d.s.isin(["a", ""]),
    lambda d: d.s.str.startswith("a"),
    lambda d: d.s.str.endswith("b"),
    lambda d: d.s.str.contains("a.b", regex=False),
    lambda d: d.s.str.contains("a.*b"),
    lambda d: d.s.str.slice(0, 1) == "a",
    lambda d: d.s.str[:1] != "A",
    lambda d: d.t < pd.Timestamp("2000-01-01"),
    lambda d: d.t != pd.Timestamp("2000-01-01"),
    lambda d: d.t >= datetime(2000, 1, 1),
    lambda d: d.t < np.datetime64("2000-01-01"),
    lambda d: d.t == np.datetime64(946684799999999999, "ns"),
    lambda d: d.day <= "2000-01-01",
    lambda d: d.day < datetime(3000, 1, 1),
    lambda d: d.t > "2000",
    lambda d: d.t.between("1999-12-31", datetime(2000, 1, 1), inclusive="left"),
    lambda d: d.day.isna() | d.t.notna(),
    lambda d: d.i.isin([0, -1]),
    lambda d: d.i.between(0, 1, "neither") | d.f.between(0, 1),
    lambda d: d.i / d.tiny > 0.5,
    lambda d: abs(d.tiny) * 2 - d.i == -d.i,
    lambda d: (d.i - 2) // 2 == -1,
    lambda d: (d.tiny - 2) % 3 == 1,
]

OTHERS: list[Callable[[Any], Any]] = [
    lambda d: d.c == "x",
    lambda d: d.s + "!",
    lambda d: d.large > d.i,
    lambda d: d.i // -2,
    lambda d: d.i // 0,
    lambda d: d.f % 0.1,
    lambda d: 7 // d.i,
    lambda d: d.s.str.contains("a.b"),
    lambda d: d.s.str.contains("[ab]"),
    lambda d: d.s.str.upper(),
    lambda d: d.s.str[-1:],
    lambda d: d.s.isin(["a", None]),
    lambda d: d.f.isin([1.0]),
    lambda d: d.t.dt.year,
    lambda d: d.t > d.day,
    lambda d: d.i & 1,
    lambda d: d.i * np.float32(2),
    lambda d: d.i * np.timedelta64(2, "s"),
    lambda d: d.t + np.timedelta64(2, "s"),
    lambda d: d.t == np.datetime64("NaT"),
    lambda d: d.t < datetime(3000, 1, 1),
    lambda d: d.day < pd.Timestamp("2000-01-01 00:00:00.000000001"),
    lambda d: d.t == "no time",
]


@pytest.fixture(autouse=True)
def _coalesce() -> Any:
    """Let polars run whatever is relational, instead of the modes of other tests."""
    with option_context({"dataframe.kernels": "polars", "verify": True}):
        yield


def is_known(lazy: Any) -> bool:
    """Tell whether a lazy column is an expression."""
    table = _tables(Graph([lazy.node])).get(lazy.node)
    return table is not None and None not in table.columns


@pytest.mark.parametrize("compare", COMPARISONS)
@pytest.mark.parametrize("column", ["f", "g", "i", "tiny"])
@pytest.mark.parametrize("other", ["f", "g", "i", "tiny", 0, 300, 0.5, np.nan, np.inf], ids=str)
def test_comparisons_of_numbers(compare: Callable[..., Any], column: str, other: Any) -> None:
    """NaN is neither equal to anything nor larger, on either side, also where it is negated."""
    lazy = md.DataFrame(FRAME, chunk_size=2)

    def masks(frame: Any) -> Any:
        value = frame[other] if isinstance(other, str) else other
        return compare(frame[column], value), compare(value, frame[column])

    for found, wanted in zip(masks(lazy), masks(FRAME), strict=True):
        assert is_known(found)
        equal(lazy[["i", "f"]][found], FRAME[["i", "f"]][wanted])
        equal(lazy[["i", "f"]][~found], FRAME[["i", "f"]][~wanted])


@pytest.mark.parametrize("kernels", ["polars", "duckdb"])
@pytest.mark.parametrize("number", range(len(MASKS)))
def test_masks(number: int, kernels: str) -> None:
    """What is missing answers as in pandas."""
    mask = MASKS[number]
    lazy = md.DataFrame(FRAME, chunk_size=4)
    assert is_known(mask(lazy))
    with option_context({"dataframe.kernels": kernels}):
        equal(lazy[["i", "s"]][mask(lazy)], FRAME[["i", "s"]][mask(FRAME)])
        equal(lazy[["i", "s"]][~mask(lazy)], FRAME[["i", "s"]][~mask(FRAME)])


@pytest.mark.parametrize("number", range(len(OTHERS)))
def test_what_stays_with_pandas(number: int) -> None:
    """Where engines differ in a value, or only values tell the type."""
    column = OTHERS[number]
    lazy = md.DataFrame(FRAME, chunk_size=4)
    assert not is_known(column(lazy))
    equal(column(lazy), column(FRAME))
