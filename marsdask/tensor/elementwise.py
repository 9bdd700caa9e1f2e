"""Elementwise functions: one line of a table each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from marsdask.core.chunk import Grid
from marsdask.core.collection import Collection, wrap
from marsdask.core.node import Node
from marsdask.core.shapes import map_blocks
from marsdask.core.types import Chunks
from .chunks import broadcast_chunks
from .rechunk import aligned


@dataclass(frozen=True, eq=False)
class Elementwise(Node):
    """``func`` of arrays that broadcast against each other, with constants among its arguments."""

    func: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: tuple[tuple[str, Any], ...] = ()

    @property
    def label(self) -> str:
        return self.func.__name__

    @cached_property
    def meta(self) -> Any:  # type: ignore[override]
        samples = [
            np.ones((1,) * arg.meta.ndim, arg.meta.dtype) if isinstance(arg, Node) else arg
            for arg in self.args
        ]
        with np.errstate(all="ignore"):
            sample = self.func(*samples, **dict(self.kwargs))
        return np.empty((0,) * len(self.chunks), np.asarray(sample).dtype)

    @cached_property
    def chunks(self) -> Chunks:  # type: ignore[override]
        return broadcast_chunks(*(node.chunks for node in self.inputs))

    def tile(self, *grids: Grid) -> Any:  # type: ignore[override]
        if len({grid.chunks for grid in grids}) == 1:
            return self._map(grids, grids[0].chunks)
        return self._tile(grids)

    def _tile(self, grids: tuple[Grid, ...]) -> Any:
        grids, chunks = yield from aligned(grids)
        return self._map(grids, chunks)

    def _map(self, grids: tuple[Grid, ...], chunks: Chunks) -> Grid:
        nodes = iter(range(len(grids)))
        template = tuple(next(nodes) if isinstance(arg, Node) else None for arg in self.args)
        if None not in template:
            return map_blocks(
                self.func, *grids, chunks=chunks, meta=self.meta, kwargs=dict(self.kwargs)
            )
        constants = tuple(arg for arg in self.args if not isinstance(arg, Node))
        return map_blocks(
            call_with_constants,
            *grids,
            chunks=chunks,
            meta=self.meta,
            kwargs={
                "func": self.func,
                "template": template,
                "constants": constants,
                "options": self.kwargs,
            },
        )


def call_with_constants(
    *blocks: Any,
    func: Callable[..., Any],
    template: tuple[int | None, ...],
    constants: tuple[Any, ...],
    options: tuple[tuple[str, Any], ...],
) -> Any:
    """Call ``func`` with blocks and constants in the order of the template."""
    rest = iter(constants)
    args = [next(rest) if slot is None else blocks[slot] for slot in template]
    return func(*args, **dict(options))


def elementwise(func: Callable[..., Any]) -> Callable[..., Any]:
    """Return the lazy form of an elementwise function."""

    def lazy(*args: Any, **kwargs: Any) -> Any:
        if not any(isinstance(arg, Collection) for arg in args):
            return func(*args, **kwargs)
        nodes = tuple(arg.node if isinstance(arg, Collection) else arg for arg in args)
        return wrap(Elementwise(func, nodes, tuple(sorted(kwargs.items()))))

    lazy.__name__ = lazy.__qualname__ = func.__name__
    lazy.__doc__ = f"Apply ``{func.__name__}`` to each element. See numpy.{func.__name__}."
    return lazy


add = elementwise(np.add)
sin = elementwise(np.sin)
multiply = elementwise(np.multiply)
