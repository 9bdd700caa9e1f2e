"""Methods of texts among objects: no chunk decides from its own values what all rows tell."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import marsdask
import marsdask.dataframe as md
from marsdask.core.collection import compute
from tests.dataframe import one_mode
from tests.dataframe.tables import equal

_coalesce = one_mode.as_given

#: Columns of which some chunks of one row have another kind than all rows.
TEXTS: dict[str, list[Any]] = {
    "missing first": [None, "ab", "b"],
    "nothing but what is missing": [None, None],
    "nothing": [],
}
COLUMNS: dict[str, list[Any]] = {
    "numbers first": [1, "ab", "b"],
    "missing beside numbers": ["a", 2.5, None, np.nan],
    "nothing but what is missing": [None, np.nan],
    "bytes": [b"a", None, b"bc"],
    "lists": [["a", "b"], None, [1], []],
    "truth": [True, "a", None],
    "no texts": [1, None],
}
#: The arguments of methods that need some.
ARGUMENTS: dict[str, list[tuple[tuple[Any, ...], dict[str, Any]]]] = {
    "cat": [((), {}), ((), {"sep": "-", "na_rep": "?"})],
    "center": [((3,), {})],
    "contains": [(("a",), {}), (("a",), {"na": False})],
    "count": [(("a",), {})],
    "decode": [(("utf8",), {})],
    "encode": [(("utf8",), {})],
    "endswith": [(("b",), {}), (("b",), {"na": True})],
    "extract": [(("(a)(b)?",), {}), (("(a)",), {"expand": False})],
    "extractall": [(("(a)",), {})],
    "find": [(("b",), {})],
    "findall": [(("a",), {})],
    "fullmatch": [(("a.*",), {})],
    "get": [((0,), {}), ((1,), {}), ((-1,), {})],
    "index": [(("",), {})],
    "join": [(("-",), {})],
    "ljust": [((3,), {})],
    "match": [(("a",), {})],
    "normalize": [(("NFC",), {})],
    "pad": [((3,), {})],
    "partition": [(("a",), {}), (("a",), {"expand": False}), (("a", False), {})],
    "removeprefix": [(("a",), {})],
    "removesuffix": [(("b",), {})],
    "repeat": [((2,), {})],
    "replace": [(("a", "z"), {})],
    "rfind": [(("b",), {})],
    "rindex": [(("",), {})],
    "rjust": [((3,), {})],
    "rpartition": [(("a",), {})],
    "rsplit": [(("a",), {}), (("a",), {"expand": True})],
    "slice": [((0, 1), {})],
    "slice_replace": [((0, 1, "z"), {})],
    "split": [(("b",), {}), (("b",), {"expand": True})],
    "startswith": [(("a",), {})],
    "translate": [(({97: "z"},), {})],
    "wrap": [((3,), {})],
    "zfill": [((3,), {})],
}
METHODS = sorted(name for name in dir(pd.Series([], dtype=object).str) if name[0] != "_")


def outcome(rows: Any, name: str, args: Any, kwargs: Any) -> Any:
    """Return what a method gives, or the class of its error."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = getattr(rows.str, name)(*args, **kwargs)
            return value.compute() if hasattr(value, "compute") else value
    except (AttributeError, TypeError, ValueError) as error:
        return [kind for kind in (AttributeError, TypeError, ValueError) if isinstance(error, kind)]


def written(value: Any) -> Any:
    """Return all that tells results apart: types, labels, and which missing value it is."""
    if isinstance(value, pd.DataFrame):
        columns = [written(value.iloc[:, at]) for at in range(value.shape[1])]
        return [repr(value.columns), repr(value.index.tolist()), columns]
    if isinstance(value, pd.Series):
        items = [[*map(repr, value)], [*map(repr, value.index)]]
        return [str(value.dtype), value.name, *items]
    return repr(value)


@pytest.mark.parametrize("dtype", ["object", "category", "str"])
def test_every_method(dtype: str) -> None:
    """Values, types and missing values equal pandas's in chunks of one row."""
    columns = COLUMNS | TEXTS if dtype == "object" else TEXTS
    differences = []
    for (label, values), name in itertools.product(columns.items(), METHODS):
        rows = pd.Series(values, dtype=dtype, name="n", index=range(5, 5 + len(values)))
        for args, kwargs in ARGUMENTS.get(name, [((), {})]):
            wanted = written(outcome(rows, name, args, kwargs))
            found = written(outcome(md.Series(rows, chunk_size=1), name, args, kwargs))
            if found != wanted:
                differences.append(f"{label}: {name}{args}{kwargs}: {found}, not {wanted}")
    assert not differences, "\n".join(differences)


#: Points of time, of which one needs more digits than the others.
DIGITS = ["00:00:00", "00:00:01", "00:00:01.5", "00:00:01.500001", "00:00:01.000000001"]


