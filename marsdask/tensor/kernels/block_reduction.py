"""Definitions of reductions, and their kernels: a block tile by tile, and the last step."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from marsdask.core.machine.costs import kernel

from ..sparse.blocks import is_sparse
from .block_views import border_parts
from .duck_arrays import as_array, is_array, is_foreign
from .fused_ufuncs import (
    TILE_BYTES,
    Shape,
    UfuncProgram,
    as_vectors,
    at,
    reader,
    steps,
    tile_shape,
)
from .lazy_block import LazyBlock, as_block
from .masked_sums import masked_program
from .scratch import in_tiles

#: Width of the tiles of a reduction along other axes than the last, so that many rows fit.
STRIPE = 1024

Axis = tuple[int, ...]


@dataclass(frozen=True)
class Recipe:
    """The definition of a reduction; a row of the table."""

    map: Callable[..., Any]
    """``map(block, axis=, keepdims=True)``, and ``dtype=``, ``where=`` if they were given."""
    combine: Callable[[Any, Any], Any]
    """Takes two partial results, element by element: several pairs may come stacked."""
    finalize: Callable[..., Any] | None = None
    """Takes the last partial result, and the reduction's own options."""
    whole: Callable[..., Any] | None = None
    """NumPy's own function: what it makes of no elements, and its result types."""
    tiled: bool = False
    """Whether the map makes temporaries, so that it had better see a tile at a time."""
    idempotent: bool = False
    """Whether ``initial`` may be counted once a block: the map then takes it under a mask."""
    within: Callable[..., Any] | None = None
    """Another recipe's map whose partial results begin with what this one's are."""
    weighed: Callable[..., Any] | None = None
    """The map of a tile and a mask that chooses from it, all in one; ``nan`` where it fails."""
    stored: Callable[..., Any] | None = None
    """The map of a sparse block that reads what is stored only; else the block is made dense."""


@dataclass(frozen=True)
class BlockReduction:
    """The reduction of a block; several reductions may share its results."""

    recipe: Recipe
    axis: Axis
    settings: tuple[tuple[str, Any], ...] = ()

    def bound(self) -> Callable[..., Any]:
        """Return the map with the arguments that are the same for each block."""
        return functools.partial(
            self.recipe.map, axis=self.axis, keepdims=True, **dict(self.settings)
        )

    def map(self, block: Any, **where: Any) -> Any:
        """Return the partial result of a block, reduced axes kept at length one."""
        return self.recipe.map(block, axis=self.axis, keepdims=True, **where, **dict(self.settings))

    def stored(self, block: Any) -> Any:
        """Return the partial result of a sparse block."""
        if self.recipe.stored is None or 0 in block.shape:
            return _of_whole(block.toarray(), block.shape, self, None)
        return self.recipe.stored(block, axis=self.axis, **dict(self.settings))

    def merge(self, parts: list[Any], axis: int) -> Any:
        """Return one partial result from those of neighbours along an axis."""
        if axis in self.axis:
            parts = [part for part in parts if not isinstance(part, EmptyPartial)] or parts[:1]
            return parts[0] if len(parts) == 1 else fold_pairs(parts, self.recipe.combine, axis)
        return _concatenate_partials(parts, axis)


BlockReductions = tuple[BlockReduction, ...]


@dataclass(frozen=True)
class EmptyPartial:
    """The partial result of no elements, if the recipe has none: the block itself."""

    block: Any


@dataclass(frozen=True)
class Combine:
    """A recipe's combination, for partial results that may be empty."""

    func: Callable[[Any, Any], Any]

    def __call__(self, a: Any, b: Any) -> Any:
        if isinstance(a, EmptyPartial):
            return b
        return a if isinstance(b, EmptyPartial) else self.func(a, b)


@kernel(scratch=0.2, tiled=True)
def reduce_block(
    *blocks: Any, reductions: BlockReductions, program: UfuncProgram | None, masked: bool
) -> Any:
    """Return the partial result of a block for one reduction, a tuple of them for several."""
    results = _reduce_blocks(blocks, reductions, program, masked)
    return results[0] if len(reductions) == 1 else results


