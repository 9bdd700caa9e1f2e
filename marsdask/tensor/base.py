"""What every tensor family needs: operands as nodes, arrays in memory as sources."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from marsdask.core.chunk import Grid
from marsdask.core.collection import Collection
from marsdask.core.node import Node
from marsdask.core.shapes import Blockwise, same
from marsdask.core.tokens import register_token, token
from marsdask.core.types import Chunks, Index, Sizes, numbers

from .chunks import normalize_chunks
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


@dataclass(frozen=True)
class SliceAt:
    """Gives each chunk its part of an array in memory, as a view."""

    name: str
    array: Any = field(repr=False)
    chunks: Chunks = field(repr=False)

    @property
    def token_name(self) -> str:
        return self.name

    @cached_property
    def _starts(self) -> list[list[int]]:
        return [[0, *itertools.accumulate(numbers(sizes))] for sizes in self.chunks]

    def __call__(self, index: Index) -> tuple[Any]:
        parts = tuple(
            slice(starts[i], starts[i + 1]) for starts, i in zip(self._starts, index, strict=True)
        )
        return (self.array[parts],)


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
        return empty(self.array.dtype, self.array.ndim)

    @property
    def chunks(self) -> Chunks:
        return self.splits

    def tile(self, *inputs: Any) -> Grid:
        del inputs
        varying = SliceAt(self.name, self.array, self.splits)
        return Grid(Blockwise(same, varying=varying, cheap=True), self.splits, self.meta)

    def regrid(self, new: Mapping[Sizes, Sizes]) -> Node:
        splits = tuple(new.get(sizes, sizes) for sizes in self.splits)
        return self.replaced(splits=splits, content=self._content)


def as_node(obj: Any, chunk_size: Any = None) -> Node:
    """Return the node of a tensor or dask.array, or one that holds what NumPy makes of ``obj``."""
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
    array = np.asarray(obj)
    splits = normalize_chunks(chunk_size, array.shape, array.dtype)
    return Literal(array, splits)


def _write_dtype(dtype: np.dtype[Any]) -> str:
    return f"dtype:{dtype.descr if dtype.names else dtype.str}:{dtype.metadata}"


def _write_ufunc(func: np.ufunc) -> str:
    return f"ufunc:{func.__name__}"


for _kind in {type(np.dtype(code)) for code in np.typecodes["All"]}:
    register_token(_kind, _write_dtype)
register_token(np.ufunc, _write_ufunc)
