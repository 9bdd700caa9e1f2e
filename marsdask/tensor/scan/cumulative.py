"""Cumulative sums and products: the total of a block, and its accumulation from a start.

Totals of sums are made of each block alone, so one that overflows gives later blocks an infinity
where a sum from the first block on may have none. Products are made from the first block on.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from marsdask.core.grids.blockwise import map_blocks
from marsdask.core.grids.grid import Grid
from marsdask.core.grids.scan import scan as scan_chunks
from marsdask.core.grids.select import chosen, concatenate_grids
from marsdask.core.machine.costs import kernel
from marsdask.core.node import MemoryOrder, Node, PartOf, SameChunks, Taken
from marsdask.core.sizes import numbers

from ..creation.from_shape import full
from ..indexing.assignment import into
from ..indexing.output_rules import ACCUMULATED
from ..kernels.duck_arrays import as_array, is_foreign, new_array
from ..kernels.lazy_block import LazyBlock, Tile
from ..kernels.scratch import lined_up
from ..kernels.triangular_products import add_down, is_summable
from ..manipulation.join import concatenate
from ..manipulation.reshape import ravel
from ..manipulation.shape import normalize_axis
from ..operands import as_node, empty
from ..typing import TensorFunction, public
from ..unknown_lengths import resized, waits_for_lengths

#: Rows at least this long are added to each other; shorter ones use NumPy.
LONG_ROW = 256


@dataclass(frozen=True, eq=False)
class Scan(SameChunks):
    """The accumulation of a ufunc along one axis."""

    ufunc: np.ufunc
    axis: int
    dtype: np.dtype[Any]
    skips_nan: bool
    title: str

    @property
    def label(self) -> str:
        return self.title

    @property
    def meta(self) -> Any:
        return empty(self.dtype, self.a.meta.ndim)

    @property
    def memory_order(self) -> MemoryOrder:
        return self.a.memory_order

    @property
    def _is_chained(self) -> bool:
        """Whether chunks follow each other: totals overflow, or no total says nothing."""
        kind = self.dtype.kind
        return (
            kind == "O"
            or (kind in "fc" and self.ufunc is np.multiply)
            or (kind == "c" and self.ufunc.identity is None)
        )

    def sliced(self, taken: Taken, part: PartOf) -> Node | None:
        span, length = taken[self.axis], self.a.shape[self.axis]
        below: list[range | None] = [*taken]
        below[self.axis] = None
        if span is None:
            return self.replaced(a=part(self.a, tuple(below)))
        stop = 1 + max(span[0], span[-1]) if span else 0
        if not isinstance(length, int) or (stop == length and not any(below)):
            return None
        below[self.axis] = range(stop)  # what comes later has no effect
        inner = self.replaced(a=part(self.a, tuple(below)))
        own = (span if axis == self.axis else None for axis in range(len(taken)))
        return part(inner, tuple(own))

    def tile(self, a: Grid) -> Grid:
        kwargs = {
            "ufunc": self.ufunc,
            "axis": self.axis,
            "dtype": self.dtype,
        }
        if self._is_chained:
            return chained(a, self.axis, self.meta, {**kwargs, "skips_nan": self.skips_nan})
        return scan_chunks(
            a,
            self.axis,
            total_real_block if self.skips_nan else total_block,
            start_values,
            scan_real_block if self.skips_nan else scan_block,
            total_kwargs=kwargs,
            starts_kwargs={"ufunc": self.ufunc, "axis": self.axis},
            step_kwargs=kwargs,
            meta=self.meta,
        )


def _real(block: Any, ufunc: np.ufunc) -> Any:
    """Return the block with nan replaced by the identity."""
    if block.dtype.kind in "fc":
        return np.where(np.isnan(block), block.dtype.type(ufunc.identity), block)
    return block


def loop_type(dtype: Any) -> Any:
    """Return a type for ufuncs, which do not accept units or kinds of text."""
    return None if dtype.kind in "mMT" else dtype


def chained(a: Grid, axis: int, meta: Any, kwargs: dict[str, Any]) -> Grid:
    """Accumulate each chunk after the last values of the one before it.

    Products of separate chunks overflow where the product from the first one on does not.
    """
    results: list[Grid] = []
    before: list[Grid] = []
    for position, size in enumerate(a.chunks[axis]):
        here = [range(position, position + 1) if i == axis else None for i in range(a.ndim)]
        block = chosen(a, here)
        like: Any = {"chunks": block.chunks, "meta": meta}
        results.append(map_blocks(continued_block, block, *before, **like, kwargs=kwargs))
        if size != 0 and position + 1 < a.numblocks[axis]:
            like["chunks"] = (*block.chunks[:axis], (1,), *block.chunks[axis + 1 :])
            last = map_blocks(last_values, results[-1], *before, **like, kwargs={"axis": axis})
            before = [last]
    return concatenate_grids(results, axis, meta)


@kernel(scratch=0.05)
def continued_block(
    block: Any,
    before: Any = None,
    *,
    ufunc: np.ufunc,
    axis: int,
    dtype: Any,
    skips_nan: bool,
) -> Any:
    """Accumulate a block after the values before it; these have no length if there are none."""
    block = as_array(block)
    block = _real(block, ufunc) if skips_nan else block
    out = new_array(block, dtype, block.shape)
    is_first = before is None or not before.shape[axis]
    accumulate(block, None if is_first else before, out, ufunc, axis)
    return out


@kernel(scratch=0.0)
def last_values(block: Any, before: Any = None, *, axis: int) -> Any:
    """Return the last values of a block, those before it if it is empty."""
    if before is not None and not block.shape[axis]:
        return before
    return block[(slice(None),) * axis + (slice(-1, None),)].copy()


@kernel(scratch=0.0)
def total_block(block: Any, ufunc: np.ufunc, axis: int, dtype: Any) -> Any:
    """Return a block's contribution to later ones."""
    if dtype.kind == "T":  # which NumPy accumulates but does not reduce
        first = np.full_like(block, "", shape=(*block.shape[:axis], 1, *block.shape[axis + 1 :]))
        return np.take(ufunc.accumulate(np.concatenate([first, block], axis), axis), [-1], axis)
    start = {} if block.shape[axis] else {"initial": neutral(ufunc, dtype)}
    return ufunc.reduce(block, axis=axis, dtype=loop_type(dtype), keepdims=True, **start)


