"""What duckdb computes of rows and groups equals what pandas does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest

import marsdask.dataframe as md
from marsdask.core.config import option_context
from marsdask.dataframe.relations.duckdb_kernels.functions import AGGREGATES, FUNCTIONS
from marsdask.dataframe.relations.polars_kernels import functions as polars_functions
from tests.dataframe.relations.polars_kernels.test_functions import DIVISIONS, quotients
from tests.dataframe.relations.test_planning import queries
from tests.dataframe.tables import equal


@pytest.fixture(autouse=True)
def _coalesce() -> Iterator[None]:
    """Let duckdb run whatever is relational, instead of the modes of other tests."""
    with option_context({"dataframe.kernels": "duckdb", "verify": True}):
        yield


LIMITS = [np.iinfo(np.int64).min, -7, -6, -1, 0, 1, 6, 7, np.iinfo(np.int64).max]

ROWS = pd.DataFrame(
    {
        "i": LIMITS,
        "n": np.array([-128, -7, -6, -1, 0, 1, 6, 7, 127], np.int8),
        "u": np.array([0, 1, 2, 3, 4, 5, 250, 254, 255], np.uint8),
        "f": [np.nan, 0.0, -0.0, np.inf, -np.inf, 1.5, -1e308, 1e308, 5e-324],
        "h": np.array([np.nan, 0.1, -0.1, np.inf, 3, 1.5, -2, 7, 1e-45], np.float32),
        "s": pd.Series(["a", None, "", "it's", '"b"', "ä%_", "a\\b", "A", "a\nb"], dtype="str"),
        "t": np.array(["2000-01-01T00:00:00.000000001", "NaT", *["1999-12-31"] * 7], "M8[ns]"),
        "b": [True, False] * 4 + [True],
        "key": range(9),
    }
)

#: Programs of the functions of rows.
PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "sums that overflow": lambda d: d.i + d.i,
    "small sums that overflow": lambda d: d.n + d.n,
    "unsigned differences": lambda d: d.u - d.u * 2,
    "products that overflow": lambda d: d.i * d.i,
    "negated": lambda d: -d.i,
    "small negated": lambda d: -d.n,
    "absolute": lambda d: d.i.abs() + d.n.abs(),
    "quotients below zero": lambda d: d.i // 3,
    "small quotients": lambda d: d.n // 5,
    "remainders below zero": lambda d: d.i % 3,
    "small remainders": lambda d: d.n % 5,
    "products of floats": lambda d: d.f * 10,
    "single precision": lambda d: d.h * d.h + d.h,
    "less than a missing one": lambda d: d.f < d.h,
    "at least a missing one": lambda d: d.f >= d.h,
    "equal to a missing one": lambda d: d.f == d.f,
    "not equal to a missing one": lambda d: d.f != d.f,
    "infinite constants": lambda d: (d.f < np.inf) | (d.f == -np.inf),
    "text with quotes": lambda d: (d.s == "it's") | (d.s == '"b"'),
    "text below": lambda d: d.s < "a",
    "text not equal": lambda d: d.s != "a",
    "starts": lambda d: d.s.str.startswith("a"),
    "ends": lambda d: d.s.str.endswith("b"),
    "contains a sign": lambda d: d.s.str.contains("%", regex=False),
    "contains a backslash": lambda d: d.s.str.contains("\\", regex=False),
    "matches within lines": lambda d: d.s.str.contains("a.*b"),
    "part of text": lambda d: d.s.str[1:3],
    "start of text": lambda d: d.s.str.slice(0, 1),
    "among texts": lambda d: d.s.isin(["it's", ""]),
    "among none": lambda d: d.s.isin([]),
    "among numbers": lambda d: d.i.isin([LIMITS[0], 7]),
    "missing": lambda d: d.f.isna() ^ d.s.notna(),
    "filled": lambda d: d.f.fillna(1),
    "text filled": lambda d: d.s.fillna("it's"),
    "chosen": lambda d: d.i.where(d.b, 3),
    "masked": lambda d: d.f.mask(d.b, 0.5),
    "bounds": lambda d: d.f.clip(-1, 1),
    "bounds of integers": lambda d: d.i.clip(upper=5),
    "cast": lambda d: d.u.astype("int64") + d.b.astype("int64"),
    "cast to floats": lambda d: d.i.astype("float64"),
    "both": lambda d: d.b & (d.i > 0) | ~d.b,
    "times": lambda d: d.t > pd.Timestamp("2000-01-01"),
    "times of days": lambda d: d.t == pd.Timestamp("1999-12-31"),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_functions_of_rows(name: str) -> None:
    """At the ends of types, of what is missing, and of texts that SQL writes in its own way."""

    def program(d: Any) -> Any:
        return d.assign(z=PROGRAMS[name](d)).sort_values("key")[["key", "z"]]

    (query,) = queries(program(md.DataFrame(ROWS, chunk_size=4)))
    assert query.resources is not None
    with np.errstate(over="ignore"):
        equal(program(md.DataFrame(ROWS, chunk_size=4)), program(ROWS), check_exact=True)


def test_duckdb_has_the_functions_of_polars() -> None:
    """Of a function that only one has the other's test would not tell."""
    assert set(FUNCTIONS) == set(polars_functions.FUNCTIONS)
    own = {"first", "last", "median"}
    assert set(AGGREGATES) == set(polars_functions.AGGREGATES) - own


@pytest.mark.parametrize("number", range(len(DIVISIONS)))
def test_quotients_are_those_of_pandas_to_the_last_bit(number: int) -> None:
    """As polars's."""
    frame, program = quotients(number)
    equal(program(md.DataFrame(frame, chunk_size=500)), program(frame), check_exact=True)


@pytest.mark.parametrize("method", sorted({*AGGREGATES, "first", "last", "median"}))
@pytest.mark.parametrize("column", ["i", "n", "u", "f", "h", "s", "t", "b"])
def test_aggregations(method: str, column: str) -> None:
    """Of groups with and without values, and of all rows."""
    frame = ROWS.assign(key=[0, 1, 1, 0, 2, 2, 2, 3, 3])
    if method in {"sum", "mean", "median", "var", "std"}:
        finite = [np.nan, 0.0, -0.0, 2, 3, 1.5, np.nan, np.nan, np.nan]
        frame = frame.assign(f=finite, h=np.array(finite, np.float32))
    lazy = md.DataFrame(frame, chunk_size=4)
    if column in {"s", "t"} and method in {"sum", "mean", "median", "var", "std"}:
        pytest.skip("not of numbers: pandas runs it, or refuses")
    wanted = frame.groupby("key")[column].agg(method)
    equal(lazy.groupby("key")[column].agg(method), wanted, check_exact=False)
    if method not in {"first", "last"} and not (column == "s" and method in {"min", "max"}):
        equal(getattr(lazy[column], method)(), getattr(frame[column], method)(), check_exact=False)


@pytest.mark.parametrize("ddof", [0, 1, 2, 5])
def test_degrees_of_freedom(ddof: int) -> None:
    """Groups with too few values have no variance."""
    frame = pd.DataFrame({"k": [0, 1, 1, 2, 2, 2], "v": [1.0, 2, 4, 1, np.nan, 3]})
    groups, wanted = md.DataFrame(frame, chunk_size=4).groupby("k").v, frame.groupby("k").v
    equal(groups.var(ddof=ddof), wanted.var(ddof=ddof))
    equal(groups.std(ddof=ddof), wanted.std(ddof=ddof))
