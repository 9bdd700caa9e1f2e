"""Searches over lazy samples find what they find over arrays."""

from __future__ import annotations

import numpy as np
from joblib import parallel_config
from sklearn import model_selection as theirs
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

import marsdask.tensor as mt
from marsdask import new_session
from marsdask.learn import model_selection as ours
from marsdask.learn.contrib.joblib import MarsBackend
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


def test_few_samples_then_more():
    """Halving searches go through the candidates that scikit-learn's go through."""
    lazy = in_form(SAMPLES, "tensor"), mt.tensor(TARGETS, chunk_size=8)
    how = {"cv": 2, "random_state": 0, "min_resources": 8, "factor": 2}
    found = ours.HalvingGridSearchCV(MODEL, GRID, **how).fit(*lazy)
    expected = theirs.HalvingGridSearchCV(MODEL, GRID, **how).fit(SAMPLES, TARGETS)
    assert found.n_candidates_ == expected.n_candidates_ == [2, 1]
    scores = [search.cv_results_["mean_test_score"] for search in (found, expected)]
    np.testing.assert_allclose(*scores)
    drawn = ours.HalvingRandomSearchCV(MODEL, GRID, n_candidates=2, **how).fit(*lazy)
    assert drawn.best_params_ == expected.best_params_


def test_fits_of_samples_in_memory_are_tasks(monkeypatch):
    """Of the session, unless ``n_jobs`` or joblib's context says how they run."""
    ran = []
    submit = MarsBackend.submit

    def noted(self, *args, **kwargs):
        ran.append(self._given)
        return submit(self, *args, **kwargs)

    monkeypatch.setattr(MarsBackend, "submit", noted)
    search = ours.GridSearchCV(MODEL, GRID, cv=2)
    with new_session("threads", n_workers=2) as session:
        search.fit(SAMPLES, TARGETS, session=session)
        assert set(ran) == {session}
        ran.clear()
        clone(search).set_params(n_jobs=1).fit(SAMPLES, TARGETS, session=session)
        with parallel_config("threading", n_jobs=2):
            search.fit(SAMPLES, TARGETS, session=session)
        search.fit(in_form(SAMPLES, "tensor"), TARGETS, session=session)
    assert not ran
