"""Values put in place of others, and types changed, as expressions."""

from __future__ import annotations

from collections.abc import Iterator
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
        "i": [1, 0, 3, -1, 0, 2],
        "tiny": np.array([1, 0, 3, -1, 0, 2], np.int8),
        "half": np.array([1, np.nan, 3, 0.1, 0, 2], np.float32),
        "s": pd.Series(["a", None, "Ab", "b", "", "a.b"], dtype="str"),
        "b": [True, False, True, False, False, True],
    }
)


@pytest.fixture(autouse=True)
def _coalesce() -> Iterator[None]:
    """Let polars run whatever is relational."""
    with option_context({"dataframe.kernels": "polars", "verify": True}):
        yield


def is_whole(lazy: Any) -> bool:
    found = _tables(Graph([lazy.node])).get(lazy.node)
    return found is not None and found.is_whole


#: Functions of rows that polars computes.
KNOWN: list[Any] = [
    lambda d: d.f.fillna(0),
    lambda d: d.s.fillna("x"),
    lambda d: d[["i", "tiny", "b"]].fillna("x"),
    lambda d: d.f.where(d.i > 0),
    lambda d: d.f.where(d.i > 0, d.f * 2),
    lambda d: d.s.mask(d.f > 0, "x"),
    lambda d: d.i.mask(d.f > 0, 7),
    lambda d: d.b.where(d.f > 0, True),
    lambda d: d.f.clip(-1, 0.0),
    lambda d: d.f.clip(lower=0),
    lambda d: d.i.clip(0, 2),
    lambda d: d.f.clip(upper=-0.5),
    lambda d: d[["i", "tiny", "b"]].astype("int64"),
    lambda d: d[["i", "half", "b"]].astype(float),
]
#: Those whose type or value only pandas knows.
UNKNOWN: list[Any] = [
    lambda d: d.half.fillna(0.1),
    lambda d: d.f.fillna(value={0: 1.0}),
    lambda d: d.i.where(d.f > 0),
    lambda d: d.i.where(d.f > 0, 0.5),
    lambda d: d.tiny.mask(d.f > 0, 300),
    lambda d: d.i.clip(0.5),
    lambda d: d.f.clip(1, 0),
    lambda d: d.f.clip(np.nan, 0),
    lambda d: d.i.astype("int8"),
    lambda d: d.i.astype("str"),
]


@pytest.mark.parametrize("place", range(len(KNOWN)))
def test_known_functions(place: int) -> None:
    """Values, types and labels are pandas's: NaN and signs of zeros stay."""
    lazy = md.DataFrame(FRAME, chunk_size=4)
    found, wanted = KNOWN[place](lazy), KNOWN[place](FRAME)
    assert is_whole(found)
    computed = found.sort_index().compute()
    equal(found.sort_index(), wanted)
    if wanted.dtypes is np.dtype(float):
        np.testing.assert_array_equal(np.signbit(computed), np.signbit(wanted))


@pytest.mark.parametrize("place", range(len(UNKNOWN)))
def test_unknown_functions(place: int) -> None:
    """They are left to pandas."""
    lazy = md.DataFrame(FRAME, chunk_size=4)
    found = UNKNOWN[place](lazy)
    assert not is_whole(found)
    equal(found, UNKNOWN[place](FRAME))
