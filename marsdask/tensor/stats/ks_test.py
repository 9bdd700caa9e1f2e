"""The tests of Kolmogorov and Smirnov, through the parallel sort."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from marsdask.core.collection import wrap
from marsdask.core.grids.grid import Grid
from marsdask.core.grids.tree import gather
from marsdask.core.machine.costs import kernel
from marsdask.core.node import Node
from marsdask.core.sizes import Chunks
from marsdask.tensor.elementwise.ufuncs import equal, greater_equal, not_equal, subtract
from marsdask.tensor.indexing.boolean import compress, where
from marsdask.tensor.indexing.getitem import take
from marsdask.tensor.manipulation.join import concatenate
from marsdask.tensor.operands import empty
from marsdask.tensor.reduction.argreduce import argmax
from marsdask.tensor.reduction.reductions import max as largest
from marsdask.tensor.reduction.reductions import min as smallest
from marsdask.tensor.reduction.reductions import sum as total
from marsdask.tensor.scan.cumulative import cumsum
from marsdask.tensor.sorting.sort import argsort, sort

from ..typing import public
from . import p_values
from .sample import ALTERNATIVES, Significance, check_nan, floats, lazily, ones_of

#: Samples up to this length are compared exactly by default, as in SciPy.
EXACT = 10_000


class KstestResult(Significance):
    """The largest distance, its p-value, and its position."""

    statistic_location: Any
    statistic_sign: Any


def _result(statistic: Any, pvalue: Any, location: Any, sign: Any) -> KstestResult:
    result = KstestResult((statistic, pvalue))
    result.statistic_location, result.statistic_sign = location, sign
    return result


def _check_options(
    alternative: str, method: str, mode: Any, methods: tuple[str, ...]
) -> tuple[str, str]:
    method = method if mode is None else mode
    if method not in methods:
        raise ValueError(f"Invalid value for mode: {method}")
    name = {item[0]: item for item in ALTERNATIVES}.get(str(alternative).lower()[:1])
    if name is None:
        raise ValueError(f"Unexpected value {alternative=}")
    return name, method


def _vector(x: Any, nan_policy: str) -> Any:
    x = check_nan(floats(x), nan_policy)
    if x.ndim != 1:
        raise NotImplementedError(
            "samples of several dimensions are not supported; use map_chunk()"
        )
    return compress(lazily(np.logical_not, lazily(np.isnan, x)), x) if nan_policy == "omit" else x


def _count(x: Any) -> Any:
    (length,) = x.shape
    return total(lazily(ones_of, x)) if math.isnan(length) else int(length)


@public
def ks_1samp(
    x: Any,
    cdf: Callable[..., Any],
    args: tuple[Any, ...] = (),
    alternative: str = "two-sided",
    method: str = "auto",
    *,
    mode: str | None = None,
    nan_policy: str = "propagate",
) -> KstestResult:
    """Test whether a sample has a distribution. See scipy.stats.ks_1samp.

    ``mode`` is Mars's name of ``method``. Differs from SciPy: vectors only.
    """
    methods = ("auto", "exact", "approx", "asymp")
    alternative, method = _check_options(alternative, method, mode, methods)
    x = sort(_vector(x, nan_policy))
    count = _count(x)
    chance = lazily(call_cdf, x, cdf=cdf, args=args)
    above = subtract(lazily(share, cumsum(lazily(ones_of, x)), count, before=0), chance)
    below = subtract(chance, lazily(share, cumsum(lazily(ones_of, x)), count, before=1))
    places = [take(x, argmax.node(away)) for away in (above, below)]
    extremes = (largest(above), largest(below))
    over = {"greater": True, "less": False}.get(alternative, extremes[0] > extremes[1])
    statistic, location = where(over, *extremes), where(over, *places)
    how = {"alternative": alternative, "method": method}
    pvalue = lazily(p_values.kolmogorov, statistic, count, **how)
    return _result(statistic, pvalue, location, where(over, np.int8(1), np.int8(-1)))


def call_cdf(block: Any, cdf: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """Call a distribution's function of a block."""
    return np.asarray(cdf(block, *args))


def share(position: Any, count: Any, before: int) -> Any:
    """Return the share of the sample up to a position."""
    return (position - before) / count


@public
def ks_2samp(
    data1: Any,
    data2: Any,
    alternative: str = "two-sided",
    method: str = "auto",
    *,
    mode: str | None = None,
    nan_policy: str = "propagate",
) -> KstestResult:
    """Test whether two samples have one distribution. See scipy.stats.ks_2samp.

    One task computes exact p-values, by default for samples up to 10,000 values. Differs from
    SciPy: vectors only.
    """
    alternative, method = _check_options(alternative, method, mode, ("auto", "exact", "asymp"))
    x, y = _vector(data1, nan_policy), _vector(data2, nan_policy)
    if 0 in (*x.shape, *y.shape):
        raise ValueError("Data passed to ks_2samp must not be empty")
    longest = max(*x.shape, *y.shape)
    if method == "exact" or (method == "auto" and not longest > EXACT):
        result = wrap(KsTest(x.node, y.node, alternative, method))
        return _result(result[0], result[1], result[2], result[3].astype(np.int8))
    n1, n2 = _count(x), _count(y)
    # The first sample's values come last among equal ones.
    together = concatenate([y, x])
    order = argsort(together, kind="stable")
    values = take(together, order)
    first = greater_equal(order, n2)
    away = subtract(
        lazily(share, cumsum(first), n1, before=0), lazily(share, cumsum(~first), n2, before=0)
    )
    # Both samples are counted only after the last of equal values.
    last = concatenate([not_equal(values[1:], values[:-1]), [True]])
    above = largest(where(last, away, -np.inf))
    below = -smallest(where(last, away, np.inf))
    # Of several positions SciPy takes the first that is a value of the first sample, if any.
    up = argmax(where(last & equal(away, above), where(first, 2, 1), 0))
    down = argmax(where(last & equal(away, -below), where(first, 2, 1), 0))
    over = {"greater": True, "less": False}.get(alternative, above >= below)
    statistic = where(over, above, below)
    pvalue = lazily(p_values.smirnov, statistic, n1, n2, alternative=alternative)
    location = where(over, take.node(values, up), take.node(values, down))
    return _result(statistic, pvalue, location, where(over, np.int8(1), np.int8(-1)))


@dataclass(frozen=True, eq=False)
class KsTest(Node):
    """Statistic, p-value, position and sign of two samples in one task."""

    one: Node
    two: Node
    alternative: str
    method: str

    @property
    def meta(self) -> Any:
        return empty(np.dtype(np.float64), 1)

    @property
    def chunks(self) -> Chunks:
        return ((4,),)

    def tile(self, *grids: Grid) -> Grid:
        x, y = grids[0], grids[-1]
        how = {"alternative": self.alternative, "method": self.method}
        return gather(compare, x, y, chunks=self.chunks, meta=self.meta, kwargs=how)


@kernel(scratch=8.0)
def compare(one: list[Any], two: list[Any], alternative: str, method: str) -> Any:
    """Compare two samples given in pieces."""
    from scipy.stats import ks_2samp as compared

    samples = (np.concatenate(one), np.concatenate(two))
    result = compared(*samples, alternative=alternative, method=method)
    place, sign = result.statistic_location, result.statistic_sign
    return np.array([result.statistic, result.pvalue, place, sign], np.float64)
