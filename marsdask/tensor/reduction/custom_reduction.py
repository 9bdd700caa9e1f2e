"""Reductions by user functions: of each chunk, of groups of partial results, of all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import numpy as np

from marsdask.core.collection import Collection
from marsdask.core.config import options
from marsdask.core.grids.align import aligned
from marsdask.core.grids.blockwise import blockwise, map_blocks
from marsdask.core.grids.grid import Call, Grid
from marsdask.core.grids.tree import PartialReduce, combine_groups, tree
from marsdask.core.machine.costs import Cost
from marsdask.core.node import Node
from marsdask.core.sizes import Chunks, Index
from marsdask.core.snapshots.functions import function_name

from ..chunkwise.blockwise import nest
from ..chunkwise.map_blocks import takes
from ..chunkwise.rechunk import recut
from ..indexing.assignment import into
from ..manipulation.shape import broadcast_to, normalize_axes
from ..operands import as_node, empty
from ..typing import public


class NestedGroups(PartialReduce):
    """A group of partial results in nested lists, one level for each reduced axis."""

    def cell(self, index: Index) -> Call:
        call = super().cell(index)
        counts = tuple(
            min(width, count - position * width)
            for position, width, count in zip(
                index, self.widths, self.source.numblocks, strict=True
            )
        )
        return Call(call.func, (*call.args, counts), call.kwargs)


@dataclass(frozen=True)
class MergeParts:
    """Combines a group of partial results, and calls a user function if any."""

    func: Callable[..., Any] | None
    axes: tuple[int, ...]
    joins: bool
    """Whether that is one array rather than nested lists."""

    @property
    def cost(self) -> Cost:
        """The cost of the function; joined arrays are new, so it may modify them."""
        return Cost(least=2**20, writes=self.func is not None and not self.joins)

    @property
    def __name__(self) -> str:
        return function_name(self.func).strip("<>_")

    def __call__(self, blocks: list[Any], counts: Index) -> Any:
        own = tuple(counts[axis] for axis in self.axes)
        value: Any = _joined(blocks, own, self.axes) if self.joins else nest(blocks, own)
        return value if self.func is None else self.func(value, axis=self.axes, keepdims=True)


def _joined(blocks: list[Any], counts: Index, axes: Sequence[int]) -> Any:
    for axis, count in zip(axes[::-1], counts[::-1], strict=True):
        blocks = [_concatenate(blocks[i : i + count], axis) for i in range(0, len(blocks), count)]
    return blocks[0]


def _concatenate(parts: list[Any], axis: int) -> Any:
    """Join partial results; those that are several arrays are dicts."""
    if isinstance(parts[0], dict):
        return {key: _concatenate([part[key] for part in parts], axis) for key in parts[0]}
    masked = any(isinstance(part, np.ma.MaskedArray) for part in parts)
    return (np.ma if masked else np).concatenate(parts, axis=axis)


@dataclass(frozen=True)
class ChunkMap:
    """Calls a user's reduction of one chunk, with its weights if there are any."""

    func: Callable[..., Any]
    axes: tuple[int, ...]
    keepdims: bool = True
    cost: ClassVar[Cost] = Cost(least=2**20, writes=True)

    @property
    def __name__(self) -> str:
        return function_name(self.func).strip("<>_")

    def __call__(self, block: Any, *weights: Any) -> Any:
        keywords = {"weights": weights[0]} if weights else {}
        return self.func(block, axis=self.axes, keepdims=self.keepdims, **keywords)


