"""Some chunks of grids, and parts of them: nothing is computed for it."""

from __future__ import annotations

import bisect
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..sizes import Index, Size, borders, numbers
from .blockwise import Via, blockwise, same
from .grid import Call, Grid, Look, Ref, Rule
from .lengths import resolved
from .rechunk import PartsAt, cut


@dataclass(frozen=True, eq=False)
class Joined(Rule):
    """The chunks of several grids, one grid after the other along an axis."""

    sources: tuple[Grid, ...]
    axis: int

    @property
    def label(self) -> str:
        return "concatenate"

    @property
    def scratch(self) -> float:
        return 0.0

    @cached_property
    def _starts(self) -> list[int]:
        return borders(source.numblocks[self.axis] for source in self.sources)

    def cell(self, index: Index) -> Call:
        which = bisect.bisect_right(self._starts, index[self.axis]) - 1
        inside = index[self.axis] - self._starts[which]
        place = (*index[: self.axis], inside, *index[self.axis + 1 :])
        return Call(same, (Ref(self.sources[which], place),))


def joined(grids: Sequence[Grid], axis: int, meta: Any = None) -> Grid:
    """Return the chunks of all grids as one grid; the other axes must be cut alike."""
    if len(grids) == 1:
        return grids[0]
    first = grids[0].chunks
    sizes = tuple(size for grid in grids for size in grid.chunks[axis])
    chunks = (*first[:axis], sizes, *first[axis + 1 :])
    return Grid(Joined(tuple(grids), axis), chunks, grids[0].meta if meta is None else meta)


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
