"""Metrics of numbers equal scikit-learn's, whatever the chunks."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from sklearn import metrics

import marsdask.tensor as mt
from marsdask import new_session
from marsdask.learn import metrics as ours
from tests.learn.metrics.cases import (
    NEAR,
    NEAR_SEVERAL,
    NUMBERS,
    SEVERAL,
    WEIGHTS,
    assert_alike,
    cuts,
)

OF_OUTPUTS = [
    "d2_absolute_error_score",
    "d2_pinball_score",
    "explained_variance_score",
    "mean_absolute_error",
    "mean_absolute_percentage_error",
    "mean_pinball_loss",
    "mean_squared_error",
    "mean_squared_log_error",
    "median_absolute_error",
    "r2_score",
    "root_mean_squared_error",
    "root_mean_squared_log_error",
]
DEVIANCES = ["d2_tweedie_score", "mean_gamma_deviance", "mean_poisson_deviance"]


@settings(max_examples=2)
@given(cuts())
def test_they_equal_scikit_learns(cut):
    """Each metric, of one output and of several, with weights and without."""
    for name in OF_OUTPUTS:
        assert_alike(name, (NUMBERS, NEAR), cut)
        for how in ("raw_values", "uniform_average", [0.3, 0.7]):
            assert_alike(name, (SEVERAL, NEAR_SEVERAL), cut, WEIGHTS, multioutput=how)
    for name in DEVIANCES:
        assert_alike(name, (NUMBERS, NEAR), cut, WEIGHTS)
    assert_alike("mean_tweedie_deviance", (NUMBERS, NEAR), cut, power=1.5)
    assert_alike("max_error", (NUMBERS, NEAR), cut)
    assert_alike("r2_score", (SEVERAL, NEAR_SEVERAL), cut, multioutput="variance_weighted")


def test_equal_targets_are_no_variance():
    """Perfect predictions of a constant give 1, others 0, as scikit-learn says."""
    constant = mt.full(9, 0.1, chunk_size=4)
    assert ours.r2_score(constant, constant) == 1.0
    assert ours.r2_score(constant, mt.arange(9)) == 0.0
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        assert ours.r2_score(constant, mt.arange(9), force_finite=False) == -np.inf


def test_few_samples_warn():
    """One sample has no variance: nan and scikit-learn's warning."""
    with pytest.warns(UserWarning, match="less than two samples"):
        assert np.isnan(ours.r2_score(mt.ones(1), mt.ones(1)))


def test_what_is_no_number_is_refused():
    """Nan in a later chunk raises scikit-learn's words, outputs that differ too."""
    bad = mt.tensor([1.0, 2.0, np.nan], chunk_size=1)
    for metric in (ours.r2_score, ours.mean_squared_error):
        with pytest.raises(ValueError, match="Input contains NaN"):
            metric(mt.ones(3), bad)
        with pytest.raises(ValueError, match="different number of output"):
            metric(mt.ones((3, 2)), mt.ones((3, 3)))


def test_a_metric_runs_in_another_session():
    """Mars's ``session=`` and ``run_kwargs=`` are taken."""
    with new_session("synchronous") as session:
        found = ours.r2_score(mt.arange(5), mt.arange(5), session=session, run_kwargs={})
    assert found.fetch() == 1.0


@pytest.mark.parametrize("name", ["r2_score", "explained_variance_score"])
def test_chunks_may_be_empty_and_samples_few(name):
    """None of a chunk's values may be chosen, or one of all."""
    y = mt.tensor(np.arange(12.0), chunk_size=3)
    some = y[y >= 3].execute()
    measure = getattr(ours, name)
    expected = getattr(metrics, name)(np.arange(3.0, 12), np.arange(4.0, 13))
    np.testing.assert_allclose(measure(some, some + 1), expected)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = getattr(metrics, name)([1.0], [1.0])
        np.testing.assert_equal(measure(y[y == 1], y[y == 1]), expected)
