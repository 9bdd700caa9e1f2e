"""Results that last own their memory: views of what the user lends are copied."""

from __future__ import annotations

from typing import Any

from .grids.grid import Grid
from .grids.shapes import Blockwise, cost_of, kernel, map_blocks


@kernel(scratch=0.0)
def copied(block: Any) -> Any:
    """Return a block that shares its memory with no other array."""
    return block.copy() if getattr(block, "base", block) is not None else block


def owned(grid: Grid) -> Grid:
    """Return a grid of the same values, none of whose chunks is a view of the user's memory."""
    if not _is_lent(grid):
        return grid
    return map_blocks(copied, grid, chunks=grid.chunks, meta=grid.meta, itemsize=grid.itemsize)


def _is_lent(grid: Grid) -> bool:
    """Tell whether chunks may be views of what a source lends (see ``tensor.base.SliceAt``)."""
    stack, seen = [grid], {grid}
    while stack:
        grid = stack.pop()
        if not may_be_views(grid):
            continue
        if isinstance(grid.rule, Blockwise) and getattr(grid.rule.varying, "lends", False):
            return True
        stack.extend(source for source in grid.rule.inputs if source not in seen)
        seen.update(grid.rule.inputs)
    return False


def may_be_views(grid: Grid) -> bool:
    """Tell whether chunks may be views of what other grids hold."""
    rule = grid.rule
    if isinstance(rule, Blockwise):
        cost = cost_of(rule.func)
        return (rule.cheap and bool(rule.sources)) or cost.view or cost.shares
    return bool(rule.inputs) and cost_of(rule.cell((0,) * grid.ndim).func).view
