"""Columns of any type become arrays."""

from __future__ import annotations

import pandas as pd
import pytest

import marsdask.dataframe as md
import marsdask.tensor as mt
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
