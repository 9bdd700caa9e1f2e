"""Stochastic gradient descent takes scikit-learn's steps, chunk after chunk."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import linear_model
from sklearn.exceptions import ConvergenceWarning

import marsdask.learn.linear_model as learn
import marsdask.tensor as mt
from marsdask.learn.linear_model import SGDClassifier, SGDRegressor
from marsdask.learn.linear_model.sgd import losses
from tests.learn.samples import assert_learnt_alike, blobs, every_form, in_form, value

SAMPLES = blobs() / 5
WEIGHTS = np.where(np.arange(60) < 20, 0.0, np.random.default_rng(2).random(60))
TARGETS = SAMPLES @ [1.0, -2.0, 0.5, 0.0] + np.random.default_rng(3).normal(0.0, 0.1, 60)
LABELS = {classes: np.argsort(np.argsort(TARGETS)) * classes // 60 for classes in (2, 3)}

OPTIONS: list[dict[str, Any]] = [
    {},
    {"loss": "log_loss", "penalty": None, "class_weight": "balanced"},
    {"loss": "modified_huber", "learning_rate": "adaptive", "class_weight": {0: 2.0}},
    {"loss": "squared_hinge", "fit_intercept": False, "average": True},
]


@pytest.fixture(autouse=True)
def _coalesce():
    """Run with the chunks as they are by default: how they are merged is tested elsewhere."""


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: options.get("loss", "hinge"))
@pytest.mark.parametrize(("cut", "dtype"), [((60,), "f4"), ((0, 1, 20, 0, 39), "f8")])
def test_unshuffled_classes_are_scikit_learns(classes, options, cut, dtype):
    """As many epochs over chunks take the steps of as many over all samples."""
    samples, weighted = SAMPLES.astype(dtype), len(cut) > 1
    tensor = mt.tensor(samples, chunks=(cut, (3, 1)))
    chosen = {**options, "shuffle": False, "tol": None, "max_iter": 3}
    y, weights = LABELS[classes], WEIGHTS if weighted else None
    ours = SGDClassifier(**chosen).fit(tensor, y, sample_weight=weights)
    theirs = linear_model.SGDClassifier(**chosen).fit(samples, y, sample_weight=weights)
    assert_learnt_alike(ours, theirs, 1e-9 if samples.dtype == "f8" else 1e-3)
    found = ours.predict(tensor)
    np.testing.assert_array_equal(found.compute(), ours.to_sklearn().predict(samples))


@pytest.mark.parametrize("loss", ["squared_error", "huber", "squared_epsilon_insensitive"])
@pytest.mark.parametrize("cut", [(60,), (0, 1, 20, 0, 39)])
def test_unshuffled_targets_are_scikit_learns(loss, cut):
    """Regressions too, averaged ones among them."""
    samples, weighted = SAMPLES, len(cut) > 1
    tensor = mt.tensor(samples, chunks=(cut, (3, 1)))
    chosen: dict[str, Any] = {"loss": loss, "shuffle": False, "tol": None, "max_iter": 3}
    chosen["average"] = loss == "huber"
    weights = WEIGHTS if weighted else None
    ours = SGDRegressor(**chosen).fit(tensor, TARGETS, sample_weight=weights)
    theirs = linear_model.SGDRegressor(**chosen).fit(samples, TARGETS, sample_weight=weights)
    assert_learnt_alike(ours, theirs)
    assert ours.score(tensor, TARGETS) == pytest.approx(theirs.score(samples, TARGETS))


@pytest.mark.parametrize("kind", ["SGDClassifier", "SGDRegressor"])
def test_a_search_ends_where_scikit_learn_ends(kind):
    """With shuffled samples the epochs and the scores are nearly those of scikit-learn."""
    y = LABELS[3] if kind == "SGDClassifier" else TARGETS
    ours, theirs = (getattr(of, kind)(random_state=0, tol=0.01) for of in (learn, linear_model))
    ours.fit(mt.tensor(SAMPLES, chunk_size=30), mt.tensor(y, chunk_size=23))
    theirs.fit(SAMPLES, y)
    assert 0.3 < ours.n_iter_ / theirs.n_iter_ < 3
    assert ours.score(SAMPLES, y) == pytest.approx(theirs.score(SAMPLES, y), abs=0.1)


@every_form
def test_it_takes_samples_and_labels_in_every_form(form):
    """Texts as labels, parts of samples; predictions of lazy samples are lazy."""
    X = in_form(SAMPLES, form)
    y = np.array(["low", "mid", "high"])[LABELS[3]]
    options: dict[str, Any] = {"shuffle": False, "loss": "log_loss"}
    ours, theirs = SGDClassifier(**options), linear_model.SGDClassifier(**options)
    names = ["high", "low", "mid"]
    for _ in range(2):
        ours.partial_fit(X, mt.tensor(y, chunk_size=23), classes=names)
        theirs.partial_fit(SAMPLES, y, classes=names)
    np.testing.assert_allclose(ours.coef_, theirs.coef_)
    found = ours.predict_proba(X)
    assert hasattr(found, "execute") == hasattr(X, "execute")
    np.testing.assert_allclose(value(found), theirs.predict_proba(SAMPLES))


def test_regressions_learn_in_parts():
    """Each chunk once, arrays between tensors."""
    ours, theirs = SGDRegressor(shuffle=False), linear_model.SGDRegressor(shuffle=False)
    for X in (in_form(SAMPLES, "tensor"), SAMPLES, in_form(SAMPLES, "unknown rows")):
        ours.partial_fit(X, TARGETS, WEIGHTS)
        theirs.partial_fit(SAMPLES, TARGETS, WEIGHTS)
    assert_learnt_alike(ours, theirs)


def test_sparse_samples_stay_sparse():
    """Of sparse blocks the coefficients are scikit-learn's of sparse samples."""
    samples = sp.csr_array(np.where(SAMPLES > 0, SAMPLES, 0.0))
    options: dict[str, Any] = {"shuffle": False, "tol": None, "max_iter": 3}
    ours = SGDRegressor(**options).fit(mt.tensor(samples, chunk_size=17), TARGETS)
    theirs = linear_model.SGDRegressor(**options).fit(samples, TARGETS)
    assert_learnt_alike(ours, theirs)


