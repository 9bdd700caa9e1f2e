"""The summary as text equals pandas's."""

from __future__ import annotations

import io

import pandas as pd
import pytest

import marsdask.dataframe as md
from tests.dataframe.tables import table

FRAME = table(7).assign(c=pd.Categorical(list("abcabca")))


def summary(obj, **options):
    """Return the lines after the class, those of sizes in memory without the number."""
    text = io.StringIO()
    obj.info(buf=text, **options)
    lines = text.getvalue().splitlines()[1:]
    return [line.partition(":")[0] if line.startswith("memory") else line for line in lines]


#: Objects of a frame, with labels of many types.
OBJECTS = {
    "frame": lambda d: d,
    "no rows": lambda d: d[d.k > 50],
    "series": lambda d: d.f,
    "times": lambda d: d.set_index("t")[["u", "k"]],
    "texts": lambda d: d.set_index("s"),
    "levels": lambda d: d.set_index(["k", "b"]),
    "no columns": lambda d: d[[]],
}


@pytest.mark.parametrize("what", OBJECTS)
def test_summaries(what):
    """Of labels of many types, of columns, of one column and of none."""
    lazy, frame = OBJECTS[what](md.DataFrame(FRAME, chunk_size=3)), OBJECTS[what](FRAME)
    assert summary(lazy) == summary(frame)
    assert summary(lazy, show_counts=False, memory_usage=False) == summary(
        frame, show_counts=False, memory_usage=False
    )
    assert summary(lazy, memory_usage="deep") == summary(frame, memory_usage="deep")


def test_short_summaries():
    """Many columns are counted only."""
    lazy = md.DataFrame(FRAME, chunk_size=3)
    assert summary(lazy, verbose=False) == summary(FRAME, verbose=False)
    assert summary(lazy, max_cols=2) == summary(FRAME, max_cols=2)


def test_a_series_has_no_number_of_columns():
    """The argument of a frame's summary is an error."""
    with pytest.raises(ValueError, match="max_cols"):
        md.Series([1]).info(max_cols=1)
