"""Sums of samples that combine: counts, means, squares and products about the mean."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from marsdask.core.machine.costs import kernel

from .rows import tiles

#: If the squared mean exceeds the variance this many times, squares about zero lose a digit.
FAR = 16.0


class Moments(NamedTuple):
    """The weight of each column, its mean, and the squares (or products) about the mean."""

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
    """Return the moments of each column; ``weight`` is that of each row, nan is ignored."""
    width = block.shape[1]
    total = Moments(np.zeros(width), np.zeros(width), np.zeros(width))
    for tile, w in tiles(block, weight):
        part = _plain(tile.astype(np.float64, copy=False)) if w is None else None
        if part is None:
            refuse(tile, allow_nan=allow_nan)
            part = _weighted(tile, w)
        total = merge_squares(total, part)
    return total


def _plain(tile: Any) -> Moments | None:
    """Return the moments of rows of equal weight, ``None`` if some value is not finite."""
    ones = np.ones(len(tile))
    # Products with ones are sums, several times faster than NumPy's along this axis.
    sums = ones @ tile
    if not np.isfinite(sums).all():
        return None
    mean = sums / len(tile)
    about_mean = ones @ np.square(tile) - sums * mean
    if is_far(mean, about_mean / len(tile)):
        away = tile - mean
        about_mean = ones @ np.square(away, out=away)
    return Moments(np.full(len(mean), float(len(tile))), mean, about_mean)


def is_far(mean: Any, variance: Any) -> bool:
    """Tell whether squares about zero would lose digits: some mean is large for its variance."""
    return bool((mean * mean > FAR * variance).any())


def refuse(tile: Any, *, allow_nan: bool) -> None:
    """Raise scikit-learn's error for samples that are not numbers."""
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


def merge_counted(a: tuple[int, Moments], b: tuple[int, Moments]) -> tuple[int, Moments]:
    """Return the number of rows of both, and their moments column by column."""
    return a[0] + b[0], merge_squares(a[1], b[1])


@kernel(scratch=0.1)
def products(block: Any) -> Moments:
    """Return the moments with the products of every two columns."""
    width = block.shape[1]
    origin = np.zeros(width)
    sums, total = np.zeros(width), np.zeros((width, width))
    away: Any = None
    with np.errstate(invalid="ignore", over="ignore"):
        for position, (rows,) in enumerate(tiles(block)):
            tile = rows.astype(np.float64, copy=False)
            if position == 0 and is_far(tile.mean(axis=0), tile.var(axis=0)):
                # Products about a point among the data keep their digits when the mean is
                # subtracted.
                origin = tile.mean(axis=0)
                away = np.empty_like(tile)
            if away is not None:
                tile = np.subtract(tile, origin, out=away[: len(tile)])
            sums += np.ones(len(tile)) @ tile
            total += tile.T @ tile
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
    rows = np.concatenate(parts)
    # Fewer rows than columns have no triangle yet.
    return rows if len(rows) <= rows.shape[1] else np.linalg.qr(rows, mode="r")
