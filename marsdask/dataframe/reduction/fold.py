"""Results of one chunk: folded from all chunks in a tree, or put together from small inputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from marsdask.core.grids.blockwise import blockwise, map_blocks
from marsdask.core.grids.grid import Grid
from marsdask.core.grids.tree import Pairwise, tree
from marsdask.core.node import Node
from marsdask.core.sizes import Chunks, unknown_sizes
from marsdask.scheduler.base import all_dtypes

from ..nodes.frame_node import FrameNode, is_wide, row_bytes
from ..rows import as_one_chunk
from .reductions import PARTIAL_BYTES, collection_of


@dataclass(frozen=True, eq=False)
class SmallResult(FrameNode):
    """A result of one chunk (or a scalar) of declared type."""

    types_by_rows: ClassVar[bool] = False

    like: Any = field(repr=False)
    """The types of the result, without rows."""
    rows: int | None
    """How many rows it has, ``None`` if only values tell."""
    row: bool
    """Whether it has one value for each column of what it was made of."""
    title: str

    @property
    def label(self) -> str:
        return self.title

    @property
    def meta(self) -> Any:
        return self.like

    @property
    def is_row(self) -> bool:
        return self.row

    @property
    def chunks(self) -> Chunks:
        if isinstance(self.like, np.ndarray):
            return ()
        return (unknown_sizes(self.name, [None]) if self.rows is None else (self.rows,),)

    @property
    def _width(self) -> float | None:
        return row_bytes(self.like) if self.chunks else None


@dataclass(frozen=True, eq=False)
class FrameFold(SmallResult):
    """Maps each chunk to a partial, combines partials in a tree, and finishes the last one.

    Chunks without rows have the partial ``None``, which is never combined, unless a class says
    that their types count.
    """

    a: Node
    steps: tuple[Callable[..., Any], Callable[[Any, Any], Any], Callable[..., Any]]
    """``map(block)``, ``combine(partial, partial)``, ``finish(partial, **finished)``."""
    finished: tuple[tuple[str, Any], ...] = ()
    partial_bytes: float = PARTIAL_BYTES
    """The assumed bytes of a partial."""
    skips_empty: ClassVar[bool] = True
    """Whether chunks without rows have no partial; else they are mapped, too."""

    def tile(self, a: Grid) -> Grid:
        map_, combine, finish = self.steps
        partials = map_blocks(
            OfRows(map_) if self.skips_empty else map_,
            a,
            chunks=((1,) * len(a),),
            itemsize=self.partial_bytes,
        )
        combined = tree(partials, Pairwise(OfPartials(combine)), [0])
        return blockwise(
            finish,
            [(combined, (None,))],
            chunks=self.chunks,
            meta=self.meta,
            itemsize=self._width,
            kwargs=dict(self.finished),
        )


@dataclass(frozen=True)
class OfRows:
    """Maps a chunk that has rows."""

    func: Callable[..., Any]

    def __call__(self, block: Any) -> Any:
        return self.func(block) if len(block) else None


@dataclass(frozen=True)
class OfPartials:
    """Combines partials of chunks that have rows."""

    func: Callable[[Any, Any], Any]

    def __call__(self, a: Any, b: Any) -> Any:
        if a is None or b is None:
            return b if a is None else a
        return self.func(a, b)


@dataclass(frozen=True, eq=False)
class Assembly(SmallResult):
    """Puts scalars, small arrays and small pandas objects together: ``func(*args, **kwargs)``."""

    args: tuple[Node, ...]
    func: Callable[..., Any]
    kwargs: tuple[tuple[str, Any], ...] = ()
    typed: bool = True
    """Whether the types of the inputs tell those of the result."""

    @property
    def settled(self) -> bool:
        # What has an unknown number of rows may lack values, which integers cannot.
        is_known = self.typed and self.rows is not None
        return is_known and all(child.settled for child in self.inputs)

    @property
    def may_narrow(self) -> bool:
        return (not self.typed and is_wide(self.meta)) or super().may_narrow

    def tile(self, *grids: Grid) -> Grid:
        rows = (pd.DataFrame, pd.Series, pd.Index)  # whatever became of the node that had them
        frames = [isinstance(arg.meta, rows) and bool(arg.chunks) for arg in self.args]
        whole = [
            as_one_chunk(grid) if frame else grid for grid, frame in zip(grids, frames, strict=True)
        ]
        return blockwise(
            self.func,
            [(grid, (None,) * grid.ndim) for grid in whole],
            chunks=self.chunks,
            meta=self.meta,
            itemsize=self._width,
            kwargs=dict(self.kwargs),
        )


@dataclass(frozen=True, eq=False)
class WithFills(Assembly):
    """Aggregated groups with those that have no rows: these may leave gaps where they are filled.

    The groups are the first argument.
    """

    @property
    def types_by_rows(self) -> bool:  # type: ignore[override]
        groups = self.args[0]
        below = isinstance(groups, FrameNode) and groups.types_by_rows
        return below or all_dtypes(groups.meta) != all_dtypes(self.like)


def assembled(
    func: Callable[..., Any],
    parts: Any,
    like: Any,
    *,
    title: str,
    row: bool = False,
    sized: bool = True,
    typed: bool = True,
    **kwargs: Any,
) -> Any:
    """Return ``func`` of whole small inputs; ``like`` is a result of the same labels.

    Without ``sized`` only values tell the number of rows, without ``typed`` the types.
    """
    if isinstance(like, pd.DataFrame | pd.Series):
        rows: int | None = len(like) if sized else None
        meta: Any = like.iloc[:0]
    else:
        rows, meta = None, np.zeros((), np.asarray(like).dtype)
        if meta.dtype == object:
            meta[()] = like  # such as a time: types of later results depend on it
    nodes = tuple(part.node for part in parts)
    options = tuple(kwargs.items())
    return collection_of(Assembly(meta, rows, row, title, nodes, func, options, typed))
