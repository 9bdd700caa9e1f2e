"""Initialization of k-means: k-means++, k-means|| and random samples.

The draws equal scikit-learn's for the same random state, so that both start alike.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.cluster import kmeans_plusplus

from marsdask.core.collection import collect, execute, wrap
from marsdask.core.machine.costs import kernel
from marsdask.core.node import Node
from marsdask.core.sizes import numbers
from marsdask.learn.rows import Fold, Value, add, fold, rowwise
from marsdask.tensor import arange, cumsum, ones
from marsdask.tensor.elementwise.ufuncs import multiply
from marsdask.tensor.operands import as_node
from marsdask.tensor.random import RandomState
from marsdask.tensor.sparse.blocks import dense

from .lloyd import assign, squared_distances


def plus_plus(rows: Node, weight: Node | None, count: int, state: Any) -> Any:
    """Choose samples far from those chosen before; each is the best of a few draws."""
    trials = 2 + int(math.log(count))
    centers = [_first(rows, weight, state)]
    squared, sums = _minimum_distances(rows, weight, None, centers[0])
    closest = rowwise(column, squared.node, dtype=np.float64, position=0)
    total = sums[0]
    while len(centers) < count:
        mass = closest if weight is None else multiply(closest, wrap(weight))
        places = _locate(mass, state.uniform(size=trials) * total, "left")
        candidates = _take(rows, places)
        squared, sums = _minimum_distances(rows, weight, closest.node, candidates)
        best = int(sums.argmin())
        total = sums[best]
        closest = rowwise(column, squared.node, dtype=np.float64, position=best)
        centers.append(candidates[best : best + 1])
    return np.concatenate(centers)


def parallel(
    rows: Node, weight: Node | None, count: int, state: Any, *, rate: float, rounds: int
) -> Any:
    """Draw many samples in a few passes and choose among them (k-means||).

    Each pass draws ``rate`` times ``count`` samples on average.
    """
    (length,) = numbers(rows.shape[:1])
    points = _first(rows, weight, state)
    candidates = [points]
    closest = None
    for _ in range(rounds):
        squared, _ = _minimum_distances(rows, weight, closest, points)
        closest = rowwise(least, squared.node, dtype=np.float64).node
        total = fold(weigh, add, closest, weight, nbytes=8)[0][0]
        if total == 0:
            break
        draws = RandomState(state.randint(2**31 - 1)).random_sample(length)
        points = fold(
            draw,
            join,
            rows,
            closest,
            draws.node,
            weight,
            nbytes=int(8 * rate * count * numbers(rows.shape)[1]),
            chance=rate * count / total,
        )
        if len(points):
            candidates.append(points)
    pool = np.concatenate(candidates)
    if len(pool) < count:
        return plus_plus(rows, weight, count, state)
    weights = fold(assign, add, rows, weight, nbytes=8 * pool.size, centers=pool).weights
    centers, _ = kmeans_plusplus(pool, count, sample_weight=weights, random_state=state)
    return centers


def at_random(rows: Node, weight: Node | None, count: int, state: Any) -> Any:
    """Choose different samples at random, by their weights."""
    if weight is not None:
        there = int((wrap(weight) > 0).sum().compute())
        if there < count:
            raise ValueError(f"Fewer samples of positive weight ({there}) than n_clusters={count}")
    places: list[int] = []
    while len(places) < count:
        picks = _draw(rows, weight, state.random_sample(count - len(places)), places)
        places.extend(dict.fromkeys(picks.tolist()))
    return _take(rows, np.asarray(places))


def _first(rows: Node, weight: Node | None, state: Any) -> Any:
    return _take(rows, _draw(rows, weight, state.random_sample(1), []))


def _draw(rows: Node, weight: Node | None, uniform: Any, found: Sequence[int]) -> Any:
    """Return the samples for numbers from 0 to 1, none of those ``found`` before."""
    (length,) = numbers(rows.shape[:1])
    if weight is None and not found:
        return np.minimum((uniform * length).astype(np.int64), length - 1)
    mass = ones(length) if weight is None else wrap(weight)
    places = arange(length)
    weights = rowwise(
        zero_at, mass.node, places.node, dtype=np.float64, found=np.asarray(found, int)
    )
    return _locate(weights, uniform * float(weights.sum().compute()), "right")


def _locate(mass: Any, targets: Any, side: str) -> Any:
    """Return for each target the first sample at which the cumulative mass reaches it."""
    (places,) = fold(below, add, cumsum(mass).node, nbytes=8, targets=targets, side=side)
    return np.minimum(places, numbers(mass.node.shape)[0] - 1)


def _take(rows: Node, positions: Any) -> Any:
    few = collect(as_node(wrap(rows)[np.asarray(positions)], sparse=True))
    return np.asarray(dense(few.compute()))


def _minimum_distances(
    rows: Node, weight: Node | None, closest: Node | None, points: Any
) -> tuple[Any, Any]:
    """Return the squared distances after adding each point, and their weighted sums."""
    squared = rowwise(
        minimum_distances, rows, closest, dtype=np.float64, width=len(points), points=points
    )
    operands = (squared.node,) if weight is None else (squared.node, weight)
    sums = Value(Fold(weigh, add, operands, {}, 8 * len(points)))
    execute(squared, sums)
    return squared, sums.fetch()[0]


@kernel(scratch=0.5)
def minimum_distances(block: Any, closest: Any = None, *, points: Any) -> Any:
    """Return each sample's squared distance from each point, at most ``closest``."""
    squared = squared_distances(block, points)
    return squared if closest is None else np.minimum(squared, closest[:, np.newaxis], out=squared)


@kernel(scratch=0.1)
def weigh(block: Any, weight: Any = None) -> tuple[Any]:
    """Return the weighted sums of the columns."""
    if weight is None:
        return (np.atleast_1d(block.sum(axis=0)),)
    return (np.atleast_1d(weight @ block),)


def zero_at(block: Any, places: Any, *, found: Any) -> Any:
    """Return the values with zeros at the places found before."""
    return np.where(np.isin(places, found), 0.0, block)


def below(block: Any, *, targets: Any, side: Any) -> tuple[Any]:
    """Return how many of the ascending values lie before each target."""
    return (np.searchsorted(block, targets, side),)


def column(block: Any, *, position: int) -> Any:
    """Return one column."""
    return block[:, position]


def least(block: Any) -> Any:
    """Return the least value of each row."""
    return block.min(axis=1)


def draw(block: Any, closest: Any, uniform: Any, weight: Any = None, *, chance: float) -> Any:
    """Return samples drawn with a probability that grows with their distance."""
    mass = closest if weight is None else closest * weight
    return dense(block[uniform < chance * mass])


def join(a: Any, b: Any) -> Any:
    """Return the rows of both."""
    return np.concatenate([a, b])
