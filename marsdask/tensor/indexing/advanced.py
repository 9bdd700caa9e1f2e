"""Elements selected by arrays of positions: each chunk gives its share, then shares are merged."""

from __future__ import annotations

import itertools
import math
from collections.abc import Generator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from marsdask.core.grids.blockwise import Via, blockwise
from marsdask.core.grids.grid import Call, Grid, Look, Ref, Rule
from marsdask.core.grids.lengths import resolved
from marsdask.core.grids.parts import MOST_POINTS, is_small_part, outer_cut, part_of
from marsdask.core.machine.costs import kernel
from marsdask.core.node import MemoryOrder, Node, PartOf
from marsdask.core.node import Taken as Cut
from marsdask.core.sizes import Chunks, Index, Size, Sizes, borders, known, numbers, shape_of

from ..chunks import regular
from ..chunkwise.rechunk import recut, recut_as
from ..kernels.gather import gather_points, take_along, take_points
from ..manipulation.concatenation import Concatenate
from ..manipulation.shape import View
from ..memory_order import indexed
from ..operands import empty_like_kind
from ..sparse.blocks import is_sparse
from ..sparse.selection import merge_stored, take_stored

Points = tuple[Any, ...]
"""One array of positions for each of some axes, all of one length; of diagonals, one range."""


@dataclass(frozen=True)
class PointBlocks:
    """The positions of points in a grid."""

    block: Any
    """For each point which of the blocks along the axes of the points, in C order."""
    local: Points
    """For each axis the points' positions within their blocks."""
    counts: tuple[int, ...]
    """The number of blocks along each axis of the points."""


def locate_points(chunks: Chunks, points: Points, axes: tuple[int, ...]) -> PointBlocks:
    """Find the blocks of points, which are in bounds and not negative."""
    counts = tuple(len(chunks[axis]) for axis in axes)
    block: Any = np.zeros(len(points[0]), np.intp)
    local = []
    for axis, positions in zip(axes, points, strict=True):
        if len(chunks[axis]) == 1:
            local.append(positions)
            continue
        sizes = np.array(numbers(chunks[axis]))
        stops = sizes.cumsum()
        indices = stops.searchsorted(positions, side="right")
        local.append(positions - (stops - sizes)[indices])
        block = block * len(stops) + indices
    return PointBlocks(block, tuple(local), counts)


def settle(points: Points, axes: tuple[int, ...], lengths: tuple[int, ...]) -> Points:
    """Count negative positions from the end; ``IndexError`` if they are out of bounds."""
    if isinstance(points[0], range):
        return points
    result = []
    for positions, axis, length in zip(points, axes, lengths, strict=True):
        low, high = (positions.min(), positions.max()) if positions.size else (0, -1)
        if low < -length or high >= length:
            bad = low if low < -length else high
            raise IndexError(f"index {bad} is out of bounds for axis {axis} with size {length}")
        # Small integers cannot exceed their own range, nor unsigned ones be negative.
        places = positions.astype(np.intp, copy=False)
        result.append(np.where(places < 0, places + length, places) if low < 0 else places)
    return tuple(result)


def in_bounds(positions: Any, length: int, mode: str) -> Any:
    """Return positions of an axis; ``mode`` defines those out of bounds."""
    if mode == "wrap":
        return positions % max(length, 1)
    return positions.clip(0, max(length - 1, 0)) if mode == "clip" else positions


@dataclass(frozen=True)
class PointRuns:
    """Points split into runs within one block each: such a chunk needs no merge."""

    starts: Any
    blocks: Any
    sizes: tuple[int, ...]


def runs(block: Any, changes: Any, largest: int) -> PointRuns:
    """Split points at the ``changes`` of their block, and runs longer than ``largest``."""
    starts: list[int] = []
    for begin, end in itertools.pairwise([0, *changes.tolist(), len(block)]):
        starts.extend(range(begin, end, largest))
    if not starts:
        return PointRuns(np.zeros(1, np.intp), np.zeros(1, np.intp), (0,))
    sizes = tuple(end - begin for begin, end in itertools.pairwise([*starts, len(block)]))
    return PointRuns(np.asarray(starts), block[starts], sizes)


@dataclass(frozen=True)
class PointLayout:
    """The chunks of the points' axis, and whether they need merging."""

    where: PointBlocks
    runs: PointRuns | None
    sizes: tuple[int, ...]


