"""The positions of extremes: reductions whose partial results include positions."""

from __future__ import annotations

import operator
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from marsdask.core.grids.blockwise import blockwise, map_blocks
from marsdask.core.grids.chunk_positions import CornerAt
from marsdask.core.grids.grid import Grid, Look
from marsdask.core.grids.lengths import resolved
from marsdask.core.grids.parts import loops_beside
from marsdask.core.grids.tree import Pairwise, tree
from marsdask.core.machine.costs import kernel
from marsdask.core.node import Axes, Node
from marsdask.core.sizes import Chunks, Index, shape_of

from ..indexing.assignment import into
from ..indexing.output_rules import read_rule
from ..kernels.duck_arrays import as_array
from ..operands import as_node, empty
from ..typing import TensorFunction, public

#: The value, its flat position along the reduced axes, and whether it is not nan.
Found = tuple[Any, Any, Any]


@dataclass(frozen=True)
class Pick:
    """Which of two extremes is the better one: the earlier, if they are equal."""

    largest: bool
    skips_nan: bool

    def __call__(self, a: Any, b: Any) -> Any:
        if a is None or b is None:
            return b if a is None else a
        (value_a, place_a, real_a), (value_b, place_b, real_b) = a, b
        # Values that differ from themselves: nan of any type, NaT too.
        nan_a, nan_b = np.not_equal(value_a, value_a), np.not_equal(value_b, value_b)
        better = value_b > value_a if self.largest else value_b < value_a
        better = np.where(nan_a | nan_b, nan_b & ~nan_a, better)
        tie = (value_a == value_b) | (nan_a & nan_b)
        take = better | (tie & (place_b < place_a))
        pairs = zip(a[:2], b[:2], strict=True)
        return (*(np.where(take, y, x) for x, y in pairs), real_a | real_b)


@dataclass(frozen=True, eq=False)
class ArgReduction(Node):
    """The position of an extreme along one axis, or in the flat array."""

    a: Node
    pick: Pick
    axis: int | None
    keepdims: bool
    title: str

    @property
    def label(self) -> str:
        return self.title

    @property
    def meta(self) -> Any:
        return empty(np.dtype(np.intp), len(self.chunks))

    @property
    def _axes(self) -> tuple[int, ...]:
        return tuple(range(self.a.meta.ndim)) if self.axis is None else (self.axis,)

    @property
    def chunks(self) -> Chunks:
        return self._reduced(self.a.chunks)

    @property
    def loop_axes(self) -> tuple[Axes, ...]:
        return (loops_beside(self._axes, self.a.meta.ndim, kept=self.keepdims),)

    def _reduced(self, chunks: Chunks) -> Chunks:
        splits = tuple((1,) if a in self._axes else sizes for a, sizes in enumerate(chunks))
        if self.keepdims:
            return splits
        return tuple(sizes for axis, sizes in enumerate(splits) if axis not in self._axes)

    def tile(self, a: Grid) -> Generator[Look, Any, Grid]:
        (a,) = yield from resolved(a)
        shape = shape_of(a.chunks)
        several = tuple(
            (1,) * len(sizes) if axis in self._axes else sizes
            for axis, sizes in enumerate(a.chunks)
        )
        partials = map_blocks(
            find_real_block if self.pick.skips_nan else find_block,
            a,
            chunks=several,
            itemsize=(a.width or 0) + self.meta.dtype.itemsize + 1,
            varying=CornerAt(a.chunks),
            kwargs={"pick": self.pick, "axis": self.axis, "shape": shape},
        )
        grid = tree(partials, Pairwise(self.pick), self._axes)
        ndim = len(shape)
        axes = [axis for axis in range(ndim) if self.keepdims or axis not in self._axes]
        place = tuple(axes.index(axis) if axis in axes else None for axis in range(ndim))
        return blockwise(
            position_block,
            [(grid, place)],
            chunks=tuple(grid.chunks[axis] for axis in axes),
            meta=self.meta,
            kwargs={"axes": self._axes, "keepdims": self.keepdims, "title": self.title},
        )


