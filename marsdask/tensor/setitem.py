"""Assignment to parts: a new array, under the name of the old one.

The tensor assigned to holds a new node afterwards; expressions made before keep the old values.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from marsdask.core.chunk import Grid, Look
from marsdask.core.collection import wrap
from marsdask.core.node import Node
from marsdask.core.shapes import Axes, Via, blockwise, kernel
from marsdask.core.types import Chunks, Index, Sizes, Unknown, borders, known, numbers, shape_of

from .base import as_node
from .chunks import is_one
from .elementwise import apply
from .fancy import settle as settle_points
from .index import Item, parse, points_of, together
from .masks import Filter, bands, check_fit, count_true
from .rechunk import recut, resolved
from .reshape import reshape
from .shape import broadcast_to, view, whole
from .slicing import EVERYTHING, AxisCut, Taken, cut_axis, settle


def setitem(a: Any, key: Any, value: Any) -> None:
    """Assign to a part of a tensor. See NumPy's indexing.

    Differs from NumPy: other tensors made from this one, views among them, do not change. A Python
    number that the type cannot hold is refused, whatever the key.
    """
    node = as_node(a)
    items = parse(key, node.shape)
    arrays = [item for item in items if item.chooses]
    new = as_node(_held(value, node.meta.dtype))
    if not arrays:
        result = _assign_slices(node, items, new)
    elif len(arrays) == 1 and arrays[0].kind == "mask" and _others_whole(items):
        result = _assign_mask(node, arrays[0], new)
    else:
        result = _assign_points(node, items, new)
    a._node = wrap(result).node


def _held(value: Any, dtype: np.dtype[Any]) -> Any:
    """Return what is assigned, safe from later changes; Python's scalars in the tensor's type."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if value is not None and type(value) not in (bool, int, float, complex, str, bytes):
        return value
    held = np.empty((), dtype)
    held[()] = value
    return held


def _others_whole(items: Sequence[Item]) -> bool:
    return all(
        item.chooses or (item.kind == "slice" and item.value == EVERYTHING) for item in items
    )


def fit(value: Node, shape: tuple[Any, ...]) -> Node:
    """Return a value with as many axes as what it is assigned to, or say that it does not fit."""
    own = value.shape
    while len(own) > len(shape) and own[0] == 1:
        own = own[1:]
        value = view(value, range(1, len(own) + 1))
    missing = len(shape) - len(own)
    pairs = zip(own, shape[max(0, missing) :], strict=False)
    if missing < 0 or any(known((x, n)) and x not in (1, n) for x, n in pairs):
        raise ValueError(
            f"could not broadcast input array from shape {value.shape} into shape {shape}"
        )
    return view(value, [*[None] * missing, *range(len(own))])


def _assign_slices(node: Node, items: Sequence[Item], value: Node) -> Node:
    if any(item.value is False for item in items):
        return node
    shown = [item for item in items if item.kind != "int"]
    lengths = [1 if item.kind == "new" else _length(node, item) for item in shown]
    value = fit(value, tuple(lengths))
    # In the order of the array's own axes: new axes go, elements are axes of length one.
    places = {item.axis: i for i, item in enumerate(shown) if item.kind == "slice"}
    value = view(value, [places.get(axis) for axis in range(len(node.chunks))])
    taken: list[Taken] = [EVERYTHING] * len(node.chunks)
    for item in items:
        if item.kind != "new":
            taken[item.axis] = item.value
    return SetSlice(node, value, tuple(taken))


def _length(node: Node, item: Item) -> Any:
    if isinstance(item.value, range):
        return len(item.value)
    if item.value == EVERYTHING:
        return node.shape[item.axis]
    return Unknown("selected")


@dataclass(frozen=True)
class KeyAt:
    """Gives each chunk the part of it that is assigned to, ``None`` if there is none."""

    keys: tuple[dict[int, slice] | None, ...]
    """For each axis the part of every chunk that has one; ``None`` is the whole axis."""

    def __call__(self, index: Index) -> tuple[tuple[slice, ...] | None]:
        key: list[slice] = []
        for parts, i in zip(self.keys, index, strict=True):
            if parts is not None and i not in parts:
                return (None,)
            key.append(EVERYTHING if parts is None else parts[i])
        return (tuple(key),)


