"""The Tensor: a lazy array."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from marsdask.core.collection import Collection, register_collection
from marsdask.core.stored import Stored
from marsdask.core.types import numbers, public

from . import elementwise, reduce
from .rechunk import rechunk


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
    def _assemble(cls, stored: Stored, blocks: dict[Any, Any]) -> Any:
        chunks = stored.result.layout.chunks
        if len(blocks) == 1:
            (block,) = blocks.values()
            return block[()] if stored.chunks == () else block
        starts = [[0, *itertools.accumulate(numbers(sizes))] for sizes in chunks]
        out = np.empty(tuple(start[-1] for start in starts), dtype=stored.meta.dtype)
        for index, block in blocks.items():
            place = tuple(
                slice(start[position], start[position + 1])
                for start, position in zip(starts, index, strict=True)
            )
            out[place] = block
        return out

    __add__ = method(elementwise.add)
    sum = method(reduce.sum)
    rechunk = method(rechunk)


register_collection(np.ndarray, Tensor)
