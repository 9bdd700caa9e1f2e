"""The order of axes in memory: that of NumPy's arrays, and blocks and results in it.

An order lists the axes from the one whose elements are farthest apart to the one whose elements
are neighbours. ``None`` is C order, the order of the axes themselves; Fortran's order lists them
backwards. An axis of length one may have any place, so C order is told wherever it is possible.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from marsdask.core.collection import Collection
from marsdask.core.grids.blockwise import map_blocks
from marsdask.core.grids.grid import Grid
from marsdask.core.machine.costs import kernel
from marsdask.core.node import MemoryOrder, Node, PartOf, SameChunks, SameMeta, Taken
from marsdask.core.sizes import known, numbers

from .chunks import check_order
from .kernels.duck_arrays import new_array
from .sparse.blocks import is_sparse


@dataclass(frozen=True, eq=False)
class Ordered(SameMeta, SameChunks):
    """The same values in another order of axes in memory."""

    input_chunks = "pass"

    order: MemoryOrder

    @property
    def memory_order(self) -> MemoryOrder:
        return self.order

    def sliced(self, taken: Taken, part: PartOf) -> Node | None:
        return self.replaced(a=part(self.a, taken))

    def tile(self, a: Grid) -> Grid:
        kwargs = {"order": self.order}
        return map_blocks(laid_out, a, chunks=a.chunks, meta=self.meta, kwargs=kwargs)


@kernel(scratch=0.0)
def laid_out(block: Any, order: MemoryOrder) -> Any:
    """Return a block whose elements lie in an order without gaps, itself if they do."""
    if is_sparse(block) or lies_in(block, order):
        return block
    out = empty_in(block, block.dtype, block.shape, order)
    out[...] = block
    return out


def lies_in(block: Any, order: MemoryOrder) -> bool:
    """Tell whether elements lie in an order without gaps."""
    if order is None:
        return bool(block.flags.c_contiguous)
    return bool(block.transpose(order).flags.c_contiguous)


def empty_in(like: Any, dtype: Any, shape: tuple[int, ...], order: MemoryOrder) -> Any:
    """Return a new array of the kind of another in an order."""
    if order is None:
        return new_array(like, dtype, shape)
    form = tuple(shape[axis] for axis in order)
    out = new_array(like, dtype, form)
    return out.transpose(np.argsort(order))


def order_of(array: Any) -> MemoryOrder:
    """Return the order of an array's axes, as a copy that keeps it has it."""
    return None if array.flags.c_contiguous else by_strides(array)


def by_strides(array: Any) -> MemoryOrder:
    """Return the order that strides tell; axes of stride zero are neighbours."""
    strides = array.strides
    order = sorted(range(len(strides)), key=lambda axis: -abs(strides[axis]))
    return settled(tuple(order), array.shape)


def settled(order: MemoryOrder, shape: Sequence[Any]) -> MemoryOrder:
    """Return ``None`` for an order that differs from C order only in axes of length one."""
    if order is None:
        return None
    longer = [axis for axis in order if shape[axis] != 1]
    return order if longer != sorted(longer) else None


def fortran(shape: Sequence[Any]) -> MemoryOrder:
    """Return Fortran's order."""
    return settled(tuple(range(len(shape)))[::-1], shape)


def is_fortran(node: Node) -> bool:
    """Tell whether a new array of a node lies in Fortran's order, perhaps in C order too."""
    shape = node.shape
    longer = [axis for axis in node.memory_order or range(len(shape)) if shape[axis] != 1]
    return longer == sorted(longer, reverse=True) or 0 in shape


def is_c(node: Node) -> bool:
    """Tell whether a new array of a node lies in C order."""
    return node.memory_order is None or 0 in node.shape


def moved(order: MemoryOrder, axes: Sequence[int | None], shape: Sequence[Any]) -> MemoryOrder:
    """Return the order after axes were moved, added (``None``) and dropped, which gives a shape."""
    if order is None:
        places = [axis for axis in axes if axis is not None]
        if places == sorted(places):
            return None
        order = tuple(range(max(places) + 1))
    fresh = [place for place, axis in enumerate(axes) if axis is None]
    return settled((*fresh, *(axes.index(axis) for axis in order if axis in axes)), shape)


def reduced(order: MemoryOrder, axes: Sequence[int], *, keeps: bool) -> MemoryOrder:
    """Return the order after axes were reduced: dropped, or with ``keeps`` of length one."""
    if order is None:
        return None
    if keeps:
        shape = [1 if axis in axes else 2 for axis in range(len(order))]
        return settled(order, shape)
    other_axes = [axis for axis in range(len(order)) if axis not in axes]
    return moved(order, other_axes, (2,) * len(other_axes))


def indexed(
    order: MemoryOrder, axes: Sequence[int], place: int, shape: Sequence[Any]
) -> MemoryOrder:
    """Return the order of what arrays select: their axis lies outside of those that are left."""
    ndim = len(shape) - 1 + len(axes)
    other_axes = [axis for axis in range(ndim) if axis not in axes]
    places = {axis: i + (i >= place) for i, axis in enumerate(other_axes)}
    tail = (places[axis] for axis in order or range(ndim) if axis in places)
    return settled((place, *tail), shape)


def merged(nodes: Sequence[Node], shape: Sequence[Any]) -> MemoryOrder:
    """Return the order of what NumPy makes of arrays element by element: C order if they differ."""
    if all(node.memory_order is None for node in nodes):
        return None
    form = _few(shape)
    orders = tuple({(_few(node.shape), node.memory_order): None for node in nodes})
    return settled(_merged(orders, form), form)


