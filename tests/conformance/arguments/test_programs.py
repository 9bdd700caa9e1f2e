"""Programs of which an argument was dropped."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import marsdask.dataframe as md
from marsdask.core.config import option_context
from tests.conformance.arguments.case import equal, result

FRAME = pd.DataFrame(
    {"a": [3, 1, 2, 2, 5], "b": [1.5, np.nan, -2.25, 0.5, 8.0]},
    index=pd.Index(["r", "q", "v", "p", "s"], name="lab"),
)
LEVELS = FRAME.set_axis(
    pd.MultiIndex.from_arrays([list("uuvvw"), [2, 1, 2, 1, 2]], names=["k", "l"])
)
TEXTS = pd.Series(["Abc", "b,c,d", None, " pad ", " a,a"], name="t")
TIMES = pd.Series(
    pd.DatetimeIndex(["2024-03-30 22:15", "2023-12-31 23:00", "NaT", "2024-03-31 04:00"]), name="w"
)
GROUPED = FRAME.assign(g=[1, 2, 1, 2, 1]).reset_index(drop=True)
QUERIED = FRAME.reset_index(drop=True).assign(c=[9, 7, 0, 1, 5], s=list("xyzxx"), t=list("xqzyx"))
PERIODS = pd.Series(range(12), index=pd.period_range("2000Q1", periods=12, freq="Q-FEB"))
MINUTES = pd.Series([1.0, 2.0, 3.0], index=pd.period_range("2020-01-01", periods=3, freq="min"))
KINDS = pd.DataFrame({"f": [True, False], "n": [1, 2], "s": ["x", "y"]})
NAMED = FRAME.rename_axis("cols", axis=1)


def _of_array(rows: Any) -> Any:
    out = np.zeros(rows.shape)
    found = np.add(rows, 1, out=out)
    np.testing.assert_array_equal(out, np.asarray(found.compute()) if _lazy(found) else found)
    return found


def _lazy(value: Any) -> bool:
    return hasattr(value, "compute")


def _own_row(rows: Any) -> Any:
    rows.loc[0, [(0, 1)]] = rows.loc[0, [(0, 1)]]
    return rows


def _attribute(rows: Any) -> Any:
    rows.str.xlabel = 1


#: Programs by their data.
PROGRAMS: dict[str, tuple[Any, Any]] = {
    "agg of a list": (FRAME, lambda x: x.agg(["var", "std"], ddof=0)),
    "agg of a function": (FRAME, lambda x: x.agg([np.std], ddof=1)),
    "agg of a column": (FRAME.b, lambda x: x.agg(["var"], ddof=0)),
    "agg of numbers": (KINDS, lambda x: x.agg(["sum"], numeric_only=True)),
    "agg of flags": (KINDS, lambda x: x.agg(["any", "all"], bool_only=True)),
    "agg of groups": (GROUPED, lambda x: x.groupby("g").agg(["var"], ddof=0)),
    "agg of windows": (FRAME, lambda x: x.rolling(2).agg(["var"], ddof=0)),
    "agg with nonsense": (FRAME, lambda x: x.agg(["sum"], nonsense=1)),
    **{
        f"query {text}": (QUERIED, lambda x, text=text: x.query(text))
        for text in (
            *("b in (a, c)", "b in [a, 8]", "b not in [a, c]", "b == [8, 1.5]", "b != [8, 1.5]"),
            *("b == [a, 8]", "[8, 1.5] == b", "[a, 8] in b", "s in t", "s in ['y', t]", "b in a"),
            *("a in [1, 2] and b in [8, c]", "'x' in s", "a in 1"),
        )
    },
    "query with nonsense": (QUERIED, lambda x: x.query("a > 1", nonsense=1)),
    "query by another engine": (QUERIED, lambda x: x.query("a > 1", engine="none")),
    "xs": (LEVELS, lambda x: x.xs("u", drop_level=False)),
    "xs of a row": (LEVELS, lambda x: x.xs(("u", 1), drop_level=False)),
    "xs of a column": (LEVELS.T, lambda x: x.xs("u", axis=1, drop_level=False)),
    "xs of a level of columns": (LEVELS.T, lambda x: x.xs(1, axis=1, level="l")),
    "xs of levels": (LEVELS, lambda x: x.xs(("u", 1), level=["k", "l"])),
    "xs of values": (LEVELS.b, lambda x: x.xs("u", drop_level=False)),
    "truncate": (PERIODS, lambda x: x.truncate("2001Q1", "2001Q3")),
    "a slice in a tuple": (FRAME.b, lambda x: x[(slice(2),)]),
    "a row of levels": (
        pd.DataFrame("a", index=range(2), columns=pd.MultiIndex.from_product([range(2)] * 2)),
        _own_row,
    ),
    "diff": (FRAME, lambda x: x.diff(1.5)),
    "shift": (FRAME, lambda x: x.shift(0.5)),
    **{
        f"sort_index {value}": (FRAME, lambda x, value=value: x.sort_index(ascending=value))
        for value in (None, "no", 1.5)
    },
    **{
        f"sort_values {value}": (FRAME.b, lambda x, value=value: x.sort_values(ascending=value))
        for value in (None, "no", 1.5)
    },
    "drop_duplicates": (FRAME, lambda x: x.drop_duplicates(ignore_index="no")),
    "dropna": (FRAME.b, lambda x: x.dropna(ignore_index="no")),
    "mean": (TIMES, lambda x: x.mean(skipna="no")),
    "median": (FRAME.b, lambda x: x.median(skipna="no")),
    "an attribute": (TEXTS, _attribute),
    "apply across": (FRAME, lambda x: x.apply("pct_change", axis=1)),
    "apply cumsum across": (FRAME, lambda x: x.apply("cumsum", axis=1)),
    "transform across": (FRAME, lambda x: x.transform("cumsum", axis=1)),
    "apply as": (FRAME, lambda x: x.apply("sum", result_type="no")),
    "out of a frame": (FRAME, _of_array),
    "out of a series": (FRAME.a, _of_array),
    "windows of periods": (MINUTES, lambda x: x.rolling("2min").sum()),
    "windows of objects": (pd.Series([1, 2, 3], dtype=object), lambda x: x.expanding().mean()),
    "no name": (NAMED, lambda x: x.rename_axis(None)),
    "no name of columns": (NAMED, lambda x: x.rename_axis(columns=None)),
    "no name across": (NAMED, lambda x: x.rename_axis(None, axis=1)),
    "rename": (FRAME, lambda x: x.rename(columns={"a": "z"}, axis=1)),
    "transpose": (FRAME.b, lambda x: x.transpose(nonsense=1)),
}


@pytest.mark.parametrize("rows", [100, 2, 1])
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str, rows: int) -> None:
    """A program gives what pandas gives, whatever the chunks, or its error at the call."""
    data, program = PROGRAMS[name]
    kind = md.DataFrame if isinstance(data, pd.DataFrame) else md.Series
    wanted = result(lambda: program(data.copy()))
    with option_context({"coalesce": rows == 100}):
        found = result(lambda: program(kind(data, chunk_size=rows)))
    assert equal(wanted, found), (wanted, found)
    if isinstance(wanted, Exception):
        assert isinstance(found, type(wanted))


def test_arrays_in_cells_are_no_scalars() -> None:
    """Nor are they equal to others of another length."""
    texts = pd.DataFrame({"x": ["a", "b"]}, dtype=object)
    arrays, longer = texts.copy(), texts.copy()
    arrays["x"] = pd.Series([np.array(["a"], dtype=object), "b"])
    longer["x"] = pd.Series([np.array(["a", "c"], dtype=object), "b"])
    for left in (texts, arrays, longer):
        for right in (texts, arrays, longer):
            lazy = md.DataFrame(left, chunk_size=1)
            assert lazy.equals(md.DataFrame(right, chunk_size=1)) is left.equals(right)