@dataclass(frozen=True, eq=False)
class UserReduction(Node):
    """A reduction by a user's functions."""

    values_tell: ClassVar[bool] = True

    pins_grid: ClassVar[bool] = True

    arrays: tuple[Node, ...]
    chunk: Callable[..., Any]
    combine: Callable[..., Any]
    aggregate: Callable[..., Any]
    axes: tuple[int, ...]
    keepdims: bool
    joins: bool
    width: tuple[tuple[int, int], ...]
    size: int
    out_meta: Any = field(repr=False)

    @property
    def label(self) -> str:
        return getattr(self.chunk, "__name__", "reduction").strip("<>_")

    @property
    def meta(self) -> Any:
        return self.out_meta

    @property
    def chunks(self) -> Chunks:
        return self._out_chunks(self.arrays[0].chunks)

    def _out_chunks(self, chunks: Chunks) -> Chunks:
        if self.keepdims:
            return tuple((self.size,) if i in self.axes else own for i, own in enumerate(chunks))
        return tuple(own for i, own in enumerate(chunks) if i not in self.axes)

    def tile(self, *grids: Grid) -> Any:
        distinct = dict(zip(self.inputs, grids, strict=True))
        (*sources,), chunks = yield from aligned([distinct[node] for node in self.arrays], recut)
        several = tuple(
            (self.size,) * len(own) if i in self.axes else own for i, own in enumerate(chunks)
        )
        grid = map_blocks(ChunkMap(self.chunk, self.axes), *sources, chunks=several, meta=self.meta)
        merge = MergeParts(self.combine, self.axes, self.joins)
        groups: Any = {"width": dict(self.width), "whole": False, "rule": NestedGroups}
        grid = tree(grid, merge, self.axes, **groups)
        every = tuple(
            max(1, count) if i in self.axes else 1 for i, count in enumerate(grid.numblocks)
        )
        last = MergeParts(None, self.axes, self.joins)
        grid = combine_groups(grid, last, every, rule=NestedGroups)
        axes = [i for i in range(len(chunks)) if self.keepdims or i not in self.axes]
        place = tuple(axes.index(i) if i in axes else None for i in range(len(chunks)))
        return blockwise(
            ChunkMap(self.aggregate, self.axes, self.keepdims),
            [(grid, place)],
            chunks=self._out_chunks(grid.chunks),
            meta=self.meta,
        )


@public
def reduction(
    x: Any,
    chunk: Callable[..., Any],
    aggregate: Callable[..., Any],
    axis: Any = None,
    keepdims: bool = False,
    dtype: Any = None,
    split_every: Any = None,
    combine: Callable[..., Any] | None = None,
    name: str | None = None,
    out: Any = None,
    concatenate: bool = True,
    output_size: int = 1,
    meta: Any = None,
    weights: Any = None,
) -> Node:
    """Reduce by user functions. See dask.array.reduction.

    Each is called with ``axis=`` (a tuple) and ``keepdims=``: ``chunk`` with a chunk, ``combine``
    with a group of partial results, ``aggregate`` with the last group.
    """
    del name
    # User functions handle masks themselves, or are declared not to.
    node = x.node if isinstance(x, Collection) else as_node(x)
    ndim = len(node.chunks)
    axes = tuple(range(ndim)) if axis is None else tuple(sorted(normalize_axes(axis, ndim)))
    arrays = (node,) if weights is None else (node, as_node(broadcast_to.node(weights, node.shape)))
    combine = combine or aggregate
    if dtype is not None and takes(chunk, "dtype"):
        chunk = partial(chunk, dtype=dtype)
    if dtype is not None and takes(aggregate, "dtype"):
        aggregate = partial(aggregate, dtype=dtype)
    if meta is None and dtype is None:
        samples = [np.ones((1,) * ndim, item.meta.dtype) for item in arrays]
        part = MergeParts(None, axes, concatenate)(
            [ChunkMap(chunk, axes)(*samples)], (1,) * len(axes)
        )
        meta = ChunkMap(aggregate, axes, keepdims)(part)
    kind = np.dtype(dtype) if dtype is not None else np.asarray(meta).dtype
    widths = tuple(_widths(split_every, axes).items())
    out_ndim = ndim if keepdims else ndim - len(axes)
    masked = isinstance(node.meta, np.ma.MaskedArray)
    sample = np.ma.empty((0,) * out_ndim, kind) if masked else empty(kind, out_ndim)
    steps = (chunk, combine, aggregate)
    result = UserReduction(arrays, *steps, axes, keepdims, concatenate, widths, output_size, sample)
    return into(out, result)


def _widths(split_every: Any, axes: tuple[int, ...]) -> dict[int, int]:
    """Return the number of partial results in a group along each axis."""
    if isinstance(split_every, Mapping):
        return {axis: max(2, int(split_every.get(axis, 2))) for axis in axes}
    width = options.split_every if split_every in (None, False) else int(split_every)
    if width < 2:
        raise ValueError(f"split_every={split_every!r}: a group has two partial results or more")
    number = max(2, round(width ** (1 / max(1, len(axes)))))
    return dict.fromkeys(axes, number)
