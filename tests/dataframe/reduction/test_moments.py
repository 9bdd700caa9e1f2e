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


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        *((name, dtype) for name in ("var", "std", "sem") for dtype in ("float16", "float32")),
        ("sem", "Float32"),  # pandas itself rounds the other two of Float32
    ],
)
def test_means_of_short_floats_are_not_rounded(name, dtype):
    """Values that are large and close keep their spread; it has pandas's type."""
    values = 2048 + 2 * np.arange(4) if dtype == "float16" else 1e8 + 8 * np.arange(4)
    series = pd.Series(values, dtype=dtype, name="a")
    frames = series.to_frame().assign(b=series), series.to_frame().assign(b=[1.5, 2, 3, 4])
    for eager in (*frames, frames[0].set_axis(["a", "a"], axis=1)):
        equal(getattr(md.DataFrame(eager, chunk_size=3), name)(), getattr(eager, name)())
    found, wanted = getattr(md.Series(series, chunk_size=3), name)().compute(), series.agg(name)
    assert type(found) is type(wanted)
    assert found == wanted


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
