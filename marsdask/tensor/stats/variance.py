"""Tests of means by variances: Student's t and Fisher's F."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from marsdask.core.collection import ExecutableTuple, wrap
from marsdask.tensor.elementwise.ufuncs import add, multiply, subtract
from marsdask.tensor.manipulation.shape import expand_dims
from marsdask.tensor.operands import as_node
from marsdask.tensor.reduction.reductions import max as largest
from marsdask.tensor.reduction.reductions import min as least

from ..typing import public
from . import p_values
from .sample import Sample, Significance, check_alternative, floats, lazily, ratio, sample


class ConfidenceInterval(NamedTuple):
    """The two ends of an interval."""

    low: Any
    high: Any


class TtestResult(Significance):
    """Student's t, its p-value, and the quantities behind them."""

    df: Any
    estimate: Any
    standard_error: Any
    alternative: str

    def confidence_interval(self, confidence_level: float = 0.95) -> Any:
        """Return the ends of the confidence interval of the mean, lazily."""
        if not 0 <= confidence_level <= 1:
            raise ValueError("`confidence_level` must be a number between 0 and 1.")
        tail = 1 - confidence_level
        tail = tail / 2 if self.alternative == "two-sided" else tail
        limit = lazily(p_values.student_limit, self.df, chance=1 - tail)
        away = multiply(limit, self.standard_error)
        low, high = subtract(self.estimate, away), add(self.estimate, away)
        if self.alternative == "less":
            low = multiply(high, 0) - np.inf
        if self.alternative == "greater":
            high = multiply(low, 0) + np.inf
        return Interval((low, high))


class Interval(ExecutableTuple):
    """The two ends of a lazy interval."""

    _make = ConfidenceInterval._make

    @property
    def low(self) -> Any:
        """The lower end."""
        return self[0]

    @property
    def high(self) -> Any:
        """The upper end."""
        return self[1]


def _student(
    estimate: Any,
    error: Any,
    df: Any,
    alternative: str,
    like: Sample | None = None,
    *,
    keepdims: bool = False,
) -> TtestResult:
    """Return the test that an estimate is zero."""
    statistic = lazily(ratio, estimate, error)
    pvalue = lazily(p_values.student, statistic, df, alternative=alternative)
    freedom = lazily(broadcast_df, statistic, df)
    parts = [statistic, pvalue, freedom, estimate, error]
    if like is not None:
        parts = [like.finished(part, keepdims) for part in parts]
    result = TtestResult(parts[:2])
    result.df, result.estimate, result.standard_error = parts[2:]
    result.alternative = alternative
    return result


def broadcast_df(statistic: Any, df: Any) -> Any:
    """Return degrees of freedom in the statistic's shape."""
    return np.broadcast_to(df, np.shape(statistic)).copy()


@public
def ttest_1samp(
    a: Any,
    popmean: Any,
    axis: Any = 0,
    nan_policy: str = "propagate",
    alternative: str = "two-sided",
    *,
    keepdims: bool = False,
) -> TtestResult:
    """Test whether the mean is ``popmean``. See scipy.stats.ttest_1samp."""
    check_alternative(alternative)
    values = sample(a, axis, nan_policy)
    center = popmean
    if np.ndim(popmean):
        center = floats(popmean)
        if center.ndim == values.values.ndim - len(values.axes):
            center = expand_dims(center, values.axes)
        if any(center.shape[axis] != 1 for axis in values.axes):
            raise ValueError("`popmean.shape[axis]` must equal 1.")
    error = lazily(error_of, values.variance(), values.count)
    estimate = subtract(values.mean, center)
    result = _student(estimate, error, values.count - 1, alternative, values, keepdims=keepdims)
    result.estimate = values.finished(values.mean, keepdims)
    return result


@public
def ttest_rel(
    a: Any,
    b: Any,
    axis: Any = 0,
    nan_policy: str = "propagate",
    alternative: str = "two-sided",
    *,
    keepdims: bool = False,
) -> TtestResult:
    """Test whether pairs have equal means. See scipy.stats.ttest_rel."""
    away = subtract.node(floats(a), floats(b))
    result: TtestResult = ttest_1samp.node(
        away, 0.0, axis, nan_policy, alternative, keepdims=keepdims
    )
    return result


