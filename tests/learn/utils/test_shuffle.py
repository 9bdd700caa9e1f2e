"""Samples are shuffled together."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn import utils as theirs

import marsdask.dataframe as md
import marsdask.tensor as mt
from marsdask.learn.base import is_lazy
from marsdask.learn.utils import shuffle
from tests.learn.samples import every_form, in_form, value

SAMPLES = np.arange(40.0).reshape(20, 2)


@every_form
def test_rows_are_in_the_order_of_scikit_learn(form):
    """For the same seed, whatever the samples are; lazy ones stay lazy."""
    samples = in_form(SAMPLES, form)
    found, labels = shuffle(samples, np.arange(20), random_state=3, n_samples=15)
    expected, their_labels = theirs.shuffle(SAMPLES, np.arange(20), random_state=3, n_samples=15)
    assert is_lazy(found) == (form not in ("array", "frame"))
    np.testing.assert_array_equal(value(found), expected)
    np.testing.assert_array_equal(labels, their_labels)


def test_other_axes():
    """Each is shuffled in the same way for all that have it."""
    frame = md.DataFrame(pd.DataFrame(SAMPLES[:6].reshape(3, 4)), chunk_size=2)
    found, others, labels = shuffle(
        frame, mt.tensor(frame, chunk_size=2), mt.arange(3), random_state=0, axes=(0, 1)
    )
    values = found.compute().to_numpy()
    np.testing.assert_array_equal(values, others)
    assert sorted(values.ravel()) == sorted(SAMPLES[:6].ravel())
    np.testing.assert_array_equal(labels.compute(), (values.max(axis=1) // 4).astype(int))
    with pytest.raises(ValueError, match="inconsistent lengths along axis 1"):
        shuffle(mt.ones((2, 2)), mt.ones((2, 3)), axes=1)
    with pytest.raises(NotImplementedError, match="n_samples"):
        shuffle(mt.ones((2, 2)), axes=1, n_samples=1)
