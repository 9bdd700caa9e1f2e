"""The same values in other chunks."""

from __future__ import annotations

import warnings
from typing import Any

import dask.array as da
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.tensor as mt
from marsdask.core.config import option_context
from marsdask.core.sizes import UnknownShapeError
from tests.strategies import arrays_and_chunks, assert_same, chunkings, grids, tensor_of
from tests.tensor.stages import first_graph


@pytest.mark.parametrize("merged", [True, False])
@given(data=st.data())
def test_any_chunks_to_any_others(merged, data):
    """Values stay, chunks are as asked."""
    array, chunks = data.draw(arrays_and_chunks(dtypes=("i8", "?")))
    new = data.draw(chunkings(array.shape))
    with grids(merged=merged):
        lazy = tensor_of(array, chunks).rechunk(new)
        assert lazy.chunks == tuple(tuple(sizes) for sizes in new)
        assert_same(lazy, array)


@pytest.mark.parametrize(
    ("chunk_size", "expected"),
    [
        (4, ((4, 2), (4, 4))),
        ((3, -1), ((3, 3), (8,))),
        ({1: 2}, ((2, 2, 2), (2, 2, 2, 2))),
        ({-1: -1}, ((2, 2, 2), (8,))),
        ((None, 8), ((2, 2, 2), (8,))),
        ("auto", ((6,), (8,))),
        (-1, ((6,), (8,))),
        (((1, 5), 8), ((1, 5), (8,))),
        (np.int64(6), ((6,), (6, 2))),
    ],
    ids=str,
)
def test_ways_to_say_chunks(chunk_size, expected):
    """Ints, tuples, dicts, None, -1 and "auto" are understood."""
    x = mt.ones((6, 8), chunk_size=(2, 3))
    assert x.rechunk(chunk_size).chunks == expected
    assert x.rechunk(chunks=chunk_size).chunks == expected


@pytest.mark.parametrize("chunk_size", [0, -2, 1.5, (2, 2, 2), {5: 1}, ((1, 1), 8)], ids=str)
def test_bad_chunks_are_refused_at_the_call(chunk_size):
    """Sizes that cannot be raise ValueError or TypeError."""
    with pytest.raises((ValueError, TypeError)):
        mt.ones((6, 8)).rechunk(chunk_size)


def test_unknown_lengths_are_cut_when_known():
    """An axis of unknown length takes an int or -1; others do not wait for it."""
    a = np.arange(40).reshape(20, 2)
    x = mt.array(a, chunk_size=(3, 1))
    kept = x[x[:, 0] % 3 == 0]
    expected = a[a[:, 0] % 3 == 0]
    for spec in ((4, -1), (-1, None), {1: 2}):
        assert_same(kept.rechunk(spec), expected)
    lazy = kept.rechunk((4, 2)).execute()
    assert lazy.chunks == ((4, 3), (2,))
    with pytest.raises(UnknownShapeError):
        kept.rechunk(((3, 4), 2))


def test_many_pieces_go_by_way_of_a_grid_between():
    """Rows to columns of many chunks needs far fewer pieces than rows times columns."""
    n = 400
    with grids(merged=False), option_context({"rechunk.threshold": 4}):
        x = mt.ones((n, n), chunk_size=(1, n))
        graph = first_graph(x.rechunk((n, 1)))
        pieces = sum(len(task.dependencies) for task in graph.values())
        assert pieces < n * n / 5
        small = mt.array(np.arange(n * n).reshape(n, n), chunk_size=(1, n))
        assert_same(small.rechunk((n, 1)), np.arange(n * n).reshape(n, n))


@pytest.mark.parametrize("chunk_size", [2, 3])
@pytest.mark.parametrize("executed", [True, False])
def test_writing_to_other_chunks_leaves_the_given_tensor(chunk_size, executed):
    """A rechunked tensor is one of its own, also where the chunks are as they were."""
    given = mt.arange(6, chunk_size=2)
    if executed:
        given.execute()
    cut = given.rechunk(chunk_size)
    cut[0] = 9
    given[5] = 8
    assert given.compute().tolist() == [0, 1, 2, 3, 4, 8]
    assert cut.compute().tolist() == [9, 1, 2, 3, 4, 5]
    assert cut.base is None


@pytest.mark.parametrize("length", [7, 13, 100, 220, 1031])
def test_balanced_chunks_are_dasks(length):
    """Equal ones but for the last; where there are none, a warning and what was asked for."""
    for step in (3, length // 8 or 1, length // 11 or 1, 100):
        ours: list[Any] = []
        theirs: list[Any] = []
        for found, x in ((ours, mt.ones(length)), (theirs, da.ones(length))):
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                found.append(x.rechunk(step, balance=True).chunks)
                found.append([str(one.message)[:30] for one in told])
        assert ours == theirs


def test_unknown_chunks_can_be_named():
    """Chunks of unknown length are nan, and stay as they are."""
    x = mt.arange(8, chunk_size=4)
    x = mt.concatenate([x, x[x > 2]])[:, None] * mt.ones(4)
    assert x.chunks == ((4, 4, np.nan, np.nan), (4,))
    cut = x.rechunk(((4, 4, np.nan, np.nan), (2, 2)))
    assert cut.chunks == ((4, 4, np.nan, np.nan), (2, 2))
    assert cut.sum().compute() == x.compute().sum()
    for other in ((4, 4, np.nan), (8, np.nan, np.nan)):
        with pytest.raises(UnknownShapeError, match="must be unchanging"):
            x.rechunk((other, -1))
    with pytest.raises(TypeError, match="'rows'"):
        x.rechunk({"rows": 2})