@public
def ttest_ind(
    a: Any,
    b: Any,
    axis: Any = 0,
    equal_var: bool = True,
    nan_policy: str = "propagate",
    alternative: str = "two-sided",
    trim: float = 0,
    method: Any = None,
    *,
    keepdims: bool = False,
) -> TtestResult:
    """Test whether two samples have equal means. See scipy.stats.ttest_ind.

    Differs from SciPy: no ``trim``, no resampling by ``method``.
    """
    check_alternative(alternative)
    if trim or method is not None:
        raise NotImplementedError(
            "ttest_ind(trim=, method=) is not supported; use scipy.stats on compute()"
        )
    first, second = sample(a, axis, nan_policy), sample(b, axis, nan_policy)
    spreads = (first.variance(), first.count, second.variance(), second.count)
    return _two_samples(
        subtract(first.mean, second.mean),
        spreads,
        alternative,
        first,
        equal_var=equal_var,
        keepdims=keepdims,
    )


@public
def ttest_ind_from_stats(
    mean1: Any,
    std1: Any,
    nobs1: Any,
    mean2: Any,
    std2: Any,
    nobs2: Any,
    equal_var: bool = True,
    alternative: str = "two-sided",
) -> TtestResult:
    """Test whether two means are equal. See scipy.stats.ttest_ind_from_stats."""
    check_alternative(alternative)
    first, second, s1, s2 = (floats(item) for item in (mean1, mean2, std1, std2))
    spreads = (s1 * s1, wrap(as_node(nobs1)), s2 * s2, wrap(as_node(nobs2)))
    return _two_samples(subtract(first, second), spreads, alternative, equal_var=equal_var)


def _two_samples(
    estimate: Any,
    spreads: tuple[Any, Any, Any, Any],
    alternative: str,
    like: Sample | None = None,
    *,
    equal_var: bool,
    keepdims: bool = False,
) -> TtestResult:
    error, freedom = (pooled_error, pooled_freedom) if equal_var else (own_error, welch_freedom)
    df = lazily(freedom, *spreads)
    return _student(estimate, lazily(error, *spreads), df, alternative, like, keepdims=keepdims)


def error_of(spread: Any, count: Any) -> Any:
    """Return the standard error of a mean."""
    return np.sqrt(ratio(spread, count))


def pooled_error(v1: Any, n1: Any, v2: Any, n2: Any) -> Any:
    """Return the standard error of the difference for equal variances."""
    with np.errstate(all="ignore"):
        zero = np.zeros((), v1.dtype)
        first = np.where(np.equal(n1, 1), zero, v1) * (n1 - 1)
        second = np.where(np.equal(n2, 1), zero, v2) * (n2 - 1)
        return np.sqrt((first + second) / (n1 + n2 - 2.0) * (ratio(1.0, n1) + ratio(1.0, n2)))


def pooled_freedom(v1: Any, n1: Any, v2: Any, n2: Any) -> Any:
    """Return the degrees of freedom for equal variances."""
    return np.broadcast_to(np.asarray(n1 + n2 - 2.0, v1.dtype), np.shape(v1 * v2)).copy()


def own_error(v1: Any, n1: Any, v2: Any, n2: Any) -> Any:
    """Return the standard error of the difference."""
    return np.sqrt(ratio(v1, n1) + ratio(v2, n2))


def welch_freedom(v1: Any, n1: Any, v2: Any, n2: Any) -> Any:
    """Return the degrees of freedom for unequal variances (Welch, 1947)."""
    with np.errstate(all="ignore"):
        vn1, vn2 = v1 / n1, v2 / n2
        df = (vn1 + vn2) ** 2 / (vn1**2 / (n1 - 1) + vn2**2 / (n2 - 1))
    return np.where(np.isnan(df), np.ones((), df.dtype), df)


