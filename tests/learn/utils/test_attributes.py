"""What Mars's estimators are written with."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import StandardScaler

import marsdask.dataframe as md
import marsdask.tensor as mt
from marsdask.learn.utils import (
    convert_to_tensor_or_dataframe,
    copy_learned_attributes,
    get_chunk_n_rows,
)


def test_anything_becomes_lazy():
    """Frames stay frames, and what is lazy stays itself."""
    frame = pd.DataFrame({"a": [1, 2]})
    for item, kind in ((frame, md.DataFrame), (frame["a"], md.Series), ([[1], [2]], mt.Tensor)):
        found = convert_to_tensor_or_dataframe(item)
        assert isinstance(found, kind)
        assert convert_to_tensor_or_dataframe(found) is found
        np.testing.assert_array_equal(np.asarray(found).ravel(), [1, 2])


def test_what_was_learnt_is_copied():
    """Parameters are not."""
    other = StandardScaler(with_std=False)
    copy_learned_attributes(StandardScaler().fit([[1.0], [3.0]]), other)
    assert (other.mean_, other.with_std) == ([2.0], False)


def test_rows_at_a_time():
    """At least one, with scikit-learn's warning if even that is too much."""
    assert get_chunk_n_rows(2**10, working_memory=1) == 1024
    assert get_chunk_n_rows(2**10, 100, 1) == 100
    with pytest.warns(UserWarning, match="Could not adhere to working_memory config"):
        assert get_chunk_n_rows(2**21, working_memory=1) == 1
