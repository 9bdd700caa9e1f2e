"""Rows by label equal pandas's."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

import marsdask.dataframe as md
from tests.dataframe.tables import equal, filtered, table

NUMBERED: dict[str, Any] = {
    "list": lambda d: d.loc[[2, 0]],
    "list and columns": lambda d: d.loc[[2, 0], ["u", "k"]],
    "list and column": lambda d: d.loc[[2, 0], "u"],
    "slice": lambda d: d.loc[1:3],
    "slice of sorted": lambda d: d.set_index("u").sort_index().loc[2:5, "k":"s"],
    "open slice": lambda d: d.loc[2:],
    "every second": lambda d: d.loc[::2],
    "backwards": lambda d: d.loc[::-1],
    "every second of a column": lambda d: d.loc[::2, "u"],
    "steps of a slice": lambda d: d.loc[1:7:2],
    "steps back of a slice": lambda d: d.loc[7:2:-2],
    "mask": lambda d: d.loc[d.k > 0, "u"],
    "function": lambda d: d.loc[lambda x: x.k > 0],
    "flags": lambda d: d.loc[[i % 2 == 0 for i in range(len(d))]],
    "row": lambda d: d.loc[1],
    "value": lambda d: d.loc[1, "u"],
    "value of a series": lambda d: d.u[1],
    "series": lambda d: d.u.loc[[1, 0]],
    "a label without axes": lambda d: d.loc[np.array(1)],
    "rows of one axis": lambda d: d.loc(axis=0)[[2, 0]],
    "columns of one axis": lambda d: d.loc(axis="columns")[["u", "k"]],
    "a series of one axis": lambda d: d.u.loc(axis=0)[1],
    "positions of one axis": lambda d: d.iloc(axis=1)[[1, 0]],
    "condition": lambda d: d.filter(cond=d.k > 0),
    "function as a condition": lambda d: d.filter(lambda x: x.k > 0, axis=0),
    "at": lambda d: d.at[1, "u"],
    "iat": lambda d: d.iat[1, 0],
    "iat of a series": lambda d: d.u.iat[1],
}


@pytest.mark.parametrize("name", NUMBERED)
@pytest.mark.parametrize("chunk_size", [4, (3, 0, 7, 1)])
def test_rows_by_label(name, chunk_size):
    """Of labels that are unique; also where the number of rows is not known."""
    frame = table(11)
    operation = NUMBERED[name]
    equal(operation(md.DataFrame(frame, chunk_size=chunk_size)), operation(frame))
    if name != "flags":
        lazy = filtered(md.DataFrame(frame, chunk_size=chunk_size)).reset_index(drop=True)
        equal(operation(lazy), operation(filtered(frame).reset_index(drop=True)))


def test_several_rows_of_a_label():
    """All of them, in their order."""
    frame = table(11, index="text")
    lazy = md.DataFrame(frame, chunk_size=4)
    equal(lazy.loc["r1"], frame.loc["r1"])
    equal(lazy.loc["r1", "u"], frame.loc["r1", "u"])
    equal(lazy.loc[["r2", "r1"]], frame.loc[["r2", "r1"]])


def test_labels_that_are_nowhere():
    """Are a KeyError: at the call for one, when they are computed for several."""
    lazy = md.DataFrame(table(5), chunk_size=2)
    with pytest.raises(KeyError, match="99"):
        lazy.loc[99]
    with pytest.raises(KeyError, match="99"):
        lazy.loc[[1, 99]].compute()
    with pytest.raises(pd.errors.InvalidIndexError):
        lazy.at[[1], "k"]


def test_times_and_levels_as_labels():
    """A slice may be of texts; texts of times among several levels are refused."""
    frame = table(6).set_index("t").sort_index()
    lazy = md.DataFrame(table(6), chunk_size=2).set_index("t").sort_index()
    equal(lazy.loc["1970-01-03":"1970-01-06"], frame.loc["1970-01-03":"1970-01-06"])
    day = frame.index[0]
    equal(lazy.loc[[day]], frame.loc[[day]])
    with pytest.raises(NotImplementedError, match="text of a time"):
        lazy.set_index("k", append=True).loc["1970-01-03"]
    equal(lazy.loc["1970-01-03"::2], frame.loc["1970-01-03"::2])


#: Keys of labels of two levels, of which a pair is there twice.
KEYS: list[Any] = [
    *(("x", 2), ("y", 1), "x", ("x",), ["z", "x"], [("z", 3), ("x", 1)], (("x", 2), "v")),
    *((("x", 1), ["v"]), ("x", "v"), (["x"], "v"), ("x", slice(None)), ([("x", 1)], ["w", "v"])),
]


def test_labels_of_two_levels():
    """A label or its first level, lists of either, with a column or without; rows come first."""
    rows = {"a": list("yxxyz"), "b": [1, 2, 1, 1, 3], "v": [1.0, 2, 3, 4, 5], "w": range(5)}
    frame = pd.DataFrame(rows).set_index(["a", "b"])
    lazy: Any = md.DataFrame(frame, chunk_size=2)
    for key in KEYS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pd.errors.PerformanceWarning)
            equal(lazy.loc[key], frame.loc[key])
    equal(lazy.v.loc["x"], frame.v.loc["x"])
    assert lazy.v.loc["x", 2].compute() == lazy.at[("x", 2), "v"].compute() == 2
    for key in (("x", 9), "q", ("q", "v"), ("x", 1, 0)):
        with pytest.raises(KeyError):
            lazy.loc[key]
    for key in ((slice(None), 2), ("x", [1])):
        with pytest.raises(NotImplementedError, match="xs"):
            lazy.v.loc[key]


def test_values_within_intervals():
    """A value is a label of the intervals that it lies in, alone or as a level."""
    labels = pd.arrays.IntervalArray.from_tuples([(0, 1), (1, 3), (2, 4), (4, 5)])
    frame = pd.DataFrame({"i": labels, "k": list("xxyx"), "v": range(4)})
    lazy: Any = md.DataFrame(frame, chunk_size=3)
    for d in (frame.set_index("i"), frame.set_index(["k", "i"]).loc["x"]):
        assert isinstance(d.index, pd.IntervalIndex)
    one, several = lazy.set_index("i"), lazy.set_index(["k", "i"])
    key: Any
    for key in (0.5, 2.5, 5, pd.Interval(1, 3)):
        equal(one.loc[key], frame.set_index("i").loc[key])
    assert one.v.loc[0.5].compute() == 0
    assert several.loc[("x", 4.5), "v"].compute() == 3
    for d, key in ((one, 9), (several, ("y", 0.5))):
        with pytest.raises(KeyError):
            d.loc[key]
    for key in ([0.5, 2.5], slice(0.5, 2.5)):
        with pytest.raises(NotImplementedError, match="one label at a time"):
            one.loc[key]


def test_parts_of_columns_of_two_levels():
    """Lists and slices within the levels of columns choose several; labels that chose one go."""
    columns = pd.MultiIndex.from_product([["A", "B"], ["t", "u"]])
    frame: Any = pd.DataFrame(np.arange(12).reshape(3, 4), columns=columns)
    lazy: Any = md.DataFrame(frame, chunk_size=2)
    for key in ((slice(None), "t"), (["A", "B"], "u"), ("A", slice(None))):
        equal(lazy[key], frame[key])
    for d in (lazy, frame):
        d.loc[:, "A"] = 7
        d.loc[1, ("B", slice(None))] = 9
    equal(lazy, frame)


def test_lazy_labels_of_columns():
    """Are those of their values."""
    frame = table(5)
    lazy = md.DataFrame(frame, chunk_size=2)
    equal(lazy.loc[:, md.Series(["u", "k"])], frame.loc[:, ["u", "k"]])


def test_assignment_to_labels_of_two_levels():
    """A label, its first level, and a list of labels."""
    frame = table(6)[["k", "b", "u"]].set_index(["k", "b"])
    lazy: Any = md.DataFrame(frame, chunk_size=4)
    first = frame.index[0]
    for key in (first, [first, frame.index[2]], first[0]):
        frame.loc[key, "u"], lazy.loc[key, "u"] = frame.u.max() + 1, lazy.u.max() + 1
        equal(lazy, frame)
    for key, wanted in (([first[0]], "one at a time"), ((99, True), "concat")):
        with pytest.raises(NotImplementedError, match=wanted):
            lazy.loc[key, "u"] = 1


@pytest.mark.parametrize("tz", [None, "Europe/Berlin"])
def test_texts_of_times(tz):
    """A text is one time where labels are as coarse; otherwise it stands for all times in it."""
    days = pd.DataFrame({"a": range(40)}, pd.date_range("2024-01-15", periods=40, tz=tz))
    hours = days.set_axis(pd.date_range("2024-01-15", periods=40, freq="7h", tz=tz))
    for frame, texts in (
        (days, ("2024-02-01", "2024-02", "2024", "2023", "soon")),
        (hours, ("2024-01-20", "2024-01-15 07", "2024-01-15 07:00:00", "2024-01-15 08:00:00")),
        (hours.iloc[::-1], ("2024-01-20", "2022-01-20")),
    ):
        lazy = md.DataFrame(frame, chunk_size=17)
        for text in texts:
            for call in (lambda d, one=text: d.loc[one], lambda d, one=text: d.loc[one, "a"]):
                try:
                    wanted = call(frame)
                except KeyError:
                    with pytest.raises(KeyError):
                        call(lazy)
                else:
                    equal(call(lazy), wanted, **({} if np.ndim(wanted) == 0 else FREQ))


@pytest.mark.parametrize("freq", ["Q-FEB", "Q-DEC", "M", "D"])
def test_texts_of_periods(freq):
    """A text is the period that it is in, or all periods in one that is longer."""
    rows = pd.Series(range(12), pd.period_range("2000-11", periods=12, freq=freq))
    for text in ("2001Q1", "2001", "2000-11", "2000", "2000-11-03", "1999", "soon"):
        for series in (rows, rows.iloc[::-1]):
            lazy = md.Series(series, chunk_size=5)
            try:
                wanted = series.loc[text]
            except KeyError:
                with pytest.raises(KeyError):
                    _ = lazy.loc[text]
            else:
                equal(lazy.loc[text], wanted, **({} if np.ndim(wanted) == 0 else FREQ))


def _write(name: str, key: Any) -> Any:
    """Return a call that writes to some rows."""

    def call(frame: Any) -> Any:
        frame = frame.copy()
        getattr(frame, name)[key] = 9
        return frame

    return call


#: Calls with a range as a list of labels or positions.
RANGES: dict[str, Any] = {
    "loc": lambda d: d.loc[range(1, 3)],
    "loc of columns": lambda d: d.loc[:, range(2)],
    "iloc": lambda d: d.iloc[range(2, 0, -1)],
    "iloc of columns": lambda d: d.iloc[:, range(1)],
    "frame": lambda d: d[range(2)],
    "series": lambda d: d[0][range(1, 3)],
    "loc =": _write("loc", (range(2), 1)),
    "iloc =": _write("iloc", (0, range(2))),
    "nothing": lambda d: d.loc[range(0)],
}


@pytest.mark.parametrize("name", RANGES)
def test_ranges_are_lists(name):
    """A range is a list of labels or positions, as in pandas."""
    frame = pd.DataFrame([[1, 2, 3], [4, 5, 6], [7, 8, 9], [0, 1, 2]])
    equal(RANGES[name](md.DataFrame(frame, chunk_size=2)), RANGES[name](frame))


@pytest.mark.parametrize("start", ["a", 1.5, True, pd.Timestamp("2020")], ids=str)
def test_slices_of_integers_have_integers(start):
    """Others raise as in pandas, also in a tuple."""
    for key in (slice(start, None), slice(None, start)):
        with pytest.raises(TypeError, match="cannot do slice indexing") as wanted:
            _ = pd.Series([1, 2])[key]
        for mine in (key, (key,)):
            with pytest.raises(TypeError) as error:
                _ = md.Series([1, 2])[mine]
            assert str(error.value) == str(wanted.value)


#: Frequencies of labels are those of whole indexes.
FREQ: dict[str, Any] = {"check_freq": False}


def test_slices_of_columns():
    """With a step, and of several columns with one label."""
    frame = pd.DataFrame([[1, 2, 3], [4, 5, 6]], columns=list("qqr"))
    lazy = md.DataFrame(frame, chunk_size=1)
    for key in (slice(None, None, -1), slice("q", "r"), slice("q", "r", 2), slice("q")):
        equal(lazy.loc[:, key], frame.loc[:, key])
        equal(lazy.loc[1, key], frame.loc[1, key])


@pytest.mark.parametrize("labels", [[0, 1], [0.0, 1.0], [True, False]])
@pytest.mark.parametrize("key", [True, False, 1, 0, np.True_, np.int64(1)])
def test_truth_values_are_no_numbers(labels, key):
    """A label of one kind is not found among those of the other."""
    frame = pd.DataFrame({"a": [1, 2]}, index=pd.Index(labels))
    lazy = md.DataFrame(frame, chunk_size=1)
    if isinstance(key, bool | np.bool_) == isinstance(labels[0], bool):
        equal(lazy.loc[key], frame.loc[key])
        return
    for get in (lambda d: d.loc[key], lambda d: d.a.loc[key], lambda d: d.at[key, "a"]):
        for d in (frame, lazy):
            with pytest.raises(KeyError):
                get(d)
    with pytest.raises((KeyError, NotImplementedError)):
        lazy.loc[key] = 3


def set_new(frame):
    """Assign to a new column."""
    frame.loc[:, "new"] = 1


#: Keys that pandas refuses, by the indexer.
WRONG_KEYS: dict[str, Any] = {
    "at by a mask": lambda d: d.at[d.k > 0, "k"],
    "at by a list": lambda d: d.at[[0, 1], "k"],
    "at by an array": lambda d: d.at[np.array([0, 1]), "k"],
    "at by a row": lambda d: d.at[0],
    "at of a series": lambda d: d.k.at[np.array([0, 1])],
    "iat by an array": lambda d: d.iat[np.array([0, 1]), 0],
    "iat by a slice": lambda d: d.iat[:1, 0],
    "floats as positions": lambda d: d[0:2.0],
    "floats as positions of a series": lambda d: d.k[0.0:2],
    "a short mask by label": lambda d: d.loc[[True, False]],
    "a long mask by label": lambda d: d.k.loc[[True] * 6],
    "a short mask by position": lambda d: d.iloc[[True, False]],
    "a dict": lambda d: d.loc[{1: 1}],
    "a set": lambda d: d.k.loc[{1}],
    "a flag": lambda d: d.loc[True],
    "a flag among numbers of a level": lambda d: d.set_index(["u", "k"]).f.loc[(True, 1)],
    "flags of a slice": lambda d: d.k.loc[True:],
    "a number is set in no rows": lambda d: set_new(d[:0]),
    "at is set by a mask": lambda d: d.at.__setitem__((d.k > 0, "k"), 1),
    "at is set by an array": lambda d: d.at.__setitem__((np.array([0, 1]), "k"), 1),
    "at is set by a row": lambda d: d.at.__setitem__(0, 1),
    "iat is set by an array": lambda d: d.iat.__setitem__((np.array([0, 1]), 0), 1),
    "a short mask is set": lambda d: d.iloc.__setitem__([True, False], 1),
    "a long mask is set": lambda d: d.loc.__setitem__([True] * 6, 1),
    "a dict is set": lambda d: d.loc.__setitem__({1: 1}, 1),
    "a frame is set by position": lambda d: d.iloc.__setitem__(d[["k"]] > 0, 1),
}


@pytest.mark.parametrize("name", WRONG_KEYS)
def test_keys_that_are_wrong(name):
    """Are pandas's errors, and nothing is chosen or set."""
    frame = table(5)
    with pytest.raises(Exception) as raised:  # noqa: PT011  # whatever pandas raises
        WRONG_KEYS[name](frame.copy())
    with pytest.raises(raised.type):
        WRONG_KEYS[name](md.DataFrame(frame, chunk_size=2))


