"""Chains of functions as one kernel: the same values, tile by tile, without temporaries."""

from __future__ import annotations

import math
import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.tensor as mt
from marsdask.core.compilation.rules.node_fusion import fuse
from marsdask.core.compilation.tiling import Compilation
from marsdask.core.graph import Graph
from marsdask.core.machine.plan import Plan
from marsdask.scheduler.base import Stage
from marsdask.tensor.elementwise.nodes import LONGEST, FusedUfuncs, Pointwise
from marsdask.tensor.kernels.fused_ufuncs import (
    TILE_BYTES,
    TILES_BYTES,
    evaluate_program,
    tile_shape,
)
from marsdask.tensor.reduction.nodes import Reduction
from tests.strategies import arrays_and_chunks, assert_same, tensor_of


def optimised(tensor: Any) -> Any:
    """Return the node that stands for a tensor after fusion."""
    return fuse(Graph([tensor.node]), Plan()).roots[0]


def operands(node: Any) -> list[Any]:
    """Return the arrays behind a fused node's operands."""
    return [leaf.array for leaf in node.leaves]


def test_a_chain_becomes_one_node() -> None:
    """A chain, with a value used twice, is one node over the arrays."""
    a, b = mt.tensor(np.ones(9)), mt.tensor(np.full(9, 2.0))
    node = optimised(mt.sqrt((a + b) * (a - 1)) / 3)
    assert isinstance(node, FusedUfuncs)
    assert len(node.leaves) == 2
    assert len(node.program.steps) == 5


def test_a_reduction_takes_the_chain_in() -> None:
    """The prologue of a reduction is part of its node."""
    a = mt.tensor(np.ones(9))
    node = optimised((a * 2 + 1).sum())
    assert isinstance(node, Reduction)
    assert node.program is not None
    assert [step.func for step in node.program.steps] == [np.multiply, np.add]


def test_a_shared_value_is_done_once() -> None:
    """A value that several steps of one chain need is a step of the chain."""
    shared = mt.tensor(np.ones(9)) + 1
    node = optimised(shared * 2 - mt.sqrt(shared * 3))
    assert [step.func for step in node.program.steps].count(np.add) == 1
    assert len(node.program.steps) == 5


def test_what_two_need_is_left_alone() -> None:
    """A value with two consumers outside the chain stays a node of its own."""
    shared = mt.tensor(np.ones(9)) + 1
    roots = fuse(Graph([(shared * 2).node, (shared * 3).node]), Plan()).roots
    assert all(root.inputs[0] is shared.node for root in roots)


def test_a_broadcast_value_is_not_done_again() -> None:
    """Work on a row is not repeated for every row of the result."""
    row = mt.sin(mt.tensor(np.ones(4)))
    node = optimised(mt.tensor(np.ones((5, 4))) * row + 1)
    assert row.node in node.inputs


def test_objects_are_not_fused() -> None:
    """Python objects do not live in registers."""
    things = mt.tensor(np.array([1, 2, 3], object))
    assert not isinstance(optimised(things + 1 + 2), FusedUfuncs)
    assert (things + 1 + 2).compute().tolist() == [4, 5, 6]


LARGE = np.random.default_rng(3).normal(size=(300, 500))


@pytest.mark.parametrize(
    "layout", ["C", "F", "mixed", "strided", "columns", "row", "column", "scalar"]
)
def test_large_blocks_of_every_layout(layout: str) -> None:
    """Tiles cover a block exactly, however the operands lie in memory."""
    a: Any = LARGE
    b: Any = LARGE + 1
    if layout == "F":
        a, b = np.asfortranarray(a), np.asfortranarray(b)
    elif layout == "mixed":
        b = np.asfortranarray(b)
    elif layout == "strided":
        a, b = np.repeat(a, 2, axis=1)[:, ::2], b[::-1, ::-1]
    elif layout == "columns":
        a, b = np.asfortranarray(np.tile(a, (2, 1)))[:300], np.asfortranarray(b)
    elif layout in ("row", "column"):
        b = b[:1] if layout == "row" else b[:, :1]
    elif layout == "scalar":
        b = b[:1, :1]
    x, y = mt.tensor(a), mt.tensor(b)
    node = optimised((x * x + y) * 0.5 - x * y)
    blocks = [a if np.array_equal(array, a) else b for array in operands(node)]
    result = evaluate_program(*blocks, program=node.program)
    expected = (a * a + b) * 0.5 - a * b
    assert np.array_equal(result, expected)
    assert result.flags.f_contiguous == (layout in ("F", "columns"))