def _few(shape: Sequence[Any]) -> tuple[int, ...]:
    return tuple(1 if size == 1 else 2 for size in shape)


def joined(nodes: Sequence[Node]) -> MemoryOrder:
    """Return the order of what NumPy makes of arrays one after the other.

    Its own sort: an axis moves before those that have smaller strides in all arrays, and axes of
    length one are compared with none.
    """
    if all(node.memory_order is None for node in nodes):
        return None
    shapes = [node.shape for node in nodes]
    strides = [dense_strides(_few(node.shape), node.memory_order, 1) for node in nodes]
    order: list[int] = []
    for axis in range(len(shapes[0])):
        place = len(order)
        for before in reversed(range(len(order))):
            prior = order[before]
            rises = [
                own[axis] > own[prior]
                for own, shape in zip(strides, shapes, strict=True)
                if shape[axis] != 1 and shape[prior] != 1
            ]
            if rises and not all(rises):
                break
            place = before if rises else place
        order.insert(place, axis)
    return settled(tuple(order), (2,) * len(order))


@lru_cache(maxsize=256)
def _merged(
    given: tuple[tuple[tuple[int, ...], MemoryOrder], ...], shape: tuple[int, ...]
) -> MemoryOrder:
    """Ask NumPy, with arrays of at most two elements an axis."""
    like = np.empty(0)
    small = [
        np.broadcast_to(empty_in(like, float, form, order), np.broadcast_shapes(form, shape))
        for form, order in given
    ]
    rules: Any = [["readonly"]] * len(small) + [["writeonly", "allocate"]]
    return order_of(np.nditer([*small, None], ["zerosize_ok"], rules).operands[-1])


def reshaped(a: Node, form: tuple[int, ...]) -> MemoryOrder:
    """Return the order of an array in another shape: of a view if it can be one, else C order."""
    if a.memory_order is None or not known(a.shape):
        return None
    strides = dense_strides(numbers(a.shape), a.memory_order, 1)
    room = np.lib.stride_tricks.as_strided(np.empty(1, "i1"), numbers(a.shape), strides)
    try:
        return by_strides(room.reshape(form, copy=False))
    except ValueError:
        return None


def dense_strides(shape: tuple[int, ...], order: MemoryOrder, itemsize: int) -> tuple[int, ...]:
    """Return the strides of a new array."""
    strides = [0] * len(shape)
    size = itemsize
    for axis in reversed(range(len(shape)) if order is None else order):
        strides[axis] = size
        size *= max(shape[axis], 1)
    return tuple(strides)


def in_order(node: Node, order: MemoryOrder) -> Node:
    """Return a node in an order, itself if it has it."""
    if node.memory_order == order or is_sparse(node.meta):
        return node
    return in_order(node.a, order) if isinstance(node, Ordered) else Ordered(node, order)


def in_place(node: Node, old: Node) -> Node:
    """Return a node as it lies in the memory of another, if that has room for it."""
    ndim = len(old.chunks)
    fits = ndim > 1 and len(node.chunks) == ndim and node.shape == old.shape
    return in_order(node, old.memory_order) if fits else node


def in_order_of(node: Node, letter: str, source: Any = None) -> Node:
    """Return a node in the order that a letter asks for; with "K" it has its own.

    Repeated elements of a ``source`` that is copied are neighbours, as NumPy copies them.
    """
    if len(node.chunks) < 2:
        return node
    if letter == "K":
        return in_order(node, by_strides(source)) if _repeats(source) else node
    return in_order(node, fortran(node.shape) if letter == "F" else None)


def as_new(node: Node, source: Node) -> Node:
    """Return a node in the order of NumPy's functions that know only C and Fortran's order."""
    return in_order_of(node, "F" if is_fortran(source) and not is_c(source) else "C")


def _repeats(source: Any) -> bool:
    if not isinstance(source, Collection) or source._view is None:
        return False
    strided: Any = source
    return known(source.node.shape) and 0 in strided.strides


def letter_of(letter: Any, source: Any = None, *, default: str = "K") -> str:
    """Return "C", "F" or "K"; "A" is "F" for what lies in Fortran's order and not in C order."""
    check_order(letter)
    letter = default if letter is None else letter.upper()
    if letter != "A":
        return str(letter)
    return "F" if _lies(source, "F") and not _lies(source, "C") else "C"


def ufunc_letter(letter: Any, operands: Sequence[Any]) -> str:
    """Return "C", "F" or "K"; "A" is "F" if all operands lie in Fortran's order."""
    check_order(letter)
    if letter not in ("A", "a"):
        return "K" if letter is None else str(letter.upper())
    return "F" if all(_lies(item, "F") for item in operands) else "C"


def lies_as(tensor: Any, letter: str) -> bool:
    """Tell whether an array, tensor or node lies in an order without gaps."""
    return letter == "K" or _lies(tensor, letter)


def _lies(item: Any, letter: str) -> bool:
    if isinstance(item, Collection) and item._view is None:
        item = item.node
    if isinstance(item, Node):
        return is_fortran(item) if letter == "F" else is_c(item)
    if not isinstance(item, np.ndarray | Collection):
        return letter == "C" or np.ndim(item) < 2
    array: Any = item
    return bool(array.flags.f_contiguous if letter == "F" else array.flags.c_contiguous)


def is_dense(array: Any) -> bool:
    """Tell whether elements lie without gaps, in whatever order."""
    return lies_in(array, by_strides(array)) or bool(array.flags.forc)
