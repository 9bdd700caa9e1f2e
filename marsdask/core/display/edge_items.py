"""The items at the edges of an executed collection: repr fetches only these."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..compilation.lowering import lower
from ..grids.grid import Call, Grid, Ref, Rule
from ..results.stored import Stored
from ..sizes import Index, Sizes, borders

if TYPE_CHECKING:
    from ..collection import Collection

#: A part of one chunk along an axis: its position, and where the part starts and stops in it.
Piece = tuple[int, int, int]


@dataclass(frozen=True, eq=False)
class Parts(Rule):
    """Parts of some chunks of a grid; ``pieces`` lists them for each axis."""

    source: Grid
    pieces: tuple[tuple[Piece, ...], ...]

    def cell(self, index: Index) -> Call:
        pieces = [axis[i] for axis, i in zip(self.pieces, index, strict=True)]
        ref = Ref(self.source, tuple(position for position, _, _ in pieces))
        return Call(part, (ref, tuple(slice(start, stop) for _, start, stop in pieces)))


def part(block: Any, place: tuple[slice, ...]) -> Any:
    """Return a copy of a part of a block, by position also where it has labels."""
    positional = getattr(block, "iloc", block)
    return positional[place[0] if len(place) == 1 else place].copy()


def edges_of(sizes: Sizes, head: int, tail: int) -> tuple[Piece, ...]:
    """Return the parts of an axis's chunks that hold its first and its last items."""
    starts = borders(sizes)
    length = starts[-1]
    head, tail = min(head, length), min(tail, max(0, length - head))
    ranges = [(0, head), (length - tail, length)] if head + tail < length else [(0, length)]
    pieces = []
    for position, (start, stop) in enumerate(itertools.pairwise(starts)):
        for begin, end in ranges:
            low, high = max(start, begin), min(stop, end)
            if low < high:
                pieces.append((position, low - start, high - start))
    return tuple(pieces) or ((0, 0, 0),)


def fetch_edge_items(
    stored: Stored, kind: type[Collection], edges: Sequence[tuple[int, int]]
) -> Any:
    """Return the concatenated items at both ends of every axis."""
    grid: Grid = stored.tile()
    pieces = tuple(
        edges_of(sizes, head, tail) for sizes, (head, tail) in zip(grid.chunks, edges, strict=True)
    )
    chunks = tuple(tuple(stop - start for _, start, stop in axis) for axis in pieces)
    parts_grid = Grid(Parts(grid, pieces), chunks, stored.meta)
    tasks, hints, _ = lower(parts_grid.refs())
    scheduler = stored.result.scheduler
    keys = [parts_grid.key(index) for index in parts_grid.indices()]
    scheduler.submit(tasks, keys, hints=hints).wait()
    try:
        blocks = dict(zip(parts_grid.indices(), scheduler.gather(keys), strict=True))
    finally:
        scheduler.release(keys)
    return kind._assemble(blocks, stored.meta, owned=True)
