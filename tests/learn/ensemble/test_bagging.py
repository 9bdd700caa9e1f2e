"""Draws of samples and what is fitted to them equal scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn import ensemble as theirs
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import marsdask.dataframe as md
import marsdask.tensor as mt
from marsdask.config import option_context
from marsdask.learn.ensemble import BaggingClassifier, BaggingRegressor
from tests.learn.samples import blobs, every_form, in_form, value

SAMPLES = blobs(80)
WORDS = np.array(["no", "yes"])[(SAMPLES[:, 0] > SAMPLES[:, 1]).astype(int)]
NUMBERS = SAMPLES @ np.array([1.0, 0.0, 2.0, 0.5])

CASES = [
    (None, {"max_samples": 30, "max_features": 2}),
    (None, {"bootstrap": False, "max_samples": 0.5, "bootstrap_features": True}),
    (LogisticRegression(), {}),
    (KNeighborsClassifier(), {"max_samples": 40, "max_features": 3}),
]


@pytest.mark.parametrize(("estimator", "options"), CASES)
def test_the_same_rows_are_drawn(estimator, options):
    """Whether rows that are drawn twice weigh more, or are there twice; whatever the chunks."""
    how = {**options, "n_estimators": 3, "random_state": 0}
    expected = theirs.BaggingClassifier(estimator, **how).fit(SAMPLES, WORDS)
    for chunks in (80, (17, 3), ((1, 0, 79), (4,))):
        lazy = mt.tensor(SAMPLES, chunks=chunks)
        model = BaggingClassifier(estimator, **how).fit(lazy, mt.tensor(WORDS, chunk_size=33))
        probability = model.predict_proba(lazy)
        np.testing.assert_allclose(probability, expected.predict_proba(SAMPLES), rtol=1e-12)
        for one, other in zip(model.estimators_samples_, expected.estimators_samples_, strict=True):
            np.testing.assert_array_equal(one, other)


@every_form
@pytest.mark.parametrize("size", ["few", "many"])
def test_forms_of_samples(form, size):
    """Few drawn rows are read once for all estimators, many for each; the results are equal."""
    how = {"n_estimators": 3, "random_state": 1, "max_samples": 20}
    samples = in_form(SAMPLES, form)
    with option_context({"chunk_store_limit": 64 if size == "many" else 2**20}):
        model = BaggingRegressor(**how).fit(samples, NUMBERS)
    expected = theirs.BaggingRegressor(**how).fit(SAMPLES, NUMBERS)
    np.testing.assert_allclose(value(model.predict(samples)), expected.predict(SAMPLES))
    plain = model.to_sklearn()
    assert type(plain) is theirs.BaggingRegressor
    plain.__dict__.pop("feature_names_in_", None)
    np.testing.assert_allclose(plain.predict(SAMPLES), expected.predict(SAMPLES))


@pytest.mark.parametrize("estimator", [None, LogisticRegression()])
def test_sparse_samples(estimator):
    """Stay sparse in chunks of any cut, few or many; an estimator of dense ones refuses them."""
    few = np.where(SAMPLES > 0, SAMPLES, 0.0)
    how = {"n_estimators": 2, "random_state": 0, "max_samples": 30, "max_features": 3}
    expected = theirs.BaggingClassifier(estimator, **how).fit(csr_array(few), WORDS)
    for chunks, limit in [((17, 3), 2**20), (((1, 0, 79), (4,)), 64)]:
        lazy = mt.tensor(few, chunks=chunks).tosparse()
        with option_context({"chunk_store_limit": limit}):
            model = BaggingClassifier(estimator, **how).fit(lazy, WORDS)
        np.testing.assert_allclose(
            model.predict_proba(lazy), expected.predict_proba(csr_array(few)), rtol=1e-9
        )
    with pytest.raises(TypeError, match="Sparse data was passed"):
        BaggingClassifier(GaussianNB()).fit(lazy, WORDS)


def test_several_targets():
    """Are learnt together, as a tensor or a frame."""
    targets = np.stack([NUMBERS, -NUMBERS], axis=1)
    lazy = mt.tensor(SAMPLES, chunk_size=30)
    how = {"n_estimators": 2, "random_state": 0}
    expected = theirs.BaggingRegressor(**how).fit(SAMPLES, targets).predict(SAMPLES)
    for target in (targets, mt.tensor(targets, chunk_size=11), md.DataFrame(targets, chunk_size=9)):
        model = BaggingRegressor(**how).fit(lazy, target)
        np.testing.assert_allclose(model.predict(lazy), expected)


def test_weights_say_how_probably_rows_are_drawn():
    """As in scikit-learn, whether they are lazy or not."""
    weight = np.linspace(0.0, 1.0, 80)
    how = {"n_estimators": 2, "random_state": 0, "max_samples": 20}
    lazy = mt.tensor(SAMPLES, chunk_size=30)
    expected = theirs.BaggingRegressor(**how).fit(SAMPLES, NUMBERS, weight).predict(SAMPLES)
    for given in (weight, mt.tensor(weight, chunk_size=7)):
        model = BaggingRegressor(**how).fit(lazy, NUMBERS, given)
        np.testing.assert_allclose(model.predict(lazy), expected)
    with pytest.warns(UserWarning, match="recommended to use bootstrap=True"):
        BaggingRegressor(n_estimators=1, bootstrap=False).fit(lazy, NUMBERS, weight + 1.0)


def test_a_warm_start_goes_on():
    """With the draws that come after those made before."""
    lazy = mt.tensor(SAMPLES, chunk_size=30)
    whole = BaggingRegressor(n_estimators=4, random_state=0).fit(lazy, NUMBERS)
    model = BaggingRegressor(n_estimators=2, random_state=0, warm_start=True).fit(lazy, NUMBERS)
    model.set_params(n_estimators=4).fit(lazy, NUMBERS)
    np.testing.assert_allclose(model.predict(lazy), whole.predict(lazy))
    with pytest.warns(UserWarning, match="does not fit new trees"):
        model.fit(lazy, NUMBERS)
    with pytest.raises(ValueError, match="must be larger or equal to"):
        model.set_params(n_estimators=1).fit(lazy, NUMBERS)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"max_features": 9}, ValueError, "max_features must be <= n_features"),
        ({"bootstrap": False, "max_samples": 99}, ValueError, "Effective max_samples=99"),
        ({"oob_score": True}, NotImplementedError, "oob_score is not supported with lazy samples"),
        ({"n_estimators": 0}, ValueError, "'n_estimators' parameter"),
    ],
)
def test_what_is_refused(options, error, words):
    """In scikit-learn's words where it refuses it, too."""
    lazy = mt.tensor(SAMPLES, chunk_size=30)
    with pytest.raises(error, match=words):
        BaggingRegressor(**options).fit(lazy, NUMBERS)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        BaggingRegressor().fit(lazy, NUMBERS[:-1])
    with pytest.raises(ValueError, match="requires y to be passed"):
        BaggingClassifier().fit(lazy, None)


def test_targets_that_are_not_drawn_are_checked():
    """NaN is refused even if no member sees it."""
    y = NUMBERS.copy()
    y[-1] = np.nan
    model = BaggingRegressor(n_estimators=1, max_samples=2, random_state=0)
    with pytest.raises(ValueError, match="Input y contains NaN"):
        model.fit(in_form(SAMPLES, "tensor"), mt.tensor(y, chunk_size=30))
