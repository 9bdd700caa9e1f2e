"""Moments, and the tests of normality based on them."""

from __future__ import annotations

from typing import Any

import numpy as np

from marsdask.core.node import Node
from marsdask.tensor.manipulation.join import stack

from ..typing import public
from . import p_values
from .sample import Sample, Significance, check_alternative, lazily, sample


@public
def moment(
    a: Any,
    order: Any = 1,
    axis: Any = 0,
    nan_policy: str = "propagate",
    *,
    center: Any = None,
    keepdims: bool = False,
    moment: Any = None,
) -> Node:
    """Return moments about the mean, or about ``center``. See scipy.stats.moment.

    ``moment`` is Dask's name of ``order``.
    """
    values = sample(a, axis, nan_policy)
    orders = np.asarray(order if moment is None else moment)
    if orders.size == 0:
        raise ValueError("`order` must be a scalar or a non-empty 1D array.")
    if np.any(orders != np.round(orders)) or np.any(orders < 0):
        raise ValueError("All elements of `order` must be integral.")
    moments = [
        values.finished(_moment(values, int(item), center), keepdims) for item in orders.ravel()
    ]
    return stack.node(moments) if orders.ndim else moments[0]


def _moment(values: Sample, order: int, center: Any) -> Any:
    if order == 0 or (order == 1 and center is None):
        return lazily(constant, values.mean, value=float(order == 0))
    return values.moment(order, center)


def constant(mean: Any, value: float) -> Any:
    """Return one value for each mean."""
    return np.where(np.isnan(mean), mean, np.array(value, mean.dtype))


@public
def skew(
    a: Any,
    axis: Any = 0,
    bias: bool = True,
    nan_policy: str = "propagate",
    *,
    keepdims: bool = False,
) -> Any:
    """Return the skewness. See scipy.stats.skew."""
    values = sample(a, axis, nan_policy)
    return values.finished(_skewness(values, bias=bias), keepdims)


def _skewness(values: Sample, *, bias: bool = True) -> Any:
    parts = (values.mean, values.moment(2), values.moment(3), values.count)
    return lazily(skewness, *parts, bias=bias)


def skewness(mean: Any, second: Any, third: Any, count: Any, bias: bool) -> Any:
    """Return the skewness of moments, nan if all values are equal."""
    with np.errstate(all="ignore"):
        alike = second <= (np.finfo(second.dtype).eps * mean) ** 2
        value = third / second**1.5
        if not bias:
            n = np.asarray(count, second.dtype)
            value = np.where(n > 2, ((n - 1.0) * n) ** 0.5 / (n - 2.0) * value, value)
    return np.where(alike, np.array(np.nan, second.dtype), value).astype(second.dtype)


@public
def kurtosis(
    a: Any,
    axis: Any = 0,
    fisher: bool = True,
    bias: bool = True,
    nan_policy: str = "propagate",
    *,
    keepdims: bool = False,
) -> Any:
    """Return the kurtosis. See scipy.stats.kurtosis."""
    values = sample(a, axis, nan_policy)
    return values.finished(_peakedness(values, fisher=fisher, bias=bias), keepdims)


def _peakedness(values: Sample, *, fisher: bool, bias: bool = True) -> Any:
    parts = (values.mean, values.moment(2), values.moment(4), values.count)
    return lazily(peakedness, *parts, fisher=fisher, bias=bias)


def peakedness(mean: Any, second: Any, fourth: Any, count: Any, fisher: bool, bias: bool) -> Any:
    """Return the kurtosis of moments, nan if all values are equal."""
    with np.errstate(all="ignore"):
        alike = second <= (np.finfo(second.dtype).eps * mean) ** 2
        value = fourth / second**2.0
        if not bias:
            n = np.asarray(count, second.dtype)
            better = ((n**2 - 1.0) * value - 3 * (n - 1) ** 2.0) / (n - 2) / (n - 3) + 3.0
            value = np.where(n > 3, better, value)
    value = np.where(alike, np.array(np.nan, second.dtype), value)
    return (value - 3 if fisher else value).astype(second.dtype)


