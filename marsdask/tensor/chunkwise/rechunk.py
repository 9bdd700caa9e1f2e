"""The same values in another grid, and grids brought into line with each other."""

from __future__ import annotations

import bisect
import itertools
import math
import operator
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from marsdask.core.collection import Collection, wrap
from marsdask.core.compilation.passes import merge_sizes
from marsdask.core.config import option_context, options
from marsdask.core.grids.grid import Call, Grid, Look, Ref, Rule
from marsdask.core.grids.shapes import Via, blockwise, kernel, same
from marsdask.core.node import Node
from marsdask.core.sizes import (
    Chunks,
    Index,
    Sizes,
    Unknown,
    UnknownShapeError,
    borders,
    known,
    known_chunks,
    numbers,
    total,
)

from ..chunks import (
    broadcast_chunks,
    common_sizes,
    is_one,
    normalize_chunks,
    regular,
)
from ..kernels.block_views import mosaic
from ..operands import as_node
from ..sparse.blocks import is_sparse, stitched
from ..typing import public

#: A run of one chunk: which chunk along the axis, and which part of it.
Piece = tuple[int, slice]


def pieces_of(old: Sizes, new: Sizes) -> list[list[Piece]]:
    """For each new chunk of an axis list the parts of old chunks that make it, in order."""
    if old == new:
        return [[(position, slice(None))] for position in range(len(old))]
    starts = borders(old)
    return [cover(starts, begin, end) for begin, end in itertools.pairwise(borders(new))]


def cover(starts: Sequence[int], begin: int, end: int) -> list[Piece]:
    """Return the parts of chunks, which start where said (the last is their end), in a span."""
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


def assemble(blocks: list[Any], parts: tuple[tuple[slice, ...], ...]) -> Any:
    """Join parts of blocks (last axis fastest) into one array."""
    if is_sparse(blocks[0]):
        picked = [
            block[place] for block, place in zip(blocks, itertools.product(*parts), strict=True)
        ]
        return stitched(picked, tuple(map(len, parts)))
    # An axis cut as before has one part, whose length only the blocks know.
    lengths = [
        [n if part.stop is None else part.stop - part.start for part in axis]
        for axis, n in zip(parts, blocks[0].shape, strict=True)
    ]
    out = np.empty_like(blocks[0], shape=tuple(map(sum, lengths)))
    offsets = list(map(borders, lengths))
    for block, positions in zip(
        blocks, itertools.product(*(range(len(axis)) for axis in parts)), strict=True
    ):
        here = tuple(
            slice(starts[i], starts[i + 1]) for starts, i in zip(offsets, positions, strict=True)
        )
        out[here] = block[tuple(axis[i] for axis, i in zip(parts, positions, strict=True))]
    return out


@dataclass(frozen=True, eq=False)
class Recut(Rule):
    """Each new chunk from the parts of old chunks that it covers."""

    source: Grid
    target: Chunks
    cut: Callable[..., Any] = cut
    """``cut(block, parts)`` returns a part of a block: a slice for each axis."""
    join: Callable[..., Any] = assemble
    """``join(blocks, parts)`` joins parts of blocks, last axis fastest."""

    @property
    def label(self) -> str:
        return "rechunk"

    @property
    def scratch(self) -> float:
        return 0.0

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
    """Gives each chunk the part of the old chunk that it is; an axis without parts is whole."""

    parts: tuple[tuple[slice, ...], ...]

    def __call__(self, index: Index) -> tuple[tuple[slice, ...]]:
        pairs = zip(self.parts, index, strict=True)
        return (tuple(axis[i] if axis else slice(None) for axis, i in pairs),)


def refined(grid: Grid, chunks: Chunks, cut: Callable[..., Any] = cut) -> Grid | None:
    """Return the grid in chunks that are parts of its own, as views; ``None`` if they are not."""
    axes: list[int | Via] = []
    parts: list[tuple[slice, ...]] = []
    for axis, (old, new) in enumerate(zip(grid.chunks, chunks, strict=True)):
        pieces = [] if old == new else pieces_of(old, new)
        if any(len(found) > 1 for found in pieces):
            return None
        axes.append(Via(axis, tuple(found[0][0] for found in pieces)) if pieces else axis)
        parts.append(tuple(found[0][1] for found in pieces))
    return blockwise(
        cut,
        [(grid, tuple(axes))],
        chunks=chunks,
        meta=grid.meta,
        itemsize=grid.itemsize,
        varying=PartsAt(tuple(parts)),
        cheap=True,
    )


