"""The Tensor: a lazy array."""

from __future__ import annotations

from typing import Any

import numpy as np

from marsdask.core.collection import Collection, register_collection
from marsdask.core.node import Node
from marsdask.core.stored import Stored
from marsdask.core.tokens import register_token
from marsdask.core.types import public


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
        out = np.empty(tuple(map(sum, chunks)), dtype=stored.meta.dtype)  # type: ignore[arg-type]
        starts = [np.cumsum([0, *sizes]) for sizes in chunks]
        for index, block in blocks.items():
            place = tuple(
                slice(start[position], start[position + 1])
                for start, position in zip(starts, index, strict=True)
            )
            out[place] = block
        return out


def node_of(obj: Any) -> Node:
    """Return the node of a tensor."""
    node: Node = obj.node
    return node


def _write_dtype(dtype: np.dtype[Any]) -> str:
    return f"dtype:{dtype.descr if dtype.names else dtype.str}:{dtype.metadata}"


register_collection(np.ndarray, Tensor)
for _kind in {type(np.dtype(code)) for code in np.typecodes["All"]}:
    register_token(_kind, _write_dtype)
register_token(np.ufunc, lambda func: f"ufunc:{func.__name__}")