def layout(chunks: Chunks, points: Points, axes: tuple[int, ...]) -> PointLayout:
    """Choose the chunks of the result: runs within a block if they are few, else equal chunks."""
    where = locate_points(chunks, points, axes)
    count = len(where.block)
    largest = max(1, math.prod(max(numbers(chunks[axis])) for axis in axes))
    changes = (where.block[1:] != where.block[:-1]).nonzero()[0] + 1
    # Each run is a task. Runs are used unless equal chunks would be far fewer.
    if len(changes) <= count // largest + min(math.prod(where.counts), count):
        plan = runs(where.block, changes, largest)
        return PointLayout(where, plan, plan.sizes)
    return PointLayout(where, None, tuple(numbers(regular(count, largest))))


@dataclass(frozen=True)
class DiagonalRuns:
    """A diagonal, cut where it enters another block."""

    blocks: Any
    """Which of the blocks along the axes each run lies in, in C order."""
    parts: tuple[Points, ...]
    """For each run its positions within the block."""
    sizes: tuple[int, ...]


def diagonal_runs(chunks: Chunks, points: Points, axes: tuple[int, ...]) -> DiagonalRuns:
    """Cut a diagonal, of which there is a range of positions for each axis: no list is made."""
    count = len(points[0])
    stops = [np.cumsum(numbers(chunks[axis])) for axis in axes]
    inner = [own - part.start for own, part in zip(stops, points, strict=True)]
    cuts = np.unique(np.concatenate([[0], *inner]))
    starts = cuts[(cuts >= 0) & (cuts < max(count, 1))]
    ends = np.append(starts[1:], count)
    block: Any = np.zeros(len(starts), np.intp)
    local = []
    for own, part in zip(stops, points, strict=True):
        indices = np.minimum(own.searchsorted(starts + part.start, side="right"), len(own) - 1)
        begin = starts + part.start - np.append(0, own)[indices]
        lengths = (ends - starts).tolist()
        local.append([range(i, i + n) for i, n in zip(begin.tolist(), lengths, strict=True)])
        block = block * len(own) + indices
    parts = tuple(zip(*local, strict=True))
    return DiagonalRuns(block, parts, tuple((ends - starts).tolist()))


@dataclass(frozen=True)
class PointsAt:
    """Gives each chunk the positions in its block."""

    name: str
    axis: int
    points: tuple[Any, ...]

    @property
    def token_name(self) -> str:
        return self.name

    def __call__(self, index: Index) -> tuple[Any]:
        return (self.points[index[self.axis]],)


@kernel(scratch=0.0)
def merge_points(shares: list[Any], places: tuple[tuple[slice, Any], ...], axis: int) -> Any:
    """Merge the shares of several blocks in the order of the points."""
    first = shares[0]
    if is_sparse(first):
        return merge_stored(shares, places, axis)
    length = sum(len(positions) for _, positions in places)
    out = np.empty((*first.shape[:axis], length, *first.shape[axis + 1 :]), first.dtype)
    before = (slice(None),) * axis
    for share, (part, positions) in zip(shares, places, strict=True):
        out[(*before, positions)] = share[(*before, part)]
    return out


#: Points in any order are read directly from up to this many blocks; from more, each gives its
#: share.
FEW_BLOCKS = 8


@dataclass(frozen=True, eq=False)
class MergedPoints(Rule):
    """Chunk ``j`` of the points from the shares of the blocks that contain some of them."""

    label: ClassVar[str] = "take"
    scratch: ClassVar[float] = 0.0

    shares: Grid
    axis: int
    block: Any
    """For each point which share holds it."""
    sizes: tuple[int, ...]
    name: str

    @property
    def token_name(self) -> str:
        return self.name

    @cached_property
    def _plans(self) -> list[tuple[list[int], tuple[tuple[slice, Any], ...]]]:
        """For each chunk the needed shares, their parts, and their positions."""
        plans = []
        offsets = np.zeros(self.shares.numblocks[self.axis], np.intp)
        start = 0
        for size in self.sizes:
            here = self.block[start : start + size]
            order = np.argsort(here, kind="stable")
            sources, begins = np.unique(here[order], return_index=True)
            parts = np.split(order, begins[1:])
            slices = [
                slice(int(offsets[i]), int(offsets[i]) + len(part))
                for i, part in zip(sources, parts, strict=True)
            ]
            offsets[sources] += [len(part) for part in parts]
            plans.append((sources.tolist(), tuple(zip(slices, parts, strict=True))))
            start += size
        return plans

    def cell(self, index: Index) -> Call:
        sources, places = self._plans[index[self.axis]]
        head, tail = index[: self.axis], index[self.axis + 1 :]
        refs = [Ref(self.shares, (*head, position, *tail)) for position in sources]
        return Call(merge_points, (refs, places, self.axis))


