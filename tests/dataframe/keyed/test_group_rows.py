"""Methods of groups with a value for each row, or that select rows, equal pandas's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import marsdask.dataframe as md
from tests.dataframe.tables import equal, filtered, planned, table, tables

MODES = pytest.mark.parametrize("mode", ["as it comes", "tight"])
FEW = settings(max_examples=3)


def _demeaned(rows):
    return rows - rows.mean()


def _is_large(rows, least=2):
    return len(rows) >= least


#: What is called of the groups of a table.
CALLS = {
    "cumsum": lambda g: g[["u", "f"]].cumsum(),
    "cumprod": lambda g: g.f.cumprod(),
    "cummin": lambda g: g.f.cummin(),
    "cummax": lambda g: g[["u"]].cummax(),
    "cumcount": lambda g: g.cumcount(ascending=False),
    "rank": lambda g: g[["u", "f"]].rank(method="dense", pct=True),
    "shift": lambda g: g[["u", "s", "t"]].shift(),
    "shift filled": lambda g: g.u.shift(-2, fill_value=7),
    "diff": lambda g: g[["u", "t"]].diff(),
    "pct_change": lambda g: g.f.pct_change() * 2,
    "ffill": lambda g: g[["f", "s"]].ffill(),
    "bfill": lambda g: g.s.bfill(limit=1),
    "transform of a name": lambda g: g[["f", "u"]].transform("mean"),
    "transform of a function": lambda g: g.f.transform(_demeaned),
    "transform of frames": lambda g: g[["f", "u"]].transform(lambda rows: rows.max()),
    "head": lambda g: g.head(2),
    "tail": lambda g: g[["u", "f"]].tail(1),
    "head of a column": lambda g: g.u.head(1),
    "nth": lambda g: g.nth([0, -1]),
    "filter": lambda g: g.filter(_is_large, least=3),
    "filter of a column": lambda g: g.f.filter(lambda rows: rows.mean() > 1),
}
BY = ["k", "s", ["b", "s"], "f"]


@MODES
@pytest.mark.parametrize("name", CALLS)
@FEW
@given(both=tables(min_rows=1), by=st.sampled_from(BY), dropna=st.booleans())
def test_values_of_rows_equal_pandas(mode, name, both, by, dropna):
    """Over chunkings, of whole tables and of filtered ones; rows keep their order and labels."""
    if by == "f" and ("pct" in name or "filter" in name or "transform" in name):
        by = "k"
    frame, lazy = both
    if "transform" in name and filtered(frame).s.isna().all():
        by = "k"  # pandas raises if no row is in a group
    with planned(mode):
        for d, e in ((frame, lazy), (filtered(frame), filtered(lazy))):
            if not len(d):
                continue
            wanted = CALLS[name](d.groupby(by, dropna=dropna))
            equal(CALLS[name](e.groupby(by, dropna=dropna)), wanted)


def test_values_are_aligned_with_their_rows():
    """They can be assigned to the frame, and be operands beside its columns."""
    frame = table(12)
    lazy = md.DataFrame(frame, chunk_size=5)
    groups = lazy.groupby("k").u
    equal(
        lazy.assign(x=groups.cumsum() - lazy.u),
        frame.assign(x=frame.groupby("k").u.cumsum() - frame.u),
    )
    equal(lazy[groups.cumcount() == 0], frame[frame.groupby("k").cumcount() == 0])


def test_values_after_history():
    """Of an executed frame, and of one whose filter was executed."""
    frame = table(12)
    for chosen in (lambda d: d, filtered):
        lazy = chosen(md.DataFrame(frame, chunk_size=5))
        lazy.execute()
        with planned("shuffled"):
            equal(lazy.groupby("k").u.shift(), chosen(frame).groupby("k").u.shift())


def test_functions_get_rows_without_keys_and_with_labels():
    """As in pandas: the labels are the rows' own."""
    frame = table(9, index="labels")
    lazy = md.DataFrame(frame, chunk_size=2)
    with planned("shuffled"):
        found = lazy.groupby("k").u.transform(lambda rows: rows.index[0])
        equal(found, frame.groupby("k").u.transform(lambda rows: rows.index[0]))


def test_types_are_refused_at_the_call():
    """Text has no differences; what changes labels or fills rows is not supported."""
    groups = md.DataFrame(table(5), chunk_size=2).groupby("k")
    with pytest.raises(TypeError):
        groups.s.diff()
    with pytest.raises(NotImplementedError, match="periods"):
        groups.u.shift(freq="D")
    with pytest.raises(NotImplementedError, match="where"):
        groups.filter(_is_large, dropna=False)
    with pytest.raises(NotImplementedError, match="before groupby"):
        groups.nth(0, dropna="any")
    with pytest.raises(NotImplementedError, match="engine"):
        groups.u.transform(_demeaned, engine="numba")


def test_no_rows():
    """An empty frame has no values, of the types that pandas gives."""
    frame = pd.DataFrame({"k": [1], "x": [2.0]})[:0]
    lazy = md.DataFrame(frame)
    equal(lazy.groupby("k").x.cumsum(), frame.groupby("k").x.cumsum())
    equal(lazy.groupby("k").head(1), frame.groupby("k").head(1))
    equal(lazy.groupby("k").ngroup(ascending=False), frame.groupby("k").ngroup(ascending=False))


@pytest.mark.parametrize("mode", ["usual", "shuffled"])
def test_filled_shifts_of_rows_without_a_key(mode):
    """They are filled, too, where no row of a chunk is in a group."""
    for keys in ([1, None, 1, None, 2, None], [None] * 6):
        frame = pd.DataFrame({"k": pd.Series(keys, dtype=float), "v": range(6)})
        with planned(mode):
            groups = md.DataFrame(frame, chunk_size=1).groupby("k").v
            equal(groups.shift(fill_value=0), frame.groupby("k").v.shift(fill_value=0))


#: Keys that are no columns of the frame, and those that are.
OTHER_KEYS: dict[str, Callable[[Any], Any]] = {
    "a column": lambda d: "k",
    "values": lambda d: d.k % 2,
    "named values": lambda d: (d.k % 2).rename("z"),
    "values of a column's name": lambda d: d.k % 2 == 1,
    "both": lambda d: ["s", d.k % 2],
    "an array": lambda d: np.array([0, 1, 0, 1, 1]),
    "a function": lambda d: lambda label: label % 2,
}


@pytest.mark.parametrize("columns", [None, ["u"], ["u", "f"]], ids=str)
@pytest.mark.parametrize("keys", OTHER_KEYS)
def test_filter_shows_the_columns_of_the_frame(keys: str, columns: list[str] | None) -> None:
    """The function sees the keys that are columns, and no others."""
    frame = table(5).reset_index(drop=True)
    lazy = md.DataFrame(frame, chunk_size=2)
    results = []
    for d in (frame, lazy):
        groups: Any = d.groupby(OTHER_KEYS[keys](d))
        groups = groups if columns is None else groups[columns]
        shown = columns or [*frame.columns]
        results.append(groups.filter(lambda rows, shown=shown: [*rows.columns] == shown))
        results.append(groups.filter(lambda rows: rows[["u"]].mean() > 0))
    equal(results[2], results[0])
    equal(results[3], results[1])
    assert len(results[0])