def _reduce_blocks(
    blocks: Sequence[Any], reductions: BlockReductions, program: UfuncProgram | None, masked: bool
) -> tuple[Any, ...]:
    if (
        len(blocks) == 1
        and is_sparse(blocks[0])
        and all(reduction.recipe.stored for reduction in reductions)
    ):
        return tuple(reduction.stored(blocks[0]) for reduction in reductions)
    blocks = tuple(map(as_block, blocks))
    shape = np.broadcast_shapes(*(block.shape for block in blocks))
    if any(map(is_foreign, blocks)):
        return _whole(blocks, shape, reductions, program, masked)
    if 0 in shape:
        blocks = tuple(map(np.asarray, blocks))
    blocks = _in_any_order(blocks, reductions)
    parts = border_parts(blocks, shape)
    if parts is not None:
        reduce_part = functools.partial(
            _reduce_blocks, reductions=reductions, program=program, masked=masked
        )
        return _by_regions(blocks, parts, reductions, reduce_part)
    itemsize = max(block.dtype.itemsize for block in blocks)
    itemsize = itemsize if program is None else max(itemsize, program.itemsize)
    once = program is None and len(reductions) == 1 and not reductions[0].recipe.tiled
    once = once and not isinstance(blocks[0], LazyBlock)
    if once or math.prod(shape) * itemsize <= TILE_BYTES:
        return _whole(blocks, shape, reductions, program, masked)
    if program is not None and program.thins:
        return ChosenTiles(reductions, program).run(blocks, shape, itemsize)
    return Tiles(reductions, program, masked).run(blocks, shape, itemsize)


def _in_any_order(blocks: tuple[Any, ...], reductions: BlockReductions) -> tuple[Any, ...]:
    """Read elements in the fastest order along axes where all of them are combined.

    Axes count from the last one; those with several elements in other blocks are excluded.
    """
    numeric = [isinstance(block, LazyBlock) and block.dtype.kind in "biufc" for block in blocks]
    if not any(numeric):
        return blocks
    ndim = max(block.ndim for block in blocks)
    free = {
        axis - ndim for axis in set.intersection(*(set(reduction.axis) for reduction in reductions))
    }
    arrays = []
    for block, is_numeric in zip(blocks, numeric, strict=True):
        varies = {
            axis
            for operand in blocks
            if operand is not block
            for axis in range(-operand.ndim, 0)
            if operand.shape[axis] != 1
        }
        axes = [axis + block.ndim for axis in free - varies if axis >= -block.ndim]
        arrays.append(block.shuffled(axes) if is_numeric else block)
    return tuple(arrays)


def _whole(
    blocks: Sequence[Any],
    shape: tuple[int, ...],
    reductions: BlockReductions,
    program: UfuncProgram | None,
    masked: bool,
) -> tuple[Any, ...]:
    blocks = tuple(map(as_array, blocks))
    value = blocks[0] if program is None else program(*blocks)
    if program is not None and program.thins:
        shape = value.shape
    return tuple(
        _of_whole(value, shape, reduction, blocks[-1] if masked else None)
        for reduction in reductions
    )


def _of_whole(block: Any, shape: tuple[int, ...], reduction: BlockReduction, mask: Any) -> Any:
    if reduction.recipe.whole is not None and 0 in [shape[axis] for axis in reduction.axis]:
        return EmptyPartial(np.broadcast_to(block, shape))
    return reduction.map(block) if mask is None else reduction.map(block, where=mask)


def _by_regions(
    blocks: Sequence[Any],
    parts: Sequence[Sequence[slice]],
    reductions: BlockReductions,
    reduce_one: Callable[[Sequence[Any]], tuple[Any, ...]],
    region: tuple[slice, ...] = (),
) -> tuple[Any, ...]:
    """Reduce blocks of pieces piece by piece, and combine the results."""
    axis = len(region)
    if axis == len(parts):
        return reduce_one([at(block, region) for block in blocks])
    partials = [
        _by_regions(blocks, parts, reductions, reduce_one, (*region, part)) for part in parts[axis]
    ]
    return _merge_neighbours(reductions, partials, axis)


