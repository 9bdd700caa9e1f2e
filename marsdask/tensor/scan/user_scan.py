"""Accumulations by user functions, and forward fill: each block continues the previous one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from marsdask.core.grids.blockwise import map_blocks
from marsdask.core.grids.grid import Grid
from marsdask.core.grids.ownership import private
from marsdask.core.grids.scan import scan as scan_chunks
from marsdask.core.machine.costs import kernel
from marsdask.core.node import Node, SameChunks
from marsdask.core.snapshots.functions import function_name

from ..elementwise.ufuncs import isnan, less_equal, logical_or, subtract, where
from ..indexing.assignment import into
from ..manipulation.reshape import ravel
from ..manipulation.shape import normalize_axis
from ..operands import as_node, empty
from ..typing import public
from .cumulative import cumsum


@kernel(writes=True)
def starts_of(lasts: list[Any], combine: Callable[[Any, Any], Any], start: Any) -> list[Any]:
    """Combine last elements in order; empty blocks have none."""
    starts = [start]
    for last in lasts:
        starts.append(combine(private(starts[-1]), last) if last.size else starts[-1])
    return starts


@kernel(view=True)
def last_of(block: Any, axis: int) -> Any:
    """Return the last element along an axis, which is kept."""
    return block[(slice(None),) * axis + (slice(-1, None),)]


@kernel(writes=True)
def accumulate(block: Any, func: Callable[..., Any], axis: int, dtype: Any) -> Any:
    """Accumulate one block separately."""
    result = func(block, axis=axis) if dtype is None else func(block, axis=axis, dtype=dtype)
    return np.asarray(result)


def go_on(block: Any, starts: list[Any], position: int, combine: Callable[[Any, Any], Any]) -> Any:
    """Combine a separately accumulated block with the elements before it."""
    # Both have other readers, and the function may modify them.
    return np.asarray(combine(private(starts[position]), private(block))) if block.size else block


@dataclass(frozen=True, eq=False)
class UserScan(SameChunks):
    """An accumulation along an axis: ``func`` in the blocks, ``combine(before, block)`` between."""

    values_tell: ClassVar[bool] = True

    func: Callable[..., Any]
    combine: Callable[[Any, Any], Any]
    start: Any
    axis: int
    dtype: np.dtype[Any]
    asked: Any

    @property
    def label(self) -> str:
        return function_name(self.func).strip("_<>")

    @property
    def meta(self) -> Any:
        return empty(self.dtype, len(self.a.chunks))

    def tile(self, a: Grid) -> Grid:
        kwargs = {"func": self.func, "axis": self.axis, "dtype": self.asked}
        own = map_blocks(accumulate, a, chunks=a.chunks, meta=self.meta, kwargs=kwargs)
        if a.numblocks[self.axis] == 1:
            return own
        combine = {"combine": self.combine}
        return scan_chunks(
            own,
            self.axis,
            last_of,
            starts_of,
            go_on,
            total_kwargs={"axis": self.axis},
            starts_kwargs={**combine, "start": self.start},
            step_kwargs=combine,
            meta=self.meta,
        )


@public
def cumreduction(
    func: Callable[..., Any],
    binop: Callable[[Any, Any], Any],
    ident: Any,
    x: Any,
    axis: int | None = None,
    dtype: Any = None,
    out: Any = None,
    method: str = "sequential",
    preop: Any = None,
) -> Node:
    """Accumulate along an axis by user functions. See dask.array.reductions.cumreduction.

    ``func(block, axis=, dtype=)`` accumulates a block, ``binop(last, block)`` combines it with the
    last elements before it. ``method`` and ``preop`` have no effect: each block gets the last
    elements of all blocks at once.
    """
    del method, preop
    node = as_node(x)
    if axis is None:
        node, axis = as_node(ravel.node(node)), 0
    axis = normalize_axis(axis, len(node.chunks))
    sample = np.ones((1,) * len(node.chunks), node.meta.dtype)
    kind = np.dtype(dtype) if dtype is not None else accumulate(sample, func, axis, None).dtype
    result = UserScan(node, func, binop, ident, axis, kind, None if dtype is None else kind)
    return into(out, result)


@kernel(scratch=3.0)
def filled_forward(block: Any, axis: int, dtype: Any = None) -> Any:
    """Replace each nan by the last number before it."""
    del dtype
    shape = [1] * block.ndim
    shape[axis] = -1
    place = np.arange(block.shape[axis]).reshape(shape)
    last = np.maximum.accumulate(np.where(np.isnan(block), 0, place), axis=axis)
    return np.take_along_axis(block, last, axis)


def filled_from(before: Any, block: Any) -> Any:
    """Replace the leading nan of a block by the last number of the block before."""
    return np.where(np.isnan(block), before, block).astype(block.dtype, copy=False)


@public
def push(array: Any, n: int | None, axis: int = -1) -> Node:
    """Replace each nan by the last number before it, at most ``n`` positions away.

    See dask.array.push. Differs from Dask: bottleneck is not needed.

    Parameters
    ----------
    array : array_like
        The numbers.
    n : int or None
        How far a number goes; ``None`` has no limit.
    axis : int
        The axis.

    Returns
    -------
    Tensor
        The numbers without the gaps that were filled.
    """
    node = as_node(array)
    dtype = node.meta.dtype
    axis = normalize_axis(axis, node.meta.ndim)
    if dtype.kind not in "fc" or n == 0:
        return node
    result = cumreduction.node(filled_forward, filled_from, np.nan, node, axis, dtype)
    if n is None:
        return result
    is_nan = isnan.node(node)
    place = cumsum.node(logical_or.node(is_nan, True), axis, float)
    index = where.node(is_nan, np.nan, place)
    last = cumreduction.node(filled_forward, filled_from, np.nan, index, axis, index.meta.dtype)
    return where.node(less_equal.node(subtract.node(place, last), n), result, node)