def taken(a: Grid, points: Points, axes: tuple[int, ...], place: int, name: str) -> Grid:
    """Return the grid of points of ``a``, whose sizes along ``axes`` are known.

    ``name`` represents the points in the names of the grids.
    """
    if isinstance(points[0], range):
        runs = diagonal_runs(a.chunks, points, axes)
        counts = tuple(len(a.chunks[axis]) for axis in axes)
        return _shares(a, runs.blocks, runs.parts, runs.sizes, axes, place, counts, name)
    plan = layout(a.chunks, points, axes)
    if plan.runs is not None:
        bounds = itertools.pairwise([*plan.runs.starts.tolist(), len(plan.where.block)])
        parts = tuple(tuple(x[i:j] for x in plan.where.local) for i, j in bounds)
        counts = plan.where.counts
        return _shares(a, plan.runs.blocks, parts, plan.sizes, axes, place, counts, name)
    if len(axes) == 1 and plan.where.counts[0] <= FEW_BLOCKS and not is_sparse(a.meta):
        return _gather_points(a, plan, axes[0], name)
    order = np.argsort(plan.where.block, kind="stable")
    blocks, begins = np.unique(plan.where.block[order], return_index=True)
    groups = np.split(order, begins[1:])
    parts = tuple(tuple(x[part] for x in plan.where.local) for part in groups)
    sizes = tuple(len(part) for part in groups)
    shares = _shares(a, blocks, parts, sizes, axes, place, plan.where.counts, name)
    held_by = np.searchsorted(blocks, plan.where.block)
    rule = MergedPoints(shares, place, held_by, plan.sizes, f"{shares.name}-merged")
    chunks = (*shares.chunks[:place], plan.sizes, *shares.chunks[place + 1 :])
    return Grid(rule, chunks, shares.meta, shares.itemsize)


def _gather_points(a: Grid, plan: PointLayout, axis: int, name: str) -> Grid:
    """Let every chunk of points read all blocks along their axis."""
    plans = []
    (local,) = plan.where.local
    (count,) = plan.where.counts
    for start, stop in itertools.pairwise(borders(plan.sizes)):
        block = plan.where.block[start:stop]
        points = tuple(local[start:stop][block == i] for i in range(count))
        # The final position of each point when points are taken block by block.
        plans.append((points, np.argsort(np.argsort(block, kind="stable"), kind="stable")))
    inputs = [
        (a, tuple(Via(None, (i,)) if b == axis else b for b in range(a.ndim))) for i in range(count)
    ]
    return blockwise(
        gather_points,
        inputs,
        chunks=(*a.chunks[:axis], plan.sizes, *a.chunks[axis + 1 :]),
        meta=a.meta,
        varying=PointsAt(f"{name}-{a.name}", axis, tuple(plans)),
        kwargs={"axis": axis},
    )


def _shares(
    a: Grid,
    blocks: Any,
    parts: tuple[Points, ...],
    sizes: Sizes,
    axes: tuple[int, ...],
    place: int,
    counts: tuple[int, ...],
    name: str,
) -> Grid:
    """Take ``parts[i]`` from the block ``blocks[i]``: one chunk each along the points' axis."""
    tables = np.unravel_index(blocks, counts)
    other_axes = [axis for axis in range(a.ndim) if axis not in axes]
    order: list[int | None] = [*other_axes[:place], None, *other_axes[place:]]
    edges: list[int | Via | None] = [
        None if axis in axes else order.index(axis) for axis in range(a.ndim)
    ]
    for axis, table in zip(axes, tables, strict=True):
        edges[axis] = Via(place, tuple(table.tolist()))
    chunks = tuple(sizes if axis is None else a.chunks[axis] for axis in order)
    return blockwise(
        take_along if len(axes) == 1 and not is_sparse(a.meta) else take_points,
        [(a, tuple(edges))],
        chunks=chunks,
        meta=empty_like_kind(a.meta, a.meta.dtype, len(chunks)),
        varying=PointsAt(f"{name}-{a.name}", place, parts),
        kwargs={"axes": axes, "place": place},
    )


