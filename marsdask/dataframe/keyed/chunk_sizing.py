"""Measure chunks before a shuffle; split or merge them to parts that fit into memory."""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

from marsdask.core.grids.blockwise import Via, blockwise
from marsdask.core.grids.grid import Call, Grid, Look, Ref, Rule
from marsdask.core.grids.lengths import with_sizes
from marsdask.core.machine.costs import kernel
from marsdask.core.machine.sizing import has_budget, is_tight, part_bytes, part_count
from marsdask.core.sizes import Index, Size, Unknown, known_chunks, total, upper
from marsdask.scheduler.base import describe

from ..rows import concat, take

#: Chunks are split if they are larger than this many parts.
LARGE = 1.5
#: Rows may have this many times the bytes that their types suggest: text may be long.
DOUBT = 4
#: About the bytes that Dask counts for a frame without rows.
EMPTY_BYTES = 2400


def may_be_tight(*grids: Grid) -> bool:
    """Tell whether chunks of estimated sizes may exceed the memory."""
    if not has_budget():
        return False
    sizes = [grid.nbytes((position,)) for grid in grids for position in range(len(grid))]
    return None in sizes or is_tight(DOUBT * sum(size or 0 for size in sizes))


class MeasuredGrid(NamedTuple):
    """Computed chunks: a grid with known sizes and bytes of a row."""

    grid: Grid
    nbytes: tuple[int, ...]
    """The bytes of each chunk's rows."""

    @property
    def total(self) -> int:
        """The bytes of all rows."""
        return sum(self.nbytes)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return int(upper(total(self.grid.chunks[0])) or 0)

    def parts(self, limit: int = sys.maxsize) -> int:
        """Return the number of parts into which to cut the rows."""
        return part_count(self.total, limit)


def measure(
    *grids: Grid, keep: tuple[Grid, ...] = ()
) -> Generator[Look, Any, tuple[MeasuredGrid, ...]]:
    """Run chunks to learn their rows and bytes; the grids of ``keep`` run with them."""
    infos = iter((yield Look(grids, keep=keep)))
    return tuple(_measure(grid, list(itertools.islice(infos, len(grid)))) for grid in grids)


def _measure(grid: Grid, infos: Sequence[Any]) -> MeasuredGrid:
    if not known_chunks(grid.chunks):
        grid = with_sizes(grid, {(at,): info.shape for at, info in enumerate(infos)})
    # In thousands of small frames, the bytes of empty frames would dominate.
    empty = EMPTY_BYTES if grid.meta is None else describe(grid.meta).nbytes
    nbytes = tuple(max(0, info.nbytes - empty) for info in infos)
    rows = sum(info.shape[0] for info in infos)
    return MeasuredGrid(replace(grid, itemsize=sum(nbytes) / rows if rows else 0.0), nbytes)


def split_large(grid: Grid) -> Grid:
    """Split chunks that are expected to be too large for their tasks."""
    bounds = [grid.nbytes((position,)) or 0 for position in range(len(grid))]
    return _cut(grid, bounds, part_bytes())


def repartition(source: MeasuredGrid, limit: int = sys.maxsize) -> Grid:
    """Split large chunks and merge neighbouring small ones to about the size of a part."""
    target = part_bytes(limit)
    grid = _cut(source.grid, source.nbytes, target)
    return merge_small(source, target) if grid is source.grid else grid


def merge_small(source: MeasuredGrid, wanted: int) -> Grid:
    """Merge neighbouring chunks to about ``wanted`` bytes if all are smaller than half of it."""
    grid = source.grid
    if max(source.nbytes) * 2 > wanted:
        return grid
    starts, room = [0], wanted
    for position, nbytes in enumerate(source.nbytes):
        if nbytes > room and position:
            starts.append(position)
            room = wanted
        room -= nbytes
    if len(starts) == len(grid):
        return grid
    sizes = grid.chunks[0]
    runs = itertools.pairwise([*starts, len(sizes)])
    lengths = tuple(total(sizes[start:stop]) for start, stop in runs)
    return Grid(ChunkRuns(grid, tuple(starts)), (lengths,), grid.meta, grid.itemsize)


def _cut(grid: Grid, nbytes: Sequence[int], wanted: int) -> Grid:
    """Split chunks that are too large for ``wanted`` bytes into pieces of equal sizes."""
    sizes = grid.chunks[0]
    shares = [
        min(math.ceil(n / wanted), max(1, upper(size) or sys.maxsize)) if n > LARGE * wanted else 1
        for n, size in zip(nbytes, sizes, strict=True)
    ]
    if max(shares) == 1:
        return grid
    pieces = [(at, k, count) for at, count in enumerate(shares) for k in range(count)]
    return blockwise(
        share,
        [(grid, (Via(0, tuple(at for at, _, _ in pieces)),))],
        chunks=(tuple(_share(sizes[at], k, count, grid.name) for at, k, count in pieces),),
        meta=grid.meta,
        itemsize=grid.itemsize,
        varying=ShareAt(tuple((k, count) for _, k, count in pieces)),
        cheap=True,
    )


def _share(size: Size, k: int, count: int, name: str) -> Size:
    if not isinstance(size, Unknown):
        return size * (k + 1) // count - size * k // count
    if count == 1:
        return size
    limit = None if size.upper is None else -(-size.upper // count)
    return Unknown(f"{name}:{size.index}:{count}", k, limit)


@dataclass(frozen=True)
class ShareAt:
    """Gives each piece its number among those of its chunk, and their count."""

    places: tuple[tuple[int, int], ...]

    def __call__(self, index: Index) -> tuple[int, int]:
        return self.places[index[0]]


@kernel(view=True)
def share(block: Any, k: int, count: int) -> Any:
    """Return the rows of one of ``count`` equal pieces, as a view."""
    return take(block, slice(len(block) * k // count, len(block) * (k + 1) // count))


@dataclass(frozen=True, eq=False)
class ChunkRuns(Rule):
    """Each chunk from a run of neighbouring chunks."""

    scratch: ClassVar[float] = 0.0

    source: Grid
    starts: tuple[int, ...]

    def cell(self, index: Index) -> Call:
        (at,) = index
        stop = (*self.starts, len(self.source))[at + 1]
        return Call(concat, ([Ref(self.source, (i,)) for i in range(self.starts[at], stop)],))
