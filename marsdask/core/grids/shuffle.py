"""Shuffle: every output chunk from a part of every input chunk along an axis."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..machine.costs import cost_of, kernel
from ..machine.sizing import is_tight
from ..sizes import Index, Sizes, numbers
from .blockwise import Axes, ByKernel, Via, blockwise
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


@dataclass(frozen=True)
class GroupAt:
    """The parts of a split for the group of output chunks."""

    axis: int
    width: int

    def __call__(self, index: Index) -> tuple[slice]:
        start = index[self.axis] * self.width
        return (slice(start, start + self.width),)


@dataclass(frozen=True)
class PlaceInGroup:
    """The position in its group of an output chunk."""

    axis: int
    width: int

    def __call__(self, index: Index) -> tuple[int]:
        return (index[self.axis] % self.width,)


@kernel(scratch=1.0)
def join_runs(lists: list[list[Any]], join: Callable[..., Any], **kwargs: Any) -> list[Any]:
    """Join the parts of a run of splits, which are in order."""
    return [join(list(pieces), **kwargs) for pieces in zip(*lists, strict=True)]


@dataclass(frozen=True, eq=False)
class JoinRuns(ByKernel):
    """Lists of parts, each joined from those of a run of neighbouring splits."""

    slices: Grid
    width: int
    kwargs: Mapping[str, Any]

    def cell(self, index: Index) -> Call:
        run, group = index
        places = range(self.slices.numblocks[0])[run * self.width : (run + 1) * self.width]
        return Call(self.func, ([Ref(self.slices, (i, group)) for i in places],), self.kwargs)


#: So many parts of all splits are first joined in runs, as each is a result of its own ...
MANY_PARTS = 4096
#: ... if one has fewer bytes than this: files and tasks cost more than another copy then.
SMALL_PART = 2**13


def _in_runs(
    splits: Grid, count: int, join: Callable[..., Any], kwargs: Mapping[str, Any]
) -> tuple[Grid, int] | None:
    """Return lists of parts of runs of splits, by groups of output chunks, and a group's width.

    ``None`` if there are few parts or large ones, or if all of them fit into memory. A list is
    about as large as a split, so the square root of their number is that of runs and of groups.
    """
    nbytes = sum(splits.nbytes((i,)) or 0 for i in range(len(splits)))
    pieces = len(splits) * count
    if pieces <= MANY_PARTS or nbytes > SMALL_PART * pieces or not is_tight(nbytes):
        return None
    number = math.isqrt(len(splits))
    width, length = -(-count // number), -(-len(splits) // number)
    groups: Sizes = (1,) * -(-count // width)
    slices = blockwise(
        operator.getitem,
        [(splits, (0,))],
        chunks=(*splits.chunks, groups),
        varying=GroupAt(1, width),
        itemsize=(splits.width or 0) / len(groups),
    )
    sizes = numbers(splits.chunks[0])
    runs = tuple(sum(sizes[i : i + length]) for i in range(0, len(sizes), length))
    rule = JoinRuns(join_runs, slices, length, {"join": join, **kwargs})
    return Grid(rule, (runs, groups), itemsize=(splits.width or 0) / len(groups)), width


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
    join: Callable[..., Any] | None = None,
) -> Grid:
    """Shuffle along ``axis``: every input chunk is split, every output chunk merges its parts.

    ``split(block, *split_with, **split_kwargs)`` returns ``len(sizes)`` parts in the order of the
    output; without it, the chunks of ``source`` are such lists already. ``merge(parts, *merge_with,
    **merge_kwargs)`` takes them in the order of the input. Grids in ``split_with`` and
    ``merge_with`` have one chunk each. ``join(parts, **merge_kwargs)`` makes a part of those of
    neighbouring input chunks of one axis; without it, very many parts are not joined before.
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
    parts = _parts(splits, len(sizes), join, merge_kwargs or {})
    chunks = (*source.chunks[:axis], tuple(sizes), *source.chunks[axis + 1 :])
    rule = ShuffleMerge(merge, parts, axis, tuple(merge_with), merge_kwargs or None)
    return Grid(rule, chunks, meta, itemsize)


def _parts(
    splits: Grid, count: int, join: Callable[..., Any] | None, kwargs: Mapping[str, Any]
) -> Grid:
    """Return the parts of all splits, or of runs of them; the last axis has their numbers."""
    own: Axes = tuple(range(splits.ndim))
    place: PartAt | PlaceInGroup = PartAt(splits.ndim)
    runs = None if join is None else _in_runs(splits, count, join, kwargs)
    width = count
    if runs is not None:
        splits, width = runs
        own = (0, Via(1, tuple(part // width for part in range(count))))
        place = PlaceInGroup(1, width)
    axes = splits.chunks[:1] if runs is not None else splits.chunks
    return blockwise(
        operator.getitem,
        [(splits, own)],
        chunks=(*axes, (1,) * count),
        varying=place,
        cheap=True,
        itemsize=(splits.width or 0) / max(1, width),
    )
