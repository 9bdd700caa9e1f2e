"""Rechunk: each new chunk from parts of old chunks."""

from __future__ import annotations

import bisect
import itertools
import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from ..config import options
from ..machine.costs import kernel
from ..machine.sizing import is_large
from ..sizes import (
    Chunks,
    Index,
    Size,
    Sizes,
    Unknown,
    borders,
    known_chunks,
    merge_sizes,
    numbers,
    upper,
)
from .blockwise import Via, blockwise
from .grid import Call, Grid, Ref, Rule
from .shuffle import PartAt

#: A run of one chunk: the chunk along the axis, and its part.
Piece = tuple[int, slice]


def pieces_of(old: Sizes, new: Sizes) -> list[list[Piece]]:
    """For each new chunk of an axis list the parts of old chunks in it, in order."""
    if old == new:
        return [[(position, slice(None))] for position in range(len(old))]
    starts = borders(old)
    position, last = 0, len(old) - 1
    pieces: list[list[Piece]] = []
    for begin, end in itertools.pairwise(borders(new)):
        while position < last and starts[position + 1] <= begin:
            position += 1
        start = starts[position]
        if begin < end <= starts[position + 1]:
            pieces.append([(position, slice(begin - start, end - start))])
        else:
            pieces.append(cover(starts, begin, end))
    return pieces


def cover(starts: Sequence[int], begin: int, end: int) -> list[Piece]:
    """Return the parts of chunks in a span; ``starts`` has their begins and the last end."""
    pieces: list[Piece] = []
    last = len(starts) - 2
    position = max(0, bisect.bisect_right(starts, begin) - 1)
    while position <= last and starts[position] < end:
        start = max(begin, starts[position])
        stop = min(end, starts[position + 1])
        if stop > start:
            pieces.append((position, slice(start - starts[position], stop - starts[position])))
        position += 1
    return pieces or [(min(position, last), slice(0, 0))]


@kernel(view=True)
def cut(block: Any, parts: tuple[slice, ...]) -> Any:
    """Return a part of a block, as a view."""
    return block[parts]


@dataclass(frozen=True, eq=False)
class Recut(Rule):
    """Each new chunk from the parts of old chunks that it covers."""

    label: ClassVar[str] = "rechunk"
    scratch: ClassVar[float] = 0.0

    source: Grid
    target: Chunks
    join: Callable[..., Any]
    cut: Callable[..., Any]

    @cached_property
    def _pieces(self) -> list[list[list[Piece]]]:
        return [
            pieces_of(old, new) for old, new in zip(self.source.chunks, self.target, strict=True)
        ]

    def cell(self, index: Index) -> Call:
        per_axis = [pieces[position] for pieces, position in zip(self._pieces, index, strict=True)]
        refs = [
            Ref(self.source, tuple(position for position, _ in combination))
            for combination in itertools.product(*per_axis)
        ]
        if len(refs) == 1:
            return Call(self.cut, (refs[0], tuple(pieces[0][1] for pieces in per_axis)))
        places = tuple(tuple(part for _, part in pieces) for pieces in per_axis)
        return Call(self.join, (refs, places))


@dataclass(frozen=True)
class PartsAt:
    """Gives each chunk its part of an old chunk; an axis without parts is taken whole."""

    parts: tuple[tuple[slice, ...], ...]

    def __call__(self, index: Index) -> tuple[tuple[slice, ...]]:
        pairs = zip(self.parts, index, strict=True)
        return (tuple(axis[i] if axis else slice(None) for axis, i in pairs),)


def split_chunks(grid: Grid, chunks: Chunks, cut: Callable[..., Any] = cut) -> Grid | None:
    """Return the grid in chunks that are views of its own, ``None`` if they are not."""
    axes: list[int | Via] = []
    parts: list[tuple[slice, ...]] = []
    for axis, (old, new) in enumerate(zip(grid.chunks, chunks, strict=True)):
        pieces = [] if old == new else pieces_of(old, new)
        if any(len(overlaps) > 1 for overlaps in pieces):
            return None
        axes.append(Via(axis, tuple(overlaps[0][0] for overlaps in pieces)) if pieces else axis)
        parts.append(tuple(overlaps[0][1] for overlaps in pieces))
    return blockwise(
        cut,
        [(grid, tuple(axes))],
        chunks=chunks,
        meta=grid.meta,
        itemsize=grid.itemsize,
        varying=PartsAt(tuple(parts)),
        cheap=True,
    )


#: A chunk of more pieces than this is copied once instead of read piecewise.
MOST_PIECES = 8


