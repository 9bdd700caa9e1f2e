"""TruncatedSVD equals scikit-learn's: the exact one of few features, the random one of many."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from sklearn import decomposition

import marsdask.tensor as mt
from marsdask.learn.decomposition import TruncatedSVD, truncated_svd
from tests.learn.samples import assert_learnt_alike, blobs, cut_samples, every_form, in_form, value


@pytest.fixture(autouse=True)
def _coalesce():
    """Run with the chunks as they are by default: how they are merged is tested elsewhere."""


@pytest.mark.parametrize("few", [512, 1])
@settings(max_examples=4)
@given(cut_samples(dtypes=("f8", "f4"), columns=12))
def test_it_learns_what_scikit_learn_learns(few, case):
    """Components, values and variances, over chunkings; random projections draw alike."""
    samples, tensor = case
    rtol = 1e-8 if samples.dtype == "f8" else 1e-3
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(truncated_svd, "FEW", few)
        options = {"n_oversamples": 2, "n_iter": 2, "random_state": 3}
        ours = TruncatedSVD(3, **options).fit(tensor)
    if few == 1:
        theirs = decomposition.TruncatedSVD(3, **options).fit(samples)
    else:
        theirs = decomposition.TruncatedSVD(3, algorithm="arpack").fit(samples)
    assert_learnt_alike(ours, theirs, rtol)
    found = ours.transform(tensor)
    np.testing.assert_allclose(found.compute(), theirs.transform(samples), rtol, 100 * rtol)
    np.testing.assert_allclose(
        ours.inverse_transform(found).compute(),
        theirs.inverse_transform(theirs.transform(samples)),
        rtol,
        100 * rtol,
    )


@every_form
def test_it_takes_samples_in_every_form(form):
    """Arrays, pandas and our frames, tensors executed or not, and of unknown length."""
    X = in_form(blobs(), form)
    found = TruncatedSVD(2, random_state=0).fit_transform(X)
    expected = decomposition.TruncatedSVD(2, random_state=0).fit_transform(blobs())
    assert hasattr(found, "execute") == hasattr(X, "execute")
    np.testing.assert_allclose(value(found), expected)


@pytest.mark.parametrize("few", [512, 1])
def test_sparse_samples_stay_sparse(few, monkeypatch):
    """Both ways take sparse blocks; what is projected is dense, as in scikit-learn."""
    samples = sp.random_array((60, 12), density=0.3, rng=np.random.default_rng(1), format="csr")
    X = mt.tensor(samples, chunks=((0, 1, 39, 20), (7, 5)))
    monkeypatch.setattr(truncated_svd, "FEW", few)
    ours = TruncatedSVD(3, n_iter=20, random_state=0).fit(X)
    theirs = decomposition.TruncatedSVD(3, n_iter=20, random_state=0).fit(samples)
    assert_learnt_alike(ours, theirs, 1e-8)
    np.testing.assert_allclose(ours.transform(X).compute(), theirs.transform(samples))


def test_weak_components_keep_their_digits():
    """A component of a millionth of the strongest is exact: the samples are seen again."""
    samples = np.linalg.qr(blobs())[0] * [1.0, 1e-3, 1e-6, 1e-7]
    samples = samples @ np.linalg.qr(blobs(4))[0]
    ours = TruncatedSVD(4).fit(mt.tensor(samples, chunk_size=17))
    np.testing.assert_allclose(ours.singular_values_, [1.0, 1e-3, 1e-6, 1e-7], rtol=1e-6)


@pytest.mark.parametrize(
    ("X", "wish", "message"),
    [
        (mt.ones((6, 3)), 4, r"n_components\(4\) must be <= n_features\(3\)"),
        (mt.ones((6, 1)), 1, "minimum of 2 is required"),
        (mt.ones((6, 3)) * np.nan, 1, "contains NaN"),
        (mt.ones((6, 3))[mt.ones(6) < 0], 1, "0 sample"),
    ],
)
@pytest.mark.parametrize("few", [512, 1])
def test_what_cannot_be_is_refused(X, wish, message, few, monkeypatch):
    """Too many components, too few features or samples, missing values."""
    monkeypatch.setattr(truncated_svd, "FEW", few)
    with pytest.raises(ValueError, match=message):
        TruncatedSVD(wish).fit(X)


def test_fewer_samples_than_components():
    """There are as many components as samples."""
    samples = blobs(2, 4)
    ours, theirs = TruncatedSVD(3), decomposition.TruncatedSVD(3, random_state=0)
    found = ours.fit_transform(mt.tensor(samples, chunk_size=1)).compute()
    expected = theirs.fit_transform(samples)
    np.testing.assert_allclose(np.abs(found), np.abs(expected), atol=1e-9)
    np.testing.assert_allclose(ours.singular_values_, theirs.singular_values_)
