"""An index of each run of samples, and queries that ask all of them."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array
from sklearn import config_context
from sklearn.base import clone

from marsdask.core.config import options
from marsdask.core.grids.blockwise import blockwise
from marsdask.core.grids.chunk_positions import StartAt
from marsdask.core.grids.grid import Grid, Look
from marsdask.core.grids.lengths import resolved
from marsdask.core.grids.tree import Pairwise, tree
from marsdask.core.machine.costs import Cost, kernel
from marsdask.core.node import Node
from marsdask.core.sizes import Chunks, Sizes, numbers
from marsdask.learn.metrics.pairwise.blocks import MatrixOfRows, whole_rows

#: Bytes of samples up to which neighbouring chunks share an index: a query asks each of them.
SHARED_INDEX = 16 * 2**20


def run_sizes(sizes: Sizes, row_bytes: int) -> Sizes:
    """Return the lengths of the runs that have an index: chunks, small neighbours joined."""
    if not options.coalesce:
        return sizes
    lengths: list[int] = []
    for size in numbers(sizes):
        if lengths and (lengths[-1] + size) * row_bytes <= SHARED_INDEX:
            lengths[-1] += size
        else:
            lengths.append(size)
    return tuple(lengths)


@dataclass(frozen=True, eq=False)
class FittedRuns(Node):
    """scikit-learn's NearestNeighbors of each run of samples, which holds the samples."""

    pins_grid: ClassVar[bool] = True

    rows: Node
    model: Any = field(repr=False)
    sizes: Sizes

    @property
    def meta(self) -> Any:
        return None

    @property
    def chunks(self) -> Chunks:
        return ((1,) * len(self.sizes),)

    def tile(self, rows: Grid) -> Generator[Look, Any, Grid]:
        (rows,) = yield from resolved(rows)
        whole = whole_rows(rows, self.sizes)
        width = numbers(whole.chunks[1])[0]
        largest = max(numbers(whole.chunks[0]))
        return blockwise(
            fit_run,
            [(whole, (0, None))],
            chunks=self.chunks,
            meta=self.meta,
            kwargs={"model": self.model},
            # A tree has the samples, and as much again of nodes.
            itemsize=16.0 * largest * width,
        )


@kernel(scratch=1.0)
def fit_run(block: Any, *, model: Any) -> Any:
    """Return the index of a run of samples, ``None`` if it is empty."""
    return clone(model).fit(block) if block.shape[0] else None


@dataclass(frozen=True, eq=False)
class OverRuns(MatrixOfRows):
    """For each row what ``func`` finds in each run of samples, merged."""

    a: Node
    runs: Node
    sizes: Sizes
    merge: Callable[[Any, Any], Any]
    width: int

    @property
    def chunks(self) -> Chunks:
        return (self.a.chunks[0], (self.width,))

    def tile(self, a: Grid, runs: Grid) -> Generator[Look, Any, Grid]:
        (a,) = yield from resolved(a)
        partials = blockwise(
            self.func,
            [(whole_rows(a, a.chunks[0]), (0, None)), (runs, (1,))],
            chunks=(a.chunks[0], (self.width,) * len(self.sizes)),
            meta=self.meta,
            varying=StartAt(self.sizes, 1),
            kwargs=self.kwargs,
        )
        return tree(partials, Pairwise(self.merge), (1,))


def _room() -> Any:
    """Bound what scikit-learn takes for distances to the bytes of a chunk."""
    return config_context(working_memory=max(1.0, int(options.chunk_store_limit) / 2**20))


@kernel(scratch=3.0)
def nearest(a: Any, run: Any, start: int, *, k: int) -> Any:
    """Return the distances of the ``k`` nearest samples of a run, then their numbers."""
    result = np.empty((a.shape[0], 2 * k))
    result[:, :k], result[:, k:] = np.inf, -1
    count = 0 if run is None else min(k, run.n_samples_fit_)
    if count and a.shape[0]:
        with _room():
            distances, places = run.kneighbors(a, count)
        result[:, :count], result[:, k : k + count] = distances, places + start
    return result


