"""Rows that lie by their keys are not sent again, and values are pandas's all the same."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.dataframe as md
from marsdask.core.config import option_context
from marsdask.dataframe.keyed import shuffle
from marsdask.dataframe.keyed.shuffle import places_of
from marsdask.dataframe.row_parts import split_at
from tests.dataframe.tables import planned


def left_of(rows: int = 40, seed: int = 0) -> Any:
    """Return a table of keys that repeat, some of them missing."""
    rng = np.random.default_rng(seed)
    keys = rng.choice([np.nan, 0.0, -0.0, 1.0, 2.0, 3.0, 5.0], rows)
    return pd.DataFrame({"k": keys, "v": rng.integers(0, 5, rows), "u": rng.permutation(rows)})


def right_of(name: str = "w") -> Any:
    """Return another table of such keys."""
    keys = [0.0, 1.0, np.nan, 2.0, 2.0, 7.0, 8.0, 3.0, 5.0, 9.0]
    return pd.DataFrame({"k": keys, name: np.arange(10) * 0.5})


def lazily(frame: pd.DataFrame, chunk: int) -> Any:
    """Return a table in chunks."""
    return md.from_pandas(frame, chunk_size=chunk)


@contextmanager
def counted() -> Iterator[list[int]]:
    """List the rows of each chunk that is cut for a shuffle."""
    cut: list[int] = []

    def counting(block: Any, *args: Any, **kwargs: Any) -> Any:
        cut.append(len(block))
        return split_at(block, *args, **kwargs)

    with (
        planned("shuffled"),
        option_context({"coalesce": False}),
        mock.patch.object(shuffle, "split_at", counting),
    ):
        yield cut


def same_rows(found: Any, wanted: Any) -> None:
    """Check that two frames have the same rows, in whatever order."""
    by = list(wanted.columns)
    pd.testing.assert_frame_equal(
        found.sort_values(by, ignore_index=True), wanted.sort_values(by, ignore_index=True)
    )


def merged(how: str = "inner") -> tuple[Any, Any]:
    """Return a merge of four chunks with five, and what it is to be."""
    left, right = left_of(), right_of()
    lazy = lazily(left, 10).merge(lazily(right, 2), on="k", how=how)
    return lazy, left.merge(right, on="k", how=how)


#: Chunks that one shuffled merge of four chunks with five cuts.
ONCE = 4 + 5


@pytest.mark.parametrize("how", ["inner", "left", "right", "outer"])
def test_groups_of_merged_rows_are_whole(how: str) -> None:
    """Medians of groups by the key of a merge take one shuffle a side, no third one of the rows."""
    lazy, wanted = merged(how)
    with counted() as cut:
        found = lazy.groupby("k").agg({"v": "median", "w": "nunique"}).compute()
    pd.testing.assert_frame_equal(found, wanted.groupby("k").agg({"v": "median", "w": "nunique"}))
    # What is left to bring in order are groups, fewer than there are keys.
    assert sum(cut[ONCE:]) <= wanted.k.nunique()


def test_groups_as_met_need_no_order() -> None:
    """Groups that need not be sorted stay where they are, whole or partial results alike."""
    for method in ("sum", "median"):
        lazy, wanted = merged()
        with counted() as cut:
            found = getattr(lazy.groupby(["k", "v"], sort=False, dropna=False), method)().compute()
        assert len(cut) == ONCE
        how = {"dropna": False}
        pd.testing.assert_frame_equal(
            found.sort_index(), getattr(wanted.groupby(["k", "v"], **how), method)()
        )


def test_distinct_rows_of_merged_ones() -> None:
    """Rows that are equal in the key and more lie together: no second shuffle."""
    lazy, wanted = merged("left")
    with counted() as cut:
        found = lazy[["k", "w"]].drop_duplicates().compute()
    assert len(cut) == ONCE
    same_rows(found.reset_index(drop=True), wanted[["k", "w"]].drop_duplicates())


def test_a_second_merge_sends_the_other_side_only() -> None:
    """What was merged by a key lies right for another merge by it; the other side is cut alike."""
    for steps in ("", "filter", "assign"):
        lazy, wanted = merged()
        if steps == "filter":
            lazy, wanted = lazy[lazy.v > 0], wanted[wanted.v > 0]
        if steps == "assign":
            lazy, wanted = lazy.assign(z=lazy.v + 1), wanted.assign(z=wanted.v + 1)
        other = right_of("x")
        with counted() as cut:
            found = lazy.merge(lazily(other, 5), on="k", how="left").compute()
        assert len(cut) == ONCE + 2
        same_rows(found, wanted.merge(other, on="k", how="left"))


def test_keys_that_were_changed_are_sent_again() -> None:
    """A key that was assigned, and one of another type, lies where the former one belongs."""
    other = right_of("x").dropna()
    for changed in ({"k": lambda x: x.k + 1}, {"k": lambda x: x.v}):
        lazy, wanted = merged()
        lazy, wanted = lazy.assign(**changed), wanted.assign(**changed)
        with counted() as cut:
            found = lazy.merge(lazily(other, 5), on="k").compute()
        assert len(cut) > ONCE + 2
        same_rows(found, wanted.merge(other, on="k"))
        with counted():
            medians = lazy.groupby("k").median().compute()
        pd.testing.assert_frame_equal(medians, wanted.groupby("k").median())


@pytest.mark.parametrize("history", ["executed", "pickled"])
def test_results_lie_as_they_did(history: str) -> None:
    """What was executed, or went through a pickle, is not sent again either."""
    lazy, wanted = merged()
    other = right_of("x")
    with counted() as cut:
        lazy.execute()
        if history == "pickled":
            lazy = pickle.loads(pickle.dumps(lazy))
        cut.clear()
        found = lazy.merge(lazily(other, 5), on="k").compute()
    assert cut == [5, 5]  # the other side
    same_rows(found, wanted.merge(other, on="k"))


def test_groups_of_sorted_rows_come_in_order() -> None:
    """Rows sorted by the key are cut by its ranges: groups are whole and in order."""
    frame = left_of()
    with counted() as cut:
        lazy = lazily(frame, 10).sort_values("k").groupby("k", dropna=False).median()
        found = lazy.compute()
    assert len(cut) == 4
    pd.testing.assert_frame_equal(found, frame.groupby("k", dropna=False).median())


@given(
    rows=st.integers(1, 30),
    seed=st.integers(0, 99),
    chunk=st.integers(1, 9),
    how=st.sampled_from(["inner", "left", "right", "outer"]),
    mode=st.sampled_from(["shuffled", "tight"]),
    executed=st.booleans(),
)
def test_values_over_cuts_and_histories(
    rows: int, seed: int, chunk: int, how: str, mode: str, executed: bool
) -> None:
    """Group-bys, distinct rows and merges of merged rows are pandas's, however they lie."""
    left, right = left_of(rows, seed), right_of()
    wanted = left.merge(right, on="k", how=how)
    with planned(mode):
        lazy = lazily(left, chunk).merge(lazily(right, 3), on="k", how=how)
        if executed:
            lazy.execute()
        medians = lazy.groupby("k").median().compute()
        sums = lazy.groupby("k", sort=False).sum().compute()
        distinct = lazy[["k", "w"]].drop_duplicates().compute()
        again = lazy.merge(lazily(right_of("x"), 4), on="k", how=how).compute()
    pd.testing.assert_frame_equal(medians, wanted.groupby("k").median(), check_dtype=False)
    pd.testing.assert_frame_equal(sums.sort_index(), wanted.groupby("k").sum(), check_dtype=False)
    same_rows(distinct.reset_index(drop=True), wanted[["k", "w"]].drop_duplicates())
    same_rows(again, wanted.merge(right_of("x"), on="k", how=how))


