"""Indexing: parsed keys, and their nodes."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Number
from typing import Any, Literal

import numpy as np

from marsdask.core.collection import Collection
from marsdask.core.machine.costs import kernel
from marsdask.core.node import Node
from marsdask.core.sizes import Size, Unknown, UnknownShapeError, known, numbers

from .. import operands
from ..chunkwise.map_blocks import MapBlocks
from ..creation.from_shape import broadcast_against, zeros
from ..elementwise.ufuncs import apply, astype
from ..manipulation.reshape import ravel, reshape, with_axis
from ..manipulation.shape import broadcast_to, view
from ..operands import as_node
from ..sparse.blocks import is_sparse
from ..typing import public, view_face
from .advanced import Take, TakeByTensor, in_bounds, settle
from .assignment import into
from .boolean import ArgWhere, BooleanIndexing, check_fit, column
from .iteration import element
from .output_rules import TAKEN
from .slicing import EVERYTHING, Slice, Taken

Kind = Literal["new", "slice", "int", "points", "mask"]


@dataclass(frozen=True)
class Item:
    """One part of a key: its kind, its first axis, its value."""

    kind: Kind
    axis: int
    value: Any = None
    width: int = 1
    """How many axes it takes."""
    apart: bool = False
    """Whether an Ellipsis that stands for no axis comes before it."""

    @property
    def chooses(self) -> bool:
        """Whether it is an array index."""
        return self.kind in ("points", "mask")


def parse(key: Any, shape: tuple[Size, ...]) -> list[Item]:
    """Parse a key into one entry for every axis. Raise IndexError for invalid keys.

    Arrays of integers and masks become nodes or stay arrays in memory.
    """
    parts = [_plain(part) for part in (key if isinstance(key, tuple) else (key,))]
    width = sum(_width(part) for part in parts)
    if width > len(shape):
        raise IndexError(
            f"too many indices for array: array is {len(shape)}-dimensional, "
            f"but {width} were indexed"
        )
    gaps = [i for i, part in enumerate(parts) if part is Ellipsis]
    if len(gaps) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    fill = [EVERYTHING] * (len(shape) - width)
    place = gaps[0] if gaps else len(parts)
    items: list[Item] = []
    axis = 0
    for part in [*parts[:place], *fill, *parts[place + 1 :]]:
        item = _item(part, axis, shape)
        items.append(item)
        axis += item.width
    if gaps and not fill and place < len(items):
        items[place] = replace(items[place], apart=True)
    arrays = [item for item in items if item.chooses]
    single = any(item.width == 0 and item.value is not None for item in items)
    if single and arrays and (len(arrays) > 1 or arrays[0].width):
        raise NotImplementedError(
            "a single boolean beside arrays in a key is not supported; use x[None] first"
        )
    return items


def _plain(part: Any) -> Any:
    """Return a part of a key as ``None``, Ellipsis, a slice, an int, a bool, an array or a node."""
    if part is None or part is Ellipsis or isinstance(part, slice | bool | np.bool_):
        return part
    if isinstance(part, Collection | Node):
        node = as_node(part)
        return _checked(node.array if type(node) is operands.Literal else node)
    if isinstance(part, int | np.integer):
        return operator.index(part)
    if isinstance(part, range):
        part = np.arange(part.start, part.stop, part.step)
    if hasattr(part, "__index__") and not isinstance(part, np.ndarray):
        return operator.index(part)
    array = np.array(part)  # a copy: the key may change before its use
    if array.size == 0 and not isinstance(part, np.ndarray):
        array = array.astype(np.intp)
    return _checked(array, given=isinstance(part, np.ndarray))


def _checked(array: Any, *, given: bool = True) -> Any:
    """Return an array of integers or a mask; NumPy has other words for what is not yet an array."""
    meta = array.meta if isinstance(array, Node) else array
    if meta.dtype.kind not in "iub":
        raise IndexError(
            "arrays used as indices must be of integer (or boolean) type"
            if given
            else "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and "
            "integer or boolean arrays are valid indices"
        )
    if meta.ndim == 0 and isinstance(array, np.ndarray):
        return bool(array) if array.dtype == np.bool_ else int(array)
    return array


def _is_mask(part: Any) -> bool:
    return bool((part.meta if isinstance(part, Node) else part).dtype == np.bool_)


def _width(part: Any) -> int:
    if part is None or part is Ellipsis or isinstance(part, bool | np.bool_):
        return 0
    if isinstance(part, slice | int):
        return 1
    if not _is_mask(part):
        return 1
    return len(part.chunks) if isinstance(part, Node) else int(part.ndim)


def _item(part: Any, axis: int, shape: tuple[Size, ...]) -> Item:
    if part is None:
        return Item("new", axis, width=0)
    if isinstance(part, bool | np.bool_):
        return Item("new", axis, bool(part), 0)
    if isinstance(part, slice):
        return Item("slice", axis, _slice(part, shape[axis]))
    if isinstance(part, int):
        return Item("int", axis, _element(part, axis, shape[axis]))
    width = _width(part)
    if _is_mask(part):
        return Item("mask", axis, _fitting(part, shape[axis : axis + width], axis), width)
    if isinstance(part, np.ndarray) and known(shape[axis : axis + 1]):
        (part,) = settle((part,), (axis,), (shape[axis],))  # type: ignore[arg-type]
    return Item("points", axis, part)


def _fitting(mask: Any, shape: tuple[Size, ...], axis: int) -> Any:
    """Return a mask of the axes' lengths; as in NumPy, one without elements selects no elements."""
    lengths = mask.shape
    if 0 in lengths and known(shape):
        check_fit(tuple(n or own for n, own in zip(lengths, shape, strict=True)), shape, axis)
        return as_node(broadcast_to.node(np.False_, shape))
    check_fit(lengths, shape, axis)
    return mask


