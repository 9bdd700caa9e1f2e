"""Operands of all tensor families: nodes of collections, and sources of arrays in memory."""

from __future__ import annotations

import math
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, ClassVar, Final

import numpy as np

from marsdask.core.collection import Collection
from marsdask.core.config import options
from marsdask.core.files.places import Place, places_of
from marsdask.core.grids.blockwise import Blockwise, map_blocks, same
from marsdask.core.grids.grid import Grid
from marsdask.core.node import MemoryOrder, Node, SameChunks
from marsdask.core.registry import class_of, register_collection
from marsdask.core.sizes import Chunks, Index, Sizes, borders
from marsdask.core.snapshots.snapshot import frozen_copy, is_frozen, with_own_cells
from marsdask.core.snapshots.tokens import register_token, token

from .chunks import normalize_chunks, regular
from .io.dask_arrays import dask_node, is_dask_array
from .memory_order import order_of
from .sparse.blocks import dense, is_sparse, no_elements, to_csr


@lru_cache(maxsize=256)
def _empty(dtype: np.dtype[Any], ndim: int, text: str) -> Any:
    del text
    return np.zeros((0,) * ndim, dtype)


def empty(dtype: np.dtype[Any], ndim: int) -> Any:
    """Return an empty array (or zero, if it has no axes); equal calls return one object."""
    # Types that compare equal may still differ in metadata and titles.
    plain = dtype.isbuiltin == 1 and dtype.metadata is None
    return _empty(dtype, ndim, "" if plain else f"{dtype}{dtype.metadata}")


def empty_like_kind(meta: Any, dtype: np.dtype[Any], ndim: int) -> Any:
    """Return the meta of another type and number of axes, sparse if ``meta`` is."""
    return sparse_empty(dtype, ndim) if is_sparse(meta) and ndim in (1, 2) else empty(dtype, ndim)


def sparse_empty(dtype: np.dtype[Any], ndim: int) -> Any:
    """Return the meta of sparse blocks, whose collection is that of arrays."""
    meta = no_elements(dtype, ndim)
    register_collection(type(meta), class_of(np.empty(0)))
    return meta


@dataclass(frozen=True)
class SliceAt:
    """Gives each chunk its part of an array in memory, as a view."""

    name: str
    array: Any = field(repr=False)
    chunks: Chunks = field(repr=False)
    lends: bool = False
    """Whether the memory is the user's: what lasts is copied."""

    @property
    def token_name(self) -> str:
        return self.name

    @cached_property
    def _starts(self) -> list[list[int]]:
        return list(map(borders, self.chunks))

    def __call__(self, index: Index) -> tuple[Any]:
        parts = tuple(
            slice(starts[i], starts[i + 1]) for starts, i in zip(self._starts, index, strict=True)
        )
        return (self.array[(*parts, ...)],)  # without axes, it remains an array


@dataclass(frozen=True, eq=False)
class Literal(Node):
    """An array in memory that does not change, with views as chunks (see :func:`literal`)."""

    label: ClassVar[str] = "tensor"

    array: Any = field(repr=False)
    splits: Chunks
    content: str = field(default="", repr=False)
    """The part of the name that stands for the array, unless it is a hash of its bytes."""
    lent: bool = field(default=False, repr=False)
    """Whether the memory is the user's, who has promised to leave it alone."""
    order: MemoryOrder = field(default=None, repr=False)
    """That of the array's axes; pickled arrays may lie in another."""

    @property
    def _content(self) -> str:
        # Cached: reading a large array takes long, and the passes create the node again in other
        # chunks.
        if self.content:
            return self.content
        once = _distinct(self.array)
        return token(once) if once is self.array else token(once, self.array.shape)

    @property
    def name(self) -> str:
        order = () if self.order is None else (self.order,)
        return f"{self.label}-{token(Literal, self._content, self.splits, *order)}"

    @property
    def reads_from(self) -> tuple[Place, ...]:
        return places_of(self.array) if self.lent else ()

    @property
    def meta(self) -> Any:
        kind = sparse_empty if is_sparse(self.array) else empty
        return kind(self.array.dtype, self.array.ndim)

    @property
    def chunks(self) -> Chunks:
        return self.splits

    @property
    def memory_order(self) -> MemoryOrder:
        return self.order

    def tile(self, *inputs: Any) -> Grid:
        del inputs
        varying = SliceAt(self.name, self.array, self.splits, self.lent)
        rule = Blockwise(same, varying=varying, cheap=True)
        return Grid(rule, self.splits, self.meta, _stored_bytes(self.array))

    def regrid(self, new: Mapping[Sizes, Sizes]) -> Node:
        splits = tuple(new.get(sizes, sizes) for sizes in self.splits)
        return self.replaced(splits=splits, content=self._content)


