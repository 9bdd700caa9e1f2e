"""Assignment to parts: the tensor and all that share its elements are bound to a new array.

They then hold new nodes; earlier expressions keep the old values.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from marsdask.core.collection import rebind
from marsdask.core.grids.blockwise import blockwise
from marsdask.core.grids.grid import Grid, Look
from marsdask.core.grids.lengths import resolved
from marsdask.core.node import Node
from marsdask.core.sizes import Unknown, known, numbers, shape_of, shape_text
from marsdask.core.snapshots.tokens import token

from ..chunkwise.rechunk import recut
from ..elementwise.nodes import typed_by_types
from ..elementwise.ufuncs import apply
from ..kernels.duck_arrays import alike
from ..manipulation.reshape import reshape
from ..manipulation.shape import broadcast_to, reorder, view, whole
from ..operands import Literal, as_node, to_change
from ..typing import public
from .assigned_values import held
from .assignment import SetItem, SetSlice, check_length, writable
from .boolean import BooleanIndexing, bands, check_fit, count_true
from .getitem import Item, getitem, parse, points_of, together
from .scatter import Put, SetKnown, SetPoints, replace_values
from .slicing import EVERYTHING, Taken


@public
def setitem(a: Any, key: Any, value: Any) -> None:
    """Assign to a part of a tensor. See NumPy's indexing.

    Differs from NumPy: a Python number that the type cannot hold raises, whatever the key.
    """
    node = as_node(to_change(a))
    if isinstance(key, str) or (isinstance(key, list) and key and isinstance(key[0], str)):
        setitem(getitem(a, key), ..., value)
        return
    items = parse(key, node.shape)
    arrays = [item for item in items if item.chooses]
    ndim = None if arrays else sum(item.kind != "int" for item in items)
    new = as_node(held(value, node.meta.dtype, ndim))
    if not arrays:
        result = _assign_slices(node, items, new)
    elif len(arrays) == 1 and arrays[0].kind == "mask" and _others_whole(items):
        result = _assign_mask(node, arrays[0], new)
    else:
        result = assign_points(node, items, new)
    rebind(a, result)


def _others_whole(items: Sequence[Item]) -> bool:
    return all(
        item.chooses or (item.kind == "slice" and item.value == EVERYTHING) for item in items
    )


def fit(value: Node, shape: tuple[Any, ...]) -> Node:
    """Return a value with as many axes as its target, or raise if it does not fit."""
    own = value.shape
    while len(own) > len(shape) and own[0] == 1:
        own = own[1:]
        value = seen(value, range(1, len(own) + 1))
    offset = len(shape) - len(own)
    pairs = zip(own, shape[max(0, offset) :], strict=False)
    if offset < 0 or any(known((x, n)) and x not in (1, n) for x, n in pairs):
        raise ValueError(
            f"could not broadcast input array from shape {shape_text(value.shape)} "
            f"into shape {shape_text(shape)}"
        )
    return seen(value, [*[None] * offset, *range(len(own))])


def _assign_slices(node: Node, items: Sequence[Item], value: Node) -> Node:
    if any(item.value is False for item in items):
        return node
    out_items = [item for item in items if item.kind != "int"]
    lengths = [1 if item.kind == "new" else _length(node, item) for item in out_items]
    value = fit(value, tuple(lengths))
    # In the order of the array's own axes: new axes are dropped, elements are axes of length one.
    places = {item.axis: i for i, item in enumerate(out_items) if item.kind == "slice"}
    value = view(value, [places.get(axis) for axis in range(len(node.chunks))])
    ranges: list[Taken] = [EVERYTHING] * len(node.chunks)
    for item in items:
        if item.kind != "new":
            ranges[item.axis] = item.value
    return SetSlice(node, value, tuple(ranges))


def _length(node: Node, item: Item) -> Any:
    if isinstance(item.value, range):
        return len(item.value)
    if item.value == EVERYTHING:
        return node.shape[item.axis]
    return Unknown("selected")


@typed_by_types
def put_where(block: Any, mask: Any, value: Any) -> Any:
    """Return a copy of a block with other values where a mask holds."""
    out = writable(block)
    out, mask, value = alike(out, mask, value)
    np.copyto(out, value, where=mask, casting="unsafe")
    return out


def _assign_mask(node: Node, item: Item, value: Node) -> Node:
    """Assign where a mask holds: one value for all elements if possible, else one value each."""
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
    shape = BooleanIndexing(node, mask, item.axis).shape
    return SetChosen(node, fit(value, shape), mask, item.axis)


def put_chosen(block: Any, mask: Any, value: Any, axis: int) -> Any:
    """Return a copy of a block with one value for each selected element."""
    out = writable(block)
    out, mask, value = alike(out, mask, value)
    out[(slice(None),) * axis + (mask,)] = value
    return out


@dataclass(frozen=True, eq=False)
class SetChosen(SetItem):
    """An array with successive values where a mask over some axes holds."""

    mask: Node
    axis: int

    def tile(self, a: Grid, value: Grid, mask: Grid) -> Generator[Look, Any, Grid]:
        a, value, mask = yield from resolved(a, value, mask)
        axes = slice(self.axis, self.axis + mask.ndim)
        check_fit(shape_of(mask.chunks), shape_of(a.chunks[axes]), self.axis)
        splits = bands(a.chunks[axes])
        before, after = a.chunks[: self.axis], a.chunks[axes.stop :]
        old = a.chunks
        a, mask = recut(a, (*before, *splits, *after)), recut(mask, splits)
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
        for i, (own, sizes) in enumerate(zip(value.chunks, (*before, counts, *after), strict=True)):
            if i not in single:
                check_length(own, sizes, i)
            target.append(own if i in single and sum(numbers(sizes)) != 1 else sizes)
        value = recut(value, tuple(target))
        offset = mask.ndim - 1
        value_axes = [i for i in range(a.ndim) if i <= self.axis or i >= axes.stop]
        edges = tuple(
            None if value.numblocks[i] == 1 else axis for i, axis in enumerate(value_axes)
        )
        inputs = [
            (a, tuple(range(a.ndim))),
            (mask, (self.axis, *(None,) * offset)),
            (value, edges),
        ]
        kwargs = {"axis": self.axis}
        grid = blockwise(put_chosen, inputs, chunks=a.chunks, meta=a.meta, kwargs=kwargs)
        return recut(grid, old)


def assign_points(
    node: Node, items: Sequence[Item], value: Node, put: Put = replace_values
) -> Node:
    """Assign to positions: the value's axes of positions become one, which every chunk reads."""
    arrays = [item for item in items if item.chooses or item.kind == "int"]
    axes, points, form = points_of(arrays)
    labels: list[Any] = ["points"] * len(form) if not together(items) else []
    for item in items:
        if item is arrays[0] and together(items):
            labels.extend(["points"] * len(form))
        elif item not in arrays:
            labels.append(item)
    sizes = iter(form)
    lengths = [
        next(sizes) if label == "points" else 1 if label.kind == "new" else _length(node, label)
        for label in labels
    ]
    value = fit(value, tuple(lengths))
    begin = labels.index("points") if form else len(labels)
    value = _in_one(value, begin, form)
    places = {
        label.axis: i if i < begin else i + 1 - len(form)
        for i, label in enumerate(labels)
        if label != "points" and label.kind == "slice"
    }
    order = [places[axis] for axis in range(len(node.chunks)) if axis not in axes]
    value = seen(value, [*order[: axes[0]], begin, *order[axes[0] :]])
    ranges = [EVERYTHING] * len(node.chunks)
    for item in items:
        if item.kind == "slice":
            ranges[item.axis] = item.value
    if isinstance(points[0], Node):
        return SetPoints(node, value, points, axes, tuple(ranges), put)
    return SetKnown(node, value, points, axes, tuple(ranges), put)


