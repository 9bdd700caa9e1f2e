"""Lanes: all elements along some axes, in one chunk each, or one after the other."""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Callable, Generator, Sequence
from typing import Any

import numpy as np

from marsdask.core.grids.blockwise import Axes, Via, blockwise
from marsdask.core.grids.grid import Grid, Look
from marsdask.core.grids.rechunk import cut
from marsdask.core.grids.select import concatenate_grids
from marsdask.core.machine.costs import kernel
from marsdask.core.machine.sizing import block_bytes, is_large
from marsdask.core.sizes import Chunks, Index, borders, numbers, shape_of

from .rechunk import recut

#: A tiling of one lane.
Tiling = Generator[Look | Grid, Any, Grid]


def lane_bytes(grid: Grid, axes: Sequence[int]) -> float:
    """Return the bytes of a lane along ``axes``."""
    lengths = shape_of(grid.chunks)
    return math.prod(lengths[axis] for axis in axes) * (grid.width or 8)


def whole_lanes(grid: Grid, axes: tuple[int, ...]) -> Chunks:
    """Return chunks with ``axes`` whole; the others are split to keep blocks small."""
    lengths = shape_of(grid.chunks)
    room = max(1.0, block_bytes() / max(1.0, lane_bytes(grid, axes)))
    result = list(grid.chunks)
    for axis in axes:
        result[axis] = (lengths[axis],)
    for axis in (axis for axis in reversed(range(grid.ndim)) if axis not in axes):
        sizes = numbers(grid.chunks[axis])
        step = max(1, min(max(sizes), int(room)))
        if step < max(sizes):
            result[axis] = tuple(
                min(step, size - start) for size in sizes for start in range(0, size or 1, step)
            )
        room = max(1.0, room / step)
    return tuple(result)


def in_lanes(grid: Grid, axes: tuple[int, ...]) -> Grid:
    """Return the grid in chunks of whole lanes, of which memory holds several."""
    if any(grid.numblocks[axis] > 1 for axis in axes) or is_large(grid.largest or 0):
        return recut(grid, whole_lanes(grid, axes))
    return grid


def lane_by_lane(
    grid: Grid, axes: tuple[int, ...], tile: Callable[[Grid], Tiling], kept: Chunks
) -> Generator[Look, Any, Grid]:
    """Return the results of all lanes, which are too large for one chunk each.

    ``tile`` makes the result of a lane, which has the ``axes`` only. Each of its axes is cut as
    ``kept`` says; then follow the other axes of the grid.
    """
    others = [axis for axis in range(grid.ndim) if axis not in axes]
    lengths = shape_of(grid.chunks)
    places = list(itertools.product(*(range(lengths[axis]) for axis in others)))
    tilings = [tile(_lane(grid, axes, dict(zip(others, place, strict=True)))) for place in places]
    results = yield from in_step(tilings)
    lanes = [with_last_axes(recut(result, kept), len(others)) for result in results]
    for axis in reversed(range(len(others))):
        count = lengths[others[axis]]
        lanes = [
            concatenate_grids(lanes[start : start + count], len(kept) + axis)
            for start in range(0, len(lanes), count)
        ]
    return lanes[0]


def _lane(grid: Grid, axes: tuple[int, ...], place: dict[int, int]) -> Grid:
    """Return a lane at a place along the other axes, as views."""
    source: list[int | Via] = []
    parts: list[slice | int] = []
    for axis, sizes in enumerate(grid.chunks):
        if axis in axes:
            source.append(axes.index(axis))
            parts.append(slice(None))
        else:
            starts = borders(sizes)
            chunk = bisect.bisect_right(starts, place[axis]) - 1
            source.append(Via(None, (chunk,)))
            parts.append(place[axis] - starts[chunk])
    return blockwise(
        cut,
        [(grid, tuple(source))],
        chunks=tuple(grid.chunks[axis] for axis in axes),
        meta=np.empty((0,) * len(axes), grid.meta.dtype),
        itemsize=grid.itemsize,
        kwargs={"parts": tuple(parts)},
        cheap=True,
    )


@kernel(view=True)
def with_axes(block: Any, count: int) -> Any:
    """Return a block with axes of length one behind its own."""
    return block.reshape(block.shape + (1,) * count)


def with_last_axes(grid: Grid, count: int) -> Grid:
    """Return the grid with axes of length one behind its own."""
    axes: Axes = tuple(range(grid.ndim))
    return blockwise(
        with_axes,
        [(grid, axes)],
        chunks=(*grid.chunks, *((1,),) * count),
        meta=np.empty((0,) * (grid.ndim + count), grid.meta.dtype),
        kwargs={"count": count},
        cheap=True,
    )


def in_step(tilings: Sequence[Tiling]) -> Generator[Look, Any, list[Grid]]:
    """Run tilings side by side: what all of them look at runs in one stage."""
    results: dict[int, Grid] = {}
    answers: dict[int, Any] = dict.fromkeys(range(len(tilings)))
    while answers:
        looks: dict[int, Look] = {}
        for number, answer in answers.items():
            try:
                request = tilings[number].send(answer)
            except StopIteration as stop:
                results[number] = stop.value
            else:
                looks[number] = request if isinstance(request, Look) else Look((request,))
        answers = {}
        if looks:
            grids = tuple(grid for look in looks.values() for grid in look.grids)
            infos = iter((yield Look(grids, keep=_kept(looks.values()))))
            answers = {
                number: list(itertools.islice(infos, len(look.refs())))
                for number, look in looks.items()
            }
    return [results[number] for number in range(len(tilings))]


def _kept(looks: Any) -> tuple[Grid, ...]:
    return tuple({grid.name: grid for look in looks for grid in look.keep}.values())


def moved(grid: Grid, order: Index) -> Grid:
    """Return the grid with its axes in another order."""
    if order == tuple(range(grid.ndim)):
        return grid
    return blockwise(
        np.transpose,
        [(grid, tuple(map(order.index, range(grid.ndim))))],
        chunks=tuple(grid.chunks[axis] for axis in order),
        meta=grid.meta,
        kwargs={"axes": order},
        cheap=True,
    )
