"""Lists in cells become the rows that pandas makes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import marsdask.dataframe as md
from tests.dataframe.tables import equal

LISTS = pd.DataFrame(
    {"a": [[1, 2], [], None, [3]], "b": [[0.5, 1], [], None, [2.5]], "c": range(4)},
    index=[5, 6, 6, 7],
)


@pytest.mark.parametrize("ignore_index", [False, True])
@pytest.mark.parametrize("sizes", [(4,), (1, 0, 2, 1)])
def test_lists_become_rows(sizes, ignore_index):
    """Of one column, of several that belong together, and of what holds none."""
    lazy: Any = md.DataFrame(LISTS, chunk_size=(sizes,))
    for column in ("a", ["a", "b"], "c"):
        equal(lazy.explode(column, ignore_index), LISTS.explode(column, ignore_index))
    equal(lazy[lazy.c > 0].a.explode(ignore_index), LISTS[LISTS.c > 0].a.explode(ignore_index))
    equal(lazy.explode("a")[["c"]], LISTS.explode("a")[["c"]])


@pytest.mark.parametrize("column", ["a", ["a", "b"], ["b", "a"]])
@pytest.mark.parametrize("size", [1, 2, 3, 6])
def test_lists_of_arrow(column: Any, size: int) -> None:
    """The last list of a chunk becomes its rows once, however long it is."""
    lists = [[1, 2], [], None, [3, 4, 5], [6], [7, 8]]
    dtype: Any = pd.ArrowDtype(pa.list_(pa.int64()))
    frame = pd.DataFrame(
        {
            "a": pd.array(lists, dtype=dtype),
            "b": [[*"xy"], [], None, [*"abc"], ["d"], [*"ef"]],
            "c": pd.array([1, 2, None, 4, 5, 6], dtype="Int64"),
        }
    )
    lazy: Any = md.DataFrame(frame, chunk_size=size)
    equal(lazy.explode(column), frame.explode(column))
    equal(lazy.a.explode(), frame.a.explode())


def test_what_cannot_be_exploded():
    """Columns that are not there raise at the call, lists of other lengths where they are met."""
    others: Any = [[1]] * 4
    lazy: Any = md.DataFrame(LISTS.assign(d=others), chunk_size=2)
    with pytest.raises(KeyError):
        lazy.explode("nope")
    with pytest.raises(ValueError, match="matching element counts"):
        lazy.explode(["a", "d"]).compute()


def test_rows_repeat():
    """As often as asked for, one after the other."""
    column = pd.Series([3, 1, 2], index=list("aba"), name="x")
    lazy: Any = md.Series(column, chunk_size=2)
    for count in (0, 1, 3):
        equal(lazy.repeat(count), column.repeat(count))
    equal(lazy.transpose(), column)
    with pytest.raises(ValueError, match="negative"):
        lazy.repeat(-1)
    with pytest.raises(NotImplementedError, match="explode"):
        lazy.repeat([1, 2, 3])


def test_columns_beside_lists():
    """They keep their types, also in a chunk that has only gaps of them."""
    frame = pd.DataFrame({"f": [1.0, np.nan, 2.0], "lists": [[1, "a"], [2], [None]]})
    found = md.DataFrame(frame, chunk_size=1).explode("lists")
    equal(found, frame.explode("lists"))
    types = found.f.map_partitions(lambda rows: pd.Series([str(rows.dtype)]), meta=("f", "str"))
    assert set(types.compute()) == {"float64"}