#: A chunk of more pieces than this is put together once, not read from where they lie.
MOST_PIECES = 8


@dataclass(frozen=True)
class PiecesAt:
    """Gives each chunk the parts of old chunks that it is made of, along each axis."""

    parts: tuple[tuple[tuple[slice, ...], ...], ...]

    def __call__(self, index: Index) -> tuple[tuple[tuple[slice, ...], ...]]:
        return (tuple(axis[i] for axis, i in zip(self.parts, index, strict=True)),)


def patched(grid: Grid, chunks: Chunks) -> Grid:
    """Return the grid cut as ``chunks`` says, as mosaics of views if each needs few chunks."""
    sizes_known = known_chunks(grid.chunks) and known_chunks(chunks)
    if grid.chunks == chunks or not sizes_known or is_sparse(grid.meta):
        return recut(grid, chunks)
    pieces = [pieces_of(old, new) for old, new in zip(grid.chunks, chunks, strict=True)]
    most = [max(map(len, axis)) for axis in pieces]
    if math.prod(most) > MOST_PIECES:
        return recut(grid, chunks)
    # Chunks of fewer pieces than others get empty ones, of a chunk that they need anyway.
    padded = [
        [axis + [(axis[-1][0], slice(0, 0))] * (count - len(axis)) for axis in found]
        for found, count in zip(pieces, most, strict=True)
    ]
    tables: list[list[int | Via]] = [
        [axis]
        if old == new
        else [Via(axis, tuple(cover[i][0] for cover in found)) for i in range(count)]
        for axis, (old, new, found, count) in enumerate(
            zip(grid.chunks, chunks, padded, most, strict=True)
        )
    ]
    parts = tuple(tuple(tuple(part for _, part in new) for new in found) for found in padded)
    return blockwise(
        mosaic,
        [(grid, axes) for axes in itertools.product(*tables)],
        chunks=chunks,
        meta=grid.meta,
        itemsize=grid.itemsize,
        varying=PiecesAt(parts),
        cheap=True,
    )


#: Fewer pieces than this are never worth a second copy of everything.
MANY_PIECES = 10_000


def recut(grid: Grid, chunks: Chunks) -> Grid:
    """Return the grid cut as ``chunks`` says; sizes on axes that change must be known.

    Cuts that cross so often that there would be far more pieces than chunks go by way of a grid
    between the two.
    """
    if grid.chunks == chunks:
        return grid
    for old, new in zip(grid.chunks, chunks, strict=True):
        if old != new and any(isinstance(size, Unknown) for size in (*old, *new)):
            raise ValueError("an axis of unknown chunk sizes cannot be cut anew before it has run")
        if old != new and sum(numbers(old)) != sum(numbers(new)):
            raise ValueError(f"chunks {new} do not add up to those there are, {old}")
    pieces = _count_pieces(grid.chunks, chunks)
    ends = len(grid) + math.prod(map(len, chunks))
    if pieces > max(MANY_PIECES, options.rechunk.threshold * ends):
        between = tuple(map(_halfway, grid.chunks, chunks))
        around = _count_pieces(grid.chunks, between) + _count_pieces(between, chunks)
        if 2 * around < pieces:
            return recut(recut(grid, between), chunks)
    return Grid(Recut(grid, chunks), chunks, grid.meta, grid.itemsize)


def _count_pieces(old: Chunks, new: Chunks) -> int:
    """Count the parts of old chunks that new chunks are made of."""
    counts = (
        len(a) if a == b else len({*itertools.accumulate(a), *itertools.accumulate(b)})
        for a, b in zip(old, new, strict=True)
    )
    return math.prod(counts)


def _halfway(old: Sizes, new: Sizes) -> Sizes:
    """Return a cut about as many times coarser than the one as it is finer than the other."""
    if old == new:
        return new
    finer = old if len(old) > len(new) else new
    step = max(1, round(len(finer) / math.sqrt(len(old) * len(new))))
    return merge_sizes(numbers(finer), step)


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


