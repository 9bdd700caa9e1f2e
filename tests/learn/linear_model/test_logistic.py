"""Logistic regression equals scikit-learn's, whatever the chunks, labels, weights and penalties."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import linear_model
from sklearn.exceptions import ConvergenceWarning

import marsdask.tensor as mt
from marsdask.learn.linear_model import LogisticRegression
from tests.learn.samples import blobs, cut_samples, every_form, in_form, value

OPTIONS: dict[str, dict[str, Any]] = {
    "default": {},
    "unpenalized": {"C": np.inf},
    "through zero": {"fit_intercept": False},
    "balanced": {"class_weight": "balanced"},
    "weighted": {"class_weight": {1: 2.0}},
}


def labels_of(samples: Any, classes: int) -> Any:
    """Return classes that overlap."""
    noise = np.random.default_rng(1).normal(0.0, 6.0, len(samples))
    order = np.argsort(np.argsort(samples[:, 0] + noise))
    return order * classes // len(samples)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS.keys())
@settings(max_examples=2)
@given(cut_samples(dtypes=("f8", "f4")), st.booleans())
def test_it_learns_what_scikit_learn_learns(classes, options, case, weighted):
    """Coefficients, intercepts, probabilities and scores of two classes and of three."""
    samples, tensor = case
    y = labels_of(samples, classes)
    weights = np.random.default_rng(2).random(60) + 0.1 if weighted else None
    ours = LogisticRegression(tol=1e-8, **options).fit(tensor, y, sample_weight=weights)
    theirs = linear_model.LogisticRegression(tol=1e-10, max_iter=5000, **options)
    theirs.fit(samples.astype("f8"), y, sample_weight=weights)
    for name in ("coef_", "intercept_"):
        found, expected = getattr(ours, name), getattr(theirs, name)
        np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4)
        assert (found.shape, found.dtype) == (expected.shape, samples.dtype)
    found = ours.predict_proba(tensor)
    np.testing.assert_allclose(found.compute(), theirs.predict_proba(samples), atol=1e-4)
    assert ours.score(tensor, y) == pytest.approx(theirs.score(samples, y))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("share", [1.0, 0.5])
def test_absolute_penalties_make_zeros(classes, share):
    """Lasso and elastic net are scikit-learn's by saga; the same coefficients are zero."""
    samples = (blobs() - blobs().mean(axis=0)) / blobs().std(axis=0)
    y = labels_of(samples, classes)
    options = {"l1_ratio": share, "C": 0.1, "solver": "saga", "tol": 1e-9}
    if "deprecated" not in repr(linear_model.LogisticRegression().penalty):
        options["penalty"] = "elasticnet"  # versions that do not take it from the ratio
    ours = LogisticRegression(**options).fit(in_form(samples, "tensor"), y)
    theirs = linear_model.LogisticRegression(max_iter=10_000, random_state=0, **options)
    theirs.fit(samples, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    np.testing.assert_array_equal(ours.coef_ == 0, np.abs(theirs.coef_) < 1e-7)


@every_form
def test_it_takes_samples_and_labels_in_every_form(form):
    """Texts as labels; predictions of lazy samples are lazy."""
    samples = blobs()
    y = np.array(["low", "mid", "high"])[labels_of(samples, 3)]
    X = in_form(samples, form)
    ours = LogisticRegression(max_iter=2000).fit(X, mt.tensor(y, chunk_size=23))
    found = ours.predict(X)
    assert hasattr(found, "execute") == hasattr(X, "execute")
    expected = linear_model.LogisticRegression(max_iter=2000).fit(samples, y).predict(samples)
    np.testing.assert_array_equal(value(found), expected)


def test_sparse_samples_stay_sparse():
    """Of sparse blocks the coefficients are those of dense ones."""
    samples = np.where(blobs() > 0, blobs(), 0.0)
    y = labels_of(samples, 3)
    sparse = mt.tensor(sp.csr_array(samples), chunk_size=17)
    found, expected = (
        LogisticRegression(tol=1e-8).fit(X, y).coef_ for X in (sparse, mt.tensor(samples))
    )
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_one_class_and_too_few_iterations_are_told():
    """ValueError in scikit-learn's words, and its ConvergenceWarning."""
    X = in_form(blobs(), "tensor")
    with pytest.raises(ValueError, match="at least 2 classes in the data, but the data contains"):
        LogisticRegression().fit(X, mt.ones(60, chunk_size=20))
    with pytest.warns(ConvergenceWarning, match="failed to converge after 1 iterations"):
        LogisticRegression(max_iter=1).fit(X, labels_of(blobs(), 3))


def test_a_warm_start_continues():
    """A second fit starts from what the first has found, and needs one iteration."""
    X, y = in_form(blobs(), "tensor"), labels_of(blobs(), 2)
    model = LogisticRegression(warm_start=True, tol=1e-6).fit(X, y)
    assert model.n_iter_[0] > 1
    assert model.fit(X, y).n_iter_[0] == 1


def test_weights_of_classes_that_do_not_occur():
    """They are refused as by scikit-learn, if a class has no weight."""
    samples, y = blobs(), np.arange(60) % 3
    lazy = in_form(samples, "tensor")
    for kind, X in ((LogisticRegression, lazy), (linear_model.LogisticRegression, samples)):
        with pytest.raises(ValueError, match=r"The classes, \[2\], are not in class_weight"):
            kind(class_weight={0: 1.0, 1: 2.0, 9: 3.0}).fit(X, y)
