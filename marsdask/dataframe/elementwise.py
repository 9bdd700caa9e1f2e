"""Operations on rows that stay where they are: columns, arithmetic, casts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd

from marsdask.core.chunk import Grid
from marsdask.core.collection import Collection, wrap
from marsdask.core.node import Node
from marsdask.core.types import Chunks

from .base import FrameNode
from .rows import aligned_rows, alignment, check_aligned


@dataclass(frozen=True, eq=False)
class Rowwise(FrameNode):
    """``func`` of objects that hold the same rows, with constants among its arguments.

    The function works on pandas objects, chunk by chunk and, to learn the result's type, on the
    empty metas.
    """

    func: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: tuple[tuple[str, Any], ...] = ()

    @property
    def label(self) -> str:
        return self.func.__name__.strip("_")

    @cached_property
    def meta(self) -> Any:
        metas = [arg.meta if isinstance(arg, Node) else arg for arg in self.args]
        return self.func(*metas, **dict(self.kwargs))

    @property
    def alignment(self) -> str:
        """The rows are those of the operands."""
        return alignment(self.inputs[0])

    @property
    def chunks(self) -> Chunks:
        return max((node.chunks for node in self.inputs), key=lambda chunks: len(chunks[0]))

    def tile(self, *grids: Grid) -> Any:
        if len({grid.chunks for grid in grids}) == 1:
            return self._map(grids)
        return self._tile(grids)

    def _tile(self, grids: tuple[Grid, ...]) -> Any:
        grids, _ = yield from aligned_rows(grids)
        return self._map(grids)

    def _map(self, grids: tuple[Grid, ...]) -> Grid:
        template = tuple(None if isinstance(arg, Node) else arg for arg in self.args)
        is_node = tuple(isinstance(arg, Node) for arg in self.args)
        kwargs = {
            "func": self.func,
            "template": template,
            "is_node": is_node,
            "options": self.kwargs,
        }
        return self.mapped(call_on_rows, *grids, kwargs=kwargs)


def call_on_rows(
    *blocks: Any,
    func: Callable[..., Any],
    template: tuple[Any, ...],
    is_node: tuple[bool, ...],
    options: tuple[tuple[str, Any], ...],
) -> Any:
    """Call ``func`` with blocks and constants in the order of the template."""
    rest = iter(blocks)
    args = [next(rest) if flag else item for item, flag in zip(template, is_node, strict=True)]
    return func(*args, **dict(options))


def rowwise(func: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Return ``func(*args, **kwargs)`` as a lazy operation on rows."""
    nodes = tuple(arg.node if isinstance(arg, Collection) else arg for arg in args)
    check_aligned([node for node in nodes if isinstance(node, Node)], func.__name__.strip("_"))
    return wrap(Rowwise(func, nodes, tuple(sorted(kwargs.items()))))


def binary(func: Callable[[Any, Any], Any], *, reflected: bool = False) -> Any:
    """Return a binary operator as a method."""

    def call(self: Any, other: Any) -> Any:
        if isinstance(other, pd.Series | pd.DataFrame | pd.Index):
            return NotImplemented
        return rowwise(func, other, self) if reflected else rowwise(func, self, other)

    call.__name__ = func.__name__
    return call


def method_of(name: str) -> Callable[..., Any]:
    """Return a method that applies the pandas method of that name to each chunk."""
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        return rowwise(call_method, self, *args, **{"method": name, **kwargs})

    call.__name__ = name
    call.__doc__ = f"Apply ``{name}`` to each row's values. See pandas.Series.{name}."
    return call


def call_method(block: Any, *args: Any, method: str, **kwargs: Any) -> Any:
    """Call a pandas method."""
    return getattr(block, method)(*args, **kwargs)


def index_of(block: Any) -> Any:
    """Return the row labels."""
    return block.index


def to_frame(block: Any, name: Any) -> Any:
    """Return a frame of one column."""
    return block.to_frame(0 if name is None else name)


def column_of(block: Any, key: Any) -> Any:
    """Return a column, or a frame of several."""
    return block[key]


def with_columns(block: Any, *values: Any, names: tuple[Any, ...]) -> Any:
    """Return the frame with columns added or replaced."""
    block = block.copy(deep=False)
    for name, value in zip(names, values, strict=True):
        block[name] = value
    return block
