"""Scan along an axis: the totals of chunks first, then each chunk with its start.

A blocked scan (Blelloch, Prefix Sums and Their Applications, 1990): two parallel passes over the
data. One small task for each lane of chunks computes starts from totals. It takes twice the work of
a loop. Totals are combined from the left, so functions need not be associative. Lengths may be
unknown, and chunks empty.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..sizes import Index, Sizes
from .blockwise import blockwise, map_blocks
from .grid import Call, Grid, Ref, Rule


@dataclass(frozen=True, eq=False)
class ScanOffsets(Rule):
    """The starts of all chunks of a lane, computed from the totals of earlier chunks."""

    func: Callable[..., Any]
    totals: Grid
    axis: int
    kwargs: Mapping[str, Any] | None = None
    backward: bool = False

    def cell(self, index: Index) -> Call:
        head, tail = index[: self.axis], index[self.axis + 1 :]
        count = self.totals.numblocks[self.axis]
        earlier = range(count - 1, 0, -1) if self.backward else range(count - 1)
        refs = [Ref(self.totals, (*head, position, *tail)) for position in earlier]
        return Call(self.func, (refs,), self.kwargs or {})


@dataclass(frozen=True)
class OffsetAt:
    """The start of a chunk; the first nonempty chunk has none."""

    axis: int
    empty: int
    """How many chunks before it are empty."""
    last: int | None = None
    """The position of the last chunk, where the scan begins if it goes backward."""

    def __call__(self, index: Index) -> tuple[int]:
        position = index[self.axis]
        if self.last is not None:
            position = self.last - position
        return (position if position > self.empty else 0,)


def scan(
    source: Grid,
    axis: int,
    total: Callable[..., Any],
    starts: Callable[..., Any],
    step: Callable[..., Any],
    *,
    total_kwargs: Mapping[str, Any] | None = None,
    starts_kwargs: Mapping[str, Any] | None = None,
    step_kwargs: Mapping[str, Any] | None = None,
    meta: Any = None,
    itemsize: float | None = None,
    backward: bool = False,
) -> Grid:
    """Combine each chunk with the total of the chunks before it along ``axis``.

    ``total(block)`` is the chunk's contribution to later ones, with one element along the axis.
    ``starts(totals)`` receives the totals of all chunks but the last, in order. It returns one more
    start; the first belongs to the first chunk. ``step(block, starts, position)`` computes the
    result; position 0 means that nothing precedes. A single chunk has no starts: ``step(block)``.
    ``backward`` begins at the last chunk: what follows a chunk then precedes it.
    """
    count = source.numblocks[axis]
    like: Any = {"chunks": source.chunks, "meta": meta, "itemsize": itemsize, "kwargs": step_kwargs}
    if count == 1:
        return map_blocks(step, source, **like)
    whole = tuple(range(source.ndim))
    single_sizes = _replaced(source.chunks, axis, (1,) * count)
    totals = blockwise(
        total,
        [(source, whole)],
        chunks=single_sizes,
        meta=meta,
        itemsize=itemsize,
        kwargs=total_kwargs,
    )
    lanes = _replaced(source.chunks, axis, (count,))
    offsets = ScanOffsets(starts, totals, axis, starts_kwargs or None, backward)
    offset_grid = Grid(offsets, lanes, meta, itemsize)
    sizes = source.chunks[axis][:: -1 if backward else 1]
    return blockwise(
        step,
        [(source, whole), (offset_grid, _replaced(whole, axis, None))],
        varying=OffsetAt(axis, _leading_empty(sizes), count - 1 if backward else None),
        **like,
    )


def _leading_empty(sizes: Sizes) -> int:
    """Return the number of leading chunks that are known to be empty."""
    return next((at for at, size in enumerate(sizes) if size != 0), len(sizes))


def _replaced(items: tuple[Any, ...], position: int, item: Any) -> tuple[Any, ...]:
    return (*items[:position], item, *items[position + 1 :])
