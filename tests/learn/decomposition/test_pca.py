"""PCA equals scikit-learn's, whatever the chunks."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn import decomposition

import marsdask.tensor as mt
from marsdask.learn.decomposition import PCA
from tests.learn.samples import assert_learnt_alike, blobs, cut_samples, every_form, in_form, value


@pytest.mark.parametrize("solver", ["auto", "full", "covariance_eigh"])
@given(cut_samples(), st.sampled_from([None, 2, 0.8, "mle"]), st.booleans())
def test_it_learns_what_scikit_learn_learns(solver, case, wish, whiten):
    """Components, variances, noise and every projection, over chunkings."""
    samples, tensor = case
    ours = PCA(wish, svd_solver=solver, whiten=whiten).fit(tensor)
    theirs = decomposition.PCA(wish, svd_solver="full", whiten=whiten).fit(samples)
    assert_learnt_alike(ours, theirs, 1e-7)
    projected = ours.transform(tensor)
    expected = theirs.transform(samples)
    np.testing.assert_allclose(projected.compute(), expected, rtol=1e-7, atol=1e-7)
    back = ours.inverse_transform(projected).compute()
    np.testing.assert_allclose(back, theirs.inverse_transform(expected), rtol=1e-7, atol=1e-7)
    likely = ours.score_samples(tensor).compute()
    np.testing.assert_allclose(likely, theirs.score_samples(samples), rtol=1e-6)
    assert ours.score(tensor) == pytest.approx(theirs.score(samples), rel=1e-6)


@every_form
def test_it_takes_samples_in_every_form(form):
    """Arrays, pandas and our frames, tensors executed or not, and of unknown length."""
    samples = blobs()
    X = in_form(samples, form)
    projected = PCA(2).fit_transform(X)
    expected = decomposition.PCA(2).fit_transform(samples)
    assert hasattr(projected, "execute") == hasattr(X, "execute")
    np.testing.assert_allclose(value(projected), expected, rtol=1e-7, atol=1e-9)


def test_samples_far_from_the_origin_keep_their_digits():
    """Products are taken about a point amid the samples, not about zero."""
    samples = blobs(away=1e7)
    ours = PCA(svd_solver="covariance_eigh").fit(in_form(samples, "tensor"))
    centred = np.linalg.svd(samples - samples.mean(0), compute_uv=False)
    np.testing.assert_allclose(ours.singular_values_, centred, rtol=1e-6)


def test_weak_components_are_found_from_the_samples_themselves():
    """A variance 1e-16 of the largest, which products lose, is right to some digits."""
    rng = np.random.default_rng(0)
    turned = np.linalg.qr(rng.normal(size=(3, 3))).Q
    samples = rng.normal(size=(200, 3)) * [1.0, 1e-4, 1e-8] @ turned
    expected = decomposition.PCA(svd_solver="full").fit(samples).explained_variance_
    ours = PCA().fit(mt.tensor(samples, chunk_size=(30, 3)))
    np.testing.assert_allclose(
        ours.explained_variance_, expected, rtol=1e-4
    )  # what the samples hold
    lost = PCA(svd_solver="covariance_eigh").fit(mt.tensor(samples, chunk_size=(30, 3)))
    assert lost.explained_variance_[2] != pytest.approx(expected[2], rel=1e-2, abs=0)


def test_wide_samples_need_no_square_of_their_columns():
    """Fewer rows than columns: as many components as rows."""
    samples = blobs(rows=6, columns=30)
    ours = PCA(4).fit(mt.tensor(samples, chunk_size=(2, 7)))
    assert_learnt_alike(ours, decomposition.PCA(4, svd_solver="full").fit(samples), 1e-8)


@pytest.mark.parametrize("solver", ["randomized", "arpack"])
def test_approximate_solvers_are_exact(solver):
    """What scikit-learn approximates is computed."""
    samples = blobs()
    ours = PCA(2, svd_solver=solver).fit(in_form(samples, "tensor"))
    expected = decomposition.PCA(2, svd_solver="full").fit(samples)
    np.testing.assert_allclose(ours.components_, expected.components_, rtol=1e-8)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_components": 5}, "must be between 0 and"),
        ({"n_components": 4, "svd_solver": "arpack"}, "strictly less than"),
        ({"n_components": "mle", "svd_solver": "randomized"}, "cannot be a string"),
        ({"svd_solver": "other"}, "svd_solver"),
    ],
)
def test_impossible_wishes_are_refused(options, message):
    """The number of components and the solver are checked before anything runs."""
    with pytest.raises(ValueError, match=message):
        PCA(**options).fit(in_form(blobs(), "tensor"))


def test_missing_values_are_refused():
    """A nan raises scikit-learn's ValueError when it is met."""
    samples = blobs()
    samples[50, 3] = np.nan
    with pytest.raises(ValueError, match=r"Input X contains NaN\."):
        PCA().fit(in_form(samples, "tensor"))


def test_set_output_makes_frames():
    """set_output("pandas") makes a frame of ours from lazy samples, a pandas one from arrays."""
    samples = blobs()
    model = PCA(2).set_output(transform="pandas").fit(samples)
    lazy = model.transform(in_form(samples, "our frame").__class__(samples, chunk_size=11))
    assert hasattr(lazy, "execute")
    assert list(lazy.columns) == ["pca0", "pca1"]
    np.testing.assert_allclose(lazy.compute(), model.transform(samples))


@pytest.mark.parametrize("solver", ["auto", "covariance_eigh", "arpack"])
def test_sparse_samples_stay_sparse(solver):
    """Components and projections are scikit-learn's, lazy and in memory."""
    samples = sp.random_array((60, 6), density=0.4, rng=np.random.default_rng(1), format="csr")
    options = {"n_components": 3, "svd_solver": solver, "random_state": 0}
    theirs = decomposition.PCA(**options).fit(samples)
    for X in (mt.tensor(samples, chunks=((0, 1, 59), (4, 2))), samples):
        ours = PCA(**options).fit(X)
        np.testing.assert_allclose(ours.components_, theirs.components_, atol=1e-7)
        np.testing.assert_allclose(ours.explained_variance_, theirs.explained_variance_)
        found = ours.transform(X)
        assert hasattr(found, "execute") == hasattr(X, "execute")
        np.testing.assert_allclose(value(found), theirs.transform(samples), atol=1e-7)


def test_what_would_make_sparse_samples_dense_is_refused():
    """TypeError of solvers of the samples themselves, and of likelihoods."""
    X = mt.tensor(sp.eye_array(6, format="csr"), chunk_size=3)
    for solver in ("full", "randomized"):
        with pytest.raises(TypeError, match=f'"{solver}" was passed. See TruncatedSVD'):
            PCA(2, svd_solver=solver).fit(X)
    with pytest.raises(TypeError, match="Sparse data was passed"):
        PCA(2).fit(X).score_samples(X)


def test_likelihoods_keep_the_precision():
    """Those of float32 are that, too."""
    samples = blobs().astype(np.float32)
    lazy = in_form(samples, "tensor")
    found = PCA(2).fit(lazy).score_samples(lazy)
    expected = decomposition.PCA(2).fit(samples).score_samples(samples)
    assert found.dtype == found.compute().dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-4)
