"""scikit-learn's own methods of rows, run by run."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import linear_model, naive_bayes, preprocessing

import marsdask.tensor as mt
from marsdask.learn.base import RowsEstimator
from tests.learn.samples import blobs, every_form, in_form, value

SAMPLES = blobs()
LABELS = np.where(SAMPLES[:, 0] > SAMPLES[:, 0].mean(), "high", "low")


class Bayes(RowsEstimator, naive_bayes.GaussianNB):
    """An estimator that learns in memory."""


class StraightLine(RowsEstimator, linear_model.LinearRegression):
    """A regressor that learns in memory."""


class Split(RowsEstimator, preprocessing.KBinsDiscretizer):
    """A transformer that makes sparse rows."""


@every_form
def test_predictions_are_those_of_scikit_learn(form):
    """Classes, probabilities and scores of every form; lazy ones compute no values."""
    X = in_form(SAMPLES, form)
    plain = SAMPLES if form != "frame" else X
    ours, theirs = Bayes().fit(plain, LABELS), naive_bayes.GaussianNB().fit(plain, LABELS)
    if form == "our frame":
        del ours.__dict__["n_features_in_"]
        ours = Bayes().fit(X.compute(), LABELS)
    for method in ("predict", "predict_proba", "predict_log_proba"):
        found = getattr(ours, method)(X)
        assert hasattr(found, "execute") == hasattr(X, "execute")
        expected = getattr(theirs, method)(plain)
        assert value(found).dtype == expected.dtype
        if method == "predict":
            np.testing.assert_array_equal(value(found), expected)
        else:
            np.testing.assert_allclose(value(found), expected)


def test_scores_of_lazy_samples_are_those_of_scikit_learn():
    """Accuracy and R squared, as numbers that answer fetch."""
    X = in_form(SAMPLES, "tensor")
    score = Bayes().fit(SAMPLES, LABELS).score(X, mt.tensor(LABELS, chunk_size=23))
    assert score.fetch() == naive_bayes.GaussianNB().fit(SAMPLES, LABELS).score(SAMPLES, LABELS)
    y = SAMPLES[:, 1] ** 2
    ours, theirs = (
        kind().fit(SAMPLES, y) for kind in (StraightLine, linear_model.LinearRegression)
    )
    assert ours.score(X, y) == pytest.approx(theirs.score(SAMPLES, y))


def test_sparse_results_stay_sparse():
    """A transformer that makes sparse rows makes a sparse tensor."""
    ours = Split(3, quantile_method="averaged_inverted_cdf").fit(SAMPLES)
    found = ours.transform(in_form(SAMPLES, "tensor"))
    assert mt.issparse(found)
    np.testing.assert_array_equal(
        found.todense().compute(), ours.to_sklearn().transform(SAMPLES).toarray()
    )


def test_sparse_samples_are_not_made_dense():
    """Lazy ones are refused by an estimator that does not take them."""
    with pytest.raises(TypeError, match="dense data is required"):
        Bayes().fit(SAMPLES, LABELS).predict(in_form(SAMPLES, "tensor").tosparse())


def test_empty_runs_of_rows_have_empty_predictions():
    """A filter that leaves nothing of a chunk, and one that leaves no rows at all."""
    X = in_form(SAMPLES, "tensor")
    ours = Bayes().fit(SAMPLES, LABELS)
    kept = X[mt.arange(60) > 30]
    np.testing.assert_array_equal(ours.predict(kept).compute(), ours.predict(SAMPLES)[31:])
    assert ours.predict(X[X[:, 0] > 1e9]).compute().shape == (0,)
