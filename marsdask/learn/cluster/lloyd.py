"""Lloyd's iterations: assign and sum in one pass over the samples, tile by tile in cache."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from marsdask.core.machine.costs import kernel
from marsdask.core.node import Node
from marsdask.learn.moments import refuse
from marsdask.learn.rows import add, fold, tiles
from marsdask.tensor.sparse.blocks import dense, is_sparse

from . import sparse_rows
from .sparse_rows import TILE, Sums

#: Samples this many times farther from the origin than from each other are centred first.
FAR = 8.0


class Nearest:
    """Finds the nearest centres tile by tile, in the same memory."""

    def __init__(self, centers: Any, dtype: np.dtype[Any]) -> None:
        origin = centers.mean(axis=0)
        away = centers - origin
        squared = np.square(away).sum(axis=1)
        # |x - c|^2 without |x|^2, which is the same for all centres.
        self._factors = np.ascontiguousarray(-2.0 * away.T, dtype)
        self._origin = None
        if origin @ origin > FAR**2 * squared.max():
            self._origin = origin.astype(dtype)
        else:
            squared = squared + 2.0 * away @ origin
        self._offsets = squared.astype(dtype)[:, np.newaxis]
        self.step = max(256, TILE // (3 * len(centers) + centers.shape[1]))
        self._products = np.empty((self.step, len(centers)), dtype)
        self._distances = np.empty((len(centers), self.step), dtype)
        self._equal = np.empty((len(centers), self.step), np.bool_)
        self._chosen = np.empty((len(centers), self.step), dtype)
        self._numbers = np.arange(len(centers))[:, np.newaxis]

    def tiles(self, block: Any, *others: Any) -> Iterator[tuple[Any, ...]]:
        """Iterate over (rows, one-hot columns of their clusters, the same rows of others)."""
        for start in range(0, len(block), self.step):
            rows = slice(start, start + self.step)
            parts = (array if array is None else array[rows] for array in others)
            yield (rows, self(block[rows]), *parts)

    def __call__(self, tile: Any) -> Any:
        """Return a column for each row with 1 at its cluster; valid until the next call."""
        width = len(tile)
        distances, equal = self._distances[:, :width], self._equal[:, :width]
        points = tile if self._origin is None else tile - self._origin
        products = np.matmul(points, self._factors, out=self._products[:width])
        # Long rows of few centres are faster to read than the transpose.
        np.add(products.T, self._offsets, out=distances)
        np.equal(distances, distances.min(axis=0), out=equal)
        if np.count_nonzero(equal) != width:
            refuse(tile, allow_nan=False)
            # Of equally near centres the first is chosen.
            np.equal(distances.argmin(axis=0), self._numbers, out=equal)
        onehot = self._chosen[:, :width]
        np.copyto(onehot, equal)
        return onehot


@kernel(scratch=0.1)
def assign(block: Any, weight: Any = None, *, centers: Any) -> Sums:
    """Return the clusters' weights and sums of a run of samples."""
    if is_sparse(block):
        return sparse_rows.assign(block, weight, centers)
    nearest = Nearest(centers, block.dtype)
    weights, samples = np.zeros(len(centers)), np.zeros(centers.shape)
    for rows, onehot, w in nearest.tiles(block, weight):
        if w is not None:
            np.multiply(onehot, w, out=onehot)
        weights += onehot.sum(axis=1)
        samples += onehot @ block[rows]
    return Sums(weights, samples)


@kernel(scratch=0.1)
def labels(block: Any, *, centers: Any) -> Any:
    """Return each sample's cluster."""
    if is_sparse(block):
        return sparse_rows.labels(block, centers)
    nearest = Nearest(centers, block.dtype)
    numbers = np.arange(len(centers), dtype=block.dtype)
    result = np.empty(len(block), np.int32)
    for rows, onehot in nearest.tiles(block):
        result[rows] = numbers @ onehot
    return result


