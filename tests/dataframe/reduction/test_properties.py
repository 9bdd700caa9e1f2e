"""What holds of all values equals pandas's, and so do sizes in memory."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from hypothesis import given

import marsdask.dataframe as md
from tests.dataframe.tables import equal, filtered, tables
from tests.strategies import draws

NAMES = ["is_unique", "hasnans", "is_monotonic_increasing", "is_monotonic_decreasing"]


@draws(6)
@given(both=tables())
def test_properties(both):
    """Of values, sorted ones and ones that a filter left."""
    frame, lazy = both
    for d, e in ((frame, lazy), (filtered(frame), filtered(lazy))):
        for name in NAMES:
            assert getattr(e.f, name).compute() == getattr(d.f, name)
        assert bool(e.u.is_unique) == d.u.is_unique
        assert bool(e.t.sort_values().is_monotonic_increasing)
        assert bool(e.u.sort_values(ascending=False).is_monotonic_decreasing)


@pytest.mark.parametrize("size", [1, 2, 5])
@pytest.mark.parametrize("dtype", ["object", "Int64", "str", "M8[us]"])
def test_values_without_order(dtype, size):
    """Neither missing values nor numbers beside texts rise or fall."""
    columns: dict[str, list[Any]] = {
        "object": [[None, "a"], ["a", 1, 2], [1, None], [pd.NA, 1], ["a", "b"], [2.5, 1]],
        "Int64": [[None, 1], [1, None, 2], [1, 2, 2]],
        "str": [[None, "a"], ["a", None], ["b", "a"]],
        "M8[us]": [[None, "2020"], ["2020", "2021"]],
    }
    for values in columns[dtype]:
        rows = pd.Series(values, dtype=dtype)
        for name in NAMES[2:]:
            assert getattr(md.Series(rows, chunk_size=size), name).compute() == getattr(rows, name)


@draws(6)
@given(both=tables())
def test_bytes(both):
    """Of columns and labels, which are those of one chunk."""
    frame, lazy = (side[["k", "f", "b", "t"]] for side in both)
    if isinstance(frame.index, pd.RangeIndex):
        for index in (True, False):
            equal(lazy.memory_usage(index), frame.memory_usage(index))
            equal(lazy.f.memory_usage(index), frame.f.memory_usage(index))


def test_categories_are_refused():
    """Their order may differ between chunks."""
    with pytest.raises(NotImplementedError, match="codes"):
        _ = md.Series(pd.Series(["a"], dtype=pd.CategoricalDtype(["a"]))).is_monotonic_increasing
