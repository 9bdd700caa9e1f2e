"""Shuffle: every output chunk from a part of every input chunk along an axis."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..machine.costs import cost_of
from ..sizes import Index, Sizes
from .blockwise import Axes, ByKernel, blockwise
from .grid import Call, Grid, Ref


@dataclass(frozen=True)
class PartAt:
    """The part of a split for the output chunk."""

    axis: int

    def __call__(self, index: Index) -> tuple[int]:
        return (index[self.axis],)


@dataclass(frozen=True, eq=False)
class ShuffleMerge(ByKernel):
    """Chunk ``j`` along ``axis`` from part ``j`` of every split chunk along that axis."""

    parts: Grid
    axis: int
    sources: tuple[Grid, ...] = ()
    kwargs: Mapping[str, Any] | None = None

    def cell(self, index: Index) -> Call:
        count = self.parts.numblocks[self.axis]
        head, tail = index[: self.axis], index[self.axis + 1 :]
        # The parts' grid has one more axis than the splits': the number of the part.
        refs = [
            Ref(self.parts, (*head, position, *tail, index[self.axis])) for position in range(count)
        ]
        singles = tuple(Ref(source, (0,) * source.ndim) for source in self.sources)
        return Call(self.func, (refs, *singles), self.kwargs or {})


def all_to_all(
    source: Grid,
    axis: int,
    split: Callable[..., Any] | None,
    merge: Callable[..., Any],
    sizes: Sizes,
    *,
    split_with: Sequence[Grid] = (),
    merge_with: Sequence[Grid] = (),
    split_kwargs: Mapping[str, Any] | None = None,
    merge_kwargs: Mapping[str, Any] | None = None,
    meta: Any = None,
    itemsize: float | None = None,
) -> Grid:
    """Shuffle along ``axis``: every input chunk is split, every output chunk merges its parts.

    ``split(block, *split_with, **split_kwargs)`` returns ``len(sizes)`` parts in the order of the
    output; without it, the chunks of ``source`` are such lists already. ``merge(parts, *merge_with,
    **merge_kwargs)`` takes them in the order of the input. Grids in ``split_with`` and
    ``merge_with`` have one chunk each.
    """
    whole: Axes = tuple(range(source.ndim))
    splits = source
    if split is not None:
        inputs = [(source, whole), *((grid, (None,) * grid.ndim) for grid in split_with)]
        splits = blockwise(
            split,
            inputs,
            chunks=source.chunks,
            itemsize=source.width,
            kwargs=split_kwargs,
            cheap=cost_of(split).view,
        )
    part_sizes: Sizes = (1,) * len(sizes)
    parts = blockwise(
        operator.getitem,
        [(splits, whole)],
        chunks=(*source.chunks, part_sizes),
        varying=PartAt(source.ndim),
        cheap=True,
        itemsize=(source.width or 0) / max(1, len(sizes)),
    )
    chunks = (*source.chunks[:axis], tuple(sizes), *source.chunks[axis + 1 :])
    rule = ShuffleMerge(merge, parts, axis, tuple(merge_with), merge_kwargs or None)
    return Grid(rule, chunks, meta, itemsize)
