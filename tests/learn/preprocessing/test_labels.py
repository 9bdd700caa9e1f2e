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
