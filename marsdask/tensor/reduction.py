"""What every reduction shares: the node, the kernels around a recipe, and the fused prologue."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from marsdask.core.chunk import Grid
from marsdask.core.node import Node
from marsdask.core.shapes import blockwise, kernel, map_blocks, tree
from marsdask.core.types import Chunks

from .base import empty
from .chunks import broadcast_chunks
from .fused import TILE_BYTES, Program, at, flattened, tile_shape
from .mosaic import as_block, seams
from .pointwise import absorbable
from .rechunk import aligned

#: Width of the tiles of a reduction along other axes than the last, so that many rows fit.
STRIPE = 1024

Axis = tuple[int, ...]


@dataclass(frozen=True)
class Recipe:
    """How one reduction works; a row of the table."""

    map: Callable[..., Any]
    """``map(block, axis=, keepdims=True)``, and ``dtype=``, ``where=`` if they were given."""
    combine: Callable[[Any, Any], Any]
    finalize: Callable[..., Any] | None = None
    """Takes the last partial result, and the reduction's own options."""
    whole: Callable[..., Any] | None = None
    """NumPy's own function: what it makes of no elements, and its result types."""
    tiled: bool = False
    """Whether the map makes temporaries, so that it had better see a tile at a time."""
    idempotent: bool = False
    """Whether ``initial`` may be counted once a block: the map then takes it under a mask."""


@dataclass(frozen=True)
class Nothing:
    """The partial result of no elements, where the recipe has none: the block itself."""

    block: Any


@dataclass(frozen=True)
class Combine:
    """A recipe's combination, for partial results that may be of nothing."""

    func: Callable[[Any, Any], Any]

    def __call__(self, a: Any, b: Any) -> Any:
        if isinstance(a, Nothing):
            return b
        return a if isinstance(b, Nothing) else self.func(a, b)


@dataclass(frozen=True, eq=False)
class Reduction(Node):
    """A reduction of ``program`` of the operands (of the first one, if there is none).

    ``settings`` go to the map, ``options`` to the finish. With ``masked`` the last operand tells
    which elements count.
    """

    input_chunks = "vanish"

    recipe: Recipe
    operands: tuple[Node, ...]
    program: Program | None
    axes: Axis
    keepdims: bool
    dtype: np.dtype[Any]
    title: str
    settings: tuple[tuple[str, Any], ...] = ()
    options: tuple[tuple[str, Any], ...] = ()
    masked: bool = False
    initial: Any = None

    @property
    def label(self) -> str:
        return self.title

    @cached_property
    def meta(self) -> Any:
        return empty(self.dtype, len(self.chunks))

    @cached_property
    def _source(self) -> Chunks:
        return broadcast_chunks(*(node.chunks for node in self.operands))

    @cached_property
    def chunks(self) -> Chunks:
        return self._reduced(self._source)

    def _reduced(self, chunks: Chunks) -> Chunks:
        if self.keepdims:
            return tuple((1,) if a in self.axes else sizes for a, sizes in enumerate(chunks))
        return tuple(sizes for axis, sizes in enumerate(chunks) if axis not in self.axes)

    def absorb(self, alone: Callable[[Node], bool]) -> Node:
        if self.masked or self.program is not None:
            return self
        (source,) = self.operands
        parts = absorbable((source,), source.shape, alone)
        return self.replaced(operands=parts[0].leaves, program=parts[0].program) if parts else self

    def tile(self, *grids: Grid) -> Any:
        distinct = dict(zip(self.inputs, grids, strict=True))
        sources = tuple(distinct[node] for node in self.operands)
        if len({grid.chunks for grid in sources}) == 1:
            return self._tile(sources, sources[0].chunks)
        return self._aligned(sources)

    def _aligned(self, grids: tuple[Grid, ...]) -> Generator[Any, Any, Grid]:
        grids, chunks = yield from aligned(grids, tiled=True)
        return self._tile(grids, chunks)

    def _tile(self, grids: tuple[Grid, ...], chunks: Chunks) -> Grid:
        kwargs = {
            "recipe": self.recipe,
            "program": self.program,
            "axis": self.axes,
            "masked": self.masked,
            "settings": dict(self.settings),
        }
        several = tuple(
            (1,) * len(sizes) if axis in self.axes else sizes for axis, sizes in enumerate(chunks)
        )
        partials = map_blocks(reduce_block, *grids, chunks=several, meta=self.meta, kwargs=kwargs)
        grid = tree(partials, Combine(self.recipe.combine), self.axes)
        kept = [axis for axis in range(len(chunks)) if self.keepdims or axis not in self.axes]
        place = tuple(kept.index(axis) if axis in kept else None for axis in range(len(chunks)))
        return blockwise(
            finish_block,
            [(grid, place)],
            chunks=tuple(grid.chunks[axis] for axis in kept),
            meta=self.meta,
            kwargs={
                "recipe": self.recipe,
                "axis": self.axes,
                "keepdims": self.keepdims,
                "dtype": self.dtype,
                "options": dict(self.options),
                "initial": self.initial,
            },
        )


