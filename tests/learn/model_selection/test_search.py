"""Searches over lazy samples find what they find over arrays."""

from __future__ import annotations

import numpy as np
from sklearn import model_selection as theirs
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

import marsdask.tensor as mt
from marsdask import new_session
from marsdask.learn import model_selection as ours
from marsdask.learn.preprocessing import StandardScaler
from tests.learn.samples import blobs, in_form

SAMPLES = blobs(30)
TARGETS = SAMPLES @ [1.0, 2.0, 0.0, -1.0]
MODEL = make_pipeline(StandardScaler(), Ridge())
GRID = {"ridge__alpha": [0.1, 10.0]}


def test_a_grid_is_searched():
    """Scores and the best candidate equal scikit-learn's; the pipeline's scaler stays lazy."""
    lazy = in_form(SAMPLES, "tensor"), mt.tensor(TARGETS, chunk_size=8)
    how = {"cv": 3, "scoring": ["r2", "neg_mean_squared_error"], "refit": "r2"}
    found = ours.GridSearchCV(MODEL, GRID, **how).fit(*lazy)
    expected = theirs.GridSearchCV(MODEL, GRID, **how).fit(SAMPLES, TARGETS)
    for name in ("mean_test_r2", "mean_test_neg_mean_squared_error"):
        np.testing.assert_allclose(found.cv_results_[name], expected.cv_results_[name])
    assert found.best_params_ == expected.best_params_


def test_parameters_are_drawn():
    """As scikit-learn draws them; ``session=`` is taken."""
    how = {"n_iter": 2, "cv": 2, "random_state": 0}
    found = ours.RandomizedSearchCV(MODEL, GRID, **how)
    with new_session("synchronous") as session:
        found.fit(in_form(SAMPLES, "tensor"), TARGETS, session=session)
    expected = theirs.RandomizedSearchCV(MODEL, GRID, **how).fit(SAMPLES, TARGETS)
    assert found.best_score_ == expected.best_score_
