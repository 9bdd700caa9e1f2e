"""Values that are not zero are counted as by scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from sklearn.utils import sparsefuncs as theirs

import marsdask.tensor as mt
from marsdask.learn.utils.sparsefuncs import count_nonzero

SAMPLES = np.array([[1, 0, 2], [0, 0, 3], [4, 5, 6], [0, 0, 0]])


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_counts(axis):
    """Of all, of columns and of rows; of samples with weights."""
    lazy = mt.tensor(SAMPLES, chunk_size=2)
    sparse = scipy.sparse.csr_matrix(SAMPLES)
    for weight in (None, np.array([1.0, 2.0, 0.5, 7.0])):
        found = count_nonzero(lazy, axis, weight)
        np.testing.assert_allclose(found, theirs.count_nonzero(sparse, axis, weight))
    with pytest.raises(ValueError, match=r"sample_weight\.shape"):
        count_nonzero(lazy, axis, np.ones(1))
