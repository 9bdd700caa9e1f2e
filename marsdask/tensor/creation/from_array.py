"""Tensors over arrays, by Dask's name, and copies of tensors."""

from __future__ import annotations

from typing import Any

from marsdask.core.node import Node

from ..chunks import check_order
from ..operands import as_node
from ..typing import public
from .from_data import array


@public
def from_array(x: Any, chunks: Any = "auto", name: Any = None, **hints: Any) -> Node:
    """Return a tensor over an array; see dask.array.from_array.

    ``name``, ``lock``, ``asarray``, ``fancy``, ``getitem``, ``meta`` and ``inline_array`` are taken
    and change nothing: names come from the values, and blocks are NumPy's.
    """
    unknown = hints.keys() - {"lock", "asarray", "fancy", "getitem", "meta", "inline_array"}
    if unknown:
        raise TypeError(f"unexpected keyword argument {min(unknown)!r}")
    del name
    return array.node(x, chunk_size=chunks)


@public
def copy(a: Any, order: str = "K", subok: bool = False) -> Node:
    """Return a tensor of the same values that in-place changes of ``a`` do not reach.

    See numpy.copy. How blocks lie in memory is for kernels to choose.
    """
    del subok
    check_order(order)
    return as_node(a, sparse=True)
