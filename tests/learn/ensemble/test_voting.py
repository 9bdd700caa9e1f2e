"""An estimator of each chunk votes, as if scikit-learn had fitted them one by one."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB

import marsdask.tensor as mt
from marsdask.learn.ensemble import BlockwiseVotingClassifier, BlockwiseVotingRegressor
from tests.learn.samples import blobs, every_form, in_form, value

SAMPLES = blobs(60)
WORDS = np.array(["a", "b", "c"])[np.digitize(SAMPLES[:, 0], [-2.0, 3.0])]
NUMBERS = SAMPLES @ np.array([1.0, 0.0, 2.0, 0.5])
CUTS = ((20, 0, 25, 15), (2, 2))


def _parts():
    borders = np.cumsum(CUTS[0])
    return [np.arange(end - size, end) for end, size in zip(borders, CUTS[0], strict=True) if size]


@pytest.mark.parametrize("voting", ["hard", "soft"])
def test_classifiers_of_chunks_vote(voting):
    """By their choice or by the mean of their probabilities; empty chunks have no vote."""
    lazy = mt.tensor(SAMPLES, chunks=CUTS)
    labels, codes = np.unique(WORDS, return_inverse=True)
    parts = [GaussianNB().fit(SAMPLES[rows], codes[rows]) for rows in _parts()]
    probability = np.mean([part.predict_proba(SAMPLES) for part in parts], axis=0)
    votes = np.array(
        [np.bincount(v, minlength=3) for v in np.array([p.predict(SAMPLES) for p in parts]).T]
    )
    best = np.argmax(probability if voting == "soft" else votes, axis=1)
    model = BlockwiseVotingClassifier(GaussianNB(), voting).fit(
        lazy, mt.tensor(WORDS, chunk_size=7)
    )
    assert len(model.estimators_) == 3
    np.testing.assert_array_equal(model.predict(lazy), labels[best])
    np.testing.assert_array_equal(model.to_sklearn().predict(SAMPLES), labels[best])
    assert model.score(lazy, WORDS) == np.mean(labels[best] == WORDS)
    if voting == "soft":
        np.testing.assert_allclose(model.predict_proba(lazy), probability)
    else:
        assert not hasattr(model, "predict_proba")


@every_form
def test_regressors_of_chunks_are_averaged(form):
    """For samples of every form; those in memory are one chunk."""
    samples = in_form(SAMPLES, form)
    model = BlockwiseVotingRegressor(LinearRegression()).fit(samples, NUMBERS)
    np.testing.assert_allclose(value(model.predict(samples)), NUMBERS)
    assert len(model.estimators_) == (1 if form in ("array", "frame") else 4)
    plain = model.to_sklearn()
    np.testing.assert_allclose(plain.predict(SAMPLES), NUMBERS)


def test_chunks_that_lack_classes():
    """Vote for those that they know; classes that no chunk has may be named."""
    X, y = np.arange(6.0)[:, None], np.array([0, 0, 1, 1, 2, 2])
    lazy = mt.tensor(X, chunks=((4, 2), (1,)))
    model = BlockwiseVotingClassifier(GaussianNB(), "soft", classes=[0, 1, 2, 9]).fit(lazy, y)
    assert model.classes_.tolist() == [0, 1, 2, 9]
    found = model.predict_proba(lazy).compute()
    np.testing.assert_allclose(found[:, 3], 0.0)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    with pytest.raises(NotImplementedError, match="some classes only"):
        model.to_sklearn()
    with pytest.raises(ValueError, match="none of the classes"):
        model.fit(lazy, y, classes=[0, 1])


def test_what_is_refused():
    """Unknown ways to vote, and targets that are missing."""
    with pytest.raises(ValueError, match="voting must be"):
        BlockwiseVotingClassifier(GaussianNB(), "loud").fit(SAMPLES, WORDS)
    with pytest.raises(ValueError, match="requires y to be passed"):
        BlockwiseVotingRegressor(LinearRegression()).fit(SAMPLES, None)
