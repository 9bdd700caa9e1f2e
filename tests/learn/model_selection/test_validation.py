"""Estimators are judged on parts of lazy samples as on parts of arrays."""

from __future__ import annotations

import numpy as np
from sklearn import model_selection as theirs
from sklearn.linear_model import Ridge

import marsdask.tensor as mt
from marsdask.learn import model_selection as ours
from tests.learn.samples import blobs, in_form

SAMPLES = blobs(30)
TARGETS = SAMPLES @ [1.0, 2.0, 0.0, -1.0]


def test_scores_and_predictions_of_parts():
    """Equal scikit-learn's, with a scorer by name, classes of unknown length and a splitter."""
    X, y = in_form(SAMPLES, "unknown rows"), mt.tensor(TARGETS, chunk_size=8)
    cv = ours.KFold(3, shuffle=True, random_state=0)
    for name, options in (
        ("cross_val_score", {"scoring": "neg_mean_squared_error"}),
        ("cross_val_predict", {}),
    ):
        found = getattr(ours, name)(Ridge(), X, y, cv=cv, **options)
        expected = getattr(theirs, name)(Ridge(), SAMPLES, TARGETS, cv=cv, **options)
        np.testing.assert_allclose(found, expected)
    found = ours.cross_validate(Ridge(), X, y, cv=2)["test_score"]
    np.testing.assert_allclose(found, theirs.cross_val_score(Ridge(), SAMPLES, TARGETS, cv=2))


def test_curves():
    """Scores for values of a parameter, and for numbers of samples."""
    X = in_form(SAMPLES, "tensor")
    how = {"param_name": "alpha", "param_range": [0.1, 1.0], "cv": 2}
    found = ours.validation_curve(Ridge(), X, TARGETS, **how)
    np.testing.assert_allclose(found, theirs.validation_curve(Ridge(), SAMPLES, TARGETS, **how))
    found = ours.learning_curve(Ridge(), X, TARGETS, cv=2, train_sizes=[5, 10])
    expected = theirs.learning_curve(Ridge(), SAMPLES, TARGETS, cv=2, train_sizes=[5, 10])
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other)
