"""Shared parts of all tests: a sample along axes, its sums, and the shape of a result."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from marsdask.core.collection import ExecutableTuple, wrap
from marsdask.tensor.elementwise.ufuncs import apply, astype, isnan, logical_not, subtract
from marsdask.tensor.manipulation.shape import broadcast_arrays, squeeze
from marsdask.tensor.operands import as_node
from marsdask.tensor.reduction.reductions import as_axes
from marsdask.tensor.reduction.reductions import mean as average
from marsdask.tensor.reduction.reductions import sum as total

POLICIES = ("propagate", "raise", "omit")
ALTERNATIVES = ("two-sided", "less", "greater")


class SignificanceResult(NamedTuple):
    """A computed test: two arrays or numbers."""

    statistic: Any
    pvalue: Any


class Significance(ExecutableTuple):
    """A lazy test: two tensors with names."""

    _make = SignificanceResult._make

    @property
    def statistic(self) -> Any:
        """The test's statistic."""
        return self[0]

    @property
    def pvalue(self) -> Any:
        """The probability of such a statistic under the hypothesis."""
        return self[1]


def lazily(func: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Return the tensor of an elementwise NumPy function of tensors."""
    return wrap(apply(func, *args, **options))


def check_alternative(alternative: str) -> None:
    """Raise for an unknown hypothesis."""
    if alternative not in ALTERNATIVES:
        raise ValueError("`alternative` must be 'less', 'greater', or 'two-sided'.")


def floats(a: Any) -> Any:
    """Return a tensor of floats (or complex numbers)."""
    a = wrap(as_node(a))
    return a if a.dtype.kind in "fc" else astype(a, np.float64)


def without_nan(block: Any) -> Any:
    """Return a block; raise if an element is nan."""
    if np.isnan(block).any():
        raise ValueError("The input contains nan values")
    return block


def check_nan(a: Any, nan_policy: str) -> Any:
    """Return a tensor that raises on nan when it is computed, if requested."""
    if nan_policy not in POLICIES:
        raise ValueError("nan_policy must be one of {'propagate', 'raise', 'omit'}")
    return lazily(without_nan, a) if nan_policy == "raise" and a.dtype.kind in "fc" else a


@dataclass(frozen=True)
class Sample:
    """Values whose statistics are along axes; reduced axes are kept at length one."""

    values: Any
    axes: tuple[int, ...]
    omit: bool = False

    def sum(self, values: Any) -> Any:
        """Sum values of the sample's shape, except for omitted ones."""
        if self.omit:
            values = lazily(present, values, self.values)
        return total(values, axis=self.axes, keepdims=True)

    @cached_property
    def count(self) -> Any:
        """The number of values of each result, as a number if it is known."""
        lengths = [self.values.shape[axis] for axis in self.axes]
        if not self.omit and not any(map(math.isnan, lengths)):
            return math.prod(lengths)
        kind = self.values.dtype.type(0).real.dtype
        there = logical_not(isnan(self.values)) if self.omit else lazily(ones_of, self.values)
        return astype(total(there, axis=self.axes, keepdims=True), kind)

    @cached_property
    def mean(self) -> Any:
        """The average."""
        if self.omit:
            return lazily(ratio, self.sum(self.values), self.count)
        return average(self.values, axis=self.axes, keepdims=True)

    def moment(self, order: int, center: Any = None) -> Any:
        """Return the average of a power of the distance from the mean (or another centre)."""
        away = subtract(self.values, self.mean if center is None else center)
        return lazily(ratio, self.sum(lazily(integer_power, away, order=order)), self.count)

    def variance(self) -> Any:
        """Return the estimate of the variance from a sample."""
        squares = self.sum(lazily(integer_power, subtract(self.values, self.mean), order=2))
        return lazily(ratio, squares, self.count - 1)

    def finished(self, value: Any, keepdims: bool) -> Any:
        """Return a result without the reduced axes, unless they are wanted."""
        return value if keepdims else squeeze(value, axis=self.axes)

    def test(self, statistic: Any, pvalue: Any, keepdims: bool) -> Significance:
        """Return a test's result."""
        return Significance(self.finished(value, keepdims) for value in (statistic, pvalue))


def sample(a: Any, axis: Any, nan_policy: str = "propagate") -> Sample:
    """Return the sample of a tensor along axes (all of them for ``None``)."""
    a = floats(a)
    if a.ndim == 0:
        a = a.reshape(1)
    values = check_nan(a, nan_policy)
    return Sample(values, as_axes(axis, a.ndim), nan_policy == "omit" and a.dtype.kind in "fc")


def pair(a: Any, b: Any, axis: Any, nan_policy: str) -> tuple[Sample, Sample]:
    """Return the samples of two tensors in one shape; omitted elements are omitted in both."""
    first, second = sample(a, axis, nan_policy), sample(b, axis, nan_policy)
    x, y = broadcast_arrays(first.values, second.values)
    omit = first.omit or second.omit
    if omit:
        x, y = lazily(propagate_nan, x, y), lazily(propagate_nan, y, x)
    return Sample(x, first.axes, omit), Sample(y, first.axes, omit)


def propagate_nan(a: Any, b: Any) -> Any:
    """Return ``a``, nan where ``b`` is nan."""
    return np.where(np.isnan(b), np.array(np.nan, a.dtype), a)


def present(values: Any, sample: Any) -> Any:
    """Return values, zero where the sample has none: other nan are kept."""
    return np.where(np.isnan(sample), np.zeros((), values.dtype), values)


def ones_of(block: Any) -> Any:
    """Return a one for each element."""
    return np.ones(np.shape(block), np.int64)


def ratio(a: Any, b: Any) -> Any:
    """Divide; undefined results are nan or infinite, without a warning."""
    with np.errstate(all="ignore"):
        return np.divide(a, b)


def integer_power(away: Any, order: int) -> Any:
    """Raise to an integer power by squaring (Knuth, The Art of Computer Programming 4.6.3)."""
    value, factor = np.ones_like(away), away
    while order:
        if order & 1:
            value = value * factor
        order >>= 1
        factor = factor * factor if order else factor
    return value