@dataclass(frozen=True)
class NearestOfBoth:
    """Keeps the nearest of two runs, the first ones of equal distances."""

    cost: ClassVar[Cost] = Cost(scratch=4.0)

    k: int

    def __call__(self, a: Any, b: Any) -> Any:
        k = self.k
        distances = np.hstack([a[:, :k], b[:, :k]])
        places = np.hstack([a[:, k:], b[:, k:]])
        order = np.argsort(distances, axis=1, kind="stable")[:, :k]
        parts = [np.take_along_axis(array, order, axis=1) for array in (distances, places)]
        return np.hstack(parts)


@kernel(scratch=3.0)
def within(a: Any, run: Any, start: int, *, radius: float) -> Any:
    """Return for each row the distances and numbers of the samples of a run that are near."""
    result = np.empty((a.shape[0], 1), dtype=object)
    distances: Any = [np.empty(0)] * a.shape[0]
    places: Any = [np.empty(0, np.int64)] * a.shape[0]
    if run is not None and a.shape[0]:
        with _room():
            distances, places = run.radius_neighbors(a, radius)
    for row, pair in enumerate(zip(distances, places, strict=True)):
        result[row, 0] = (pair[0], pair[1] + start)
    return result


def joined(a: Any, b: Any) -> Any:
    """Return what is near in both runs."""
    result = np.empty_like(a)
    for row, (first, second) in enumerate(zip(a[:, 0], b[:, 0], strict=True)):
        result[row, 0] = tuple(map(np.concatenate, zip(first, second, strict=True)))
    return result


def without_self(found: Any, rows: Any, *, k: int) -> Any:
    """Return the nearest of ``k + 1`` without the row itself, or without the first of equals."""
    places = found[:, k + 1 :]
    is_other = places != rows[:, np.newaxis]
    is_other[is_other.all(axis=1), 0] = False
    parts = [part[is_other].reshape(len(rows), k) for part in (found[:, : k + 1], places)]
    return np.hstack(parts)


def distances_of(found: Any, *, k: int, dtype: Any) -> Any:
    """Return the distances that were found."""
    return found[:, :k].astype(dtype)


def places_of(found: Any, *, k: int) -> Any:
    """Return the numbers of samples that were found."""
    return found[:, k:].astype(np.int64)


def graph_of(found: Any, *, k: int, width: int, weighted: bool) -> Any:
    """Return the edges to the samples that were found as rows of a sparse matrix."""
    weights = found[:, :k].ravel() if weighted else np.ones(len(found) * k)
    starts = np.arange(0, len(weights) + 1, k)
    places = found[:, k:].ravel().astype(np.int64)
    return csr_array((weights, places, starts), shape=(len(found), width))


def others_within(found: Any, rows: Any) -> Any:
    """Return what is near each row but itself."""
    result = np.empty_like(found)
    for row, (distances, places) in enumerate(found[:, 0]):
        is_other = places != rows[row]
        result[row, 0] = (distances[is_other], places[is_other])
    return result


def part_within(found: Any, *, part: int, ordered: bool) -> Any:
    """Return the distances (part 0) or the numbers (part 1) of what is near each row."""
    values = np.empty(len(found), dtype=object)
    for row, pair in enumerate(found[:, 0]):
        order = np.argsort(pair[0], kind="stable") if ordered else slice(None)
        values[row] = pair[part][order]
    return values


def graph_within(found: Any, *, width: int, weighted: bool, ordered: bool) -> Any:
    """Return the edges to what is near as rows of a sparse matrix."""
    places = part_within(found, part=1, ordered=ordered)
    starts = np.concatenate([[0], np.cumsum([len(item) for item in places])])
    edges = np.concatenate([np.empty(0, np.int64), *places])
    weights = np.ones(len(edges))
    if weighted:
        weights = np.concatenate([np.empty(0), *part_within(found, part=0, ordered=ordered)])
    return csr_array((weights, edges, starts), shape=(len(found), width))
