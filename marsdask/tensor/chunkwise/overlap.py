"""Stencils: functions of chunks and some of their neighbours' elements."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from marsdask.core.collection import Collection, wrap
from marsdask.core.grids.align import broadcast_chunks, is_one
from marsdask.core.grids.grid import Grid
from marsdask.core.grids.neighbours import Depth, Edge, merge_sizes
from marsdask.core.grids.parts import run_of
from marsdask.core.node import Node, PartOf, Taken
from marsdask.core.sizes import Chunks, known, numbers

from ..manipulation.shape import normalize_axes
from ..operands import as_node
from ..typing import public, view_face
from ..unknown_lengths import ResultSpec, like, waits_for_lengths
from .halo import Overlap, Trim
from .map_blocks import MapBlocks, map_blocks
from .rechunk import Rechunk, rechunk

_KINDS = ("none", "reflect", "periodic", "nearest")


def coerce_depth(ndim: int, depth: Any) -> tuple[Depth, ...]:
    """Return the number of elements before and after each axis's chunks."""
    per_axis = _each_axis(ndim, depth, 0, "depth")
    pairs = [(item, item) if np.ndim(item) == 0 else tuple(item) for item in per_axis]
    depths = tuple((int(before), int(after)) for before, after in pairs)
    if any(number < 0 for pair in depths for number in pair):
        raise ValueError(f"depth={depth!r}: a halo has no negative number of elements")
    return depths


def coerce_boundary(ndim: int, boundary: Any) -> tuple[Edge, ...]:
    """Return the extension of each axis beyond its ends."""
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


@public
def overlap(x: Any, depth: Any, boundary: Any, *, allow_rechunk: bool = True) -> Any:
    """Return the tensor whose chunks have a halo. See dask.array.overlap.overlap."""
    node = as_node(x)
    ndim = len(node.chunks)
    depths, edges = coerce_depth(ndim, depth), coerce_boundary(ndim, boundary)
    return _widened(node, depths, edges, list(map(max, depths)), allow_rechunk=allow_rechunk)


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
    """Remove the halo from every chunk. See dask.array.overlap.trim_overlap."""
    node = as_node(x)
    ndim = len(node.chunks)
    return wrap(Trim(node, coerce_depth(ndim, depth), coerce_boundary(ndim, boundary)))


def trim_internal(x: Any, axes: Any, boundary: Any = None) -> Any:
    """Remove the halo from every chunk. See dask.array.overlap.trim_internal."""
    return trim_overlap(x, axes, boundary)


@public
def map_overlap(
    func: Any,
    *args: Any,
    depth: Any = None,
    boundary: Any = None,
    trim: bool = True,
    align_arrays: bool = True,
    allow_rechunk: bool = True,
    **kwargs: Any,
) -> Node:
    """Call ``func`` with chunks and their halos, and remove the halos from its results.

    See dask.array.map_overlap. ``depth`` and ``boundary`` may be lists with one item per array.
    Chunks smaller than their halo are merged first.

    Differs from Dask: a halo may have different widths on both sides with every boundary, and
    exceed the array.

    Returns
    -------
    Tensor
        The results, side by side.
    """
    if isinstance(func, Collection | np.ndarray) and args and callable(args[0]):
        func, args = args[0], (func, *args[1:])
    arrays = _arrays(func, args)
    if align_arrays:
        arrays = align(arrays)
    depths = _each_array(arrays, depth, coerce_depth)
    edges = _each_array(arrays, boundary, coerce_boundary)
    ndim = max(len(x.chunks) for x in arrays)
    least = _least(depths, ndim)
    wide = [
        _widened(x, own, sides, least[ndim - len(x.chunks) :], allow_rechunk=allow_rechunk)
        for x, own, sides in zip(arrays, depths, edges, strict=True)
    ]
    promised = "chunks" in kwargs
    if not trim and not promised:
        first = arrays[0].chunks
        pairs = zip(least[ndim - len(first) :] if allow_rechunk else [0] * ndim, first, strict=True)
        kwargs["chunks"] = tuple(
            merge_sizes(size, sizes) if known(sizes) else None for size, sizes in pairs
        )
    result = map_blocks.node(func, *wide, align_arrays=False, **kwargs)
    if not trim:
        # Dask's users may leave the halos in the results, which are joined as they are.
        return result if promised else result.replaced(checks=False)
    position = next(i for i, x in enumerate(arrays) if len(x.chunks) == ndim)
    return _without_halo(result, depths[position], edges[position], kwargs)


