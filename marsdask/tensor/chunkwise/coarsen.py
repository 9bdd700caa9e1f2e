"""Group elements: coarsen, shuffle, and reshape chunk by chunk."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from marsdask.core.collection import wrap
from marsdask.core.grids.grid import Grid
from marsdask.core.grids.parts import run_of
from marsdask.core.node import Node, PartOf, SameChunks, Taken
from marsdask.core.sizes import Chunks, Index, Sizes, known_chunks, numbers, shape_of

from ..chunks import as_shape, chunk_tolerance
from ..indexing.getitem import take
from ..manipulation.reshape import ReshapeBlocks, groups
from ..manipulation.shape import normalize_axis
from ..operands import as_node
from ..typing import public
from ..unknown_lengths import ResultSpec, like, waits_for_lengths
from .map_blocks import MapBlocks, map_blocks
from .rechunk import rechunk


def coarsen_block(block: Any, *, reduce: Callable[..., Any], factors: Index, options: Any) -> Any:
    """Reduce groups of neighbours, with ``factors`` as lengths along each axis."""
    pairs = [(n // factor, factor) for n, factor in zip(block.shape, factors, strict=True)]
    shape = tuple(itertools.chain.from_iterable(pairs))
    return reduce(block.reshape(shape), axis=tuple(range(1, 2 * block.ndim, 2)), **options)


@dataclass(frozen=True, eq=False)
class Coarsened(SameChunks):
    """One element for each group of neighbours: what makes them, and how to make a part."""

    @property
    def meta(self) -> Any:
        return self.a.meta

    def sliced(self, taken: Taken, part: PartOf) -> Node | None:
        made = self.a
        cuts = [run_of(own) for own in taken]
        if not isinstance(made, MapBlocks) or made.kwargs is None or None in cuts:
            return None  # it has run, or groups are far apart
        runs, rest = zip(*cuts, strict=True)
        if not any(runs):
            return None
        factors = made.kwargs["factors"]
        groups = tuple(
            run and range(run.start * factor, run.stop * factor)
            for run, factor in zip(runs, factors, strict=True)
        )
        axes, options = dict(enumerate(factors)), made.kwargs["options"]
        inner = coarsen.node(made.kwargs["reduce"], part(made.inputs[0], groups), axes, **options)
        return part(inner, rest)

    def tile(self, a: Grid) -> Grid:
        return a


def _coarsened(
    reduction: Callable[..., Any], x: Any, axes: Mapping[int, int], kwargs: Any, **_: Any
) -> ResultSpec:
    node = as_node(x)
    reduction = _of_blocks(reduction)
    factors = _factors(axes, len(node.chunks))
    lengths = (
        (size // factor,) if isinstance(size, int) else None
        for size, factor in zip(node.shape, factors, strict=True)
    )
    return ResultSpec(_kind(reduction, factors, node.meta.dtype, kwargs), tuple(lengths))


def _of_blocks(reduction: Callable[..., Any]) -> Callable[..., Any]:
    """Return NumPy's function for a lazy one, which would return tensors of blocks."""
    if getattr(reduction, "__module__", "").partition(".")[0] not in ("marsdask", "dask"):
        return reduction
    function: Callable[..., Any] = getattr(np, reduction.__name__, reduction)
    return function


def _factors(axes: Mapping[int, int], ndim: int) -> tuple[int, ...]:
    """Return the group length along each axis."""
    lengths = {normalize_axis(axis, ndim): operator.index(n) for axis, n in axes.items()}
    factors = tuple(lengths.get(axis, 1) for axis in range(ndim))
    if min(factors, default=1) < 1:
        raise ValueError(f"sizes of groups must be at least 1, got axes={dict(axes)}")
    return factors


def _kind(reduction: Any, factors: tuple[int, ...], dtype: Any, options: Any) -> np.dtype[Any]:
    """Return the type of a group's reduction, from one group."""
    example = np.ones(factors, dtype)
    kind: np.dtype[Any] = coarsen_block(
        example, reduce=reduction, factors=factors, options=options
    ).dtype
    return kind


