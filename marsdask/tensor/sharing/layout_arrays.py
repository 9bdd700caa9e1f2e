"""Arrays that stand in for tensors: they have the memory layout of NumPy's arrays, and no memory.

NumPy's own functions tell of them what is a view, whether two overlap, and how they lie in memory.
Their elements are of no use, but whoever reads them all the same, such as a debugger, reads zeros:
they lie in pages that the operating system need not have.
"""

from __future__ import annotations

import math
import mmap
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

import numpy as np

from marsdask.core.node import Node, Part
from marsdask.core.sizes import Size

from ..chunkwise.map_blocks import MapBlocks
from ..elementwise.nodes import Elementwise
from ..indexing.advanced import Take
from ..indexing.getitem import array_field, named_fields
from ..indexing.slicing import Slice
from ..manipulation.reshape import Reshape, settle
from ..manipulation.shape import Broadcast, View, reorder
from ..manipulation.views import SeenAs, seen_as
from ..memory_order import dense_strides
from ..unknown_lengths import ArgumentSlot, UnknownLengthCall
from .selections import ViewStep, function_of

try:
    import resource
except ImportError:  # other systems
    resource = None  # type: ignore[assignment]

#: Where those begin for which there are too few addresses. It is no address of a process.
_ADDRESS = 1 << 60

#: The most bytes of addresses that are taken for one, by the exponent of two.
_LARGEST = 45

#: What an unknown length counts as: long, and divided by many numbers.
_LONG = 55440


class StandIn(np.ndarray[Any, Any]):
    """An array of which only the layout is of interest."""

    def __repr__(self) -> str:
        return f"StandIn(shape={self.shape}, strides={self.strides}, dtype={self.dtype})"

    __str__ = __repr__


def _are_limited() -> bool:
    """Tell whether the process may have only so many addresses."""
    if resource is None:
        return False
    return resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY


@cache
def _pages(exponent: int) -> mmap.mmap | None:
    """Return pages of zeros that take addresses and no memory, ``None`` if there are none."""
    if exponent > _LARGEST or _are_limited():
        return None
    try:
        private = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        return mmap.mmap(-1, 1 << exponent, flags=private, prot=mmap.PROT_READ)
    except (AttributeError, OSError):  # other systems, and limits of processes
        return None


