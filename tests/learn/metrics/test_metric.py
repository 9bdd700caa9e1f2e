"""Metrics are scikit-learn's functions with two more arguments."""

from __future__ import annotations

import inspect

import dask.array
import numpy as np
import pytest
from sklearn import metrics as theirs

from marsdask.learn import metrics as ours
from tests.learn.metrics.cases import CLASSES, GUESSES, NEAR, NUMBERS


def test_signatures_and_documents_are_theirs():
    """The arguments of scikit-learn, then ``session`` and ``run_kwargs``."""
    mine, other = map(inspect.signature, (ours.f1_score, theirs.f1_score))
    assert list(mine.parameters)[:-2] == list(other.parameters)
    assert list(mine.parameters)[-2:] == ["session", "run_kwargs"]
    assert ours.f1_score.__doc__ is not None
    assert "See sklearn.metrics.f1_score" in ours.f1_score.__doc__
    with pytest.raises(TypeError, match="unexpected keyword"):
        ours.f1_score(CLASSES, GUESSES, weight=1)


def test_values_in_memory_are_measured_by_scikit_learn():
    """The results answer as executed tensors do, too."""
    found = ours.confusion_matrix(CLASSES, GUESSES)
    np.testing.assert_array_equal(found.fetch(), theirs.confusion_matrix(CLASSES, GUESSES))
    assert isinstance(ours.accuracy_score(CLASSES, GUESSES).execute(), float)


def test_arrays_of_dask_are_lazy():
    """They are taken as tensors of the same chunks."""
    lazy = dask.array.from_array(NUMBERS, chunks=15)
    assert ours.r2_score(lazy, NEAR) == pytest.approx(theirs.r2_score(NUMBERS, NEAR))
