"""Chunks with parts of their neighbours; a short or empty neighbour needs those behind it.

Beyond the ends of an axis are no elements, constants, or elements of the axis. Parts are read
directly from their chunks, and copied once. This module is independent of arrays and frames:
callers pass the kernels that cut and join.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, overload

import numpy as np

from ..machine.costs import FunctionWrapper
from ..sizes import Index, Sizes, borders, known, numbers, upper
from .blockwise import blockwise
from .chunk_positions import ChunkAt
from .grid import Call, Grid, Ref, Rule
from .rechunk import cover
from .tree import gather

#: The number of elements before and after a chunk; negative numbers drop the chunk's own.
Depth = tuple[int, int]
#: How an axis is extended beyond its ends: "none", "reflect", "periodic", "nearest", or a constant.
Edge = Any


class Run(NamedTuple):
    """A run of elements of one chunk, one of them ``length`` times, or a constant."""

    position: int
    part: slice
    length: int
    constant: bool = False


def merge_sizes(size: int, sizes: Sizes) -> Sizes:
    """Merge neighbouring chunks to at least ``size`` elements each, if the axis is that long."""
    if not known(sizes) or min(numbers(sizes), default=0) >= size:
        return sizes
    lengths: list[int] = []
    total = 0
    for length in numbers(sizes):
        total += length
        if total >= size:
            lengths.append(total)
            total = 0
    if total and lengths:
        lengths[-1] += total
    return tuple(lengths) or (total,)


def outside(kind: Edge, positions: range, length: int) -> list[int]:
    """Return the elements for ``positions`` outside of an axis."""
    if kind == "periodic":
        return [i % length for i in positions]
    if kind == "nearest":
        return [min(max(i, 0), length - 1) for i in positions]
    return [min(i % (2 * length), 2 * length - 1 - i % (2 * length)) for i in positions]


def runs_of(starts: Sequence[int], positions: list[int]) -> Iterator[Run]:
    """Describe elements at any positions by runs, each of equal steps and in one chunk."""
    begin = 0
    while begin < len(positions):
        first = positions[begin]
        (place, inside), *_ = cover(starts, first, first + 1)
        low, high = first - inside.start, first - inside.start + _size(starts, place)
        step = positions[begin + 1] - first if begin + 1 < len(positions) else 1
        end = begin + 1
        while end < len(positions) and positions[end] == first + step * (end - begin):
            if abs(step) > 1 or not low <= positions[end] < high:
                break
            end += 1
        count = end - begin
        if step == -1 and count > 1:
            stop = inside.start - count
            yield Run(place, slice(inside.start, stop if stop >= 0 else None, -1), count)
        else:
            width = 1 if step == 0 else count
            yield Run(place, slice(inside.start, inside.start + width), count)
        begin = end


def _size(starts: Sequence[int], position: int) -> int:
    return starts[position + 1] - starts[position]


@dataclass(frozen=True)
class HaloRuns(Sequence[list[Run]]):
    """For each chunk of an axis the runs of its elements and of its halo, made when asked for."""

    sizes: tuple[int, ...]
    depth: Depth
    edge: Edge

    @cached_property
    def _starts(self) -> list[int]:
        return borders(self.sizes)

    def __len__(self) -> int:
        return len(self.sizes)

    @overload
    def __getitem__(self, position: int) -> list[Run]: ...

    @overload
    def __getitem__(self, position: slice) -> list[list[Run]]: ...

    def __getitem__(self, position: int | slice) -> Any:
        if isinstance(position, slice):
            return [self[i] for i in range(len(self))[position]]
        starts, edge = self._starts, self.edge
        at, length = range(len(self))[position], starts[-1]
        first, last = starts[at] - self.depth[0], starts[at + 1] + self.depth[1]
        inner = cover(starts, max(first, 0), min(last, length))
        runs = [Run(place, part, part.stop - part.start) for place, part in inner]
        if not is_none(edge) and length:
            before, after = range(first, min(0, last)), range(max(length, first), last)
            runs = [*_beyond(starts, edge, before), *runs, *_beyond(starts, edge, after)]
        return runs

    @property
    def lengths(self) -> tuple[int, ...]:
        """The number of elements of each chunk with its halo."""
        starts, length = np.array(self._starts), self._starts[-1]
        first, last = starts[:-1] - self.depth[0], starts[1:] + self.depth[1]
        counts = np.maximum(0, np.minimum(last, length) - np.maximum(first, 0))
        if not is_none(self.edge) and length:
            counts += np.maximum(0, np.minimum(0, last) - first)
            counts += np.maximum(0, last - np.maximum(length, first))
        return tuple(counts.tolist())


def _beyond(starts: Sequence[int], edge: Edge, positions: range) -> list[Run]:
    if not positions:
        return []
    if isinstance(edge, str):
        return list(runs_of(starts, outside(edge, positions, starts[-1])))
    return [Run(0 if positions[0] < 0 else len(starts) - 2, slice(0, 0), len(positions), True)]


def is_none(edge: Edge) -> bool:
    """Tell whether the axis is not extended."""
    return isinstance(edge, str) and edge == "none"


@dataclass(frozen=True, eq=False)
class Halo(Rule):
    """Each chunk with its halo, from the parts of chunks that it covers."""

    label: ClassVar[str] = "overlap"
    scratch: ClassVar[float] = 0.0

    source: Grid
    depths: tuple[Depth, ...]
    edges: tuple[Edge, ...]
    join: Callable[..., Any]
    """Called with blocks, for each its part and where that goes, constants and where they go, and
    the shape: ``None`` along axes of one part, whose lengths need not be known."""

    @cached_property
    def _runs(self) -> list[Sequence[list[Run]]]:
        axes = zip(self.source.chunks, self.depths, self.edges, strict=True)
        return [
            HaloRuns(numbers(sizes), depth, edge) if any(depth) or known(sizes) else _each(sizes)
            for sizes, depth, edge in axes
        ]

    def cell(self, index: Index) -> Call:
        per_axis = [
            axis_runs[position] for axis_runs, position in zip(self._runs, index, strict=True)
        ]
        refs: list[Ref] = []
        copies: list[tuple[tuple[slice, ...], tuple[slice, ...]]] = []
        constants_at: list[tuple[Any, tuple[slice, ...]]] = []
        for runs in itertools.product(*map(_placed, per_axis)):
            target = tuple(where for _, where in runs)
            constants = [axis for axis, (run, _) in enumerate(runs) if run.constant]
            if constants:
                # Axes are extended one after the other, so the last one has the corners.
                constants_at.append((self.edges[constants[-1]], target))
            else:
                refs.append(Ref(self.source, tuple(run.position for run, _ in runs)))
                copies.append((tuple(run.part for run, _ in runs), target))
        shape = tuple(
            None if runs[0].part == slice(None) else sum(run.length for run in runs)
            for runs in per_axis
        )
        return Call(self.join, (refs, copies, constants_at, shape))


def _each(sizes: Sizes) -> list[list[Run]]:
    """Return each chunk as it is."""
    return [[Run(position, slice(None), 0)] for position in range(len(sizes))]


def _placed(runs: Sequence[Run]) -> list[tuple[Run, slice]]:
    if runs[0].part == slice(None):
        return [(runs[0], slice(None))]
    bounds = itertools.pairwise(borders(run.length for run in runs))
    return [(run, slice(begin, end)) for run, (begin, end) in zip(runs, bounds, strict=True)]


@dataclass(frozen=True)
class OfParts(FunctionWrapper):
    """Calls a kernel with parts of chunks, the chunk itself and its position among them."""

    take: Callable[..., Any]

    def __call__(
        self, blocks: list[Any], parts: Sequence[slice], own: Any, begin: int, **kwargs: Any
    ) -> Any:
        rows = [self.take(block, part) for block, part in zip(blocks, parts, strict=True)]
        return self.func(rows, own, begin, **kwargs)


@dataclass(frozen=True)
class OfAll(FunctionWrapper):
    """Calls a kernel with the only chunk."""

    def __call__(self, own: Any, **kwargs: Any) -> Any:
        return self.func([own], own, 0, **kwargs)


@dataclass(frozen=True)
class OfEnds(FunctionWrapper):
    """Calls a kernel with a chunk and the parts before and after it."""

    def __call__(self, own: Any, around: Sequence[Any], position: int, **kwargs: Any) -> Any:
        before, after = around[position]
        return self.func([before, own, after], own, len(before), **kwargs)


@dataclass(frozen=True, eq=False)
class Stencil(Rule):
    """Each chunk with a number of elements before it and after it."""

    func: OfParts
    source: Grid
    depth: Depth
    kwargs: Mapping[str, Any] | None = None

    @property
    def label(self) -> str:
        return self.func.__name__

    @cached_property
    def _begins(self) -> list[int]:
        return borders(self.source.chunks[0])

    @cached_property
    def _runs(self) -> HaloRuns:
        return HaloRuns(numbers(self.source.chunks[0]), self.depth, "none")

    def cell(self, index: Index) -> Call:
        (at,) = index
        runs = self._runs[at]
        begin = self._begins[at]
        refs = [Ref(self.source, (run.position,)) for run in runs]
        inside = begin - max(begin - self.depth[0], 0)
        args = (refs, tuple(run.part for run in runs), Ref(self.source, index), inside)
        return Call(self.func, args, self.kwargs or {})


@dataclass(frozen=True)
class EndsOf:
    """Cuts the first elements off a chunk, and the last ones."""

    take: Callable[..., Any]
    depth: Depth

    def __call__(self, block: Any) -> tuple[Any, Any]:
        before, after = self.depth
        last = self.take(block, slice(max(0, len(block) - before), None))
        return self.take(block, slice(0, after)), last


@dataclass(frozen=True)
class Around:
    """Gives each chunk the elements before and after it, from the ends of all chunks."""

    take: Callable[..., Any]
    join: Callable[[list[Any]], Any]
    depth: Depth

    def __call__(self, ends: Sequence[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
        before, after = self.depth
        first, last = ends[0][0], ends[0][1]
        follow = [self.take(first, slice(0, 0))]
        for head, _ in ends[:0:-1]:
            follow.append(self.take(self.join([head, follow[-1]]), slice(0, after)))
        result = [(self.take(last, slice(0, 0)), follow[-1])]
        for (_, tail), first_rows in zip(ends[:-1], follow[-2::-1], strict=True):
            rows = self.join([result[-1][0], tail])
            result.append((self.take(rows, slice(max(0, len(rows) - before), None)), first_rows))
        return result


def reaches_far(sizes: Sizes, depth: Depth) -> bool:
    """Tell whether parts may be longer than chunks, as far as sizes are known."""
    bounds = [upper(size) for size in sizes]
    return None in bounds or max(depth) * len(sizes) > sum(filter(None, bounds))


def stencil(
    source: Grid,
    depth: Depth,
    func: Callable[..., Any],
    *,
    take: Callable[..., Any],
    join: Callable[[list[Any]], Any],
    kwargs: Mapping[str, Any] | None = None,
    meta: Any = None,
    itemsize: float | None = None,
) -> Grid:
    """Map ``func`` over the chunks of one axis and the elements around them.

    ``func(parts, own, begin, **kwargs)`` receives the chunk ``own`` and its position ``begin`` in
    the concatenated ``parts``. These reach from ``depth[0]`` elements before the chunk to
    ``depth[1]`` after it, or to the ends. A negative depth drops elements of the chunk (only where
    lengths are known). ``take(block, slice)`` cuts, ``join(blocks)`` joins. For unknown lengths,
    one task gets the ends of all chunks; no chunk runs before tiling ends.
    """
    like: Any = {"chunks": source.chunks, "meta": meta, "itemsize": itemsize}
    if len(source) == 1:
        return blockwise(OfAll(func), [(source, (0,))], kwargs=kwargs, **like)
    if known(source.chunks[0]):
        return Grid(Stencil(OfParts(func, take), source, depth, kwargs or None), **like)
    ends_depth = (max(depth[0], 0), max(depth[1], 0))
    count = source.numblocks[0]
    width = sum(ends_depth) * (source.width or 0)
    ends = blockwise(
        EndsOf(take, ends_depth), [(source, (0,))], chunks=((1,) * count,), itemsize=width
    )
    around = gather(Around(take, join, ends_depth), ends, chunks=((count,),), itemsize=width)
    inputs: Any = [(source, (0,)), (around, (None,))]
    return blockwise(OfEnds(func), inputs, varying=ChunkAt(), kwargs=kwargs, **like)
