"""Columns of any type become arrays."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn import metrics as theirs

import marsdask.dataframe as md
import marsdask.tensor as mt
from marsdask.learn.metrics import accuracy_score, multilabel_confusion_matrix
from marsdask.learn.metrics.operands import as_operand, consistent


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (pd.Series([1, 2]), "i"),
        (pd.Series([1.5, None]), "f"),
        (pd.Series([1, None], dtype="Int64"), "f"),
        (pd.Series(["a", "b"]), "O"),
        (pd.Series(["a", "b"], dtype="category"), "O"),
        (pd.DataFrame({"a": [1], "b": [2.5]}), "f"),
    ],
)
def test_columns_of_frames_have_a_type_of_numpy(column, kind):
    """Numbers stay numbers, others are objects."""
    lazy = md.DataFrame(column) if column.ndim == 2 else md.Series(column)
    assert as_operand(lazy).meta.dtype.kind == kind


def test_lengths_are_compared():
    """Those that are known, at the call; a number is no column."""
    with pytest.raises(ValueError, match=r"\[2, 3\]"):
        consistent([as_operand(mt.ones(2)), as_operand([1, 2, 3])])
    with pytest.raises(TypeError, match="scalar"):
        consistent([as_operand(1.0)])


@pytest.mark.parametrize("lazy", [True, False])
def test_sparse_indicators_are_dense(lazy):
    """Columns of zeros and ones may be sparse, in memory or lazy, beside tensors."""
    sparse = csr_array(np.eye(3, dtype=int))
    column = mt.tensor(sparse, chunk_size=2) if lazy else sparse
    found = multilabel_confusion_matrix(mt.ones((3, 3), dtype=int, chunk_size=2), column)
    expected = theirs.multilabel_confusion_matrix(np.ones((3, 3), int), sparse.toarray())
    np.testing.assert_array_equal(found, expected)


def test_weights_are_one_column():
    """Several are refused in scikit-learn's words, at the call."""
    labels = mt.tensor([0, 1, 1], chunk_size=2)
    with pytest.raises(ValueError, match="Sample weights must be 1D array or scalar, got 2D"):
        accuracy_score(labels, labels, sample_weight=np.ones((3, 2)))
