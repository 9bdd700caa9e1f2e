"""Other views of a tensor's elements: flat, or their bytes as another type."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from marsdask.core.collection import Collection, rebind
from marsdask.core.compilation.costs import kernel
from marsdask.core.node import Node

from ..chunkwise.map_blocks import map_blocks
from ..chunkwise.rechunk import rechunk
from ..elementwise.ufuncs import apply
from ..indexing.assignment import into
from ..indexing.inplace import place, resize
from ..indexing.setitem import setitem
from ..operands import as_node
from ..typing import public
from ..unknown_lengths import like, waits_for_lengths
from .join import length
from .reshape import ravel, reshape


class Flat:
    """The elements of a tensor in C order; assignments here change the tensor."""

    def __init__(self, tensor: Any) -> None:
        self.base = tensor

    def __len__(self) -> int:
        return length(ravel(self.base).node, 0)

    def __iter__(self) -> Iterator[Any]:
        return iter(ravel(self.base))

    def __getitem__(self, key: Any) -> Any:
        return ravel(self.base)[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        flat, new = ravel(self.base), ravel(value)
        if isinstance(key, Collection) and key.node.meta.dtype == np.bool_:
            place(flat, key, new.astype(flat.dtype))
        else:
            if length(new.node, 0) > 1:
                part = flat[key]
                new = resize(new, part.shape) if part.ndim else new[0]
            setitem(flat, key, new)
        whole = flat if self.base.ndim == 1 else reshape(flat, self.base.shape)
        rebind(self.base, as_node(whole))


def set_flat(a: Any, value: Any) -> None:
    """Assign values, repeated as often as needed, to the elements in C order."""
    Flat(a)[:] = value


@kernel(scratch=1.0, shares=True)
def seen_as(block: Any, kind: Any) -> Any:
    """Return a block's bytes as elements of another type."""
    if block.dtype.itemsize == kind.itemsize:
        return block.view(kind)
    shape = (*block.shape[:-1], block.shape[-1] * block.dtype.itemsize // kind.itemsize)
    return np.ascontiguousarray(block).view(kind).reshape(shape)


@public
def byteswap(a: Any, inplace: bool = False) -> Node:
    """Reverse each element's bytes. See numpy.ndarray.byteswap."""
    swapped = apply(swap_bytes, a)
    return into(a if inplace else None, swapped)


@kernel(scratch=0.0)
def swap_bytes(block: Any) -> Any:
    """Reverse each element's bytes."""
    return block.byteswap()


@public
@waits_for_lengths(lambda a, dtype, **_: like(a, dtype, unknown=(-1,)))
def view(a: Any, dtype: Any = None, order: Any = "C") -> Node:
    """Return the same bytes as elements of another type. See numpy.ndarray.view.

    Differs from NumPy: changes of one tensor do not affect the other.

    Returns
    -------
    Tensor
        The same bytes.
    """
    del order
    tensor = as_node(a)
    if dtype is None:
        return tensor
    dtype = np.dtype(dtype)
    old, new = tensor.meta.dtype.itemsize, dtype.itemsize
    if old == new:
        return apply(seen_as, tensor, kind=dtype)
    if not tensor.meta.ndim:
        raise ValueError("changing the dtype of a 0d array is only supported if itemsize is equal")
    last = length(tensor, tensor.meta.ndim - 1)
    if last * old % new:
        raise ValueError(
            "the last axis must be of a multiple of the new type's size to change the dtype"
        )
    sizes = tensor.chunks[-1]
    if any(size * old % new for size in sizes):
        tensor = rechunk.node(tensor, {tensor.meta.ndim - 1: -1})
        sizes = tensor.chunks[-1]
    chunks = (*tensor.chunks[:-1], tuple(size * old // new for size in sizes))
    return map_blocks.node(seen_as, tensor, kind=dtype, dtype=dtype, chunks=chunks)
