"""Searches over ``partial_fit`` find the parameters that learn best."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier, SGDRegressor

import marsdask.tensor as mt
from marsdask.learn.model_selection import (
    HyperbandSearchCV,
    IncrementalSearchCV,
    InverseDecaySearchCV,
    SuccessiveHalvingSearchCV,
)
from marsdask.learn.model_selection.incremental import halvings
from tests.learn.samples import in_form

_RNG = np.random.default_rng(0)
SAMPLES = _RNG.normal(size=(120, 3))
CLASSES = np.where(SAMPLES[:, 0] + SAMPLES[:, 1] > 0, "high", "low")
MODEL = SGDClassifier(random_state=0)
GIVEN = {"alpha": [1e-4, 1e2]}
KINDS = {
    IncrementalSearchCV: {"max_iter": 3},
    InverseDecaySearchCV: {},
    SuccessiveHalvingSearchCV: {"n_initial_iter": 2, "aggressiveness": 2},
}


@pytest.fixture(autouse=True)
def _coalesce():
    """Run once: chunks are blocks, which are not merged."""


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", ["array", "tensor", "our frame"])
def test_the_best_is_found(kind, form):
    """It predicts lazily; the table and the history tell of all."""
    X, y = in_form(SAMPLES, form), mt.tensor(CLASSES, chunk_size=17)
    search = kind(MODEL, GIVEN, "grid", random_state=0, **KINDS[kind])
    search.fit(X, y if form != "array" else CLASSES)
    assert search.best_params_ == {"alpha": 1e-4}
    assert search.best_score_ == max(search.cv_results_["test_score"]) > 0.65
    assert search.best_estimator_.alpha == 1e-4
    found = search.predict(X)
    assert hasattr(found, "execute") == hasattr(X, "execute")
    assert np.mean(np.asarray(found) == CLASSES) > 0.65
    calls = search.cv_results_["partial_fit_calls"]
    assert search.metadata_ == {"n_models": 2, "partial_fit_calls": calls.sum()}
    assert len(search.history_) == sum(map(len, search.model_history_.values()))
    assert search.classes_.tolist() == ["high", "low"]


def test_how_many_go_on():
    """By the published formulas: Hyperband's of 81 blocks are dask-ml's documented counts."""
    plan = HyperbandSearchCV(MODEL, GIVEN, max_iter=81).metadata
    assert (plan["n_models"], plan["partial_fit_calls"]) == (143, 1581)
    assert [bracket["n_models"] for bracket in plan["brackets"]] == [81, 34, 15, 8, 5]
    assert halvings(9, 2, 3, 10) == [(9, 2), (3, 6), (1, 10)]
    decayed = InverseDecaySearchCV(MODEL, GIVEN, 10, fits_per_score=2)._rungs(10)
    assert decayed[:3] == [(10, 1), (3, 3), (2, 5)]
    assert decayed[-1].survivors == 1


def test_hyperband_runs_as_it_says():
    """As many models and calls as planned; the draws depend on the seed alone."""
    given = {"alpha": [1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1e2]}
    how: dict[str, Any] = {"max_iter": 3, "random_state": 3, "scoring": "r2"}
    target = mt.tensor(SAMPLES @ [1.0, -2.0, 0.5], chunk_size=17)
    lazy = mt.tensor(SAMPLES, chunk_size=30)
    found = [HyperbandSearchCV(SGDRegressor(random_state=0), given, **how) for _ in range(2)]
    for search in found:
        search.fit(lazy, target)
        planned = {name: search.metadata[name] for name in search.metadata_}
        assert search.metadata_ == planned
    assert found[0].best_params_ == found[1].best_params_
    assert found[0].cv_results_["model_id"][0] == "bracket=0-0"


def test_what_is_refused():
    """Before anything learns."""
    lazy = mt.tensor(SAMPLES, chunk_size=30)
    with pytest.raises(ValueError, match="n_initial_iter must be specified"):
        SuccessiveHalvingSearchCV(MODEL, GIVEN, "grid").fit(lazy, CLASSES)
    with pytest.raises(ValueError, match="patience=True has no meaning"):
        IncrementalSearchCV(MODEL, GIVEN, "grid", patience=True).fit(lazy, CLASSES)
    assert not hasattr(IncrementalSearchCV(MODEL, GIVEN, "grid"), "partial_fit")
    halving = SuccessiveHalvingSearchCV(MODEL, GIVEN, 9, n_initial_iter=1, patience=True)
    assert halving._patience() == 3