def neutral(ufunc: np.ufunc, dtype: Any) -> Any:
    """Return the identity of a ufunc."""
    if ufunc.identity is not None:
        return (
            np.zeros((), dtype)[()]
            if ufunc.identity == 0
            else np.array(ufunc.identity).astype(dtype)[()]
        )
    if dtype.kind in "fmM" and ufunc in (np.fmax, np.fmin):
        return np.full((), "NaT" if dtype.kind in "mM" else np.nan, dtype)[()]
    if ufunc is np.lcm:
        return dtype.type(1)
    least = ufunc in (np.maximum, np.fmax)
    if dtype.kind == "f":
        return dtype.type(-np.inf if least else np.inf)
    if dtype.kind == "b":
        return np.bool_(not least)
    if dtype.kind in "mM":  # the least integer is NaT
        limits = np.iinfo(np.int64)
        return np.array(limits.min + 1 if least else limits.max).view(dtype)[()]
    limits = np.iinfo(dtype)
    return dtype.type(limits.min if least else limits.max)


@kernel(scratch=1.2)
def total_real_block(block: Any, ufunc: np.ufunc, axis: int, dtype: Any) -> Any:
    """Return the contribution of a block without its nan to later ones."""
    return total_block(_real(block, ufunc), ufunc, axis, dtype)


def start_values(totals: list[Any], ufunc: np.ufunc, axis: int) -> Any:
    """Return the start of each block, from the totals of all blocks but the last."""
    dtype = totals[0].dtype
    values = np.concatenate([np.full_like(totals[0], neutral(ufunc, dtype)), *totals], axis=axis)
    return ufunc.accumulate(values, axis=axis, dtype=loop_type(dtype))