@dataclass(frozen=True)
class PiecesAt:
    """Gives each chunk the parts of old chunks in it, along each axis."""

    parts: tuple[tuple[tuple[slice, ...], ...], ...]

    def __call__(self, index: Index) -> tuple[tuple[tuple[slice, ...], ...]]:
        return (tuple(axis[i] for axis, i in zip(self.parts, index, strict=True)),)


def join_pieces(grid: Grid, chunks: Chunks, concatenate: Callable[..., Any]) -> Grid | None:
    """Return the grid in chunks that each overlap few of its own, ``None`` if they overlap many.

    ``concatenate(*blocks, parts)`` returns parts of blocks (last axis fastest) as one view.
    """
    if grid.chunks == chunks or not (known_chunks(grid.chunks) and known_chunks(chunks)):
        return None
    pieces = [pieces_of(old, new) for old, new in zip(grid.chunks, chunks, strict=True)]
    most = [max(map(len, axis)) for axis in pieces]
    if math.prod(most) > MOST_PIECES:
        return None
    # Chunks of fewer pieces get empty ones of a chunk that they need anyway.
    covers = [
        [axis + [(axis[-1][0], slice(0, 0))] * (count - len(axis)) for axis in overlaps]
        for overlaps, count in zip(pieces, most, strict=True)
    ]
    tables: list[list[int | Via]] = [
        [axis]
        if old == new
        else [Via(axis, tuple(cover[i][0] for cover in overlaps)) for i in range(count)]
        for axis, (old, new, overlaps, count) in enumerate(
            zip(grid.chunks, chunks, covers, most, strict=True)
        )
    ]
    parts = tuple(tuple(tuple(part for _, part in new) for new in overlaps) for overlaps in covers)
    return blockwise(
        concatenate,
        [(grid, axes) for axes in itertools.product(*tables)],
        chunks=chunks,
        meta=grid.meta,
        itemsize=grid.itemsize,
        varying=PiecesAt(parts),
        cheap=True,
    )


#: The numbers and the parts of the pieces of each chunk, along one axis.
AxisPieces = tuple[tuple[slice, ...], ...]


@dataclass(frozen=True)
class CutsAt:
    """Gives each chunk the parts into which it is split along each axis."""

    cuts: tuple[AxisPieces, ...]

    def __call__(self, index: Index) -> tuple[AxisPieces]:
        return (tuple(axis[i] for axis, i in zip(self.cuts, index, strict=True)),)


@kernel(scratch=0.0)
def copy_pieces(block: Any, cuts: AxisPieces) -> list[Any]:
    """Return copies of parts of a block, last axis fastest: none keeps the block in memory."""
    return [block[parts].copy() for parts in itertools.product(*cuts)]


@dataclass(frozen=True, eq=False)
class JoinPieces(Rule):
    """Each new chunk from the pieces into which old chunks were split."""

    label: ClassVar[str] = "rechunk"
    scratch: ClassVar[float] = 0.0

    parts: Grid
    pieces: tuple[tuple[tuple[tuple[int, int], ...], ...], ...]
    """For each new chunk along each axis, the old chunks and the positions of their pieces."""
    counts: tuple[tuple[int, ...], ...]
    """The number of pieces of each old chunk along each axis."""
    wholes: tuple[tuple[tuple[slice, ...], ...], ...]
    """For each new chunk along each axis, all of each of its pieces."""
    join: Callable[..., Any]

    def cell(self, index: Index) -> Call:
        per_axis = [axis[i] for axis, i in zip(self.pieces, index, strict=True)]
        refs = []
        for combination in itertools.product(*per_axis):
            number = 0
            for (position, piece), counts in zip(combination, self.counts, strict=True):
                number = number * counts[position] + piece
            refs.append(Ref(self.parts, (*(position for position, _ in combination), number)))
        places = tuple(axis[i] for axis, i in zip(self.wholes, index, strict=True))
        return Call(self.join, (refs, places))


def _all_of(part: slice) -> slice:
    """Return the slice that takes all of a part that was cut by a slice."""
    return part if part.stop is None else slice(0, part.stop - part.start)


