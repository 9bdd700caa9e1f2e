"""Basic slices: every chunk of the result is a view of one chunk of the source."""

from __future__ import annotations

import bisect
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

from marsdask.core.grids.grid import Grid, Look
from marsdask.core.grids.shapes import Via, blockwise, same
from marsdask.core.node import Node
from marsdask.core.sizes import Chunks, Size, Sizes, Unknown, borders, known, numbers, upper

from ..chunkwise.rechunk import PartsAt, cut, joined, resolved

#: What is taken of one axis: the elements of a range, a slice or element of an unknown length.
Taken = range | slice | int

EVERYTHING = slice(None)


@dataclass(frozen=True)
class AxisCut:
    """How one axis is sliced: for each new chunk the old one, the part of it, and its size."""

    positions: range | tuple[int, ...]
    parts: tuple[slice, ...]
    sizes: tuple[int, ...]


def cut_axis(sizes: tuple[int, ...], taken: range) -> AxisCut:
    """Return which chunks of an axis the elements ``taken`` lie in; empty ones are left out."""
    ascending = taken if taken.step > 0 else taken[::-1]
    starts = borders(sizes)
    positions: list[int] = []
    parts: list[slice] = []
    first = bisect.bisect_right(starts, ascending[0]) - 1 if ascending else len(sizes)
    for position in range(first, len(sizes)):
        begin, end = starts[position], starts[position + 1]
        inside = ascending[
            bisect.bisect_left(ascending, begin) : bisect.bisect_left(ascending, end)
        ]
        if inside:
            positions.append(position)
            parts.append(_part(inside if taken.step > 0 else inside[::-1], begin))
        if begin > ascending[-1]:
            break
    if not positions:
        return AxisCut(range(1), (slice(0, 0, 1),), (0,))
    if taken.step < 0:
        positions.reverse()
        parts.reverse()
    lengths = tuple(
        len(range(*part.indices(sizes[position])))
        for position, part in zip(positions, parts, strict=True)
    )
    return AxisCut(_as_range(positions), tuple(parts), lengths)


def _part(inside: range, begin: int) -> slice:
    stop = inside[-1] - begin + (1 if inside.step > 0 else -1)
    return slice(inside[0] - begin, stop if stop >= 0 else None, inside.step)


def _as_range(positions: list[int]) -> range | tuple[int, ...]:
    step = positions[1] - positions[0] if len(positions) > 1 else 1
    candidate = range(positions[0], positions[-1] + (1 if step > 0 else -1), step)
    return candidate if list(candidate) == positions else tuple(positions)


def sliced(grid: Grid, taken: tuple[range | None, ...]) -> Grid:
    """Return a part of a grid as views of its chunks; ``None`` takes an axis whole."""
    cuts = [
        None
        if part is None or part == range(sum(numbers(sizes)))
        else cut_axis(numbers(sizes), part)
        for sizes, part in zip(grid.chunks, taken, strict=True)
    ]
    if not any(cuts):
        return grid
    axes = tuple(
        axis if plan is None else Via(axis, plan.positions) for axis, plan in enumerate(cuts)
    )
    chunks = tuple(
        sizes if plan is None else plan.sizes for sizes, plan in zip(grid.chunks, cuts, strict=True)
    )
    parts = tuple(() if plan is None else plan.parts for plan in cuts)
    return blockwise(
        cut,
        [(grid, axes)],
        chunks=chunks,
        meta=grid.meta,
        itemsize=grid.itemsize,
        varying=PartsAt(parts),
        cheap=True,
    )