def test_missing_numbers_of_all_bits_meet() -> None:
    """A nan that a division left has other bits than NumPy's, and hashes like it."""
    with np.errstate(invalid="ignore"):
        made = np.zeros(1) / np.zeros(1)
    bits = pd.DataFrame({0: [np.nan, -np.nan, *made]})
    assert len(set(places_of(bits, (), 1000))) == 1


@pytest.mark.parametrize(
    "one, other",
    [
        ([1, 2, "a"], [1.0, np.float32(2), "a"]),
        ([True, 0, "a"], [np.bool(True), Decimal(0), "a"]),
        ([(1, "b"), "a"], [(1.0, "b"), "a"]),
        ([None, "a"], [np.nan, "a"]),
        ([None, 1], [pd.NaT, 1]),
        ([pd.Timestamp("2020-01-01 00:00", tz="UTC")], [pd.Timestamp("2020-01-01 01:00+01:00")]),
    ],
    ids=["numbers", "truth", "tuples", "missing texts", "missing numbers", "instants"],
)
def test_equal_objects_meet(one: list[Any], other: list[Any]) -> None:
    """Objects that pandas takes for equal hash alike, whatever lies beside them in the chunk."""
    places = [
        places_of(pd.DataFrame({0: pd.Series(keys, dtype=object)}), (), 1000)
        for keys in (one, other)
    ]
    assert places[0].tolist() == places[1].tolist()


