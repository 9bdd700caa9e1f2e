"""Gaussian naive Bayes equals scikit-learn's, whatever the chunks, labels and weights."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import naive_bayes

import marsdask.tensor as mt
from marsdask.learn.naive_bayes import GaussianNB
from tests.learn.samples import assert_learnt_alike, blobs, cut_samples, every_form, in_form, value

CODES = np.random.default_rng(1).integers(0, 3, 60)
LABELS = np.array(["low", "mid", "high"])[CODES]
WEIGHTS = np.random.default_rng(2).random(60)


@settings(max_examples=6)
@given(cut_samples(dtypes=("f8", "f4")), st.booleans(), st.sampled_from([None, [0.2, 0.3, 0.5]]))
def test_it_learns_what_scikit_learn_learns(case, weighted, priors):
    """Means, variances, counts, priors and probabilities, over chunkings."""
    samples, tensor = case
    weights = WEIGHTS if weighted else None
    rtol = 1e-9 if samples.dtype == "f8" else 1e-4
    ours = GaussianNB(priors=priors).fit(tensor, CODES, sample_weight=weights)
    theirs = naive_bayes.GaussianNB(priors=priors).fit(samples, CODES, sample_weight=weights)
    assert_learnt_alike(ours, theirs, rtol)
    found = ours.predict_proba(tensor)
    np.testing.assert_allclose(found.compute(), theirs.predict_proba(samples), rtol, 100 * rtol)
    assert ours.score(tensor, CODES) == theirs.score(samples, CODES)


@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_it_learns_in_parts(weights):
    """Parts that lack classes add up as in scikit-learn, array or tensor."""
    ours, theirs = GaussianNB(), naive_bayes.GaussianNB()
    codes = np.sort(CODES)
    for start in (0, 20, 40):
        rows = slice(start, start + 20)
        w = None if weights is None else weights[rows]
        X = mt.tensor(blobs()[rows], chunk_size=(7, 3))
        ours.partial_fit(X if start != 20 else blobs()[rows], codes[rows], [0, 1, 2], w)
        theirs.partial_fit(blobs()[rows], codes[rows], [0, 1, 2], w)
        assert_learnt_alike(ours, theirs)


@every_form
def test_it_takes_samples_and_labels_in_every_form(form):
    """Texts as labels; predictions of lazy samples are lazy."""
    X = in_form(blobs(), form)
    ours = GaussianNB().fit(X, mt.tensor(LABELS, chunk_size=23))
    found = ours.predict(X)
    assert hasattr(found, "execute") == hasattr(X, "execute")
    expected = naive_bayes.GaussianNB().fit(blobs(), LABELS).predict(blobs())
    np.testing.assert_array_equal(value(found), expected)


def test_chunks_without_rows_and_far_samples_change_nothing():
    """Empty chunks count nothing; variances keep their digits far from the origin."""
    far = blobs(away=1e7)
    tensor = mt.tensor(far, chunks=((0, 1, 58, 0, 1), (4,)))
    ours = GaussianNB(var_smoothing=0).fit(tensor, LABELS)
    theirs = naive_bayes.GaussianNB(var_smoothing=0).fit(far, LABELS)
    np.testing.assert_allclose(ours.var_, theirs.var_, rtol=1e-6)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda X, m: m.partial_fit(X, LABELS), "classes must be passed on the first call"),
        (lambda X, m: m.partial_fit(X, LABELS, ["low", "mid"]), "do not exist in the initial"),
        (lambda X, m: m.fit(X, LABELS[:-1]), "inconsistent numbers of samples"),
        (lambda X, m: m.fit(X, None), "requires y to be passed"),
        (lambda X, m: m.fit(X, LABELS, mt.zeros(60)), "non-zero"),
        (lambda X, m: m.fit(X, LABELS, mt.full(60, -1.0)), "Negative values"),
        (lambda X, m: m.fit(X / 0, LABELS), "infinity"),
        (lambda X, m: m.set_params(priors=[1.0]).fit(X, LABELS), "Number of priors"),
        (lambda X, m: m.set_params(priors=[1.0, 0.1, 0.1]).fit(X, LABELS), "sum of the priors"),
        (lambda X, m: m.set_params(priors=[1.5, -1, 0.5]).fit(X, LABELS), "non-negative"),
    ],
)
def test_what_cannot_be_is_refused(call, message):
    """Labels, weights, samples and priors, in scikit-learn's words."""
    with np.errstate(divide="ignore"), pytest.raises(ValueError, match=message):
        call(in_form(np.abs(blobs()) + 1, "tensor"), GaussianNB())


def test_sparse_samples_are_refused_as_by_scikit_learn():
    """TypeError: all their zeros would have to be seen."""
    X = mt.tensor(sp.csr_array(blobs()), chunk_size=17)
    with pytest.raises(TypeError, match="Sparse data was passed"):
        GaussianNB().fit(X, LABELS)