@kernel(scratch=0.2)
def reduce_block(
    *blocks: Any,
    recipe: Recipe,
    program: Program | None,
    axis: Axis,
    masked: bool,
    settings: Mapping[str, Any],
) -> Any:
    """Return the partial result of a block, reduced axes kept at length one."""
    blocks = tuple(map(as_block, blocks))
    shape = np.broadcast_shapes(*(block.shape for block in blocks))
    parts = seams(blocks, shape)
    if parts is not None:
        if 0 in shape:
            blocks = tuple(map(np.asarray, blocks))
        else:
            each = functools.partial(
                reduce_block,
                recipe=recipe,
                program=program,
                axis=axis,
                masked=masked,
                settings=settings,
            )
            return _by_regions(blocks, parts, axis, Combine(recipe.combine), each)
    if recipe.whole is not None and 0 in [shape[a] for a in axis]:
        block = blocks[0] if program is None else program(*blocks)
        return Nothing(np.broadcast_to(block, shape))
    itemsize = max(block.dtype.itemsize for block in blocks)
    itemsize = itemsize if program is None else max(itemsize, program.itemsize)
    if (program is None and not recipe.tiled) or math.prod(shape) * itemsize <= 2 * TILE_BYTES:
        value = blocks[0] if program is None else program(*blocks)
        where = {"where": blocks[-1]} if masked else {}
        return recipe.map(value, axis=axis, keepdims=True, **where, **settings)
    return Tiles(recipe, program, axis, masked, settings).run(blocks, shape, itemsize)


def _by_regions(
    blocks: Sequence[Any],
    parts: Sequence[Sequence[slice]],
    reduced: Axis,
    combine: Callable[[Any, Any], Any],
    reduce_one: Callable[..., Any],
    region: tuple[slice, ...] = (),
) -> Any:
    """Reduce blocks that are mosaics where no border runs through, and put the results together."""
    axis = len(region)
    if axis == len(parts):
        return reduce_one(*(at(block, region) for block in blocks))
    found = [
        _by_regions(blocks, parts, reduced, combine, reduce_one, (*region, part))
        for part in parts[axis]
    ]
    return fold_pairs(found, combine) if axis in reduced else _joined(found, axis)