@pytest.mark.parametrize("how", ["inner", "left", "outer"])
def test_merges_of_objects_have_pandas_rows(how: Any) -> None:
    """Keys that are objects find their partners among numbers and missing ones of other types."""
    left = pd.DataFrame({"k": pd.Series([1, "a", None, True, 3, np.nan], dtype=object)})
    right = pd.DataFrame({"k": pd.Series([1.0, "a", np.nan, 3.0, pd.NaT, "b"], dtype=object)})
    left, right = left.assign(v=range(6)), right.assign(w=range(6))
    wanted = left.merge(right, on="k", how=how).sort_values(["v", "w"], ignore_index=True)
    with counted() as cut:
        found = lazily(left, 2).merge(lazily(right, 3), on="k", how=how).compute()
    assert len(cut) == 3 + 2
    found = found.sort_values(["v", "w"], ignore_index=True)
    pd.testing.assert_frame_equal(found[["v", "w"]], wanted[["v", "w"]])


def test_groups_and_distinct_rows_of_objects() -> None:
    """An object of a chunk of numbers meets its equal in a chunk of texts and numbers."""
    keys = [1, 1, "a", 1.0, 0, 0, "a", -0.0, True, True, None, np.nan]
    frame = pd.DataFrame({"k": pd.Series(keys, dtype=object), "v": range(12)})
    for method in ("sum", "median"):
        with planned("tight"), option_context({"coalesce": False}):
            groups = lazily(frame, 2).groupby("k", sort=False, dropna=False)
            found = getattr(groups.v, method)().compute()
        wanted = getattr(frame.groupby("k", sort=False, dropna=False).v, method)()
        assert found.to_list() == wanted.to_list()
    with planned("tight"), option_context({"coalesce": False}):
        distinct = lazily(frame, 2).drop_duplicates("k").compute()
    pd.testing.assert_frame_equal(distinct, frame.drop_duplicates("k"))


PLAIN_KEYS = {
    "integers": [3, -1, 7, 3, 2**62, 0],
    "unsigned": np.array([3, 1, 2**64 - 1, 3, 0, 9], np.uint64),
    "floats": [0.5, np.nan, -0.0, 0.0, np.inf, -3.0],
    "times": pd.DatetimeIndex(
        ["2020-01-02", "NaT", "2020-01-01", "2021-01-01", "NaT", "2020-01-02"]
    ),
    "flags": [True, False, True, True, False, False],
    "texts": ["b", None, "a", "c", "b", "d"],
    "categories": pd.Categorical(["b", None, "a", "c", "b", "a"], ["c", "b", "a"]),
}


@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize("keys", PLAIN_KEYS.values(), ids=PLAIN_KEYS)
def test_ranges_of_keys(keys, many):
    """Rows lie in the parts of a stable sort, however they are compared with the ranges."""
    rows = pd.DataFrame({"k": keys, "g": [0, 1, 0, 1, 1, 0], "v": range(6)})
    few, table = (0, 0) if many else (12, 2**16)
    with mock.patch.multiple(shuffle, FEW_LEVELS=few, TABLE=table):
        for by, rising, na_first in [
            (("k",), (True,), False),
            (("k",), (False,), True),
            (("g", "k"), (False, True), False),
            # Codes of so many levels together need more bits than those of each.
            (("k", "v", "g"), (False, False, True), True),
            (("v", "k", "g"), (True, False, True), True),
        ]:
            order: dict[str, Any] = {
                "ascending": list(rising),
                "na_position": "first" if na_first else "last",
            }
            ordered = rows.sort_values(list(by), kind="stable", **order)
            pivots = shuffle.keys_of(ordered, by).iloc[[2, 4]]
            options = {"ascending": rising, "na_first": na_first, "labels": False}
            parts = shuffle.split_by_range(rows, pivots, by, count=3, **options)
            firsts = [one.rows.sort_values(list(by), kind="stable", **order).v for one in parts]
            assert [v for one in firsts for v in one] == ordered.v.tolist()
