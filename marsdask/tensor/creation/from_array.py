"""Tensors over arrays, by Dask's name, and copies of tensors."""

from __future__ import annotations

from typing import Any

from marsdask.core.display.suggestions import check_keywords
from marsdask.core.node import Node

from ..chunks import check_order
from ..operands import as_node
from ..typing import public
from .from_data import array


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

    See numpy.copy. Kernels choose the memory order of blocks.
    """
    del subok
    check_order(order)
    return as_node(a, sparse=True)
