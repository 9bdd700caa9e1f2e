"""Positions of labels, and labels with others put in or taken out, are pandas's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.dataframe as md
from tests.dataframe.tables import equal
from tests.strategies import draws

NUMBERS = st.lists(st.integers(0, 6), min_size=1, max_size=9)
TEXTS = st.lists(st.sampled_from(["a", "b", "c", None]), min_size=1, max_size=9)
TIMES = pd.DatetimeIndex(["2020", "2021-05-01", "2020-07"], name="t")


def outcome(call: Any, *args: Any) -> Any:
    """Return what a call returns, or the type of its error."""
    try:
        found = call(*args)
    except (KeyError, IndexError, ValueError, pd.errors.InvalidIndexError) as error:
        return type(error)
    return found


def same(found: Any, wanted: Any) -> None:
    """Compare labels, positions, or errors."""
    if isinstance(found, pd.Index):
        pd.testing.assert_index_equal(found, wanted)
    elif isinstance(wanted, tuple):
        for one, other in zip(found, wanted, strict=True):
            same(one, other)
    elif isinstance(wanted, np.ndarray):
        np.testing.assert_array_equal(found, wanted)
        assert found.dtype == wanted.dtype
    elif isinstance(wanted, pd.Index):
        pd.testing.assert_index_equal(found.to_pandas(), wanted)
    else:
        assert type(found) is type(wanted)
        assert found == wanted


#: What is asked of labels, and of others.
CALLS: list[Any] = [
    lambda i, few: i.get_loc(few[0]),
    lambda i, few: i.get_indexer(few),
    lambda i, few: i.get_indexer_for(few),
    lambda i, few: i.get_indexer_non_unique(pd.Index(few)),
    lambda i, few: i.reindex(few),
    lambda i, few: i.insert(1, few[0]),
    lambda i, few: i.insert(-1, few[0]),
    lambda i, few: i.delete(len(few) - 1),
    lambda i, few: i.delete([0, -1]),
    lambda i, few: i.delete(slice(1, 3)),
    lambda i, few: i.delete(np.arange(len(i)) % 2 == 0),
    lambda i, few: i.delete([True] * len(i)),
    lambda i, few: i.delete([True] * (len(i) + 1)),
]


@draws(5)
@given(data=st.data(), kind=st.sampled_from([NUMBERS, TEXTS]), size=st.integers(1, 4))
def test_positions(data: Any, kind: Any, size: int) -> None:
    """Of labels that repeat, are missing or not there, whatever chunks they lie in."""
    labels = pd.Index(data.draw(kind), dtype="str" if kind is TEXTS else None, name="n")
    for values in (labels, labels.unique(), labels.sort_values()):
        lazy = md.Index(values, chunk_size=size)
        few = data.draw(st.permutations([*values[:2], "c" if kind is TEXTS else 9]))
        for call in CALLS:
            same(outcome(call, lazy, few), outcome(call, values, few))


@pytest.mark.parametrize(
    "times", [TIMES, TIMES - TIMES[0], TIMES.to_period("D")], ids=["times", "steps", "periods"]
)
def test_texts_that_stand_for_times(times: Any) -> None:
    """Several are converted as in pandas, unless one is no time."""
    lazy = md.Index(times, chunk_size=2)
    for few in ([str(times[1]), str(times[0])], [str(times[1]), "word"], [times[2]], []):
        for call in CALLS[1:5]:
            same(outcome(call, lazy, few), outcome(call, times, few))


def test_truths_are_no_numbers() -> None:
    """Among numbers they are not found; they are where labels are objects or truths."""
    for labels in (pd.Index([0, 1, 2]), pd.Index([0.0, 1.0]), pd.Index(["a", 1]), pd.Index([True])):
        lazy = md.Index(labels, chunk_size=2)
        same(outcome(lazy.get_loc, True), outcome(labels.get_loc, True))


def test_numbers_of_labels() -> None:
    """Each label has the number of its first occurrence."""
    labels = pd.Index([3, 1, 3, 7, 0, 1], name="n")
    codes, distinct = md.Index(labels, chunk_size=2).factorize()
    wanted = labels.factorize()
    np.testing.assert_array_equal(codes.compute(), wanted[0])
    equal(distinct, wanted[1])


def test_what_labels_are() -> None:
    """Their kind, and the bytes that their chunks take."""
    for labels in (pd.Index([1, 2]), pd.Index(["a"]), pd.Index(["a", 1]), TIMES):
        lazy = md.Index(labels, chunk_size=1)
        assert lazy.inferred_type == labels.inferred_type
    numbers = md.Index(np.arange(10), chunk_size=3)
    assert numbers.nbytes.compute() == numbers.memory_usage().compute() == 80
    assert md.Series(np.arange(10), chunk_size=3).nbytes.compute() == 80
    equal(md.Index(TIMES, chunk_size=2).shift(2, freq="D"), TIMES.shift(2, freq="D"))


def test_refusals() -> None:
    """What is not supported says what to use."""
    lazy: Any = md.Index([3, 1, 2], chunk_size=2)
    for call in (
        lambda: lazy.get_indexer([1], method="pad"),
        lambda: lazy.get_indexer(lazy),
        lambda: lazy.reindex([1], level=0),
        lambda: md.Index(TIMES, chunk_size=2).get_loc("2020"),
        lambda: md.Index(TIMES.to_period("M")).get_loc("2021"),
        lambda: md.Index(TIMES - TIMES[0]).get_loc("0 days"),
        lambda: md.Index(pd.interval_range(0, 3)).get_loc(1.5),
        lambda: md.Index(pd.interval_range(0, 3)).get_indexer([1.5]),
    ):
        with pytest.raises(NotImplementedError, match="use "):
            call()
    with pytest.raises(pd.errors.InvalidIndexError):
        lazy.get_loc([1])
    with pytest.raises(IndexError, match="out of bounds"):
        lazy.delete(3)
