"""Concatenate frames along their rows."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pandas as pd

from marsdask.core.collection import Collection, wrap
from marsdask.core.compilation.costs import kernel
from marsdask.core.grids.blockwise import Blockwise
from marsdask.core.grids.grid import Grid
from marsdask.core.grids.select import concatenate_grids
from marsdask.core.node import Columns, Node
from marsdask.core.public import public_call
from marsdask.core.sizes import Chunks

from ..elementwise.rowwise import rowwise
from ..frame_node import FrameNode, S, axis_number
from ..ordered.row_numbers import reset_index
from ..schemas.schema import types_of


def _types(like: Any) -> list[Any]:
    return list(like.dtypes.items()) if isinstance(like, pd.DataFrame) else [like.dtype]


@kernel(scratch=0.0)
def reindex_columns(block: Any, like: Any) -> Any:
    """Give a chunk the columns of the result."""
    if isinstance(like, pd.DataFrame) and not block.columns.equals(like.columns):
        return block.reindex(columns=like.columns)
    return block.rename(like.name) if isinstance(like, pd.Series) else block


@kernel(scratch=2.0)
def cast_columns(block: Any, like: Any, own: Any) -> Any:
    """Give a chunk the columns of the result, and their types.

    A column of another type than its object declares keeps it. For example, integers of a merge
    are floats if values turn out to be missing.
    """
    block = reindex_columns(block, like)
    if isinstance(like, pd.Series):
        return block.astype(like.dtype) if block.dtype == own.dtype else block
    if not like.columns.is_unique:
        return block
    types = {
        label: dtype
        for label, dtype in like.dtypes.items()
        if label not in own.columns or block.dtypes[label] == own.dtypes[label]
    }
    return block.astype(types)


@dataclass(frozen=True, eq=False)
class Concat(FrameNode):
    """The rows of several objects, one object after the other."""

    parts: tuple[Node, ...]

    @property
    def meta(self) -> Any:
        return types_of(self, lambda: pd.concat([part.meta for part in self.parts]))

    @property
    def chunks(self) -> Chunks:
        sizes = itertools.chain.from_iterable(part.chunks[0] for part in self.parts)
        return (tuple(sizes),)

    def requires(self, wanted: Columns) -> tuple[Columns, ...]:
        if wanted is None or not isinstance(self.meta, pd.DataFrame):
            return (None,) * len(self.parts)
        return tuple(wanted & frozenset(part.meta.columns) for part in self.parts)

    def tile(self, *grids: Grid) -> Grid:
        return concatenate_grids([self._conformed(grid) for grid in grids], 0, self.meta, "concat")

    def _conformed(self, grid: Grid) -> Grid:
        if grid.meta is self.meta:
            return grid
        alike = _types(grid.meta) == _types(self.meta)
        kwargs = {"like": self.meta} if alike else {"like": self.meta, "own": grid.meta}
        rule = Blockwise(reindex_columns if alike else cast_columns, (grid,), ((0,),), kwargs)
        return self.grid(rule, grid.chunks[0])


def columns_beside(*blocks: Any, ignore_index: bool) -> Any:
    """Return the columns of several objects with the same rows."""
    return pd.concat(blocks, axis=1, ignore_index=ignore_index)


@public_call
def concat(
    objs: Iterable[S], *, axis: int | str = 0, ignore_index: bool = False, join: str = "outer"
) -> S:
    """Concatenate objects along their rows, or columns of the same rows. See pandas.concat."""
    parts = list(objs)
    beside = axis_number(pd.DataFrame(), axis) == 1
    if join not in {"outer", "inner"}:
        raise ValueError(f"invalid join: {join!r}; choose from 'inner', 'outer'")
    if join == "inner" and not beside:
        raise NotImplementedError(
            "concat(join='inner') is not supported; use [] to select the common columns first"
        )
    if not parts:
        raise ValueError("No objects to concatenate")
    for part in parts:
        if not isinstance(part, Collection):
            raise TypeError(
                f"cannot concatenate object of type '{type(part)}'; only Series and "
                "DataFrame objs of marsdask are valid"
            )
    if beside:
        side: S = rowwise(columns_beside, *parts, ignore_index=ignore_index)
        return side
    if len({type(part.node.meta) for part in parts}) > 1:
        raise NotImplementedError(
            "concat() of frames with series is not supported; use to_frame() on the series"
        )
    result: S = wrap(Concat(tuple(part.node for part in parts)))
    return reset_index(result, drop=True) if ignore_index else result