def _least(depths: Sequence[tuple[Depth, ...]], ndim: int) -> list[int]:
    """Return the minimum sizes of chunks: matching chunks are merged alike."""
    return [
        max((max(own[axis]) for own in depths if len(own) >= -axis), default=0)
        for axis in range(-ndim, 0)
    ]


def _without_halo(
    result: Node, depths: tuple[Depth, ...], edges: tuple[Edge, ...], moved: Mapping[str, Any]
) -> Node:
    """Remove the halos from axes, some of which may be dropped or new."""
    axes = _kept(len(depths), moved.get("drop_axis"), moved.get("new_axis"))
    own = [(0, 0) if axis is None else depths[axis] for axis in axes]
    sides = ["none" if axis is None else edges[axis] for axis in axes]
    return Trim(result, tuple(own), tuple(sides))


def _arrays(func: Any, args: Sequence[Any]) -> list[Node]:
    if not callable(func):
        raise TypeError(f"map_overlap() takes a function first, not {type(func).__name__}")
    if not args or not all(isinstance(x, Collection | Node | np.ndarray) for x in args):
        kinds = [type(x).__name__ for x in args]
        raise TypeError(f"map_overlap() takes tensors after the function, not {kinds}")
    return [as_node(x) for x in args]


@public
def map_overlap_method(
    x: Any,
    func: Callable[..., Any],
    depth: Any = None,
    boundary: Any = None,
    trim: bool = True,
    **kwargs: Any,
) -> Node:
    """Call a function of chunks and their halos; see :func:`marsdask.tensor.map_overlap`.

    Parameters
    ----------
    func : callable
        Gets a chunk with its halo, and returns one.
    depth : int, tuple or dict
        How many elements of its neighbours a chunk gets, for each axis.
    boundary : str, scalar, tuple or dict
        What lies beyond the edges: "reflect", "periodic", "nearest", "none", or a number.
    trim : bool
        Whether to take the halo off the result.
    **kwargs
        Further arguments of :func:`marsdask.tensor.map_overlap` and of the function.

    Returns
    -------
    Tensor
        The results, side by side.

    Examples
    --------
    >>> x = mt.arange(6, chunk_size=3)
    >>> x.map_overlap(lambda c: c + np.roll(c, 1), depth=1, boundary="periodic").compute()
    array([5, 1, 3, 5, 7, 9])
    """
    return map_overlap.node(func, x, depth=depth, boundary=boundary, trim=trim, **kwargs)


def _each_array(arrays: Sequence[Node], what: Any, coerce: Callable[[int, Any], Any]) -> list[Any]:
    items = what if isinstance(what, list) else [what] * len(arrays)
    if len(items) != len(arrays):
        raise ValueError(f"{len(items)} items are given for {len(arrays)} arrays: {what!r}")
    return [coerce(len(x.chunks), item) for x, item in zip(arrays, items, strict=True)]


def align(arrays: Sequence[Node]) -> list[Node]:
    """Rechunk nodes that broadcast against each other alike; axes of unknown length stay."""
    if len(arrays) == 1:
        return list(arrays)
    target = broadcast_chunks(*(x.chunks for x in arrays))
    nodes = []
    for x in arrays:
        own = target[len(target) - len(x.chunks) :]
        splits = tuple(
            None if is_one(old) or not known(new) or not known(old) else new
            for old, new in zip(x.chunks, own, strict=True)
        )
        nodes.append(rechunk.node(x, splits))
    return nodes


def _kept(ndim: int, dropped: Any, added: Any) -> list[int | None]:
    """Return for each axis of the result the original axis, ``None`` for a new one."""
    drop_axes = () if dropped is None else normalize_axes(dropped, ndim)
    axes: list[int | None] = [axis for axis in range(ndim) if axis not in drop_axes]
    new = [] if added is None else [added] if isinstance(added, int) else list(added)
    for axis in sorted(axis % (len(axes) + len(new)) for axis in new):
        axes.insert(axis, None)
    return axes


