"""Other views of a tensor's elements: flat, or their bytes as another type."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from marsdask.core.collection import Collection, collect, rebind, wrap
from marsdask.core.grids.blockwise import map_blocks
from marsdask.core.grids.grid import Grid
from marsdask.core.grids.parts import run_of
from marsdask.core.machine.costs import kernel
from marsdask.core.node import MemoryOrder, Node, PartOf, Taken
from marsdask.core.sizes import Chunks, numbers

from ..chunkwise.rechunk import recut
from ..elementwise.ufuncs import apply
from ..indexing.assigned_values import held
from ..indexing.assignment import into
from ..indexing.getitem import getitem
from ..indexing.inplace import place, resize
from ..indexing.setitem import setitem
from ..operands import as_node, empty, to_change
from ..typing import public, public_view
from ..unknown_lengths import like, waits_for_lengths
from .join import length
from .reshape import ravel, reshape
from .shape import transpose


class Flat:
    """The elements of a tensor in C order; assignments here change the tensor."""

    def __init__(self, tensor: Any) -> None:
        self.base = tensor

    @property
    def _row(self) -> Any:
        """A copy of the elements, in one axis."""
        return collect(ravel.node(self.base))

    def __len__(self) -> int:
        return length(ravel.node(self.base), 0)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._row)

    def __getitem__(self, key: Any) -> Any:
        return wrap(getitem.node(self._row, key))

    def __setitem__(self, key: Any, value: Any) -> None:
        to_change(self.base, "underlying array")
        flat, new = self._row, ravel(held(value, self.base.dtype))
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


@dataclass(frozen=True, eq=False)
class SeenAs(Node):
    """The bytes along the last axis as elements of another size."""

    label: ClassVar[str] = "view"

    a: Node
    dtype: np.dtype[Any]

    @property
    def meta(self) -> Any:
        return empty(self.dtype, len(self.a.chunks))

    @property
    def chunks(self) -> Chunks:
        return self._converted(self.a.chunks)

    @property
    def memory_order(self) -> MemoryOrder:
        return self.a.memory_order

    def _cut(self, chunks: Chunks) -> Chunks:
        """Return chunks of whole elements of both sizes."""
        sizes = numbers(chunks[-1])
        old = self.a.meta.dtype.itemsize
        fits = all(size * old % self.dtype.itemsize == 0 for size in sizes)
        return (*chunks[:-1], sizes if fits else (sum(sizes),))

    def _converted(self, chunks: Chunks) -> Chunks:
        old, new = self.a.meta.dtype.itemsize, self.dtype.itemsize
        splits = self._cut(chunks)
        return (*splits[:-1], tuple(size * old // new for size in numbers(splits[-1])))

    def sliced(self, taken: Taken, part: PartOf) -> Node | None:
        old, new = self.a.meta.dtype.itemsize, self.dtype.itemsize
        if taken[-1] is None or old == new:
            return self.replaced(a=part(self.a, taken))
        run, rest = run_of(taken[-1]) or (None, None)
        if run is None or rest is None:
            return None
        begin, end = run.start * new // old, -(-run.stop * new // old)
        inner = self.replaced(a=part(self.a, (*taken[:-1], range(begin, end))))
        shift = run.start - begin * old // new
        moved = range(rest.start + shift, rest.stop + shift, rest.step)
        return part(inner, (*(None for _ in taken[:-1]), moved))

    def tile(self, a: Grid) -> Grid:
        a = recut(a, self._cut(a.chunks))
        chunks, kwargs = self._converted(a.chunks), {"kind": self.dtype}
        return map_blocks(seen_as, a, chunks=chunks, meta=self.meta, kwargs=kwargs)


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
    result = apply(swap_bytes, a)
    return into(a if inplace else None, result)


@kernel(scratch=0.0)
def swap_bytes(block: Any) -> Any:
    """Reverse each element's bytes."""
    return block.byteswap()


@public_view
@waits_for_lengths(lambda a, dtype, **_: like(a, dtype, unknown=(-1,)))
def view(a: Any, dtype: Any = None, order: Any = "C") -> Node:
    """Return the same bytes as elements of another type. See numpy.ndarray.view.

    With Dask's ``order="F"`` the elements of the first axis are seen as others, not those of the
    last.

    Returns
    -------
    Tensor
        The same bytes.
    """
    if order not in ("C", "F"):
        raise ValueError(f"Order must be one of 'C' or 'F', not {order!r}")
    tensor = as_node(a)
    if dtype is None:
        return tensor
    dtype = np.dtype(dtype)
    if order == "F" and tensor.meta.ndim > 1:
        return transpose.node(as_node(view.node(transpose.node(tensor), dtype)))
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
    return SeenAs(tensor, dtype)
