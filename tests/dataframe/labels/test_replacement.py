"""Tests of values in the places of a condition."""

from __future__ import annotations

from typing import Any
from typing import cast as typed

import numpy as np
import pandas as pd
import pytest

import marsdask.dataframe as md
from marsdask.core.config import option_context
from tests.dataframe.tables import equal

COLUMN = pd.Series([1.0, 2, 3, 4.5], index=[3, 1, 2, 0], name="a")
CONDITIONS: dict[str, Any] = {
    "list": [True, False, True, False],
    "array": np.array([True, False, True, False]),
    "function": lambda column: column > 2,
}


@pytest.mark.parametrize("other", [[9, 8], (9, 8), np.array([9.5, 8])], ids=["list", "tuple", "a"])
@pytest.mark.parametrize("kind", CONDITIONS)
@pytest.mark.parametrize("method", ["where", "mask"])
def test_a_list_in_place_has_a_value_for_each_place(method: str, kind: str, other: Any) -> None:
    """A list in place has a value for each place."""
    whole = COLUMN.copy()
    getattr(whole, method)(CONDITIONS[kind], other, inplace=True)
    with option_context({"coalesce": False}):
        lazy = md.from_pandas(COLUMN, chunk_size=1)
        getattr(lazy, method)(CONDITIONS[kind], other, inplace=True)
        equal(lazy, whole)


def test_places_of_a_lazy_condition_may_be_unknown() -> None:
    """Places of a lazy condition may be unknown."""
    rows, whole = md.from_pandas(COLUMN, chunk_size=2), typed("Any", COLUMN.copy())
    whole.mask(whole > 2, [7, 6], inplace=True)
    unknown: Any = rows[rows > 0]
    unknown.mask(unknown > 2, [7, 6], inplace=True)
    equal(unknown, whole)


def test_other_numbers_of_values_are_refused() -> None:
    """Other numbers of values are refused."""
    lazy = md.from_pandas(COLUMN, chunk_size=2)
    lazy.mask(lazy > 2, [7, 6, 5], inplace=True)
    with pytest.raises(ValueError, match="cannot assign mismatch length to masked array"):
        lazy.compute()