def squared_distances(block: Any, points: Any) -> Any:
    """Return each row's squared distance from each point."""
    if is_sparse(block):
        return sparse_rows.squared_distances(block, points)
    origin = points.mean(axis=0)
    away = points - origin
    squared = np.square(away).sum(axis=1)
    result = np.empty((len(block), len(points)))
    start = 0
    for (tile,) in tiles(block):
        diff = tile - origin
        out = result[start : start + len(tile)]
        np.matmul(diff, -2.0 * away.T, out=out)
        out += np.einsum("ij,ij->i", diff, diff)[:, np.newaxis]
        out += squared
        np.maximum(out, 0.0, out=out)
        start += len(tile)
    return result


@kernel(scratch=0.5)
def distances(block: Any, *, centers: Any) -> Any:
    """Return each sample's distance from each centre."""
    result = squared_distances(block, centers)
    if not np.isfinite(result).all():
        refuse(block.data if is_sparse(block) else block, allow_nan=False)
    return np.sqrt(result, out=result).astype(block.dtype, copy=False)


@kernel(scratch=0.1)
def inertia(block: Any, found: Any, weight: Any = None, *, centers: Any) -> tuple[Any, ...]:
    """Return the sum of the squared distances to the centres, and the clusters' sizes."""
    sizes = np.bincount(found, minlength=len(centers))
    if is_sparse(block):
        squared = sparse_rows.squared_from_own(block, centers, found)
        return float(squared.sum() if weight is None else squared @ weight), sizes
    step = max(256, TILE // (2 * block.shape[1]))
    total = 0.0
    for start in range(0, len(block), step):
        rows = slice(start, start + step)
        away = block[rows] - centers[found[rows]]
        squared = np.einsum("ij,ij->i", away, away)
        total += float(squared.sum() if weight is None else squared @ weight[rows])
    return total, sizes


@kernel(scratch=1.0)
def farthest(
    block: Any, weight: Any = None, *, centers: Any, count: int
) -> tuple[Any, Any, Any, Any]:
    """Return the samples farthest from their centres: distances, rows, clusters, weights."""
    clusters = labels(block, centers=centers)
    if is_sparse(block):
        squared = sparse_rows.squared_from_own(block, centers, clusters)
    else:
        squared = np.square(block - centers[clusters]).sum(axis=1)
    top = np.argsort(-squared, kind="stable")[:count]
    weights = np.ones(len(top)) if weight is None else weight[top]
    return squared[top], dense(block[top]), clusters[top], weights


def farther(a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the farthest of both, as many as the longer one has."""
    columns = [np.concatenate(pair) for pair in zip(a, b, strict=True)]
    top = np.argsort(-columns[0], kind="stable")[: max(len(a[0]), len(b[0]))]
    return tuple(item[top] for item in columns)


def meetings(first: Any, second: Any, *, count: int) -> tuple[Any]:
    """Return how many samples each pair of clusters of two clusterings shares."""
    pairs = first.astype(np.int64) * count + second
    return (np.bincount(pairs, minlength=count * count).reshape(count, count),)


def improve(rows: Node, weight: Node | None, centers: Any) -> Any:
    """Return the means of the samples that are nearest to each centre."""
    nbytes = 8 * centers.size
    weights, samples = fold(assign, add, rows, weight, nbytes=nbytes, centers=centers)
    empty = np.flatnonzero(weights == 0)
    if len(empty):
        _relocate(rows, weight, centers, Sums(weights, samples), empty)
    has_weight = weights > 0
    means = samples / np.where(has_weight, weights, 1.0)[:, np.newaxis]
    means[~has_weight] = means[weights.argmax()]
    return means


def _relocate(rows: Node, weight: Node | None, centers: Any, sums: Sums, empty: Any) -> None:
    """Give each empty cluster one of the samples that are farthest from their own centres."""
    distances, samples, owners, weights = fold(
        farthest, farther, rows, weight, nbytes=8 * centers.size, centers=centers, count=len(empty)
    )
    if distances.max(initial=0.0) == 0:
        return
    for cluster, sample, owner, w in zip(empty, samples, owners, weights, strict=False):
        sums.samples[owner] -= sample * w
        sums.weights[owner] -= w
        sums.samples[cluster] = sample * w
        sums.weights[cluster] = w
