"""Stencils: chunks with a halo of their neighbours' elements, and functions of such chunks.

A halo is read from where it lies; a chunk and its halo are put together once, in one copy.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from marsdask.core.chunk import Call, Grid, Ref, Rule
from marsdask.core.collection import Collection, wrap
from marsdask.core.node import Node
from marsdask.core.shapes import blockwise, kernel
from marsdask.core.types import Chunks, Index, Sizes, Unknown, borders, known, numbers

from .base import as_node
from .chunks import broadcast_chunks, is_one
from .mapblocks import map_blocks
from .rechunk import cover, rechunk, recut, resolved
from .shape import normalize_axes
from .waiting import waits_for_lengths

Depth = tuple[int, int]
#: How an axis goes on beyond its ends: "none", "reflect", "periodic", "nearest", or a constant.
Edge = Any

_KINDS = ("none", "reflect", "periodic", "nearest")


class Run(NamedTuple):
    """A run of elements of one chunk, one of them ``length`` times, or a constant."""

    position: int
    part: slice
    length: int
    constant: bool = False


def regrouped(size: int, sizes: Sizes) -> Sizes:
    """Join neighbouring chunks so that none is smaller than ``size``, if the axis is that long."""
    if not known(sizes) or min(numbers(sizes), default=0) >= size:
        return sizes
    found: list[int] = []
    held = 0
    for length in numbers(sizes):
        held += length
        if held >= size:
            found.append(held)
            held = 0
    if held and found:
        found[-1] += held
    return tuple(found) or (held,)


def outside(kind: Edge, positions: range, length: int) -> list[int]:
    """Return which elements stand for those at ``positions``, outside of an axis."""
    if kind == "periodic":
        return [i % length for i in positions]
    if kind == "nearest":
        return [min(max(i, 0), length - 1) for i in positions]
    return [min(i % (2 * length), 2 * length - 1 - i % (2 * length)) for i in positions]


def runs_of(starts: Sequence[int], positions: list[int]) -> Iterator[Run]:
    """Describe elements at any positions by runs, each of equal steps and in one chunk."""
    begin = 0
    while begin < len(positions):
        first = positions[begin]
        (place, inside), *_ = cover(starts, first, first + 1)
        low, high = first - inside.start, first - inside.start + _size(starts, place)
        step = positions[begin + 1] - first if begin + 1 < len(positions) else 1
        end = begin + 1
        while end < len(positions) and positions[end] == first + step * (end - begin):
            if abs(step) > 1 or not low <= positions[end] < high:
                break
            end += 1
        count = end - begin
        if step == -1 and count > 1:
            stop = inside.start - count
            yield Run(place, slice(inside.start, stop if stop >= 0 else None, -1), count)
        else:
            width = 1 if step == 0 else count
            yield Run(place, slice(inside.start, inside.start + width), count)
        begin = end


def _size(starts: Sequence[int], position: int) -> int:
    return starts[position + 1] - starts[position]


def windows(sizes: tuple[int, ...], depth: Depth, edge: Edge) -> list[list[Run]]:
    """For each chunk of an axis list the runs that make it and its halo."""
    starts = borders(sizes)
    length = starts[-1]
    found = []
    for begin, end in itertools.pairwise(starts):
        first, last = begin - depth[0], end + depth[1]
        inner = cover(starts, max(first, 0), min(last, length))
        runs = [Run(place, part, part.stop - part.start) for place, part in inner]
        if not _is_none(edge) and length:
            before, after = range(first, min(0, last)), range(max(length, first), last)
            runs = [*_beyond(starts, edge, before), *runs, *_beyond(starts, edge, after)]
        found.append(runs)
    return found


def _beyond(starts: Sequence[int], edge: Edge, positions: range) -> list[Run]:
    if not positions:
        return []
    if isinstance(edge, str):
        return list(runs_of(starts, outside(edge, positions, starts[-1])))
    return [Run(0 if positions[0] < 0 else len(starts) - 2, slice(0, 0), len(positions), True)]


def _is_none(edge: Edge) -> bool:
    return isinstance(edge, str) and edge == "none"


@dataclass(frozen=True, eq=False)
class Halo(Rule):
    """Each chunk with its halo, from the parts of chunks that these cover."""

    source: Grid
    depths: tuple[Depth, ...]
    edges: tuple[Edge, ...]

    @property
    def label(self) -> str:
        return "overlap"

    @property
    def scratch(self) -> float:
        return 0.0

    @cached_property
    def _windows(self) -> list[list[list[Run]]]:
        axes = zip(self.source.chunks, self.depths, self.edges, strict=True)
        return [windows(numbers(sizes), depth, edge) for sizes, depth, edge in axes]

    def cell(self, index: Index) -> Call:
        per_axis = [found[position] for found, position in zip(self._windows, index, strict=True)]
        refs: list[Ref] = []
        taken: list[tuple[tuple[slice, ...], tuple[slice, ...]]] = []
        filled: list[tuple[Any, tuple[slice, ...]]] = []
        for runs in itertools.product(*map(_placed, per_axis)):
            target = tuple(where for _, where in runs)
            constants = [axis for axis, (run, _) in enumerate(runs) if run.constant]
            if constants:
                # As if the axes were framed one after the other: the last one has the corners.
                filled.append((self.edges[constants[-1]], target))
            else:
                refs.append(Ref(self.source, tuple(run.position for run, _ in runs)))
                taken.append((tuple(run.part for run, _ in runs), target))
        shape = tuple(sum(run.length for run in runs) for runs in per_axis)
        return Call(with_halo, (refs, taken, filled, shape))


def _placed(runs: Sequence[Run]) -> list[tuple[Run, slice]]:
    bounds = itertools.pairwise(borders(run.length for run in runs))
    return [(run, slice(begin, end)) for run, (begin, end) in zip(runs, bounds, strict=True)]


def with_halo(blocks: list[Any], taken: Sequence[Any], filled: Sequence[Any], shape: Any) -> Any:
    """Return a block and its halo as one array, from parts of blocks and constants."""
    out = np.empty_like(blocks[0], shape=shape)
    for block, (part, target) in zip(blocks, taken, strict=True):
        out[target] = block[part]
    for value, target in filled:
        out[target] = value
    return out


@dataclass(frozen=True, eq=False)
class Overlap(Node):
    """Every chunk with elements of its neighbours before and after it."""

    pins_grid: ClassVar[bool] = True

    a: Node
    depths: tuple[Depth, ...]
    edges: tuple[Edge, ...]
    least: tuple[int, ...]
    """Chunks smaller than this are joined first."""

    @property
    def meta(self) -> Any:
        return self.a.meta

    @cached_property
    def chunks(self) -> Chunks:
        return self._grown(self._joined(self.a.chunks))

    def _joined(self, chunks: Chunks) -> Chunks:
        return tuple(regrouped(size, own) for size, own in zip(self.least, chunks, strict=True))

    def _grown(self, chunks: Chunks) -> Chunks:
        found: list[Sizes] = []
        for axis, (sizes, depth, edge) in enumerate(
            zip(chunks, self.depths, self.edges, strict=True)
        ):
            if depth == (0, 0):
                found.append(sizes)
            elif known(sizes):
                runs = windows(numbers(sizes), depth, edge)
                found.append(tuple(sum(run.length for run in window) for window in runs))
            else:
                found.append((Unknown(f"{self.name}@{axis}"),))
        return tuple(found)

    def tile(self, a: Grid) -> Any:
        (a,) = yield from resolved(a)
        a = recut(a, self._joined(a.chunks))
        return Grid(Halo(a, self.depths, self.edges), self._grown(a.chunks), a.meta, a.itemsize)


@dataclass(frozen=True)
class TrimAt:
    """Gives each chunk the part that is not halo."""

    numblocks: Index
    depths: tuple[Depth, ...]
    edges: tuple[Edge, ...]

    def __call__(self, index: Index) -> tuple[tuple[slice, ...]]:
        per_axis = zip(index, self.numblocks, self.depths, self.edges, strict=True)
        return (tuple(_inner(i, count, depth, edge) for i, count, depth, edge in per_axis),)


def _inner(i: int, count: int, depth: Depth, edge: Edge) -> slice:
    open_ended = _is_none(edge)
    before = 0 if open_ended and i == 0 else depth[0]
    after = 0 if open_ended and i == count - 1 else depth[1]
    return slice(before or None, -after or None)


@dataclass(frozen=True, eq=False)
class Trim(Node):
    """Every chunk without its halo."""

    pins_grid: ClassVar[bool] = True

    a: Node
    depths: tuple[Depth, ...]
    edges: tuple[Edge, ...]

    @property
    def meta(self) -> Any:
        return self.a.meta

    @cached_property
    def chunks(self) -> Chunks:
        return self._trimmed(self.a.chunks)

    def _trimmed(self, chunks: Chunks) -> Chunks:
        found: list[Sizes] = []
        for axis, (sizes, depth, edge) in enumerate(
            zip(chunks, self.depths, self.edges, strict=True)
        ):
            if depth == (0, 0):
                found.append(sizes)
                continue
            parts = [_inner(i, len(sizes), depth, edge) for i in range(len(sizes))]
            found.append(
                tuple(
                    Unknown(f"{self.name}@{axis}", i if len(sizes) > 1 else -1)
                    if isinstance(size, Unknown)
                    else len(range(*part.indices(size)))
                    for i, (size, part) in enumerate(zip(sizes, parts, strict=True))
                )
            )
        return tuple(found)

    def tile(self, a: Grid) -> Grid:
        return blockwise(
            trim_block,
            [(a, tuple(range(a.ndim)))],
            chunks=self._trimmed(a.chunks),
            meta=a.meta,
            itemsize=a.itemsize,
            varying=TrimAt(a.numblocks, self.depths, self.edges),
            cheap=True,
        )


@kernel(view=True)
def trim_block(block: Any, parts: tuple[slice, ...]) -> Any:
    """Return the part of a block that is not halo, as a view."""
    return block[parts]


def coerce_depth(ndim: int, depth: Any) -> tuple[Depth, ...]:
    """Return how many elements before and after each axis's chunks are wanted."""
    per_axis = _each_axis(ndim, depth, 0, "depth")
    pairs = [(item, item) if np.ndim(item) == 0 else tuple(item) for item in per_axis]
    found = tuple((int(before), int(after)) for before, after in pairs)
    if any(number < 0 for pair in found for number in pair):
        raise ValueError(f"depth={depth!r}: a halo has no negative number of elements")
    return found


