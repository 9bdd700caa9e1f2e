"""Scorers measure lazy predictions."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from sklearn import dummy, metrics

import marsdask.tensor as mt
from marsdask.learn import metrics as ours
from marsdask.learn.metrics import check_scoring, get_scorer, make_scorer, max_error

X, Y = np.zeros((6, 1)), np.arange(6.0)
MODEL = dummy.DummyRegressor().fit(X, Y)


@pytest.mark.parametrize("name", ["neg_median_absolute_error", "r2", "neg_mean_squared_error"])
def test_scorers_have_scikit_learns_names(name):
    """The score of lazy targets is that of targets in memory."""
    lazy = mt.tensor(Y, chunk_size=2)
    assert get_scorer(name)(MODEL, X, lazy) == metrics.get_scorer(name)(MODEL, X, Y)


def test_a_function_becomes_a_scorer():
    """As in Mars; a scorer is one already, and a metric of scikit-learn's becomes ours."""
    scorer = get_scorer(metrics.max_error, greater_is_better=False)
    assert scorer(MODEL, X, mt.tensor(Y, chunk_size=2)) == -2.5
    assert get_scorer(scorer) is scorer
    assert make_scorer(max_error)(MODEL, X, Y) == 2.5
    partial = make_scorer(functools.partial(metrics.fbeta_score, beta=2.0))
    assert check_scoring(MODEL, partial) is partial  # which has no name


def test_several_scorers_are_checked():
    """By name; what is none is refused as by scikit-learn."""
    found = check_scoring(MODEL, ["neg_mean_absolute_error", "r2"])(
        MODEL, X, mt.tensor(Y, chunk_size=2)
    )
    assert found == {"neg_mean_absolute_error": -1.5, "r2": 0.0}
    assert check_scoring(MODEL)(MODEL, X, Y) == 0.0
    with pytest.raises(ValueError, match="scoring"):
        check_scoring(MODEL, "nonsense")


def test_all_names():
    """dask-ml's table has scikit-learn's names; its scorers measure lazily."""
    assert list(ours.SCORERS) == ours.get_scorer_names() == metrics.get_scorer_names()
    assert ours.SCORERS["neg_max_error"]._score_func is max_error
