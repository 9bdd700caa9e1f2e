"""Columns of numbered names become rows as pandas's do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import marsdask.dataframe as md
from tests.dataframe import one_mode
from tests.dataframe.tables import equal

_coalesce = one_mode.coalesce

#: The two libraries, whose stubs do not take arguments from tables.
LAZY: Any = md
EAGER: Any = pd

FRAME = pd.DataFrame(
    {
        "id": [3, 1, 2, 7, 5],
        "part": ["a", "b", "a", "b", "c"],
        "A1970": [1.5, np.nan, 2, 3, 4],
        "A1980": [5, 6, 7, 8, 9],
        "B1970": list("vwxyz"),
        "B1980": list("VWXYZ"),
        "X": [10, 20, 30, 40, 50],
        "A_one": range(5),
        "A_two": range(5, 10),
    }
)
YEARS = ["id", "part", "A1970", "A1980", "B1970", "B1980", "X"]

LONG: dict[str, Any] = {
    "one key": (YEARS, {"stubnames": ["A", "B"], "i": "id", "j": "year"}),
    "one stub": (YEARS[:4], {"stubnames": "A", "i": "id", "j": "year"}),
    "two keys": (YEARS, {"stubnames": ["A", "B"], "i": ["id", "part"], "j": "year"}),
    "a gap": (YEARS[:5], {"stubnames": ["A", "B"], "i": "id", "j": "year"}),
    "texts": (
        ["id", "A_one", "A_two"],
        {"stubnames": "A", "i": "id", "j": "n", "sep": "_", "suffix": r"\w+"},
    ),
}


@pytest.mark.parametrize("name", LONG)
def test_wide_to_long(name):
    """Of one key numbers come one after the other, of several all numbers of a row."""
    columns, how = LONG[name]
    for sizes in ((5,), (2, 0, 3), (1,) * 5):
        lazy = md.DataFrame(FRAME[columns], chunk_size=(sizes,))
        equal(LAZY.wide_to_long(lazy, **how), EAGER.wide_to_long(FRAME[columns], **how))
    some = FRAME[columns][FRAME.id > 2]
    found = md.DataFrame(FRAME[columns], chunk_size=2)
    equal(LAZY.wide_to_long(found[found.id > 2], **how), EAGER.wide_to_long(some, **how))


def test_wide_to_long_errors():
    """Keys of several rows, and stubs that are columns."""
    lazy: Any = md.DataFrame(FRAME[YEARS], chunk_size=2)
    with pytest.raises(ValueError, match="uniquely identify"):
        LAZY.wide_to_long(lazy, ["A", "B"], "part", "year")
    with pytest.raises(ValueError, match="stubname"):
        LAZY.wide_to_long(lazy, ["X"], "id", "year")


@pytest.mark.parametrize("dropna", [True, False])
def test_lreshape(dropna):
    """Groups of columns become one column each; rows that lack a value are dropped."""
    groups = {"A": ["A1970", "A1980"], "B": ["B1970", "B1980"]}
    lazy = md.DataFrame(FRAME[YEARS], chunk_size=2)
    equal(LAZY.lreshape(lazy, groups, dropna), EAGER.lreshape(FRAME[YEARS], groups, dropna))
    with pytest.raises(ValueError, match="same length"):
        LAZY.lreshape(lazy, {"A": ["A1970"], "B": ["B1970", "B1980"]})


@pytest.mark.parametrize("i", ["id", ["id", "n"]])
@pytest.mark.parametrize("values", [[1, 2], ["x", "y"], ["x", 2]], ids=str)
def test_objects_have_the_types_of_new_ones(i: Any, values: list[Any]) -> None:
    """A single key, and the joined values, become texts if all are."""
    frame = pd.DataFrame({"id": ["1", "2"], "a-1": values, "a-2": ["v", "w"], "o": ["x", None]})
    frame = frame.astype(object).assign(n=[1, 2])
    options: dict[str, Any] = {"stubnames": ["a"], "i": i, "j": "num", "sep": "-"}
    equal(
        md.wide_to_long(md.DataFrame(frame, chunk_size=1), **options),
        pd.wide_to_long(frame, **options),
    )