def split_and_join(grid: Grid, chunks: Chunks, join: Callable[..., Any]) -> Grid:
    """Return the grid in other chunks; no task reads more of it than one chunk, and its own."""
    per_axis = [pieces_of(old, new) for old, new in zip(grid.chunks, chunks, strict=True)]
    cuts: list[list[list[slice]]] = [[[] for _ in sizes] for sizes in grid.chunks]
    pieces = []
    for axis, new in enumerate(per_axis):
        places = []
        for overlaps in new:
            places.append(tuple((position, len(cuts[axis][position])) for position, _ in overlaps))
            for position, part in overlaps:
                cuts[axis][position].append(part)
        pieces.append(tuple(places))
    counts = tuple(tuple(map(len, axis)) for axis in cuts)
    most = math.prod(map(max, counts))
    whole = tuple(range(grid.ndim))
    splits = blockwise(
        copy_pieces,
        [(grid, whole)],
        chunks=grid.chunks,
        varying=CutsAt(tuple(tuple(map(tuple, axis)) for axis in cuts)),
        itemsize=grid.width,
    )
    parts = blockwise(
        operator.getitem,
        [(splits, whole)],
        chunks=(*grid.chunks, (1,) * most),
        varying=PartAt(grid.ndim),
        itemsize=(grid.width or 0) / most,
    )
    wholes = tuple(
        tuple(tuple(_all_of(part) for _, part in overlaps) for overlaps in axis)
        for axis in per_axis
    )
    rule = JoinPieces(parts, tuple(pieces), counts, wholes, join)
    return Grid(rule, chunks, grid.meta, grid.itemsize)


#: Fewer pieces than this never justify a second copy of all data ...
MANY_PIECES = 10_000
#: ... and fewer than this if each is a result of its own.
MANY_RESULTS = 2_000


def recut(
    grid: Grid, chunks: Chunks, join: Callable[..., Any], cut: Callable[..., Any] = cut
) -> Grid:
    """Return the grid in the given chunks; sizes on axes that change must be known.

    ``cut(block, parts)`` returns a view of a block, with a slice for each axis. ``join(blocks,
    parts)`` joins such parts of blocks (last axis fastest). If the pieces far outnumber the chunks,
    an intermediate grid is used. Where the chunks that one task reads are too large together, they
    are split before.
    """
    if grid.chunks == chunks:
        return grid
    for old, new in zip(grid.chunks, chunks, strict=True):
        if old != new and any(isinstance(size, Unknown) for size in (*old, *new)):
            raise ValueError("an axis of unknown chunk sizes cannot be rechunked before execute()")
        if old != new and sum(numbers(old)) != sum(numbers(new)):
            raise ValueError(
                f"chunks {new} do not add up to the length of the axis, {sum(numbers(old))}"
            )
    pieces = _count_pieces(grid.chunks, chunks)
    ends = len(grid) + math.prod(map(len, chunks))
    is_split = cut is _CUT and _reads_much(grid, chunks)
    few = MANY_RESULTS if is_split else MANY_PIECES
    if pieces > max(few, options.rechunk.threshold * ends):
        between = tuple(map(_halfway, grid.chunks, chunks))
        around = _count_pieces(grid.chunks, between) + _count_pieces(between, chunks)
        if 2 * around < pieces:
            return recut(recut(grid, between, join, cut), chunks, join, cut)
    if is_split:
        return split_and_join(grid, chunks, join)
    return Grid(Recut(grid, chunks, join, cut), chunks, grid.meta, grid.itemsize)


#: The function of blocks that are arrays.
_CUT = cut


def _reads_much(grid: Grid, chunks: Chunks) -> bool:
    """Tell whether a task reads far more than its result, and too much for memory."""
    width = grid.width or 0
    if not is_large(width * math.prod(sum(map(_length, sizes)) for sizes in grid.chunks)):
        return False
    read, kept = width, width
    for old, new in zip(grid.chunks, chunks, strict=True):
        lengths = list(map(_length, old))
        read *= max(sum(lengths[i] for i, _ in overlaps) for overlaps in pieces_of(old, new))
        kept *= max(map(_length, new))
    return is_large(read) and read > 2 * kept


def _length(size: Size) -> int:
    return upper(size) or 0


def _count_pieces(old: Chunks, new: Chunks) -> int:
    """Count the pieces of old chunks in the new chunks."""
    counts = (
        len(a) if a == b else len({*itertools.accumulate(a), *itertools.accumulate(b)})
        for a, b in zip(old, new, strict=True)
    )
    return math.prod(counts)


def _halfway(old: Sizes, new: Sizes) -> Sizes:
    """Return an intermediate cut: the geometric mean of the chunk counts of both."""
    if old == new:
        return new
    finer = old if len(old) > len(new) else new
    step = max(1, round(len(finer) / math.sqrt(len(old) * len(new))))
    return merge_sizes(numbers(finer), step)