def coerce_boundary(ndim: int, boundary: Any) -> tuple[Edge, ...]:
    """Return how each axis goes on beyond its ends."""
    per_axis = _each_axis(ndim, boundary, "none", "boundary")
    edges = tuple("none" if edge is None else edge for edge in per_axis)
    for edge in edges:
        if isinstance(edge, str) and edge not in _KINDS:
            raise ValueError(f"boundary={edge!r}: give one of {', '.join(_KINDS)}, or a number")
    return edges


def _each_axis(ndim: int, what: Any, default: Any, name: str) -> list[Any]:
    if isinstance(what, Mapping):
        axes = dict(zip(normalize_axes(tuple(what), ndim), what.values(), strict=True))
        return [axes.get(axis, default) for axis in range(ndim)]
    if isinstance(what, tuple):
        if len(what) > ndim:
            raise ValueError(f"{name}={what!r} names {len(what)} of {ndim} axes")
        return [*what, *[default] * (ndim - len(what))]
    return [default if what is None else what] * ndim


def overlap(x: Any, depth: Any, boundary: Any, *, allow_rechunk: bool = True) -> Any:
    """Return the tensor whose chunks have a halo. See dask.array.overlap.overlap."""
    node = as_node(x)
    ndim = len(node.chunks)
    depths, edges = coerce_depth(ndim, depth), coerce_boundary(ndim, boundary)
    return wrap(_widened(node, depths, edges, list(map(max, depths)), allow_rechunk=allow_rechunk))


