"""Blocks that compute only the parts that are read, a tile at a time."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

import numpy as np

from ..sparse.blocks import dense
from .duck_arrays import as_array

Tile = tuple[slice, ...]


class LazyBlock:
    """An array that tiled kernels index; all other functions convert it to an array.

    Tiles along an axis are read in order. A part is valid until the next one is read.
    """

    __slots__ = ("_whole", "borders", "dtype", "shape", "strides")

    def __init__(self, shape: tuple[int, ...], dtype: Any, strides: tuple[int, ...]) -> None:
        self.shape = shape
        self.dtype = np.dtype(dtype)
        self.strides = strides
        """Those of what it is made of: they tell the order of the axes in memory."""
        self.borders: list[list[int]] | None = None
        """For each axis where a tile had better end, from 0 to the length."""
        self._whole: Any = None

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    def read(self, tile: Tile) -> Any:
        """Return the part for slices of step one, with or without bounds."""
        raise NotImplementedError(f"{type(self).__name__} declares no read")

    def shuffled(self, axes: Collection[int]) -> LazyBlock:
        """Return the same elements in any order along each of these axes."""
        del axes
        return self

    def __getitem__(self, key: Any) -> Any:
        if self._whole is None and isinstance(key, tuple) and len(key) == len(self.shape):
            pairs = zip(key, self.shape, strict=True)
            return self.read(tuple(slice(*part.indices(length)[:2]) for part, length in pairs))
        return np.asarray(self)[key]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        if self._whole is None:
            self._whole = self.read(tuple(slice(0, length) for length in self.shape))
        return np.asarray(self._whole, dtype) if not copy else np.array(self._whole, dtype)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(np.asarray(self), name)


def as_block(block: Any) -> Any:
    """Return a block as an array, unless tiles can be read from it."""
    return block if isinstance(block, LazyBlock) else as_array(dense(block))
