"""Predictions by the nearest samples equal scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import neighbors as theirs

import marsdask.tensor as mt
from marsdask.learn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from tests.learn.samples import every_form, in_form, value

_RNG = np.random.default_rng(0)
SAMPLES = _RNG.normal(size=(50, 3))
QUERIES = _RNG.normal(size=(20, 3))
WORDS = np.array(["no", "yes", "maybe"])[np.digitize(SAMPLES[:, 0], [-0.5, 0.5])]
NUMBERS = np.stack([SAMPLES[:, 0], SAMPLES[:, 1] ** 2], axis=1)


@every_form
@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_classes(form, weights):
    """Of lazy queries and of those in memory, with probabilities and scores."""
    samples = in_form(SAMPLES, form)
    model = KNeighborsClassifier(3, weights=weights).fit(samples, WORDS)
    expected = theirs.KNeighborsClassifier(3, weights=weights).fit(SAMPLES, WORDS)
    queries = in_form(QUERIES, form)
    np.testing.assert_array_equal(value(model.predict(queries)), expected.predict(QUERIES))
    np.testing.assert_allclose(value(model.predict_proba(queries)), expected.predict_proba(QUERIES))
    assert model.score(samples, WORDS) == expected.score(SAMPLES, WORDS)
    np.testing.assert_array_equal(
        model.to_sklearn().predict(value(queries)), expected.predict(QUERIES)
    )


def test_lazy_targets_and_queries_in_memory():
    """In chunks of their own; models of samples in memory predict lazily, too."""
    lazy = mt.tensor(SAMPLES, chunk_size=17)
    expected = theirs.KNeighborsClassifier(3).fit(SAMPLES, WORDS).predict(QUERIES)
    model = KNeighborsClassifier(3).fit(lazy, mt.tensor(WORDS, chunk_size=13))
    np.testing.assert_array_equal(model.predict(QUERIES), expected)
    model = KNeighborsClassifier(3).fit(SAMPLES, WORDS)
    np.testing.assert_array_equal(model.predict(mt.tensor(QUERIES, chunk_size=7)), expected)


def test_several_targets():
    """Numbers and classes of several kinds."""
    lazy, queries = mt.tensor(SAMPLES, chunk_size=17), mt.tensor(QUERIES, chunk_size=7)
    expected = theirs.KNeighborsRegressor(4).fit(SAMPLES, NUMBERS).predict(QUERIES)
    for target in (NUMBERS, mt.tensor(NUMBERS, chunk_size=9)):
        model = KNeighborsRegressor(4).fit(lazy, target)
        np.testing.assert_allclose(model.predict(queries), expected)
    np.testing.assert_allclose(model.to_sklearn().predict(QUERIES), expected)
    classes = (NUMBERS > 0.3).astype(int) + 5
    model = KNeighborsClassifier(3).fit(lazy, mt.tensor(classes, chunk_size=9))
    plain = theirs.KNeighborsClassifier(3).fit(SAMPLES, classes)
    np.testing.assert_array_equal(model.predict(queries), plain.predict(QUERIES))
    np.testing.assert_array_equal(model.to_sklearn().predict(QUERIES), plain.predict(QUERIES))
    with pytest.raises(NotImplementedError, match="several outputs"):
        model.predict_proba(queries)


def test_what_is_refused():
    """Targets that are missing, of another length, or not finite."""
    lazy = mt.tensor(SAMPLES, chunk_size=17)
    with pytest.raises(ValueError, match="requires y to be passed"):
        KNeighborsRegressor().fit(lazy, None)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        KNeighborsRegressor().fit(lazy, NUMBERS[:-1])
    with pytest.raises(ValueError, match="y contains NaN"):
        KNeighborsRegressor().fit(lazy, mt.full(50, np.nan))
    with pytest.raises(ValueError, match="Unknown label type"):
        KNeighborsClassifier().fit(lazy, NUMBERS[:, 0])


@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_numbers_keep_the_precision(weights):
    """Means of float32 are that, too."""
    samples, numbers = SAMPLES.astype(np.float32), NUMBERS[:, 0].astype(np.float32)
    model = KNeighborsRegressor(3, weights=weights)
    found = model.fit(mt.tensor(samples, chunk_size=20), mt.tensor(numbers)).predict(QUERIES)
    other = theirs.KNeighborsRegressor(3, weights=weights).fit(samples, numbers)
    expected = other.predict(QUERIES)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-5)
