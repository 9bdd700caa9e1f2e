"""What the learners of trees share."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import marsdask.dataframe as md
import marsdask.tensor as mt
from marsdask.learn.contrib.boosting import (
    beside,
    check_supported,
    in_memory,
    session_client,
    whole_samples,
)


def test_samples_of_any_form_in_whole_rows():
    """Tensors get one chunk of columns, frames stay frames; targets are cut alike."""
    values = np.arange(12.0).reshape(6, 2)
    for samples in (mt.tensor(values, chunk_size=(4, 1)), values, pd.DataFrame(values)):
        found = whole_samples(samples)
        np.testing.assert_array_equal(found, values)
        assert found.node.chunks[1:] in (((2,),), ())
    found = whole_samples(md.DataFrame(values, chunk_size=4))
    for target in (np.arange(6), md.Series(np.arange(6), chunk_size=1), mt.arange(6, chunk_size=2)):
        cut = beside(target, found)
        assert cut.chunks == ((4, 2),)
        np.testing.assert_array_equal(cut, np.arange(6))
    assert beside(None, found) is None


def test_arguments():
    """Lazy ones are computed, also in lists; unsupported ones are named."""
    found = in_memory([(mt.ones(2), np.zeros(1)), None])
    assert isinstance(found[0], tuple)
    assert isinstance(found[0][0], np.ndarray)
    check_supported("trees", {"a": None, "b": 1}, ["b"])
    with pytest.raises(NotImplementedError, match=r"b of trees are not .* compute\(\) them"):
        check_supported("trees", {"a": None, "b": 1})


def test_sessions_of_this_process_have_no_client():
    """So that the library learns here."""
    assert session_client() is None
