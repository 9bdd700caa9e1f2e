"""Targets and classes in every form, and scikit-learn's errors for what is none."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import DataConversionWarning

import marsdask.dataframe as md
import marsdask.tensor as mt
from marsdask.core.collection import collect
from marsdask.learn.targets import as_classes, as_labels, as_targets, target_classes

ROWS = mt.ones((6, 2), chunk_size=4).node
TEXTS = ["b", "a", "c", "a", "b", "a"]


@pytest.mark.parametrize(
    ("labels", "given"),
    [
        ([3, 1, 3, 2, 1, 1], lambda y: y),
        ([3, 1, 3, 2, 1, 1], lambda y: mt.tensor(y, chunk_size=4)),
        ([1.0, 0.0, 1.0, 0.0, 0.0, 1.0], lambda y: mt.tensor(y, chunk_size=4)),
        ([True, False, True, True, False, True], lambda y: md.Series(pd.Series(y), chunk_size=4)),
        (TEXTS, lambda y: mt.tensor(np.array(y), chunk_size=2)),
        (TEXTS, lambda y: mt.tensor(np.array(y, object), chunk_size=2)),
        (TEXTS, lambda y: md.Series(pd.Series(y), chunk_size=4)),
        (TEXTS, lambda y: md.Series(pd.Series(y, dtype="category"), chunk_size=4)),
        ([3, 1, 3, 2, 1, 1], lambda y: md.Series(pd.Series(y, dtype="category"), chunk_size=4)),
        ([3, 1, 3, 2, 1, 1], lambda y: md.DataFrame({"y": y, "z": y}, chunk_size=4)["y"]),
    ],
)
def test_classes_are_those_of_numpy(labels, given):
    """Sorted, each once; positions lead back to the labels."""
    found = as_classes(given(labels), ROWS)
    expected, positions = np.unique(labels, return_inverse=True)
    assert found.labels.tolist() == expected.tolist()
    np.testing.assert_array_equal(collect(found.codes).compute(), positions)
    assert target_classes(given(labels)).tolist() == expected.tolist()
    assert as_labels(given(labels)).compute().tolist() == labels


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0.5, 1.5, 2.5, 0.1, 0.2, 0.3], "Unknown label type: continuous"),
        ([0.0, np.nan, 1.0, 0.0, 1.0, 1.0], "contains NaN"),
        ([0.0, np.inf, 1.0, 0.0, 1.0, 1.0], "infinity"),
        (["a", None, "b", "a", "a", "b"], "NaN"),
        ([1, 2, 1], r"inconsistent numbers of samples: \[6, 3\]"),
        ([[1, 2]] * 6, "1d array"),
    ],
)
def test_what_are_no_classes_is_refused(labels, message, lazy):
    """Numbers that are not whole, missing labels, other lengths: in scikit-learn's words."""
    given = np.array(labels, object) if None in labels else np.array(labels)
    with pytest.raises(ValueError, match=message):
        as_classes(mt.tensor(given, chunk_size=4) if lazy else given, ROWS)


def test_targets_are_numbers_of_one_axis_or_two():
    """A column is a vector, with scikit-learn's warning; several columns need to be wanted."""
    column = np.arange(6).reshape(6, 1)
    for given in (column, mt.tensor(column, chunk_size=4), md.DataFrame(column, chunk_size=4)):
        with pytest.warns(DataConversionWarning, match="column-vector y"):
            node = as_targets(given, ROWS)
        assert node.meta.dtype == np.float64
        np.testing.assert_array_equal(collect(node).compute(), np.arange(6.0))
        assert as_targets(given, ROWS, several=True).shape == (6, 1)
    with pytest.raises(ValueError, match=r"y should be a 1d array, got an array of shape \(6, 2\)"):
        as_targets(mt.ones((6, 2)), ROWS)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        as_targets(mt.ones(5), ROWS)


def test_missing_labels_of_frames_are_refused():
    """Texts, numbers and categories with gaps."""
    for labels in (["a", None], [1.0, np.nan], pd.Categorical(["a", None])):
        with pytest.raises(ValueError, match="NaN"):
            target_classes(md.Series(pd.Series(labels), chunk_size=1))
