"""Blocks are merged where they are small, and come as users see them where somebody sees them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.tensor as mt
from marsdask import new_session
from marsdask.core.compilation.rules.coalescing import coalesce, shown
from marsdask.core.compilation.tiling import Compilation
from marsdask.core.graph import Graph
from marsdask.core.machine.plan import Plan
from marsdask.core.sizes import merge_sizes, numbers
from marsdask.scheduler.base import Stage


@given(st.lists(st.integers(0, 9), min_size=1, max_size=50).map(tuple), st.integers(1, 60))
def test_merged_sizes_keep_the_axis_and_its_borders(sizes, factor):
    """Merging loses no element and only drops borders."""
    merged = merge_sizes(sizes, factor)
    borders = {sum(sizes[:i]) for i in range(len(sizes) + 1)}
    assert sum(merged) == sum(sizes)
    assert {sum(merged[:i]) for i in range(len(merged) + 1)} <= borders
    assert len(merged) == -(-len(sizes) // factor)


def test_merged_blocks_are_even():
    """No block is left with what the others had no room for, where they can share it."""
    assert merge_sizes((200,) * 10, 7) == (1000, 1000)
    assert merge_sizes((1, 2, 3, 4), 3) == (3, 7)


def blocks(collection, **plan):
    """Return the number of blocks of the root after coalescing."""
    graph = coalesce(Graph([collection.node]), Plan(**plan))
    count = 1
    for sizes in graph.roots[0].chunks:
        count *= len(sizes)
    return count


def test_tiny_chunks_become_one_block():
    """Ten thousand chunks of 800 bytes are one block of 8 MB."""
    assert blocks(mt.ones(1_000_000, chunk_size=100)) == 1


def test_merged_blocks_were_made_by_the_same_line():
    """Errors name it, and no line of a library that copied the node."""
    for x in (mt.ones(1_000_000, chunk_size=100), mt.tensor(np.arange(10**5), chunk_size=10)):
        (root,) = coalesce(Graph([x.node]), Plan()).roots
        assert root is not x.node
        assert root.origin == x.node.origin
        assert __file__ in str(root.origin)


def test_large_arrays_keep_enough_blocks_for_every_worker():
    """Merging stops at the largest worthwhile block."""
    x = mt.ones((20_000, 20_000), chunk_size=500)
    assert 40 <= blocks(x, workers=2) <= 200


def test_a_broadcast_result_bounds_its_small_operands():
    """Vectors whose outer sum is huge are not merged into one block of it."""
    row = mt.ones((1, 40_000), chunk_size=(1, 1000))
    column = mt.ones((40_000, 1), chunk_size=(1000, 1))
    graph = coalesce(Graph([mt.add(row, column).node]), Plan(workers=2))
    height, width = (max(numbers(sizes)) for sizes in graph.roots[0].chunks)
    assert height * width * 8 <= 128 * 2**20


def test_sources_that_differ_in_their_cuts_only_may_become_one():
    """Two constants that are cut alike after merging are one node of the new graph."""
    x = mt.add(mt.ones(1000, chunk_size=100), mt.ones(1000, chunk_size=1000))
    assert blocks(x) == 1


def test_a_small_budget_keeps_blocks_small():
    """Merged blocks are a small share of the memory that there is."""
    x = mt.ones(10_000_000, chunk_size=10_000)
    assert blocks(x, workers=2, budget=32 * 2**20) >= 64


def test_coalescing_can_be_turned_off():
    """The grid that the user asked for is the grid that runs."""
    assert blocks(mt.ones(1000, chunk_size=10), coalesce=False) == 100


def block_lengths(x):
    """Return a tensor that says of each element how long its chunk is."""
    return x.map_blocks(lambda block: np.full_like(block, block.size))


@pytest.fixture
def executed():
    """Return a tensor in 4 chunks that are held as one."""
    with new_session("synchronous"):
        x: Any = mt.arange(40, chunk_size=10).execute()
        assert x.node.result.layout.chunks == ((40,),)
        yield x


def stage_of(x, **plan):
    """Return the first stage of what computes a tensor."""
    stage = Compilation([x.node], plan=Plan(**plan)).advance({})
    assert isinstance(stage, Stage)
    return stage


def test_results_come_as_users_see_them_where_functions_see_chunks(executed):
    """However far below, as views inside the tasks that read them; and nowhere else."""
    for seen in (executed, mt.sqrt(executed + 1)):
        assert (block_lengths(seen).compute() == 10).all()
        assert len(stage_of(block_lengths(seen)).graph) == 4
    assert len(stage_of((executed + 1).sum(), lasting=True).graph) == 1


def test_what_chooses_its_own_chunks_comes_as_users_see_it():
    """What a sort works with is its own affair, unless functions see it."""
    x = mt.tensor(np.arange(40)[::-1].copy(), chunk_size=10)
    with new_session("synchronous"):
        assert (block_lengths(mt.sort(x)).compute() == 10).all()
        assert mt.sort(x).execute().node.result.layout.chunks == ((40,),)


def test_results_of_unknown_lengths_keep_their_number_of_chunks(executed):
    """Where only running tells the sizes nobody could cut them back: they are not merged."""
    for source in (executed, mt.arange(40, chunk_size=10)):
        chosen = source[source % 3 > 0]
        before = block_lengths(chosen)
        expected = before.compute()
        chosen.execute()
        assert chosen.chunks == ((6, 7, 7, 6),)
        assert before.compute().tolist() == block_lengths(chosen).compute().tolist()
        assert before.compute().tolist() == expected.tolist()


def test_results_of_unknown_lengths_below_windows(executed):
    """What is cut by windows keeps its chunks where the number of those of the result is told."""
    for source in (executed, mt.arange(40, chunk_size=10)):
        windows = mt.lib.stride_tricks.sliding_window_view(source, 2)
        chosen = windows.sum(axis=-1)[mt.all(windows > 1, axis=-1)].execute()
        assert chosen.compute().tolist() == list(range(5, 79, 2))


def test_what_is_not_kept_is_merged(executed):
    """Nobody sees in how many chunks it comes; nor how those of a reduction are cut."""
    chosen = executed[executed > 3]
    assert len(stage_of(chosen).keys) == 1
    assert len(stage_of(chosen, lasting=True).keys) == 4
    for reduced in (chosen.sum(), mt.unique(executed)):
        assert not shown(Graph([reduced.node]), Plan(lasting=True))


def test_known_axes_keep_their_chunks_beside_unknown_ones():
    """Of the axes of a result only those of unknown lengths show how it was run."""
    with new_session("synchronous"):
        x = mt.ones((40, 40), chunk_size=10)
        rows = x[mt.arange(40, chunk_size=10) > 4].execute()
        assert rows.chunks == ((5, 10, 10, 10), (10, 10, 10, 10))
