"""Sums of samples that combine: counts, means, squares and products about the mean."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from marsdask.core.shapes import kernel

from .rows import tiles


class Moments(NamedTuple):
    """How much each column weighs, its mean, and the squares (or products) about the mean."""

    count: Any
    mean: Any
    products: Any


def merge_squares(a: Moments, b: Moments) -> Moments:
    """Return the moments of both column by column (Chan, Golub and LeVeque)."""
    count, share, away = _shift(a, b)
    return Moments(
        count, a.mean + away * share, a.products + b.products + away * away * (a.count * share)
    )


def merge_products(a: Moments, b: Moments) -> Moments:
    """Return the moments of both with the products of every two columns."""
    count, share, away = _shift(a, b)
    products = a.products + b.products
    products += np.outer(away, away) * (a.count * share)
    return Moments(count, a.mean + away * share, products)


def _shift(a: Moments, b: Moments) -> tuple[Any, Any, Any]:
    count = a.count + b.count
    share = np.divide(b.count, count, out=np.zeros(np.shape(count)), where=np.not_equal(count, 0))
    return count, share, b.mean - a.mean


@kernel(scratch=0.1)
def squares(block: Any, weight: Any = None, *, allow_nan: bool) -> Moments:
    """Return the moments of each column; ``weight`` is that of each row, nan counts nothing."""
    width = block.shape[1]
    total = Moments(np.zeros(width), np.zeros(width), np.zeros(width))
    for tile, w in tiles(block, weight):
        sums = tile.sum(0, dtype=np.float64)
        if w is None and np.isfinite(sums).all():
            mean = sums / len(tile)
            away = tile - mean
            part = Moments(np.full(width, float(len(tile))), mean, np.square(away, away).sum(0))
        else:
            refuse(tile, allow_nan=allow_nan)
            part = _weighted(tile, w)
        total = merge_squares(total, part)
    return total


def refuse(tile: Any, *, allow_nan: bool) -> None:
    """Raise what scikit-learn raises for samples that are not numbers."""
    if not allow_nan and np.isnan(tile).any():
        raise ValueError("Input X contains NaN.")
    if np.isinf(tile).any():
        raise ValueError(
            f"Input X contains infinity or a value too large for dtype({tile.dtype.name!r})."
        )


def _weighted(tile: Any, weight: Any) -> Moments:
    there = ~np.isnan(tile)
    weights = there * (1.0 if weight is None else weight[:, np.newaxis])
    count = weights.sum(0)
    sums = np.where(there, weights * tile, 0.0).sum(0)
    mean = np.divide(sums, count, out=np.zeros_like(sums), where=count != 0)
    away = np.where(there, tile - mean, 0.0)
    return Moments(count, mean, (weights * away * away).sum(0))


@kernel(scratch=0.1)
def products(block: Any) -> Moments:
    """Return the moments with the products of every two columns."""
    width = block.shape[1]
    origin = np.zeros(width)
    sums, total = np.zeros(width), np.zeros((width, width))
    for position, (tile,) in enumerate(tiles(block)):
        if position == 0:
            # Products about a point amid the data lose no digits when the mean is taken out.
            origin = tile.mean(0, dtype=np.float64)
        with np.errstate(invalid="ignore", over="ignore"):
            away = tile - origin
            sums += away.sum(0)
            total += away.T @ away
    if not np.isfinite(sums).all():
        refuse(block, allow_nan=False)
    shift = sums / max(1, len(block))
    total -= np.outer(shift, sums)
    return Moments(len(block), origin + shift, total)


@kernel(scratch=2.0)
def triangle(block: Any, *, mean: Any) -> Any:
    """Return the R of the QR decomposition of the rows about the mean."""
    width = block.shape[1]
    step = max(1000, 4 * width)
    parts: list[Any] = [
        np.linalg.qr(block[start : start + step] - mean, mode="r")
        for start in range(0, len(block), step)
    ]
    return parts[0] if len(parts) == 1 else _stacked(parts or [np.zeros((0, width))])


def merge_triangles(a: Any, b: Any) -> Any:
    """Return the R of both."""
    return _stacked([a, b])


def _stacked(parts: list[Any]) -> Any:
    joined = np.concatenate(parts)
    # Fewer rows than columns have nothing to eliminate yet.
    return joined if len(joined) <= joined.shape[1] else np.linalg.qr(joined, mode="r")
