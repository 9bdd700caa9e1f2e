"""Join and split tensors without copying chunks."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from marsdask.core.arguments import listed
from marsdask.core.collection import Collection, ExecutableList, ExecutableTuple
from marsdask.core.node import Node
from marsdask.core.sizes import UnknownShapeError, known

from ..indexing.assignment import into
from ..indexing.getitem import getitem
from ..indexing.output_rules import JOINED
from ..indexing.slicing import EVERYTHING, Slice
from ..memory_order import in_order
from ..operands import as_node
from ..sparse.blocks import is_sparse
from ..typing import itself, public, public_view, view_face
from ..unknown_lengths import ResultSpec, like, waits_for_lengths
from .concatenation import Concatenate
from .reshape import ravel, reshape
from .shape import expand_dims, normalize_axes, normalize_axis, transpose, view

if TYPE_CHECKING:
    pass


def _nodes(arrays: Any) -> list[Node]:
    nodes = [as_node(array, sparse=True) for array in arrays]
    if not nodes:
        raise ValueError("need at least one array to concatenate")
    return nodes if all(is_sparse(node.meta) for node in nodes) else list(map(as_node, nodes))


@public
def concatenate(
    arrays: Any,
    axis: int | None = 0,
    out: Any = None,
    dtype: Any = None,
    casting: Any = "same_kind",
) -> Node:
    """Join tensors along an axis; ``None`` joins all elements. See numpy.concatenate."""
    if out is not None and dtype is not None:
        raise TypeError("concatenate() takes out= or dtype=, not both")
    dtype = getattr(out, "dtype", dtype)
    nodes = _nodes(arrays)
    if axis is None:
        nodes, axis = [as_node(ravel.node(node)) for node in nodes], 0
    ndim = len(nodes[0].chunks)
    if ndim == 0:
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    axis = normalize_axis(operator.index(axis), ndim)
    _check_alike(nodes, axis)
    metas = [node.meta for node in nodes]
    kind = np.result_type(*(meta.dtype for meta in metas)) if dtype is None else np.dtype(dtype)
    # NumPy raises for forbidden casts, with the types in its message.
    np.concatenate([np.empty((0,), meta.dtype) for meta in metas], dtype=kind, casting=casting)
    alone = len(nodes) == 1 and metas[0].dtype == kind
    result = nodes[0] if alone else Concatenate(tuple(nodes), axis, kind)
    return into(out, result, casting, JOINED)


def _check_alike(nodes: Sequence[Node], axis: int) -> None:
    first = nodes[0].shape
    for position, node in enumerate(nodes):
        if len(node.shape) != len(first):
            raise ValueError(
                "all the input arrays must have same number of dimensions, but the array at index "
                f"0 has {len(first)} dimension(s) and the array at index {position} has "
                f"{len(node.shape)} dimension(s)"
            )
        for dim, (a, b) in enumerate(zip(first, node.shape, strict=True)):
            if dim != axis and known((a, b)) and a != b:
                raise ValueError(
                    "all the input array dimensions except for the concatenation axis must match "
                    f"exactly, but along dimension {dim}, the array at index 0 has size {a} and "
                    f"the array at index {position} has size {b}"
                )


@public
def stack(
    arrays: Any, axis: int = 0, out: Any = None, *, dtype: Any = None, casting: Any = "same_kind"
) -> Node:
    """Join tensors of one shape along a new axis. See numpy.stack."""
    nodes = [as_node(array, sparse=True) for array in arrays]
    if not nodes:
        raise ValueError("need at least one array to stack")
    shape = nodes[0].shape
    if any(len(node.shape) != len(shape) for node in nodes) or any(
        known((a, b)) and a != b for node in nodes for a, b in zip(shape, node.shape, strict=False)
    ):
        raise ValueError("all input arrays must have the same shape")
    axis = normalize_axis(axis, len(shape) + 1)
    return concatenate.node(
        [expand_dims.node(node, axis) for node in nodes], axis, out, dtype, casting
    )


@public_view
def atleast_1d(*arrays: Any) -> Any:
    """Return tensors with at least one axis. See numpy.atleast_1d."""
    return _each(arrays, lambda ndim: [None] if ndim == 0 else list(range(ndim)))


@public_view
def atleast_2d(*arrays: Any) -> Any:
    """Return tensors with at least two axes. See numpy.atleast_2d."""
    return _each(arrays, lambda ndim: [*[None] * (2 - ndim), *range(ndim)])


@public_view
def atleast_3d(*arrays: Any) -> Any:
    """Return tensors with at least three axes. See numpy.atleast_3d."""
    forms: dict[int, list[int | None]] = {0: [None] * 3, 1: [None, 0, None], 2: [0, 1, None]}
    return _each(arrays, lambda ndim: forms.get(ndim, list(range(ndim))))


def _each(arrays: tuple[Any, ...], axes: Any) -> Any:
    nodes = [as_node(array, sparse=True) for array in arrays]
    views = [view(node, axes(len(node.chunks))) for node in nodes]
    results = ExecutableTuple(
        itself(array) if isinstance(array, Collection) and new is old else new
        for array, new, old in zip(arrays, views, nodes, strict=True)
    )
    return results[0] if len(results) == 1 else results


@public
def vstack(tup: Any, *, dtype: Any = None, casting: Any = "same_kind") -> Node:
    """Join tensors row by row. See numpy.vstack."""
    nodes = [atleast_2d.node(node) for node in _nodes(tup)]
    return concatenate.node(nodes, 0, dtype=dtype, casting=casting)


@public
def hstack(tup: Any, *, dtype: Any = None, casting: Any = "same_kind") -> Node:
    """Join tensors column by column. See numpy.hstack."""
    nodes = [atleast_1d.node(node) for node in _nodes(tup)]
    return concatenate.node(
        nodes, 0 if nodes[0].meta.ndim == 1 else 1, dtype=dtype, casting=casting
    )


@public
def dstack(tup: Any) -> Node:
    """Join tensors along the third axis. See numpy.dstack."""
    return concatenate.node([atleast_3d.node(node) for node in _nodes(tup)], 2)


@public
def column_stack(tup: Any) -> Node:
    """Join vectors and matrices as columns. See numpy.column_stack."""
    nodes = _nodes(tup)
    return concatenate.node(
        [transpose.node(atleast_2d.node(node)) if len(node.chunks) < 2 else node for node in nodes],
        1,
    )


def part(a: Node, axis: int, taken: range) -> Node:
    """Return some of a node along one axis."""
    everything: list[Any] = [EVERYTHING] * len(a.chunks)
    everything[axis] = taken
    return Slice(a, tuple(everything))


def length(node: Node, axis: int) -> int:
    """Return the length of an axis; :class:`UnknownShapeError` if it is unknown."""
    size = node.shape[axis]
    if not isinstance(size, int):
        raise UnknownShapeError(f"the length of axis {axis} is not known; execute() first")
    return size


def _parts(ary: Any, indices_or_sections: Any, axis: int) -> list[ResultSpec]:
    cuts = _cuts(indices_or_sections)
    count = len(cuts) + 1 if isinstance(cuts, list) else _sections(cuts)
    return ExecutableList([like(ary, unknown=(axis,))] * count)


def _cuts(indices_or_sections: Any) -> Any:
    """Return a list of the starts of parts, or their number: what has no length, as in NumPy."""
    cuts = listed(indices_or_sections)
    try:
        len(cuts)
    except TypeError:
        return cuts
    return list(cuts)


def _sections(count: Any) -> int:
    if (number := int(count)) <= 0:
        raise ValueError("number sections must be larger than 0.")
    return number


@public_view
@waits_for_lengths(_parts)
def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Node]:
    """Split into parts that need not be equal. See numpy.array_split and numpy.split.

    Returns
    -------
    list of Tensor
        The parts.
    """
    node = as_node(ary, sparse=True)
    axis = normalize_axis(axis, len(node.chunks))
    whole = length(node, axis)
    cuts = _cuts(indices_or_sections)
    if isinstance(cuts, list):
        borders = [0, *map(operator.index, cuts), whole]
    else:
        count = _sections(cuts)
        sizes = [whole // count + (i < whole % count) for i in range(count)]
        borders = [0, *np.cumsum(sizes).tolist()]
    return ExecutableList(
        part(node, axis, range(*slice(start, stop).indices(whole)))
        for start, stop in itertools.pairwise(borders)
    )


@public_view
@waits_for_lengths(_parts)
def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Node]:
    """Split into equal parts, or at given indices. See numpy.split."""
    node = as_node(ary, sparse=True)
    cuts = _cuts(indices_or_sections)
    if not isinstance(cuts, list):
        whole = length(node, normalize_axis(axis, len(node.chunks)))
        if whole % cuts:
            raise ValueError("array split does not result in an equal division")
    return array_split.node(node, cuts, axis)


@public_view
def hsplit(ary: Any, indices_or_sections: Any) -> list[Node]:
    """Split by columns. See numpy.hsplit and numpy.split.

    Returns
    -------
    list of Tensor
        The parts.
    """
    node = as_node(ary)
    if not node.chunks:
        raise ValueError("hsplit only works on arrays of 1 or more dimensions")
    return split.node(node, indices_or_sections, 1 if len(node.chunks) > 1 else 0)


@public_view
def vsplit(ary: Any, indices_or_sections: Any) -> list[Node]:
    """Split by rows. See numpy.vsplit and numpy.split.

    Returns
    -------
    list of Tensor
        The parts.
    """
    if len(as_node(ary).chunks) < 2:
        raise ValueError("vsplit only works on arrays of 2 or more dimensions")
    return split.node(ary, indices_or_sections, 0)


@public_view
def dsplit(ary: Any, indices_or_sections: Any) -> list[Node]:
    """Split along the third axis. See numpy.dsplit and numpy.split.

    Returns
    -------
    list of Tensor
        The parts.
    """
    if len(as_node(ary).chunks) < 3:
        raise ValueError("dsplit only works on arrays of 3 or more dimensions")
    return split.node(ary, indices_or_sections, 2)


@public_view
def flip(m: Any, axis: Any = None) -> Node:
    """Reverse the order along axes. See numpy.flip."""
    node = as_node(m)
    ndim = len(node.chunks)
    axes = range(ndim) if axis is None else normalize_axes(axis, ndim)
    ranges: list[Any] = [EVERYTHING] * ndim
    for position in axes:
        size = node.shape[position]
        backwards = slice(None, None, -1)
        ranges[position] = range(size)[::-1] if isinstance(size, int) else backwards
    return Slice(node, tuple(ranges)) if any(x != EVERYTHING for x in ranges) else node


@public_view
def flipud(m: Any) -> Node:
    """Reverse the order of the rows. See numpy.flipud."""
    if not as_node(m).chunks:
        raise ValueError("Input must be >= 1-d.")
    return flip.node(m, 0)


@public_view
def fliplr(m: Any) -> Node:
    """Reverse the order of the columns. See numpy.fliplr."""
    if len(as_node(m).chunks) < 2:
        raise ValueError("Input must be >= 2-d.")
    return flip.node(m, 1)


@public_view
def rot90(m: Any, k: int = 1, axes: tuple[int, int] = (0, 1)) -> Node:
    """Rotate by right angles in the plane of two axes. See numpy.rot90."""
    node, axes = as_node(m), listed(axes)
    if len(axes) != 2:
        raise ValueError("len(axes) must be 2.")
    first, second = normalize_axes(axes, len(node.chunks), allow_duplicate=True)
    if first == second:
        raise ValueError("Axes must be different.")
    order: list[int | None] = list(range(len(node.chunks)))
    order[first], order[second] = order[second], order[first]
    turns = k % 4
    if turns == 0:
        return node
    if turns == 2:
        return flip.node(node, (first, second))
    if turns == 1:
        return view(flip.node(node, second), order)
    return flip.node(view(node, order), second)


def _is_of_elements(found: Any, *args: Any, **kwargs: Any) -> bool:
    """Tell whether the parts are single elements, which NumPy copies."""
    del args, kwargs
    return bool(found) and not found[0].chunks


@view_face(copies=_is_of_elements)
def unstack(x: Any, /, *, axis: int = 0) -> tuple[Node, ...]:
    """Return the slices along an axis. See numpy.unstack."""
    node = as_node(x)
    if not node.meta.ndim:
        raise ValueError("Input array must be at least 1-d.")
    axis = normalize_axis(axis, node.meta.ndim)
    ahead = (EVERYTHING,) * axis
    return ExecutableTuple(getitem.node(node, (*ahead, i)) for i in range(length(node, axis)))


@public
@waits_for_lengths(lambda a, **_: like(a))
def roll(a: Any, shift: Any, axis: Any = None) -> Node:
    """Shift elements around the end of axes. See numpy.roll."""
    node = as_node(a)
    if axis is None:
        flat = roll.node(ravel.node(node), shift, 0)
        return reshape.node(flat, tuple(length(node, i) for i in range(len(node.chunks))))
    axes = np.atleast_1d(listed(axis)).tolist()
    shifts, places = np.broadcast_arrays(np.atleast_1d(listed(shift)), axes)
    result = node
    for by, place in zip(shifts.tolist(), places.tolist(), strict=True):
        where = normalize_axis(place, len(node.chunks))
        size = length(node, where)
        if size and by % size:
            border = size - by % size
            halves = [part(result, where, x) for x in (range(border, size), range(border))]
            result = concatenate.node(halves, where, dtype=node.meta.dtype)
    return in_order(as_node(result), node.memory_order)


@public
def append(arr: Any, values: Any, axis: int | None = None) -> Node:
    """Join two tensors. See numpy.append."""
    return concatenate.node((arr, values), axis)
