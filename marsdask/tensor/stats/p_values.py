"""Kernels that compute p-values from statistics."""

from __future__ import annotations

from typing import Any

import numpy as np


def normal(z: Any, alternative: str) -> Any:
    """Return the probability that a normal variable is as far from zero."""
    from scipy.special import ndtr

    return _tail_probability(ndtr, z, alternative)


def student(t: Any, df: Any, alternative: str) -> Any:
    """Return the probability that Student's t is as far from zero."""
    from scipy.special import stdtr

    def below(value: Any) -> Any:
        return stdtr(df, value)

    return _tail_probability(below, t, alternative)


def _tail_probability(below: Any, value: Any, alternative: str) -> Any:
    kind = np.asarray(value).dtype
    with np.errstate(all="ignore"):
        if alternative == "less":
            chance = below(value)
        else:
            chance = below(-value) if alternative == "greater" else 2 * below(-np.abs(value))
    return np.asarray(chance, dtype=kind)


def chi_square(value: Any, df: Any) -> Any:
    """Return the probability that a chi-squared variable is as large."""
    from scipy.special import chdtrc

    return np.asarray(chdtrc(df, value), dtype=np.asarray(value).dtype)


def fisher(value: Any, over: Any, under: Any) -> Any:
    """Return the probability that Fisher's F is as large."""
    from scipy.special import fdtrc

    return np.asarray(fdtrc(over, under, value), dtype=np.asarray(value).dtype)


def student_limit(df: Any, chance: float) -> Any:
    """Return the quantile of Student's t for a probability."""
    from scipy.special import stdtrit

    return stdtrit(df, chance)


def kolmogorov(distance: Any, count: Any, alternative: str, method: str) -> Any:
    """Return the probability that a sample's distance from its distribution is as large."""
    from scipy.stats import ksone, kstwo, kstwobign

    count = np.asarray(count)
    if alternative != "two-sided":
        chance = ksone.sf(distance, count)
    elif method in ("auto", "exact"):
        chance = kstwo.sf(distance, count)
    elif method == "asymp":
        chance = kstwobign.sf(distance * np.sqrt(count))
    else:
        chance = 2 * ksone.sf(distance, count)
    return np.clip(chance, 0.0, 1.0).astype(np.asarray(distance).dtype)


def smirnov(distance: Any, first: Any, second: Any, alternative: str) -> Any:
    """Return the probability that two large samples' distance is as large (Hodges, 1958)."""
    from scipy.stats import kstwo

    m, n = np.maximum(first, second) * 1.0, np.minimum(first, second) * 1.0
    share = m * n / (m + n)
    if alternative == "two-sided":
        return np.clip(kstwo.sf(distance, np.round(share)), 0.0, 1.0)
    z = np.sqrt(share) * distance
    drift = 2 * z * (m + 2 * n) / np.sqrt(m * n * (m + n)) / 3.0
    return np.clip(np.exp(-2 * z**2 - drift), 0.0, 1.0)