@public
@waits_for_lengths(_coarsened)
def coarsen(
    reduction: Callable[..., Any],
    x: Any,
    axes: Mapping[int, int],
    trim_excess: bool = False,
    **kwargs: Any,
) -> Node:
    """Reduce groups of neighbours along axes, with the given lengths. See dask.array.coarsen.

    Returns
    -------
    Tensor
        One element for each group.
    """
    x = wrap(as_node(x))
    reduction = _of_blocks(reduction)
    factors = _factors(axes, x.ndim)
    lengths = numbers(x.node.shape)
    excess = [n % factor for n, factor in zip(lengths, factors, strict=True)]
    if any(excess) and not trim_excess:
        raise ValueError(
            f"coarsening factors {dict(axes)} do not align with the shape {x.shape}; "
            "trim_excess=True leaves the rest out"
        )
    if any(excess):
        x = x[tuple(slice(n - extra) for n, extra in zip(lengths, excess, strict=True))]
    pairs = list(zip(map(numbers, x.node.chunks), factors, strict=True))
    x = rechunk(x, tuple(_multiples(sizes, factor) for sizes, factor in pairs))
    made = map_blocks.node(
        coarsen_block,
        x,
        chunks=tuple(
            tuple(size // factor for size in numbers(sizes))
            for sizes, factor in zip(x.node.chunks, factors, strict=True)
        ),
        dtype=_kind(reduction, factors, x.dtype, kwargs),
        reduce=reduction,
        factors=factors,
        options=kwargs,
    )
    return Coarsened(made)


def _multiples(sizes: tuple[int, ...], factor: int) -> Sizes:
    """Move the borders of chunks down to multiples of a number."""
    borders = [border // factor * factor for border in itertools.accumulate(sizes)]
    lengths = tuple(b - a for a, b in itertools.pairwise([0, *borders]))
    return tuple(size for size in lengths if size) or (0,)


def _shuffled(x: Any, indexer: Any, axis: int, **_: Any) -> ResultSpec:
    spec = like(x)
    lengths = list(spec.lengths)
    lengths[axis] = (sum(map(len, indexer)),)
    return ResultSpec(spec.dtype, tuple(lengths))


@public
@waits_for_lengths(_shuffled)
def shuffle(x: Any, indexer: Sequence[Sequence[int]], axis: int, chunks: Any = "auto") -> Node:
    """Concatenate the elements of each group of positions in one chunk. See dask.array.shuffle.

    Small groups share a chunk of about the size of the tensor's chunks.

    Returns
    -------
    Tensor
        The elements in the order of the groups.
    """
    x = as_node(x)
    axis = normalize_axis(axis, x.meta.ndim)
    if not isinstance(indexer, list) or not all(isinstance(group, list) for group in indexer):
        raise ValueError("indexer must be a list of lists of positions")
    if chunks != "auto":
        raise NotImplementedError(
            "shuffle(chunks=) other than 'auto' is not supported; use rechunk() of the result"
        )
    (length,) = numbers((x.shape[axis],))
    flat = [position for group in indexer for position in group]
    if flat and (min(flat) < 0 or max(flat) >= length):
        raise IndexError(f"Indexer contains out of bounds index for an axis of length {length}")
    limit = max(*numbers(x.chunks[axis]), 1) * chunk_tolerance()
    sizes: list[int] = []
    for group in filter(None, indexer):
        if sizes and sizes[-1] + len(group) <= limit:
            sizes[-1] += len(group)
        else:
            sizes.append(len(group))
    result = take.node(x, np.asarray(flat, np.intp), axis)
    return rechunk.node(result, {axis: tuple(sizes) or (0,)})


@public
def reshape_blockwise(x: Any, shape: Any, chunks: Any = None) -> Node:
    """Reshape every chunk separately. See dask.array.reshape_blockwise.

    The elements are not in C order of the whole; splitting axes needs ``chunks``.

    Returns
    -------
    Tensor
        The reshaped chunks, side by side.
    """
    node = as_node(x)
    if not known_chunks(node.chunks):
        raise ValueError("Array chunk size or shape is unknown: execute() first")
    old = numbers(node.shape)
    new = as_shape(shape)
    if math.prod(new) != math.prod(old):
        raise ValueError(
            f"total size of new array must be unchanged: cannot reshape array of size "
            f"{math.prod(old)} into shape {new}"
        )
    if chunks is not None:
        return ReshapeBlocks(node, _given_chunks(node, new, chunks))
    if len(new) > len(old):
        raise TypeError("Need to specify chunks if expanding dimensions.")
    splits: list[Sizes] = []
    axis = 0
    for group in groups(old, new):
        own = [numbers(sizes) for sizes in node.chunks[axis : axis + len(group.old)]]
        axis += len(group.old)
        if len(group.new) == 1:
            splits.append(tuple(math.prod(sizes) for sizes in itertools.product(*own)))
        elif group.new:
            raise NotImplementedError(
                "reshape_blockwise not implemented for expanding dimensions without chunks="
            )
    return ReshapeBlocks(node, tuple(splits))


def _given_chunks(node: Node, shape: tuple[int, ...], chunks: Any) -> Chunks:
    """Return the chunks that a user gave; raise if one is not as large as what it is made of."""
    if len(shape) < len(node.chunks):
        raise ValueError("Setting chunks is not allowed when reducing the number of dimensions.")
    splits: Chunks = tuple(tuple(sizes) for sizes in chunks)
    cells = [
        map(math.prod, itertools.product(*map(numbers, grid))) for grid in (node.chunks, splits)
    ]
    unlike = [pair for pair in itertools.zip_longest(*cells) if pair[0] != pair[1]]
    if shape_of(splits) != shape or unlike:
        raise ValueError(
            f"Chunk sizes do not match for the following chunks: {chunks} of the shape {shape} for "
            f"the elements of {node.chunks}"
        )
    return splits
