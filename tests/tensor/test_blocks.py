"""Blocks put together, and shown."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.tensor as mt
from marsdask import new_session
from marsdask.scheduler.base import describe
from marsdask.tensor.blocks import assemble, meta_from_infos


@given(st.data())
def test_blocks_make_the_array_they_were_cut_from(data):
    """Any grid, with empty blocks too."""
    shape = data.draw(st.lists(st.integers(0, 5), min_size=1, max_size=3))
    array = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    borders = [sorted(data.draw(st.lists(st.integers(0, length), max_size=3))) for length in shape]
    edges = [[0, *inner, length] for inner, length in zip(borders, shape, strict=True)]
    blocks = {
        index: array[
            tuple(slice(edge[i], edge[i + 1]) for edge, i in zip(edges, index, strict=True))
        ]
        for index in np.ndindex(*(len(edge) - 1 for edge in edges))
    }
    np.testing.assert_array_equal(assemble(blocks, array[:0], owned=False), array)


@pytest.mark.parametrize("owned", [True, False])
def test_a_single_block_is_copied_unless_it_is_nobody_elses(owned):
    """A view belongs to whoever has the array, a read-only block to whoever made it so."""
    whole = np.arange(6.0)
    assert np.shares_memory(assemble({(0,): whole}, whole, owned=owned), whole) is owned
    view = whole[1:]
    assert not np.shares_memory(assemble({(0,): view}, whole, owned=owned), whole)
    fixed = np.arange(3.0)
    fixed.flags.writeable = False
    assert assemble({(0,): fixed}, whole, owned=owned).flags.writeable


def halves(block):
    """Return floats."""
    return block / 2


def uneven(block, block_id=()):
    """Return integers first, floats then, and complex numbers at last."""
    return block.astype(("i4", "f8", "c16")[block_id[0]])


@pytest.mark.parametrize("scheduler", ["inline", "synchronous", "threads", "processes"])
def test_types_are_those_of_the_blocks(scheduler):
    """Also where a function was said to return others; what is built before and after is right."""
    values = np.arange(6)
    with new_session(scheduler):
        for func, wanted in ((halves, values / 2), (uneven, values.astype(complex))):
            lazy = mt.arange(6, chunk_size=2).map_blocks(func, dtype=int)
            before = lazy + 1
            assert lazy.dtype == int
            np.testing.assert_array_equal(lazy.compute(), wanted)
            np.testing.assert_array_equal(lazy.compute(scheduler="synchronous"), wanted)
            assert lazy.execute().dtype == lazy.fetch().dtype == wanted.dtype
            assert (lazy + 1).dtype == wanted.dtype
            assert pickle.loads(pickle.dumps(lazy)).dtype == wanted.dtype
            for built in (before, lazy + 1, mt.from_dask(lazy.to_dask()) + 1):
                np.testing.assert_array_equal(built.execute().fetch(), wanted + 1)
                assert built.dtype == wanted.dtype


def test_types_that_nothing_holds_both_of():
    """Are those declared."""
    infos = [describe(np.ones(2)), describe(np.zeros(2, "M8[s]"))]
    assert meta_from_infos(np.empty(0, int), infos).dtype == int
    assert meta_from_infos(np.empty(0, int), []).dtype == int
    assert meta_from_infos(np.empty(0, int), [describe([1])]).dtype == int