@dataclass(frozen=True, eq=False)
class PointSelection(Node):
    """The elements at positions, an array for each of ``axes``; their axes begin at ``place``."""

    label: ClassVar[str] = "take"

    a: Node
    points: tuple[Any, ...]
    axes: tuple[int, ...]
    place: int
    indexed: bool = False
    """Whether it lies in memory as NumPy's indexing makes it, rather than as ``take``."""

    @property
    def memory_order(self) -> MemoryOrder:
        if not self.indexed:
            return None
        return indexed(self.a.memory_order, self.axes, self.place, self.shape)

    @property
    def meta(self) -> Any:
        return empty_like_kind(self.a.meta, self.a.meta.dtype, len(self.chunks))

    def _below(self, taken: Cut) -> Cut:
        """Return what is taken of the source beside its axes of points."""
        others = iter([*taken[: self.place], *taken[self.place + 1 :]])
        return tuple(None if i in self.axes else next(others) for i in range(len(self.a.chunks)))

    def _cut(self, chunks: Chunks, sizes: Sizes) -> Chunks:
        splits = [size for axis, size in enumerate(chunks) if axis not in self.axes]
        return (*splits[: self.place], sizes, *splits[self.place :])


@dataclass(frozen=True, eq=False)
class Take(PointSelection):
    """The elements at positions in memory."""

    @property
    def chunks(self) -> Chunks:
        chunks = self.a.chunks
        if all(known(chunks[axis]) for axis in self.axes):
            points = self._settled(chunks)
            if isinstance(points[0], range):
                return self._cut(chunks, diagonal_runs(chunks, points, self.axes).sizes)
            return self._cut(chunks, layout(chunks, points, self.axes).sizes)
        return self._cut(chunks, (len(self.points[0]),))

    def _settled(self, chunks: Chunks) -> Points:
        lengths = shape_of(chunks[axis] for axis in self.axes)
        return settle(self.points, self.axes, lengths)

    def sliced(self, taken: Cut, part: PartOf) -> Node | None:
        along = taken[self.place]
        points = self.points
        if along is not None:
            stop = along.stop if along.stop >= 0 else None
            where = slice(along.start, stop, along.step) if along else slice(0)
            points = tuple(own[where] for own in points)
        return self.replaced(a=part(self.a, self._below(taken)), points=points)

    def pushed_down(self) -> Node | None:
        a, count = self.a, len(self.points[0])
        if not all(known((a.shape[axis],)) for axis in self.axes):
            return None
        if (along := self._diagonal()) is not None:
            return recut_as(along, self.chunks)
        if count > MOST_POINTS or not is_small_part(self.shape, a):
            return None
        outer = [outer_cut(own) for own in self._settled(a.chunks)]
        if None in outer or math.prod(cut.length for cut in outer if cut) > MOST_POINTS:
            return None
        cuts = dict(zip(self.axes, outer, strict=True))
        for axis, cut in cuts.items():
            nodes = [self._along(a, axis, run) for run in cut.runs]  # type: ignore[union-attr]
            if None in nodes:
                return None
            a = nodes[0] if len(nodes) == 1 else Concatenate(tuple(nodes), axis, a.meta.dtype)  # type: ignore[assignment,arg-type]
        if a is self.a:
            return None
        points = tuple(cuts[axis].local for axis in self.axes)  # type: ignore[union-attr]
        return recut_as(self.replaced(a=a, points=points), self.chunks)

    def _diagonal(self) -> Node | None:
        """Return a diagonal of the last two axes, if the source can make it alone."""
        ndim, points = len(self.a.chunks), self.points
        if self.axes != (ndim - 2, ndim - 1) or self.place != ndim - 2:
            return None
        if not all(isinstance(own, range) and own for own in points):
            return None
        rows, columns = points
        is_part = is_small_part(self.shape, self.a)
        return self.a.diagonal(rows, columns, diagonal_of) if is_part else None

    def _along(self, a: Node, axis: int, run: range) -> Node | None:
        ranges = tuple(run if i == axis else None for i in range(len(a.chunks)))
        if a is self.a and a.sliced(ranges, part_of) is None:
            return None
        return part_of(a, ranges)

    def tile(self, a: Grid) -> Any:
        if all(known(a.chunks[axis]) for axis in self.axes):
            return taken(a, self._settled(a.chunks), self.axes, self.place, self.name)
        return self._look(a)

    def _look(self, a: Grid) -> Generator[Look, Any, Grid]:
        (a,) = yield from resolved(a)
        return taken(a, self._settled(a.chunks), self.axes, self.place, self.name)