class CumulativeBlock(LazyBlock):
    """The accumulation of a block, computed as its tiles are read one after the other."""

    __slots__ = ("_block", "_buffer", "_done", "_how", "_start")

    def __init__(self, block: Any, start: Any, ufunc: np.ufunc, axis: int, dtype: Any) -> None:
        super().__init__(block.shape, dtype, block.strides)
        self._block = block
        self._start = start
        self._how = (ufunc, axis)
        #: For tiles of the same part of the other axes: their progress, and the last values.
        self._done: dict[Any, tuple[int, Any]] = {}
        self._buffer = np.empty(0, self.dtype)

    def read(self, tile: Tile) -> Any:
        ufunc, axis = self._how
        part = tile[axis]
        key = tuple((p.start, p.stop) for i, p in enumerate(tile) if i != axis)
        stop, before = self._done.get(key, (0, None))
        if part.start == 0:
            edge = (*tile[:axis], slice(0, 1), *tile[axis + 1 :])
            before = None if self._start is None else self._start[edge]
        elif stop != part.start:
            raise ValueError(f"tiles of a running {ufunc.__name__} are to be read in order")
        block = self._block[tile]
        if self._buffer.size < block.size:
            self._buffer = lined_up(block.size * self.dtype.itemsize).view(self.dtype)
        out = self._buffer[: block.size].reshape(block.shape)
        accumulate(block, before, out, ufunc, axis)
        if part.stop < self.shape[axis]:
            self._done[key] = part.stop, np.take(out, [-1], axis=axis)
        return out


@kernel(view=True)
def running(
    block: Any,
    starts: Any = None,
    position: int = 0,
    *,
    ufunc: np.ufunc,
    axis: int,
    dtype: Any,
) -> Any:
    """Accumulate a block from its start, tile by tile."""
    if is_foreign(block):
        return scan_block(block, starts, position, ufunc=ufunc, axis=axis, dtype=dtype)
    return CumulativeBlock(np.asarray(block), _start(starts, position, axis), ufunc, axis, dtype)


def _start(starts: Any, position: int, axis: int) -> Any:
    return None if starts is None or position == 0 else np.take(starts, [position], axis=axis)


@kernel(scratch=0.05, deferred=running)
def scan_block(
    block: Any,
    starts: Any = None,
    position: int = 0,
    *,
    ufunc: np.ufunc,
    axis: int,
    dtype: Any,
) -> Any:
    """Accumulate a block from its start."""
    block = as_array(block)
    out = new_array(block, dtype, block.shape)
    accumulate(block, _start(starts, position, axis), out, ufunc, axis)
    return out


def accumulate(block: Any, before: Any, out: Any, ufunc: np.ufunc, axis: int) -> None:
    """Write the accumulation of a block after ``before`` (``None`` for the first)."""
    if before is not None and not np.can_cast(block.dtype, out.dtype, "same_kind"):
        # As NumPy casts before it accumulates; a call of the ufunc refuses that.
        block = block.astype(out.dtype)
    summable = ufunc is np.add and axis == 0 and is_summable(block, out)
    if summable and add_down(block, None if before is None else before[0], out):
        return
    if axis == block.ndim - 1 or block[(slice(None),) * axis + (slice(0, 1),)].size < LONG_ROW:
        if before is None:
            ufunc.accumulate(block, axis=axis, dtype=loop_type(out.dtype), out=out)
        elif not _accumulated_apart(block, before, out, ufunc, axis):
            first = (slice(None),) * axis + (slice(0, 1),)
            out[...] = block
            ufunc(before, block[first], out=out[first], dtype=loop_type(out.dtype))
            ufunc.accumulate(out, axis=axis, dtype=loop_type(out.dtype), out=out)
        return
    # NumPy accumulates column by column; whole rows are faster to access.
    if before is not None:
        before = np.moveaxis(before, axis, 0)[0]
    for row, target in zip(np.moveaxis(block, axis, 0), np.moveaxis(out, axis, 0), strict=True):
        if before is None:
            target[...] = row
        else:
            ufunc(before, row, out=target, dtype=loop_type(out.dtype))
        before = target


