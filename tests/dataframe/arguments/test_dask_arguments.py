"""Dask's arguments about how to compute are taken, and change no result."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

import marsdask.dataframe as md
from tests.dataframe import one_mode
from tests.dataframe.tables import equal, table

_coalesce = one_mode.coalesce

FRAME = table(20)

#: What is called with such arguments, and the same without, on a frame of either library.
CALLS = {
    "sum": (lambda f: f.u.sum(split_every=2), lambda f: f.u.sum()),
    "std": (lambda f: f[["f", "u"]].std(split_every=8), lambda f: f[["f", "u"]].std()),
    "drop_duplicates": (
        lambda f: f[["k", "b"]].drop_duplicates(split_out=2, split_every=4, shuffle_method="tasks"),
        lambda f: f[["k", "b"]].drop_duplicates(),
    ),
    "nunique": (lambda f: f.k.nunique(split_every=2), lambda f: f.k.nunique()),
    "value_counts": (
        lambda f: f.b.value_counts(split_every=2, split_out=1),
        lambda f: f.b.value_counts(),
    ),
    "grouped": (
        lambda f: f.groupby("k").u.sum(split_out=True),
        lambda f: f.groupby("k").u.sum(),
    ),
    "agg": (
        lambda f: f.groupby("k").agg({"u": ["size", "sum"]}, split_every=2, split_out=3),
        lambda f: f.groupby("k").agg({"u": ["size", "sum"]}),
    ),
    "named": (
        lambda f: f.groupby("k").agg(x=("u", "max"), split_out=2, shuffle_method="tasks"),
        lambda f: f.groupby("k").agg(x=("u", "max")),
    ),
    "transform": (
        lambda f: f.groupby("k").u.transform("sum", meta=("u", int)),
        lambda f: f.groupby("k").u.transform("sum"),
    ),
    "sort_values": (
        lambda f: f.sort_values("u", npartitions=2, upsample=2.0, shuffle_method="disk"),
        lambda f: f.sort_values("u"),
    ),
    "set_index": (
        lambda f: f.set_index("u", sorted=False, npartitions="auto", partition_size=10),
        lambda f: f.set_index("u"),
    ),
    "merge": (
        lambda f: f.merge(f, on="u", npartitions=2, broadcast=True, shuffle_method="p2p"),
        lambda f: f.merge(f, on="u"),
    ),
    "head": (lambda f: f.head(7, npartitions=-1, compute=False), lambda f: f.head(7)),
    "tail": (lambda f: f.tail(3, compute=False), lambda f: f.tail(3)),
}


@pytest.mark.parametrize("name", CALLS)
def test_advice_changes_nothing(name: str) -> None:
    """The result is pandas's, which knows no such argument."""
    advised, plain = CALLS[name]
    equal(advised(md.DataFrame(FRAME, chunk_size=6)), plain(FRAME))


def test_the_first_rows_may_be_computed_at_once() -> None:
    """As Dask does, if it is asked for."""
    lazy: Any = md.DataFrame(FRAME, chunk_size=6)
    pd.testing.assert_frame_equal(lazy.head(8, compute=True), FRAME.head(8))
    pd.testing.assert_series_equal(lazy.u.tail(8, compute=True), FRAME.u.tail(8))


def test_other_arguments_are_named() -> None:
    """What is no argument of Dask either raises where it is called."""
    lazy: Any = md.DataFrame(FRAME)
    with pytest.raises(TypeError, match="splitevery"):
        lazy.u.nunique(splitevery=2)
    with pytest.raises(TypeError, match="npartition"):
        lazy.head(3, npartition=2)


def test_labels_are_sorted_if_asked_for():
    """``set_index`` keeps the order as pandas, sorts as Dask, cuts by labels, looks for doubles."""
    lazy: Any = md.DataFrame(FRAME, chunk_size=6)
    equal(lazy.set_index("u"), FRAME.set_index("u"))
    equal(lazy.set_index("u", sort=True), FRAME.set_index("u").sort_index())
    cut = lazy.set_index("u", divisions=[0, 5, 19])
    equal(cut, FRAME.set_index("u").sort_index())
    assert cut.divisions == (0, 5, 19)
    assert cut.get_partition(0).index.compute().tolist() == [0, 1, 2, 3, 4]
    equal(lazy.set_index("u", verify_integrity=True), FRAME.set_index("u"))
    with pytest.raises(ValueError, match="duplicate keys"):
        lazy.set_index("k", verify_integrity=True)
    lazy.set_index("k", inplace=True)
    equal(lazy, FRAME.set_index("k"))
