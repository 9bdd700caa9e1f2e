"""Reductions: a kernel for a chunk, an associative combination, and a finish."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from marsdask.core.chunk import Grid
from marsdask.core.collection import wrap
from marsdask.core.node import Node
from marsdask.core.shapes import blockwise, map_blocks, tree
from marsdask.core.types import Chunks
from .base import as_node


@dataclass(frozen=True)
class Recipe:
    """How one reduction works; a row of the table."""

    whole: Callable[..., Any]
    """NumPy's own function, for dtypes and for arrays of one chunk."""
    map: Callable[..., Any]
    combine: Callable[[Any, Any], Any]
    finalize: Callable[..., Any] | None = None


@dataclass(frozen=True, eq=False)
class Reduction(Node):
    """A reduction along ``axes``; partials keep the reduced axes at length one."""

    recipe: str
    a: Node
    axes: tuple[int, ...]
    keepdims: bool
    dtype: np.dtype[Any] | None

    @property
    def label(self) -> str:
        return self.recipe

    @cached_property
    def meta(self) -> Any:  # type: ignore[override]
        sample = np.ones((1,) * self.a.meta.ndim, self.a.meta.dtype)
        kwargs = {"dtype": self.dtype} if self.dtype is not None else {}
        result = RECIPES[self.recipe].whole(sample, axis=self.axes, **kwargs)
        return np.empty((0,) * len(self.chunks), np.asarray(result).dtype)

    @cached_property
    def chunks(self) -> Chunks:  # type: ignore[override]
        kept = self._kept_chunks(self.a.chunks)
        if self.keepdims:
            return kept
        return tuple(sizes for axis, sizes in enumerate(kept) if axis not in self.axes)

    def _kept_chunks(self, chunks: Chunks) -> Chunks:
        return tuple((1,) if axis in self.axes else sizes for axis, sizes in enumerate(chunks))

    def tile(self, a: Grid) -> Grid:  # type: ignore[override]
        recipe = RECIPES[self.recipe]
        kwargs: dict[str, Any] = {"axis": self.axes, "keepdims": True}
        if self.dtype is not None:
            kwargs["dtype"] = self.dtype
        chunks = tuple(
            (1,) * len(sizes) if axis in self.axes else sizes for axis, sizes in enumerate(a.chunks)
        )
        partials = map_blocks(recipe.map, a, chunks=chunks, meta=self.meta, kwargs=kwargs)
        grid = tree(partials, recipe.combine, self.axes, finalize=recipe.finalize, meta=self.meta)
        if self.keepdims:
            return grid
        kept = [axis for axis in range(grid.ndim) if axis not in self.axes]
        axes = tuple(kept.index(axis) if axis in kept else None for axis in range(grid.ndim))
        result = tuple(grid.chunks[axis] for axis in kept)
        return blockwise(
            squeeze,
            [(grid, axes)],
            chunks=result,
            meta=self.meta,
            kwargs={"axis": self.axes},
            cheap=True,
        )


def squeeze(block: Any, axis: tuple[int, ...]) -> Any:
    """Drop the reduced axes."""
    return np.squeeze(block, axis=axis)


RECIPES = {
    "sum": Recipe(np.sum, np.sum, np.add),
}


def reduction(name: str) -> Callable[..., Any]:
    """Return the lazy reduction of that name."""

    def lazy(a: Any, axis: Any = None, dtype: Any = None, *, keepdims: bool = False) -> Any:
        node = as_node(a)
        ndim = node.meta.ndim
        axes = (
            tuple(range(ndim))
            if axis is None
            else np.lib.array_utils.normalize_axis_tuple(axis, ndim)
        )
        return wrap(
            Reduction(name, node, axes, keepdims, None if dtype is None else np.dtype(dtype))
        )

    lazy.__name__ = lazy.__qualname__ = name
    return lazy


sum = reduction("sum")