def writable(block: Any) -> Any:
    """Return a copy of a block; one without axes may be a scalar, and becomes an array."""
    return np.array(block)


@kernel(scratch=0.0)
def put(block: Any, value: Any, key: tuple[slice, ...] | None) -> Any:
    """Return a copy of a block with a part assigned to."""
    if key is None:
        return block
    out = writable(block)
    out[key] = value
    return out


def _keys(cuts: Sequence[AxisCut | None]) -> KeyAt:
    return KeyAt(
        tuple(
            None if cut is None else dict(zip(cut.positions, cut.parts, strict=True))
            for cut in cuts
        )
    )


def _spread(
    a: Grid, value: Grid, cuts: Sequence[AxisCut | None], axes: Sequence[int | None]
) -> tuple[Grid, Axes]:
    """Cut a value like the parts it is assigned to; say which chunk of it each chunk needs.

    ``axes`` names the array's axis for each of the value's; one without is left whole.
    """
    value = whole(value, [i for i, n in enumerate(value.chunks) if axes[i] is None or is_one(n)])
    edges: list[int | Via | None] = []
    target: list[Any] = []
    for axis, sizes in zip(axes, value.chunks, strict=True):
        if axis is None or sizes == (1,):
            target.append(sizes)
            edges.append(None)
            continue
        cut = cuts[axis]
        wanted = a.chunks[axis] if cut is None else cut.sizes
        _check_length(sizes, wanted, axis)
        target.append(wanted)
        if cut is None:
            edges.append(axis)
        else:
            found = {position: i for i, position in enumerate(cut.positions)}
            edges.append(Via(axis, tuple(found.get(i, 0) for i in range(a.numblocks[axis]))))
    return recut(value, tuple(target)), tuple(edges)


@dataclass(frozen=True, eq=False)
class Assigned(Node):
    """An array like the one assigned to."""

    a: Node
    value: Node

    @property
    def label(self) -> str:
        return "setitem"

    # Kept: a loop of assignments makes a chain too long to walk down at every step.
    @cached_property
    def meta(self) -> Any:
        return self.a.meta

    @cached_property
    def chunks(self) -> Chunks:
        return self.a.chunks


@dataclass(frozen=True, eq=False)
class SetSlice(Assigned):
    """An array with one part replaced; the value has its axes, of length one where it repeats."""

    taken: tuple[Taken, ...]

    def tile(self, a: Grid, value: Grid) -> Generator[Look, Any, Grid]:
        a, value = yield from _comparable(a, value, self.taken)
        cuts = cuts_of(a, self.taken)
        own = tuple(range(a.ndim))
        value, edges = _spread(a, value, cuts, own)
        inputs = [(a, own), (value, edges)]
        return blockwise(put, inputs, chunks=a.chunks, meta=a.meta, varying=_keys(cuts))


def _check_length(own: Sizes, wanted: Sizes, axis: int) -> None:
    """Raise ``ValueError`` for a value whose length, unknown at the call, does not fit."""
    if own != wanted and sum(numbers(own)) != sum(numbers(wanted)):
        raise ValueError(
            f"could not broadcast input array of length {sum(numbers(own))} into the "
            f"{sum(numbers(wanted))} elements along axis {axis}"
        )


def cuts_of(a: Grid, taken: Sequence[Taken]) -> list[AxisCut | None]:
    """Return how the part of each axis lies in its chunks, ``None`` where it is all of them."""
    return [
        None if part == EVERYTHING else cut_axis(numbers(sizes), settle(part, numbers(sizes), axis))
        for axis, (sizes, part) in enumerate(zip(a.chunks, taken, strict=True))
    ]


def _comparable(
    a: Grid, value: Grid, taken: Sequence[Taken]
) -> Generator[Look, Any, tuple[Grid, Grid]]:
    """Look at sizes that are unknown unless nothing depends on them."""
    for axis, part in enumerate(taken):
        sizes = value.chunks[axis]
        same = part == EVERYTHING and sizes in ((1,), a.chunks[axis])
        if not same and not (known(sizes) and known(a.chunks[axis])):
            a, value = yield from resolved(a, value)
            break
    return a, value


