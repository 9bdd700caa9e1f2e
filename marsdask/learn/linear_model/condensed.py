"""Least squares of many rows as one of few rows: any solver finds the same answer in it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from marsdask.core.machine.costs import kernel
from marsdask.core.node import Node
from marsdask.core.sizes import numbers
from marsdask.learn.moments import (
    Moments,
    is_far,
    merge_products,
    merge_triangles,
    refuse,
    triangle,
)
from marsdask.learn.rows import fold, tiles
from marsdask.tensor.sparse.blocks import is_sparse

#: If the scaled products' condition exceeds it, they have lost more digits than rows would.
ILL_CONDITIONED = 1e6


class Condensed(NamedTuple):
    """Few rows whose squares and products are those of all rows about their means."""

    samples: Any
    targets: Any
    rows: int
    weight: float
    mean: Any
    target_mean: Any


class Joint(NamedTuple):
    """The number of rows, and the moments of samples and targets side by side."""

    rows: int
    moments: Moments


def condensed(rows: Node, targets: Node, weight: Node | None, *, center: bool) -> Condensed:
    """Return few rows in place of all: one pass, two if the products are ill-conditioned."""
    width = numbers(rows.shape[1:])[0]
    several = numbers(targets.shape[1:])
    total = width + (several[0] if several else 1)
    nbytes = 8 * total * total
    sums = fold(joint_products, merge_joint, rows, targets, weight, nbytes=nbytes)
    mean = sums.moments.mean if center else np.zeros(total)
    products = sums.moments.products
    if not center:
        products = products + sums.moments.count * np.outer(sums.moments.mean, sums.moments.mean)
    factor = _by_products(products, width, sums.rows)
    if factor is None:
        factor = fold(
            joint_triangle, merge_triangles, rows, targets, weight, nbytes=nbytes, mean=mean
        )
    samples, responses = factor[:, :width], factor[:, width:]
    return Condensed(
        np.ascontiguousarray(samples),
        responses if several else responses[:, 0],
        sums.rows,
        float(sums.moments.count),
        mean[:width],
        mean[width:] if several else mean[width],
    )


def _by_products(products: Any, width: int, count: int) -> Any:
    """Return rows that have these products, ``None`` if they are ill-conditioned."""
    gram = products[:width, :width]
    scale = np.sqrt(np.diag(gram))
    if count <= width or not (scale > 0).all():
        return None
    values = np.linalg.eigvalsh(gram / np.outer(scale, scale))
    if values[0] * ILL_CONDITIONED < values[-1]:
        return None
    top = np.linalg.cholesky(gram).T
    responses = solve_triangular(top, products[:width, width:], trans="T")
    residuals = products[width:, width:] - responses.T @ responses
    values, vectors = np.linalg.eigh(residuals)
    # What the samples do not explain: rows of targets whose samples are zero.
    below = np.sqrt(np.maximum(values, 0.0))[:, np.newaxis] * vectors.T
    return np.block([[top, responses], [np.zeros((len(below), width)), below]])


@kernel(scratch=0.2)
def joint_products(block: Any, targets: Any, weight: Any = None) -> Joint:
    """Return the moments of samples and targets with the products of every two columns."""
    y = targets if targets.ndim == 2 else targets[:, np.newaxis]
    if is_sparse(block):
        check_run(block, y, weight)
        return Joint(len(y), _of_sparse(block, y, weight))
    if weight is not None:
        check_run(block[:0], y, weight)
    size = block.shape[1] + y.shape[1]
    moments = Moments(0.0, np.zeros(size), np.zeros((size, size)))
    with np.errstate(invalid="ignore", over="ignore"):
        for tile, part, w in tiles(block, y, weight):
            terms = _of_tile(tile.astype(np.float64, copy=False), part, w)
            moments = merge_products(moments, terms)
    if not np.isfinite(moments.mean).all():
        check_run(block, y, weight)
    return Joint(len(y), moments)


def _of_tile(tile: Any, y: Any, weight: Any) -> Moments:
    """Return the moments of a tile: products about the origin, or about its mean if that is far."""
    count = float(len(tile)) if weight is None else float(weight.sum())
    weights = np.ones(len(tile)) if weight is None else weight
    mean = np.concatenate([weights @ tile, weights @ y]) / (count or 1.0)
    products = _weighted_products(tile, y, weight)
    about_mean = products - count * np.outer(mean, mean)
    if is_far(mean, np.diag(about_mean) / (count or 1.0)):
        away = tile - mean[: tile.shape[1]], y - mean[tile.shape[1] :]
        about_mean = _weighted_products(*away, weight)
    return Moments(count, mean, about_mean)


def _weighted_products(tile: Any, y: Any, weight: Any) -> Any:
    if weight is not None:
        root = np.sqrt(weight)[:, np.newaxis]
        tile, y = tile * root, y * root
    across = tile.T @ y
    return np.block([[tile.T @ tile, across], [across.T, y.T @ y]])


def _of_sparse(block: Any, y: Any, weight: Any) -> Moments:
    """Return the moments of sparse samples, whose zeros take no time."""
    w = np.ones(len(y)) if weight is None else weight
    count = float(w.sum())
    mean = np.concatenate([block.T @ w, y.T @ w]) / (count or 1.0)
    weighted = block.multiply(w[:, np.newaxis]).tocsr()
    across = weighted.T @ y
    inner = (weighted.T @ block).toarray()
    products = np.block([[inner, across], [across.T, y.T @ (y * w[:, np.newaxis])]])
    return Moments(count, mean, products - count * np.outer(mean, mean))


def check_run(block: Any, y: Any, weight: Any) -> None:
    """Raise scikit-learn's error for samples, targets or weights that are no good numbers."""
    values = block.data if is_sparse(block) else block
    if not np.isfinite(values.sum()):
        refuse(values, allow_nan=False)
    if not np.isfinite(y.sum()):
        if np.isnan(y).any():
            raise ValueError("Input y contains NaN.")
        raise ValueError("Input y contains infinity or a value too large for dtype('float64').")
    if weight is not None and weight.min(initial=0.0) < 0:
        raise ValueError("Negative values in data passed to `sample_weight`.")


def merge_joint(a: Joint, b: Joint) -> Joint:
    """Return the moments of both."""
    return Joint(a.rows + b.rows, merge_products(a.moments, b.moments))


@kernel(scratch=3.0)
def joint_triangle(block: Any, targets: Any, weight: Any = None, *, mean: Any) -> Any:
    """Return the R of the QR decomposition of samples and targets about their means."""
    samples = block.toarray() if is_sparse(block) else block
    columns = np.column_stack([samples, targets]) - mean
    if weight is not None:
        columns *= np.sqrt(weight)[:, np.newaxis]
    return triangle(columns, mean=0.0)
