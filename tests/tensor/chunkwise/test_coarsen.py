"""Groups of neighbours and of chosen elements."""

from __future__ import annotations

from typing import Any

import dask.array as da
import dask.config
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.tensor as mt
from tests.strategies import arrays_and_chunks, assert_same

X = np.arange(48.0).reshape(6, 8)


@given(arrays_and_chunks(("i4", "f8"), 1, 2, min_side=1, nan=False), st.data())
def test_coarsen_groups_neighbours(array_and_chunks: Any, data: Any) -> None:
    """Whatever the chunks; what is left over is an error or left out."""
    array, chunks = array_and_chunks
    axes = {axis: data.draw(st.integers(1, n)) for axis, n in enumerate(array.shape)}
    lazy = mt.tensor(array, chunks=chunks)
    kept = array[tuple(slice(n // axes[i] * axes[i]) for i, n in enumerate(array.shape))]
    shape = [x for i, n in enumerate(array.shape) for x in (n // axes[i], axes[i])]
    expected = kept.reshape(shape).sum(axis=tuple(range(1, len(shape), 2)))
    assert_same(mt.coarsen(np.sum, lazy, axes, trim_excess=True), expected)
    if kept.shape != array.shape:
        with pytest.raises(ValueError, match="trim_excess"):
            mt.coarsen(np.sum, lazy, axes)


def test_coarsen_passes_options_on() -> None:
    """As dask's documentation does."""
    lazy = mt.tensor(X, chunk_size=3)
    theirs = da.coarsen(np.mean, da.from_array(X, chunks=(2, 4)), {0: 2, 1: 4}, dtype="f4")
    assert_same(mt.coarsen(np.mean, lazy, {0: 2, -1: 4}, dtype="f4"), theirs.compute())
    with pytest.raises(ValueError, match="at least 1"):
        mt.coarsen(np.mean, lazy, {0: 0})


def test_shuffle_is_dasks() -> None:
    """The same order, each group in one chunk."""
    groups = [[7, 0], [1, 2, 3], [5], [6, 4]]
    ours = mt.tensor(X, chunk_size=(3, 4)).shuffle(groups, axis=1)
    theirs = da.from_array(X, chunks=(3, 4)).shuffle(groups, axis=1)
    assert ours.chunks == theirs.chunks
    assert_same(ours, theirs.compute(scheduler="sync"))
    with pytest.raises(IndexError, match="8"):
        mt.shuffle(ours, [[8]], axis=1)
    with pytest.raises(ValueError, match="lists"):
        mt.shuffle(ours, [1, 2], axis=1)  # type: ignore[list-item]
    with pytest.raises(NotImplementedError, match="rechunk"):
        mt.shuffle(ours, groups, axis=1, chunks=3)


def test_reshaping_chunk_by_chunk_is_dasks() -> None:
    """The elements keep to their chunks, both ways."""
    x = np.arange(72).reshape(4, 6, 3)
    ours, theirs = mt.tensor(x, chunk_size=(2, 3, 3)), da.from_array(x, chunks=(2, 3, 3))
    for shape in [(24, 3), (4, 18), (72,)]:
        flat, expected = mt.reshape_blockwise(ours, shape), da.reshape_blockwise(theirs, shape)
        assert flat.chunks == expected.chunks
        assert_same(flat, expected.compute(scheduler="sync"))
        assert_same(mt.reshape_blockwise(flat, x.shape, ours.chunks), x)
    for bad, error in [((5, 3), ValueError), ((4, 6, 3, 1), TypeError)]:
        with pytest.raises(error):
            mt.reshape_blockwise(ours, bad)
    with pytest.raises(ValueError, match="do not match"):
        mt.reshape_blockwise(ours, (4, 18, 1), ((1,), (3,), (1,)))


def test_lazy_reductions_of_groups() -> None:
    """A function of ours or of Dask's stands for NumPy's of its name."""
    lazy = mt.tensor(X, chunk_size=3)
    expected = X.reshape(3, 2, 4, 2).mean((1, 3))
    for func in (mt.mean, da.mean):
        assert_same(mt.coarsen(func, lazy, {0: 2, 1: 2}), expected)


def test_what_reshape_blockwise_refuses() -> None:
    """With Dask's words: chunks where none may be, missing ones, ones of other sizes."""
    x = mt.ones((6, 3, 3), chunk_size=(3, 2, 2))
    for shape, chunks, error, words in (
        ((2, 3, 3, 3), None, TypeError, "Need to specify chunks"),
        ((3, 2, 9), None, NotImplementedError, "not implemented for expanding"),
        ((18, 3), x.chunks, ValueError, "Setting chunks is not allowed"),
        ((6, 3, 3), ((3, 3), (1, 2), (2, 1)), ValueError, "Chunk sizes do not match"),
        ((6, 6), None, ValueError, "total size of new array must be unchanged"),
    ):
        with pytest.raises(error, match=words):
            mt.reshape_blockwise(x, shape, chunks)
    with pytest.raises(ValueError, match="shape is unknown"):
        mt.reshape_blockwise(x[x[:, 0, 0] > 0], (54,))


def test_shuffled_chunks_have_dasks_tolerance() -> None:
    """Small groups share a chunk up to a size that Dask is told."""
    groups = [[1, 5, 6], [0, 3], [4, 2, 7]]
    for tolerance, sizes in ((1.0, (3, 2, 3)), (1.4, (5, 3))):
        with dask.config.set({"array.chunk-size-tolerance": tolerance}):
            found = mt.shuffle(mt.tensor(X, chunks=(3, 4)), groups, axis=1)
        assert found.chunks[1] == sizes
