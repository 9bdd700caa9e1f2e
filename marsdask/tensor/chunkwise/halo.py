"""Chunks with a halo of their neighbours' elements, and chunks without it again.

A halo is read from where it lies; a chunk and its halo are put together once, in one copy.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from marsdask.core.grids.blockwise import blockwise
from marsdask.core.grids.grid import Call, Grid, Ref, Rule
from marsdask.core.grids.lengths import resolved
from marsdask.core.grids.rechunk import cover, cut
from marsdask.core.node import Node
from marsdask.core.sizes import Chunks, Index, Sizes, Unknown, borders, known, numbers

from .rechunk import recut

Depth = tuple[int, int]
#: How an axis goes on beyond its ends: "none", "reflect", "periodic", "nearest", or a constant.
Edge = Any


class Run(NamedTuple):
    """A run of elements of one chunk, one of them ``length`` times, or a constant."""

    position: int
    part: slice
    length: int
    constant: bool = False


def regrouped(size: int, sizes: Sizes) -> Sizes:
    """Join neighbouring chunks so that none is smaller than ``size``, if the axis is that long."""
    if not known(sizes) or min(numbers(sizes), default=0) >= size:
        return sizes
    found: list[int] = []
    held = 0
    for length in numbers(sizes):
        held += length
        if held >= size:
            found.append(held)
            held = 0
    if held and found:
        found[-1] += held
    return tuple(found) or (held,)


def outside(kind: Edge, positions: range, length: int) -> list[int]:
    """Return which elements stand for those at ``positions``, outside of an axis."""
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


def windows(sizes: tuple[int, ...], depth: Depth, edge: Edge) -> list[list[Run]]:
    """For each chunk of an axis list the runs that make it and its halo."""
    starts = borders(sizes)
    length = starts[-1]
    found = []
    for begin, end in itertools.pairwise(starts):
        first, last = begin - depth[0], end + depth[1]
        inner = cover(starts, max(first, 0), min(last, length))
        runs = [Run(place, part, part.stop - part.start) for place, part in inner]
        if not _is_none(edge) and length:
            before, after = range(first, min(0, last)), range(max(length, first), last)
            runs = [*_beyond(starts, edge, before), *runs, *_beyond(starts, edge, after)]
        found.append(runs)
    return found


def _beyond(starts: Sequence[int], edge: Edge, positions: range) -> list[Run]:
    if not positions:
        return []
    if isinstance(edge, str):
        return list(runs_of(starts, outside(edge, positions, starts[-1])))
    return [Run(0 if positions[0] < 0 else len(starts) - 2, slice(0, 0), len(positions), True)]


def _is_none(edge: Edge) -> bool:
    return isinstance(edge, str) and edge == "none"


@dataclass(frozen=True, eq=False)
class Halo(Rule):
    """Each chunk with its halo, from the parts of chunks that these cover."""

    source: Grid
    depths: tuple[Depth, ...]
    edges: tuple[Edge, ...]

    @property
    def label(self) -> str:
        return "overlap"

    @property
    def scratch(self) -> float:
        return 0.0

    @cached_property
    def _windows(self) -> list[list[list[Run]]]:
        axes = zip(self.source.chunks, self.depths, self.edges, strict=True)
        return [windows(numbers(sizes), depth, edge) for sizes, depth, edge in axes]

    def cell(self, index: Index) -> Call:
        per_axis = [found[position] for found, position in zip(self._windows, index, strict=True)]
        refs: list[Ref] = []
        taken: list[tuple[tuple[slice, ...], tuple[slice, ...]]] = []
        filled: list[tuple[Any, tuple[slice, ...]]] = []
        for runs in itertools.product(*map(_placed, per_axis)):
            target = tuple(where for _, where in runs)
            constants = [axis for axis, (run, _) in enumerate(runs) if run.constant]
            if constants:
                # As if the axes were framed one after the other: the last one has the corners.
                filled.append((self.edges[constants[-1]], target))
            else:
                refs.append(Ref(self.source, tuple(run.position for run, _ in runs)))
                taken.append((tuple(run.part for run, _ in runs), target))
        shape = tuple(sum(run.length for run in runs) for runs in per_axis)
        return Call(with_halo, (refs, taken, filled, shape))


def _placed(runs: Sequence[Run]) -> list[tuple[Run, slice]]:
    bounds = itertools.pairwise(borders(run.length for run in runs))
    return [(run, slice(begin, end)) for run, (begin, end) in zip(runs, bounds, strict=True)]


def with_halo(blocks: list[Any], taken: Sequence[Any], filled: Sequence[Any], shape: Any) -> Any:
    """Return a block and its halo as one array, from parts of blocks and constants."""
    out = np.empty_like(blocks[0], shape=shape)
    for block, (part, target) in zip(blocks, taken, strict=True):
        out[target] = block[part]
    for value, target in filled:
        out[target] = value
    return out


@dataclass(frozen=True, eq=False)
class Overlap(Node):
    """Every chunk with elements of its neighbours before and after it."""

    pins_grid: ClassVar[bool] = True

    a: Node
    depths: tuple[Depth, ...]
    edges: tuple[Edge, ...]
    least: tuple[int, ...]
    """Chunks smaller than this are joined first."""

    @property
    def meta(self) -> Any:
        return self.a.meta

    @property
    def chunks(self) -> Chunks:
        return self._grown(self._joined(self.a.chunks))

    def _joined(self, chunks: Chunks) -> Chunks:
        return tuple(regrouped(size, own) for size, own in zip(self.least, chunks, strict=True))

    def _grown(self, chunks: Chunks) -> Chunks:
        found: list[Sizes] = []
        for axis, (sizes, depth, edge) in enumerate(
            zip(chunks, self.depths, self.edges, strict=True)
        ):
            if depth == (0, 0):
                found.append(sizes)
            elif known(sizes):
                runs = windows(numbers(sizes), depth, edge)
                found.append(tuple(sum(run.length for run in window) for window in runs))
            else:
                found.append((Unknown(f"{self.name}@{axis}"),))
        return tuple(found)

    def tile(self, a: Grid) -> Any:
        (a,) = yield from resolved(a)
        a = recut(a, self._joined(a.chunks))
        return Grid(Halo(a, self.depths, self.edges), self._grown(a.chunks), a.meta, a.itemsize)


@dataclass(frozen=True)
class TrimAt:
    """Gives each chunk the part that is not halo."""

    numblocks: Index
    depths: tuple[Depth, ...]
    edges: tuple[Edge, ...]

    def __call__(self, index: Index) -> tuple[tuple[slice, ...]]:
        per_axis = zip(index, self.numblocks, self.depths, self.edges, strict=True)
        return (tuple(_inner(i, count, depth, edge) for i, count, depth, edge in per_axis),)


def _inner(i: int, count: int, depth: Depth, edge: Edge) -> slice:
    open_ended = _is_none(edge)
    before = 0 if open_ended and i == 0 else depth[0]
    after = 0 if open_ended and i == count - 1 else depth[1]
    return slice(before or None, -after or None)


@dataclass(frozen=True, eq=False)
class Trim(Node):
    """Every chunk without its halo."""

    pins_grid: ClassVar[bool] = True

    a: Node
    depths: tuple[Depth, ...]
    edges: tuple[Edge, ...]

    @property
    def meta(self) -> Any:
        return self.a.meta

    @property
    def chunks(self) -> Chunks:
        return self._trimmed(self.a.chunks)

    def _trimmed(self, chunks: Chunks) -> Chunks:
        found: list[Sizes] = []
        for axis, (sizes, depth, edge) in enumerate(
            zip(chunks, self.depths, self.edges, strict=True)
        ):
            if depth == (0, 0):
                found.append(sizes)
                continue
            parts = [_inner(i, len(sizes), depth, edge) for i in range(len(sizes))]
            found.append(
                tuple(
                    Unknown(f"{self.name}@{axis}", i if len(sizes) > 1 else -1)
                    if isinstance(size, Unknown)
                    else len(range(*part.indices(size)))
                    for i, (size, part) in enumerate(zip(sizes, parts, strict=True))
                )
            )
        return tuple(found)

    def tile(self, a: Grid) -> Grid:
        return blockwise(
            cut,
            [(a, tuple(range(a.ndim)))],
            chunks=self._trimmed(a.chunks),
            meta=a.meta,
            itemsize=a.itemsize,
            varying=TrimAt(a.numblocks, self.depths, self.edges),
            cheap=True,
        )
