"""Higher moments of columns, and products of pairs of columns, in one pass.

Partials are merged as in Pébay, Formulas for Robust, One-Pass Parallel Computation of Covariances
and Arbitrary-Order Statistical Moments, 2008.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from marsdask.core.machine.costs import kernel


class PowerSums(NamedTuple):
    """For each column the count, the mean and sums of powers of deviations from it."""

    count: Any
    mean: Any
    second: Any
    third: Any
    fourth: Any
    columns: Any


class ProductSums(NamedTuple):
    """For each pair of columns the sums over rows in which both have values."""

    count: Any
    mean: Any
    """The mean of the column of each row of the matrix."""
    squares: Any
    products: Any
    missing: int
    """How many values of all columns are missing."""
    infinite: Any
    """Which columns have infinite values."""


def floats(frame: pd.DataFrame) -> Any:
    """Return the values as floats, missing ones as NaN."""
    columns = [frame.iloc[:, at].to_numpy(float, na_value=np.nan) for at in range(frame.shape[1])]
    return np.column_stack(columns) if columns else np.empty((len(frame), 0))


def map_powers(frame: pd.DataFrame, *, skipna: bool = True) -> PowerSums:
    """Return the powers of a chunk; objects that are no numbers raise as in pandas."""
    objects = [at for at, dtype in enumerate(frame.dtypes) if dtype == "object"]
    if objects and len(frame):
        _ = frame.iloc[:, objects].skew()
    values = floats(frame)
    there = ~np.isnan(values) if skipna else np.ones(values.shape, bool)
    count = there.sum(axis=0).astype(float)
    with np.errstate(invalid="ignore"):
        mean, apart = _centered(values, there)
        second, third, fourth = ((apart**power).sum(axis=0) for power in (2, 3, 4))
    return PowerSums(count, mean, second, third, fourth, frame.columns)


def _centered(values: Any, there: Any) -> tuple[Any, Any]:
    """Return the means of columns and the deviations from them, exactly 0 for equal values."""
    if not len(values):
        return np.zeros(values.shape[1]), values
    pivot = values[there.argmax(axis=0), np.arange(values.shape[1])]
    pivot = np.where(there.any(axis=0), pivot, 0.0)
    apart = np.where(there, values - pivot, 0.0)
    mean = apart.sum(axis=0) / np.maximum(there.sum(axis=0), 1)
    return pivot + mean, np.where(there, apart - mean, 0.0)


def merge_powers(a: PowerSums, b: PowerSums) -> PowerSums:
    """Merge the powers of two runs of rows."""
    n, m = a.count, b.count
    total = np.maximum(n + m, 1)
    with np.errstate(invalid="ignore"):
        d = np.where((n > 0) & (m > 0), b.mean - a.mean, 0.0)
        second = a.second + b.second + d**2 * n * m / total
        third = a.third + b.third + d**3 * n * m * (n - m) / total**2
        third += 3 * d * (n * b.second - m * a.second) / total
        fourth = a.fourth + b.fourth + d**4 * n * m * (n * n - n * m + m * m) / total**3
        fourth += 6 * d**2 * (n * n * b.second + m * m * a.second) / total**2
        fourth += 4 * d * (n * b.third - m * a.third) / total
        mean = np.where(n > 0, a.mean + d * m / total, b.mean)
    return PowerSums(n + m, mean, second, third, fourth, a.columns)


def finish_skew(powers: PowerSums, *, skipna: bool = True) -> pd.Series:
    """Return the unbiased skewness, nan for fewer than three values."""
    del skipna
    n, second = powers.count, powers.second
    with np.errstate(all="ignore"):
        skewness = n * np.sqrt(n - 1) / (n - 2) * powers.third / second**1.5
    return pd.Series(np.where(n < 3, np.nan, skewness), powers.columns)


def finish_kurt(powers: PowerSums, *, skipna: bool = True) -> pd.Series:
    """Return the unbiased excess kurtosis, nan for fewer than four values."""
    del skipna
    n, second = powers.count, powers.second
    with np.errstate(all="ignore"):
        scale = n * (n + 1) * (n - 1) / ((n - 2) * (n - 3))
        kurtosis = scale * powers.fourth / second**2 - 3 * (n - 1) ** 2 / ((n - 2) * (n - 3))
    return pd.Series(np.where(n < 4, np.nan, kurtosis), powers.columns)


@kernel(scratch=4.0)
def map_products(frame: pd.DataFrame) -> ProductSums:
    """Return the products of a chunk's columns, over the rows that miss no value."""
    values = floats(frame)
    whole = ~np.isnan(values).any(axis=1, keepdims=True)
    return _products(values, np.broadcast_to(whole, values.shape))


