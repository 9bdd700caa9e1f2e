"""Few chunks from many: combined a group at a time, or gathered at once."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from ..compilation.costs import cost_of, kernel
from ..compilation.plan import current_plan
from ..config import options
from ..sizes import Chunks, Index, upper
from .blockwise import Axes, ByKernel, blockwise
from .grid import Call, Grid, Ref


@dataclass(frozen=True, eq=False)
class Grouped(ByKernel):
    """Chunk ``i`` from a run of neighbouring chunks along some axes."""

    source: Grid
    widths: Index
    kwargs: Mapping[str, Any] | None = None

    @property
    def scratch(self) -> float:
        combine = (self.kwargs or {}).get("combine")
        return cost_of(self.func).scratch + (0.0 if combine is None else cost_of(combine).scratch)

    def cell(self, index: Index) -> Call:
        ranges = [
            range(position * width, min((position + 1) * width, count))
            for position, width, count in zip(
                index, self.widths, self.source.numblocks, strict=True
            )
        ]
        prefixes: list[Index] = [()]
        for positions in ranges:
            prefixes = [(*prefix, position) for prefix in prefixes for position in positions]
        return Call(
            self.func, ([Ref(self.source, prefix) for prefix in prefixes],), self.kwargs or {}
        )


@kernel(scratch=1.0, piecewise=True)
def fold(blocks: list[Any], combine: Callable[[Any, Any], Any]) -> Any:
    """Combine a group of partial results, from the left."""
    return reduce(combine, blocks)


def tree(
    partials: Grid,
    combine: Callable[[Any, Any], Any],
    axes: Sequence[int],
    *,
    finalize: Callable[..., Any] | None = None,
    finalize_kwargs: Mapping[str, Any] | None = None,
    meta: Any = None,
    itemsize: float | None = None,
    width: int | None = None,
) -> Grid:
    """Combine ``partials`` along ``axes`` down to one chunk, a group of ``width`` at a time.

    ``combine(a, b)`` is associative; ``finalize(partial, **finalize_kwargs)`` runs once at the end.
    The result keeps every axis, each reduced one as a single chunk. Groups are smaller where the
    memory of the machine could not take them.
    """
    grid = partials
    width = min(max(2, width or options.split_every), _room(partials))
    whole: Axes = tuple(range(grid.ndim))
    while any(grid.numblocks[axis] > 1 for axis in axes):
        widths = _widths(grid, axes, width)
        chunks = tuple(sizes[::step] for sizes, step in zip(grid.chunks, widths, strict=True))
        rule = Grouped(fold, grid, widths, {"combine": combine})
        grid = Grid(rule, chunks, partials.meta, partials.itemsize)
    if finalize is None:
        return grid
    return blockwise(
        finalize,
        [(grid, whole)],
        chunks=grid.chunks,
        meta=meta,
        kwargs=finalize_kwargs,
        itemsize=itemsize,
    )


def _room(grid: Grid) -> int:
    """Return how many chunks a task may have for inputs, besides its result, with room to spare."""
    plan = current_plan.get()
    bounds = [max((upper(size) or 0 for size in set(sizes)), default=0) for sizes in grid.chunks]
    largest = math.prod(bounds) * (grid.width or 0)
    if plan.budget is None or not largest:
        return sys.maxsize
    return max(2, int(plan.budget / (2 * max(1, plan.workers) * largest)) - 2)


def _widths(grid: Grid, axes: Sequence[int], width: int) -> Index:
    """Share a group of ``width`` chunks among the axes that still have several."""
    several = [axis for axis in axes if grid.numblocks[axis] > 1]
    each = max(2, round(width ** (1 / len(several))))
    return tuple(each if axis in several else 1 for axis in range(grid.ndim))


@dataclass(frozen=True, eq=False)
class Gathered(ByKernel):
    """One chunk from all chunks of each source, each source a list in order."""

    sources: tuple[Grid, ...]
    kwargs: Mapping[str, Any] | None = None

    def cell(self, index: Index) -> Call:
        del index
        return Call(self.func, tuple(source.refs() for source in self.sources), self.kwargs or {})


def gather(
    func: Callable[..., Any],
    *grids: Grid,
    chunks: Chunks,
    meta: Any = None,
    itemsize: float | None = None,
    kwargs: Mapping[str, Any] | None = None,
) -> Grid:
    """Call ``func`` once, with the list of all chunks of each grid (for results that are small)."""
    return Grid(Gathered(func, grids, kwargs or None), chunks, meta, itemsize)