def _widened(
    node: Node,
    depths: tuple[Depth, ...],
    edges: tuple[Edge, ...],
    least: Sequence[int],
    *,
    allow_rechunk: bool,
) -> Node:
    for axis, (sizes, size) in enumerate(zip(node.chunks, map(max, depths), strict=True)):
        if not allow_rechunk and known(sizes) and min(numbers(sizes)) < size:
            raise ValueError(
                f"axis {axis} has chunks {sizes}, smaller than the halo of {size}: rechunk it, or "
                "set allow_rechunk=True"
            )
    if not any(map(any, depths)):
        return node
    return Overlap(node, depths, edges, tuple(least) if allow_rechunk else (0,) * len(least))


def trim_overlap(x: Any, depth: Any, boundary: Any = None) -> Any:
    """Take the halo off every chunk. See dask.array.overlap.trim_overlap."""
    node = as_node(x)
    ndim = len(node.chunks)
    return wrap(Trim(node, coerce_depth(ndim, depth), coerce_boundary(ndim, boundary)))


def trim_internal(x: Any, axes: Any, boundary: Any = None) -> Any:
    """Take the halo off every chunk. See dask.array.overlap.trim_internal."""
    return trim_overlap(x, axes, boundary)


def map_overlap(
    func: Any,
    *args: Any,
    depth: Any = None,
    boundary: Any = None,
    trim: bool = True,
    align_arrays: bool = True,
    allow_rechunk: bool = True,
    **kwargs: Any,
) -> Any:
    """Call ``func`` with chunks and their halos, and take the halos off its results.

    See dask.array.map_overlap. ``depth`` and ``boundary`` may be lists, an item an array. Chunks
    smaller than their halo are joined first.

    Differs from Dask: a halo may be wider on one side with every boundary, and than the array.
    """
    if isinstance(func, Collection | np.ndarray) and args and callable(args[0]):
        func, args = args[0], (func, *args[1:])
    arrays = _arrays(func, args)
    if align_arrays:
        arrays = align(arrays)
    depths = _each_array(arrays, depth, coerce_depth)
    edges = _each_array(arrays, boundary, coerce_boundary)
    ndim = max(x.ndim for x in arrays)
    least = _least(depths, ndim)
    wide = [
        _widened(x.node, own, sides, least[ndim - x.ndim :], allow_rechunk=allow_rechunk)
        for x, own, sides in zip(arrays, depths, edges, strict=True)
    ]
    if not trim and "chunks" not in kwargs:
        first = arrays[0].node.chunks
        joined = zip(
            least[ndim - len(first) :] if allow_rechunk else [0] * ndim, first, strict=True
        )
        kwargs["chunks"] = tuple(
            regrouped(size, sizes) if known(sizes) else None for size, sizes in joined
        )
    result = map_blocks(func, *wide, align_arrays=False, **kwargs)
    if not trim:
        return result
    which = next(i for i, x in enumerate(arrays) if x.ndim == ndim)
    return _without_halo(result, depths[which], edges[which], kwargs)


