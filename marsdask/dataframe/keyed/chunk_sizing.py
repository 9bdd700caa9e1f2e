"""What memory has room for: chunks measured, cut and put together before they are shuffled."""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from marsdask.core.compilation.costs import kernel
from marsdask.core.compilation.sizing import has_budget, is_tight, part_bytes, part_count
from marsdask.core.grids.blockwise import Via, blockwise
from marsdask.core.grids.grid import Call, Grid, Look, Ref, Rule
from marsdask.core.grids.lengths import with_sizes
from marsdask.core.sizes import Index, Size, Unknown, known_chunks, total, upper
from marsdask.scheduler.base import describe

from ..rows import concat, take

#: Chunks are cut where they are larger than this many parts.
LARGE = 1.5
#: Rows may take so many times what their types let expect: texts may be long.
DOUBT = 4
#: About what dask counts for a frame without rows.
EMPTY_BYTES = 2400


def may_be_tight(*grids: Grid) -> bool:
    """Tell whether chunks may turn out to be too many, of which only estimates are known."""
    if not has_budget():
        return False
    sizes = [grid.nbytes((position,)) for grid in grids for position in range(len(grid))]
    return None in sizes or is_tight(DOUBT * sum(size or 0 for size in sizes))


class MeasuredGrid(NamedTuple):
    """Chunks that ran: their grid knows its sizes and what a row takes."""

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
        """Return into how many parts the rows are to be cut."""
        return part_count(self.total, limit)


def measure(
    *grids: Grid, keep: tuple[Grid, ...] = ()
) -> Generator[Look, Any, tuple[MeasuredGrid, ...]]:
    """Run chunks to learn how many rows they have and what these take; ``keep`` runs beside."""
    infos = iter((yield Look(grids, keep=keep)))
    return tuple(_measured(grid, list(itertools.islice(infos, len(grid)))) for grid in grids)


def _measured(grid: Grid, infos: Sequence[Any]) -> MeasuredGrid:
    if not known_chunks(grid.chunks):
        grid = with_sizes(grid, {(at,): info.shape for at, info in enumerate(infos)})
    # Thousands of frames of a few rows are not to count for what each takes without any.
    empty = EMPTY_BYTES if grid.meta is None else describe(grid.meta).nbytes
    nbytes = tuple(max(0, info.nbytes - empty) for info in infos)
    rows = sum(info.shape[0] for info in infos)
    return MeasuredGrid(replace(grid, itemsize=sum(nbytes) / rows if rows else 0.0), nbytes)


def split_large(grid: Grid) -> Grid:
    """Cut chunks that are expected to be too large for the tasks that work on them."""
    bounds = [grid.nbytes((position,)) or 0 for position in range(len(grid))]
    return _cut(grid, bounds, part_bytes())


def repartition(source: MeasuredGrid, limit: int = sys.maxsize) -> Grid:
    """Cut large chunks and put neighbouring small ones together, each to be a part's size."""
    wanted = part_bytes(limit)
    grid = _cut(source.grid, source.nbytes, wanted)
    if grid is not source.grid or max(source.nbytes) * 2 > wanted:
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
    joined = tuple(total(sizes[start:stop]) for start, stop in runs)
    return Grid(ChunkRuns(grid, tuple(starts)), (joined,), grid.meta, grid.itemsize)


def _cut(grid: Grid, nbytes: Sequence[int], wanted: int) -> Grid:
    """Cut each chunk that is larger than ``wanted`` evenly."""
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
    bound = None if size.upper is None else -(-size.upper // count)
    return Unknown(f"{name}:{size.index}:{count}", k, bound)


@dataclass(frozen=True)
class ShareAt:
    """Gives each piece of a chunk its place among how many."""

    places: tuple[tuple[int, int], ...]

    def __call__(self, index: Index) -> tuple[int, int]:
        return self.places[index[0]]


@kernel(view=True)
def share(block: Any, k: int, count: int) -> Any:
    """Return the rows of one of ``count`` even pieces, as a view."""
    return take(block, slice(len(block) * k // count, len(block) * (k + 1) // count))


@dataclass(frozen=True, eq=False)
class ChunkRuns(Rule):
    """Each chunk from a run of neighbouring chunks."""

    source: Grid
    starts: tuple[int, ...]

    @property
    def scratch(self) -> float:
        return 0.0

    def cell(self, index: Index) -> Call:
        (at,) = index
        stop = (*self.starts, len(self.source))[at + 1]
        return Call(concat, ([Ref(self.source, (i,)) for i in range(self.starts[at], stop)],))
