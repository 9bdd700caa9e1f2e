"""Distances and kernels equal scikit-learn's, whatever the chunks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.sparse import csr_array
from sklearn.metrics import pairwise as theirs

import marsdask.tensor as mt
from marsdask.core.config import option_context
from marsdask.learn.metrics import pairwise as ours
from tests.learn.samples import blobs, cut_samples

NAMES = [name for name in ours.__all__ if name.endswith(("distances", "kernel", "similarity"))]
OTHER = blobs(7, 2)


@settings(max_examples=2)
@given(cut_samples(dtypes=("f8", "f4"), rows=8, columns=2))
def test_they_equal_scikit_learns(case):
    """Each measure, of one matrix and of two: values and types."""
    samples, tensor = case
    other = OTHER.astype(samples.dtype)
    tolerance = 1e-4 if samples.dtype == np.float32 else 1e-9
    for name in NAMES:
        for pair in ((), (other,)):
            expected = getattr(theirs, name)(samples, *pair)
            found = getattr(ours, name)(tensor, *pair)
            assert found.dtype == expected.dtype, name
            value = found.compute()
            assert value.dtype == expected.dtype, name
            np.testing.assert_allclose(value, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("metric", ["seuclidean", "mahalanobis", "l2", "chebyshev", "minkowski"])
def test_metrics_that_look_at_all_rows(metric):
    """Variances and covariances are those of the whole, not of a block."""
    samples = blobs(12, 3)
    found = ours.pairwise_distances(mt.tensor(samples, chunk_size=5), metric=metric)
    expected = theirs.pairwise_distances(samples, metric=metric)
    np.testing.assert_allclose(found.compute(), expected, rtol=1e-7, atol=1e-9)


def test_blocks_are_small_and_the_diagonal_is_zero():
    """Rows are cut where the blocks of pairs would be too large, other rows than columns."""
    samples = blobs(40, 3, away=1e3)
    with option_context({"chunk_store_limit": 1200}):
        found = ours.euclidean_distances(mt.tensor(samples, chunk_size=40), squared=True)
        assert max(found.chunks[0]) * max(found.chunks[1]) <= 150
        np.testing.assert_array_equal(np.diag(found.compute()), 0.0)
    np.testing.assert_array_equal(np.diag(found.compute()), 0.0)


def test_what_is_refused():
    """Unlike widths at the call, missing values when they are seen; arrays are scikit-learn's."""
    with pytest.raises(ValueError, match="Incompatible dimension"):
        ours.euclidean_distances(mt.ones((3, 2)), mt.ones((3, 4)))
    with pytest.raises(ValueError, match="Input contains NaN"):
        ours.euclidean_distances(mt.tensor([[np.nan, 1.0]]), mt.ones((3, 2))).compute()
    assert isinstance(ours.rbf_kernel(np.ones((2, 2))), np.ndarray)
    assert ours.PAIRWISE_DISTANCE_FUNCTIONS.keys() == theirs.PAIRWISE_DISTANCE_FUNCTIONS.keys()


def test_matrices_are_checked():
    """Both are tensors of floats, of the same width; a single one is both."""
    a, b = ours.check_pairwise_arrays(mt.ones((3, 2), dtype="f4"), np.ones((4, 2), "i8"))
    assert [(part.shape, part.dtype) for part in (a, b)] == [((3, 2), "f8"), ((4, 2), "f8")]
    same = ours.check_pairwise_arrays(mt.ones((3, 2), dtype="f4"))
    assert same[0].dtype == same[1].dtype == "f4"
    with pytest.raises(ValueError, match=r"X.shape\[1\] == 2 while Y.shape\[1\] == 4"):
        ours.check_pairwise_arrays(mt.ones((3, 2)), mt.ones((3, 4)))
    with pytest.raises(ValueError, match="Precomputed metric requires"):
        ours.check_pairwise_arrays(mt.ones((3, 2)), mt.ones((3, 4)), precomputed=True)


def test_samples_in_memory_may_have_gaps():
    """Where the distance takes nan."""
    samples = np.array([[1.0, np.nan], [2.0, 3.0], [0.0, 1.0]])
    lazy = mt.tensor(samples, chunk_size=2)
    expected = theirs.nan_euclidean_distances(samples, samples)
    np.testing.assert_allclose(ours.nan_euclidean_distances(lazy, samples), expected)
    found = ours.pairwise_distances(lazy, samples, metric="nan_euclidean")
    np.testing.assert_allclose(found, expected)
    with pytest.raises(ValueError, match="contains NaN"):
        ours.pairwise_distances(mt.ones((2, 2)), samples)


SPARSE = [name for name in NAMES if not name.startswith(("haversine", "nan_"))]


@pytest.mark.parametrize("name", [*SPARSE, "haversine_distances"])
def test_sparse_rows(name):
    """They are compared as dense ones, beside dense ones too; scikit-learn's haversine is wrong."""
    samples, other = np.where(blobs(8, 2) > 0, blobs(8, 2), 0.0), np.where(OTHER > 0, OTHER, 0.0)
    sparse = mt.tensor(csr_array(samples), chunk_size=3)
    if name == "haversine_distances":
        with pytest.raises(TypeError, match="Sparse data was passed"):
            ours.haversine_distances(sparse)
        return
    for pair in ((), (other,), (csr_array(other),), (mt.tensor(csr_array(other), chunk_size=2),)):
        found = getattr(ours, name)(sparse, *pair).compute()
        expected = getattr(theirs, name)(samples, *([other] if pair else []))
        np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-7)
