"""Tensors over arrays, by Dask's name, copies of tensors, and what lies in memory as required."""

from __future__ import annotations

from typing import Any

from marsdask.core.collection import Collection
from marsdask.core.display.suggestions import check_keywords
from marsdask.core.node import Node

from ..manipulation.reshape import reshape
from ..memory_order import in_order_of, letter_of
from ..operands import as_node
from ..typing import itself, public
from .from_data import array, asarray

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
    x: Any, chunks: Any = "auto", name: Any = None, *, copy: bool | None = None, **hints: Any
) -> Node:
    """Return a tensor over an array; see dask.array.from_array.

    ``name``, ``lock``, ``asarray``, ``fancy``, ``getitem``, ``meta`` and ``inline_array`` have no
    effect. Names depend on the values, and blocks are NumPy arrays.

    Parameters
    ----------
    x : array_like
        A NumPy array, or what has a shape, a dtype and takes slices, such as an h5py dataset.
    chunks : int, str, tuple or dict
        The sizes of chunks; "auto" chooses them.
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
    check_keywords(hints, {"lock", "asarray", "fancy", "getitem", "meta", "inline_array"})
    del name
    return array.node(x, chunk_size=chunks, copy=copy)


@public
def copy(a: Any, order: str = "K", subok: bool = False) -> Node:
    """Return a tensor of the same values that in-place changes of ``a`` do not affect.

    See numpy.copy.
    """
    del subok
    return in_order_of(as_node(a, sparse=True), letter_of(order, a))


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
    wanted = {_REQUIREMENTS[item.upper()] for item in requirements or ()}
    if {"C", "F"} <= wanted:
        raise ValueError('Cannot specify both "C" and "F" order')
    order = "C" if "C" in wanted else "F" if "F" in wanted else "K"
    found: Any = asarray.node(a, dtype, order, chunk_size)
    if not isinstance(found, Collection):
        return as_node(found)
    tensor: Any = found
    lacks = ("O" in wanted and not tensor.flags.owndata) or (
        "W" in wanted and not tensor.flags.writeable
    )
    return copy.node(tensor, order) if lacks else itself(tensor)


@public
def asfortranarray(a: Any, dtype: Any = None, chunk_size: Any = None) -> Node:
    """Return a tensor of at least one axis, in Fortran order. See numpy.asfortranarray."""
    tensor: Any = asarray.node(a, dtype, "F", chunk_size)
    node = as_node(tensor)
    return tensor if node.meta.ndim else reshape.node(node, 1)