def _least(depths: Sequence[tuple[Depth, ...]], ndim: int) -> list[int]:
    """Return how small chunks may be: those that go together are joined together."""
    return [
        max((max(own[axis]) for own in depths if len(own) >= -axis), default=0)
        for axis in range(-ndim, 0)
    ]


def _without_halo(
    result: Any, depths: tuple[Depth, ...], edges: tuple[Edge, ...], moved: Mapping[str, Any]
) -> Any:
    """Take the halos off axes some of which may be gone, and others new."""
    axes = _kept(len(depths), moved.get("drop_axis"), moved.get("new_axis"))
    own = [(0, 0) if axis is None else depths[axis] for axis in axes]
    sides = ["none" if axis is None else edges[axis] for axis in axes]
    return wrap(Trim(result.node, tuple(own), tuple(sides)))


def _arrays(func: Any, args: Sequence[Any]) -> list[Any]:
    if not callable(func):
        raise TypeError(f"map_overlap() takes a function first, not {type(func).__name__}")
    if not args or not all(isinstance(x, Collection | Node | np.ndarray) for x in args):
        kinds = [type(x).__name__ for x in args]
        raise TypeError(f"map_overlap() takes tensors after the function, not {kinds}")
    return [wrap(as_node(x)) for x in args]


def map_overlap_method(
    x: Any,
    func: Callable[..., Any],
    depth: Any = None,
    boundary: Any = None,
    trim: bool = True,
    **kwargs: Any,
) -> Any:
    """Call a function of chunks and their halos; see :func:`marsdask.tensor.map_overlap`."""
    return map_overlap(func, x, depth=depth, boundary=boundary, trim=trim, **kwargs)


