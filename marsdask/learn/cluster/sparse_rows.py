"""Lloyd's iterations over sparse samples, whose zeros take no time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from marsdask.learn.moments import refuse

#: Values in a tile: the rows, and for each centre the distances and the assignment.
TILE = 2**17


class Sums(NamedTuple):
    """The weight of each cluster, and the weighted sum of its samples."""

    weights: Any
    samples: Any


def squared_distances(block: Any, points: Any) -> Any:
    """Return each row's squared distance from each point."""
    block = block.astype(np.float64, copy=False)  # squares of float32 lose what is left of them
    result = np.asarray(block @ (-2.0 * points.T))
    result += np.asarray(block.multiply(block).sum(axis=1)).reshape(-1, 1)
    result += np.square(points).sum(axis=1)
    return np.maximum(result, 0.0, out=result)


def _nearest(block: Any, centers: Any) -> Iterator[tuple[slice, Any, Any]]:
    """Iterate over rows, their samples and their clusters."""
    refuse(block.data, allow_nan=False)
    step = max(256, TILE // (3 * len(centers)))
    factors, offsets = -2.0 * centers.T, np.square(centers).sum(axis=1)
    for start in range(0, block.shape[0], step):
        rows = slice(start, start + step)
        tile = block[rows]
        yield rows, tile, (np.asarray(tile @ factors) + offsets).argmin(axis=1)


def assign(block: Any, weight: Any, centers: Any) -> Sums:
    """Return the clusters' weights and sums of a run of samples."""
    weights, samples = np.zeros(len(centers)), np.zeros(centers.shape)
    for rows, tile, clusters in _nearest(block, centers):
        w = np.ones(len(clusters)) if weight is None else weight[rows]
        places = (clusters, np.arange(len(clusters)))
        onehot = csr_array((w, places), shape=(len(centers), len(clusters)))
        weights += np.bincount(clusters, w, len(centers))
        samples += (onehot @ tile).toarray()
    return Sums(weights, samples)


def labels(block: Any, centers: Any) -> Any:
    """Return each sample's cluster."""
    result = np.empty(block.shape[0], np.int32)
    for rows, _, clusters in _nearest(block, centers):
        result[rows] = clusters
    return result


def squared_from_own(block: Any, centers: Any, found: Any) -> Any:
    """Return each sample's squared distance from the centre of its cluster."""
    rows = np.repeat(np.arange(block.shape[0]), np.diff(block.indptr))
    own = centers[found[rows], block.indices]
    sums = np.bincount(rows, np.square(block.data - own) - own * own, block.shape[0])
    return np.maximum(np.square(centers).sum(axis=1)[found] + sums, 0.0)
