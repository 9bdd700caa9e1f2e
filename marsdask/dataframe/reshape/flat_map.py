"""Rows that become several rows, each in its place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from marsdask.core.grids.grid import Grid
from marsdask.core.node import Columns, Node
from marsdask.core.sizes import Chunks, Size, Sizes, unknown_sizes
from marsdask.core.snapshots.functions import function_name

from ..nodes.frame_node import FrameNode
from ..reduction.reductions import collection_of
from ..schemas.schema import types_of


@dataclass(frozen=True, eq=False)
class FlatMap(FrameNode):
    """``func`` of each chunk: each row becomes some rows, in the order of the rows."""

    a: Node
    func: Callable[..., Any]
    kwargs: tuple[tuple[str, Any], ...]
    times: int | None
    """How many rows each row becomes, ``None`` if only values tell."""
    read: tuple[Any, ...] | None = None
    """The columns that the function reads besides those that the result has."""

    @property
    def label(self) -> str:
        return function_name(self.func)

    @property
    def meta(self) -> Any:
        return types_of(self, lambda: self.func(self.a.meta, **dict(self.kwargs)))

    @property
    def chunks(self) -> Chunks:
        return (self._sizes(self.a.chunks[0]),)

    def _sizes(self, sizes: Sizes) -> Sizes:
        if self.times is None or not all(isinstance(size, int) for size in sizes):
            return unknown_sizes(self.name, [None] * len(sizes))
        return tuple(self._size(size) for size in sizes)

    def _size(self, size: Size) -> Size:
        return size * self.times if isinstance(size, int) and self.times is not None else size

    def requires(self, wanted: Columns) -> tuple[Columns, ...]:
        if wanted is None or self.read is None:
            return (None,)
        return (wanted | frozenset(self.read),)

    def tile(self, a: Grid) -> Grid:
        return self.mapped(self.func, a, chunks=(self._sizes(a.chunks[0]),), kwargs=self._options)

    @property
    def _options(self) -> dict[str, Any]:
        return dict(self.kwargs)


def flat_map(
    func: Callable[..., Any],
    obj: Any,
    *,
    times: int | None = None,
    read: tuple[Any, ...] | None = None,
    **kwargs: Any,
) -> Any:
    """Return the rows that a function makes of each row, as a lazy operation."""
    return collection_of(FlatMap(obj.node, func, tuple(sorted(kwargs.items())), times, read))