@pytest.mark.parametrize("time", DIGITS)
def test_texts_of_times(time: str) -> None:
    """All texts have the digits that one of them needs, whichever chunk it is in."""
    points = ["2024-01-31T00:00:00", "NaT", f"2024-02-01T{time}"]
    times: Any = pd.Series(pd.to_datetime(points, format="ISO8601"))
    for rows in (times, times.dt.tz_localize("Europe/Berlin"), times - times[0]):
        lazy: Any = md.Series(rows, chunk_size=1)
        pd.testing.assert_series_equal(lazy.astype("str").compute(), rows.astype("str"))
        frame = pd.DataFrame({"t": rows, "n": range(3)})
        cast = md.DataFrame(frame, chunk_size=1).astype({"t": "string"})
        pd.testing.assert_frame_equal(cast.compute(), frame.astype({"t": "string"}))


def test_a_look_is_taken_where_values_tell() -> None:
    """Texts of a type of their own need none, nor does one chunk."""
    texts: Any = md.Series(pd.Series(["a", "b"]), chunk_size=1)
    objects: Any = md.Series(pd.Series(["a", "b"], dtype=object), chunk_size=1)
    whole: Any = md.Series(pd.Series(["a", "b"], dtype=object))
    looks = [len(lazy.str.upper().node.inputs) - 1 for lazy in (texts, whole, objects)]
    assert looks == [0, 0, 1]


NAN = float("nan")
OBJECTS = ["a", None, 1, np.nan, "a b", pd.NA, pd.NaT, np.nan, (NAN,), [None, {"k": 1}]]
ZONED = pd.date_range("2020", periods=3, tz="Europe/Berlin", name="t")
#: What processes send each other, in parts of two rows.
SENT: dict[str, Any] = {
    "objects": pd.Series(OBJECTS),
    "truth": pd.Series([True, None, np.nan, 1, 1.0], dtype=object),
    "times": pd.Series([pd.Timestamp("2020"), None, pd.NaT, pd.Timedelta(1)], dtype=object),
    "scalars": pd.Series([np.int8(1), np.float32(2), "a", b"a"], dtype=object),
    "categories": pd.Series(pd.Categorical(["a", None, "c"], ["c", "b", "a"], ordered=True)),
    "zone": pd.Series(range(3), ZONED),
    "periods": pd.Series(pd.period_range("2020", periods=3, freq="Q-FEB")),
    "intervals": pd.Series(pd.interval_range(0, 3)),
    "masked": pd.Series([1, None, 3], dtype="Int64"),
    "arrow": pd.Series(["a", None, "c"], dtype="string[pyarrow]"),
    "text": pd.DataFrame({"a": ["a", None, "c"], 1: pd.array([1, None, 3], "Float32")}),
    "levels": pd.DataFrame({"a": [1, 2, 3]}, pd.MultiIndex.from_arrays([["p", None, "q"], ZONED])),
    "nested": pd.DataFrame({"a": [[1], None, {}]}).rename_axis(columns="c"),
}
#: What pandas and users' functions decide by the identity of an object.
BY_IDENTITY: dict[str, Any] = {
    "split": lambda s: s.str.split(expand=True),
    "rpartition": lambda s: s.str.rpartition("a"),
    "map": lambda s: s.map(lambda value: value is np.nan),
    "apply": lambda s: s.apply(lambda value: value is None or value is np.nan),
    "NA": lambda s: s.map(lambda value: value is pd.NA or value is pd.NaT),
}


def exactly(frame: Any) -> Any:
    """Return all that a frame holds, with the class of every value, as one text."""
    columns = frame.to_frame() if frame.ndim == 1 else frame
    cells = [[(type(cell), cell) for cell in columns[label]] for label in columns]
    labels = [(type(label), label) for label in columns.index]
    return repr((cells, labels, columns.dtypes, columns.index.dtype, columns.columns))


@pytest.mark.parametrize("scheduler", ["threads", "processes"])
def test_what_is_sent_comes_back(scheduler):
    """The same values of the same classes, and functions that compare with `is` find the same."""
    objects = SENT["objects"]
    parts = {
        name: (md.DataFrame if frame.ndim == 2 else md.Series)(frame, chunk_size=2)
        for name, frame in SENT.items()
    }
    calls = {name: call(parts["objects"]) for name, call in BY_IDENTITY.items()}
    wanted = SENT | {name: call(objects) for name, call in BY_IDENTITY.items()}
    with marsdask.new_session(scheduler, n_workers=1):
        results = compute(*parts.values(), *calls.values())
    for name, result in zip(wanted, results, strict=True):
        assert exactly(result) == exactly(wanted[name]), name


TEXTS_BESIDE_NUMBERS: dict[str, Callable[[Any], Any]] = {
    "where": lambda s: s.where(s.notna(), 1).str.slice(1, None),
    "mask": lambda s: s.mask(s.isna(), 1).str.lower(),
    "of a frame": lambda s: s.to_frame("a").mask(s.isna(), 1).a.str.upper(),
    "length": lambda s: s.where(s.notna(), 1).str.len(),
}


@pytest.mark.parametrize("gap", [False, True])
@pytest.mark.parametrize("name", TEXTS_BESIDE_NUMBERS)
def test_texts_that_no_number_replaces_stay_texts(name, gap):
    """Though the type is that of objects if there is a gap."""
    series = pd.Series(["ab", "c", None if gap else "d"], dtype="str")
    for rows in (1, 3):
        call = TEXTS_BESIDE_NUMBERS[name]
        equal(call(md.Series(series, chunk_size=rows)), call(series))
