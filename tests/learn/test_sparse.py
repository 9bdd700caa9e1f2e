"""Sums of sparse samples equal those of dense ones."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import marsdask.tensor as mt
from marsdask.learn.moments import products, squares
from marsdask.learn.sparse import column_moments, narrow, sparse_products, sparse_squares

SAMPLES = sp.random_array((40, 5), density=0.4, rng=np.random.default_rng(1), format="csr")


@pytest.mark.parametrize("weight", [None, np.random.default_rng(2).random(40)])
@pytest.mark.parametrize("missing", [False, True])
def test_moments_are_those_of_dense_samples(weight, missing):
    """Counts, means and squares, with weights and with nan among what is stored."""
    block = SAMPLES.copy()
    if missing:
        block.data[3] = np.nan
    found = sparse_squares(block, weight, allow_nan=True)
    for part, expected in zip(found, squares(block.toarray(), weight, allow_nan=True), strict=True):
        np.testing.assert_allclose(part, expected)
    tensor = mt.tensor(block, chunks=((0, 1, 39), (2, 3)))
    folded = column_moments(tensor.node, allow_nan=True)
    dense = column_moments(mt.tensor(block.toarray(), chunk_size=7).node, allow_nan=True)
    for part, expected in zip(folded, dense, strict=True):
        np.testing.assert_allclose(part, expected)


def test_digits_are_kept_far_from_zero():
    """Squares are of what is left of the mean."""
    block = sp.csr_array(1e8 + np.arange(4.0).reshape(4, 1))
    assert sparse_squares(block, allow_nan=False).products == [5.0]


def test_products_are_those_of_dense_samples():
    """About the mean, of integers too."""
    for block in (SAMPLES, (SAMPLES * 10).astype(int)):
        found, expected = sparse_products(block), products(block.toarray())
        assert found.count == expected.count
        np.testing.assert_allclose(found.products, expected.products, atol=1e-12)


@pytest.mark.parametrize("func", [sparse_products, lambda x: sparse_squares(x, allow_nan=False)])
def test_missing_values_are_refused(func):
    """In scikit-learn's words."""
    block = SAMPLES.copy()
    block.data[0] = np.nan
    with pytest.raises(ValueError, match=r"Input X contains NaN\."):
        func(block)


def test_indices_become_narrow():
    """Of 32 bits, and the same array if they are so already."""
    wide = SAMPLES.copy()
    wide.indices, wide.indptr = wide.indices.astype("i8"), wide.indptr.astype("i8")
    found = narrow(wide)
    assert found.indices.dtype == found.indptr.dtype == np.int32
    assert (found != wide).nnz == 0
    assert narrow(found) is found
