"""Select chunks of grids, and parts of chunks, without computation."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..sizes import Index, borders, numbers
from .blockwise import Axes, Via, blockwise, pick, same
from .grid import Call, Grid, Look, Ref, Rule
from .lengths import resolved
from .rechunk import PartsAt, cut


@dataclass(frozen=True, eq=False)
class Select(Rule):
    """Each chunk is a chunk of one of the sources under another key, without computation.

    The chunks of source ``k`` begin at ``starts[k]`` along ``axis``, and ``axes[k]`` lead to them
    as in a :class:`.Blockwise`.
    """

    scratch: ClassVar[float] = 0.0

    sources: tuple[Grid, ...]
    axes: tuple[Axes, ...]
    axis: int = 0
    starts: tuple[int, ...] = (0,)
    called: str = "blocks"

    @property
    def label(self) -> str:
        return self.called

    def source(self, index: Index) -> int:
        """Return the source of a chunk."""
        if len(self.starts) == 1:
            return 0
        return bisect.bisect_right(self.starts, index[self.axis]) - 1

    def cell(self, index: Index) -> Call:
        position = self.source(index)
        return Call(same, (Ref(self.sources[position], pick(index, self.axes[position])),))


def chosen(grid: Grid, positions: Sequence[Sequence[int] | None], called: str = "blocks") -> Grid:
    """Return some chunks of a grid as a grid: those at the given positions of each axis, or all."""
    axes = tuple(
        axis if places is None else Via(axis, places) for axis, places in enumerate(positions)
    )
    chunks = tuple(
        sizes if places is None else tuple(sizes[place] for place in places)
        for sizes, places in zip(grid.chunks, positions, strict=True)
    )
    return Grid(Select((grid,), (axes,), called=called), chunks, grid.meta, grid.itemsize)


def concatenate_grids(
    grids: Sequence[Grid], axis: int, meta: Any = None, called: str = "concatenate"
) -> Grid:
    """Concatenate grids; the other axes must have equal chunks."""
    if len(grids) == 1:
        return grids[0]
    first = grids[0]
    *starts, count = borders(grid.numblocks[axis] for grid in grids)
    # The table of a source is 0 at its first chunk, and continues before and behind.
    tables = (Via(axis, range(-start, count - start), partial=True) for start in starts)
    axes = tuple((*range(axis), table, *range(axis + 1, first.ndim)) for table in tables)
    sizes = tuple(size for grid in grids for size in grid.chunks[axis])
    chunks = (*first.chunks[:axis], sizes, *first.chunks[axis + 1 :])
    rule = Select(tuple(grids), axes, axis, tuple(starts), called)
    return Grid(rule, chunks, first.meta if meta is None else meta, first.itemsize)


@dataclass(frozen=True)
class AxisCut:
    """The slicing of one axis: for each new chunk the old one, its part, and its size."""

    positions: range | tuple[int, ...]
    parts: tuple[slice, ...]
    sizes: tuple[int, ...]


#: Of more chunks the parts are computed together.
MOST_CUT_SINGLY = 64


def cut_axis(sizes: tuple[int, ...], taken: range) -> AxisCut:
    """Return the nonempty chunks of an axis that contain the elements ``taken``."""
    ascending = taken if taken.step > 0 else taken[::-1]
    if not ascending:
        return AxisCut(range(1), (slice(0, 0, 1),), (0,))
    starts = borders(sizes)
    first = bisect.bisect_right(starts, ascending[0]) - 1
    last = bisect.bisect_right(starts, ascending[-1], lo=first) - 1
    singly = min(last - first, len(ascending)) <= MOST_CUT_SINGLY or starts[-1] >= 2**62
    runs = (_runs if singly else _all_runs)(starts, first, last, ascending)
    if taken.step < 0:
        runs = Runs(*(column[::-1] for column in runs))
        ends = ((stop - 1, begin - 1) for begin, stop in zip(runs.begins, runs.stops, strict=True))
        parts = tuple(slice(end, rest if rest >= 0 else None, taken.step) for end, rest in ends)
    else:
        parts = tuple(map(slice, runs.begins, runs.stops, itertools.repeat(taken.step)))
    return AxisCut(_as_range(runs.positions), parts, tuple(runs.counts))


class Runs(NamedTuple):
    """The elements of an ascending range in each chunk that has some."""

    positions: list[int]
    begins: list[int]
    """The first of them, counted from the begin of the chunk."""
    stops: list[int]
    """The end of the last of them."""
    counts: list[int]


def _runs(starts: list[int], first: int, last: int, wanted: range) -> Runs:
    """Find the elements in chunks ``first`` to ``last``; chunks without any are not visited."""
    runs = Runs([], [], [], [])
    count = 0
    while count < len(wanted):
        position = bisect.bisect_right(starts, wanted[count], first, last + 1) - 1
        begin = starts[position]
        after = -((wanted.start - starts[position + 1]) // wanted.step)
        after = min(after, len(wanted))
        row = (position, wanted[count] - begin, wanted[after - 1] - begin + 1, after - count)
        for column, value in zip(runs, row, strict=True):
            column.append(value)
        first, count = position + 1, after
    return runs


def _all_runs(starts: list[int], first: int, last: int, wanted: range) -> Runs:
    """Find the elements in chunks ``first`` to ``last``, in all of them together."""
    begins = np.array(starts[first : last + 2])
    places = np.clip(-((wanted.start - begins) // wanted.step), 0, len(wanted))
    counts = np.diff(places)
    nonempty = np.flatnonzero(counts)
    low = wanted.start + places[nonempty] * wanted.step - begins[nonempty]
    stops = low + (counts[nonempty] - 1) * wanted.step + 1
    columns = (nonempty + first, low, stops, counts[nonempty])
    return Runs(*(column.tolist() for column in columns))


def _as_range(positions: list[int]) -> range | tuple[int, ...]:
    step = positions[1] - positions[0] if len(positions) > 1 else 1
    candidate = range(positions[0], positions[-1] + (1 if step > 0 else -1), step)
    return candidate if list(candidate) == positions else tuple(positions)


def slice_grid(grid: Grid, taken: tuple[range | None, ...]) -> Grid:
    """Return a part of a grid as views of its chunks; ``None`` takes a whole axis."""
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
    """Run the leading chunks of an axis that hold ``count`` elements, twice as many each round.

    Return these chunks with known sizes.
    """
    blocks: list[Grid] = []
    have = position = 0
    step = 1
    while position < a.numblocks[axis] and (have < count or not blocks):
        (block,) = yield from resolved(
            chosen(
                a,
                [
                    range(position, min(position + step, a.numblocks[axis])) if i == axis else None
                    for i in range(a.ndim)
                ],
            )
        )
        blocks.append(block)
        have += sum(numbers(block.chunks[axis]))
        position += step
        step *= 2
    return concatenate_grids(blocks, axis)
