"""Assignment binds the object to what pandas's has after it; others keep their values."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest

import marsdask.dataframe as md
from marsdask.core.config import option_context
from tests.dataframe.tables import equal, filtered, same, table
from tests.strategies import HISTORIES

COLUMNS = ["k", "f", "s", "u"]


def _set(name: str, *key: Any) -> Callable[[Any, Any], None]:
    """Return a call that assigns by an indexer."""

    def call(rows: Any, value: Any) -> None:
        getattr(rows, name)[key[0] if len(key) == 1 else key] = value

    return call


def _set_masked(rows: Any, value: Any) -> None:
    rows.loc[rows.u > 3, "f"] = value


def _set_callable(rows: Any, value: Any) -> None:
    rows.loc[lambda x: x.k < 0, ["k", "u"]] = value


def _set_rows(rows: Any, value: Any) -> None:
    numbers = rows[["k", "f"]]
    numbers[numbers.f.isna()] = value
    rows[["k", "f"]] = numbers


def _set_cells(rows: Any, value: Any) -> None:
    numbers = rows[["k", "u"]]
    numbers[numbers > 2] = value
    rows[["k", "u"]] = numbers


def _set_own(rows: Any, value: Any) -> None:
    rows.loc[rows.u > 3, "k"] = rows.u + value
    rows[["k", "f"]] = rows[["u", "f"]]


MASK = np.arange(9) % 2 == 0
#: Assignments to a frame of 9 rows, and values.
FRAMES: dict[str, tuple[Callable[[Any, Any], None], Any]] = {
    "rows of a mask": (_set_masked, 7.5),
    "rows of a function": (_set_callable, -1),
    "a value a column": (_set_callable, [5, 6]),
    "all columns": (_set_rows, 0),
    "cells": (_set_cells, 9),
    "lazy values": (_set_own, 1),
    "a label": (_set("loc", 4, "s"), "new"),
    "labels": (_set("loc", [0, 8], ["f", "u"]), 3),
    "labels between": (_set("loc", slice(2, 5), "f"), 1.0),
    "a mask in memory": (_set("loc", list(MASK), "u"), 1),
    "values for a mask": (_set("loc", MASK, "u"), list(range(5))),
    "a range for a mask": (_set("loc", MASK, "u"), range(5)),
    "a whole column": (_set("loc", slice(None), "f"), np.arange(9.0)),
    "a new column": (_set("loc", slice(None), "new"), 1),
    "one value": (_set("at", 3, "f"), 0.25),
    "one value by position": (_set("iat", 3, 1), 0.25),
    "a row by position": (_set("iloc", -1, slice(0, 2)), 0),
    "rows by position": (_set("iloc", slice(1, 7, 2), 3), [7, 8, 9]),
    "a list by position": (_set("iloc", [5, 2], [0, 3]), np.array([[1, 2], [3, 4]])),
    "a mask by position": (_set("iloc", MASK, 0), 5),
}


@pytest.mark.parametrize("name", FRAMES)
def test_frames(name):
    """In any chunks; what was selected before keeps its values."""
    call, value = FRAMES[name]
    for sizes in ((9,), (2, 0, 3, 4)):
        frame = table(9)[COLUMNS]
        lazy = md.DataFrame(frame, chunk_size=(sizes,))
        before, same = lazy["f"], lazy.copy()
        call(lazy, value)
        equal(before, frame.f)
        equal(same, frame)
        call(frame, value)
        equal(lazy, frame)


def test_columns_of_rows():
    """Series take masks, labels, positions and all rows."""
    for key, value in (
        (("loc", [2, 3]), 1.5),
        (("loc", MASK), 2),
        (("iloc", slice(-3, None)), [1, 2, 3]),
        (("iloc", slice(None)), 4),
        (("at", 5), 0),
        (("iat", 5), 0),
    ):
        column = table(9).f
        lazy = md.Series(column, chunk_size=4)
        for one in (column, lazy):
            getattr(one, key[0])[key[1]] = value
        equal(lazy, column)
    column = table(9).f
    lazy = md.Series(column, chunk_size=4)
    both: Any = (column, lazy)
    for one in both:
        one[one > 1] = 0
        one[list(MASK)] = 3
        one[7] = 5
        one[one.isna()] = one * 0 + 1
    equal(lazy, column)


@pytest.mark.parametrize("name", ["executed", "persisted", "adopted"])
def test_history(name):
    """What happened to the rows before changes nothing; nor does their number, known or not."""
    frame = table(9)[COLUMNS]
    lazy = HISTORIES[name](md.DataFrame(frame, chunk_size=2))
    few, rows = filtered(lazy), filtered(frame).copy()
    for one in (few, rows):
        one.loc[one.f > 1, "k"] = 9
        one.iloc[0, 1] = 4.0
        one[["k", "f"]] = 0
    equal(few, rows)
    equal(lazy, frame)


def test_refusals():
    """What is not there says so, and what pandas refuses is refused."""
    lazy: Any = md.DataFrame(table(5), chunk_size=2)
    for call, value in (
        (_set("loc", 99, "k"), 1),
        (_set("loc", MASK[:5], "new"), 1),
        (_set("loc", [1, 2], "k"), [1, 2]),
        (_set("loc", slice(None), "k"), pd.Series([1] * 5)),
        (_set("loc", 1, ["k", "new"]), 1),
    ):
        with pytest.raises(NotImplementedError):
            call(lazy, value)
    days = lazy.set_index("t")
    levels = lazy.set_index(["k", "u"])
    for one, key in ((days, "1970-01-02"), (levels, [1])):
        with pytest.raises(NotImplementedError):
            one.loc[key, "f"] = 1
    with pytest.raises(KeyError):
        lazy.loc[[1, 99], "k"] = 1
    with pytest.raises(IndexError):
        lazy.iloc[7, 0] = 1
    with pytest.raises(ValueError, match="length"):
        lazy.iloc[:2, 0] = [1, 2, 3]
    with pytest.raises(ValueError, match="length"):
        lazy[["k", "u"]] = [1, 2, 3]
    with pytest.raises(pd.errors.InvalidIndexError, match="scalar"):
        lazy.at[[1], "k"] = 1
    lazy.loc[lazy.k > -9, "k"] = "text"
    with pytest.raises(TypeError, match="Invalid value"):
        lazy.compute()


#: What frames are assigned to, of columns in another order, and of other ones.
PLACES: dict[str, Callable[[Any], Any]] = {
    "all rows": lambda _: slice(None),
    "a mask": lambda d: d.k > 0,
    "labels": lambda _: slice(2, 5),
}


@pytest.mark.parametrize("rows", PLACES)
@pytest.mark.parametrize("own", [["u", "f"], ["f"], ["u", "k", "f"], ["s", "f"]])
@pytest.mark.parametrize("columns", [["f", "u"], "f", slice("f", "s")])
def test_columns_of_frames_are_aligned(rows, own, columns):
    """By label, and values of columns that are not there are missing; by position for iloc."""
    whole = table(9).astype({"u": float})
    results: list[Any] = [whole.copy(), md.DataFrame(whole, chunk_size=4)]
    for frame in results:
        frame.loc[PLACES[rows](frame), columns] = frame[own]
        frame.iloc[:, [0, 2]] = frame[["k", "s"]]
    equal(results[1], results[0])


def test_columns_of_one_label_are_ambiguous():
    """An error for pandas too."""
    both: list[Any] = [table(5), md.DataFrame(table(5), chunk_size=2)]
    for frame in both:
        with pytest.raises(ValueError, match="non-unique"):
            frame.loc[:, ["k", "u"]] = frame[["u", "u"]]


def test_columns_of_python_values():
    """Tuples and ranges are columns; dicts are refused as series are, and sets have no order."""
    frame, lazy = table(5), md.DataFrame(table(5), chunk_size=2)
    both: list[Any] = [frame, lazy]
    for d in both:
        d["p"], d["q"] = (1, 2, 3, 4, 5), range(5)
        with pytest.raises(ValueError, match="Length of values"):
            d["p"] = (1, 2)
        with pytest.raises(TypeError, match="unordered"):
            d["p"] = {1, 2, 3, 4, 5}
    equal(lazy, frame)
    with pytest.raises(NotImplementedError, match="dict"):
        lazy["p"] = {0: 5}


@pytest.mark.parametrize(
    "item", [[1, 2], (1, 2), np.array([1, 2]), np.array(["a"], object)], ids=repr
)
def test_columns_of_lists(item):
    """Each row has one of them: they are values, and not rows of an array."""
    frame, lazy = table(3), md.DataFrame(table(3), chunk_size=2)
    for d in (frame, lazy):
        d["new"] = [item] * 3
    assert lazy.new.dtype == object
    assert [type(value) for value in lazy.new.compute()] == [type(item)] * 3
    assert list(map(list, lazy.new.compute())) == list(map(list, frame.new))


def test_columns_of_nothing():
    """They are floats, as in pandas."""
    frame, lazy = table(0), md.DataFrame(table(0))
    for d in (frame, lazy):
        d["new"] = []
    equal(lazy, frame)


#: What is assigned to columns of which two have one label, by key and value.
TO_EQUAL_LABELS: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    "its labels": ("b", lambda d: d.index),
    "a column": ("b", lambda d: d["a"]),
    "an array": ("b", lambda _: np.arange(5)),
    "a value": ("b", lambda _: 3),
    "a value a column": (["a", "b"], lambda _: [7, 8, 9]),
    "an array of rows": (["b", "a"], lambda _: np.arange(15).reshape(5, 3)),
    "a frame of these columns": (["a", "b"], lambda d: d[["a", "b"]] * 2),
    "a frame of other columns": (["b"], lambda d: d.rename(columns={"a": "c"})[["c", "c"]]),
    "a frame of too few": (["a", "b"], lambda d: d[["a"]]),
    "too few values": (["a", "b"], lambda _: [7, 8]),
}


@pytest.mark.parametrize("name", TO_EQUAL_LABELS)
@pytest.mark.parametrize("chunk_size", [2, 5])
def test_columns_of_equal_labels(name, chunk_size):
    """Each gets the value, also in chunks of as many rows as there are columns of the label."""
    key, value = TO_EQUAL_LABELS[name]
    frame = pd.DataFrame(np.arange(15).reshape(5, 3), columns=["a", "b", "b"])
    lazy = md.DataFrame(frame, chunk_size=chunk_size)
    if name.endswith(("too few", "too few values")):
        with pytest.raises(ValueError, match="same length as key"):
            lazy[key] = value(lazy)
        return
    for d in (frame, lazy):
        d[key] = value(d)
    equal(lazy, frame)


@pytest.mark.parametrize("key", [(1, 2), (slice(1), [1, 2]), (slice(None), 1), ([0, 2], -1), 0])
def test_columns_of_equal_labels_by_position(key):
    """Only the chosen ones change."""
    frame = pd.DataFrame(np.arange(15).reshape(5, 3), columns=["a", "b", "b"])
    lazy = md.DataFrame(frame, chunk_size=2)
    for d in (frame, lazy):
        d.iloc[key] = 99
    equal(lazy, frame)


@pytest.mark.parametrize("value", [5, [7, 8, 9], None], ids=str)
def test_columns_as_attributes(value):
    """A column is set by its name; what is no column has no attribute."""
    frame: Any = pd.DataFrame({"a": [1, 2, 3], "sum": [4, 5, 6]})
    lazy: Any = md.DataFrame(frame, chunk_size=2)
    frame.a = lazy.a = value
    equal(lazy, frame)
    lazy.a = lazy["sum"] + 1
    equal(lazy.a, frame["sum"].add(1).rename("a"))
    with pytest.raises(AttributeError):
        lazy.other = 1


@pytest.mark.parametrize("dtype", ["int64", "bool", "Int64", "float64"])
@pytest.mark.parametrize("rows", [0, 3])
def test_masks_that_choose_no_row(rows, dtype):
    """A value that the type cannot hold is refused where pandas refuses it."""
    frame = pd.DataFrame({"a": pd.Series([1, 0, 1][:rows], dtype=dtype)})
    masks: Any = (lambda d: d.a > 5, lambda d: np.zeros(rows, dtype=bool))[: 1 + bool(rows)]
    for mask, value in itertools.product(masks, (0.5, 0, "x")):
        for write in (_by_item, _by_loc):
            same(partial(write, mask, value), md.DataFrame(frame, chunk_size=1), frame)
            same(partial(write, mask, value, "a"), md.DataFrame(frame, chunk_size=1), frame)


def _by_item(mask: Any, value: Any, *key: Any) -> Any:
    """Assign to the rows of a mask of the frame, or of a column."""
    *column, d = key
    rows = (d[column[0]] if column else d).copy()
    rows[mask(d)] = value
    return rows


def _by_loc(mask: Any, value: Any, *key: Any) -> Any:
    """Assign to the rows of a mask by labels, in the frame or in a column."""
    *column, d = key
    rows = (d[column[0]] if column else d).copy()
    rows.loc[mask(d)] = value
    return rows


#: Columns that a frame without rows gets: it takes their labels.
FIRST_COLUMNS: dict[str, Callable[[Any], Any]] = {
    "a list": lambda d: d.assign(a=[1, 2, 3]),
    "an array": lambda d: d.assign(a=np.arange(3.0), b=[1, 2, 3]),
    "an array of pandas": lambda d: d.assign(a=pd.array([1, None], "Int64")),
    "a row without an axis": lambda d: d.assign(a=[1, 2], b=np.array(7)),
    "a range": lambda d: d.assign(a=range(2)),
    "no values": lambda d: d.assign(a=[]),
}


@pytest.mark.parametrize("columns", [[], ["a", "z"]])
@pytest.mark.parametrize("name", FIRST_COLUMNS)
def test_first_columns_bring_their_labels(name: str, columns: list[str]) -> None:
    """Of a frame without rows, pandas takes any length."""
    frame = pd.DataFrame(columns=columns)
    equal(FIRST_COLUMNS[name](md.DataFrame(frame)), FIRST_COLUMNS[name](frame))


@pytest.mark.parametrize("executed", [False, True])
@pytest.mark.parametrize("how", ["loc", "at", "iloc", "iat"])
@pytest.mark.parametrize(
    ("column", "value", "fits"),
    [("n", "text", 5), ("n", 0.5, 2.0), ("c", "z", "b"), ("t", 1.5, pd.Timestamp("2025"))],
)
def test_values_that_a_column_refuses_raise_at_the_call(
    executed: bool, how: str, column: str, value: Any, fits: Any
) -> None:
    """Types tell it, also after another assignment."""
    frame = pd.DataFrame({"n": range(3), "c": pd.Categorical([*"aba"])}, [*"xyz"])
    frame["t"] = pd.date_range("2024", periods=3)
    key = ("y", column) if how in {"loc", "at"} else (1, frame.columns.get_loc(column))
    lazy = md.DataFrame(frame, chunk_size=1)
    if executed:
        lazy.execute()
    getattr(lazy, how)[key] = fits
    getattr(frame, how)[key] = fits
    for obj in (frame, lazy):
        with pytest.raises(TypeError):
            getattr(obj, how)[key] = value
    equal(lazy, frame)
    lazy.loc[[], column] = value  # no row takes it


def _assigned_at(key: Any, frame: Any) -> None:
    frame.loc[key] = 1.5


#: Assignments that choose no row, or that choose rows of a mask with a value for each row.
NO_LABELS: list[Any] = [[], slice(0, -1), slice(7, 9)]
EDGES: dict[str, Callable[[Any], Any]] = {
    **{f"loc[{key}]": partial(_assigned_at, key) for key in NO_LABELS},
    "loc[empty array]": lambda d: d.loc.__setitem__(np.array([]), 1.5),
    "loc[[], column]": lambda d: d.loc.__setitem__(([], "a"), 1.5),
    "loc[[], columns]": lambda d: d.loc.__setitem__(([], ["a", "b"]), 1.5),
    "loc[slice, column]": lambda d: d.loc.__setitem__((slice(5, 6), "a"), 1.5),
    "iloc[0:0]": lambda d: d.iloc.__setitem__(slice(0, 0), 1.5),
    "iloc[0:0, 0]": lambda d: d.iloc.__setitem__((slice(0, 0), 0), 1.5),
    "mask of a column": lambda d: d.a.copy().__setitem__([True, False, True, False], [0, 7, 8, 9]),
    "frame of masks, several values": lambda d: d.__setitem__(d > 2, [7, 8]),
}


@pytest.mark.parametrize("name", EDGES)
def test_assignments_to_no_rows(name: str) -> None:
    """Values of any type are assigned to none."""
    frame = pd.DataFrame({"a": [1, 2, 3, 4], "b": [5, 1, 1, 1]})
    lazy = md.DataFrame(frame, chunk_size=3)
    with option_context({"dataframe.whole": "allow"}):
        EDGES[name](lazy)
        EDGES[name](frame)
        equal(lazy, frame)


@pytest.mark.parametrize("mask", [[True, False, True], np.array([False, True, True])], ids=str)
@pytest.mark.parametrize("box", [list, tuple, np.array])
def test_masks_with_a_value_for_each_row(mask: Any, box: Any) -> None:
    """Rows that are not chosen drop theirs; ``loc`` wants one for each chosen row."""
    series = pd.Series([1, 2, 3])
    lazy = md.Series(series, chunk_size=2)
    for values in ([7, 8, 9], [7, 8]):
        lazy[mask] = box(values)
        series[mask] = box(values)
        equal(lazy, series)
    with pytest.raises(ValueError, match="different length"):
        lazy.loc[mask] = box([7, 8, 9])
    with pytest.raises(ValueError, match="different length"):
        lazy[mask] = box([1, 2, 3, 4])
    with pytest.raises(IndexError, match="wrong length"):
        lazy[[True, False]] = box([1, 2])


TUPLES = pd.Series([1, 2, 3, 4], pd.Index([(0, 1), (0, 2), ("a",), (0, 2)], tupleize_cols=False))


@pytest.mark.parametrize("key", [(0, 1), (0, 2), ("a",)], ids=str)
def test_labels_that_are_tuples(key: tuple[Any, ...]) -> None:
    """They are found, and assigned to, as other labels of one level are."""
    lazy = md.Series(TUPLES, chunk_size=3)
    for call in (
        lambda s: s[key],
        lambda s: s[[key]],
        lambda s: s.loc[[key]],
        lambda s: s.get(key),
        lambda s: s.drop([key]),
    ):
        equal(call(lazy), call(TUPLES))
    if key != (0, 2):
        wanted = TUPLES.copy()
        for series in (lazy, wanted):
            series[key] = 9
        equal(lazy, wanted)


@pytest.mark.parametrize("series", [TUPLES, TUPLES.reset_index(drop=True)], ids=["tuples", "not"])
def test_tuples_that_are_no_labels(series: pd.Series) -> None:
    """The errors are pandas's."""
    lazy: Any = md.Series(series, chunk_size=3)
    with pytest.raises(KeyError, match="not a MultiIndex"):
        lazy[0, 9]
    with pytest.raises(ValueError, match="Multi-dimensional"):
        lazy[:, None]
    assert lazy.get((0, 9), 5) == 5