def _accumulated_apart(block: Any, before: Any, out: Any, ufunc: np.ufunc, axis: int) -> bool:
    """Accumulate a block first and then add ``before``, which is faster; False if that overflows.

    Products may lose more than infinities show.
    """
    inexact = out.dtype.kind in "fc"
    if inexact and ufunc is np.multiply and block.shape[axis]:
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        ufunc.accumulate(block, axis=axis, dtype=loop_type(out.dtype), out=out)
        ufunc(before, out, out=out)
    last = out[(slice(None),) * axis + (slice(-1, None),)]
    return not inexact or bool(np.isfinite(last).all())


@kernel(scratch=1.2)
def scan_real_block(block: Any, *start: Any, ufunc: np.ufunc, axis: int, dtype: Any) -> Any:
    """Accumulate a block without its nan from its start."""
    real = _real(as_array(block), ufunc)
    return scan_block(real, *start, ufunc=ufunc, axis=axis, dtype=dtype)


def scan(
    title: str, ufunc: np.ufunc, whole: Callable[..., Any], *, skips_nan: bool = False
) -> TensorFunction:
    """Return the lazy accumulation of a ufunc; ``whole`` is NumPy's own, for result types."""

    def lazy(
        a: Any, axis: Any = None, dtype: Any = None, out: Any = None, *, method: str = "sequential"
    ) -> Any:
        if method not in ("sequential", "blelloch"):  # one algorithm serves both
            raise ValueError(
                f"Invalid method for cumreduction. method={method!r}; "
                "should be 'sequential' or 'blelloch'"
            )
        node = as_node(a)
        if axis is None or not node.meta.ndim:  # NumPy accepts an axis for scalars
            node = as_node(ravel.node(node))
            axis = 0 if axis is None else axis
        axis = np.lib.array_utils.normalize_axis_index(operator.index(axis), node.meta.ndim)
        result = whole(np.ones(1, node.meta.dtype), dtype=dtype).dtype
        scanned = Scan(node, ufunc, axis, result, skips_nan, title)
        return into(out, scanned, "unsafe", ACCUMULATED)

    lazy.__name__ = lazy.__qualname__ = title
    lazy.__doc__ = f"Accumulate along an axis by ``{title}``. See numpy.{title}."
    if ufunc is np.add:
        lazy.__doc__ += (
            "\n\n    Differs from NumPy: the elements of one chunk whose sum overflows make later "
            "chunks\n    infinite, though those before may balance them."
        )
    return public(lazy)


cumsum: Final = scan("cumsum", np.add, np.cumsum)
cumprod: Final = scan("cumprod", np.multiply, np.cumprod)
nancumsum: Final = scan("nancumsum", np.add, np.nancumsum, skips_nan=True)
nancumprod: Final = scan("nancumprod", np.multiply, np.nancumprod, skips_nan=True)


@waits_for_lengths(lambda a, axis, **_: resized(a, axis))
def with_initial(a: Any, axis: int | None, initial: int) -> Node:
    """Return an accumulation preceded by its initial value."""
    node = as_node(a)
    place = normalize_axis(0 if axis is None else axis, node.meta.ndim)
    shape = [1 if i == place else n for i, n in enumerate(numbers(node.shape))]
    return concatenate.node([full.node(shape, initial, node.meta.dtype), node], place)


def cumulative(name: str, func: TensorFunction, initial: int) -> TensorFunction:
    """Return the array API's form of a scan, which requires an axis unless there is only one."""

    def lazy(
        x: Any,
        /,
        *,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        include_initial: Any = False,
    ) -> Any:
        node = as_node(x)
        if axis is None and node.meta.ndim > 1:
            raise ValueError(f"{name} needs an axis for arrays that are not 1-d")
        result = func.node(x, axis=axis, dtype=dtype)
        result = with_initial(result, axis, initial) if include_initial else result
        return into(out, result, "unsafe", ACCUMULATED)

    lazy.__name__ = lazy.__qualname__ = name
    lazy.__doc__ = f"Accumulate along an axis. See numpy.{name}."
    return public(lazy)


cumulative_sum: Final = cumulative("cumulative_sum", cumsum, 0)
cumulative_prod: Final = cumulative("cumulative_prod", cumprod, 1)