def _slice(part: slice, length: Size) -> Taken:
    if isinstance(length, int):
        positions = range(*part.indices(length))
        return EVERYTHING if positions == range(length) else positions
    bounds = [None if x is None else operator.index(x) for x in (part.start, part.stop, part.step)]
    if bounds[2] == 0:
        raise ValueError("slice step cannot be zero")
    return (
        EVERYTHING
        if bounds in ([None] * 3, [0, None, None], [None, None, 1], [0, None, 1])
        else slice(*bounds)
    )


def _element(part: int, axis: int, length: Size) -> Taken:
    if not isinstance(length, int):
        return part
    if not -length <= part < length:
        raise IndexError(f"index {part} is out of bounds for axis {axis} with size {length}")
    return range(part % length, part % length + 1)


def _is_element(found: Node, a: Any, key: Any) -> bool:
    """Tell whether a key selects one element, which is a value in NumPy, rather than an array."""
    del a
    return not found.chunks and not any(
        part is Ellipsis for part in (key if isinstance(key, tuple) else (key,))
    )


@view_face(copies=_is_element)
def getitem(a: Any, key: Any) -> Node:
    """Return part of a tensor. See NumPy's indexing; lengths after a mask are unknown."""
    node = as_node(a, sparse=True)
    if isinstance(key, str) or (isinstance(key, list) and key and isinstance(key[0], str)):
        return _fields(node, key if isinstance(key, str) else tuple(key))
    if (single := element(node, key)) is not None:
        return single
    return index_node(node, parse(key, node.shape))


def _fields(node: Node, names: Any) -> Node:
    sample = named_fields(np.empty((), node.meta.dtype), names)
    if not sample.ndim:
        return apply(named_fields, node, names=names)
    ndim = len(node.chunks)
    whole = ndim + sample.ndim
    return MapBlocks(
        array_field,
        (node,),
        (None,),
        (0,),
        {"name": names},
        (),
        np.empty((0,) * whole, sample.dtype),
        added=tuple(range(ndim, whole)),
        out_sizes=(*(None,) * ndim, *((size,) for size in sample.shape)),
        checks=False,
    )


@kernel(view=True)
def array_field(block: Any, name: str) -> Any:
    """Return a field that is an array in each element."""
    return block[name]


def named_fields(block: Any, names: Any) -> Any:
    """Return one field of a structured block, or several."""
    return block[names if isinstance(names, str) else list(names)]


def index_node(node: Node, items: Sequence[Item], *, indexed: bool = True) -> Node:
    """Return the node for a parsed key: slices, then the arrays, then the order of the axes.

    Unless ``indexed`` it lies in C order, and not as NumPy's indexing makes it.
    """
    arrays = [item for item in items if item.chooses]
    if arrays and not _stays_sparse(node, items):
        node = as_node(node)
    basic = [EVERYTHING] * len(node.chunks)
    for item in items:
        if item.kind in ("slice", "int"):
            basic[item.axis] = item.value
    if any(part != EVERYTHING for part in basic):
        node = Slice(node, tuple(basic))
    if not arrays:
        return _falses(view(node, _order(items, list(range(len(node.chunks))))), items)
    return _advanced(node, items, arrays, indexed=indexed)