@public
def skewtest(
    a: Any,
    axis: Any = 0,
    nan_policy: str = "propagate",
    alternative: str = "two-sided",
    *,
    keepdims: bool = False,
) -> Significance:
    """Test whether the skewness is a normal sample's. See scipy.stats.skewtest."""
    check_alternative(alternative)
    values = sample(a, axis, nan_policy)
    z = lazily(skew_score, _skewness(values), values.count)
    return values.test(z, lazily(p_values.normal, z, alternative=alternative), keepdims)


def skew_score(value: Any, count: Any) -> Any:
    """Return a statistic that is normal for normal samples (D'Agostino, Biometrika 57, 1970)."""
    n = np.where(np.less(count, 8), np.nan, np.asarray(count, np.float64)).astype(value.dtype)
    with np.errstate(all="ignore"):
        y = value * np.sqrt(((n + 1) * (n + 3)) / (6.0 * (n - 2)))
        spread = 3.0 * (n**2 + 27 * n - 70) * (n + 1) * (n + 3)
        spread = spread / ((n - 2.0) * (n + 5) * (n + 7) * (n + 9))
        square = -1 + np.sqrt(2 * (spread - 1))
        delta, alpha = 1 / np.sqrt(0.5 * np.log(square)), np.sqrt(2.0 / (square - 1))
        y = np.where(y == 0, np.array(1, y.dtype), y)
        return delta * np.log(y / alpha + np.sqrt((y / alpha) ** 2 + 1))


@public
def kurtosistest(
    a: Any,
    axis: Any = 0,
    nan_policy: str = "propagate",
    alternative: str = "two-sided",
    *,
    keepdims: bool = False,
) -> Significance:
    """Test whether the kurtosis is a normal sample's. See scipy.stats.kurtosistest."""
    check_alternative(alternative)
    values = sample(a, axis, nan_policy)
    z = lazily(kurtosis_score, _peakedness(values, fisher=False), values.count)
    return values.test(z, lazily(p_values.normal, z, alternative=alternative), keepdims)


def kurtosis_score(value: Any, count: Any) -> Any:
    """Return a statistic that is normal for normal samples (Anscombe and Glynn, 1983)."""
    n = np.where(np.less(count, 5), np.nan, np.asarray(count, np.float64)).astype(value.dtype)
    with np.errstate(all="ignore"):
        spread = 24.0 * n * (n - 2) * (n - 3) / ((n + 1) * (n + 1.0) * (n + 3) * (n + 5))
        x = (value - 3.0 * (n - 1) / (n + 1)) / spread**0.5
        tilt = 6.0 * (n * n - 5 * n + 2) / ((n + 7) * (n + 9))
        tilt = tilt * ((6.0 * (n + 3) * (n + 5)) / (n * (n - 2) * (n - 3))) ** 0.5
        freedom = 6.0 + 8.0 / tilt * (2.0 / tilt + (1 + 4.0 / (tilt**2)) ** 0.5)
        below = 1 + x * (2 / (freedom - 4.0)) ** 0.5
        root = ((1 - 2.0 / freedom) / np.abs(below)) ** (1 / 3)
        root = np.sign(below) * np.where(below == 0, np.array(np.nan, root.dtype), root)
        return (1 - 2 / (9.0 * freedom) - root) / (2 / (9.0 * freedom)) ** 0.5


@public
def normaltest(
    a: Any, axis: Any = 0, nan_policy: str = "propagate", *, keepdims: bool = False
) -> Significance:
    """Test whether a sample is normal by skewness and kurtosis. See scipy.stats.normaltest."""
    values = sample(a, axis, nan_policy)
    skewed = lazily(skew_score, _skewness(values), values.count)
    peaked = lazily(kurtosis_score, _peakedness(values, fisher=False), values.count)
    statistic = skewed * skewed + peaked * peaked
    return values.test(statistic, lazily(p_values.chi_square, statistic, df=2.0), keepdims)
