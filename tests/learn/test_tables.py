"""Samples of any type: their values are counted column by column."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

import marsdask.dataframe as md
import marsdask.tensor as mt
from marsdask.learn.impute import SimpleImputer
from marsdask.learn.preprocessing import OneHotEncoder
from marsdask.learn.tables import as_frame, counts, merge_counts, of_values, value_counts

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


def test_categories_that_do_not_occur_are_no_values():
    """Neither are they found by encoders, nor does their order matter."""
    column = pd.Categorical(["b", "a", None], categories=["z", "b", "a"])
    frame = pd.DataFrame({"a": column})
    (found,) = value_counts(md.DataFrame(frame, chunk_size=1).node)
    assert found.index.dtype == object
    assert found.to_dict() == {"b": 1, "a": 1, np.nan: 1}
    whole = frame[:2]
    encoder = OneHotEncoder().fit(md.DataFrame(whole, chunk_size=1))
    assert [list(column) for column in encoder.categories_] == [["a", "b"]]
    imputer = SimpleImputer(strategy="most_frequent").fit(md.DataFrame(whole, chunk_size=1))
    assert imputer.statistics_.tolist() == ["a"]


def test_frames_of_tensors_are_labelled():
    """As the samples are, whose chunks may be others; sparse ones are refused."""
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0]}, index=pd.Index([7, 5, 9], name="i"))
    lazy = md.DataFrame(frame, chunk_size=2)
    found = as_frame(mt.tensor([[1, 2], [3, 4], [5, 6]], chunk_size=1), lazy, ["x", "y"])
    expected = pd.DataFrame([[1, 2], [3, 4], [5, 6]], frame.index, ["x", "y"])
    pd.testing.assert_frame_equal(found.compute(), expected)
    pd.testing.assert_frame_equal(found[["y"]].compute(), expected[["y"]])
    with pytest.raises(ValueError, match="Pandas output does not support sparse data"):
        OneHotEncoder().set_output(transform="pandas").fit_transform(lazy)
