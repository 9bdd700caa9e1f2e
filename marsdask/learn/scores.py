"""Scores of predictions in one pass: accuracy, and the coefficient of determination."""

from __future__ import annotations

import math
import warnings
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from marsdask.core.node import Node

from .moments import Moments, merge_squares
from .rows import add, as_weights, check_lengths, fold
from .targets import as_labels, as_targets


def accuracy(y: Any, found: Any, sample_weight: Any = None) -> float:
    """Return the share of samples whose predicted class is the true one."""
    labels = as_labels(y).node
    weight = as_weights(sample_weight, found.node)
    check_lengths(labels, found.node)
    right, all_of_them, rows = fold(count_right, add, labels, found.node, weight, nbytes=24)
    refuse_none(rows)
    return float(right / all_of_them)


def refuse_none(rows: Any) -> None:
    """Raise scikit-learn's error if there are no samples to score."""
    if not rows:
        raise ValueError(
            "Found array with 0 sample(s) (shape=(0,)) while a minimum of 1 is required."
        )


def count_right(labels: Any, found: Any, weight: Any = None) -> tuple[Any, Any, int]:
    """Return the weight of the samples whose labels are equal, and of all; how many they are."""
    right = np.asarray(labels == found)
    if weight is None:
        return float(np.count_nonzero(right)), float(len(right)), len(right)
    return float(weight @ right), float(weight.sum()), len(right)


class Residuals(NamedTuple):
    """The rows, the moments of each target, and the squares of what the prediction leaves."""

    rows: int
    target: Moments
    squares: Any


def r2(y: Any, found: Any, sample_weight: Any = None) -> float:
    """Return the mean coefficient of determination of the targets."""
    target: Node = as_targets(y, found.node, several=True)
    weight = as_weights(sample_weight, found.node)
    sums = fold(residuals, merge_residuals, target, found.node, weight, nbytes=256)
    refuse_none(sums.rows)
    if sums.rows < 2:
        warnings.warn(
            "R^2 score is not well-defined with less than two samples.",
            UndefinedMetricWarning,
            stacklevel=2,
        )
        return math.nan
    total = sums.target.products
    # A constant target is explained by the constant alone, as scikit-learn has it.
    ratio = np.divide(sums.squares, total, out=np.sign(sums.squares), where=total != 0)
    return float((1.0 - ratio).mean())


def residuals(target: Any, found: Any, weight: Any = None) -> Residuals:
    """Return the residual sums of a run."""
    y = target if target.ndim == 2 else target[:, np.newaxis]
    away = y - found.reshape(y.shape)
    w = np.ones(len(y)) if weight is None else weight
    count = w.sum()
    mean = w @ y / count if count else np.zeros(y.shape[1])
    moments = Moments(np.full(y.shape[1], count), mean, w @ np.square(y - mean))
    return Residuals(len(y), moments, w @ np.square(away))


def merge_residuals(a: Residuals, b: Residuals) -> Residuals:
    """Return the residual sums of both."""
    return Residuals(a.rows + b.rows, merge_squares(a.target, b.target), a.squares + b.squares)