def _merge_neighbours(
    reductions: BlockReductions, found: list[tuple[Any, ...]], axis: int
) -> tuple[Any, ...]:
    """Combine the results of neighbours along an axis, one reduction after the other."""
    if len(found) == 1:
        return found[0]
    return tuple(
        reduction.merge(list(parts), axis)
        for reduction, parts in zip(reductions, zip(*found, strict=True), strict=True)
    )


class Tiles:
    """Reduces a block tile by tile; all reductions use a tile while it is in cache."""

    def __init__(
        self, reductions: BlockReductions, program: UfuncProgram | None, masked: bool
    ) -> None:
        self._reductions = reductions
        self._worker = None if program is None else program.worker()
        self._masked = masked
        self._ndim = 0
        self._read: Callable[[tuple[slice, ...]], list[Any]]
        self._maps: list[Callable[..., Any]]

    def run(self, blocks: Sequence[Any], shape: tuple[int, ...], itemsize: int) -> tuple[Any, ...]:
        """Return the partial results of the block."""
        self._ndim = ndim = len(shape)
        flat = None
        if all(len(reduction.axis) == ndim for reduction in self._reductions):
            flat = as_vectors(blocks, shape)
        if flat is not None:
            blocks, shape = flat[0], (math.prod(shape),)
            self._reductions = tuple(
                BlockReduction(reduction.recipe, (0,), reduction.settings)
                for reduction in self._reductions
            )
        reduced = [
            sum(axis in reduction.axis for reduction in self._reductions)
            for axis in range(len(shape))
        ]
        sizes = tile_shape(
            blocks, shape, itemsize, 0 if reduced[-1] == len(self._reductions) else STRIPE
        )
        # Kept axes outside, reduced ones inside: accumulators stay in cache. A row is joined.
        loops = sorted(range(len(shape)), key=lambda axis: (reduced[axis], -axis))
        axes = [axis for axis in loops if shape[axis] > sizes[axis]]
        self._read = reader(blocks, shape)
        self._maps = [reduction.bound() for reduction in self._reductions]
        with in_tiles(sizes[-1]):
            values = self._loop(shape, sizes, axes, [slice(0, length) for length in shape])
        if flat is not None:
            values = tuple(_each(value, _Reshape((1,) * ndim)) for value in values)
        return values

    def _loop(
        self, shape: Shape, sizes: Shape, cut: Sequence[int], region: list[slice]
    ) -> tuple[Any, ...]:
        if not cut:
            return self._leaf(tuple(region))
        # The sums of all reductions are combined together, which costs as much as a small tile.
        joint = all(cut[0] in reduction.axis for reduction in self._reductions)
        axes, inner = (cut, ()) if joint else (cut[:1], cut[1:])
        parts = []
        for place in itertools.product(*(steps(shape[axis], sizes[axis]) for axis in axes)):
            for axis, part in zip(axes, place, strict=True):
                region[axis] = part
            parts.append(self._loop(shape, sizes, inner, region))
        for axis in axes:
            region[axis] = slice(0, shape[axis])
        return _merge_neighbours(self._reductions, parts, cut[0])

    def _leaf(self, tile: tuple[slice, ...]) -> tuple[Any, ...]:
        views = self._read(tile)
        value = views[0]
        if self._worker is not None:
            value = self._worker(views, tuple([part.stop - part.start for part in tile]))
        if self._masked:
            return tuple([reduce_tile(value, where=views[-1]) for reduce_tile in self._maps])
        return tuple([reduce_tile(value) for reduce_tile in self._maps])


