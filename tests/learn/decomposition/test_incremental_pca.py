"""IncrementalPCA learns from scikit-learn's batches, whatever the chunks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import decomposition

import marsdask.tensor as mt
from marsdask.learn.decomposition import IncrementalPCA
from tests.learn.samples import assert_learnt_alike, blobs, cut_samples, every_form, in_form, value


@pytest.fixture(autouse=True)
def _coalesce():
    """Run with the chunks as they are by default: how they are merged is tested elsewhere."""


@settings(max_examples=4)
@given(cut_samples(dtypes=("f8", "f4")), st.sampled_from([None, 7, 100]), st.booleans())
def test_it_learns_what_scikit_learn_learns(case, batch, whiten):
    """Components, means and variances of the same batches, over chunkings."""
    samples, tensor = case
    options: dict[str, Any] = {"n_components": 3, "batch_size": batch, "whiten": whiten}
    ours = IncrementalPCA(**options).fit(tensor)
    theirs = decomposition.IncrementalPCA(**options).fit(samples)
    rtol = 1e-9 if samples.dtype == "f8" else 1e-4
    assert_learnt_alike(ours, theirs, rtol)
    found = ours.transform(tensor)
    np.testing.assert_allclose(found.compute(), theirs.transform(samples), rtol, 100 * rtol)


@every_form
def test_it_takes_samples_in_every_form(form):
    """Arrays, pandas and our frames, tensors executed or not, and of unknown length."""
    X = in_form(blobs(), form)
    ours = IncrementalPCA(2, batch_size=25).fit(X)
    expected = decomposition.IncrementalPCA(2, batch_size=25).fit(blobs())
    found = ours.transform(X)
    assert hasattr(found, "execute") == hasattr(X, "execute")
    np.testing.assert_allclose(value(found), expected.transform(blobs()))


def test_it_learns_in_parts():
    """Each chunk is a batch; samples without rows are none."""
    ours, theirs = IncrementalPCA(2), decomposition.IncrementalPCA(2)
    for _ in range(2):
        ours.partial_fit(mt.tensor(blobs(), chunks=((0, 20, 40, 0), (3, 1))))
        theirs.partial_fit(blobs()[:20]).partial_fit(blobs()[20:])
    assert_learnt_alike(ours, theirs)


def test_sparse_samples_become_dense_batch_by_batch():
    """What scikit-learn learns of sparse samples; their projections, too."""
    samples = sp.csr_array(np.where(blobs() > 0, blobs(), 0.0))
    X = mt.tensor(samples, chunk_size=17)
    ours = IncrementalPCA(2, batch_size=25).fit(X)
    theirs = decomposition.IncrementalPCA(2, batch_size=25).fit(samples)
    assert_learnt_alike(ours, theirs)
    np.testing.assert_allclose(ours.transform(X).compute(), theirs.transform(samples))
    with pytest.raises(TypeError, match="partial_fit does not support sparse input"):
        ours.partial_fit(X)


@pytest.mark.parametrize(
    ("wish", "message"),
    [
        (5, "invalid for n_features=4"),
        (3, r"must be less or equal to the batch number of samples 2"),
    ],
)
def test_too_many_components_are_refused(wish, message):
    """In scikit-learn's words."""
    with pytest.raises(ValueError, match=message):
        IncrementalPCA(wish).partial_fit(mt.tensor(blobs(), chunks=((2, 58), (4,))))
