"""Rows at a list of positions, and samples, are pandas's."""

from __future__ import annotations

from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given

import marsdask.dataframe as md
from marsdask.dataframe.labels import by_position
from tests.dataframe.tables import equal, filtered, table, tables
from tests.strategies import draws

CASES: dict[str, Any] = {
    "list": lambda d: d.iloc[[0, len(d) // 2, -1, 0]],
    "array": lambda d: d.u.iloc[np.array([0])],
    "flags": lambda d: d.iloc[[i % 2 == 0 for i in range(len(d))]],
    "none": lambda d: d.iloc[[]],
    "columns": lambda d: d.iloc[[0], [0, 2]],
    "take": lambda d: d.u.take([-1, 0]),
    "take columns": lambda d: d.take([1, 0], axis=1),
    "sample": lambda d: d.sample(1, random_state=1),
    "half": lambda d: d.sample(frac=0.5, random_state=1),
    "repeated": lambda d: d.k.sample(9, replace=True, random_state=2, ignore_index=True),
}


@draws(4)
@given(both=tables(min_rows=1))
def test_rows_by_position(both):
    """In the order of the positions, also of rows whose number only running tells."""
    for name, operation in CASES.items():
        for frame, lazy in (both, map(filtered, both)):
            if len(frame) and (name != "flags" or len(frame) == len(both[0])):
                equal(operation(lazy), operation(frame))


def test_positions_that_are_nowhere():
    """Are an IndexError: at the call, or when the number of rows is computed."""
    lazy = md.DataFrame(table(5), chunk_size=2)
    with pytest.raises(IndexError, match="out-of-bounds"):
        lazy.take([5])
    with pytest.raises(IndexError, match="out-of-bounds"):
        filtered(lazy).iloc[[99]].compute()
    many = mock.patch.object(by_position, "MOST_SHUFFLED", 4)
    with many, pytest.raises(NotImplementedError, match="weights"):
        lazy.sample(1, weights=[1] * 5)
    with mock.patch.object(by_position, "LARGEST", 8), pytest.raises(NotImplementedError):
        lazy.take([0, 1])