def test_types_change_on_the_way() -> None:
    """Registers of several types, comparisons and functions without ``out=``."""
    x = mt.tensor(LARGE, chunk_size=200)
    lazy = mt.where((x > 0) & (x < 1), x.astype("f4"), 2) * 3
    expected = np.where((LARGE > 0) & (LARGE < 1), LARGE.astype("f4"), 2) * 3
    assert_same(lazy, expected)


@given(arrays_and_chunks(dtypes=("f8", "i8"), min_dims=2, max_dims=2), st.integers(1, 3))
def test_small_blocks(case: tuple[Any, Any], factor: int) -> None:
    """Small and empty blocks give the same as large ones."""
    array, chunks = case
    lazy = tensor_of(array, chunks)
    assert_same((lazy * factor + lazy.T.sum() - 1) ** 2, (array * factor + array.sum() - 1) ** 2)


def test_no_temporary_is_as_large_as_the_block() -> None:
    """Beside its result, a chain takes little memory."""
    block = np.ones((1000, 1000))
    x = mt.tensor(block)
    chain = optimised(mt.sqrt(x * x + 1) - x / 3)
    tracemalloc.start()
    try:
        evaluate_program(block, program=chain.program)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1.3 * block.nbytes


def test_tiles_fit_the_cache() -> None:
    """Rows are kept whole while they fit; mixed layouts get narrow tiles."""
    c = np.ones((1000, 1000))
    rows, columns = tile_shape([c, c], c.shape, 8)
    assert columns == 1000
    assert 3 * rows * columns * 8 <= TILES_BYTES
    assert math.prod(tile_shape([c] * 9, c.shape, 8)) * 8 <= TILE_BYTES
    assert tile_shape([c, c.T], c.shape, 8)[1] < 100


@pytest.mark.parametrize("length", [4000, 3989])
def test_tiles_are_even(length: int) -> None:
    """Along all axes but the last, tiles are of one size if that is not far less than fits."""
    height, width = tile_shape((np.empty((2000, length)).T,) * 2, (length, 2000), 8)
    room = TILES_BYTES // 3 // 8 // width
    assert room / 2 <= height <= room
    assert (length % height == 0) == (length == 4000)


def test_a_ladder_is_one_node() -> None:
    """Each value is read by the next two: whatever leads into one chain is part of it."""
    a, b = mt.tensor(np.ones(9)) + 1, mt.tensor(np.ones(9)) * 2
    for _ in range(20):
        a, b = b, a + b
    node = optimised(b)
    assert isinstance(node, FusedUfuncs)
    assert len(node.program.steps) == 22
    assert (b.compute() == 2 * 6765 + 2 * 10946).all()


def test_programs_have_a_longest() -> None:
    """A chain of hundreds becomes several programs, none of them over the limit."""
    x = mt.tensor(np.ones(9))
    for _ in range(150):
        x = x * 1.5 - x / 2
    nodes = fuse(Graph([x.node]), Plan()).nodes
    lengths = [len(node.program.steps) for node in nodes if isinstance(node, Pointwise)]
    assert sum(lengths) == 450
    assert max(lengths) == LONGEST
    assert len(lengths) < 24
    assert (x.compute() == 1).all()


def test_a_reduction_takes_in_what_its_mask_and_its_values_need() -> None:
    """The values chosen and the mask that chooses them come of one value, made in each tile."""
    x = mt.sqrt(mt.tensor(np.arange(9.0)))
    node = optimised((x[x > 1] * 2).sum())
    assert isinstance(node, Reduction)
    assert node.program is not None
    assert [step.func for step in node.program.steps].count(np.sqrt) == 1
    assert len(node.operands) == 1
    assert (x[x > 1] * 2).sum().compute() == (2 * np.sqrt(np.arange(2, 9.0))).sum()


def tasks_of(tensor: Any) -> int:
    """Return how many tasks a tensor takes in its own chunks."""
    stage = Compilation([tensor.node], plan=Plan(workers=4, coalesce=False)).advance({})
    assert isinstance(stage, Stage)
    return len(stage.graph)


def test_tasks_of_diamonds() -> None:
    """What ends in one task by equal axes is made there; other chunks, or all chunks, are not."""
    x = mt.tensor(np.ones((40, 40)), chunk_size=10)
    y = x.map_blocks(np.negative)
    several = mt.modf(y)
    assert tasks_of(y + y.map_blocks(np.sqrt)) == 16
    assert tasks_of(several[0] + several[1]) == 16
    assert tasks_of(y + y.T) == 32
    assert tasks_of(y - y.mean(0)) == tasks_of(y) + tasks_of(y.mean(0)) + 16
    row = mt.tensor(np.ones(40), chunk_size=10).map_blocks(np.negative)
    assert tasks_of(row[row > 0]) == 4
    assert tasks_of(row[:20] + row[20:]) == 2 + 4