@pytest.mark.parametrize("average", [False, True])
def test_a_start_is_given_or_kept(average):
    """Coefficients given, or found before with warm_start, are where the epochs begin."""
    options: dict[str, Any] = {"shuffle": False, "tol": None, "max_iter": 2, "average": average}
    ours = SGDRegressor(**options, warm_start=True)
    theirs = linear_model.SGDRegressor(**options, warm_start=True)
    X = in_form(SAMPLES, "tensor")
    for start in ({"coef_init": np.ones(4), "intercept_init": 0.5}, {}):
        ours.fit(X, TARGETS, **start)
        theirs.fit(SAMPLES, TARGETS, **start)
        np.testing.assert_allclose(ours.coef_, theirs.coef_)
    ours, theirs = (
        of.SGDClassifier(**options, warm_start=True, fit_intercept=False)
        for of in (learn, linear_model)
    )
    for _ in range(2):
        np.testing.assert_allclose(
            ours.fit(X, LABELS[2]).coef_, theirs.fit(SAMPLES, LABELS[2]).coef_
        )
    with pytest.raises(ValueError, match="does not match dataset"):
        SGDRegressor().fit(X, TARGETS, coef_init=np.ones(3))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda X: SGDClassifier().partial_fit(X, LABELS[2]), ValueError, "classes must be passed"),
        (lambda X: SGDClassifier().fit(X, mt.ones(60)), ValueError, "greater than one; got 1"),
        (lambda X: SGDRegressor().fit(X, TARGETS[1:]), ValueError, "inconsistent numbers"),
        (lambda X: SGDRegressor().fit(X, None), ValueError, "requires y"),
        (
            lambda X: SGDRegressor().fit(X, TARGETS, sample_weight=mt.zeros(60)),
            ValueError,
            "non-zero",
        ),
        (lambda X: SGDRegressor().fit(X[X[:, 0] > 99], TARGETS[:0]), ValueError, "0 sample"),
        (lambda X: SGDRegressor().fit(X * np.nan, TARGETS), ValueError, "contains NaN"),
        (
            lambda X: SGDRegressor(early_stopping=True).fit(X, TARGETS),
            NotImplementedError,
            "early_stopping=False",
        ),
    ],
)
def test_what_cannot_be_is_refused(call, error, message):
    """Targets, weights, samples and options, in scikit-learn's words."""
    with pytest.raises(error, match=message):
        call(in_form(SAMPLES, "tensor"))


def test_too_few_epochs_are_told():
    """scikit-learn's ConvergenceWarning; without a tolerance there is none."""
    with pytest.warns(ConvergenceWarning, match="Maximum number of iteration reached"):
        SGDRegressor(max_iter=1).fit(in_form(SAMPLES, "tensor"), TARGETS)
    SGDRegressor(max_iter=1, tol=None).fit(in_form(SAMPLES, "tensor"), TARGETS)


@pytest.mark.parametrize("name", linear_model.SGDClassifier.loss_functions)
def test_losses_are_scikit_learns(name):
    """The loss of each sample equals that of the functions that scikit-learn descends by."""
    rng = np.random.default_rng(5)
    y, raw = np.where(rng.random(40) < 0.5, -1.0, 1.0), rng.normal(0.0, 2.0, 40)
    theirs = linear_model.SGDClassifier(loss=name, epsilon=0.3)._get_loss_function(name)
    labels = (y + 1) / 2 if name == "log_loss" else y
    if hasattr(theirs, "py_loss"):
        expected = np.array([theirs.py_loss(*pair) for pair in zip(raw, labels, strict=True)])
    else:
        theirs.loss(labels, raw, None, expected := np.empty(40), 1)
    np.testing.assert_allclose(losses(name, y, raw, 0.3), expected)