def resolved(*grids: Grid) -> Generator[Look, Any, tuple[Grid, ...]]:
    """Look at the grids whose sizes are unknown; return all of them with numbers for sizes."""
    unknown = tuple(grid for grid in grids if not known_chunks(grid.chunks))
    if not unknown:
        return grids
    infos = iter((yield Look(unknown)))
    found = {}
    for grid in unknown:
        shapes = {index: next(infos).shape for index in grid.indices()}
        found[grid.name] = with_sizes(grid, shapes)
    return tuple(found.get(grid.name, grid) for grid in grids)


@dataclass(frozen=True, eq=False)
class SizedGrid(Grid):
    """A grid that ran with its sizes unknown: it keeps the name (and so the keys) it ran under."""

    ran_as: str = ""

    @property
    def name(self) -> str:
        return self.ran_as


def with_sizes(grid: Grid, shapes: Mapping[Index, tuple[int, ...]]) -> Grid:
    """Return the grid with the sizes that its chunks turned out to have."""
    chunks = tuple(
        tuple(
            shapes[tuple(i if a == axis else 0 for a in range(grid.ndim))][axis]
            for i in range(count)
        )
        for axis, count in enumerate(grid.numblocks)
    )
    if type(grid) is not Grid:  # its keys are its own
        return replace(grid, chunks=chunks)
    return SizedGrid(grid.rule, chunks, grid.meta, grid.itemsize, grid.node, grid.name)


def aligned(
    grids: Sequence[Grid], *, tiled: bool = False
) -> Generator[Look, Any, tuple[tuple[Grid, ...], Chunks]]:
    """Cut elementwise operands so that their chunks match; return them and the result's chunks.

    Sizes that are unknown and differ are looked at first. For kernels that read ``tiled`` chunks
    that lie across few others are mosaics, which are not copied.
    """
    cut = patched if tiled else recut
    ndim = max((grid.ndim for grid in grids), default=0)
    if not _agree(grids, ndim):
        grids = yield from resolved(*grids)
    target = broadcast_chunks(*(grid.chunks for grid in grids))
    cut_grids = []
    for grid in grids:
        own = target[ndim - grid.ndim :]
        wanted = tuple(
            old if old == new else (1,) if is_one(old) else new
            for old, new in zip(grid.chunks, own, strict=True)
        )
        cut_grids.append(cut(grid, wanted))
    return tuple(cut_grids), target


def aligned_axes(grids: Sequence[Grid], skip: int) -> Generator[Look, Any, tuple[Grid, ...]]:
    """Cut arrays of one shape alike along all axes but ``skip``.

    Raises ``ValueError`` if lengths that were not known before turn out to differ.
    """
    axes = [axis for axis in range(grids[0].ndim) if axis != skip]
    mixed = [axis for axis in axes if len({grid.chunks[axis] for grid in grids}) > 1]
    if not all(known(grid.chunks[axis]) for grid in grids for axis in mixed):
        grids = yield from resolved(*grids)
    target = {}
    for axis in mixed:
        cuts = [grid.chunks[axis] for grid in grids]
        if len({sum(numbers(sizes)) for sizes in cuts}) > 1:
            raise ValueError(f"arrays to join have different lengths along axis {axis}")
        target[axis] = common_sizes(cuts)
    return tuple(
        recut(grid, tuple(target.get(axis, sizes) for axis, sizes in enumerate(grid.chunks)))
        for grid in grids
    )


def _agree(grids: Sequence[Grid], ndim: int) -> bool:
    """Tell whether the operands fit without looking at sizes that are unknown."""
    for axis in range(-ndim, 0):
        sizes = {grid.chunks[axis] for grid in grids if grid.ndim >= -axis} - {(1,)}
        if len(sizes) > 1 and any(isinstance(size, Unknown) for item in sizes for size in item):
            return False
    return True


