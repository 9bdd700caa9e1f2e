"""Rows between two labels are found in any chunks, by labels as pandas reads them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.dataframe as md
from marsdask.core.config import option_context
from tests.dataframe.tables import equal, same, tables
from tests.strategies import draws


@pytest.mark.parametrize("size", [1, 4, 9])
def test_rows_between(size):
    """Both ends are included, days given as text are whole, and either end may be left out."""
    times = pd.date_range("2024-01-01", periods=9, freq="8h")
    rows = pd.Series(range(9), index=times)
    lazy = md.Series(rows, chunk_size=size)
    key: Any
    for key in (slice("2024-01-02", "2024-01-02"), slice(None, times[3]), slice(times[7], None)):
        equal(lazy.loc[key], rows.loc[key], check_freq=False)
        equal(lazy[key], rows[key], check_freq=False)
        equal(lazy.to_frame("x")[key], rows.to_frame("x")[key], check_freq=False)
    for key in (slice(2, 5), slice(-3, None), slice(None, None, 2)):
        equal(lazy[key], rows[key], check_freq=False)
        equal(lazy.to_frame("x")[key], rows.to_frame("x")[key], check_freq=False)
    floats = pd.Series(range(4), index=[0.5, 1.0, 2.0, 3.5])
    equal(md.Series(floats, chunk_size=size)[1:2], floats[1:2])


def test_labels_of_a_column():
    """Whether they rise is computed; unless they do, a slice is refused at the call."""
    frame = pd.DataFrame({"when": pd.date_range("2024-01-01", periods=9, freq="8h"), "x": range(9)})
    lazy = md.DataFrame(frame, chunk_size=2).set_index("when")
    rows = frame.set_index("when")
    equal(lazy["2024-01-02":"2024-01-03"], rows["2024-01-02":"2024-01-03"])
    falling = md.DataFrame(frame[::-1], chunk_size=2).set_index("when")
    with pytest.raises(NotImplementedError, match="do not rise"):
        falling["2024-01-02":"2024-01-03"]


CHOSEN = {
    "a label": lambda d: d.loc[d.u.idxmax()],
    "a label and a column": lambda d: d.loc[d.u.idxmin(), "k"],
    "a cell": lambda d: d.at[d.u.idxmax(), "f"],
    "labels": lambda d: d.loc[d[d.k > 0].index],
    "labels and columns": lambda d: d.loc[d[d.k > 0].index, ["s", "k"]],
    "a value": lambda d: d.u[d.u.idxmax()],
    "values": lambda d: d.u[d[d.k > 0].index],
    "a position": lambda d: d.iloc[d.u.argmax()],
    "the rest": lambda d: d.drop(d[d.k > 0].index),
    "the rest of a column": lambda d: d.u.drop(d.u.idxmax()),
    "assigned": lambda d: _assigned(d, d.u.idxmax()),
    "assigned rows": lambda d: _assigned(d, d[d.k > 0].index),
}


def _assigned(frame, label):
    frame = frame.copy()
    frame.loc[label, "k"] = 99
    return frame


@draws(16)
@given(both=tables(min_rows=1), what=st.sampled_from(sorted(CHOSEN)))
def test_lazy_labels(both, what):
    """Labels may be lazy, and those of the rows themselves."""
    frame, lazy = both
    frame, lazy = frame.set_index("u", drop=False), lazy.set_index("u", drop=False)
    equal(CHOSEN[what](lazy), CHOSEN[what](frame))


@pytest.mark.parametrize("mask", [[True, False, True], pd.Index([False, True, True])])
def test_masks_of_columns(mask):
    """They choose columns also where there are as many rows."""
    rows: Any = pd.DataFrame({"a": [1, 2, 3], "b": [4, 5, 6], "c": list("xyz")})
    lazy = md.DataFrame(rows, chunk_size=2)
    for label in (slice(None), [2, 0], 1):
        equal(lazy.loc[label, mask], rows.loc[label, mask])
    equal(lazy.loc[lazy.a > 1, mask], rows.loc[rows.a > 1, mask])
    for columns in (mask, "b", ["c"], slice("b", "c"), slice(None)):
        equal(lazy.loc[lambda d: d.a > 1, columns], rows.loc[lambda d: d.a > 1, columns])
    with pytest.raises(IndexError, match="wrong length: 2 instead of 3"):
        lazy.loc[:, mask[:2]]


@pytest.mark.parametrize(
    "labels", [[False, True], [0, 1], [0.0, 1.0]], ids=["bool", "int", "float"]
)
@pytest.mark.parametrize("wanted", [[True], [1], [1.0], True], ids=repr)
def test_truth_values_are_no_numbers(labels, wanted):
    """A label of one kind is not found among the other, though they are equal in Python."""
    rows = pd.Series([5, 6], index=labels)
    lazy = md.Series(rows, chunk_size=1)
    several = np.atleast_1d(wanted).tolist()
    equal(lazy.reindex(several), rows.reindex(several))
    try:
        expected = rows.drop(wanted)
    except KeyError:
        with pytest.raises(KeyError):
            lazy.drop(wanted)
    else:
        equal(lazy.drop(wanted), expected)


#: Arrays of pandas's types that are keys.
ARRAYS: list[Any] = [
    pd.array([True, False, True]),
    pd.array([True, None, True]),
    pd.array([0, 2]),
    pd.Categorical([0, 2]),
    pd.Categorical([True, False, True]),
    pd.arrays.SparseArray([True, False, True]),
]


@pytest.mark.parametrize("key", ARRAYS, ids=lambda key: f"{key.dtype.name} {[*key]}")
def test_arrays_of_other_types(key):
    """Those of truth values are masks, in which missing ones are false; others are labels."""
    rows = pd.Series([5, 6, 7])
    lazy = md.Series(rows, chunk_size=2)
    calls: list[Any] = [lambda d: d[key], lambda d: d.loc[key], lambda d: d.iloc[key]]
    for call in calls:
        equal(call(lazy), call(rows))
    frame: Any = pd.DataFrame({0: [1, 2, 3], 1: [4, 5, 6], 2: [7, 8, 9]})
    calls += [lambda d: d.loc[:, key], lambda d: d.loc[key, [0]]]
    for call in calls:
        equal(call(md.DataFrame(frame, chunk_size=2)), call(frame))


def test_masks_of_other_types_and_lengths():
    """Raise as in pandas, for rows and for columns."""
    key: Any = pd.array([True, False])
    lazy: Any = md.DataFrame({"a": [1, 2, 3]}, chunk_size=2)
    for call in (
        lambda: lazy.a[key],
        lambda: lazy.loc[key],
        lambda: lazy.iloc[key],
        lambda: lazy.loc[:, key],
    ):
        with pytest.raises(IndexError, match="wrong length: 2 instead of"):
            call()
    with pytest.raises(ValueError, match="Item wrong length 2 instead of 3"):
        lazy[key]


#: Calls with a mask in memory that may be empty.
MASKED: dict[str, Any] = {
    "frame[]": lambda x, key: x[key],
    "loc": lambda x, key: x.loc[key],
    "iloc": lambda x, key: x.iloc[key],
    "series[]": lambda x, key: x["a"][key],
    "series.loc": lambda x, key: x["a"].loc[key],
    "frame[] =": lambda x, key: _written(x, lambda y: y.__setitem__(key, 7)),
    "loc[] =": lambda x, key: _written(x, lambda y: y.loc.__setitem__(key, 7)),
    "iloc[] =": lambda x, key: _written(x, lambda y: y.iloc.__setitem__(key, 7)),
    "series[] =": lambda x, key: _written(x["a"], lambda y: y.__setitem__(key, 7)),
}


def _written(rows: Any, write: Any) -> Any:
    rows = rows.copy()
    write(rows)
    return rows


@pytest.mark.parametrize("call", MASKED)
def test_empty_masks(call):
    """An empty array of truth values is a mask, which fits no rows; an empty list chooses none."""
    frame = pd.DataFrame({"a": [1, 2], "b": [1.0, 2.0]})
    for rows in (frame, frame[:0], frame[["a"]][:0].astype("Int64")):
        keys: tuple[Any, ...] = (np.zeros(0, dtype=bool), pd.Index([], dtype=bool), [])
        for key in keys:
            same(lambda x, key=key: MASKED[call](x, key), md.DataFrame(rows, chunk_size=1), rows)


TIMES: dict[str, tuple[Any, str]] = {
    "times": (pd.date_range("2024-01-01", periods=3), "2024-01-02"),
    "times of a zone": (pd.date_range("2024-01-01", periods=3, tz="UTC"), "2024-01-02"),
    "periods": (pd.period_range("2024-01-01", periods=3), "2024-01-02"),
    "durations": (pd.timedelta_range("1D", periods=3), "2 days"),
}
BY_TEXT: dict[str, Any] = {
    "drop": lambda x, text: x.drop(text),
    "drop a list": lambda x, text: x.drop([text]),
    "loc": lambda x, text: x.loc[[text, text]],
    "reindex": lambda x, text: x.reindex([text, "1 days" if "days" in text else "2024-01-01"]),
}


@pytest.mark.parametrize("labels", TIMES)
@pytest.mark.parametrize("call", BY_TEXT)
def test_texts_among_times(call, labels):
    """A text is a time, a duration or a period where labels are."""
    index, text = TIMES[labels]
    rows = pd.Series(range(3), index=index)
    lazy = md.Series(rows, chunk_size=1)
    with option_context({"dataframe.whole": "allow"}):
        same(lambda x: BY_TEXT[call](x, text), lazy, rows, check_freq=False)
        equal(lazy.index.drop([text]), index.drop([text]))
    with pytest.raises(KeyError):
        lazy.drop("9 days" if "days" in text else "2025-01-01")
