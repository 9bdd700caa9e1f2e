"""Moments merged from chunks are as exact as those of all rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import marsdask.dataframe as md
from tests.dataframe.tables import equal


def test_equal_values_and_large_ones():
    """Equal values have no skewness to the last digit, and a large mean hides no variance."""
    frame = pd.DataFrame({"a": [0.1] * 7, "b": 1e8 + np.arange(7) ** 2 / 8, "c": 1e8 + np.ones(7)})
    for step in (1, 2, 7):
        lazy = md.DataFrame(frame, chunk_size=step)
        for call in (
            lambda d: d.skew(),
            lambda d: d.kurt(),
            lambda d: d.cov(),
            lambda d: d[["b"]].corr(),
        ):
            equal(call(lazy), call(frame))


@pytest.mark.parametrize("name", ["skew", "kurt", "mean", "var"])
def test_objects_that_are_no_numbers(name):
    """Texts are no numbers, also if they look like some; numbers in objects are."""
    cases: list[Any] = [["1", "2", "3", "4"], [1.0, "2", 3.0, 4.0], [b"1", b"2", b"3", b"4"]]
    for values in cases:
        lazy: Any = md.Series(values, dtype=object, chunk_size=2)
        with pytest.raises(TypeError):
            getattr(lazy, name)().compute()
    numbers: Any = pd.Series([1, 2.5, None, 3, 7], dtype=object)
    lazy = md.Series(numbers, chunk_size=2)
    assert np.isclose(getattr(lazy, name)().compute(), getattr(numbers, name)())
