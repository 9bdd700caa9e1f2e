"""What every tensor family needs: operands as nodes, arrays in memory as sources."""

from __future__ import annotations

import math
import sys
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, ClassVar

import numpy as np

from marsdask.core.chunk import Grid
from marsdask.core.collection import Collection
from marsdask.core.config import options
from marsdask.core.families import class_of, register_collection
from marsdask.core.node import Node
from marsdask.core.shapes import Blockwise, map_blocks, same
from marsdask.core.tokens import register_token, token
from marsdask.core.types import Chunks, Index, Sizes, borders

from .chunks import normalize_chunks, regular
from .compressed import compressed, dense, is_sparse, no_elements
from .exchange import dask_node, is_dask_array


@lru_cache(maxsize=256)
def _empty(dtype: np.dtype[Any], ndim: int, text: str) -> Any:
    del text
    return np.zeros((0,) * ndim, dtype)


def empty(dtype: np.dtype[Any], ndim: int) -> Any:
    """Return an array without elements (of zeros, if it has no axes), always the same one."""
    # Types that compare equal may still differ in their text: metadata, titles.
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

    lends: ClassVar[bool] = True
    """What lasts is copied: the array is the user's."""
    name: str
    array: Any = field(repr=False)
    chunks: Chunks = field(repr=False)

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
        return (self.array[(*parts, ...)],)  # without axes it is an array still


@dataclass(frozen=True, eq=False)
class Literal(Node):
    """An array in memory, its chunks views of it."""

    array: Any = field(repr=False)
    splits: Chunks
    content: str = field(default="", repr=False)
    """What the name says of the array, if not all its bytes."""

    @cached_property
    def _content(self) -> str:
        # Told once: reading a large array takes long, and the passes make it anew in other chunks.
        return self.content or token(self.array)

    @cached_property
    def name(self) -> str:
        return f"{self.label}-{token(Literal, self._content, self.splits)}"

    @property
    def label(self) -> str:
        return "tensor"

    @cached_property
    def meta(self) -> Any:
        kind = sparse_empty if is_sparse(self.array) else empty
        return kind(self.array.dtype, self.array.ndim)

    @property
    def chunks(self) -> Chunks:
        return self.splits

    def tile(self, *inputs: Any) -> Grid:
        del inputs
        varying = SliceAt(self.name, self.array, self.splits)
        rule = Blockwise(same, varying=varying, cheap=True)
        return Grid(rule, self.splits, self.meta, _stored_bytes(self.array))

    def stands_for(self, other: Node) -> bool:
        # The array is the user's: what it held when it was named, it may hold no longer.
        assert isinstance(other, Literal)
        if _memory(self.array) == _memory(other.array):
            return True
        return not self.content and token(self.array) == other._content

    def regrid(self, new: Mapping[Sizes, Sizes]) -> Node:
        splits = tuple(new.get(sizes, sizes) for sizes in self.splits)
        return self.replaced(splits=splits, content=self._content)


def _memory(array: Any) -> Any:
    """Return where the elements lie."""
    found = getattr(array, "__array_interface__", None)
    return id(array) if found is None else (found["data"], found["strides"])


@dataclass(frozen=True, eq=False)
class Densified(Node):
    """The same values in blocks that store every element."""

    input_chunks = "pass"

    a: Node
    fill_value: Any = None

    @cached_property
    def meta(self) -> Any:
        dtype = self.a.meta.dtype
        if self.fill_value is not None:
            dtype = np.result_type(dtype, np.asarray(self.fill_value))
        return empty(dtype, len(self.a.chunks))

    @property
    def chunks(self) -> Chunks:
        return self.a.chunks

    def tile(self, a: Grid) -> Grid:
        kwargs = {"fill_value": self.fill_value}
        return map_blocks(dense, a, chunks=a.chunks, meta=self.meta, kwargs=kwargs)


def as_node(obj: Any, chunk_size: Any = None, *, sparse: bool = False) -> Node:
    """Return the node of a tensor or dask.array, or one that holds what NumPy makes of ``obj``.

    Its blocks are dense unless the caller says that it can do with ``sparse`` ones.
    """
    node = _node_of(obj, chunk_size)
    return node if sparse or not is_sparse(node.meta) else Densified(node)


def _node_of(obj: Any, chunk_size: Any) -> Node:
    if isinstance(obj, Collection):
        if getattr(obj, "is_masked", False):
            raise NotImplementedError(
                "this does not know masks: see what tensor.ma has, or take filled() or .data"
            )
        return obj.node
    if isinstance(obj, Node):
        return obj
    if is_dask_array(obj):
        return dask_node(obj)
    if is_sparse(obj):
        return sparse_literal(obj, chunk_size)
    array = np.asarray(obj)
    splits = normalize_chunks(chunk_size, array.shape, array.dtype)
    return Literal(array, splits)


def sparse_literal(obj: Any, chunk_size: Any = None, dtype: Any = None) -> Node:
    """Return the node of one of SciPy's sparse arrays, cut along its rows if nothing is said."""
    array = compressed(obj, dtype)
    if chunk_size is None and options.chunk_size is None:
        row = max(1.0, array.nnz * (array.dtype.itemsize + 8) / max(1, array.shape[0]))
        rows = regular(array.shape[0], max(1, int(options.chunk_store_limit / row)))
        return Literal(array, (rows, *((n,) for n in array.shape[1:])))
    return Literal(array, normalize_chunks(chunk_size, array.shape, array.dtype))


def _stored_bytes(array: Any) -> float | None:
    """Return the bytes of an element, on the average of those that are not stored too."""
    if not is_sparse(array):
        return None
    return float(array.nnz * (array.dtype.itemsize + 8) / max(1, math.prod(array.shape)))


def _write_dtype(dtype: np.dtype[Any]) -> str:
    return f"dtype:{dtype.descr if dtype.names else dtype.str}:{dtype.metadata}"


def _write_ufunc(func: np.ufunc) -> str:
    """Name a ufunc by where it is found: users make their own, and name them alike."""
    for place in ("numpy", "scipy.special"):
        if getattr(sys.modules.get(place), func.__name__, None) is func:
            return f"ufunc:{place}.{func.__name__}"
    return f"unique:{uuid.uuid4().hex}"


for _kind in {type(np.dtype(code)) for code in np.typecodes["All"]}:
    register_token(_kind, _write_dtype)
register_token(np.ufunc, _write_ufunc)
