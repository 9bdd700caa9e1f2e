"""Lazy samples are refused for what they hold, in scikit-learn's words."""

from __future__ import annotations

import numpy as np
import pytest

import marsdask.dataframe as md
import marsdask.tensor as mt
from marsdask.learn.utils import assert_all_finite
from marsdask.learn.utils.checks import check_non_negative_then_return_value
from marsdask.learn.utils.validation import check_non_negative


@pytest.mark.parametrize(
    ("bad", "words"), [(np.nan, "Input contains NaN"), (np.inf, "contains infinity")]
)
def test_values_that_are_not_finite(bad, words):
    """Of tensors and of frames, in a chunk after empty ones; missing ones may be allowed."""
    samples = np.array([[1.0, 2.0], [3.0, bad]])
    tensor = mt.tensor(samples, chunks=((1, 0, 1), (2,)))
    for lazy in (tensor, md.DataFrame(samples, chunk_size=1)):
        with pytest.raises(ValueError, match=words):
            assert_all_finite(lazy)
    if np.isnan(bad):
        assert_all_finite(tensor, allow_nan=True)
    later = assert_all_finite(tensor, check_only=False)
    with pytest.raises(ValueError, match=words):
        later.compute()
    assert_all_finite(tensor[:1])
    np.testing.assert_array_equal(assert_all_finite(tensor[:1], check_only=False), samples[:1])
    assert_all_finite([1.0])


def test_negative_values():
    """At once, or when the values that depend on them are computed."""
    good, bad = mt.tensor([0.0, 1.0], chunk_size=1), mt.tensor([0.0, -1.0], chunk_size=1)
    check_non_negative(good, "a model")
    for item in (bad, [-1.0]):
        with pytest.raises(ValueError, match="Negative values in data passed to a model"):
            check_non_negative(np.asarray(item) if isinstance(item, list) else item, "a model")
    later = check_non_negative_then_return_value(bad, mt.arange(2), "a model")
    with pytest.raises(ValueError, match="Negative values"):
        later.compute()
