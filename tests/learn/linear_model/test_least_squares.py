"""Least squares equal scikit-learn's, whatever the chunks, forms, types and weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import linear_model

import marsdask.tensor as mt
from marsdask.learn.linear_model import ElasticNet, Lasso, LinearRegression, Ridge
from marsdask.learn.linear_model.least_squares import TALL
from tests.learn.samples import assert_learnt_alike, blobs, cut_samples, every_form, in_form, value

MODELS: list[tuple[type, dict[str, Any]]] = [
    (LinearRegression, {}),
    (LinearRegression, {"positive": True}),
    (Ridge, {"alpha": 2.0}),
    (Lasso, {"alpha": 0.1}),
    (ElasticNet, {"alpha": 0.1, "selection": "random", "random_state": 0}),
]
each_model = pytest.mark.parametrize(
    ("kind", "options"), MODELS, ids=["least squares", "positive", "ridge", "lasso", "both"]
)


def theirs_of(kind: type, options: dict[str, Any]) -> Any:
    """Return scikit-learn's estimator."""
    return getattr(linear_model, kind.__name__)(**options)


def target(samples: Any, *, several: bool = False) -> Any:
    """Return what lines explain but for noise."""
    noise = np.random.default_rng(1).normal(size=len(samples))
    y = samples @ np.arange(samples.shape[1]) + noise + 3.0
    return np.stack([y, samples[:, 0] ** 2], axis=1) if several else y


@each_model
@settings(max_examples=4)
@given(cut_samples(dtypes=("f8", "f4")), st.booleans(), st.booleans(), st.booleans())
def test_it_learns_what_scikit_learn_learns(kind, options, case, weighted, several, intercept):
    """Every attribute and prediction, over chunkings, dtypes, weights and numbers of targets."""
    samples, tensor = case
    weights = np.random.default_rng(2).random(60) + 0.1 if weighted else None
    y = target(samples.astype("f8"), several=several)
    options = {**options, "fit_intercept": intercept}
    ours = kind(**options).fit(tensor, y, sample_weight=weights)
    theirs = theirs_of(kind, options).fit(samples.astype("f8"), y, sample_weight=weights)
    rtol = 1e-7 if samples.dtype == np.float64 else 2e-4
    if samples.dtype == np.float64:
        assert_learnt_alike(ours, theirs, rtol)
    assert ours.coef_.dtype == samples.dtype
    expected = theirs.predict(samples)
    np.testing.assert_allclose(ours.predict(tensor).compute(), expected, rtol=rtol, atol=1e2 * rtol)
    score = theirs.score(samples, y, weights)
    assert ours.score(tensor, y, weights) == pytest.approx(score, abs=rtol)


@every_form
def test_it_takes_samples_in_every_form(form):
    """Arrays, frames, tensors executed or not, unknown rows; targets as columns and tensors."""
    samples = blobs()
    X, y = in_form(samples, form), target(samples)
    found = LinearRegression().fit(X, mt.tensor(y, chunk_size=11)).predict(X)
    assert hasattr(found, "execute") == hasattr(X, "execute")
    expected = linear_model.LinearRegression().fit(samples, y).predict(samples)
    np.testing.assert_allclose(value(found), expected)


@each_model
def test_sparse_samples_are_fitted_sparse(kind, options):
    """What is learnt of sparse blocks is what dense ones give, and predictions are lazy."""
    samples = np.where(blobs() > 0, blobs(), 0.0)
    y = target(samples)
    X = mt.tensor(sp.csr_array(samples), chunk_size=17)
    ours, theirs = kind(**options).fit(X, y), theirs_of(kind, options).fit(samples, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(ours.predict(X).compute(), theirs.predict(samples), rtol=1e-7)


@pytest.mark.parametrize("columns", ["collinear", "constant", "near", "wide"])
def test_ill_conditioned_samples_are_solved_from_themselves(columns):
    """Ranks, singular values and the shortest solution are scikit-learn's."""
    samples = blobs(rows=5 if columns == "wide" else 60)
    if columns != "wide":
        other = {"collinear": 2 * samples[:, 0], "constant": np.ones(60)}
        samples[:, 3] = other.get(columns, samples[:, 0] + 1e-5 * samples[:, 1])
    else:
        samples = np.hstack([samples, samples[:, ::-1] ** 2])
    y = target(samples)
    ours = LinearRegression().fit(mt.tensor(samples, chunk_size=(17, 2)), y)
    theirs = linear_model.LinearRegression().fit(samples, y)
    assert ours.rank_ == theirs.rank_
    scale = theirs.singular_[0]
    np.testing.assert_allclose(ours.singular_ / scale, theirs.singular_ / scale, atol=1e-12)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-5)


def test_many_samples_in_memory_are_condensed():
    """From so many rows on; the answer is scikit-learn's."""
    samples = blobs(rows=TALL)
    y = target(samples)
    ours, theirs = LinearRegression().fit(samples, y), linear_model.LinearRegression()
    assert_learnt_alike(ours, theirs.fit(samples, y), 1e-9)


def test_exact_targets_and_far_samples_keep_their_digits():
    """A target without noise leaves nothing; samples far from zero are centred first."""
    samples = blobs(away=1e6)
    ours = LinearRegression().fit(in_form(samples, "tensor"), samples @ [1.0, 2.0, 3.0, 4.0])
    np.testing.assert_allclose(ours.coef_, [1.0, 2.0, 3.0, 4.0], rtol=1e-8)


BAD = [
    ("X", np.nan, "Input X contains NaN"),
    ("X", np.inf, "Input X contains infinity"),
    ("y", np.nan, "Input y contains NaN"),
    ("w", np.nan, "contains NaN"),
    ("w", -1.0, "Negative values in data passed to `sample_weight`"),
    ("w", 0.0, "non-zero"),
]


@pytest.mark.parametrize(("where", "bad", "message"), BAD)
def test_what_is_no_good_number_is_refused(where, bad, message):
    """Samples, targets and weights, when they are met, in scikit-learn's words."""
    data = {"X": blobs(), "y": blobs()[:, 0], "w": np.ones(60)}
    data[where][40:] = bad
    if bad == 0.0:
        data["w"][:] = 0.0
    X, y, w = (mt.tensor(item, chunk_size=17) for item in data.values())
    with pytest.raises(ValueError, match=message):
        LinearRegression().fit(X, y, sample_weight=w)


def test_targets_that_do_not_fit_are_refused():
    """None, another length, known or not, and no rows that a filter leaves."""
    X = in_form(blobs(), "tensor")
    unknown = X[X[:, 0] > -1e9]
    with pytest.raises(ValueError, match="requires y to be passed"):
        LinearRegression().fit(X, None)
    for samples in (X, unknown):
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            LinearRegression().fit(samples, mt.ones(59, chunk_size=20))
    with pytest.raises(ValueError, match=r"Found array with 0 sample\(s\)"):
        LinearRegression().fit(X[X[:, 0] > 1e9], X[X[:, 0] > 1e9][:, 0])
