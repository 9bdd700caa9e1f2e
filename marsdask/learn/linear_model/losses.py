"""Losses of generalized linear models: what each sample adds to loss, gradient and Hessian."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Binomial:
    """The logarithmic loss of two classes; targets are 0 and 1."""

    def terms(self, y: Any, raw: Any) -> tuple[Any, Any, Any]:
        """Return the loss of each sample and its derivatives."""
        small = np.exp(-np.abs(raw))
        share = 1.0 / (1.0 + small)
        probability = np.where(raw >= 0, share, small * share)
        loss = np.log1p(small) + np.maximum(raw, 0.0) - y * raw
        return loss, probability - y, probability * (1.0 - probability)


@dataclass(frozen=True)
class Tweedie:
    """Half the unit deviance with a log link: Poisson's for power 1, gamma's for power 2."""

    power: float

    def terms(self, y: Any, raw: Any) -> tuple[Any, Any, Any]:
        """Return the loss of each sample and its derivatives, but for what is constant."""
        if self.power == 1:
            mean = np.exp(raw)
            return mean - y * raw, mean - y, mean
        if self.power == 2:
            ratio = y * np.exp(-raw)
            return raw + ratio, 1.0 - ratio, ratio
        p1, p2 = 1.0 - self.power, 2.0 - self.power
        low, high = y * np.exp(p1 * raw), np.exp(p2 * raw)
        curvature = p2 * high - p1 * low
        # Where the loss is not convex, its expected curvature leads downhill.
        return high / p2 - low / p1, high - low, np.where(curvature > 0, curvature, high)


@dataclass(frozen=True)
class Square:
    """Half the squared error."""

    def terms(self, y: Any, raw: Any) -> tuple[Any, Any, Any]:
        """Return the loss of each sample and its derivatives."""
        away = raw - y
        return 0.5 * away * away, away, np.ones_like(away)


@dataclass(frozen=True)
class Multinomial:
    """The logarithmic loss of several classes; targets are their positions."""

    def probabilities(self, y: Any, raw: Any) -> tuple[Any, Any]:
        """Return the loss of each sample, and the probability of each class."""
        raw = raw - raw.max(axis=1, keepdims=True)
        shares = np.exp(raw)
        total = shares.sum(axis=1)
        loss = np.log(total) - raw[np.arange(len(y)), y]
        return loss, shares / total[:, np.newaxis]
