"""The general shapes that every operation is made of: map, tree, gather and all-to-all."""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, NamedTuple

from ..compilation.plan import current_plan
from ..config import options
from ..sizes import Chunks, Index, Sizes, upper
from .grid import Call, Grid, Ref, Rule


@dataclass(frozen=True)
class Via:
    """Chunks along one axis named by a table: output chunk ``i`` takes ``positions[i]``.

    A range costs nothing to keep however long it is. Without an axis it is always the first.
    """

    axis: int | None
    positions: Sequence[int]

    def under(self, outer: int | Via | None) -> Via:
        """Return the table of an output whose own axis is reached by ``outer``."""
        if outer is None:
            return Via(None, self.positions[:1])
        if isinstance(outer, int):
            return Via(outer, self.positions)
        mine, theirs = self.positions, outer.positions
        if isinstance(mine, range) and isinstance(theirs, range) and theirs:
            start, step = mine[theirs[0]], mine.step * theirs.step
            return Via(outer.axis, range(start, start + step * len(theirs), step))
        return Via(outer.axis, tuple(mine[position] for position in theirs))

    def once(self) -> bool:
        """Tell whether no chunk of the input is taken twice."""
        positions = self.positions
        return isinstance(positions, range) or len(set(positions)) == len(positions)


Axes = tuple[int | Via | None, ...]


class Cost(NamedTuple):
    """What a kernel takes besides its inputs and its result."""

    scratch: float = 1.0
    """Working memory as a multiple of the largest argument; a list of chunks is one argument."""
    view: bool = False
    """Whether the result takes no memory of its own: a view of an input, a constant."""
    piecewise: bool = False
    """Whether lists are worked off item by item: the multiple is of the largest item."""
    buffer: int = 0
    """Bytes of a buffer besides, which is never larger than the result."""
    least: int = 0
    """Bytes taken at least, however small the arguments: what users' functions do is unknown, so
    they are never small enough to run in the caller's thread."""
    tiled: bool = False
    """Whether it reads each argument once, tile by tile."""
    deferred: Callable[..., Any] | bool | None = None
    """What takes the same arguments and makes its result tile by tile, as a reader asks for it.

    True for a kernel that does so itself.
    """
    shares: bool = False
    """Whether the result may be a view of an input all the same, though memory is set aside."""
    writes: bool = False
    """Whether it may write into its arguments: it gets copies of those that others read."""


_COSTS: dict[Any, Cost] = {operator.getitem: Cost(0.0, view=True)}


