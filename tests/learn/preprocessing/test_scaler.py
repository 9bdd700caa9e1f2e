"""StandardScaler equals scikit-learn's, whatever the chunks."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn import preprocessing

import marsdask.tensor as mt
from marsdask.learn.preprocessing import StandardScaler
from tests.learn.samples import assert_learnt_alike, blobs, cut_samples, every_form, in_form, value


@given(cut_samples(dtypes=("f8", "f4")), st.booleans(), st.booleans())
def test_it_learns_what_scikit_learn_learns(case, with_mean, with_std):
    """Mean, variance, scale and counts, and both transforms, over chunkings and dtypes."""
    samples, tensor = case
    options = {"with_mean": with_mean, "with_std": with_std}
    ours = StandardScaler(**options).fit(tensor)
    theirs = preprocessing.StandardScaler(**options).fit(samples)
    rtol = 1e-5 if samples.dtype == np.float32 else 1e-9
    assert_learnt_alike(ours, theirs, rtol)
    scaled = ours.transform(tensor)
    assert scaled.dtype == samples.dtype
    np.testing.assert_allclose(scaled.compute(), theirs.transform(samples), rtol=rtol, atol=rtol)
    back = ours.inverse_transform(scaled).compute()
    np.testing.assert_allclose(back, samples, rtol=rtol, atol=rtol)


@every_form
def test_it_takes_samples_in_every_form(form):
    """Arrays, pandas and our frames, tensors executed or not, and of unknown length."""
    samples = blobs()
    X = in_form(samples, form)
    scaled = StandardScaler().fit_transform(X)
    expected = preprocessing.StandardScaler().fit_transform(samples)
    assert hasattr(scaled, "execute") == hasattr(X, "execute")
    np.testing.assert_allclose(value(scaled), expected)


@given(cut_samples())
def test_nan_counts_nothing(case):
    """Missing values are left out of each column, and counts differ by column."""
    samples, _ = case
    samples[::7, 1] = np.nan
    tensor = mt.tensor(samples, chunk_size=(9, 2))
    ours = StandardScaler().fit(tensor)
    theirs = preprocessing.StandardScaler().fit(samples)
    np.testing.assert_allclose(ours.mean_, theirs.mean_)
    np.testing.assert_allclose(ours.var_, theirs.var_)
    np.testing.assert_array_equal(ours.n_samples_seen_, theirs.n_samples_seen_)
    np.testing.assert_allclose(ours.transform(tensor).compute(), theirs.transform(samples))


@pytest.mark.parametrize("lazy", [False, True])
def test_samples_weigh_what_they_are_given(lazy):
    """Weights in memory and lazy ones in other chunks count as scikit-learn's."""
    samples = blobs()
    weights = np.random.default_rng(0).random(len(samples))
    given_weights = mt.tensor(weights, chunk_size=23) if lazy else weights
    ours = StandardScaler().fit(in_form(samples, "tensor"), sample_weight=given_weights)
    assert_learnt_alike(ours, preprocessing.StandardScaler().fit(samples, sample_weight=weights))


def test_it_learns_bit_by_bit():
    """partial_fit of parts, lazy or not, is fit of the whole."""
    samples = blobs()
    ours = StandardScaler()
    ours.partial_fit(in_form(samples[:20], "tensor")).partial_fit(samples[20:])
    assert_learnt_alike(ours, preprocessing.StandardScaler().fit(samples))


def test_equal_values_are_not_blown_up():
    """A column of equal values far from zero has scale one."""
    samples = blobs()
    samples[:, 2] = 1e9 / 3
    ours = StandardScaler().fit(in_form(samples, "tensor"))
    assert ours.scale_[2] == 1.0


def test_infinity_is_refused():
    """An infinite value raises scikit-learn's ValueError, and says which input."""
    samples = blobs()
    samples[40, 1] = np.inf
    with pytest.raises(ValueError, match="Input X contains infinity"):
        StandardScaler().fit(in_form(samples, "tensor"))


def test_another_number_of_columns_is_refused_at_the_call():
    """Transform of samples with other columns raises before anything runs."""
    scaler = StandardScaler().fit(in_form(blobs(), "tensor"))
    with pytest.raises(ValueError, match="X has 3 features"):
        scaler.transform(mt.ones((5, 3)))


@pytest.mark.parametrize("weights", [None, np.random.default_rng(3).random(60)])
def test_sparse_samples_stay_sparse(weights):
    """Without their means they are scaled as by scikit-learn, lazy and in memory."""
    samples = sp.random_array((60, 6), density=0.4, rng=np.random.default_rng(1), format="csr")
    theirs = preprocessing.StandardScaler(with_mean=False).fit(samples, sample_weight=weights)
    for X in (mt.tensor(samples, chunks=((0, 1, 59), (4, 2))), samples):
        ours = StandardScaler(with_mean=False).fit(X, sample_weight=weights)
        assert_learnt_alike(ours, theirs)
        scaled = ours.transform(X)
        assert hasattr(scaled, "execute") == hasattr(X, "execute")
        there_and_back = value(ours.inverse_transform(scaled)) - samples
        assert sp.issparse(there_and_back)
        assert abs(there_and_back).max() < 1e-12
        assert abs(value(scaled) - theirs.transform(samples)).max() < 1e-12


def test_sparse_samples_are_not_centred():
    """Their zeros would become numbers: scikit-learn's ValueError, in each method."""
    X = mt.tensor(sp.eye_array(6, format="csr"), chunk_size=3)
    with pytest.raises(ValueError, match="Cannot center sparse matrices"):
        StandardScaler().fit(X)
    scaler = StandardScaler().fit(np.eye(6))
    with pytest.raises(ValueError, match="Cannot center sparse matrices"):
        scaler.transform(X)
    with pytest.raises(ValueError, match="Cannot uncenter sparse matrices"):
        scaler.inverse_transform(X)


@pytest.mark.filterwarnings("ignore:invalid value")
def test_a_column_may_have_no_values_at_first():
    """Its mean and variance are those of the values that follow; scikit-learn's mean stays nan."""
    first, second = np.array([[np.nan, 1.0], [np.nan, 2.0]]), blobs(12, 2)
    ours, theirs = StandardScaler(), preprocessing.StandardScaler()
    for batch in (first, second):
        ours.partial_fit(mt.tensor(batch, chunk_size=1))
        theirs.partial_fit(batch)
    np.testing.assert_allclose(ours.var_, theirs.var_)
    np.testing.assert_allclose(ours.mean_[0], second[:, 0].mean())
    np.testing.assert_array_equal(ours.n_samples_seen_, theirs.n_samples_seen_)
