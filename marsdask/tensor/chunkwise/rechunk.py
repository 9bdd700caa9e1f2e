"""The same values in chunks of the user's choice."""

from __future__ import annotations

import math
import operator
import warnings
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from marsdask.core.grids.grid import Grid, Look
from marsdask.core.grids.lengths import resolved
from marsdask.core.grids.rechunk import join_pieces
from marsdask.core.grids.rechunk import recut as rechunked
from marsdask.core.node import DiagonalOf, MemoryOrder, Node, PartOf, SameMeta, Taken
from marsdask.core.sizes import (
    Chunks,
    Sizes,
    UnknownShapeError,
    known,
    known_chunks,
    numbers,
    total,
)

from ..chunks import normalize_chunks, regular
from ..kernels.assembly import assemble
from ..kernels.block_views import concatenate_views
from ..operands import as_node
from ..sparse.blocks import is_sparse
from ..typing import public


def recut(grid: Grid, chunks: Chunks) -> Grid:
    """Return a grid of arrays in the given chunks; see :func:`.core.grids.rechunk.recut`."""
    return rechunked(grid, chunks, assemble)


def rechunk_views(grid: Grid, chunks: Chunks) -> Grid:
    """Return a grid of arrays in the given chunks, joined from views if each overlaps few."""
    result = None if is_sparse(grid.meta) else join_pieces(grid, chunks, concatenate_views)
    return recut(grid, chunks) if result is None else result


@dataclass(frozen=True, eq=False)
class Rechunk(SameMeta):
    """The same values in chunks of the user's choice.

    ``wants`` has new chunks for each axis of unknown length: ``None`` keeps them, -1 makes one
    chunk.
    """

    splits: Chunks
    wants: tuple[int | None, ...]

    @property
    def chunks(self) -> Chunks:
        return self.splits

    @property
    def memory_order(self) -> MemoryOrder:
        return self.a.memory_order

    @property
    def rechunked(self) -> Node:
        return self.a

    def sliced(self, taken: Taken, part: PartOf) -> Node | None:
        return part(self.a, taken)

    def diagonal(self, rows: range, columns: range, along: DiagonalOf) -> Node | None:
        return along(self.a, rows, columns, self.shape[-2:])

    def tile(self, a: Grid) -> Any:
        if a.chunks == self.splits:
            return a
        return self._tile(a)

    def _tile(self, a: Grid) -> Generator[Look, Any, Grid]:
        if not known_chunks(a.chunks):
            (a,) = yield from resolved(a)
        target = tuple(
            new if known(new) else _cut_unknown(numbers(old), want)
            for old, new, want in zip(a.chunks, self.splits, self.wants, strict=True)
        )
        return recut(a, target)

    def regrid(self, new: Mapping[Sizes, Sizes]) -> Node:
        return self.replaced(splits=tuple(new.get(sizes, sizes) for sizes in self.splits))


def recut_as(node: Node, chunks: Chunks) -> Node:
    """Return the node in chunks of known sizes, itself if it is cut like that."""
    if node.chunks == chunks or not known_chunks(chunks):
        return node
    return Rechunk(node, chunks, (None,) * len(chunks))


def _cut_unknown(old: tuple[int, ...], want: int | None) -> Sizes:
    if want is None:
        return old
    return (sum(old),) if want == -1 else regular(sum(old), want)


def _wanted(chunk_size: Any, ndim: int) -> list[Any]:
    """Return the requested chunks of each axis; ``None`` keeps them."""
    if isinstance(chunk_size, Mapping):
        for axis in chunk_size:
            if not isinstance(axis, int | np.integer):
                raise TypeError(f"an axis of chunks is an int, not {axis!r}")
        names = [np.lib.array_utils.normalize_axis_index(axis, ndim) for axis in chunk_size]
        sizes = dict(zip(names, chunk_size.values(), strict=True))
        return [sizes.get(axis) for axis in range(ndim)]
    if isinstance(chunk_size, tuple | list) and len(chunk_size) == ndim:
        return list(chunk_size)
    return [chunk_size] * ndim