class _Interface:
    """Describes memory to NumPy."""

    def __init__(self, shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> None:
        self.__array_interface__ = {
            "version": 3,
            "data": (_ADDRESS, False),
            "shape": shape,
            "strides": strides,
            "typestr": f"|V{itemsize}",
        }


def lengths_of(shape: tuple[Size, ...]) -> tuple[int, ...]:
    """Return lengths, those that are unknown as a long one."""
    return tuple(size if isinstance(size, int) else _LONG for size in shape)


def owning(node: Node) -> Any:
    """Return the stand-in of an array of its own memory."""
    shape, dtype = lengths_of(node.shape), node.meta.dtype
    itemsize = dtype.itemsize
    strides = dense_strides(shape, node.memory_order, itemsize)
    size = itemsize * math.prod(max(length, 1) for length in shape)
    raw = _bytes(shape, strides, itemsize, size)
    return raw.view(_without_objects(dtype)) if itemsize else raw


def _without_objects(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return a type with raw bytes in place of objects, so that NumPy follows none of them."""
    if not dtype.hasobject:
        return dtype
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        return np.dtype((_without_objects(base), shape))
    if dtype.fields is None:
        return np.dtype(f"V{dtype.itemsize}")
    columns = [dtype.fields[name] for name in dtype.names or ()]
    record: dict[str, Any] = {
        "names": dtype.names,
        "formats": [_without_objects(column[0]) for column in columns],
        "offsets": [column[1] for column in columns],
        "itemsize": dtype.itemsize,
    }
    without: np.dtype[Any] = np.dtype(record)  # type: ignore[call-overload]
    return without


def _bytes(shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int, size: int) -> StandIn:
    """Return a stand-in whose elements are raw bytes; those of one size begin at one address."""
    pages = _pages(max(12, (size - 1).bit_length()))
    if pages is None:
        return np.asarray(_Interface(shape, strides, itemsize)).view(StandIn)
    return StandIn(shape, f"V{itemsize}", pages, strides=strides)


def gaps_of(array: Any, node: Node) -> Any:
    """Return the stand-in of a view, ``None`` if a new array of its node lies in the same way."""
    strides = dense_strides(array.shape, node.memory_order, array.itemsize)
    steps = zip(array.shape, array.strides, strides, strict=True)
    is_new = not array.size or all(step == own or length == 1 for length, step, own in steps)
    return None if is_new else array


def _fitted(layout: Any, node: Node) -> Any:
    """Return a layout in the lengths, and with the element size, that a node turned out to have."""
    shape, itemsize = lengths_of(node.shape), node.meta.dtype.itemsize or layout.itemsize
    if layout.shape == shape and layout.itemsize == itemsize:
        return layout
    strides = tuple(step // layout.itemsize * itemsize for step in layout.strides)
    elements = _bytes((1,), (itemsize,), itemsize, itemsize)
    return np.lib.stride_tricks.as_strided(elements, shape, strides, subok=True)


def stand_in(node: Node, steps: tuple[ViewStep, ...], layout: Any = None) -> Any:
    """Return the stand-in of what steps show of a node, whose elements may lie in a layout.

    Raises
    ------
    ValueError
        If NumPy's array would be a copy.
    """
    array = owning(node) if layout is None else _fitted(layout, node)
    for step in steps:
        node = step.shown(node)
        array = _seen(array, step, node)
    return array


def _seen(array: Any, step: ViewStep, node: Node) -> Any:
    """Return the stand-in of what a step shows; ``node`` is the step's own."""
    if step.kind is Slice:
        return array[tuple(_key(part) for part in node.taken)]  # type: ignore[attr-defined]
    if step.kind is View:
        return reorder(array, node.axes)  # type: ignore[attr-defined]
    if step.kind is Reshape:
        form = settle(array.shape, node.form)  # type: ignore[attr-defined]
        return array.reshape(form, copy=False)
    if step.kind is SeenAs:
        return array.view(_without_objects(node.dtype))  # type: ignore[attr-defined]
    if step.kind is Broadcast:
        return np.broadcast_to(array, lengths_of(node.shape), subok=True)
    if isinstance(node, Elementwise):
        func = function_of(node)
        if func is named_fields:
            return named_fields(array, dict(node.kwargs)["names"])
        return array.view(dict(node.kwargs)["kind"]) if func is seen_as else func(array)
    if isinstance(node, Take):
        return _diagonal(array, node)
    if isinstance(node, MapBlocks) and node.func is array_field:
        return array_field(array, **(node.kwargs or {}))
    if isinstance(node, MapBlocks):  # windows
        windows = np.lib.stride_tricks.sliding_window_view
        return windows(array, subok=True, **(node.kwargs or {}))
    if isinstance(node, UnknownLengthCall):
        return _called(array, node)
    if isinstance(node, Part):
        return array[node.position]
    return array  # in other chunks


def _called(array: Any, node: UnknownLengthCall) -> Sequence[Any]:
    """Return the stand-ins of what a function shows of an array of unknown lengths."""

    def filled(item: Any) -> Any:
        return array if isinstance(item, ArgumentSlot) else item

    options = {key: filled(item) for key, item in node.kwargs}
    try:
        views = CALLS[node.label](*map(filled, node.args), **options)
    except (KeyError, ValueError):  # of other lengths it may be a view, or a copy
        return [_with_gaps(owning(part)) for part in node.parts()]
    return views if isinstance(views, list | tuple) else [views]


def _with_gaps(array: Any) -> Any:
    """Return the stand-in of a view of which nothing is known: joined axes are no view of it."""
    wider = tuple(length + 1 for length in array.shape)
    strides = dense_strides(wider, None, 2 * array.itemsize)
    return np.lib.stride_tricks.as_strided(array, strides=strides, subok=True)


def _with_type(array: Any, dtype: Any = None, order: str = "C") -> Any:
    del order
    return array if dtype is None else array.view(_without_objects(np.dtype(dtype)))


#: What functions that wait for lengths show of an array.
CALLS: dict[str, Callable[..., Any]] = {
    "array_split": np.array_split,
    "diagonal": np.diagonal,
    "sliding_window_view": partial(np.lib.stride_tricks.sliding_window_view, subok=True),
    "split": np.split,
    "view": _with_type,
}


def _diagonal(array: Any, node: Take) -> Any:
    """Return the stand-in of a diagonal of some axes, which are taken at equal steps."""
    count = len(node.points[0])
    first = [slice(None)] * array.ndim
    for axis, points in zip(node.axes, node.points, strict=True):
        first[axis] = slice(int(points[0]), None) if count else slice(0)
    array = array[tuple(first)]
    form = [
        (array.shape[axis], array.strides[axis])
        for axis in range(array.ndim)
        if axis not in node.axes
    ]
    form.insert(node.place, (count, sum(array.strides[axis] for axis in node.axes)))
    shape, strides = zip(*form, strict=True)
    return np.lib.stride_tricks.as_strided(array, shape, strides, subok=True)


def _key(part: Any) -> Any:
    if isinstance(part, range):
        if not part:
            return slice(0, 0)
        stop = part.start + len(part) * part.step
        return slice(part.start, None if stop < 0 else stop, part.step)
    return slice(part, part + 1 or None) if isinstance(part, int) else part
