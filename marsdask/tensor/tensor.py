"""The Tensor: a lazy array."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from marsdask.core.chunk import Grid
from marsdask.core.collection import Collection, register_collection
from marsdask.core.types import Chunks, Index, public

from . import blocks, elementwise, reduce
from .rechunk import rechunk, recut


def method(func: Callable[..., Any]) -> Any:
    """Return a function of a tensor as a method."""

    def call(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        return func(self, *args, **kwargs)

    call.__name__ = func.__name__
    call.__doc__ = func.__doc__
    return call


class Tensor(Collection):
    """A lazy n-dimensional array over chunks; NumPy's vocabulary, Mars's and Dask's verbs."""

    __slots__ = ()
    __array_priority__ = 20

    @property
    def dtype(self) -> np.dtype[Any]:
        """The element type."""
        dtype: np.dtype[Any] = self._node.meta.dtype
        return dtype

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self._node.chunks)

    @property
    def shape(self) -> tuple[int | float, ...]:
        """The length of each axis; nan where only running can tell."""
        return tuple(map(public, self._node.shape))

    @property
    def chunks(self) -> tuple[tuple[int | float, ...], ...]:
        """The logical chunk sizes along each axis."""
        return tuple(tuple(map(public, sizes)) for sizes in self._node.chunks)

    @classmethod
    def _assemble(cls, parts: Mapping[Index, Any], meta: Any, *, owned: bool) -> Any:
        return blocks.assemble(parts, meta, owned=owned)

    @classmethod
    def _recut(cls, grid: Grid, chunks: Chunks) -> Grid:
        return recut(grid, chunks)

    to_numpy = Collection.to_object

    __add__ = method(elementwise.add)
    sum = method(reduce.sum)
    rechunk = method(rechunk)


register_collection(np.ndarray, Tensor)

