"""Scores of predictions in one pass: accuracy, and the coefficient of determination."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from marsdask.core.node import Node

from .moments import Moments, merge_squares
from .rows import add, as_weights, check_lengths, fold
from .targets import as_labels, as_targets


def accuracy(y: Any, found: Any, sample_weight: Any = None) -> float:
    """Return the share of samples whose predicted class is the true one."""
    labels = as_labels(y).node
    weight = as_weights(sample_weight, found.node)
    check_lengths(labels, found.node)
    right, all_of_them = fold(count_right, add, labels, found.node, weight, nbytes=16)
    return float(right / all_of_them)


def count_right(labels: Any, found: Any, weight: Any = None) -> tuple[Any, Any]:
    """Return the weight of the samples whose labels are equal, and of all."""
    right = np.asarray(labels == found)
    if weight is None:
        return float(np.count_nonzero(right)), float(len(right))
    return float(weight @ right), float(weight.sum())


class Residuals(NamedTuple):
    """The moments of each target, and the squares of what the prediction leaves."""

    target: Moments
    squares: Any


def r2(y: Any, found: Any, sample_weight: Any = None) -> float:
    """Return the mean coefficient of determination of the targets."""
    target: Node = as_targets(y, found.node, several=True)
    weight = as_weights(sample_weight, found.node)
    seen = fold(residuals, merge_residuals, target, found.node, weight, nbytes=256)
    total = seen.target.products
    # A constant target is explained by the constant alone, as scikit-learn has it.
    left = np.divide(seen.squares, total, out=np.sign(seen.squares), where=total != 0)
    return float((1.0 - left).mean())


def residuals(target: Any, found: Any, weight: Any = None) -> Residuals:
    """Return the residual sums of a run."""
    y = target if target.ndim == 2 else target[:, np.newaxis]
    away = y - found.reshape(y.shape)
    w = np.ones(len(y)) if weight is None else weight
    count = w.sum()
    mean = w @ y / count if count else np.zeros(y.shape[1])
    moments = Moments(np.full(y.shape[1], count), mean, w @ np.square(y - mean))
    return Residuals(moments, w @ np.square(away))


def merge_residuals(a: Residuals, b: Residuals) -> Residuals:
    """Return the residual sums of both."""
    return Residuals(merge_squares(a.target, b.target), a.squares + b.squares)
