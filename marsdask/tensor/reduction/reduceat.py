"""Reduce runs of an axis separately: ``ufunc.reduceat``."""

from __future__ import annotations

import itertools
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from marsdask.core.grids.blockwise import blockwise
from marsdask.core.grids.grid import Grid, Look
from marsdask.core.grids.lengths import resolved
from marsdask.core.grids.parts import loops_beside
from marsdask.core.machine.costs import kernel
from marsdask.core.node import Axes, Node
from marsdask.core.sizes import Chunks, Sizes, borders, known, numbers

from ..chunkwise.rechunk import recut
from ..indexing.advanced import PointsAt
from ..manipulation.join import length, part
from ..manipulation.shape import normalize_axis
from ..operands import as_node, empty
from ..scan.cumulative import loop_type
from ..unknown_lengths import ResultSpec, later


@kernel(scratch=0.0)
def reduce_runs(block: Any, starts: Any, *, ufunc: np.ufunc, axis: int, dtype: Any) -> Any:
    """Reduce the runs of a block that begin at the given positions."""
    return ufunc.reduceat(block, starts, axis=axis, dtype=dtype)


@dataclass(frozen=True, eq=False)
class Segments(Node):
    """A ufunc's reduction of each run along an axis; the first begins where the axis does."""

    label: ClassVar[str] = "reduceat"

    a: Node
    ufunc: np.ufunc
    starts: Any = field(repr=False)
    axis: int
    asked: Any
    dtype: np.dtype[Any]

    @property
    def meta(self) -> Any:
        return empty(self.dtype, len(self.a.chunks))

    @property
    def chunks(self) -> Chunks:
        _, groups = cut_runs(numbers(self.a.chunks[self.axis]), self.starts)
        return self._along(self.a.chunks, tuple(map(len, groups)))

    @property
    def loop_axes(self) -> tuple[Axes, ...]:
        return (loops_beside((self.axis,), len(self.a.chunks)),)

    def _along(self, chunks: Chunks, sizes: Sizes) -> Chunks:
        return (*chunks[: self.axis], sizes, *chunks[self.axis + 1 :])

    def tile(self, a: Grid) -> Generator[Look, Any, Grid]:
        if not known(a.chunks[self.axis]):
            (a,) = yield from resolved(a)
        sizes, groups = cut_runs(numbers(a.chunks[self.axis]), self.starts)
        return blockwise(
            reduce_runs,
            [(recut(a, self._along(a.chunks, sizes)), tuple(range(a.ndim)))],
            chunks=self._along(a.chunks, tuple(map(len, groups))),
            meta=self.meta,
            varying=PointsAt(f"{self.name}-{a.name}", self.axis, groups),
            kwargs={"ufunc": self.ufunc, "axis": self.axis, "dtype": self.asked},
        )


def cut_runs(sizes: tuple[int, ...], starts: Any) -> tuple[tuple[int, ...], tuple[Any, ...]]:
    """Rechunk an axis so that each run lies in one chunk; return the begins of its runs.

    New borders are as close before the old ones as possible. Runs that overlap need the whole axis.
    """
    stops = borders(sizes)
    if not len(starts) or np.any(np.diff(starts) < 0):
        return (stops[-1],), (starts,)
    before = np.searchsorted(starts, stops[1:-1], side="right") - 1
    bounds = np.unique([0, *starts[before], stops[-1]])
    edges = [*np.searchsorted(starts, bounds[:-1]), len(starts)]
    groups = (
        starts[i:j] - begin
        for (i, j), begin in zip(itertools.pairwise(edges), bounds[:-1], strict=True)
    )
    return tuple(np.diff(bounds).tolist()), tuple(groups)


def reduceat(
    ufunc: np.ufunc,
    array: Any,
    indices: Any,
    axis: Any = 0,
    dtype: Any = None,
    *,
    associative: bool,
) -> Node:
    """Reduce the runs that begin at indices. See numpy.ufunc.reduceat.

    Indices that are a tensor are computed immediately. A run lies in one chunk, unless the ufunc is
    associative.
    """
    node = as_node(array)
    # As NumPy: lists of numbers are truncated to integers, arrays of floats raise.
    places = np.asarray(indices, None if hasattr(indices, "dtype") else np.intp)
    starts = places.astype(np.intp, casting="safe")
    kind = None if dtype is None else np.dtype(dtype)
    # NumPy raises its own errors for types, shapes and unsupported ufuncs.
    sample = np.zeros((1,) * node.meta.ndim, node.meta.dtype)
    result = ufunc.reduceat(sample, np.zeros_like(starts), axis=axis, dtype=kind).dtype
    axis = 0 if axis is None else normalize_axis(np.ravel(axis)[0], node.meta.ndim)
    how = (ufunc, starts, axis, kind, result, associative)
    if known(node.shape[axis : axis + 1]):
        return reduced_runs(node, *how)
    lengths = (*node.chunks[:axis], (len(starts),), *node.chunks[axis + 1 :])
    promise: Node = later(reduced_runs, node, *how, outcome=ResultSpec(result, lengths))
    return promise


def reduced_runs(
    a: Any,
    ufunc: np.ufunc,
    starts: Any,
    axis: int,
    asked: Any,
    result: np.dtype[Any],
    associative: bool,
) -> Node:
    """Reduce the runs of an axis whose length is known."""
    node = as_node(a)
    count = length(node, axis)
    for index in starts[(starts < 0) | (starts >= count)]:
        raise IndexError(f"index {index} out-of-bounds in {ufunc.__name__}.reduceat [0, {count})")
    if len(starts) and starts.min():
        begin = int(starts.min())
        node, starts = part(node, axis, range(begin, count)), starts - begin
    sizes = numbers(node.chunks[axis])
    if associative and np.all(np.diff(starts) > 0) and len(starts):
        splits, _ = cut_runs(sizes, starts)
        if max(splits) > 2 * max(sizes):  # long runs: each chunk is reduced first
            inner = np.union1d(starts, borders(sizes)[:-1])
            node = Segments(node, ufunc, inner[inner < count], axis, asked, result)
            starts, asked = np.searchsorted(inner, starts), loop_type(result)
    return Segments(node, ufunc, starts, axis, asked, result)
