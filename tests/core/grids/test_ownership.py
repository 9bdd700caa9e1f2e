"""What was executed keeps its values, whatever becomes of the array it was made of."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import marsdask
import marsdask.tensor as mt
from marsdask.core.grids.ownership import CopiedBlocks, private
from marsdask.core.machine.costs import Cost, cost_of, kernel
from marsdask.tensor.scan.user_scan import cumreduction

#: Functions that only look at an array in another way.
VIEWS: dict[str, Any] = {
    "itself": lambda t: t,
    "copy": mt.copy,
    "slice": lambda t: t[1:5, ::2],
    "row": lambda t: t[2],
    "transposed": lambda t: t.T,
    "reshaped": lambda t: t.reshape(3, 8),
    "flat": lambda t: t.ravel(),
    "real": lambda t: t.real,
    "imaginary": lambda t: t.view("c16").imag,
    "bytes": lambda t: t.view("i8"),
    "wider": lambda t: mt.broadcast_to(t, (2, *t.shape)),
    "squeezed": lambda t: t[None].squeeze(),
    "same type": lambda t: t.astype(t.dtype, copy=False),
    "recut": lambda t: t.rechunk(6),
    "joined": lambda t: mt.concatenate([t, t]),
    "half": lambda t: mt.split(t, 2)[1],
    "blocks": lambda t: t.blocks[0],
    "users": lambda t: t.map_blocks(np.asarray),
    "masked": lambda t: mt.ma.masked_array(t, t > 3),
    "diagonal": lambda t: t.diagonal(),
    "windows": lambda t: mt.sliding_window_view(t, 2, axis=0),
}


@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.parametrize("size", [3, 4, 24])
def test_results_own_their_memory(name: str, size: int) -> None:
    """Views of the user's array are copied when they are kept; what is computed shares nothing."""
    array = np.arange(24.0).reshape(6, 4)
    kept = VIEWS[name](mt.tensor(array, chunk_size=size)).execute()
    before = np.array(kept.fetch())
    computed = VIEWS[name](mt.tensor(array, chunk_size=size)).compute()
    array[...] = -7.5
    np.testing.assert_array_equal(kept.fetch(), before)
    np.testing.assert_array_equal(computed, before)


def double(block: Any, axis: Any = None, **options: Any) -> Any:
    """Double a block in place."""
    del axis, options
    block *= 2
    return block


def first(blocks: Any, axis: Any = None, **options: Any) -> Any:
    """Double the first of several blocks in place."""
    while isinstance(blocks, list):
        blocks = blocks[0]
    return double(blocks, axis, **options)


#: Calls of functions that write into their blocks; each returns twice the tensor's elements.
WRITERS: dict[str, Any] = {
    "map_blocks": lambda t: t.map_blocks(double),
    "map_chunk": lambda t: t.map_chunk(double),
    "twice": lambda t: t.map_blocks(np.asarray).map_blocks(double),
    "map_overlap": lambda t: mt.map_overlap(double, t, depth=0),
    "blockwise": lambda t: mt.blockwise(double, "ij", t, "ij", dtype=float),
    "lists": lambda t: mt.blockwise(first, "i", t.rechunk((-1, -1))[0], "i", dtype=float),
    "gufunc": lambda t: mt.apply_gufunc(double, "(i)->(i)", t.rechunk((2, -1))),
    "lines": lambda t: mt.apply_along_axis(double, 0, t),
    "reduction": lambda t: mt.reduction(
        t[None], double, lambda b, axis, keepdims: b[0], axis=0, dtype=float
    ),
    "cumreduction": lambda t: cumreduction(double, np.add, 0.0, t.rechunk((-1, -1)), axis=0),
}

HISTORIES: dict[str, Any] = {
    "array": lambda array: mt.tensor(array, chunk_size=3),
    "computed": lambda array: mt.tensor(array, chunk_size=3) + 0,
    "executed": lambda array: (mt.tensor(array, chunk_size=3) + 0).execute(),
    "recut": lambda array: mt.tensor(array, chunk_size=3).execute().rechunk(4),
}


@pytest.mark.parametrize("history", HISTORIES)
@pytest.mark.parametrize("name", WRITERS)
def test_writing_into_a_block_changes_nothing_else(name: str, history: str) -> None:
    """A function may write into its block, whoever reads the block besides."""
    array = np.arange(24.0).reshape(6, 4)
    source = HISTORIES[history](array)
    expected = (array[0] if name == "lists" else array) * 2
    doubled, same = WRITERS[name](source), source + 0
    marsdask.execute(doubled, same)
    np.testing.assert_array_equal(doubled.fetch(), expected)
    np.testing.assert_array_equal(same.fetch(), array)
    np.testing.assert_array_equal(source.compute(), array)


def test_copies_are_private() -> None:
    """Blocks in lists and mappings are copied with their layout; constants are not."""
    block = np.asfortranarray(np.ones((3, 2)))
    masked = np.ma.masked_array([1, 2], [True, False])
    found = private([block, {"a": masked, "b": None}])
    assert found[0].flags.f_contiguous
    assert not np.shares_memory(found[0], block)
    assert not np.shares_memory(found[1]["a"].mask, masked.mask)
    assert found[1]["b"] is None


def test_copies_are_of_some_arguments() -> None:
    """The function sees the others as they are; it keeps its name and what it takes."""
    blocks = [np.ones(2), np.ones(2)]
    call = CopiedBlocks(_kept, (1,))
    first, second = call(*blocks)
    assert first is blocks[0]
    assert second is not blocks[1]
    assert call.__name__ == "_kept"
    assert cost_of(call) == Cost(scratch=3.0)


@kernel(scratch=3.0)
def _kept(*blocks: Any) -> Any:
    return blocks