@public
def f_oneway(
    *samples: Any,
    axis: Any = 0,
    equal_var: bool = True,
    nan_policy: str = "propagate",
    keepdims: bool = False,
) -> Significance:
    """Test whether samples have equal means. See scipy.stats.f_oneway."""
    if len(samples) < 2:
        raise TypeError(f"at least two inputs are required; got {len(samples)}.")
    groups = [sample(item, axis, nan_policy) for item in samples]
    counts = [group.count for group in groups]
    sizes = [count for count in counts if isinstance(count, int)]
    if any(0 in group.values.shape for group in groups) or sizes == [1] * len(groups):
        void = groups[0].mean * np.nan
        return groups[0].test(void, void, keepdims)
    ends = [
        func(group.values, axis=group.axes, keepdims=True)
        for func in (least, largest)
        for group in groups
    ]
    spreads = [group.moment(2) for group in groups]
    facts = [*(group.mean for group in groups), *spreads, *counts, *ends]
    k = len(groups)
    statistic = lazily(fisher_equal if equal_var else fisher_welch, *facts, groups=k)
    if equal_var:
        under = lazily(within_freedom, *facts, groups=k)
    else:
        under = lazily(welch_within_freedom, *facts, groups=k)
    pvalue = lazily(p_values.fisher, statistic, float(k - 1), under)
    return groups[0].test(statistic, pvalue, keepdims)


def _facts(values: tuple[Any, ...], groups: int) -> list[list[Any]]:
    return [list(values[i : i + groups]) for i in range(0, len(values), groups)]


def _constant(value: Any, ends: list[list[Any]]) -> Any:
    """Set F for groups without variance, inside them or in total."""
    low, high = (np.stack(np.broadcast_arrays(*part)) for part in ends)
    value = np.where(np.all(low == high, axis=0), np.array(np.inf, value.dtype), value)
    is_constant = np.min(low, axis=0) == np.max(high, axis=0)
    return np.where(is_constant, np.array(np.nan, value.dtype), value)


def fisher_equal(*values: Any, groups: int) -> Any:
    """Return F for equal variances."""
    means, spreads, counts, *ends = _facts(values, groups)
    with np.errstate(all="ignore"):
        whole = sum(counts)
        middle = sum(n * mean for n, mean in zip(counts, means, strict=True)) / whole
        between = sum(n * (mean - middle) ** 2 for n, mean in zip(counts, means, strict=True))
        within = sum(n * spread for n, spread in zip(counts, spreads, strict=True))
        value = (between / (groups - 1)) / (within / (whole - groups))
    return _constant(value, ends)


def within_freedom(*values: Any, groups: int) -> Any:
    """Return the degrees of freedom inside the groups."""
    means, _, counts, *_ = _facts(values, groups)
    return np.broadcast_to(np.asarray(sum(counts) - groups, means[0].dtype), means[0].shape).copy()


def fisher_welch(*values: Any, groups: int) -> Any:
    """Return F for unequal variances (Welch, Biometrika 38, 1951)."""
    means, _, counts, *ends = _facts(values, groups)
    with np.errstate(all="ignore"):
        weights = _weights(values, groups)
        whole = sum(weights)
        middle = sum(w * mean for w, mean in zip(weights, means, strict=True)) / whole
        over = sum(w * (mean - middle) ** 2 for w, mean in zip(weights, means, strict=True))
        tail = _tail(weights, counts)
        under = 1 + 2 * (groups - 2) / (groups**2 - 1) * tail
        return _constant(over / (groups - 1) / under, ends)


def welch_within_freedom(*values: Any, groups: int) -> Any:
    """Return the degrees of freedom of F for unequal variances."""
    _, _, counts, *_ = _facts(values, groups)
    with np.errstate(all="ignore"):
        return (groups**2 - 1) / (3 * _tail(_weights(values, groups), counts))


def _weights(values: tuple[Any, ...], groups: int) -> list[Any]:
    _, spreads, counts, *_ = _facts(values, groups)
    return [(n - 1) / spread for n, spread in zip(counts, spreads, strict=True)]


def _tail(weights: list[Any], counts: list[Any]) -> Any:
    whole = sum(weights)
    return sum((1 - w / whole) ** 2 / (n - 1) for w, n in zip(weights, counts, strict=True))
