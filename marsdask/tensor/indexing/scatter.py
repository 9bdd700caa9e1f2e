"""Assign values at positions: each chunk gets only its own values, if positions are known."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from marsdask.core.grids.align import is_one
from marsdask.core.grids.blockwise import Axes, blockwise, pick, same
from marsdask.core.grids.chunk_positions import StartAt
from marsdask.core.grids.grid import Call, Grid, Look, Ref, Rule
from marsdask.core.grids.lengths import resolved
from marsdask.core.grids.select import AxisCut
from marsdask.core.machine.costs import kernel
from marsdask.core.node import Node, PartOf
from marsdask.core.node import Taken as Cut
from marsdask.core.sizes import Index, Sizes, borders, numbers, shape_of

from ..chunkwise.rechunk import recut
from ..kernels.duck_arrays import alike
from ..manipulation.shape import whole
from ..operands import Literal, literal
from .advanced import Points, locate_points, settle, taken
from .assignment import (
    KeyAt,
    SetItem,
    check_length,
    cuts_of,
    keys_of,
    spread_over,
    value_chunks,
    writable,
)
from .slicing import EVERYTHING, Taken

#: Points that are assigned in a block at a time.
AT_ONCE = 2**16

Put = Callable[[Any, Any, Any], None]
"""``put(part, where, share)`` changes a part of a block at positions in it."""


def replace_values(part: Any, where: Any, share: Any) -> None:
    """Assign values over old ones."""
    part[where] = alike(part, share)[1]


@kernel(scratch=0.1, buffer=48 * AT_ONCE)
def put_points(
    block: Any,
    value: Any,
    *points: Any,
    axes: tuple[int, ...],
    lengths: tuple[int, ...],
    put: Put,
) -> Any:
    """Return a copy of a block with assigned values at its positions.

    The last positional argument is the sliced part of the block, and its start.
    """
    *arrays, (key, starts) = points
    targets = settle(tuple(arrays), axes, lengths)
    if key is None:
        return block
    out: Any = None
    for begin in range(0, len(targets[0]), AT_ONCE):
        local = [
            positions[begin : begin + AT_ONCE] - start
            for positions, start in zip(targets, starts, strict=True)
        ]
        inside = [
            (place >= 0) & (place < block.shape[axis])
            for axis, place in zip(axes, local, strict=True)
        ]
        where = np.flatnonzero(np.all(inside, axis=0))
        if where.size:
            out = writable(block) if out is None else out
            is_single = value.shape[axes[0]] == 1
            share = value if is_single else np.take(value, where + begin, axis=axes[0])
            _put_share(out[key], share, [place[where] for place in local], axes, put)
    return block if out is None else out


def _put_share(part: Any, share: Any, places: list[Any], axes: tuple[int, ...], put: Put) -> None:
    """Change points of a part, whose axis in the share is ``axes[0]``."""
    where: list[Any] = [slice(None)] * part.ndim
    for axis, positions in zip(axes, places, strict=True):
        where[axis] = positions
    contiguous = axes[-1] - axes[0] == len(axes) - 1
    put(part, tuple(where), share if contiguous else np.moveaxis(share, axes[0], 0))


@kernel(scratch=0.1)
def put_share(
    block: Any,
    share: Any,
    places: list[Any],
    key: tuple[slice, ...],
    axes: tuple[int, ...],
    put: Put,
) -> Any:
    """Return a copy of a block with values at positions in it."""
    out = writable(block)
    _put_share(out[key], share, places, axes, put)
    return out


@dataclass(frozen=True)
class PointKeyAt:
    """Gives each chunk its sliced part, and its start on some axes."""

    keys: KeyAt
    axes: tuple[int, ...]
    starts: tuple[tuple[int, ...], ...]

    def __call__(self, index: Index) -> tuple[Any]:
        starts = tuple(s[index[axis]] for axis, s in zip(self.axes, self.starts, strict=True))
        return ((*self.keys(index), starts),)


@dataclass(frozen=True, eq=False)
class SetPoints(SetItem):
    """An array with values at positions; the value's axis of the positions is ``axes[0]``."""

    points: tuple[Node, ...]
    axes: tuple[int, ...]
    taken: tuple[Taken, ...]
    put: Put = replace_values

    def tile(self, a: Grid, value: Grid, *points: Grid) -> Generator[Look, Any, Grid]:
        a, value, *grids = yield from resolved(a, value, *points)
        place = self.axes[0]
        if not is_one(value.chunks[place]):
            check_length(value.chunks[place], grids[0].chunks[0], place)
        arrays = [(whole(grid, (0,)), (None,)) for grid in grids]
        cuts = cuts_of(a, self.taken)
        value = whole(value, (place,))
        other_axes = [axis for axis in range(a.ndim) if axis not in self.axes]
        value, edges = spread_over(a, value, cuts, [*other_axes[:place], None, *other_axes[place:]])
        sizes = [numbers(a.chunks[axis]) for axis in self.axes]
        starts = tuple(tuple(borders(x)) for x in sizes)
        return blockwise(
            put_points,
            [(a, tuple(range(a.ndim))), (value, edges), *arrays],
            chunks=a.chunks,
            meta=a.meta,
            varying=PointKeyAt(keys_of(cuts), self.axes, starts),
            kwargs={"axes": self.axes, "lengths": tuple(map(sum, sizes)), "put": self.put},
        )