def put_where(block: Any, mask: Any, value: Any) -> Any:
    """Return a copy of a block with other values where a mask holds."""
    out = writable(block)
    np.copyto(out, value, where=mask, casting="unsafe")
    return out


def _assign_mask(node: Node, item: Item, value: Node) -> Node:
    """Assign where a mask holds: the same to every place if the value allows, else one by one."""
    mask = as_node(item.value)
    ndim = len(node.chunks)
    after = ndim - item.axis - item.width
    own = value.shape
    if len(own) > after and own[0] == 1 and len(own) == after + 1:
        value = view(value, range(1, len(own)))
    if len(value.shape) <= after:
        value = fit(value, tuple(node.shape[ndim - after :]))
        spread = [
            None if i < item.axis or i >= item.axis + item.width else i - item.axis
            for i in range(ndim)
        ]
        return as_node(apply(put_where, node, view(mask, spread), value))
    shape = Filter(node, mask, item.axis).shape
    return SetChosen(node, fit(value, shape), mask, item.axis)


def put_chosen(block: Any, mask: Any, value: Any, axis: int) -> Any:
    """Return a copy of a block with one value for each place where a mask holds."""
    out = writable(block)
    out[(slice(None),) * axis + (mask,)] = value
    return out


@dataclass(frozen=True, eq=False)
class SetChosen(Assigned):
    """An array with one value after the other where a mask over some axes holds."""

    mask: Node
    axis: int

    def tile(self, a: Grid, value: Grid, mask: Grid) -> Generator[Look, Any, Grid]:
        a, value, mask = yield from resolved(a, value, mask)
        axes = slice(self.axis, self.axis + mask.ndim)
        check_fit(shape_of(mask.chunks), shape_of(a.chunks[axes]), self.axis)
        cut = bands(a.chunks[axes])
        before, after = a.chunks[: self.axis], a.chunks[axes.stop :]
        old = a.chunks
        a, mask = recut(a, (*before, *cut, *after)), recut(mask, cut)
        infos = yield Look((count_true(mask),), keep=(mask,))
        counts = tuple(int(info.sample) for info in infos)
        length = sum(numbers(value.chunks[self.axis]))
        if length not in (1, sum(counts)):
            raise ValueError(
                f"NumPy boolean array indexing assignment cannot assign {length} input values to "
                f"the {sum(counts)} output values where the mask is true"
            )
        single = [i for i, n in enumerate(shape_of(value.chunks)) if n == 1]
        value = whole(value, single)
        target = []
        for i, (own, wanted) in enumerate(
            zip(value.chunks, (*before, counts, *after), strict=True)
        ):
            if i not in single:
                _check_length(own, wanted, i)
            target.append(own if i in single and sum(numbers(wanted)) != 1 else wanted)
        value = recut(value, tuple(target))
        gone = mask.ndim - 1
        kept = [i for i in range(a.ndim) if i <= self.axis or i >= axes.stop]
        edges = tuple(None if value.numblocks[i] == 1 else axis for i, axis in enumerate(kept))
        inputs = [
            (a, tuple(range(a.ndim))),
            (mask, (self.axis, *(None,) * gone)),
            (value, edges),
        ]
        kwargs = {"axis": self.axis}
        grid = blockwise(put_chosen, inputs, chunks=a.chunks, meta=a.meta, kwargs=kwargs)
        return recut(grid, old)


def _assign_points(node: Node, items: Sequence[Item], value: Node) -> Node:
    """Assign to positions: the value's axes of the positions become one, which every chunk sees."""
    chosen = [item for item in items if item.chooses or item.kind == "int"]
    axes, points, form = points_of(chosen)
    labels: list[Any] = ["points"] * len(form) if not together(items) else []
    for item in items:
        if item is chosen[0] and together(items):
            labels.extend(["points"] * len(form))
        elif item not in chosen:
            labels.append(item)
    rest = iter(form)
    lengths = [
        next(rest) if label == "points" else 1 if label.kind == "new" else _length(node, label)
        for label in labels
    ]
    value = fit(value, tuple(lengths))
    begin = labels.index("points") if form else len(labels)
    if not form:
        value = view(value, [*range(begin), None, *range(begin, len(value.shape))])
    elif len(form) > 1:
        shape = value.shape
        before, after = numbers(shape[:begin]), numbers(shape[begin + len(form) :])
        value = as_node(broadcast_to(value, (*before, *form, *after)))
        value = as_node(reshape(value, (*before, math.prod(form), *after)))
    places = {
        label.axis: i if i < begin else i + 1 - len(form)
        for i, label in enumerate(labels)
        if label != "points" and label.kind == "slice"
    }
    order = [places[axis] for axis in range(len(node.chunks)) if axis not in axes]
    value = view(value, [*order[: axes[0]], begin, *order[axes[0] :]])
    taken = [EVERYTHING] * len(node.chunks)
    for item in items:
        if item.kind == "slice":
            taken[item.axis] = item.value
    return SetPoints(node, value, tuple(map(as_node, points)), axes, tuple(taken))


