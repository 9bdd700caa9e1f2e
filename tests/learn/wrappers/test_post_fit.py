"""Any estimator predicts lazily, and those with partial_fit learn chunk by chunk."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import ensemble, linear_model, naive_bayes, preprocessing
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.compose import make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags

import marsdask.dataframe as md
import marsdask.tensor as mt
from marsdask.learn.wrappers import Incremental, ParallelPostFit
from tests.learn.samples import blobs, in_form

SAMPLES = blobs()
LABELS = np.where(SAMPLES[:, 0] > SAMPLES[:, 0].mean(), "high", "low")


@pytest.mark.parametrize("form", ["array", "tensor", "executed", "unknown rows"])
def test_predictions_are_the_estimators(form):
    """Classes and probabilities, lazy for lazy samples; attributes have the same names."""
    X = in_form(SAMPLES, form)
    forest = ensemble.RandomForestClassifier(5, random_state=0)
    model = ParallelPostFit(forest).fit(SAMPLES, LABELS)
    theirs = clone(forest).fit(SAMPLES, LABELS)
    for method in ("predict", "predict_proba"):
        found = getattr(model, method)(X)
        assert hasattr(found, "execute") == hasattr(X, "execute")
        expected = getattr(theirs, method)(SAMPLES)
        np.testing.assert_array_equal(found if form == "array" else found.compute(), expected)
    assert model.classes_.tolist() == ["high", "low"]
    assert model.score(X, LABELS) == theirs.score(SAMPLES, LABELS)
    assert not hasattr(model, "transform")


def test_fitted_estimators_and_frames_are_taken():
    """A pipeline over named columns, fitted before, gets frames."""
    frame = pd.DataFrame({"a": SAMPLES[:, 0], "b": np.repeat(["x", "y", "z"], 20)})
    plain = make_pipeline(
        make_column_transformer(
            (preprocessing.OneHotEncoder(), ["b"]), (preprocessing.StandardScaler(), ["a"])
        ),
        linear_model.LogisticRegression(),
    ).fit(frame, LABELS)
    found = ParallelPostFit(plain).predict(md.DataFrame(frame, chunk_size=17))
    np.testing.assert_array_equal(found.compute(), plain.predict(frame))


@pytest.mark.parametrize("form", ["array", "tensor", "our frame", "unknown rows"])
def test_chunks_are_learnt_in_order(form):
    """The result is that of partial_fit with the same runs of rows."""
    X = in_form(SAMPLES, form)
    step = 60 if form == "array" else 17
    model = Incremental(naive_bayes.GaussianNB())
    model.fit(X, LABELS if form != "tensor" else mt.tensor(LABELS), classes=["high", "low"])
    theirs = naive_bayes.GaussianNB()
    for start in range(0, 60, step):
        rows = slice(start, start + step)
        theirs.partial_fit(SAMPLES[rows], LABELS[rows], classes=["high", "low"])
    np.testing.assert_allclose(model.theta_, theirs.theta_)
    np.testing.assert_allclose(model.var_, theirs.var_)
    model.partial_fit(X, LABELS)
    assert model.class_count_.sum() == 120


def test_scoring_and_clones():
    """A scorer by name, and copies that have learnt nothing."""
    model = ParallelPostFit(linear_model.Ridge(), scoring="neg_mean_squared_error")
    y = SAMPLES[:, 0]
    found = model.fit(SAMPLES, y).score(in_form(SAMPLES, "tensor"), mt.tensor(y, chunk_size=9))
    theirs = linear_model.Ridge().fit(SAMPLES, y)
    assert found == pytest.approx(-np.square(theirs.predict(SAMPLES) - y).mean())
    with pytest.raises(NotFittedError):
        clone(model).predict(SAMPLES)
    assert type(model.to_sklearn()) is linear_model.Ridge


def test_tags_and_methods_are_the_estimators():
    """A wrapper is a classifier if its estimator is, and learns on if that does."""
    assert is_classifier(Incremental(linear_model.SGDClassifier()))
    assert is_regressor(ParallelPostFit(linear_model.Ridge()))
    assert hasattr(ParallelPostFit(linear_model.SGDClassifier()), "partial_fit")
    with pytest.raises(AttributeError, match="partial_fit"):
        ParallelPostFit(linear_model.Ridge()).partial_fit(SAMPLES, LABELS)
    assert get_tags(ParallelPostFit()).estimator_type is None
    fitted = naive_bayes.GaussianNB().fit(SAMPLES, LABELS)
    assert ParallelPostFit(fitted).classes_.tolist() == ["high", "low"]
    assert not hasattr(ParallelPostFit(naive_bayes.GaussianNB()), "classes_")


def test_samples_stand_for_themselves():
    """A model that refuses zeros predicts: what it gives is told by a row of the samples."""
    samples, labels = np.array([[1.0], [2.0], [1.0], [2.0]]), [0, 1, 0, 1]
    steps = (preprocessing.OneHotEncoder(), linear_model.LogisticRegression())
    model = ParallelPostFit(make_pipeline(*steps)).fit(samples, labels)
    assert model.predict(mt.tensor(samples, chunk_size=3)).compute().tolist() == labels


def test_too_many_targets_are_refused():
    """Before the first chunk is learnt."""
    model = Incremental(linear_model.SGDClassifier())
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[4, 6\]"):
        model.fit(mt.ones((4, 1), chunk_size=2), np.arange(6) % 2, classes=[0, 1])


class CountingScaler(preprocessing.StandardScaler):
    """Knows how often it was called."""

    calls = 0

    def transform(self, X, copy=None):
        type(self).calls += 1
        return super().transform(X, copy)


#: dask-ml's parameters of each class, with values other than their defaults.
DASK_ML: dict[type, dict[str, Any]] = {
    ParallelPostFit: {"scoring": "accuracy", "predict_meta": np.array([0])},
    Incremental: {
        "scoring": "accuracy",
        "shuffle_blocks": True,
        "random_state": 3,
        "assume_equal_chunks": True,
        "predict_meta": np.array([0]),
    },
}


@pytest.mark.parametrize("kind", DASK_ML)
def test_dask_mls_parameters_are_taken(kind):
    """They are parameters of the estimator, which clone() copies; others name the public class."""
    metas = {"predict_proba_meta": np.zeros((1, 2)), "transform_meta": np.zeros((1, 2))}
    model = kind(naive_bayes.GaussianNB(), **DASK_ML[kind], **metas)
    given = clone(model).get_params(deep=False)
    assert given.keys() == {"estimator", *DASK_ML[kind], *metas}
    assert type(given.pop("estimator")) is naive_bayes.GaussianNB
    np.testing.assert_equal(given, {**DASK_ML[kind], **metas})
    with pytest.raises(TypeError, match=f"{kind.__name__}.__init__.* 'other'"):
        kind(other=1)


@pytest.mark.parametrize("kind", DASK_ML)
def test_metas_tell_the_type_without_a_call(kind):
    """Of what a method returns; values are cast to it."""
    fitted = CountingScaler().fit(SAMPLES)
    CountingScaler.calls = 0
    meta = np.empty((0, SAMPLES.shape[1]), np.float32)
    found = kind(fitted, transform_meta=meta).transform(mt.tensor(SAMPLES))
    assert CountingScaler.calls == 0
    assert found.dtype == found.compute().dtype == np.float32
    np.testing.assert_allclose(found.compute(), fitted.transform(SAMPLES), rtol=1e-5, atol=1e-6)


class Orders(linear_model.SGDClassifier):
    """Keeps the first value of each run that it learns."""

    def partial_fit(self, X, y, classes=None):
        self.firsts = [*getattr(self, "firsts", []), float(X[0, 0])]
        return super().partial_fit(X, y, classes)


def test_blocks_are_shuffled_by_a_seed():
    """In an order that the seed draws; in theirs without."""
    X, y = mt.tensor(np.arange(12.0).reshape(-1, 1), chunk_size=(2, 1)), mt.arange(12) % 2

    def firsts(**how):
        model = Incremental(Orders(), **how).fit(X, y, classes=[0, 1])
        return model.estimator_.firsts

    assert firsts() == firsts(shuffle_blocks=False) == [0, 2, 4, 6, 8, 10]
    drawn = firsts(shuffle_blocks=True, random_state=0)
    assert drawn == firsts(shuffle_blocks=True, random_state=0) != firsts()
    assert sorted(drawn) == firsts()


def test_promised_chunks_are_checked():
    """Without the promise targets are cut like samples."""
    X, y = mt.ones((4, 1), chunk_size=(2, 1)), mt.tensor([0, 1, 0, 1], chunks=((1, 3),))
    Incremental(naive_bayes.GaussianNB()).fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match="use assume_equal_chunks=False"):
        Incremental(naive_bayes.GaussianNB(), assume_equal_chunks=True).fit(X, y, classes=[0, 1])


def test_what_the_estimator_lacks_is_named():
    """In dask-ml's words."""
    words = r"wrapped estimator .*LinearRegression.* does not have a 'predict_proba' method"
    with pytest.raises(AttributeError, match=words):
        ParallelPostFit(linear_model.LinearRegression()).predict_proba([[1.0]])