def _in_one(value: Node, begin: int, form: tuple[Any, ...]) -> Node:
    """Merge the axes of the positions, which ``form`` describes, in a value."""
    own = value.shape
    after = begin + len(form)
    if all(size == 1 for size in own[begin:after]):
        return seen(value, [*range(begin), None, *range(after, len(own))])
    if len(form) == 1:
        return value
    outer = numbers(own[:begin]), numbers(own[after:])
    if not known(form):  # the value must have the same length, which is checked at run time
        return as_node(reshape.node(value, (*outer[0], -1, *outer[1])))
    wide = (*outer[0], *form, *outer[1])
    flat = (*outer[0], math.prod(form), *outer[1])
    if isinstance(value, Literal):
        return as_node(np.broadcast_to(value.array, wide).reshape(flat))
    return as_node(reshape.node(broadcast_to.node(value, wide), flat))


def seen(value: Node, axes: Sequence[int | None]) -> Node:
    """Return a value with the given axes; an array in memory stays one."""
    if not isinstance(value, Literal) or list(axes) == list(range(len(value.chunks))):
        return view(value, axes)
    chunks = tuple((1,) if axis is None else value.chunks[axis] for axis in axes)
    content = token(value.name, tuple(axes))
    return Literal(reorder(value.array, tuple(axes)), chunks, content, value.lent)