def kernel(
    *, scratch: float = 1.0, view: bool = False, **more: Any
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declare what a kernel takes (see :class:`Cost`); views take nothing."""
    cost = Cost(0.0 if view else scratch, view, **more)

    def mark(func: Callable[..., Any]) -> Callable[..., Any]:
        func.cost = cost  # type: ignore[attr-defined]
        return func

    return mark


def register_cost(func: Any, cost: Cost) -> None:
    """Say what foreign functions take: one of them, or all of a type."""
    _COSTS[func] = cost


def cost_of(func: Callable[..., Any]) -> Cost:
    """Return what a kernel was declared to take."""
    declared = getattr(func, "cost", None)
    if isinstance(declared, Cost):
        return declared
    found = _COSTS.get(func) if isinstance(func, Hashable) else None
    return found or _COSTS.get(type(func)) or Cost()


@dataclass(frozen=True, eq=False)
class ByKernel(Rule):
    """Chunks that one kernel makes, and whose keys are called after it."""

    func: Callable[..., Any]

    @property
    def label(self) -> str:
        return getattr(self.func, "__name__", type(self.func).__name__).strip("_")


@dataclass(frozen=True, eq=False)
class Blockwise(ByKernel):
    """Chunk ``i`` from one chunk of each input.

    Input ``k`` contributes its chunk at ``[i[a] for a in axes[k]]`` (0 where ``a`` is ``None``,
    what the table says where it is a :class:`Via`).
    ``varying(i)`` gives further arguments that are constants of the chunk.
    """

    sources: tuple[Grid, ...] = ()
    axes: tuple[Axes, ...] = ()
    kwargs: Mapping[str, Any] | None = None
    varying: Callable[[Index], tuple[Any, ...]] | None = None
    cheap: bool = False
    """Whether doing it again costs less than keeping it: a view, a constant."""

    def cell(self, index: Index) -> Call:
        args: tuple[Any, ...] = tuple(
            Ref(source, pick(index, axes))
            for source, axes in zip(self.sources, self.axes, strict=True)
        )
        if self.varying is not None:
            args += self.varying(index)
        return Call(self.func, args, self.kwargs or {})


def pick(index: Index, axes: Axes) -> Index:
    """Return the index of the input's chunk for the output's chunk ``index``."""
    return tuple(
        0
        if axis is None
        else index[axis]
        if isinstance(axis, int)
        else axis.positions[0 if axis.axis is None else index[axis.axis]]
        for axis in axes
    )


def blockwise(
    func: Callable[..., Any],
    inputs: Sequence[tuple[Grid, Axes]],
    *,
    chunks: Chunks,
    meta: Any = None,
    kwargs: Mapping[str, Any] | None = None,
    varying: Callable[[Index], tuple[Any, ...]] | None = None,
    cheap: bool = False,
    itemsize: float | None = None,
) -> Grid:
    """Map ``func`` over chunks, each input's axes matched by hand."""
    sources = tuple(grid for grid, _ in inputs)
    axes = tuple(axes for _, axes in inputs)
    rule = Blockwise(func, sources, axes, kwargs or None, varying, cheap)
    return Grid(rule, chunks, meta, itemsize)


def map_blocks(
    func: Callable[..., Any],
    *grids: Grid,
    chunks: Chunks | None = None,
    meta: Any = None,
    itemsize: float | None = None,
    cheap: bool = False,
    varying: Callable[[Index], tuple[Any, ...]] | None = None,
    kwargs: Mapping[str, Any] | None = None,
) -> Grid:
    """Map ``func`` over aligned chunks; axes match from the last, one-chunk axes broadcast.

    ``chunks`` defaults to those of the input with the most chunks.
    """
    if chunks is None:
        chunks = max(grids, key=len).chunks
    ndim = len(chunks)
    inputs = []
    for grid in grids:
        offset = ndim - grid.ndim
        axes = tuple(
            None if count == 1 else axis + offset for axis, count in enumerate(grid.numblocks)
        )
        inputs.append((grid, axes))
    return blockwise(
        func,
        inputs,
        chunks=chunks,
        meta=meta,
        kwargs=kwargs,
        varying=varying,
        cheap=cheap,
        itemsize=itemsize,
    )


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


@kernel(view=True)
def same(block: Any) -> Any:
    """Return the block itself."""
    return block


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


@dataclass(frozen=True)
class PartAt:
    """Which part of a split belongs to the output chunk."""

    axis: int

    def __call__(self, index: Index) -> tuple[int]:
        return (index[self.axis],)


@dataclass(frozen=True, eq=False)
class Merged(ByKernel):
    """Chunk ``j`` along ``axis`` from part ``j`` of every split chunk along that axis."""

    parts: Grid
    axis: int
    sources: tuple[Grid, ...] = ()
    kwargs: Mapping[str, Any] | None = None

    def cell(self, index: Index) -> Call:
        count = self.parts.numblocks[self.axis]
        head, tail = index[: self.axis], index[self.axis + 1 :]
        # The parts' grid has one more axis than the splits': which part.
        refs = [
            Ref(self.parts, (*head, position, *tail, index[self.axis])) for position in range(count)
        ]
        singles = tuple(Ref(source, (0,) * source.ndim) for source in self.sources)
        return Call(self.func, (refs, *singles), self.kwargs or {})


def all_to_all(
    source: Grid,
    axis: int,
    split: Callable[..., Any] | None,
    merge: Callable[..., Any],
    sizes: Sizes,
    *,
    split_with: Sequence[Grid] = (),
    merge_with: Sequence[Grid] = (),
    split_kwargs: Mapping[str, Any] | None = None,
    merge_kwargs: Mapping[str, Any] | None = None,
    meta: Any = None,
    itemsize: float | None = None,
) -> Grid:
    """Shuffle along ``axis``: every input chunk is split, every output chunk merges its parts.

    ``split(block, *split_with, **split_kwargs)`` returns ``len(sizes)`` parts in the order of the
    output; without it, the chunks of ``source`` are such lists already. ``merge(parts, *merge_with,
    **merge_kwargs)`` takes them in the order of the input. Grids in ``split_with`` and
    ``merge_with`` have one chunk each.
    """
    whole: Axes = tuple(range(source.ndim))
    splits = source
    if split is not None:
        inputs = [(source, whole), *((grid, (None,) * grid.ndim) for grid in split_with)]
        splits = blockwise(
            split,
            inputs,
            chunks=source.chunks,
            itemsize=source.width,
            kwargs=split_kwargs,
            cheap=cost_of(split).view,
        )
    part_sizes: Sizes = (1,) * len(sizes)
    parts = blockwise(
        operator.getitem,
        [(splits, whole)],
        chunks=(*source.chunks, part_sizes),
        varying=PartAt(source.ndim),
        cheap=True,
        itemsize=(source.width or 0) / max(1, len(sizes)),
    )
    chunks = (*source.chunks[:axis], tuple(sizes), *source.chunks[axis + 1 :])
    rule = Merged(merge, parts, axis, tuple(merge_with), merge_kwargs or None)
    return Grid(rule, chunks, meta, itemsize)