FLAGS = {
    "objects": pd.Index(["a", True, 2], dtype=object),
    "flags": pd.Index([True, False, False]),
    "flags or nothing": pd.Index(pd.array([True, False, None], dtype="boolean")),
    "numbers": pd.Index([0, 1, 2]),
    "numbers and flags": pd.MultiIndex.from_arrays([[1, 2, 3], [True, False, True]]),
    "flags and numbers": pd.MultiIndex.from_arrays([[True, False, True], [1, 2, 3]]),
}
WAYS = {
    "loc": lambda s: s.loc[True],
    "at": lambda s: s.at[True],
    "brackets": lambda s: s[True],
    "NumPy's": lambda s: s.loc[np.True_],
    "a pair": lambda s: s.loc[(True, 1)],
    "a pair at": lambda s: s.at[True, 1],
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", FLAGS)
def test_flags_as_labels(name, way):
    """Are labels where pandas says so: among objects, they are so only for at and brackets."""
    if way.startswith("a pair") and FLAGS[name].nlevels == 1:
        return
    series = pd.Series([1, 2, 3], FLAGS[name])
    try:
        wanted = WAYS[way](series)
    except KeyError:
        with pytest.raises(KeyError):
            WAYS[way](md.Series(series, chunk_size=2))
    else:
        found = WAYS[way](md.Series(series, chunk_size=2)).compute()
        assert pd.Series(found).equals(pd.Series(wanted))
