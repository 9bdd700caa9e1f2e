"""Kernels that take points from blocks: at once, or tile by tile on demand."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Collection
from typing import Any

import numpy as np

from marsdask.core.machine.costs import kernel

from ..sparse.blocks import is_sparse
from ..sparse.selection import take_stored
from .lazy_block import LazyBlock, Tile

Points = tuple[Any, ...]

#: Elements that are ordered at a time, in cache.
CACHED = 2**16


class GatheredPoints(LazyBlock):
    """Points along one axis of neighbouring blocks, taken as their tiles are read."""

    __slots__ = ("_axis", "_blocks", "_chosen", "_order", "_plans")

    def __init__(self, blocks: Any, chosen: Any, order: Any, axis: int) -> None:
        first = blocks[0]
        shape = (*first.shape[:axis], len(order), *first.shape[axis + 1 :])
        super().__init__(shape, first.dtype, first.strides)
        self._blocks = blocks
        self._chosen = chosen
        self._order = order
        self._axis = axis
        self._plans: dict[tuple[int, int], tuple[list[Any], Any]] = {}

    def shuffled(self, axes: Collection[int]) -> LazyBlock:
        if self._axis not in axes:
            return self
        groups = [np.sort(points) for points in self._chosen]
        kind = GatheredPoints if len(groups) == 1 else ByBlocks
        return kind(self._blocks, groups, np.arange(len(self._order)), self._axis)

    def read(self, tile: Tile) -> Any:
        axis = self._axis
        part = tile[axis]
        if len(self._blocks) == 1:
            points = self._chosen[0][self._order[part]]
            return np.take(self._blocks[0][along(tile, axis)], points, axis)
        plan = self._plans.get((part.start, part.stop))
        if plan is None:
            plan = self._plans[part.start, part.stop] = self._plan(part)
        groups, order = plan
        key = along(tile, axis)
        alone = [number for number, points in enumerate(groups) if len(points) == len(order)]
        if alone:
            return np.take(self._blocks[alone[0]][key], groups[alone[0]], axis)
        parts = [
            np.take(block[key], points, axis)
            for block, points in zip(self._blocks, groups, strict=True)
        ]
        values = np.concatenate(parts, axis)
        del parts
        return np.take(values, order, axis)

    def _plan(self, part: slice) -> tuple[list[Any], Any]:
        """Return the positions of a part in each block, and the order of the taken elements."""
        order = self._order[part]
        if len(order) == len(self._order):
            return list(self._chosen), order
        stops = np.cumsum([len(points) for points in self._chosen])
        starts = stops - [len(points) for points in self._chosen]
        block = np.searchsorted(stops, order, side="right")
        groups = [points[order[block == i] - starts[i]] for i, points in enumerate(self._chosen)]
        return groups, np.argsort(np.argsort(block, kind="stable"), kind="stable")


class ByBlocks(GatheredPoints):
    """The points ordered by block, to be read a block at a time."""

    __slots__ = ()

    def __init__(self, blocks: Any, chosen: Any, order: Any, axis: int) -> None:
        super().__init__(blocks, chosen, order, axis)
        self.borders = [[0, length] for length in self.shape]
        self.borders[axis] = [0, *itertools.accumulate(map(len, chosen))]

    def read(self, tile: Tile) -> Any:
        assert self.borders is not None
        axis, part, borders = self._axis, tile[self._axis], self.borders[self._axis]
        number = bisect.bisect_right(borders, part.start) - 1
        if (part.start, part.stop) != (borders[number], borders[number + 1]):
            return super().read(tile)
        block, points = self._blocks[number][along(tile, axis)], self._chosen[number]
        return GatheredPoints((block,), (points,), np.arange(len(points)), axis)


def along(tile: Tile, axis: int) -> Tile:
    """Return the tile with all of one axis."""
    return (*tile[:axis], slice(None), *tile[axis + 1 :])


def _array(positions: Any) -> Any:
    """Return a range of positions as an array."""
    if not isinstance(positions, range):
        return positions
    return np.arange(positions.start, positions.stop)


@kernel(scratch=0.0)
def take_points(block: Any, points: Points, axes: tuple[int, ...], place: int) -> Any:
    """Take points from a block; their axis comes at ``place``."""
    points = tuple(map(_array, points))
    if is_sparse(block):
        return take_stored(block, points, axes)
    if len(axes) == 1:
        return np.take(block, points[0], axis=axes[0])
    key: list[Any] = [slice(None)] * block.ndim
    for axis, positions in zip(axes, points, strict=True):
        key[axis] = positions
    values = block[tuple(key)]
    contiguous = axes[-1] - axes[0] == len(axes) - 1
    return np.moveaxis(values, axes[0] if contiguous else 0, place)


@kernel(view=True)
def taking_along(block: Any, points: Points, axes: tuple[int, ...], place: int) -> Any:
    """Take points along one axis tile by tile."""
    del place
    return GatheredPoints((np.asarray(block),), points, np.arange(len(points[0])), axes[0])


@kernel(scratch=0.0, deferred=taking_along)
def take_along(block: Any, points: Points, axes: tuple[int, ...], place: int) -> Any:
    """Take points along one axis, which keeps its position."""
    return take_points(block, points, axes, place)


@kernel(view=True)
def gathering_points(*args: Any, axis: int) -> Any:
    """Take points from several blocks along an axis tile by tile."""
    *blocks, (groups, order) = args
    return GatheredPoints(tuple(map(np.asarray, blocks)), groups, order, axis)


@kernel(scratch=2.0, deferred=gathering_points)
def gather_points(*args: Any, axis: int) -> Any:
    """Take points from several blocks along an axis, in cache.

    The last argument lists each block's positions, and the final order of the points taken block by
    block.
    """
    lazy = gathering_points(*args, axis=axis)
    out = np.empty(lazy.shape, lazy.dtype)
    step = max(1, CACHED * max(1, out.shape[0]) // max(1, out.size)) if axis else len(out)
    tail = tuple(slice(0, length) for length in out.shape[1:])
    for start in range(0, len(out), max(1, step)):
        rows = slice(start, min(start + step, len(out)))
        out[rows] = lazy.read((rows, *tail))
    return out