def _balanced(sizes: Sizes) -> Sizes:
    """Return chunks of equal lengths but for the last, one fewer where that one is short.

    A chunk is half to one and a half times as long as the median of the given ones.
    """
    lengths = numbers(sizes)
    count = len(lengths) - (min(lengths) <= max(lengths) / 2)
    if count < 1:
        return sizes
    length, median = sum(lengths), int(np.median(lengths))
    step = max(-(-length // count), median - median // 2)
    if step > median + median // 2 or not step or -(-length // step) != count:
        warnings.warn(
            "chunk size balancing not possible with given chunks. Try increasing the chunk size.",
            stacklevel=2,
        )
        return sizes
    return regular(length, step)


@public
def rechunk(
    tensor: Any,
    chunk_size: Any = "auto",
    threshold: float | None = None,
    block_size_limit: int | None = None,
    balance: bool = False,
    *,
    chunks: Any = None,
) -> Node:
    """Return the same tensor in other chunks; a write to the result does not change it.

    An axis that is ``None``, or not named in a dict, is unchanged. "auto" starts from the chunks
    that are there, and ``balance`` makes the chunks of an axis as equal as Dask does. The
    intermediate steps are chosen at execution: ``threshold`` is ignored.

    Parameters
    ----------
    tensor : array_like
        The tensor.
    chunk_size : int, str, tuple or dict
        The sizes for all axes, for each axis, or for some axes by their numbers. "auto" chooses
        them, and -1 makes one chunk.
    threshold : float, optional
        Has no effect.
    block_size_limit : int, optional
        The most bytes of a chunk where sizes are chosen.
    balance : bool
        Whether to make the chunks of an axis equally long.
    chunks : optional
        Dask's name of ``chunk_size``.

    Returns
    -------
    Tensor
        The same values in other chunks.

    Examples
    --------
    >>> mt.ones((4, 6)).rechunk((2, 3)).chunks
    ((2, 2), (3, 3))
    """
    del threshold
    node = as_node(tensor, sparse=True)
    splits, wants = _splits(node, chunk_size if chunks is None else chunks, block_size_limit)
    if balance:
        splits = tuple(_balanced(sizes) if known(sizes) else sizes for sizes in splits)
    # A tensor of its own, whatever its chunks: writing to it does not change the given one.
    return node if splits == node.chunks else Rechunk(node, splits, wants)


def _splits(
    node: Node, chunk_size: Any, limit: int | None
) -> tuple[Chunks, tuple[int | None, ...]]:
    ndim = len(node.chunks)
    if known_chunks(node.chunks):
        request: Any = chunk_size
        if isinstance(chunk_size, Mapping) or (
            isinstance(chunk_size, tuple | list) and len(chunk_size) == ndim
        ):
            targets = _wanted(chunk_size, ndim)
            request = tuple(
                old if new is None else new for old, new in zip(node.chunks, targets, strict=True)
            )
        chunks = normalize_chunks(
            request, node.shape, node.meta.dtype, limit=limit, previous=node.chunks
        )
        return chunks, (None,) * ndim
    splits: list[Sizes] = []
    wants: list[int | None] = []
    for old, want in zip(node.chunks, _wanted(chunk_size, ndim), strict=True):
        keeps = want is None or want == "auto" or _same_chunks(old, want)
        number = None if keeps or isinstance(want, tuple | list) else operator.index(want)
        if keeps:
            splits.append(old)
        elif known(old):
            (sizes,) = normalize_chunks((want,), (sum(numbers(old)),), node.meta.dtype)
            splits.append(sizes)
        elif number is None or number == 0 or number < -1:
            raise UnknownShapeError(
                "Chunks must be unchanging along dimensions with missing values, or -1 or an int; "
                "execute() first"
            )
        else:
            splits.append((total(old),))
        wants.append(number)
    return tuple(splits), tuple(wants)


def _same_chunks(old: Sizes, want: Any) -> bool:
    """Tell whether chunks are named that are there, with nan for those of unknown length."""
    return (
        isinstance(want, tuple | list)
        and len(want) == len(old)
        and all(
            new == size if isinstance(size, int) else math.isnan(new)
            for size, new in zip(old, want, strict=True)
        )
    )


def whole_along(node: Node, axes: tuple[int, ...], ndim: int) -> Node:
    """Return a node whose chunks are whole along axes that the function takes away."""
    offset = ndim - len(node.chunks)
    own = {axis - offset: -1 for axis in axes if axis >= offset}
    several = {axis: -1 for axis in own if len(node.chunks[axis]) > 1}
    return as_node(rechunk.node(node, several)) if several else node


def whole_if_declared(node: Node, grid: Grid) -> Generator[Look, Any, Grid]:
    """Return a grid in one chunk along the axes that its node has declared as one.

    Of unknown lengths only the run tells how many chunks there are.
    """
    several = {axis for axis, sizes in enumerate(node.chunks) if len(sizes) == 1}
    several = {axis for axis in several if len(grid.chunks[axis]) > 1}
    if not several:
        return grid
    (grid,) = yield from resolved(grid)
    splits = tuple(
        (sum(numbers(sizes)),) if axis in several else sizes
        for axis, sizes in enumerate(grid.chunks)
    )
    return recut(grid, splits)


def match_by_position(arrays: tuple[Node, ...]) -> bool:
    """Tell whether arrays have unlike lengths, but chunks that match in number."""
    chunks = [node.chunks for node in arrays]
    for axis in range(-max(map(len, chunks)), 0):
        own = [splits[axis] for splits in chunks if len(splits) >= -axis]
        lengths = {total(sizes) for sizes in own} - {1}
        if len(lengths) > 1 and known(tuple(lengths)):
            return len({len(sizes) for sizes in own} - {1}) <= 1
    return False
