"""Orders by several keys, sorted complex numbers, and trimmed zeros."""

from __future__ import annotations

from typing import Any

import numpy as np

from marsdask.core.collection import wrap
from marsdask.core.node import Node

from ..elementwise.ufuncs import astype, greater, not_equal
from ..indexing.getitem import getitem
from ..manipulation.diagonals import take_along_axis
from ..manipulation.join import flip
from ..manipulation.shape import normalize_axes, normalize_axis
from ..operands import as_node
from ..reduction.reductions import any as any_true
from ..scan.cumulative import cumsum
from ..typing import public, view_face
from .sort import argsort, sort


@public
def lexsort(keys: Any, axis: int = -1) -> Node:
    """Return the positions that sort by several keys, the last one first. See numpy.lexsort."""
    tensors = [wrap(as_node(key)) for key in keys]
    if not tensors:
        raise TypeError("need sequence of keys with len > 0 in lexsort")
    if len({key.shape for key in tensors}) > 1:
        raise ValueError("all keys need to be the same shape")
    if tensors[0].ndim == 0:
        raise NotImplementedError("lexsort() of scalars is not supported; use keys of one element")
    axis = normalize_axis(axis, tensors[0].ndim)
    order = argsort.node(tensors[0], axis)
    for key in tensors[1:]:
        # Each sort keeps the order of equal elements.
        then = argsort.node(take_along_axis.node(key, order, axis), axis)
        order = take_along_axis.node(order, then, axis)
    return order


@public
def sort_complex(a: Any) -> Any:
    """Return the elements as complex numbers, sorted. See numpy.sort_complex."""
    tensor = as_node(a)
    if tensor.meta.dtype.kind == "c":
        return sort.node(tensor)
    kinds = {**dict.fromkeys("bhBH", np.complex64), "g": np.clongdouble}
    tensor = astype.node(tensor, kinds.get(tensor.meta.dtype.char, np.complex128))
    return sort.node(tensor)


@view_face(writes="untraced")
def trim_zeros(filt: Any, trim: str = "fb", axis: Any = None) -> Node:
    """Remove the zeros at the ends of axes. See numpy.trim_zeros.

    The lengths are unknown until executed. Differs from NumPy: the result does not change with
    ``filt``, and a write to it raises, since it is no view.
    """
    if trim.lower() not in ("f", "b", "fb", "bf"):
        raise ValueError(f"unexpected character(s) in `trim`: {trim!r}")
    result = as_node(filt)
    axes = range(result.meta.ndim) if axis is None else normalize_axes(axis, result.meta.ndim)
    # Of objects only those that equal the number are trimmed: neither None nor empty texts.
    zero = 0 if result.meta.dtype.hasobject else np.zeros((), result.meta.dtype)
    for place in axes:
        other_axes = tuple(i for i in range(result.meta.ndim) if i != place)
        has_values = any_true.node(not_equal.node(result, zero), axis=other_axes)
        mask = None
        if "f" in trim.lower():
            mask = cumsum(astype.node(has_values, np.intp)) > 0
        if "b" in trim.lower():
            end = flip(greater.node(cumsum.node(astype.node(flip.node(has_values), np.intp)), 0))
            mask = end if mask is None else mask & end
        result = getitem.node(result, (slice(None),) * place + (mask,))
    return result