def _stays_sparse(node: Node, items: Sequence[Item]) -> bool:
    """Tell whether a key with arrays selects a vector or a matrix by vectors of positions."""
    if not is_sparse(node.meta) or any(item.kind == "new" for item in items):
        return False
    return all(
        item.kind != "points" or len(item.value.shape) == 1 for item in items if item.chooses
    )


def together(items: Sequence[Item]) -> bool:
    """Tell whether arrays and elements are adjacent, so that their axes stay in place."""
    places = [i for i, item in enumerate(items) if item.chooses or item.kind == "int"]
    return not places or not (
        places[-1] - places[0] >= len(places)
        or any(item.apart for item in items[places[0] + 1 : places[-1] + 1])
    )


def _order(items: Sequence[Item], labels: list[Any]) -> list[int | None]:
    """Return the axes of the result; ``labels`` has the origin of each axis."""
    first = next((item for item in items if item.chooses or item.kind == "int"), None)
    order: list[int | None] = []
    points = labels.index("points") if "points" in labels else None
    in_place = together(items)
    if points is not None and not in_place:
        order.append(points)
    for item in items:
        if item.kind == "new":
            order.append(None)
        elif item.kind == "slice":
            order.append(labels.index(item.axis))
        elif points is not None and in_place and item is first:
            order.append(points)
    return order


def _falses(node: Node, items: Sequence[Item]) -> Node:
    """Empty the new axes that came from ``False``."""
    if not any(item.value is False for item in items):
        return node
    slices = [item for item in items if item.kind in ("new", "slice")]
    return Slice(node, tuple(range(0) if item.value is False else EVERYTHING for item in slices))


def _advanced(node: Node, items: Sequence[Item], arrays: list[Item], *, indexed: bool) -> Node:
    if len(arrays) == 1 and arrays[0].kind == "mask":
        (item,) = arrays
        form: tuple[Any, ...] = (-1,)
        mask_axes = range(item.axis, item.axis + item.width)
        labels: list[Any] = [axis for axis in range(len(node.chunks)) if axis not in mask_axes]
        labels.insert(item.axis, "points")
        mask = as_node(item.value)
        if not item.width:  # a computed boolean: an axis of one element, selected or not
            mask = view(mask, [None])
            node = view(node, [*labels[: item.axis], None, *labels[item.axis + 1 :]])
        node = BooleanIndexing(node, mask, item.axis, indexed)
    else:
        axes, points, form = points_of(arrays)
        place = axes[0]
        labels = [axis for axis in range(len(node.chunks)) if axis not in axes]
        labels.insert(place, "points")
        if isinstance(points[0], Node):
            node = TakeByTensor(node, points, axes, place, indexed)
        else:
            node = Take(node, points, axes, place, indexed)
    order = _order(items, labels)
    where = order.index(labels.index("points"))
    node = view(node, order)
    if len(form) == 1:
        return node
    if not form:
        return view(node, [axis for axis in range(len(order)) if axis != where])
    shape = (*node.shape[:where], *form, *node.shape[where + 1 :])
    if len(shape) - sum(known((size,)) for size in shape) > 1:
        raise UnknownShapeError("positions of several axes, of lengths not known: execute() first")
    return as_node(reshape.node(node, tuple(n if known((n,)) else -1 for n in shape)))


def points_of(arrays: Sequence[Item]) -> tuple[tuple[int, ...], tuple[Any, ...], tuple[Any, ...]]:
    """Return the axes, the flat positions along each, and their shape."""
    axes: list[int] = []
    values: list[Any] = []
    for item in arrays:
        positions = list(_positions(item.value)) if item.kind == "mask" else [item.value]
        if item.kind == "int":
            positions = [np.asarray(item.value[0] if isinstance(item.value, range) else item.value)]
        axes.extend(range(item.axis, item.axis + item.width))
        values.extend(positions)
    if not any(isinstance(value, Node) for value in values):
        shape = _broadcast(values)
        return tuple(axes), tuple(np.broadcast_to(x, shape).ravel() for x in values), shape
    nodes = [as_node(value) for value in values]
    if len(nodes) == 1:
        return tuple(axes), (as_node(ravel.node(nodes[0])),), nodes[0].shape
    if all(len(node.chunks) == 1 and node.shape == nodes[0].shape for node in nodes):
        return tuple(axes), tuple(nodes), nodes[0].shape
    if not all(known(node.shape) for node in nodes):
        if any(len(node.chunks) > 1 for node in nodes):
            raise NotImplementedError(
                "an array of several axes beside one of unknown length in a key is not supported; "
                "use execute() first"
            )
        # Their total length, and whether it fits, is known only at run time.
        wide = (apply(broadcast_against, *nodes[i:], *nodes[:i]) for i in range(len(nodes)))
        points = tuple(map(as_node, wide))
        return tuple(axes), points, points[0].shape
    shape = _broadcast(nodes)
    wide = (ravel.node(broadcast_to.node(node, shape)) for node in nodes)
    return tuple(axes), tuple(map(as_node, wide)), shape


