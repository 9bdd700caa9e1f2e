"""Tensors from nothing: constants and ranges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from marsdask.core.chunk import Grid
from marsdask.core.collection import wrap
from marsdask.core.node import Node
from marsdask.core.shapes import blockwise
from marsdask.core.types import Chunks, Index, Sizes
from .chunks import normalize_chunks


@dataclass(frozen=True)
class ShapeAt:
    """Gives each chunk its shape."""

    chunks: Chunks

    def __call__(self, index: Index) -> tuple[tuple[Any, ...]]:
        return (tuple(sizes[i] for sizes, i in zip(self.chunks, index, strict=True)),)


@dataclass(frozen=True, eq=False)
class Full(Node):
    """A constant array."""

    fill: Any
    dtype: np.dtype[Any]
    splits: Chunks

    @cached_property
    def meta(self) -> Any:  # type: ignore[override]
        return np.empty((0,) * len(self.splits), self.dtype)

    @property
    def chunks(self) -> Chunks:
        return self.splits

    def tile(self, *inputs: Any) -> Grid:
        del inputs
        kwargs = {"fill_value": self.fill, "dtype": self.dtype}
        return blockwise(
            np.full,
            [],
            chunks=self.splits,
            meta=self.meta,
            kwargs=kwargs,
            varying=ShapeAt(self.splits),
            cheap=True,
        )

    def regrid(self, new: Mapping[Sizes, Sizes]) -> Node:
        return self.replaced(splits=tuple(new.get(sizes, sizes) for sizes in self.splits))


def full(shape: Any, fill_value: Any, dtype: Any = None, chunk_size: Any = None) -> Any:
    """Return a tensor filled with a scalar."""
    dtype = np.dtype(dtype) if dtype is not None else np.asarray(fill_value).dtype
    splits = normalize_chunks(chunk_size, shape, dtype)
    return wrap(Full(fill_value, dtype, splits))


def ones(shape: Any, dtype: Any = None, chunk_size: Any = None) -> Any:
    """Return a tensor of ones."""
    return full(shape, 1, dtype or np.float64, chunk_size)
