"""Moments merged from chunks are as exact as those of all rows."""

from __future__ import annotations

import numpy as np
import pandas as pd

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
