"""The rows stay as they are in other partitions."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.dataframe as md
from tests.dataframe import one_mode
from tests.dataframe.tables import equal, filtered, table, tables
from tests.strategies import draws

_coalesce = one_mode.coalesce


@draws(8)
@given(pair=tables(min_rows=1), size=st.integers(1, 5), unknown=st.booleans())
def test_chunks_as_mars_sets_them(pair: Any, size: int, unknown: bool) -> None:
    """Chunks have a number of rows, but for the last one; columns stay together."""
    frame, lazy = (filtered(one) for one in pair) if unknown else pair
    rows = len(frame)
    sizes = (*[size] * (rows // size), *([rows % size] if rows % size or not rows else []))
    for asked in (size, (size, 1), {0: size}):
        found = lazy.rechunk(asked)
        assert found.nsplits == (sizes, (frame.shape[1],))
        assert found.chunk_shape == (len(sizes), 1)
        assert list(found.map_partitions(len).compute()) == list(sizes)
        equal(found, frame)
    equal(lazy.u.rechunk((sizes,)), frame.u)
    equal(lazy.index.rechunk(size), frame.index)
    assert lazy.rechunk({1: size}).node is lazy.node
    assert lazy.rebalance(num_partitions=size).npartitions == size
    assert lazy.to_cpu() is lazy
    assert not lazy.is_sparse()


def test_chunks_that_do_not_fit() -> None:
    """Their lengths add up to that of the rows; Mars's factor is refused."""
    lazy: Any = md.DataFrame(table(5), chunk_size=2)
    with pytest.raises(ValueError, match="do not add up"):
        lazy.rechunk(((2, 2), 1))
    with pytest.raises(NotImplementedError, match="num_partitions"):
        lazy.rebalance(factor=2)


@draws(10)
@given(pair=tables(), count=st.integers(1, 5), unknown=st.booleans())
def test_a_number_of_partitions(pair: Any, count: int, unknown: bool) -> None:
    """There are as many, of about equal lengths, in the order of the rows."""
    frame, lazy = (filtered(one) for one in pair) if unknown else pair
    found = lazy.repartition(npartitions=count)
    assert found.npartitions == count
    equal(found, frame)
    sizes = found.map_partitions(len).compute()
    assert sizes.sum() == len(frame)
    assert sizes.max() - sizes.min() <= 1


@draws(8)
@given(pair=tables(), by=st.sampled_from(["k", "s", ["k", "b"], None]), count=st.integers(1, 4))
def test_equal_keys_are_together(pair: Any, by: Any, count: int) -> None:
    """All rows are there, and those of a key in one partition."""
    frame, lazy = pair
    found = lazy.shuffle(by, npartitions=count, on_index=by is None)
    assert found.npartitions == count
    parts = [part.compute() for part in found.partitions]
    joined = pd.concat(parts).sort_values("u")
    pd.testing.assert_frame_equal(joined, frame.sort_values("u"))
    if by is not None:
        places = pd.concat([part[["k", "s", "b"]].assign(at=at) for at, part in enumerate(parts)])
        assert (places.groupby(by, dropna=False)["at"].nunique() == 1).all()


@pytest.mark.parametrize("index", ["range", "labels"])
def test_divisions(index: str) -> None:
    """Labels of a partition are within its bounds; rows that are not sorted by them are sorted."""
    frame = table(20, index=index)
    lazy = md.DataFrame(frame, chunk_size=6)
    bounds = (0, 3, 11, 40)
    found = lazy.repartition(divisions=bounds)
    assert found.divisions == bounds
    equal(found, frame.sort_index())
    for part, start, stop in zip(found.partitions, bounds, (3, 11, 41), strict=False):
        labels = part.compute().index
        assert all(start <= label < stop for label in labels)


def test_bytes_of_a_partition() -> None:
    """An unknown number of rows is computed."""
    lazy = md.DataFrame(table(20)[["u", "f"]], chunk_size=20)
    assert lazy.repartition(partition_size="80 B").npartitions == 4
    assert lazy[lazy.u > 9].repartition(partition_size=80).npartitions >= 2


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({}, ValueError, "exactly one"),
        ({"npartitions": 2, "divisions": [0, 1]}, ValueError, "exactly one"),
        ({"npartitions": 0}, ValueError, "positive"),
        ({"freq": "D"}, NotImplementedError, "divisions"),
        ({"divisions": [3, 1]}, ValueError, "sorted"),
        ({"divisions": [0, 0, 5]}, ValueError, "unique"),
    ],
    ids=str,
)
def test_arguments_are_checked(arguments: Any, error: Any, text: str) -> None:
    """With Dask's exceptions."""
    with pytest.raises(error, match=text):
        md.DataFrame(table(5)).repartition(**arguments)


def test_labels_outside_of_the_divisions() -> None:
    """Raise when the rows are there, unless the ends are open."""
    lazy = md.DataFrame(table(10), chunk_size=4)
    with pytest.raises(ValueError, match="force=True"):
        lazy.repartition(divisions=[0, 3, 5]).compute()
    widened = lazy.repartition(divisions=[1, 3, 5], force=True)
    assert [len(part) for part in widened.partitions] == [3, 7]
    with pytest.raises(KeyError, match="nope"):
        lazy.shuffle("nope")
    with pytest.raises(TypeError, match="on_index"):
        lazy.shuffle()