class ChosenTiles(Tiles):
    """Reduces the selected elements of a block."""

    def __init__(self, reductions: BlockReductions, program: UfuncProgram) -> None:
        super().__init__(reductions, program, masked=False)
        self._weigh = (
            reductions[0].recipe.weighed
            if len(reductions) == 1 and not reductions[0].settings
            else None
        )
        allowed = None if self._weigh is None else masked_program(program)
        self._weigher = None if allowed is None else allowed.worker()

    def _leaf(self, tile: tuple[slice, ...]) -> tuple[Any, ...]:
        views, shape = self._read(tile), tuple([part.stop - part.start for part in tile])
        if self._weigher is not None and self._weigh is not None:
            with suppress(FloatingPointError), np.errstate(**_RAISE):
                partial = self._weigh(*self._weigher(views, shape))
                if np.isfinite(partial[0] if isinstance(partial, tuple) else partial).all():
                    return (partial,)
        assert self._worker is not None
        value = self._worker(views, shape)
        if not value.size:
            return (EmptyPartial(np.empty((0,) * self._ndim, value.dtype)),) * len(self._maps)
        return tuple([_counts_apart(reduce_tile(value)) for reduce_tile in self._maps])


_RAISE: Any = {"divide": "raise", "over": "raise", "invalid": "raise"}


def _counts_apart(partial: Any) -> Any:
    """Make arrays of the numbers in a partial result, which differ between tiles."""
    if not isinstance(partial, tuple):
        return partial
    shape = (1,) * partial[0].ndim
    return tuple([np.full(shape, item) if type(item) is int else item for item in partial])


def fold_pairs(parts: list[Any], combine: Callable[[Any, Any], Any], axis: int) -> Any:
    """Combine neighbours along an axis, on which each has length one, until one is left.

    Rounding errors do not accumulate, and all pairs of a level are one call.
    """
    numbers = [_numbers(part) for part in parts]
    if any(item != numbers[0] for item in numbers[:-1]):
        middle = len(parts) // 2
        halves = (fold_pairs(half, combine, axis) for half in (parts[:middle], parts[middle:]))
        return combine(*halves)
    odd = []
    if numbers[-1] != numbers[0]:
        odd.append(parts.pop())
    stack = _concatenate_partials(parts, axis)
    count = len(parts)
    while count > 1:
        if count % 2:
            odd.append(_each(stack, _Along(axis, slice(count - 1, count))))
        evens = _each(stack, _Along(axis, slice(0, count - 1, 2)))
        stack = combine(evens, _each(stack, _Along(axis, slice(1, count, 2))))
        count //= 2
    for part in reversed(odd):
        stack = combine(stack, part)
    return stack


def _numbers(partial: Any) -> list[Any]:
    """Return the plain numbers of a partial result, which apply to all its elements."""
    items = partial if isinstance(partial, tuple) else (partial,)
    return [item for item in items if type(item) is int or not is_array(item)]


@dataclass(frozen=True)
class _Along:
    axis: int
    part: slice

    def __call__(self, value: Any) -> Any:
        return value[(*(slice(None),) * self.axis, self.part)]


@dataclass(frozen=True)
class _Reshape:
    shape: tuple[int, ...]

    def __call__(self, value: Any) -> Any:
        return np.reshape(value, self.shape)


def _each(partial: Any, func: Callable[[Any], Any]) -> Any:
    """Apply ``func`` to the arrays of a partial result, but not to plain numbers."""
    if isinstance(partial, tuple):
        return tuple(_each(item, func) for item in partial)
    return func(partial) if is_array(partial) else partial


def _concatenate_partials(parts: list[Any], axis: int) -> Any:
    """Join partial results of neighbouring tiles along an axis that is kept."""
    first = parts[0]
    if isinstance(first, tuple):
        return tuple(
            _concatenate_partials([part[i] for part in parts], axis) for i in range(len(first))
        )
    return np.concatenate(parts, axis=axis) if is_array(first) else first


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
    if isinstance(partial, EmptyPartial):
        assert recipe.whole is not None
        extra = {} if initial is None else {"initial": initial}
        value = recipe.whole(partial.block, axis=axis, keepdims=True, **options, **extra)
    else:
        value = partial if recipe.finalize is None else recipe.finalize(partial, **options)
        if initial is not None:
            value = recipe.combine(value, np.asarray(initial, dtype))
    value = as_array(value).astype(dtype, copy=False)
    return value if keepdims else np.squeeze(value, axis=axis)
