"""Steps of pipelines are fitted once for all candidates that share them."""

from __future__ import annotations

import pickle
from copy import deepcopy

import numpy as np
import pytest
from sklearn import model_selection as theirs
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from marsdask.learn import model_selection as ours
from marsdask.learn.model_selection import prefixes
from marsdask.learn.model_selection.prefixes import SharedSteps, sharing, unshared
from tests.learn.samples import blobs, in_form

SAMPLES = blobs(30)
TARGETS = SAMPLES @ [1.0, 2.0, 0.0, -1.0]
FITS: list[float] = []


class Multiplied(TransformerMixin, BaseEstimator):
    """Notes each fit."""

    def __init__(self, factor=1.0):
        self.factor = factor

    def fit(self, X, y=None):
        FITS.append(self.factor)
        return self

    def transform(self, X):
        return X * self.factor


@pytest.fixture(autouse=True)
def _coalesce():
    """Run once: how chunks are merged is tested with the searches."""
    FITS.clear()


@pytest.mark.parametrize("form", ["array", "tensor"])
def test_a_search_fits_each_prefix_once_a_part(form):
    """Two factors and two parts, whatever the other parameters; and the best, of all samples."""
    model = make_pipeline(Multiplied(), Multiplied(5.0), Ridge())
    grid = {"multiplied-1__factor": [1.0, 2.0], "ridge__alpha": [0.1, 1.0, 10.0]}
    found = ours.GridSearchCV(model, grid, cv=2).fit(in_form(SAMPLES, form), TARGETS)
    assert len(FITS) == 2 * 2 + 2 * 2 + 2
    expected = theirs.GridSearchCV(model, grid, cv=2).fit(SAMPLES, TARGETS)
    scores = [search.cv_results_["mean_test_score"] for search in (found, expected)]
    np.testing.assert_allclose(*scores)
    assert found.best_estimator_.memory is None
    assert found.estimator is model
    assert model.memory is None


def test_what_is_told_apart():
    """Parameters, samples and targets; what cannot be told is fitted each time."""
    memory = SharedSteps()
    fit = memory.cache(lambda step, X, y, **_: (X * step.factor, step.fit(X, y)))
    first, _ = fit(Multiplied(2.0), SAMPLES, TARGETS)
    again, _ = fit(Multiplied(2.0), SAMPLES.copy(), TARGETS.copy(), message="another")
    assert first is again
    for step, X, y in (
        (Multiplied(3.0), SAMPLES, TARGETS),
        (Multiplied(2.0), SAMPLES + 1, TARGETS),
        (Multiplied(2.0), SAMPLES, None),
    ):
        assert fit(step, X, y)[0] is not first
    assert len(FITS) == 4
    unnamed = memory.cache(lambda step, X, y, **_: (X, FITS.append(0.0)))  # type: ignore[func-returns-value]
    for _ in range(2):
        unnamed(FunctionTransformer(lambda X: X), SAMPLES, None)
    assert len(FITS) == 6


def test_old_results_are_dropped(monkeypatch):
    """Once there are too many bytes, the least used first; errors are raised again."""
    memory = SharedSteps()
    fit = memory.cache(lambda step, X, y, **_: (X, step.fit(X, y)))
    monkeypatch.setattr(prefixes, "KEPT_BYTES", 2.5 * SAMPLES.nbytes)
    for factor in (1.0, 2.0, 1.0, 3.0, 1.0, 2.0):
        fit(Multiplied(factor), SAMPLES, None)
    assert FITS == [1.0, 2.0, 3.0, 2.0]

    def wrong(step, X, y):
        FITS.append(0.0)
        raise ValueError("no such samples")

    for _ in range(2):
        with pytest.raises(ValueError, match="no such samples"):
            memory.cache(wrong)(Multiplied(9.0), SAMPLES, None)


def test_a_step_that_is_being_fitted_does_not_wait_for_itself():
    """A thread that waits for its own tasks may run another candidate with the same step."""
    memory = SharedSteps()

    def nested(step, X, y):
        return (memory.cache(lambda step, X, y: (X + 1, step))(step, X, y)[0] * 2, step)

    found, _ = memory.cache(nested)(Multiplied(), np.ones((2, 1)), None)
    assert found.tolist() == [[4.0], [4.0]]


def test_copies_share():
    """Clones do; in another process, all of one search."""
    memory = SharedSteps()
    assert deepcopy(memory) is memory
    one, other = (pickle.loads(pickle.dumps(memory)) for _ in range(2))
    assert one is other
    shared = sharing(make_pipeline(Multiplied(), Ridge()))
    assert isinstance(shared.memory, SharedSteps)
    unshared(shared)
    assert shared.memory is None
    assert sharing(Ridge()) is None
    assert sharing(make_pipeline(Multiplied(), Ridge(), memory="folder")) is None