class Tiles:
    """Reduces a block tile by tile."""

    def __init__(
        self,
        recipe: Recipe,
        program: Program | None,
        axis: Axis,
        masked: bool,
        settings: Mapping[str, Any],
    ) -> None:
        self._recipe = recipe
        self._worker = None if program is None else program.worker()
        self._axis = axis
        self._masked = masked
        self._settings = settings

    def run(self, blocks: Sequence[Any], shape: tuple[int, ...], itemsize: int) -> Any:
        """Return the partial result of the block."""
        ndim = len(shape)
        if len(self._axis) == ndim and (flat := flattened(blocks, shape)) is not None:
            blocks, shape = flat[0], (math.prod(shape),)
            self._axis = (0,)
        widest = 0 if len(shape) - 1 in self._axis else STRIPE
        sizes = tile_shape(blocks, shape, itemsize, widest)
        # Kept axes outside, reduced ones inside: what accumulates stays in cache.
        order = [axis for axis in range(len(shape)) if axis not in self._axis]
        loops = [*order, *sorted(self._axis)]
        whole = [slice(0, length) for length in shape]
        value = self._loop(blocks, shape, sizes, [a for a in loops if shape[a] > sizes[a]], whole)
        if len(shape) != ndim:
            value = _each(value, _Reshape((1,) * ndim))
        return value

    def _loop(
        self,
        blocks: Sequence[Any],
        shape: tuple[int, ...],
        sizes: tuple[int, ...],
        axes: list[int],
        tile: list[slice],
    ) -> Any:
        if not axes:
            return self._leaf(blocks, tuple(tile))
        axis, *rest = axes
        parts = []
        for start in range(0, shape[axis], sizes[axis]):
            tile[axis] = slice(start, min(start + sizes[axis], shape[axis]))
            parts.append(self._loop(blocks, shape, sizes, rest, tile))
        tile[axis] = slice(0, shape[axis])
        if axis in self._axis:
            return fold_pairs(parts, self._recipe.combine)
        return _joined(parts, axis)

    def _leaf(self, blocks: Sequence[Any], tile: tuple[slice, ...]) -> Any:
        views = [at(block, tile) for block in blocks]
        if self._worker is not None:
            shape = tuple(part.stop - part.start for part in tile)
            return self._recipe.map(
                self._worker(views, shape), axis=self._axis, keepdims=True, **self._settings
            )
        where = {"where": views[-1]} if self._masked else {}
        return self._recipe.map(views[0], axis=self._axis, keepdims=True, **where, **self._settings)


def fold_pairs(parts: list[Any], combine: Callable[[Any, Any], Any]) -> Any:
    """Combine neighbours until one is left, so that rounding errors do not pile up."""
    while len(parts) > 1:
        last = [parts[-1]] if len(parts) % 2 else []
        parts = [combine(a, b) for a, b in zip(parts[::2], parts[1::2], strict=False)] + last
    return parts[0]


@dataclass(frozen=True)
class _Reshape:
    shape: tuple[int, ...]

    def __call__(self, value: Any) -> Any:
        return np.reshape(value, self.shape)


def _each(partial: Any, func: Callable[[Any], Any]) -> Any:
    """Apply ``func`` to the arrays of a partial result, leaving plain numbers alone."""
    if isinstance(partial, tuple):
        return tuple(_each(item, func) for item in partial)
    return func(partial) if isinstance(partial, np.ndarray | np.generic) else partial


def _joined(parts: list[Any], axis: int) -> Any:
    """Join partial results of neighbouring tiles along an axis that is kept."""
    first = parts[0]
    if isinstance(first, tuple):
        return tuple(_joined([part[i] for part in parts], axis) for i in range(len(first)))
    return np.concatenate(parts, axis=axis) if isinstance(first, np.ndarray) else first


def finish_block(
    partial: Any,
    recipe: Recipe,
    axis: Axis,
    keepdims: bool,
    dtype: np.dtype[Any],
    options: Mapping[str, Any],
    initial: Any,
) -> Any:
    """Turn the last partial result into the reduction's."""
    if isinstance(partial, Nothing):
        assert recipe.whole is not None
        extra = {} if initial is None else {"initial": initial}
        value = recipe.whole(partial.block, axis=axis, keepdims=True, **options, **extra)
    else:
        value = partial if recipe.finalize is None else recipe.finalize(partial, **options)
        if initial is not None:
            value = recipe.combine(value, np.asarray(initial, dtype))
    value = np.asarray(value).astype(dtype, copy=False)
    return value if keepdims else np.squeeze(value, axis=axis)
