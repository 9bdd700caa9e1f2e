"""Labels are encoded as by scikit-learn, whatever the chunks."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn import preprocessing as theirs

import marsdask.dataframe as md
import marsdask.tensor as mt
from marsdask.learn import preprocessing as ours

NAMES = np.array(["b", "a", "c", "a", "b"] * 4, object)
LABELS = [
    (md.Series(pd.Series(NAMES), chunk_size=7), NAMES),
    (mt.tensor([0, 1, 1, 0, 1], chunk_size=2), np.array([0, 1, 1, 0, 1])),
    (mt.tensor([3, 1, 2, 3], chunk_size=3), np.array([3, 1, 2, 3])),
]
each_kind = pytest.mark.parametrize(("lazy", "labels"), LABELS, ids=["texts", "two", "three"])


@each_kind
@pytest.mark.parametrize("name", ["LabelEncoder", "LabelBinarizer"])
def test_labels_there_and_back(name, lazy, labels):
    """Classes, codes and their types; what is encoded is decoded lazily."""
    mine, other = getattr(ours, name)(), getattr(theirs, name)()
    found, expected = mine.fit_transform(lazy), other.fit_transform(labels)
    np.testing.assert_array_equal(mine.classes_, other.classes_)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found.compute(), expected)
    np.testing.assert_array_equal(mine.inverse_transform(found).compute(), labels)


def test_columns_may_be_sparse():
    """Blocks of the result are sparse; classes may be more than occur."""
    found = ours.LabelBinarizer(sparse_output=True).fit_transform(LABELS[0][0])
    expected = theirs.LabelBinarizer().fit_transform(NAMES)
    np.testing.assert_array_equal(found.compute().toarray(), expected)
    found = ours.label_binarize(LABELS[1][0], classes=[0, 1, 2], neg_label=-1)
    expected = theirs.label_binarize(LABELS[1][1], classes=[0, 1, 2], neg_label=-1)
    np.testing.assert_array_equal(found.compute(), expected)


def test_unseen_labels_are_refused():
    """In scikit-learn's words, once they are seen."""
    encoder = ours.LabelEncoder().fit(LABELS[0][0])
    with pytest.raises(ValueError, match="y contains previously unseen labels: 'q'"):
        encoder.transform(md.Series(pd.Series(["a", "q"]))).compute()


@pytest.mark.parametrize(
    "labels",
    [
        pd.Series([1, 2, 3, 1], dtype="Int64"),
        pd.Series([True, False, True, True], dtype="boolean"),
        pd.Series(pd.Categorical([3, 1, 2, 1])),
    ],
    ids=str,
)
def test_labels_of_pandas_own_types(labels):
    """Nullable ones, and categories of numbers."""
    lazy = md.Series(labels, chunk_size=3)
    found = ours.LabelBinarizer().fit_transform(lazy).compute()
    np.testing.assert_array_equal(found, theirs.LabelBinarizer().fit_transform(labels))


@pytest.mark.parametrize("make", [mt.tensor, md.Series])
@pytest.mark.parametrize("labels", [[1.5, 2.5, 1.5], [1.5, np.nan, 0.5, np.nan]])
def test_an_encoder_takes_any_values(make, labels):
    """Numbers that are no classes, and missing ones: all nan are one label."""
    labels = np.array(labels)
    mine, other = ours.LabelEncoder(), theirs.LabelEncoder()
    found = mine.fit_transform(make(labels, chunk_size=1)).compute()
    np.testing.assert_array_equal(found, other.fit_transform(labels))
    np.testing.assert_array_equal(mine.classes_, other.classes_)


@pytest.mark.parametrize("labels", [[0, 1, 2, 0], [0, 1, 1, 0], [0, 0]])
@pytest.mark.parametrize("classes", [[0], [0, 1], [1, 0], [2, 0, 1]])
def test_labels_besides_the_classes(labels, classes):
    """They decide whether there is a column for each of two classes."""
    found = ours.label_binarize(mt.tensor(labels, chunk_size=2), classes=classes)
    expected = theirs.label_binarize(labels, classes=classes)
    assert found.shape == expected.shape
    np.testing.assert_array_equal(found, expected)


def test_a_binarizer_looks_at_no_labels():
    """Those besides its two classes are refused when they are computed."""
    model = ours.LabelBinarizer().fit(mt.tensor([0, 1]))
    found = model.transform(mt.tensor([0, 2], chunk_size=1))
    with pytest.raises(NotImplementedError, match="use label_binarize"):
        found.compute()
