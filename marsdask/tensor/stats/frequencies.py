"""Tests of frequencies, and entropy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from marsdask.tensor import special
from marsdask.tensor.elementwise.ufuncs import divide, multiply
from marsdask.tensor.manipulation.shape import broadcast_arrays

from ..typing import public
from . import p_values
from .sample import Sample, Significance, lazily, pair, sample

#: The members of the Cressie-Read family that have names.
LAMBDAS = {
    "pearson": 1.0,
    "log-likelihood": 0.0,
    "freeman-tukey": -0.5,
    "mod-log-likelihood": -1.0,
    "neyman": -2.0,
    "cressie-read": 2 / 3,
}


@public
def power_divergence(
    f_obs: Any,
    f_exp: Any = None,
    ddof: Any = 0,
    axis: Any = 0,
    lambda_: Any = None,
    *,
    sum_check: bool = True,
    nan_policy: str = "propagate",
    keepdims: bool = False,
) -> Significance:
    """Test whether frequencies are the expected ones. See scipy.stats.power_divergence.

    The equality of both sums is checked when the result is computed.
    """
    if isinstance(lambda_, str):
        if lambda_ not in LAMBDAS:
            names = repr(list(LAMBDAS))[1:-1]
            raise ValueError(f"invalid string for lambda_: {lambda_!r}. Valid strings are {names}")
        lambda_ = LAMBDAS[lambda_]
    sums: tuple[Any, ...] = ()
    if f_exp is None:
        values = sample(f_obs, axis, nan_policy)
        expected = values.mean
    else:
        # Flattened, only arrays of one shape are pairs.
        if axis is not None:
            f_obs, f_exp = broadcast_arrays(f_obs, f_exp)
        values, reference = pair(f_obs, f_exp, axis, nan_policy)
        expected = reference.values
        sums = (values.sum(values.values), reference.sum(expected)) if sum_check else ()
    power = 1.0 if lambda_ is None else float(lambda_)
    terms = lazily(divergence, values.values, expected, power=power)
    statistic = values.sum(terms)
    if sums:
        statistic = lazily(check_sums, statistic, *sums)
    df = values.count - 1 - (ddof if np.isscalar(ddof) else sample(ddof, None).values)
    return values.test(statistic, lazily(p_values.chi_square, statistic, df), keepdims)


@public
def chisquare(
    f_obs: Any,
    f_exp: Any = None,
    ddof: Any = 0,
    axis: Any = 0,
    *,
    sum_check: bool = True,
    nan_policy: str = "propagate",
    keepdims: bool = False,
) -> Significance:
    """Test whether frequencies are as expected by Pearson's sum. See scipy.stats.chisquare."""
    how: dict[str, Any] = {"nan_policy": nan_policy, "keepdims": keepdims, "sum_check": sum_check}
    result: Significance = power_divergence.node(f_obs, f_exp, ddof, axis, "pearson", **how)
    return result


def divergence(observed: Any, expected: Any, power: float) -> Any:
    """Return the terms of a power divergence (Cressie and Read, 1984)."""
    from scipy.special import xlogy

    with np.errstate(all="ignore"):
        if power == 1:
            return (observed - expected) ** 2 / expected
        if power == 0:
            return 2.0 * xlogy(observed, observed / expected)
        if power == -1:
            return 2.0 * xlogy(expected, expected / observed)
        return observed * ((observed / expected) ** power - 1) / (0.5 * power * (power + 1))


def check_sums(statistic: Any, observed: Any, expected: Any) -> Any:
    """Return the statistic; raise for sums that differ."""
    rtol = np.finfo(np.result_type(observed, expected)).eps ** 0.5
    with np.errstate(all="ignore"):
        away = np.abs(observed - expected) / np.minimum(observed, expected)
    if np.any(away > rtol):
        raise ValueError(
            "For each axis slice, the sum of the observed frequencies must agree with the sum of "
            f"the expected frequencies to a relative tolerance of {rtol}, but the relative "
            f"differences are: {away}"
        )
    return statistic


@public
def entropy(
    pk: Any,
    qk: Any = None,
    base: float | None = None,
    axis: Any = 0,
    *,
    nan_policy: str = "propagate",
    keepdims: bool = False,
) -> Any:
    """Return the entropy, or with ``qk`` the relative entropy. See scipy.stats.entropy."""
    if base is not None and base <= 0:
        raise ValueError("`base` must be a positive number or `None`.")
    if qk is None:
        first = sample(pk, axis, nan_policy)
        terms = special.entr(_shares(first))
    else:
        first, second = pair(pk, qk, axis, nan_policy)
        terms = special.rel_entr(_shares(first), _shares(second))
    value = first.sum(terms)
    return first.finished(value if base is None else multiply(value, 1 / math.log(base)), keepdims)


def _shares(values: Sample) -> Any:
    return divide(values.values, values.sum(values.values))