@kernel(scratch=1.0)
def find_block(
    block: Any, start: Index, pick: Pick, axis: int | None, shape: tuple[int, ...]
) -> Found | None:
    """Return the best of a block with its position in the whole array, ``None`` if it is empty."""
    block = as_array(block)
    if not (block.size if axis is None else block.shape[axis]):
        return None
    return _found(block, np.True_, start, pick, axis, shape)


@kernel(scratch=2.3)
def find_real_block(
    block: Any, start: Index, pick: Pick, axis: int | None, shape: tuple[int, ...]
) -> Found | None:
    """Return the best of a block except nan, see :func:`find_block`."""
    block = as_array(block)
    if block.dtype.kind not in "fc" or not block.size:
        best: Found | None = find_block(block, start, pick, axis, shape)
        return best
    real = ~np.isnan(block)
    block = np.where(real, block, block.dtype.type(-np.inf if pick.largest else np.inf))
    return _found(block, real, start, pick, axis, shape)


def _found(
    block: Any, real: Any, start: Index, pick: Pick, axis: int | None, shape: tuple[int, ...]
) -> Found:
    search = np.argmax if pick.largest else np.argmin
    if axis is not None:
        place = np.expand_dims(search(block, axis=axis), axis)
        value = np.take_along_axis(block, place, axis)
        has_real = (
            real.any(axis=axis, keepdims=True) if real.ndim else np.ones(value.shape, np.bool_)
        )
        return value, place + start[axis], has_real
    form = (1,) * block.ndim
    flat = int(search(block))
    inside = np.unravel_index(flat, block.shape) if block.ndim else ()
    whole = 0
    for first, local, length in zip(start, inside, shape, strict=True):
        whole = whole * length + first + int(local)
    value = block.reshape(-1)[flat : flat + 1].reshape(form)
    return value, np.full(form, whole, np.intp), np.full(form, real.any())


def position_block(found: Found | None, axes: tuple[int, ...], keepdims: bool, title: str) -> Any:
    """Return the positions of the last partial results."""
    if found is None:
        raise ValueError(f"attempt to get {title} of an empty sequence")
    _, place, real = found
    if title.startswith("nan") and not np.all(real):
        raise ValueError("All-NaN slice encountered")
    place = as_array(place, np.intp)
    return place if keepdims else np.squeeze(place, axis=axes)


def argreduction(title: str, *, largest: bool, skips_nan: bool = False) -> TensorFunction:
    """Return the lazy search for an extreme."""
    pick = Pick(largest, skips_nan)
    rule = read_rule(f"output array does not match result of np.{title.removeprefix('nan')}")

    def lazy(
        a: Any,
        axis: Any = None,
        out: Any = None,
        keepdims: bool = False,
        combine_size: Any = None,
        *,
        split_every: Any = None,
    ) -> Any:
        del combine_size, split_every  # Mars's and Dask's width of the tree: options.split_every
        node = as_node(a)
        if axis in (0, -1) and not node.meta.ndim:  # NumPy accepts an axis for scalars
            axis = None
        if axis is not None:
            axis = np.lib.array_utils.normalize_axis_index(operator.index(axis), node.meta.ndim)
        _check(node, axis, title)
        result = ArgReduction(node, pick, axis, bool(keepdims), title)
        return into(out, result, "safe", rule)

    lazy.__name__ = lazy.__qualname__ = title
    lazy.__doc__ = f"Return the positions that ``{title}`` finds. See numpy.{title}."
    return public(lazy)


def _check(node: Node, axis: int | None, title: str) -> None:
    """Raise NumPy's errors for no elements, and for types without an order."""
    lengths = node.shape if axis is None else (node.shape[axis],)
    other_lengths = () if axis is None else tuple(n for a, n in enumerate(node.shape) if a != axis)
    if 0 in lengths and 0 not in other_lengths:
        raise ValueError(f"attempt to get {title} of an empty sequence")
    np.argmax(np.ones(1, node.meta.dtype))


argmax: Final = argreduction("argmax", largest=True)
argmin: Final = argreduction("argmin", largest=False)
nanargmax: Final = argreduction("nanargmax", largest=True, skips_nan=True)
nanargmin: Final = argreduction("nanargmin", largest=False, skips_nan=True)