@kernel(scratch=4.0)
def map_finite_products(frame: pd.DataFrame) -> ProductSums:
    """Return the products of the finite values of a chunk's columns."""
    values = floats(frame)
    return _products(values, np.isfinite(values))


def _products(values: Any, there: Any) -> ProductSums:
    missing, infinite = int(np.isnan(values).sum()), np.isinf(values).any(axis=0)
    with np.errstate(invalid="ignore"):
        center, apart = _centered(values, there)
        mask = there.astype(float)
        count = mask.T @ mask
        sums = apart.T @ mask
        divisor = np.maximum(count, 1)
        products = apart.T @ apart - sums * sums.T / divisor
        squares = (apart**2).T @ mask
        rounding = np.finfo(float).eps * divisor * squares
        squares -= sums**2 / divisor
        squares[squares <= rounding] = 0.0  # of equal values, whose spread is none
    mean = center[:, None] + sums / divisor
    return ProductSums(count, mean, squares, products, missing, infinite)


def merge_products(a: ProductSums, b: ProductSums) -> ProductSums:
    """Merge the products of two runs of rows."""
    n, m = a.count, b.count
    share = np.where((n > 0) & (m > 0), n * m / np.maximum(n + m, 1), 0.0)
    with np.errstate(invalid="ignore"):
        apart = np.where(share > 0, b.mean - a.mean, 0.0)
        mean = np.where(n > 0, a.mean + apart * m / np.maximum(n + m, 1), b.mean)
        squares = a.squares + b.squares + apart**2 * share
        products = a.products + b.products + apart * apart.T * share
    gaps = (a.missing + b.missing, a.infinite | b.infinite)
    return ProductSums(n + m, mean, squares, products, *gaps)


def finish_cov(found: ProductSums, *, columns: Any, least: int, ddof: int) -> pd.DataFrame:
    """Return covariances, nan for fewer than ``least`` rows with both values.

    As in pandas, infinities are missing values only beside these.
    """
    if found.missing:
        ddof = 1  # pandas heeds it only where no value is missing
    with np.errstate(all="ignore"):
        values = found.products / np.where(found.count > ddof, found.count - ddof, np.nan)
    if not found.missing:
        values[found.infinite] = values[:, found.infinite] = np.nan
    return _matrix(np.where(found.count < max(least, 1), np.nan, values), columns)


def finish_corr(found: ProductSums, *, columns: Any, least: int) -> pd.DataFrame:
    """Return correlations, nan for fewer than ``least`` rows with both values."""
    with np.errstate(all="ignore"):
        rounding = found.count * (4 * np.finfo(float).eps * found.mean) ** 2  # of means of chunks
        squares = np.where(found.squares <= rounding, 0.0, found.squares)
        spread = np.sqrt(squares) * np.sqrt(squares.T)
        values = np.clip(found.products / np.where(spread > 0, spread, np.nan), -1.0, 1.0)
    return _matrix(np.where(found.count < max(least, 1), np.nan, values), columns)


def _matrix(values: Any, columns: Any) -> pd.DataFrame:
    return pd.DataFrame(values, index=columns, columns=columns)
