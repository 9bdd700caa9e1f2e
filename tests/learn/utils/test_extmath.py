"""Functions of rows equal scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.utils import extmath as theirs

import marsdask.tensor as mt
from marsdask.learn.utils import extmath

SAMPLES = np.random.default_rng(0).normal(size=(7, 3))


@pytest.mark.parametrize("chunks", [7, 2, ((0, 3, 4), (1, 2))])
def test_norms_and_shares(chunks):
    """Whatever the chunks, sparse or not."""
    lazy = mt.tensor(SAMPLES, chunks=chunks)
    for squared in (False, True):
        expected = theirs.row_norms(SAMPLES, squared)
        np.testing.assert_allclose(extmath.row_norms(lazy, squared), expected)
        np.testing.assert_allclose(extmath.row_norms(lazy.tosparse(), squared), expected)
        np.testing.assert_allclose(extmath.row_norms(SAMPLES, squared), expected)
    np.testing.assert_allclose(extmath.softmax(lazy), theirs.softmax(SAMPLES))
    np.testing.assert_allclose(extmath.softmax(SAMPLES), theirs.softmax(SAMPLES))
