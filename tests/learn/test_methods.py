"""Methods of estimators keep scikit-learn's signatures, and take what is lazy."""

from __future__ import annotations

import inspect

import pandas as pd
import pytest
from sklearn import linear_model, preprocessing

import marsdask.dataframe as md
from marsdask.learn.base import RowsEstimator
from marsdask.learn.preprocessing import (
    Normalizer,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)
from tests.learn.samples import blobs, in_form


class Descent(RowsEstimator, linear_model.SGDClassifier):
    """A classifier of which some methods depend on the parameters."""


def test_signatures_are_those_of_scikit_learn():
    """Session and run_kwargs are taken, but no metadata is routed by these names."""
    ours, theirs = StandardScaler, preprocessing.StandardScaler
    for name in ("fit", "transform", "partial_fit"):
        assert list(inspect.signature(getattr(ours, name)).parameters) == list(
            inspect.signature(getattr(theirs, name)).parameters
        )
    assert "session" not in inspect.signature(ours().set_fit_request).parameters


def test_methods_that_depend_on_parameters_still_do():
    """predict_proba is there only for losses that have probabilities."""
    assert hasattr(Descent(loss="log_loss"), "predict_proba")
    assert not hasattr(Descent(loss="hinge"), "predict_proba")
    samples = blobs()
    model = Descent(loss="log_loss", random_state=0).fit(samples, samples[:, 0] > 0)
    assert model.predict_proba(in_form(samples, "tensor")).compute().shape == (60, 2)


def test_a_score_that_scikit_learn_defines_otherwise_is_refused_when_lazy():
    """Neither accuracy nor R squared: NotImplementedError names the way."""

    class Density(RowsEstimator, preprocessing.FunctionTransformer):
        """Has a score of its own."""

        def score(self, X, y=None):
            return 1.0

    assert Density().score(blobs()) == 1.0


@pytest.mark.parametrize(
    "model",
    [StandardScaler(), RobustScaler(), PolynomialFeatures(2), Normalizer()],
)
def test_frames_keep_their_labels(model):
    """set_output("pandas") of frames, whose lengths may be unknown."""
    frame = pd.DataFrame({"a": [1.0, 2.0, 5.0]}, index=list("xyz"))
    lazy = md.DataFrame(frame, chunk_size=2)
    framed = model.set_output(transform="pandas")
    expected = framed.fit_transform(frame)
    pd.testing.assert_frame_equal(framed.fit_transform(lazy).compute(), expected)
    some = framed.transform(lazy[lazy["a"] > 1]).compute()
    pd.testing.assert_frame_equal(some, expected[1:])
