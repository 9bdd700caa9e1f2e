"""Functions that predict, as Mars has them."""

from __future__ import annotations

import numpy as np
import pytest

import marsdask.tensor as mt

theirs = pytest.importorskip("lightgbm")
ours = pytest.importorskip("marsdask.learn.contrib.lightgbm")


@pytest.fixture(autouse=True)
def _coalesce():
    """Run once: chunks are merged in the tests of estimators."""


def test_models_of_both_libraries_predict():
    """Lazy results for lazy samples, executed if asked for."""
    samples = np.random.default_rng(0).normal(size=(60, 2))
    lazy = mt.tensor(samples, chunk_size=25)
    classes = (samples[:, 0] > 0).astype(int)
    for kind in (theirs.LGBMClassifier, ours.LGBMClassifier):
        model = kind(n_estimators=2, verbose=-1, n_jobs=1).fit(samples, classes)
        expected = model.predict_proba(samples)
        np.testing.assert_array_equal(ours.predict_proba(model, lazy).fetch(), expected)
        np.testing.assert_array_equal(ours.predict_proba(model, samples), expected)
        found = ours.predict(model, lazy, run=False)
        np.testing.assert_array_equal(found.compute(), model.predict(samples))
    raw = ours.predict(model.booster_, lazy, raw_score=True).fetch()
    np.testing.assert_array_equal(raw, model.booster_.predict(samples, raw_score=True))