@dataclass(frozen=True, eq=False)
class Slice(Node):
    """Part of every axis: a range, or while the length is unknown a slice or one element.

    Keeps the number of axes: an element is an axis of length one.
    """

    a: Node
    taken: tuple[Taken, ...]

    @property
    def label(self) -> str:
        return "getitem"

    @property
    def meta(self) -> Any:
        return self.a.meta

    @property
    def chunks(self) -> Chunks:
        return tuple(
            self._sizes(axis, sizes, part)
            for axis, (sizes, part) in enumerate(zip(self.a.chunks, self.taken, strict=True))
        )

    def _sizes(self, axis: int, sizes: Sizes, part: Taken) -> Sizes:
        if part == EVERYTHING:
            return sizes
        if isinstance(part, int):
            return (1,)
        if isinstance(part, range) and known(sizes):
            return cut_axis(numbers(sizes), part).sizes
        return (Unknown(f"{self.name}@{axis}", -1, _bound(sizes, part)),)

    def tile(self, a: Grid) -> Any:
        open_axes = [
            axis
            for axis, part in enumerate(self.taken)
            if part != EVERYTHING and not known(a.chunks[axis])
        ]
        if open_axes:
            return self._look(a, open_axes)
        return sliced(a, self._ranges(a))

    def _ranges(self, a: Grid) -> tuple[range | None, ...]:
        return tuple(
            None if part == EVERYTHING or not known(sizes) else settle(part, numbers(sizes), axis)
            for axis, (sizes, part) in enumerate(zip(a.chunks, self.taken, strict=True))
        )

    def _look(self, a: Grid, open_axes: list[int]) -> Generator[Look, Any, Grid]:
        """Cut the axes whose lengths are known, then look at as much of the others as needed."""
        a = sliced(a, self._ranges(a))
        needs = [needed(self.taken[axis]) for axis in open_axes]
        if len(open_axes) == 1 and needs[0] is not None:
            a = yield from prefix(a, open_axes[0], needs[0])
        else:
            (a,) = yield from resolved(a)
        ranges = tuple(
            settle(part, numbers(a.chunks[axis]), axis) if axis in open_axes else None
            for axis, part in enumerate(self.taken)
        )
        return sliced(a, ranges)


def settle(part: Taken, sizes: tuple[int, ...], axis: int) -> range:
    """Return what is taken of an axis whose length is known now."""
    length = sum(sizes)
    if isinstance(part, range):
        return part
    if isinstance(part, slice):
        return range(*part.indices(length))
    if not -length <= part < length:
        raise IndexError(f"index {part} is out of bounds for axis {axis} with size {length}")
    part %= length
    return range(part, part + 1)


def needed(part: Taken) -> int | None:
    """Return how many leading elements decide the result, ``None`` if all do."""
    if isinstance(part, int):
        return part + 1 if part >= 0 else None
    if isinstance(part, range):
        return None
    step = 1 if part.step is None else part.step
    start = 0 if part.start is None else part.start
    if step < 0 or part.stop is None or part.stop < 0 or start < 0:
        return None
    return int(part.stop) if part.stop > start else 0


def _bound(sizes: Sizes, part: range | slice) -> int | None:
    if isinstance(part, range):
        return len(part)
    bounds = [upper(size) for size in sizes]
    whole = None if None in bounds else sum(bounds)  # type: ignore[arg-type]
    count = needed(part)
    if count is None or whole is None:
        return whole if count is None else count
    return min(whole, count)


def prefix(a: Grid, axis: int, count: int) -> Generator[Look, Any, Grid]:
    """Run as many leading chunks along an axis as hold ``count`` elements, twice as many a round.

    Returns these chunks, their sizes known.
    """
    found: list[Grid] = []
    have = taken = 0
    step = 1
    while taken < a.numblocks[axis] and (have < count or not found):
        (window,) = yield from resolved(
            _window(a, axis, range(taken, min(taken + step, a.numblocks[axis])))
        )
        found.append(window)
        have += sum(numbers(window.chunks[axis]))
        taken += step
        step *= 2
    return joined(found, axis)


def _window(a: Grid, axis: int, positions: range) -> Grid:
    """Return some chunks of a grid as a grid."""
    axes = tuple(Via(i, positions) if i == axis else i for i in range(a.ndim))
    sizes: list[Size] = [a.chunks[axis][position] for position in positions]
    chunks = (*a.chunks[:axis], tuple(sizes), *a.chunks[axis + 1 :])
    return blockwise(same, [(a, axes)], chunks=chunks, meta=a.meta, itemsize=a.itemsize)