#: Points that are put into a block at a time.
AT_ONCE = 2**16


@kernel(scratch=0.1, buffer=48 * AT_ONCE)
def put_points(
    block: Any,
    value: Any,
    *points: Any,
    axes: tuple[int, ...],
    lengths: tuple[int, ...],
) -> Any:
    """Return a copy of a block with values at the positions that lie in it.

    The last argument by position is the part of the block that slices leave, and where it starts.
    """
    *arrays, (key, starts) = points
    settled = settle_points(tuple(arrays), axes, lengths)
    if key is None:
        return block
    out: Any = None
    for begin in range(0, len(settled[0]), AT_ONCE):
        local = [
            positions[begin : begin + AT_ONCE] - start
            for positions, start in zip(settled, starts, strict=True)
        ]
        inside = [
            (place >= 0) & (place < block.shape[axis])
            for axis, place in zip(axes, local, strict=True)
        ]
        chosen = np.flatnonzero(np.all(inside, axis=0))
        if chosen.size:
            out = writable(block) if out is None else out
            one = value.shape[axes[0]] == 1
            share = value if one else np.take(value, chosen + begin, axis=axes[0])
            _put_share(out[key], share, [place[chosen] for place in local], axes)
    return block if out is None else out


def _put_share(part: Any, share: Any, places: list[Any], axes: tuple[int, ...]) -> None:
    """Assign to points of a part, whose axis in the share is ``axes[0]``."""
    where: list[Any] = [slice(None)] * part.ndim
    for axis, positions in zip(axes, places, strict=True):
        where[axis] = positions
    contiguous = axes[-1] - axes[0] == len(axes) - 1
    part[tuple(where)] = share if contiguous else np.moveaxis(share, axes[0], 0)


@dataclass(frozen=True)
class PointKeyAt:
    """Gives each chunk the part of it that slices leave, and where it starts on some axes."""

    keys: KeyAt
    axes: tuple[int, ...]
    starts: tuple[tuple[int, ...], ...]

    def __call__(self, index: Index) -> tuple[Any]:
        starts = tuple(s[index[axis]] for axis, s in zip(self.axes, self.starts, strict=True))
        return ((*self.keys(index), starts),)


@dataclass(frozen=True, eq=False)
class SetPoints(Assigned):
    """An array with values at positions; the value's axis of the positions is ``axes[0]``."""

    points: tuple[Node, ...]
    axes: tuple[int, ...]
    taken: tuple[Taken, ...]

    def tile(self, a: Grid, value: Grid, *points: Grid) -> Generator[Look, Any, Grid]:
        a, value, *rest = yield from resolved(a, value, *points)
        place = self.axes[0]
        if not is_one(value.chunks[place]):
            _check_length(value.chunks[place], rest[0].chunks[0], place)
        arrays = [(whole(grid, (0,)), (None,)) for grid in rest]
        cuts = cuts_of(a, self.taken)
        others = [axis for axis in range(a.ndim) if axis not in self.axes]
        value, edges = _spread(a, value, cuts, [*others[:place], None, *others[place:]])
        sizes = [numbers(a.chunks[axis]) for axis in self.axes]
        starts = tuple(tuple(borders(x)) for x in sizes)
        return blockwise(
            put_points,
            [(a, tuple(range(a.ndim))), (value, edges), *arrays],
            chunks=a.chunks,
            meta=a.meta,
            varying=PointKeyAt(_keys(cuts), self.axes, starts),
            kwargs={"axes": self.axes, "lengths": tuple(map(sum, sizes))},
        )