def test_frames_of_other_values_are_no_masks() -> None:
    """The error comes at the call, and the frame stays as it is."""
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0]})
    lazy = md.DataFrame(frame, chunk_size=2)
    with pytest.raises(TypeError, match="boolean values only"):
        lazy[lazy * 0] = 2
    lazy[lazy > 1] = 5
    frame[frame > 1] = 5
    equal(lazy, frame)


def test_all_rows_of_none_take_a_column() -> None:
    """A slice of all rows is no slice of no rows."""
    with option_context({"dataframe.whole": "allow"}):
        frames: list[Any] = [pd.DataFrame(columns=["x", "y"]), md.DataFrame(columns=["x", "y"])]
        for frame in frames:
            frame.loc[:, "x"] = [1, 2, 3]
        equal(frames[1], frames[0])


@pytest.mark.parametrize("dtype", ["Int64", "string", "boolean", "category", "float64"])
def test_lazy_elements_are_assigned(dtype: Any) -> None:
    """An element of a column, or what is computed of it, is a value of its type."""
    frame = pd.DataFrame({"a": pd.Series([1, 0, 1]).astype(bool if dtype == "boolean" else int)})
    frame = frame.astype("str" if dtype == "string" else frame.dtypes).astype(dtype)
    frames: list[Any] = [frame.copy(), md.DataFrame(frame, chunk_size=2)]
    for one in frames:
        one.loc[:, [True]] = one.iloc[1, 0]
        one.loc[[0, 1], [True]] = one.iloc[1, 0]
        one.iloc[[2], 0] = one.iloc[1, 0]
    equal(frames[1], frames[0])
