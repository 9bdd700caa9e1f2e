"""Means of runs combine to the mean of the whole."""

from __future__ import annotations

import itertools
from functools import reduce

import numpy as np
import pytest
from sklearn import metrics

from marsdask.learn.metrics.means import merge_largest, merge_means, run_mean
from tests.learn.metrics.cases import BINARY, NEAR, NUMBERS, SCORES, WEIGHTS

RUNS = [slice(a, b) for a, b in itertools.pairwise([0, 0, 3, 40])]


def of_runs(function, merge, *columns, names, **how):
    """Return the weight and the metric of all runs together."""
    parts = [
        run_mean(*(c[run] for c in columns), function=function, names=names, options={}, **how)
        for run in RUNS
    ]
    return reduce(merge, parts)


def test_means_and_largest_values_combine():
    """Empty runs count nothing."""
    names = ("y_true", "y_pred", "sample_weight")
    columns = NUMBERS, NEAR, WEIGHTS
    total, found = of_runs(metrics.mean_squared_error, merge_means, *columns, names=names)
    assert total == pytest.approx(WEIGHTS.sum())
    assert found == pytest.approx(metrics.mean_squared_error(NUMBERS, NEAR, sample_weight=WEIGHTS))
    total, found = of_runs(metrics.max_error, merge_largest, *columns[:2], names=names[:2])
    assert (total, found) == (40, np.abs(NUMBERS - NEAR).max())


def test_runs_know_the_classes():
    """A run of one class is measured as a part of the whole."""
    order = np.argsort(BINARY, kind="stable")
    true, scores = BINARY[order], SCORES[order] / 2
    names = ("y_true", "y_proba")
    how = {"names": names, "classes": np.array([0, 1])}
    _, found = of_runs(metrics.brier_score_loss, merge_means, true, scores, **how)
    assert found == pytest.approx(metrics.brier_score_loss(true, scores))
