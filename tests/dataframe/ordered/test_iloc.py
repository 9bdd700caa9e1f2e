"""Rows by position equal pandas's, and only the chunks that hold them run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.dataframe as md
from marsdask.dataframe.ordered.positions import pieces_of
from tests.core.recording import recording_session
from tests.dataframe.tables import equal, filtered, table, tables

ENDS = st.one_of(st.none(), st.integers(-14, 14))
SLICES = st.builds(slice, ENDS, ENDS, st.one_of(st.none(), st.integers(-4, 4).filter(bool)))


@given(both=tables(), rows=SLICES)
def test_slices(both, rows):
    """Any slice of frames and series, of known and unknown lengths."""
    frame, lazy = both
    equal(lazy.iloc[rows], frame.iloc[rows])
    equal(lazy.f.iloc[rows], frame.f.iloc[rows])
    equal(filtered(lazy).iloc[rows], filtered(frame).iloc[rows])


@given(both=tables(), count=st.integers(-13, 13))
def test_ends(both, count):
    """The first and the last rows, all but so many where the number is negative."""
    frame, lazy = both
    equal(lazy.head(count), frame.head(count))
    equal(lazy.tail(count), frame.tail(count))
    equal(filtered(lazy).head(count), filtered(frame).head(count))
    equal(filtered(lazy).u.tail(count), filtered(frame).u.tail(count))


@given(both=tables(min_rows=1), data=st.data())
def test_single_rows(both, data):
    """A row is a series over the columns, an item of a series a scalar."""
    frame, lazy = both
    at = data.draw(st.integers(-len(frame), len(frame) - 1))
    equal(lazy.iloc[at], frame.iloc[at])
    assert lazy.u.iloc[at].compute() == frame.u.iloc[at]
    assert lazy.iloc[at, 4].compute() == frame.iloc[at, 4]
    equal(lazy.iloc[:, [0, 4]], frame.iloc[:, [0, 4]])


@pytest.mark.parametrize(
    "places", [0, -1, [2, 0], [2], slice(1, None), [True, False, True]], ids=str
)
def test_columns_of_equal_labels(places):
    """Each is chosen by its position only."""
    frame = table(5)[["k", "f", "u"]].set_axis(["x", "y", "x"], axis=1)
    equal(md.DataFrame(frame, chunk_size=2).iloc[:, places], frame.iloc[:, places])


@given(sizes=st.lists(st.integers(0, 4), min_size=1, max_size=5), rows=SLICES)
def test_pieces_make_the_slice(sizes, rows):
    """Parts of chunks, one after the other, are the slice of the whole."""
    starts = [sum(sizes[:i]) for i in range(len(sizes))]
    whole = list(range(sum(sizes)))
    found = []
    for position, part, count in pieces_of(tuple(sizes), rows):
        chunk = whole[starts[position] : starts[position] + sizes[position]]
        assert len(chunk[part]) == count
        found += chunk[part]
    assert found == whole[rows]


@pytest.mark.usefixtures("_coalesce")
def test_a_prefix_runs_a_prefix():
    """The first rows of a long computation cost the first chunks only."""
    with recording_session() as (_, scheduler):
        lazy = md.DataFrame(table(1000), chunk_size=10)
        lazy.sort_values("u").iloc[0]
        chosen = (lazy[lazy.k > -2].u + 1).head(12).execute()
        assert len(chosen) == 12
        assert scheduler.tasks < 40


@pytest.mark.usefixtures("_coalesce")
def test_looking_further_runs_no_chunk_again():
    """A prefix that is found in the last of many chunks costs each of them once."""
    with recording_session() as (_, scheduler):
        lazy = md.DataFrame(pd.DataFrame({"n": range(640)}), chunk_size=10)
        chosen = lazy[lazy.n > 620].head(3)
        assert chosen.compute().n.tolist() == [621, 622, 623]
        assert scheduler.tasks <= 64 + 2


def test_the_first_numbered_rows_run_a_prefix():
    """Numbers of rows that nobody asked for are not counted."""
    with recording_session() as (_, scheduler):
        lazy = md.DataFrame(table(1000), chunk_size=10)
        chosen = lazy[lazy.k > -2].reset_index(drop=True).head(12)
        wanted = table(1000)
        equal(chosen, wanted[wanted.k > -2].reset_index(drop=True).head(12))
        assert scheduler.tasks < 40


def test_out_of_bounds():
    """A position that is not there is an IndexError, at the call where the length is known."""
    lazy = md.DataFrame(table(5), chunk_size=2)
    with pytest.raises(IndexError):
        lazy.iloc[5]
    with pytest.raises(IndexError):
        filtered(lazy).iloc[20].compute()
    with pytest.raises(NotImplementedError, match="mask"):
        lazy.iloc[object()]


POSITIONS: dict[str, Any] = {
    "integers of pandas": pd.array([1, 0]),
    "missing ones": pd.array([0, None]),
    "missing ones of an index": pd.Index(pd.array([0, None])),
    "missing ones of Arrow": pd.array([0, None], dtype="int64[pyarrow]"),
    "None in a list": [0, None],
    "whole floats": np.array([1.0, 0.0]),
    "texts": ["a"],
    "two axes": np.array([[0, 1]]),
    "a range": range(1),
    "an array of no axes": np.array(1),
    "a flag": True,
    "an integer in a tuple": (1,),
}


@pytest.mark.parametrize("name", POSITIONS)
def test_kinds_of_positions(name):
    """Are what pandas takes for integers, or its errors."""
    series: Any = pd.Series([1, 2])
    key = POSITIONS[name]
    try:
        wanted = series.iloc[key]
    except (TypeError, ValueError, IndexError) as error:
        with pytest.raises(type(error)):
            md.Series(series).iloc[key]
    else:
        found = md.Series(series).iloc[key].compute()
        assert pd.Series(found).equals(pd.Series(wanted))


OBJECTS = {"list": [1, [2]], "tuple": ("a", None), "dict": {"a": 1}, "column": pd.Series([1, 2])}
ONE = {
    "iloc": lambda s: s.iloc[0],
    "at": lambda s: s.at[0],
    "of a frame": lambda s: s.to_frame("a").iloc[0, 0],
    "of several chunks": lambda s: s.iloc[-2],
}


@pytest.mark.parametrize("one", ONE)
@pytest.mark.parametrize("name", OBJECTS)
def test_objects_with_a_length(name, one):
    """Are values of one cell, not arrays."""
    series = pd.Series([OBJECTS[name], None], dtype=object)
    found = ONE[one](md.Series(series, chunk_size=1)).compute()
    assert type(found) is type(OBJECTS[name])
    assert str(found) == str(ONE[one](series))


def test_tuples_among_labels():
    """Are the labels of the smallest value and of the first."""
    labels = pd.Index([("a", 1), ("b", 2)], tupleize_cols=False)
    lazy = md.Series(pd.Series([2.0, 1.0], labels), chunk_size=1)
    assert lazy.idxmin().compute() == ("b", 2)
    assert lazy.index.min().compute() == ("a", 1)


def test_rows_without_columns():
    """They are counted and have labels; the row of one has no values."""
    frame = pd.DataFrame({"n": [1, 2, 3]}, [*"abc"])
    calls: tuple[Any, ...] = (
        lambda d: d[[]].iloc[1],
        lambda d: d[[]].loc["b"],
        lambda d: d[[]].head(1),
        lambda d: d.drop(columns="n").reset_index(drop=True).head(2),
        lambda d: d[:0].transpose().loc["n"],
    )
    for call in calls:
        equal(call(md.DataFrame(frame, chunk_size=2)), call(frame))


#: Selections of rows, columns and values of an executed frame.
PARTS: dict[str, Any] = {
    "iloc[:, :]": lambda d: d.iloc[:, :],
    "iloc[1]": lambda d: d.iloc[1],
    "iloc[4, 1]": lambda d: d.iloc[4, 1],
    "iloc[1:4, 1:]": lambda d: d.iloc[1:4, 1:],
    "iloc[:, 0]": lambda d: d.iloc[:, 0],
    "loc[3]": lambda d: d.loc[3],
    "head": lambda d: d.head(2),
    "columns": lambda d: d[["b", "a"]],
    "column": lambda d: d["a"],
    "column, iloc": lambda d: d["a"].iloc[1:3],
    "column, value": lambda d: d["a"].iloc[2],
    "at": lambda d: d.at[2, "b"],
}


@pytest.mark.parametrize("name", PARTS)
@pytest.mark.parametrize("chunk_size", [2, 10])
def test_parts_of_executed_frames_are_fetched(name, chunk_size):
    """As those of tensors: without another execution."""
    frame = pd.DataFrame({"a": range(5), "b": np.arange(5) / 2})
    executed = (md.DataFrame(frame, chunk_size=chunk_size) + 1).execute()
    found, expected = PARTS[name](executed).fetch(), PARTS[name](frame + 1)
    assert type(found) is type(expected)
    assert found.equals(expected) if hasattr(expected, "equals") else found == expected
