"""Trees that isolate samples are scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import ensemble as theirs

import marsdask.tensor as mt
from marsdask.learn.ensemble import IsolationForest
from tests.learn.samples import blobs, every_form, in_form, value

SAMPLES = blobs(90)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"contamination": 0.1, "max_samples": 0.3},
        {"max_samples": 30, "bootstrap": True, "max_features": 2},
    ],
)
def test_scores_equal_those_of_scikit_learn(options):
    """Exactly, since trees are of the same draws; whatever the chunks."""
    how = {**options, "n_estimators": 6, "random_state": 2}
    expected = theirs.IsolationForest(**how).fit(SAMPLES)
    for chunks in ((17, 3), ((0, 1, 89), (4,))):
        lazy = mt.tensor(SAMPLES, chunks=chunks)
        model = IsolationForest(**how).fit(lazy)
        np.testing.assert_array_equal(model.score_samples(lazy), expected.score_samples(SAMPLES))
        np.testing.assert_array_equal(model.predict(lazy), expected.predict(SAMPLES))
        np.testing.assert_allclose(model.offset_, expected.offset_)
        assert model.max_samples_ == expected.max_samples_
    np.testing.assert_array_equal(
        model.to_sklearn().decision_function(SAMPLES), expected.decision_function(SAMPLES)
    )


@every_form
def test_forms_of_samples(form):
    """Results are as lazy as the samples; missing values are taken."""
    model = IsolationForest(n_estimators=3, random_state=0)
    expected = theirs.IsolationForest(n_estimators=3, random_state=0).fit_predict(SAMPLES)
    samples = in_form(SAMPLES, form)
    np.testing.assert_array_equal(value(model.fit_predict(samples)), expected)
    if form != "tensor":
        return
    np.testing.assert_array_equal(model.fit_predict(samples.tosparse()), expected)
    holes = SAMPLES.copy()
    holes[::7, 1] = np.nan
    found = model.fit(mt.tensor(holes, chunk_size=20)).score_samples(holes)
    theirs_found = theirs.IsolationForest(n_estimators=3, random_state=0).fit(holes)
    np.testing.assert_array_equal(found, theirs_found.score_samples(holes))


def test_weights_and_limits():
    """Weights are of draws; more samples than there are become all of them, with a warning."""
    weight = np.linspace(0.1, 1.0, 90)
    how = {"n_estimators": 3, "random_state": 0, "max_samples": 20}
    lazy = mt.tensor(SAMPLES, chunk_size=20)
    expected = theirs.IsolationForest(**how).fit(SAMPLES, sample_weight=weight)
    found = IsolationForest(**how).fit(lazy, sample_weight=weight)
    np.testing.assert_array_equal(found.score_samples(lazy), expected.score_samples(SAMPLES))
    with pytest.warns(UserWarning, match="greater than the total number of samples"):
        assert IsolationForest(n_estimators=1, max_samples=91).fit(lazy).max_samples_ == 90
