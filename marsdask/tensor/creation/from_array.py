"""Tensors over arrays, by Dask's name, copies of tensors, and what lies in memory as required."""

from __future__ import annotations

from typing import Any

import numpy as np

from marsdask.core.collection import Collection
from marsdask.core.display.suggestions import check_keywords
from marsdask.core.node import Node

from ..manipulation.reshape import reshape
from ..memory_order import in_order_of, letter_of
from ..operands import as_node
from ..typing import itself, public
from .from_data import array, asarray, read_lazily

#: NumPy's names of what can be required of an array.
_REQUIREMENTS = {
    **dict.fromkeys(("C", "C_CONTIGUOUS", "CONTIGUOUS"), "C"),
    **dict.fromkeys(("F", "F_CONTIGUOUS", "FORTRAN"), "F"),
    **dict.fromkeys(("A", "ALIGNED"), "A"),
    **dict.fromkeys(("W", "WRITEABLE"), "W"),
    **dict.fromkeys(("O", "OWNDATA"), "O"),
    **dict.fromkeys(("E", "ENSUREARRAY"), "E"),
}


@public
def from_array(
    x: Any,
    chunks: Any = "auto",
    name: Any = None,
    lock: Any = False,
    *,
    getitem: Any = None,
    copy: bool | None = None,
    **hints: Any,
) -> Node:
    """Return a tensor over an array; see dask.array.from_array.

    ``name``, ``asarray``, ``fancy``, ``meta`` and ``inline_array`` have no effect. Names depend on
    the values, and blocks are NumPy arrays.

    Parameters
    ----------
    x : array_like
        A NumPy array, or what has a shape, a dtype and takes slices, such as an h5py dataset. What
        NumPy makes no array of is read chunk by chunk when it is computed.
    chunks : int, str, tuple or dict
        The sizes of chunks; "auto" chooses them.
    lock : bool or lock
        A lock that is held while a chunk is read; True makes one.
    getitem : callable, optional
        What is called with the object and slices in place of ``x[slices]``. It is not used for
        NumPy arrays.
    copy : bool, optional
        Whether to copy an array, as for :func:`tensor`. ``copy=False`` shares it: no operation
        writes to it, but the array itself stays writeable. Leave it as it is while the tensor is in
        use.
    name, **hints : optional
        Have no effect.

    Returns
    -------
    Tensor
        A tensor over the array.

    Raises
    ------
    TypeError
        If a keyword is unknown.

    Examples
    --------
    >>> mt.from_array(np.arange(6), chunks=4).chunks
    ((4, 2),)
    """
    check_keywords(hints, {"asarray", "fancy", "meta", "inline_array"})
    del name
    plain = isinstance(x, Collection | np.ndarray) or not hasattr(x, "shape")
    if (lock and not isinstance(x, Collection)) or (
        not plain and (getitem is not None or _only_slices(x))
    ):
        source = x if hasattr(x, "shape") else np.asarray(x)
        return read_lazily(source, chunks, None if plain else getitem, lock)
    return array.node(x, chunk_size=chunks, copy=copy)


def _only_slices(x: Any) -> bool:
    """Tell whether NumPy would call an object with a shape once for each of its items."""
    reads = ("__array__", "__array_interface__", "__array_struct__", "__buffer__", "todense")
    return hasattr(x, "__getitem__") and not any(hasattr(x, word) for word in reads)


@public
def copy(a: Any, order: str = "K", subok: bool = False) -> Node:
    """Return a tensor of the same values that in-place changes of ``a`` do not affect.

    See numpy.copy.
    """
    del subok
    return in_order_of(as_node(a, sparse=True), letter_of(order, a), a)


@public
def copied_in_c(a: Any, order: str = "C") -> Node:
    """Return a tensor of the same values that in-place changes of it do not affect.

    See numpy.ndarray.copy.

    Returns
    -------
    Tensor
        A new tensor, in C order unless another one is asked for.
    """
    return copy.node(a, order)


@public
def ascontiguousarray(a: Any, dtype: Any = None, chunk_size: Any = None) -> Node:
    """Return a tensor of at least one axis, in C order. See numpy.ascontiguousarray."""
    tensor: Any = asarray.node(a, dtype, "C", chunk_size)
    node = as_node(tensor)
    return tensor if node.meta.ndim else reshape.node(node, 1)


@public
def require(a: Any, dtype: Any = None, requirements: Any = None, chunk_size: Any = None) -> Node:
    """Return a tensor that meets requirements on memory. See numpy.require.

    Parameters
    ----------
    a : array_like
        What to make a tensor of.
    dtype : dtype, optional
        The element type.
    requirements : str or list of str, optional
        NumPy's names: "C" and "F" ask for an order, "O" and "W" for a copy of what is shown of
        another tensor or is read-only. The others hold anyway.
    chunk_size : int, tuple or dict, optional
        The sizes of chunks.

    Returns
    -------
    Tensor
        The tensor itself, or a copy.

    Raises
    ------
    ValueError
        If both orders are required.

    Examples
    --------
    >>> mt.require(mt.ones((2, 3)), requirements="F").flags.f_contiguous
    True
    """
    flags = {_REQUIREMENTS[item.upper()] for item in requirements or ()}
    if {"C", "F"} <= flags:
        raise ValueError('Cannot specify both "C" and "F" order')
    order = "C" if "C" in flags else "F" if "F" in flags else "K"
    result: Any = asarray.node(a, dtype, order, chunk_size)
    if not isinstance(result, Collection):
        return as_node(result)
    tensor: Any = result
    lacks = ("O" in flags and not tensor.flags.owndata) or (
        "W" in flags and not tensor.flags.writeable
    )
    return copy.node(tensor, order) if lacks else itself(tensor)


@public
def asfortranarray(a: Any, dtype: Any = None, chunk_size: Any = None) -> Node:
    """Return a tensor of at least one axis, in Fortran order. See numpy.asfortranarray."""
    tensor: Any = asarray.node(a, dtype, "F", chunk_size)
    node = as_node(tensor)
    return tensor if node.meta.ndim else reshape.node(node, 1)
