"""The same values in another grid, and grids brought into line with each other."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from marsdask.core.chunk import Call, Grid, Look, Ref, Rule
from marsdask.core.collection import wrap
from marsdask.core.node import Node
from marsdask.core.types import Chunks, Index, Sizes, Unknown, known_chunks
from .chunks import common_sizes, normalize_chunks
from .base import as_node

#: A run of one chunk: which chunk along the axis, and which part of it.
Piece = tuple[int, slice]


def pieces_of(old: Sizes, new: Sizes) -> list[list[Piece]]:
    """For each new chunk of an axis list the parts of old chunks that make it, in order."""
    starts = [0, *itertools.accumulate(old)]  # type: ignore[arg-type]
    result: list[list[Piece]] = []
    begin = 0
    for size in new:
        end = begin + size  # type: ignore[operator]
        pieces: list[Piece] = []
        position = max(0, bisect.bisect_right(starts, begin) - 1)
        while position < len(old) and starts[position] < end:
            start = max(begin, starts[position])
            stop = min(end, starts[position + 1])
            if stop > start:
                pieces.append((position, slice(start - starts[position], stop - starts[position])))
            position += 1
        if not pieces:
            pieces = [(min(position, len(old) - 1), slice(0, 0))]
        result.append(pieces)
        begin = end
    return result


@dataclass(frozen=True, eq=False)
class Recut(Rule):
    """Each new chunk from the parts of old chunks that it covers."""

    source: Grid
    target: Chunks

    @property
    def inputs(self) -> tuple[Grid, ...]:
        return (self.source,)

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
            return Call(cut, (refs[0], tuple(pieces[0][1] for pieces in per_axis)))
        places = tuple(tuple(part for _, part in pieces) for pieces in per_axis)
        return Call(assemble, (refs, places))


def cut(block: Any, parts: tuple[slice, ...]) -> Any:
    """Return a part of a block, as a view."""
    return block[parts]


def assemble(blocks: list[Any], parts: tuple[tuple[slice, ...], ...]) -> Any:
    """Join parts of blocks (last axis fastest) into one array."""
    shape = tuple(sum(part.stop - part.start for part in axis) for axis in parts)
    out = np.empty_like(blocks[0], shape=shape)
    offsets = [
        [0, *itertools.accumulate(part.stop - part.start for part in axis)] for axis in parts
    ]
    for block, positions in zip(
        blocks, itertools.product(*(range(len(axis)) for axis in parts)), strict=True
    ):
        here = tuple(
            slice(starts[i], starts[i + 1]) for starts, i in zip(offsets, positions, strict=True)
        )
        out[here] = block[tuple(axis[i] for axis, i in zip(parts, positions, strict=True))]
    return out


def recut(grid: Grid, chunks: Chunks) -> Grid:
    """Return the grid cut as ``chunks`` says; sizes on axes that change must be known."""
    if grid.chunks == chunks:
        return grid
    for old, new in zip(grid.chunks, chunks, strict=True):
        if old != new and any(isinstance(size, Unknown) for size in (*old, *new)):
            raise ValueError("an axis of unknown chunk sizes cannot be cut anew before it has run")
    return Grid(Recut(grid, chunks), chunks, grid.meta, grid.itemsize)


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
    def name(self) -> str:  # type: ignore[override]
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
    return SizedGrid(grid.rule, chunks, grid.meta, grid.itemsize, grid.node, grid.name)


def aligned(grids: Sequence[Grid]) -> Generator[Look, Any, tuple[tuple[Grid, ...], Chunks]]:
    """Cut elementwise operands so that their chunks match; return them and the result's chunks.

    Sizes that are unknown and differ are looked at first.
    """
    ndim = max((grid.ndim for grid in grids), default=0)
    if not _agree(grids, ndim):
        grids = yield from resolved(*grids)
    padded = [((1,),) * (ndim - grid.ndim) + grid.chunks for grid in grids]
    target = tuple(common_sizes(axis) for axis in zip(*padded, strict=True))
    cut_grids = []
    for grid in grids:
        own = target[ndim - grid.ndim :]
        wanted = tuple(
            old if old == (1,) else new for old, new in zip(grid.chunks, own, strict=True)
        )
        cut_grids.append(recut(grid, wanted))
    return tuple(cut_grids), target


def _agree(grids: Sequence[Grid], ndim: int) -> bool:
    """Tell whether the operands fit without looking at sizes that are unknown."""
    for axis in range(-ndim, 0):
        sizes = {grid.chunks[axis] for grid in grids if grid.ndim >= -axis} - {(1,)}
        if len(sizes) > 1 and any(isinstance(size, Unknown) for item in sizes for size in item):
            return False
    return True


@dataclass(frozen=True, eq=False)
class Rechunk(Node):
    """The same values in chunks of the user's choice."""

    a: Node
    splits: Chunks

    @property
    def meta(self) -> Any:
        return self.a.meta

    @property
    def chunks(self) -> Chunks:
        return self.splits

    def tile(self, a: Grid) -> Any:  # type: ignore[override]
        if a.chunks == self.splits:
            return a
        return self._tile(a)

    def _tile(self, a: Grid) -> Generator[Look, Any, Grid]:
        (a,) = yield from resolved(a)
        return recut(a, self.splits)

    def regrid(self, new: Mapping[Sizes, Sizes]) -> Node:
        return self.replaced(splits=tuple(new.get(sizes, sizes) for sizes in self.splits))


def rechunk(tensor: Any, chunk_size: Any) -> Any:
    """Return the same tensor in other chunks."""
    node = as_node(tensor)
    splits = normalize_chunks(chunk_size, node.shape, node.meta.dtype)
    return tensor if splits == node.chunks else wrap(Rechunk(node, splits))
