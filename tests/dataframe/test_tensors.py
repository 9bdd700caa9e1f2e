"""Frames as tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

import marsdask.dataframe as md
import marsdask.tensor as mt
from tests.dataframe.tables import filtered, tables


@given(both=tables())
def test_values(both):
    """Values come in the common type of the columns, lengths known or not."""
    frame, lazy = both
    columns = ["k", "f"]
    for d, e in ((frame, lazy), (filtered(frame), filtered(lazy))):
        np.testing.assert_array_equal(e[columns].to_tensor().compute(), d[columns].to_numpy())
        np.testing.assert_array_equal((e.u.values + 1).compute(), d.u.to_numpy() + 1)
    assert lazy[columns].values.dtype == frame[columns].to_numpy().dtype


ROWS = pd.DataFrame(
    {
        "k": [1, 2, 3, 4, 5],
        "v": [3, 1, 2, 1, 5],
        "b": [True, False, True, True, False],
        "t": pd.date_range("2024-01-01", periods=5),
    }
)
OTHER = ROWS[["k", "b"]].assign(w=[1, 2, 3, 4, 7])

Rows = Callable[[Any, Any], Any]

#: Rows whose types depend on whether there are gaps: those of ``gaps`` have some.
BY_ROWS: dict[str, Rows] = {
    "where": lambda d, other: d.v.where(d.v > 0),
    "mask": lambda d, other: d.b.mask(d.v < 0),
    "where with gaps": lambda d, other: d.v.where(d.v > 1),
    "mask with gaps": lambda d, other: d.b.mask(d.v < 2),
    "floor division": lambda d, other: d.v // d.v,
    "time": lambda d, other: d.t.dt.year,
    "merge": lambda d, other: d.merge(other, on="k", how="left").w,
    "merge of truth values": lambda d, other: d[["k"]].merge(other, on="k", how="left").b,
    "merge with gaps": lambda d, other: d.merge(other[other.w < 4], on="k", how="left").w,
    "columns": lambda d, other: d[["k"]].merge(other, on="k", how="left")[["k", "w"]],
    "columns with gaps": lambda d, other: d[["k", "v"]].where(d.v > 1),
    "transform": lambda d, other: d.groupby(d.k.astype(float)).v.transform("max"),
    "transform with gaps": lambda d, other: d.groupby(d.k.where(d.v > 1)).b.transform("any"),
    "numbers with gaps": lambda d, other: d.groupby(d.k.where(d.v > 1)).ngroup(),
    "numbers of groups in order": lambda d, other: d.groupby(gapped(d), sort=False).ngroup(),
    "set with gaps": lambda d, other: with_last(numbered(d)),
    "sum with gaps": lambda d, other: numbered(d) + 1,
    "sorted with gaps": lambda d, other: numbered(d).sort_index(ascending=False),
    "largest with gaps": lambda d, other: numbered(d).nlargest(2),
    "mode with gaps": lambda d, other: numbered(d).mode(),
    "aggregated with gaps": lambda d, other: numbered(d).agg(["max", "min"]),
    "maximum with gaps": lambda d, other: numbered(d).groupby(d.b).max(),
    "column with gaps": lambda d, other: d.assign(w=numbered(d))[["k", "w"]],
    "bins": lambda d, other: d.resample("D", on="t").v.max(),
    "bins with gaps": lambda d, other: d.resample("12h", on="t").v.max(),
}


def gapped(d: Any) -> Any:
    """Return keys of groups, of which some are missing."""
    return d.k.where(d.v > 1)


def numbered(d: Any) -> Any:
    """Return the position of each row in its group: rows without a key have none."""
    return d.groupby(gapped(d)).cumcount()


def with_last(rows: Any) -> Any:
    """Return rows of which the last is set."""
    rows = rows.copy()
    rows.iloc[4:] = -1
    return rows


ENDS: dict[str, Callable[[Any], Any]] = {
    "values": lambda rows: rows.values,
    "some rows": lambda rows: rows.head(2).values,
    "slice": lambda rows: rows.to_numpy()[1:3],
    "function": lambda rows: rows.values + 1,
    "comparison": lambda rows: rows.values == 1,
    "sum": lambda rows: rows.values.sum(axis=0),
}


@pytest.mark.parametrize("program", BY_ROWS)
def test_values_have_the_type_of_all_rows(program: str) -> None:
    """They are integers or truth values if no row has a gap, as in pandas."""
    expected_rows = BY_ROWS[program](ROWS, OTHER)
    ends = ENDS | ({} if expected_rows.ndim > 1 else {"unique": lambda rows: rows.unique()})
    rows = BY_ROWS[program](*(md.DataFrame(d, chunk_size=2) for d in (ROWS, OTHER)))
    for name, end in ends.items():
        values, expected = np.asarray(end(rows)), np.asarray(end(expected_rows))
        assert (values.dtype, name) == (expected.dtype, name)
        assert repr(values) == repr(expected)


def _without_gaps() -> Any:
    rows = md.Series([3, 1, 2], chunk_size=1)
    return rows.where(rows > 0).values


FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "cumsum": lambda p, x: p.cumsum(x),
    "sort": lambda p, x: p.sort(x),
    "full_like": lambda p, x: p.full_like(x, x[::-1]),
    "ones_like": lambda p, x: p.ones_like(x),
    "divmod": lambda p, x: p.divmod(x, 2),
    "where": lambda p, x: p.where(x > 1, x, 0),
    "concatenate": lambda p, x: p.concatenate([x, x]),
    "median": lambda p, x: p.median(x),
    "astype": lambda p, x: x.astype(float),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_values_have_numpys_types(name: str) -> None:
    """They are those of functions of integers; Dask graphs have the declared ones."""
    expected = FUNCTIONS[name](np, np.array([3, 1, 2]))
    result = FUNCTIONS[name](mt, _without_gaps())
    pairs = zip(*(x if isinstance(x, tuple) else (x,) for x in (result, expected)), strict=True)
    for own, other in pairs:
        values = np.asarray(own.compute())
        assert values.dtype == other.dtype
        np.testing.assert_array_equal(values, other)
        np.testing.assert_array_equal(own.to_dask().compute(), other)


def test_values_declare_the_type_with_gaps() -> None:
    """Nobody knows yet whether there are any; executed values say it."""
    values = _without_gaps()
    assert (values.dtype, values.nbytes) == (np.dtype(float), 24)
    assert values.execute().dtype == int
    values[0] = 7.5
    np.testing.assert_array_equal(values.compute(), [7, 1, 2])


KEYED = pd.DataFrame({"f": [1.0, None, 2.0], "k": [3, 4, 5]}, index=[3, 1, 2])

#: What becomes of numbers of groups, which rows without a key do not have.
NUMBERED: dict[str, Any] = {
    "put": lambda x, n: put(n, lambda rows: rows.iloc.__setitem__(slice(2, None), -1)),
    "put where": lambda x, n: put(n, lambda rows: rows.__setitem__(rows > 0, -1)),
    "sorted": lambda x, n: n.sort_index(),
    "added": lambda x, n: n + 1,
    "negated": lambda x, n: -n,
    "multiplied": lambda x, n: n * x.k,
    "compared": lambda x, n: n > 0,
    "looked at": lambda x, n: n.isna(),
    "scanned": lambda x, n: n.cumsum(),
    "numbered anew": lambda x, n: n.reset_index(drop=True),
    "masked": lambda x, n: n.mask(x.k > 4, 7),
    "in a frame": lambda x, n: n.to_frame("n").assign(k=1).n,
    "assigned": lambda x, n: x.assign(n=n)[["n", "k"]].n,
    "beside": lambda x, n: x.assign(n=n)[["n", "k"]].k + 1,
    "of groups": lambda x, n: x.groupby("f").k.transform("max") + x.k,
    "flags": lambda x, n: x.assign(b=x.k > 3).groupby("f").b.transform("max"),
}


def put(rows: Any, change: Any) -> Any:
    """Return a changed copy."""
    rows = rows.copy()
    change(rows)
    return rows


@pytest.mark.parametrize("case", NUMBERED)
def test_gaps_of_groups(case: str) -> None:
    """Arrays have floats, or objects, if a row without a key has a gap below other operations."""
    call = NUMBERED[case]
    for keys in (KEYED, KEYED.fillna(1)):
        lazy: Any = md.DataFrame(keys, chunk_size=2)
        values = call(lazy, lazy.groupby("f").ngroup()).to_tensor().compute()
        wanted = call(keys, keys.groupby("f").ngroup()).to_numpy()
        assert values.dtype == wanted.dtype
        pd.testing.assert_series_equal(pd.Series(values), pd.Series(wanted))
