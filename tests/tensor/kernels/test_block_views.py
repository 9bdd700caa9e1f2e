"""Blocks in pieces read like arrays."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.tensor as mt
from marsdask.tensor.kernels.block_views import ConcatenatedViews, concatenate_views
from marsdask.tensor.kernels.lazy_block import as_block
from tests.strategies import arrays_and_chunks, assert_same, grids, tensor_of
from tests.tensor.stages import first_graph


def in_pieces(array, rows, columns):
    """Return a concatenation of four views of an array."""
    pieces = [part for half in np.split(array, [rows]) for part in np.split(half, [columns], 1)]
    lengths = [[rows, array.shape[0] - rows], [columns, array.shape[1] - columns]]
    return ConcatenatedViews(pieces, lengths)


@given(data=st.data())
def test_any_part_is_that_of_the_array(data):
    """Parts within one piece are views, others are put together."""
    array = np.arange(30).reshape(5, 6)
    block = in_pieces(array, data.draw(st.integers(1, 4)), data.draw(st.integers(1, 5)))
    bounds = [sorted([data.draw(st.integers(0, n)), data.draw(st.integers(0, n))]) for n in (5, 6)]
    key = tuple(slice(*pair) for pair in bounds)
    assert np.array_equal(block[key], array[key])
    assert np.array_equal(block[key[0], :], array[key[0]])


def test_parts_within_a_piece_are_views():
    """Nothing is copied that need not be."""
    array = np.arange(30).reshape(5, 6)
    block = in_pieces(array, 2, 3)
    assert np.shares_memory(block[0:2, 3:5], array)
    assert not np.shares_memory(block[1:3, 3:5], array)


def test_other_code_sees_an_array():
    """What cannot read pieces gets an array: by conversion, by attribute, by function."""
    array = np.arange(30).reshape(5, 6)
    block = in_pieces(array, 2, 3)
    assert (block.shape, block.ndim, block.size) == ((5, 6), 2, 30)
    assert np.array_equal(np.asarray(block), array)
    assert np.array_equal(np.array(block, dtype=float), array)
    assert np.array_equal(block.T, array.T)
    assert np.add(block, 1).sum() == array.sum() + 30
    assert np.array_equal(np.asarray(pickle.loads(pickle.dumps(block))), array)
    assert as_block(block) is block
    with pytest.raises(AttributeError):
        block._missing  # noqa: B018


def test_one_piece_is_the_view():
    """Parts of no length are left out."""
    array = np.arange(6)
    parts = ((slice(2, 4), slice(0, 0)),)
    assert np.shares_memory(concatenate_views(array, array, parts), array)


SHIFTED = {
    "difference": lambda a: a[1:] - a[:-1],
    "three": lambda a: (a[2:] + a[:-2]) * a[1:-1],
    "corners": lambda a: a[1:, 1:] * 2 + a[:-1, :-1],
    "mean": lambda a: (a[1:, :-1] - a[:-1, 1:]).sum(),
    "backwards": lambda a: a[::-1] + a,
    "strided": lambda a: a[::2][: len(range(1, a.shape[0], 2))] + a[1::2],
}


@pytest.mark.parametrize("merged", [True, False])
@pytest.mark.parametrize("name", SHIFTED)
@given(case=arrays_and_chunks(dtypes=("i8",), min_dims=2, max_dims=2, min_side=2))
def test_shifted_slices_meet(name, merged, case):
    """Slices of one array shifted against each other combine as in NumPy."""
    array, chunks = case
    with grids(merged=merged):
        assert_same(SHIFTED[name](tensor_of(array, chunks)), SHIFTED[name](array))


def test_large_shifted_slices_are_read_tile_by_tile():
    """The fused kernel and the fused reduction read joined views of many tiles."""
    array = np.random.default_rng(0).random((900, 1100))
    x = mt.array(array, chunk_size=400)
    with grids(merged=False):
        assert_same((x[1:] - x[:-1]) * 2, (array[1:] - array[:-1]) * 2)
        want = ((array[1:, 1:] - array[:-1, :-1]) ** 2).mean(axis=0)
        assert_same(((x[1:, 1:] - x[:-1, :-1]) ** 2).mean(axis=0), want, rtol=1e-12)


def test_a_stencil_is_one_task_a_chunk():
    """Five shifted slices cost no more tasks than chunks."""
    x = mt.array(np.zeros((600, 600)), chunk_size=100)
    y = x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:] - 4 * x[1:-1, 1:-1]
    assert len(first_graph(y)) == 36


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_variances_of_shifted_blocks(axis: int | None) -> None:
    """Pieces of unequal sizes count for as much as they hold."""
    array = np.random.default_rng(0).normal(size=(700, 600)) + np.arange(600)
    lazy = mt.tensor(array, chunk_size=250)
    with grids(merged=False):
        shifted = lazy[1:, 1:] - lazy[:-1, :-1] * 2
        expected = (array[1:, 1:] - array[:-1, :-1] * 2).var(axis=axis)
        assert_same(shifted.var(axis=axis), expected, rtol=1e-9)