#: Types that NumPy copies to a new array.
_VALUES = (list, tuple, range, bool, int, float, complex, str, bytes)


def literal(array: np.ndarray[Any, Any], splits: Chunks, copy: bool | None = None) -> Literal:
    """Return the node of an array's current values; later writes do not affect it.

    With ``copy=False``, and for a memory map, the memory is shared instead. Its values may change,
    so the node's name is unique.
    """
    if copy is False or (copy is None and _is_mapped(array)):
        view = _frozen(array.view())
        return Literal(view, splits, uuid.uuid4().hex, lent=True, order=order_of(array))
    order, content = order_of(array), ""
    if array.dtype == object:
        array, shares = with_own_cells(array)
        content = uuid.uuid4().hex if shares else ""
    values = array if copy is None and is_frozen(array) else frozen_copy(array)
    return Literal(values, splits, content, order=order)


def _distinct(array: Any) -> Any:
    """Return an array with length one along axes of stride zero."""
    strides = getattr(array, "strides", ())
    if all(strides):
        return array
    return array[(*(slice(None) if stride else slice(1) for stride in strides), ...)]


def _frozen(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    array.flags.writeable = False
    return array


def _bases(array: Any) -> Iterator[Any]:
    """Yield an array and its bases."""
    while array is not None:
        yield array
        array = getattr(array, "base", None)


def _is_mapped(array: Any) -> bool:
    return any(isinstance(base, np.memmap) for base in _bases(array))


@dataclass(frozen=True, eq=False)
class ToDense(SameChunks):
    """The same values in blocks that store every element."""

    input_chunks = "pass"

    fill_value: Any = None

    @property
    def meta(self) -> Any:
        dtype = self.a.meta.dtype
        if self.fill_value is not None:
            dtype = np.result_type(dtype, np.asarray(self.fill_value))
        return empty(dtype, len(self.a.chunks))

    def tile(self, a: Grid) -> Grid:
        kwargs = {"fill_value": self.fill_value}
        return map_blocks(dense, a, chunks=a.chunks, meta=self.meta, kwargs=kwargs)


def as_node(
    obj: Any,
    chunk_size: Any = None,
    *,
    sparse: bool = False,
    dtype: Any = None,
    copy: bool | None = None,
    order: Any = None,
) -> Node:
    """Return the node of a tensor or dask.array, or one that holds what NumPy makes of ``obj``.

    Its blocks are dense unless the caller accepts ``sparse`` ones. ``dtype``, ``copy`` and
    ``order`` apply to objects that are not nodes (see :func:`literal`).
    """
    node = _node_of(obj, chunk_size, dtype, copy, order)
    return node if sparse or not is_sparse(node.meta) else ToDense(node)


def with_complete_type(tensor: Any) -> Any:
    """Return a tensor whose type has every detail: it is computed if only the values tell one.

    Who writes it down needs the width of texts, and the unit of times.
    """
    if isinstance(tensor, Collection) and tensor.node.incomplete:
        return tensor.persist()
    return tensor


#: What NumPy calls an array to whose elements values are assigned.
DESTINATION: Final = "assignment destination"


def to_change(tensor: Any, place: str = DESTINATION) -> Any:
    """Return a tensor that is about to be changed in place, computed if its type lacks a detail.

    What is written to it is cast to its type. One that is read-only is refused before all else;
    ``place`` is what NumPy calls it.
    """
    if isinstance(tensor, Collection) and tensor._view is not None:
        tensor._view.check(place)
    if isinstance(tensor, Collection) and tensor.node.incomplete:
        tensor.execute()
    return tensor


def is_masked(obj: Any) -> bool:
    """Recognise masked arrays, and tensors of them."""
    return isinstance(meta_of(obj), np.ma.MaskedArray)


def meta_of(obj: Any) -> Any:
    """Return the meta of a collection or a node; other objects are returned unchanged."""
    if isinstance(obj, Collection):
        return obj.node.meta
    return obj.meta if isinstance(obj, Node) else obj


def _node_of(obj: Any, chunk_size: Any, dtype: Any, copy: bool | None, order: Any = None) -> Node:
    if isinstance(obj, Collection):
        if is_masked(obj):
            raise NotImplementedError(
                "masked tensors are not supported here; use tensor.ma, x.filled() or x.data"
            )
        # Lazy rows are arrays to functions of tensors.
        return obj.to_tensor().node if obj.handles_ufuncs else obj.node  # type: ignore[attr-defined]
    if isinstance(obj, Node):
        return obj
    if is_dask_array(obj):
        return dask_node(obj)
    if is_sparse(obj):
        return sparse_literal(obj, chunk_size)
    array = as_array(obj, dtype, copy, order)
    return literal(array, normalize_chunks(chunk_size, array.shape, array.dtype), copy)


def as_array(
    obj: Any, dtype: Any = None, copy: bool | None = None, order: Any = None
) -> np.ndarray[Any, Any]:
    """Return NumPy's array of an object, read-only if it is not shared."""
    array = np.asarray(obj, dtype, order, copy=False if copy is False else None)
    ours = type(obj) in _VALUES or isinstance(obj, np.ndarray)
    return _frozen(array) if ours and array is not obj and array.base is None else array


def sparse_literal(obj: Any, chunk_size: Any = None, dtype: Any = None) -> Node:
    """Return the node of a copy of a SciPy sparse array, by default with chunks of rows."""
    array = to_csr(obj.copy(), dtype)
    if chunk_size is None and options.chunk_size is None:
        row = max(1.0, array.nnz * (array.dtype.itemsize + 8) / max(1, array.shape[0]))
        rows = regular(array.shape[0], max(1, int(options.chunk_store_limit / row)))
        return Literal(array, (rows, *((n,) for n in array.shape[1:])))
    return Literal(array, normalize_chunks(chunk_size, array.shape, array.dtype))


def _stored_bytes(array: Any) -> float | None:
    """Return the average bytes of an element, including those that are not stored."""
    if not is_sparse(array):
        return None
    return float(array.nnz * (array.dtype.itemsize + 8) / max(1, math.prod(array.shape)))


def _write_dtype(dtype: np.dtype[Any]) -> str:
    return f"dtype:{dtype.descr if dtype.names else dtype.str}:{dtype.metadata}"


def _write_ufunc(func: np.ufunc) -> str:
    """Name a ufunc by its import path: users may create ufuncs of the same name."""
    if vars(np).get(func.__name__) is func:
        return f"ufunc:numpy.{func.__name__}"
    if vars(np.strings).get(func.__name__) is func:
        return f"ufunc:numpy.strings.{func.__name__}"
    from scipy import special  # heavy, and usually imported with the ufunc

    if vars(special).get(func.__name__) is func:
        return f"ufunc:scipy.special.{func.__name__}"
    return f"unique:{uuid.uuid4().hex}"


for _kind in {type(np.dtype(code)) for code in np.typecodes["All"]}:
    register_token(_kind, _write_dtype)
register_token(np.ufunc, _write_ufunc)