@dataclass(frozen=True, eq=False)
class PutShares(Rule):
    """A chunk with its assigned values; without values it is unchanged."""

    label: ClassVar[str] = "setitem"

    a: Grid
    value: Grid
    edges: Axes
    axes: tuple[int, ...]
    keys: KeyAt
    local: Points
    """For each axis the positions within the chunks, those of one chunk after the other's."""
    shares: Mapping[int, tuple[int, slice]]
    """For each chunk along the axes, in C order, which share it has and where that lies."""
    put: Put
    name: str

    @property
    def token_name(self) -> str:
        return self.name

    def cell(self, index: Index) -> Call:
        block = 0
        for axis in self.axes:
            block = block * self.a.numblocks[axis] + index[axis]
        (key,) = self.keys(index)
        if key is None or block not in self.shares:
            return Call(same, (Ref(self.a, index),))
        number, part = self.shares[block]
        where = list(pick(index, self.edges))
        if self.value.numblocks[self.axes[0]] > 1:
            where[self.axes[0]] = number
        places = [positions[part] for positions in self.local]
        value = Ref(self.value, tuple(where))
        return Call(put_share, (Ref(self.a, index), value, places, key, self.axes, self.put))


def _values_at(value: Node, axis: int, chosen: Any, taken: Cut, part: PartOf) -> Node | None:
    """Return the values of some positions, ``None`` if these are no range of lazy values."""
    cut = [None if size == 1 else own for size, own in zip(value.shape, taken, strict=True)]
    cut[axis] = None
    if value.shape[axis] != 1:
        step = int(chosen[1] - chosen[0]) if len(chosen) > 1 else 1
        if (np.diff(chosen) == step).all():
            cut[axis] = range(int(chosen[0]), int(chosen[-1]) + 1, step)
        elif isinstance(value, Literal):
            array = np.take(value.array, chosen, axis=axis)
            value = literal(array, tuple((size,) for size in array.shape))
        else:
            return None
    return part(value, tuple(cut))