def _broadcast(arrays: Sequence[Any]) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(*(array.shape for array in arrays))
    except ValueError:
        raise IndexError(
            "shape mismatch: indexing arrays could not be broadcast together with shapes "
            + " ".join(str(array.shape) for array in arrays)
        ) from None


def _positions(mask: Any) -> Sequence[Any]:
    """Return the positions where a mask holds, for each of its axes."""
    if isinstance(mask, np.ndarray):
        return mask.nonzero()
    indices = ArgWhere(mask)
    return [column(indices, axis) for axis in range(len(mask.chunks))]


@public
def take(
    a: Any, indices: Any, axis: int | None = None, out: Any = None, mode: str = "raise"
) -> Node:
    """Return the elements at positions along an axis. See numpy.take."""
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got {mode!r})")
    node, axis = with_axis(a, axis, sparse=True)
    where = _as_positions(indices)
    shape = (*node.shape[:axis], *where.shape, *node.shape[axis + 1 :])
    unchecked = node.shape[:axis] if mode == "raise" else shape
    if 0 in unchecked and known(shape):  # as in NumPy
        return into(out, zeros.node(numbers(shape), node.meta.dtype), "safe", TAKEN)
    if mode != "raise":
        length = node.shape[axis]
        if isinstance(length, Unknown):
            raise UnknownShapeError(f"take(mode={mode!r}) of a length not known: execute() first")
        where = _in_bounds(where, length, mode)
    key = (slice(None),) * axis + (where,)
    result = index_node(node, parse(key, node.shape), indexed=False)
    return into(out, result, "safe", TAKEN)


def _as_positions(indices: Any) -> Node:
    """Return positions as integers; as NumPy does, cut numbers that are no array."""
    where = as_node(np.array(indices) if isinstance(indices, np.ndarray) else indices)
    dtype = where.meta.dtype
    if dtype.kind == "b":
        return as_node(astype.node(where, np.intp))
    if dtype.kind in "iu":
        return where
    if isinstance(indices, list | tuple | str | Number):
        return as_node(np.array(indices, np.intp))
    raise TypeError(
        f"Cannot cast array data from {dtype!r} to {np.dtype(np.intp)!r} according to the rule "
        "'same_kind'"
    )


def _in_bounds(where: Node, length: int, mode: str) -> Node:
    if isinstance(where, operands.Literal):
        return as_node(in_bounds(where.array, length, mode))
    return as_node(apply(in_bounds, where, length=length, mode=mode))


class PointView:
    """Indexing point by point: ``x.vindex[i, :, j]`` puts the axes of the points first."""

    def __init__(self, tensor: Any) -> None:
        self._tensor = tensor

    def __getitem__(self, key: Any) -> Any:
        node = as_node(self._tensor)
        ndim = len(node.chunks)
        items = list(key) if isinstance(key, tuple) else [key]
        if any(item is None for item in items):
            raise IndexError("vindex does not support indexing with None (np.newaxis)")
        if Ellipsis in [item for item in items if not isinstance(item, Collection | np.ndarray)]:
            raise IndexError("vindex does not support indexing with an ellipsis; name every axis")
        items += [EVERYTHING] * (ndim - len(items))
        points = [axis for axis, item in enumerate(items) if not isinstance(item, slice)]
        if len(items) > ndim:
            raise IndexError(f"{len(items)} indices for {ndim} axes")
        slices = tuple(item if isinstance(item, slice) else EVERYTHING for item in items)
        partial = any(
            _slice(item, length) != EVERYTHING
            for item, length in zip(slices, node.shape, strict=True)
        )
        if not points and partial:
            raise IndexError(
                "vindex requires at least one non-slice indexer; use [] for slices alone"
            )
        if not points:
            return self._tensor
        node = as_node(getitem.node(node, slices)) if partial else node
        other_axes = [axis for axis in range(ndim) if axis not in points]
        return getitem(view(node, [*points, *other_axes]), tuple(items[i] for i in points))