def _check_windows(lengths: Sequence[int], axes: Sequence[int]) -> None:
    if any(length < 0 for length in lengths):
        raise ValueError("`window_shape` cannot contain negative values")
    if 0 in lengths:
        raise ValueError("`window_shape` must contain values > 0")
    if len(lengths) != len(axes):
        raise ValueError(
            f"`window_shape` has {len(lengths)} lengths but there are {len(axes)} axes to slide on"
        )


def _windows(x: Any, window_shape: Any, axis: Any, **_: Any) -> ResultSpec:
    lengths, axes = _window_axes(as_node(x), window_shape, axis)
    spec = like(x, unknown=(at for at, n in zip(axes, lengths, strict=True) if n > 1))
    return ResultSpec(spec.dtype, (*spec.lengths, *((n,) for n in lengths)))


def _window_axes(node: Node, window_shape: Any, axis: Any) -> tuple[tuple[int, ...], Any]:
    """Return the lengths of a window and its axes."""
    ndim = len(node.chunks)
    lengths = tuple(window_shape) if np.iterable(window_shape) else (window_shape,)
    axes = range(ndim) if axis is None else normalize_axes(axis, ndim, allow_duplicate=True)
    _check_windows(lengths, axes)
    return lengths, axes


@dataclass(frozen=True, eq=False)
class SlidingWindows(Node):
    """Every window of a size, along new last axes: what makes them, and how to make a part."""

    made: Node
    lengths: tuple[int, ...]
    axes: tuple[int, ...]

    @property
    def meta(self) -> Any:
        return self.made.meta

    @property
    def chunks(self) -> Chunks:
        return self.made.chunks

    def sliced(self, taken: Taken, part: PartOf) -> Node | None:
        if not isinstance(self.made, MapBlocks):  # it has run
            return None
        grown = self.made.inputs[0]
        source = grown.a if isinstance(grown, Overlap) else grown
        lead = taken[: len(source.chunks)]
        more = [0] * len(lead)
        for axis, length in zip(self.axes, self.lengths, strict=True):
            more[axis] += length - 1
        cuts = [run_of(own) for own in lead]
        if not any(lead) or None in cuts:
            return None
        runs, rest = zip(*cuts, strict=True)
        longer = tuple(
            run and range(run.start, run.stop + extra)
            for run, extra in zip(runs, more, strict=True)
        )
        inner = sliding_window_view.node(part(source, longer), self.lengths, self.axes)
        return part(inner, (*rest, *taken[len(lead) :]))

    def tile(self, made: Grid) -> Grid:
        return made


@view_face(writes="refused", through=(SlidingWindows, MapBlocks, Overlap, Rechunk))
@waits_for_lengths(_windows)
def sliding_window_view(
    x: Any,
    window_shape: Any,
    axis: Any = None,
    *,
    subok: bool = False,
    writeable: bool = False,
    automatic_rechunk: bool = True,
) -> Node:
    """Return every window of a size, along new last axes.

    See numpy.lib.stride_tricks.sliding_window_view.

    The windows of a chunk are views of the chunk and the few elements after it.
    """
    del subok, writeable, automatic_rechunk
    node = as_node(x)
    ndim = len(node.chunks)
    lengths, axes = _window_axes(node, window_shape, axis)
    more = [0] * ndim
    for place, length in zip(axes, lengths, strict=True):
        more[place] += max(length - 1, 0)
    sizes = numbers(node.shape)
    if any(size < extra + 1 for size, extra in zip(sizes, more, strict=True) if extra):
        raise ValueError("window shape cannot be larger than input array shape")
    splits = tuple(
        merge_sizes(more[place] + 1, own) if place in axes else own
        for place, own in enumerate(node.chunks)
    )
    node = rechunk.node(node, splits)
    chunks = tuple(
        (*own[:-1], numbers(own)[-1] - extra) for own, extra in zip(splits, more, strict=True)
    )
    made = map_blocks.node(
        np.lib.stride_tricks.sliding_window_view,
        overlap.node(node, tuple((0, extra) for extra in more), "none"),
        new_axis=tuple(range(ndim, ndim + len(lengths))),
        chunks=(*chunks, *((length,) for length in lengths)),
        dtype=node.meta.dtype,
        window_shape=lengths,
        axis=tuple(axes),
    )
    return SlidingWindows(made, lengths, tuple(axes))
