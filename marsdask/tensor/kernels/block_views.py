"""A block of pieces of neighbouring blocks, read without joining them."""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from marsdask.core.machine.costs import kernel

from .duck_arrays import is_foreign, new_array
from .lazy_block import LazyBlock, Tile


class ConcatenatedViews(LazyBlock):
    """Adjacent views as one array; a part of one view is free, others need a small copy."""

    __slots__ = ("_pieces",)

    borders: list[list[int]]

    def __init__(self, pieces: Sequence[Any], lengths: Sequence[Sequence[int]]) -> None:
        borders = [[0, *itertools.accumulate(axis)] for axis in lengths]
        shape = tuple(axis[-1] for axis in borders)
        super().__init__(shape, pieces[0].dtype, pieces[0].strides)
        self._pieces = tuple(pieces)
        self.borders = borders

    def read(self, tile: Tile) -> Any:
        axes = [_cover(borders, part) for borders, part in zip(self.borders, tile, strict=True)]
        if all(len(cover) == 1 for cover in axes):
            return self._piece([cover[0][0] for cover in axes])[tuple(c[0][1] for c in axes)]
        lengths = [[part.stop - part.start for _, part in cover] for cover in axes]
        shape = [sum(axis) for axis in lengths]
        out = new_array(self._pieces[0], self.dtype, tuple(shape))
        starts = [[0, *itertools.accumulate(axis)] for axis in lengths]
        for place in itertools.product(*(range(len(cover)) for cover in axes)):
            cells = [cover[i] for cover, i in zip(axes, place, strict=True)]
            here = tuple(slice(s[i], s[i + 1]) for s, i in zip(starts, place, strict=True))
            out[here] = self._piece([i for i, _ in cells])[tuple(part for _, part in cells)]
        return out

    def _piece(self, index: Sequence[int]) -> Any:
        position = 0
        for borders, i in zip(self.borders, index, strict=True):
            position = position * (len(borders) - 1) + i
        return self._pieces[position]

    def __reduce__(self) -> tuple[Any, ...]:
        lengths = [np.diff(borders).tolist() for borders in self.borders]
        return ConcatenatedViews, (self._pieces, lengths)


def _cover(borders: list[int], part: slice) -> list[tuple[int, slice]]:
    """Return the pieces along an axis that a part with step one overlaps, at least one."""
    start, stop = part.start, part.stop
    first = min(bisect.bisect_right(borders, start) - 1, len(borders) - 2)
    cover: list[tuple[int, slice]] = []
    for i in range(first, len(borders) - 1):
        begin, end = max(start, borders[i]), min(stop, borders[i + 1])
        if begin < end or not cover:
            cover.append((i, slice(begin - borders[i], max(begin, end) - borders[i])))
        if borders[i + 1] >= stop:
            break
    return cover


def border_parts(blocks: Sequence[Any], shape: tuple[int, ...]) -> list[list[slice]] | None:
    """Return parts of each axis that cross no border of a block, ``None`` without borders."""
    edges = [
        (block, block.borders)
        for block in blocks
        if isinstance(block, LazyBlock) and block.borders is not None
    ]
    if not edges:
        return None
    borders = [{0, length} for length in shape]
    for block, own in edges:
        for axis in range(-block.ndim, 0):
            if block.shape[axis] == shape[axis]:
                borders[axis].update(own[axis])
    parts = []
    for stops, length in zip(borders, shape, strict=True):
        pairs = itertools.pairwise(sorted(stops)) if length else [(0, 0)]
        parts.append([slice(start, stop) for start, stop in pairs])
    return parts


@kernel(scratch=0.0, deferred=True)
def concatenate_views(*args: Any) -> Any:
    """Return parts of neighbouring blocks (last axis fastest) as one, without copying.

    The last argument lists the parts along each axis; empty ones are omitted.
    """
    *blocks, parts = args
    ranges = [
        [i for i, part in enumerate(axis) if part.stop is None or part.stop > part.start] or [0]
        for axis in parts
    ]
    pieces = []
    for place in itertools.product(*ranges):
        position = 0
        for axis, i in zip(parts, place, strict=True):
            position = position * len(axis) + i
        pieces.append(
            blocks[position][tuple(axis[i] for axis, i in zip(parts, place, strict=True))]
        )
    if len(pieces) == 1:
        return pieces[0]
    counts = [len(axis) for axis in ranges]
    lengths = []
    for axis, count in enumerate(counts):
        step = math.prod(counts[axis + 1 :])
        lengths.append([pieces[i * step].shape[axis] for i in range(count)])
    views = ConcatenatedViews(pieces, lengths)
    # Only NumPy's views are read piece by piece.
    return views[(slice(None),) * views.ndim] if is_foreign(pieces[0]) else views
