"""Combine many chunks to few: a group at a time, or all at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, ClassVar

from ..config import options
from ..machine.costs import Cost, cost_of
from ..machine.sizing import group_size
from ..sizes import Chunks, Index, Sizes, total, unknown_sizes, upper
from .blockwise import ByKernel
from .grid import Call, Grid, Ref


@dataclass(frozen=True, eq=False)
class PartialReduce(ByKernel):
    """Chunk ``i`` from a run of neighbouring chunks along some axes."""

    source: Grid
    widths: Index
    kwargs: Mapping[str, Any] | None = None

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


@dataclass(frozen=True)
class Pairwise:
    """Combines a list of partial results from the left, by an associative function of two."""

    combine: Callable[[Any, Any], Any]
    __name__: ClassVar[str] = "fold"

    @property
    def cost(self) -> Cost:
        """Its memory: pairs are combined one after the other."""
        return Cost(1.0 + cost_of(self.combine).scratch, piecewise=True)

    def __call__(self, blocks: list[Any]) -> Any:
        return reduce(self.combine, blocks)


#: Returns the sizes of chunks along an axis after groups of chunks are merged.
GroupSizes = Callable[[Grid, int, int], Sizes]


def first_sizes(grid: Grid, axis: int, width: int) -> Sizes:
    """Use the size of a group's first chunk, for partial results of a reduction."""
    return grid.chunks[axis][::width]


def sizes_at_most(grid: Grid, axis: int, width: int) -> Sizes:
    """Make the size of a group unknown: its elements are some of its chunks' elements."""
    sizes = grid.chunks[axis]
    groups = [sizes[start : start + width] for start in range(0, len(sizes), width)]
    return unknown_sizes(grid.name, [upper(total(group)) for group in groups])


def tree(
    partials: Grid,
    combine: Callable[..., Any],
    axes: Sequence[int],
    *,
    width: int | Mapping[int, int] | None = None,
    whole: bool = True,
    sizes: GroupSizes = first_sizes,
    kwargs: Mapping[str, Any] | None = None,
    rule: type[PartialReduce] = PartialReduce,
) -> Grid:
    """Combine ``partials`` along ``axes`` to one chunk, a group of ``width`` at a time.

    ``combine(blocks, **kwargs)`` takes a list, last axis fastest; :class:`Pairwise` makes one of an
    associative function of two. ``width`` may be given for each axis; without ``whole``, the last
    group may stay uncombined. The result keeps every axis. Groups are smaller if memory requires
    it.
    """
    grid = partials
    width = _fitting(partials, axes, width)
    limits = width if isinstance(width, Mapping) and not whole else {}
    while any(grid.numblocks[axis] > limits.get(axis, 1) for axis in axes):
        grid = combine_groups(grid, combine, _widths(grid, axes, width), sizes, kwargs, rule)
    return grid


def combine_groups(
    grid: Grid,
    combine: Callable[..., Any],
    widths: Index,
    sizes: GroupSizes = first_sizes,
    kwargs: Mapping[str, Any] | None = None,
    rule: type[PartialReduce] = PartialReduce,
) -> Grid:
    """Combine groups of neighbouring chunks, of ``widths`` along the axes: one level of a tree."""
    chunks = tuple(
        own if step == 1 else sizes(grid, axis, step)
        for axis, (own, step) in enumerate(zip(grid.chunks, widths, strict=True))
    )
    return Grid(rule(combine, grid, widths, kwargs or None), chunks, grid.meta, grid.itemsize)


def _fitting(
    partials: Grid, axes: Sequence[int], width: int | Mapping[int, int] | None
) -> int | Mapping[int, int]:
    """Return how many chunks a group may have, in all or along each axis."""
    room = _room(partials)
    if isinstance(width, Mapping):
        width_of_axis = max(2, int(room ** (1 / max(1, len(axes)))))
        return {axis: min(count, width_of_axis) for axis, count in width.items()}
    return min(max(2, width or options.split_every), room)


def _room(grid: Grid) -> int:
    """Return how many chunks a task may read, besides its result."""
    bounds = [max((upper(size) or 0 for size in set(sizes)), default=0) for sizes in grid.chunks]
    return group_size(math.prod(bounds) * (grid.width or 0))


def _widths(grid: Grid, axes: Sequence[int], width: int | Mapping[int, int]) -> Index:
    """Return the widths of groups; one width is shared among the axes of several chunks."""
    if isinstance(width, Mapping):
        return tuple(width.get(axis, 1) for axis in range(grid.ndim))
    several = [axis for axis in axes if grid.numblocks[axis] > 1]
    share = max(2, round(width ** (1 / len(several))))
    return tuple(share if axis in several else 1 for axis in range(grid.ndim))


@dataclass(frozen=True, eq=False)
class Gather(ByKernel):
    """One chunk from all chunks of each source; each source is a list in order."""

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
    """Call ``func`` once, with the list of all chunks of each grid (for small results)."""
    return Grid(Gather(func, grids, kwargs or None), chunks, meta, itemsize)