def _each_array(arrays: Sequence[Any], what: Any, coerce: Callable[[int, Any], Any]) -> list[Any]:
    items = what if isinstance(what, list) else [what] * len(arrays)
    if len(items) != len(arrays):
        raise ValueError(f"{len(items)} items are given for {len(arrays)} arrays: {what!r}")
    return [coerce(x.ndim, item) for x, item in zip(arrays, items, strict=True)]


def align(arrays: Sequence[Any]) -> list[Any]:
    """Cut tensors that broadcast against each other alike; axes of unknown length stay."""
    if len(arrays) == 1:
        return list(arrays)
    target = broadcast_chunks(*(x.node.chunks for x in arrays))
    found = []
    for x in arrays:
        own = target[len(target) - x.ndim :]
        cut = tuple(
            None if is_one(old) or not known(new) or not known(old) else new
            for old, new in zip(x.node.chunks, own, strict=True)
        )
        found.append(rechunk(x, cut))
    return found


def _kept(ndim: int, dropped: Any, added: Any) -> list[int | None]:
    """Return for each axis of the result the axis it was, ``None`` for a new one."""
    gone = () if dropped is None else normalize_axes(dropped, ndim)
    kept: list[int | None] = [axis for axis in range(ndim) if axis not in gone]
    new = [] if added is None else [added] if isinstance(added, int) else list(added)
    for axis in sorted(axis % (len(kept) + len(new)) for axis in new):
        kept.insert(axis, None)
    return kept


def _check_windows(lengths: Sequence[int], axes: Sequence[int]) -> None:
    if any(length < 0 for length in lengths):
        raise ValueError("`window_shape` cannot contain negative values")
    if 0 in lengths:
        raise ValueError("`window_shape` must contain values > 0")
    if len(lengths) != len(axes):
        raise ValueError(
            f"`window_shape` has {len(lengths)} lengths but there are {len(axes)} axes to slide on"
        )


@waits_for_lengths
def sliding_window_view(
    x: Any,
    window_shape: Any,
    axis: Any = None,
    *,
    subok: bool = False,
    writeable: bool = False,
    automatic_rechunk: bool = True,
) -> Any:
    """Return every window of a size, along new last axes. See NumPy's sliding_window_view.

    The windows of a chunk are views of it and of the few elements that follow.
    """
    del subok, writeable, automatic_rechunk
    x = wrap(as_node(x))
    lengths = tuple(window_shape) if np.iterable(window_shape) else (window_shape,)
    axes = range(x.ndim) if axis is None else normalize_axes(axis, x.ndim, allow_duplicate=True)
    _check_windows(lengths, axes)
    more = [0] * x.ndim
    for place, length in zip(axes, lengths, strict=True):
        more[place] += max(length - 1, 0)
    sizes = numbers(x.node.shape)
    if any(size < extra + 1 for size, extra in zip(sizes, more, strict=True) if extra):
        raise ValueError("window shape cannot be larger than input array shape")
    cut = tuple(
        regrouped(more[place] + 1, own) if place in axes else own
        for place, own in enumerate(x.node.chunks)
    )
    x = rechunk(x, cut)
    chunks = tuple(
        (*own[:-1], numbers(own)[-1] - extra) for own, extra in zip(cut, more, strict=True)
    )
    return map_blocks(
        np.lib.stride_tricks.sliding_window_view,
        overlap(x, tuple((0, extra) for extra in more), "none"),
        new_axis=tuple(range(x.ndim, x.ndim + len(lengths))),
        chunks=(*chunks, *((length,) for length in lengths)),
        dtype=x.dtype,
        window_shape=lengths,
        axis=tuple(axes),
    )