def diagonal_of(node: Node, rows: range, columns: range, lengths: tuple[Size, ...]) -> Node:
    """Return the elements of an operand for a diagonal of the last two axes, along one axis.

    ``lengths`` are those of the result's axes, which an operand may have once for all.
    """
    ndim = len(node.chunks)
    if not ndim:
        return node
    lead: tuple[range | None, ...] = (None,) * max(0, ndim - 2)
    if ndim == 1 or (node.shape[-2] == 1 and lengths[0] != 1):
        row = node if ndim == 1 else View(node, (*range(ndim - 2), ndim - 1))
        return row if row.shape[-1] == 1 else part_of(row, (*lead, columns))
    if node.shape[-1] == 1 and lengths[1] != 1:
        return part_of(View(node, tuple(range(ndim - 1))), (*lead, rows))
    return Take(node, (rows, columns), (ndim - 2, ndim - 1), ndim - 2)


@dataclass(frozen=True, eq=False)
class TakeByTensor(PointSelection):
    """The elements at positions that are computed.

    Few positions are computed first and then treated like known ones. Otherwise every chunk of
    positions reads all chunks along the axes.
    """

    points: tuple[Node, ...]

    @property
    def chunks(self) -> Chunks:
        return self._cut(self.a.chunks, self.points[0].chunks[0])

    def sliced(self, taken: Cut, part: PartOf) -> Node | None:
        points = tuple(part(own, (taken[self.place],)) for own in self.points)
        return self.replaced(a=part(self.a, self._below(taken)), points=points)

    def tile(self, a: Grid, *points: Grid) -> Generator[Look, Any, Grid]:
        if any(grid.chunks != points[0].chunks for grid in points):
            points = yield from resolved(*points)
            points = (points[0], *(recut(grid, points[0].chunks) for grid in points[1:]))
        if not all(known(a.chunks[axis]) for axis in self.axes):
            (a,) = yield from resolved(a)
        lengths = shape_of(a.chunks[axis] for axis in self.axes)
        infos = yield Look(points)
        if all(info.sample is not None for info in infos):
            count = len(points[0])
            values = tuple(
                np.concatenate([info.sample for info in infos[i * count : (i + 1) * count]])
                for i in range(len(points))
            )
            positions = settle(values, self.axes, lengths)
            return taken(a, positions, self.axes, self.place, self.name)
        rule = TakeAcrossBlocks(a, points, self.axes, self.place)
        return Grid(rule, self._cut(a.chunks, points[0].chunks[0]), self.meta)


@dataclass(frozen=True, eq=False)
class TakeAcrossBlocks(Rule):
    """A chunk of points from all chunks along their axes."""

    label: ClassVar[str] = "take"

    a: Grid
    points: tuple[Grid, ...]
    axes: tuple[int, ...]
    place: int

    def cell(self, index: Index) -> Call:
        outer = [*index[: self.place], *index[self.place + 1 :]]
        other_axes = [axis for axis in range(self.a.ndim) if axis not in self.axes]
        places = dict(zip(other_axes, outer, strict=True))
        ranges: list[Any] = [
            range(self.a.numblocks[axis]) if axis in self.axes else (places[axis],)
            for axis in range(self.a.ndim)
        ]
        blocks = [Ref(self.a, position) for position in itertools.product(*ranges)]
        points = [Ref(grid, (index[self.place],)) for grid in self.points]
        sizes = tuple(numbers(self.a.chunks[axis]) for axis in self.axes)
        return Call(pick_points, (blocks, points, sizes, self.axes, self.place))


@kernel(scratch=4.0)
def pick_points(
    blocks: list[Any],
    points: list[Any],
    sizes: tuple[tuple[int, ...], ...],
    axes: tuple[int, ...],
    place: int,
) -> Any:
    """Take points from their blocks."""
    positions = settle(tuple(points), axes, tuple(map(sum, sizes)))
    where = locate_points(sizes, positions, tuple(range(len(sizes))))
    if is_sparse(blocks[0]):
        owned = [np.flatnonzero(where.block == position) for position in range(len(blocks))]
        shares = [
            take_stored(block, tuple(x[own] for x in where.local), axes)
            for block, own in zip(blocks, owned, strict=True)
        ]
        return merge_stored(shares, [(slice(None), own) for own in owned], place)
    out: Any = None
    for position in range(len(blocks)):
        mine = np.flatnonzero(where.block == position)
        share = take_points(blocks[position], tuple(x[mine] for x in where.local), axes, place)
        if out is None:
            out = np.empty(
                (*share.shape[:place], len(where.block), *share.shape[place + 1 :]), share.dtype
            )
        out[(slice(None),) * place + (mine,)] = share
    return out
