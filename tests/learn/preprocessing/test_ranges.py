"""Scalers by extremes equal scikit-learn's, whatever the chunks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import preprocessing

import marsdask.tensor as mt
from marsdask.learn.preprocessing import MaxAbsScaler, MinMaxScaler
from tests.learn.preprocessing.cases import assert_transforms_alike
from tests.learn.samples import blobs, cut_samples, every_form, in_form

PAIRS: list[Any] = [
    (MinMaxScaler, preprocessing.MinMaxScaler, {"clip": True, "feature_range": (-1, 2)}),
    (MaxAbsScaler, preprocessing.MaxAbsScaler, {}),
]
each_pair = pytest.mark.parametrize(("ours", "theirs", "options"), PAIRS)


@settings(max_examples=3)
@given(cut_samples(dtypes=("f8", "f4")), st.booleans())
def test_they_learn_what_scikit_learn_learns(case, gaps):
    """Extremes, ranges and results, over chunkings and types, with missing values."""
    samples, tensor = case
    if gaps:
        samples[::7, 1] = np.nan
        tensor = mt.tensor(samples, chunk_size=(9, 2))
    for ours, theirs, options in PAIRS:
        assert_transforms_alike(ours(**options), theirs(**options), tensor, samples)


@every_form
@each_pair
def test_they_take_samples_in_every_form(form, ours, theirs, options):
    """Arrays, frames, tensors executed or not, and of unknown length."""
    samples = blobs()
    found = ours(**options).fit(in_form(samples, form))
    expected = theirs(**options).fit(samples)
    np.testing.assert_allclose(found.scale_, expected.scale_)
    assert found.n_samples_seen_ == expected.n_samples_seen_


@each_pair
def test_they_learn_bit_by_bit(ours, theirs, options):
    """partial_fit of parts, lazy or not, is fit of the whole."""
    samples = blobs()
    found = ours(**options).partial_fit(in_form(samples[:20], "tensor")).partial_fit(samples[20:])
    expected = theirs(**options).fit(samples)
    np.testing.assert_allclose(found.scale_, expected.scale_)
    assert found.n_samples_seen_ == 60


def test_infinity_is_refused():
    """In scikit-learn's words."""
    samples = blobs()
    samples[40, 1] = np.inf
    with pytest.raises(ValueError, match="Input X contains infinity"):
        MinMaxScaler().fit(in_form(samples, "tensor"))
    with pytest.raises(ValueError, match="must be smaller than maximum"):
        MinMaxScaler(feature_range=(2, 1)).fit(in_form(blobs(), "tensor"))


def test_sparse_samples_there_and_back():
    """They stay sparse; chunks may be empty."""
    samples = sp.csr_array([[1.0, 0.0], [0.0, -4.0], [2.0, 0.0]])
    lazy = mt.tensor(samples, chunk_size=(2, 2)).rechunk(((0, 2, 1), (2,)))
    model = MaxAbsScaler().fit(lazy)
    assert model.scale_.tolist() == [2.0, 4.0]
    back = model.inverse_transform(model.transform(lazy)).compute()
    np.testing.assert_array_equal(back.toarray(), samples.toarray())