@dataclass(frozen=True, eq=False)
class Rechunk(Node):
    """The same values in chunks of the user's choice.

    ``wants`` says for each axis of unknown length how to cut it: ``None`` as it is, -1 not at all.
    """

    a: Node
    splits: Chunks
    wants: tuple[int | None, ...]

    @property
    def meta(self) -> Any:
        return self.a.meta

    @property
    def chunks(self) -> Chunks:
        return self.splits

    @property
    def rechunked(self) -> Node:
        return self.a

    def tile(self, a: Grid) -> Any:
        if a.chunks == self.splits:
            return a
        return self._tile(a)

    def _tile(self, a: Grid) -> Generator[Look, Any, Grid]:
        if not known_chunks(a.chunks):
            (a,) = yield from resolved(a)
        target = tuple(
            new if known(new) else _cut_unknown(numbers(old), want)
            for old, new, want in zip(a.chunks, self.splits, self.wants, strict=True)
        )
        return recut(a, target)

    def regrid(self, new: Mapping[Sizes, Sizes]) -> Node:
        return self.replaced(splits=tuple(new.get(sizes, sizes) for sizes in self.splits))


def _cut_unknown(old: tuple[int, ...], want: int | None) -> Sizes:
    if want is None:
        return old
    return (sum(old),) if want == -1 else regular(sum(old), want)


def _wanted(chunk_size: Any, ndim: int) -> list[Any]:
    """Return what is wanted of each axis; ``None`` keeps it."""
    if isinstance(chunk_size, Mapping):
        names = [np.lib.array_utils.normalize_axis_index(axis, ndim) for axis in chunk_size]
        found = dict(zip(names, chunk_size.values(), strict=True))
        return [found.get(axis) for axis in range(ndim)]
    if isinstance(chunk_size, tuple | list) and len(chunk_size) == ndim:
        return list(chunk_size)
    return [chunk_size] * ndim


def _balanced(sizes: Sizes) -> Sizes:
    """Return as many chunks, of sizes that differ by one at most."""
    length, count = sum(numbers(sizes)), len(sizes)
    return tuple(length // count + (i < length % count) for i in range(count))


@public
def rechunk(
    tensor: Any,
    chunk_size: Any = "auto",
    threshold: float | None = None,
    block_size_limit: int | None = None,
    balance: bool = False,
    *,
    chunks: Any = None,
) -> Any:
    """Return the same tensor in other chunks.

    An axis that is ``None``, or not named in a dict, stays as it is. ``balance`` makes the chunks
    of an axis equally long. How to get there is decided when it runs: ``threshold`` is ignored.
    """
    del threshold
    node = as_node(tensor, sparse=True)
    splits, wants = _splits(node, chunk_size if chunks is None else chunks, block_size_limit)
    if balance:
        splits = tuple(_balanced(sizes) if known(sizes) else sizes for sizes in splits)
    if splits == node.chunks and isinstance(tensor, Collection):
        return tensor
    return wrap(Rechunk(node, splits, wants))


def _splits(
    node: Node, chunk_size: Any, limit: int | None
) -> tuple[Chunks, tuple[int | None, ...]]:
    ndim = len(node.chunks)
    if known_chunks(node.chunks):
        kept: Any = chunk_size
        if isinstance(chunk_size, Mapping) or (
            isinstance(chunk_size, tuple | list) and len(chunk_size) == ndim
        ):
            wanted = _wanted(chunk_size, ndim)
            kept = tuple(
                old if new is None else new for old, new in zip(node.chunks, wanted, strict=True)
            )
        with option_context({} if limit is None else {"chunk_store_limit": limit}):
            return normalize_chunks(kept, node.shape, node.meta.dtype), (None,) * ndim
    splits: list[Sizes] = []
    wants: list[int | None] = []
    for old, want in zip(node.chunks, _wanted(chunk_size, ndim), strict=True):
        keeps = want is None or want == "auto"
        number = None if keeps or isinstance(want, tuple | list) else operator.index(want)
        if keeps:
            splits.append(old)
        elif known(old):
            (sizes,) = normalize_chunks((want,), (sum(numbers(old)),), node.meta.dtype)
            splits.append(sizes)
        elif number is None or number == 0 or number < -1:
            raise UnknownShapeError(
                "an axis whose length is unknown is cut by -1 or an int; execute() first"
            )
        else:
            splits.append((total(old),))
        wants.append(number)
    return tuple(splits), tuple(wants)