@dataclass(frozen=True, eq=False)
class SetKnown(SetItem):
    """An array with values at positions in memory, as :class:`SetPoints`."""

    points: Points
    axes: tuple[int, ...]
    taken: tuple[Taken, ...]
    put: Put = replace_values

    def sliced(self, taken: Cut, part: PartOf) -> Node | None:
        """Return a part with the values at positions in it, which lie along one axis."""
        axis = self.axes[0]
        whole_lines = all(own == EVERYTHING for at, own in enumerate(self.taken) if at != axis)
        length, span = self.a.shape[axis], taken[axis]
        if len(self.axes) > 1 or not isinstance(length, int) or not whole_lines:
            return None
        target = part(self.a, taken)
        (places,) = settle(self.points, self.axes, (length,))
        places = np.asarray(places)
        if span is None:
            span = range(length)
        steps = places - span.start
        inside = (steps % span.step == 0) & (steps // span.step >= 0)
        inside &= steps // span.step < len(span)
        chosen = np.flatnonzero(inside)
        if not chosen.size:
            return target
        value = _values_at(self.value, axis, chosen, taken, part)
        if value is None:
            return None
        points = (steps[chosen] // span.step,)
        return self.replaced(a=target, value=value, points=points)

    def tile(self, a: Grid, value: Grid) -> Generator[Look, Any, Grid]:
        a, value = yield from resolved(a, value)
        lengths = shape_of(a.chunks[axis] for axis in self.axes)
        where = locate_points(a.chunks, settle(self.points, self.axes, lengths), self.axes)
        count = len(where.block)
        if not count:
            return a
        order = np.argsort(where.block, kind="stable")
        blocks, begins = np.unique(where.block[order], return_index=True)
        bounds = [*begins.tolist(), count]
        place = self.axes[0]
        cuts = cuts_of(a, self.taken)
        other_axes = [axis for axis in range(a.ndim) if axis not in self.axes]
        labels = [*other_axes[:place], None, *other_axes[place:]]
        if not is_one(value.chunks[place]):
            check_length(value.chunks[place], (count,), place)
            sizes = tuple(itertools.starmap(operator.sub, zip(bounds[1:], bounds, strict=False)))
            value = self._shared(a, value, order, sizes, cuts, labels)
        value, edges = spread_over(a, value, cuts, labels)
        parts = enumerate(itertools.starmap(slice, itertools.pairwise(bounds)))
        rule = PutShares(
            a,
            value,
            edges,
            self.axes,
            keys_of(cuts),
            tuple(positions[order] for positions in where.local),
            dict(zip(blocks.tolist(), parts, strict=True)),
            self.put,
            f"{self.name}-{a.name}-{value.name}",
        )
        return Grid(rule, a.chunks, a.meta, a.itemsize)

    def _shared(
        self,
        a: Grid,
        value: Grid,
        order: Any,
        sizes: Sizes,
        cuts: Sequence[AxisCut | None],
        labels: Sequence[int | None],
    ) -> Grid:
        """Return the values in the order of their chunks, split into shares."""
        place = self.axes[0]
        splits = tuple((1,) if is_one(own) else own for own in value.chunks)  # whatever its chunks
        chunks = (*splits[:place], sizes, *splits[place + 1 :])
        if not isinstance(self.value, Literal):
            shares = taken(value, (order,), (place,), place, f"{self.name}-values")
            return recut(shares, chunks)
        # Split here, so that each task gets only its share of values in memory.
        target, _ = value_chunks(a, chunks, cuts, labels)
        array = np.take(self.value.array, order, axis=place)
        return Literal(array, target, f"{self.name}-values").tile()


@kernel(scratch=6.0)
def put_along(block: Any, value: Any, where: Any, start: int, *, axis: int, length: int) -> Any:
    """Return a copy of a block with values at each line's positions in it."""
    (places,) = settle((where,), (axis,), (length,))
    local = places - start
    inside = (local >= 0) & (local < block.shape[axis])
    if not inside.any():
        return block
    out = writable(block)
    wide = (*block.shape[:axis], where.shape[axis], *block.shape[axis + 1 :])
    local, value = np.broadcast_to(local, wide), np.broadcast_to(value, wide)
    if inside.all():
        np.put_along_axis(out, local, value, axis)
        return out
    inside = np.broadcast_to(inside, wide)
    key = list(np.nonzero(inside))
    key[axis] = local[inside]
    out[tuple(key)] = value[inside]
    return out


@dataclass(frozen=True, eq=False)
class SetAlong(SetItem):
    """An array with values at each line's own positions along an axis."""

    where: Node
    axis: int

    def tile(self, a: Grid, value: Grid, where: Grid) -> Generator[Look, Any, Grid]:
        a, value, where = yield from resolved(a, value, where)
        own = tuple(range(a.ndim))
        lines = [None if axis == self.axis else axis for axis in own]
        inputs: list[tuple[Grid, Axes]] = [(a, own)]
        for grid in (value, where):
            part = whole(grid, (self.axis,))
            inputs.append(spread_over(a, part, [None] * a.ndim, lines))
        sizes = a.chunks[self.axis]
        return blockwise(
            put_along,
            inputs,
            chunks=a.chunks,
            meta=a.meta,
            varying=StartAt(sizes, self.axis),
            kwargs={"axis": self.axis, "length": sum(numbers(sizes))},
        )
