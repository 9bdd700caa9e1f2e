"""Samples of any type: their values are counted column by column."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd

import marsdask.dataframe as md
from marsdask.learn.tables import counts, merge_counts, of_values, value_counts

FRAME = pd.DataFrame({"a": ["x", "y", "x", None], "b": [1, 2, 2, 2]})


def test_counts_combine():
    """Missing values count too; counts of runs are those of the whole."""
    first, *rest = [counts(FRAME[a:b]) for a, b in itertools.pairwise([0, 0, 1, 4])]
    for part in rest:
        first = merge_counts(first, part)
    assert first[0].to_dict() == {"x": 2, "y": 1, np.nan: 1} or first[0].sum() == 4
    assert first[1].to_dict() == {1: 1, 2: 3}
    lazy = value_counts(md.DataFrame(FRAME, chunk_size=2).node)
    assert lazy[1].to_dict() == {1: 1, 2: 3}


def test_values_become_samples():
    """Short columns are repeated; the types are those of the lazy samples."""
    made = of_values(md.DataFrame(FRAME, chunk_size=2), [["x"], [1, 2]])
    assert made.to_dict("list") == {"a": ["x", "x"], "b": [1, 2]}
    assert (made.dtypes == FRAME.dtypes).all()
