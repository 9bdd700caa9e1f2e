"""Blocks that share no memory: those of lasting results, and inputs that a function modifies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from ..machine.costs import FunctionWrapper, cost_of, kernel
from .blockwise import Blockwise, map_blocks
from .grid import Grid


@kernel(scratch=0.0)
def copy_block(block: Any) -> Any:
    """Return a block that shares its memory with no other array."""
    return block.copy() if getattr(block, "base", block) is not None else block


def owned(grid: Grid) -> Grid:
    """Return a grid of the same values without views of the user's memory."""
    if not _is_lent(grid):
        return grid
    return map_blocks(copy_block, grid, chunks=grid.chunks, meta=grid.meta, itemsize=grid.itemsize)


@runtime_checkable
class SharesMemory(Protocol):
    """Sources whose chunks may share the user's memory."""

    lends: bool


def _is_lent(grid: Grid) -> bool:
    """Tell whether chunks may be views of a source's memory (see ``tensor.base.SliceAt``)."""
    stack, visited = [grid], {grid}
    while stack:
        grid = stack.pop()
        if not may_be_views(grid):
            continue
        varying = grid.rule.varying if isinstance(grid.rule, Blockwise) else None
        if isinstance(varying, SharesMemory) and varying.lends:
            return True
        stack.extend(source for source in grid.rule.inputs if source not in visited)
        visited.update(grid.rule.inputs)
    return False


def may_be_views(grid: Grid) -> bool:
    """Tell whether chunks may be views of chunks that other grids hold."""
    rule = grid.rule
    if isinstance(rule, Blockwise):
        cost = cost_of(rule.func)
        return (rule.cheap and bool(rule.sources)) or cost.view or cost.shares
    return bool(rule.inputs) and cost_of(rule.cell((0,) * grid.ndim).func).view


@dataclass(frozen=True)
class CopiedBlocks(FunctionWrapper):
    """Calls a function with copies of some of its arguments, or of all."""

    places: tuple[int, ...] | None = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        places = range(len(args)) if self.places is None else self.places
        arguments = [private(arg) if place in places else arg for place, arg in enumerate(args)]
        return self.func(*arguments, **kwargs)


def private(value: Any) -> Any:
    """Return a copy of a block, or of all blocks in lists and mappings."""
    if isinstance(value, list):
        return [private(item) for item in value]
    if isinstance(value, dict):
        return {key: private(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return value.copy(order="K")
    return value.copy() if hasattr(value, "copy") else value
