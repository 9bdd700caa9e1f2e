"""Functions of users, called row by row or value by value, give what pandas gives."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

import marsdask.dataframe as md
from marsdask.core.config import option_context
from tests.dataframe.tables import equal, filtered, table, tables
from tests.strategies import draws


def double(value):
    """Return twice a value."""
    return value * 2


CASES = {
    "rows": lambda d: d.apply(lambda r: r.k * 2, axis=1),
    "frame": lambda d: d.apply(lambda r: pd.Series({"x": r.k, "y": r.u / 2}), axis=1),
    "values": lambda d: d.u.apply(lambda v: v / 2),
    "arguments": lambda d: d.u.apply(lambda v, a, b: v + a + b, args=(1,), b=2),
    "name": lambda d: d[["k"]].apply("abs"),
    "ufunc": lambda d: d[["u"]].apply(np.sqrt),
    "dict": lambda d: d.k.map({1: "a", 2: "b"}),
    "series": lambda d: d.k.map(pd.Series([1.0, 2.0], [1, 2])),
    "map": lambda d: d.u.map(str),
    "na": lambda d: d.f.map(lambda v: v + 1, na_action="ignore"),
    "map frame": lambda d: d[["k", "u"]].map(lambda v: v + 1),
    "pipe": lambda d: d.pipe(lambda x, y: x.k + y, 3),
    "pipe target": lambda d: d.pipe((lambda y, x: x.k + y, "x"), 3),
    "transform": lambda d: d[["k", "u"]].transform(lambda c: c - c.mean()),
    "transform values": lambda d: d.k.transform(lambda c: c + 1),
    "transform dict": lambda d: d.transform({"u": lambda c: c + 1, "k": "abs"}),
    "transform by several": lambda d: d[["k", "u"]].transform(["abs", double]),
    "transform by several of some": lambda d: d.transform({"u": ["abs", "sqrt"], "k": double}),
    "transform values by several": lambda d: d.k.transform({"x": "abs", "y": double}),
    "transform by NumPy's": lambda d: d[["u"]].transform("sqrt"),
    "transform a column": lambda d: d.k.transform(lambda c: c - c.mean()),
    "column": lambda d: d.k.apply(lambda c: c + c.max(), by_row=False),
    "transform rows": lambda d: d[["k", "u"]].transform(lambda r: r * 2, axis=1),
}


@draws(4)
@given(both=tables(min_rows=1))
def test_functions_of_users(both):
    """Values, types and labels are pandas's, also of rows chosen before."""
    for operation in CASES.values():
        for frame, lazy in (both, map(filtered, both)):
            if len(frame):
                equal(operation(lazy), operation(frame))


def half(value):
    """Return half of a number that the made-up value is not."""
    if value == 1:
        raise ZeroDivisionError
    return value / 2


@pytest.mark.parametrize("meta", [("x", "f8"), pd.Series([], dtype="f8", name="x")])
def test_types_may_be_declared(meta):
    """The function is then called with rows only."""
    frame = table(6).assign(u=range(2, 8))
    lazy = md.DataFrame(frame, chunk_size=4).u.apply(half, meta=meta)
    assert (lazy.name, lazy.dtype) == ("x", np.dtype("f8"))
    equal(lazy, (frame.u / 2).rename("x"))
    wide = md.DataFrame(frame).apply(lambda r: pd.Series({"a": r.k}), axis=1, meta={"a": "i8"})
    equal(wide, frame[["k"]].set_axis(["a"], axis=1))
    assert md.DataFrame(frame).u.map(float, meta="f8").dtype == "f8"


def test_what_cannot_be_done_in_chunks():
    """Is refused at the call, with the way out."""
    lazy = md.DataFrame(table(5), chunk_size=2)
    for error, words, call in [
        (NotImplementedError, "transform", lambda: lazy.k.apply([abs], args=(1,))),
        (NotImplementedError, "merge", lambda: lazy.k.map(lazy.u)),
        (NotImplementedError, "one at a time", lambda: lazy.transform(["abs"], axis=1)),
        (AttributeError, "meta=", lambda: lazy.k.apply(lambda v: v.nope)),
        (ValueError, "did not transform", lambda: lazy[["k"]].transform("sum")),
        (ValueError, "pipe target", lambda: lazy.pipe((len, "x"), x=1)),
        (TypeError, "callable", lambda: lazy.map({1: 2})),
    ]:
        with pytest.raises(error, match=words):
            call()


EMPTY = {
    "numbers": pd.DataFrame({"a": [1], "b": [2.0]}).iloc[:0],
    "objects": pd.DataFrame(columns=["a", "b"]),
    "nothing": pd.DataFrame(),
}


@pytest.mark.parametrize("frame", EMPTY.values(), ids=EMPTY)
@pytest.mark.parametrize("result_type", [None, "reduce", "expand", "broadcast"])
def test_frames_without_rows(frame, result_type):
    """What comes of them is what pandas makes of them, whatever the function returns for rows."""
    for function in (max, double, lambda row: row["a"], lambda row: pd.Series([1, 2])):
        found = md.DataFrame(frame).apply(function, axis=1, result_type=result_type)
        equal(found, frame.apply(function, axis=1, result_type=result_type))


@pytest.mark.parametrize("functions", [[], {}, {"k": []}, {"k": "abs", "u": []}])
def test_no_functions(functions):
    """They are an error, as in pandas."""
    with pytest.raises(ValueError, match="No transform functions were provided"):
        md.DataFrame(table(3)).transform(functions)


def test_chunks_that_are_of_another_form_are_refused():
    """Columns that no sample showed."""
    with pytest.raises(NotImplementedError, match="categories to lists"):
        md.Series(pd.Series(["a", "b"], dtype="category")).apply(lambda value: [value])
    lazy = md.DataFrame({"k": [1, 2, 3]}, chunk_size=1)
    wide = lazy.apply(lambda r: pd.Series({"a" if r.k < 3 else "z": 1}), axis=1)
    with pytest.raises(ValueError, match="meta="):
        wide.compute()


#: Mappings to values of several kinds, of which a chunk may have one, or none.
OF_KINDS: tuple[Any, ...] = (
    *({1: "a", "x": 7}, {1: "a", 2: 7}, {1: None, 2: "a", 3: 5}, {9: 5, 8: "a"}),
    *({1: pd.Timestamp("2020"), 7: "a"}, {1: True, 2: 2.5, 3: "b"}),
    pd.Series(["a", 2], [1, 9]),
    *({1: pd.NaT, 2: "q"}, {1: [1], 3: "a"}, {1: True, 3: pd.NA}, {1: True}),
)


@pytest.mark.parametrize("dtype", ["i8", "f8", "object"])
@pytest.mark.parametrize("mapping", OF_KINDS, ids=str)
def test_mappings_to_values_of_several_kinds(mapping, dtype):
    """The type is that of the values of all rows, as in pandas."""
    for values in ([3, 1, 2, 1], [4, 1, 1, 4], [4, 4, 4]):
        rows = pd.Series(values, dtype=dtype)
        for size in (1, 4):
            equal(md.Series(rows, chunk_size=size).map(mapping), rows.map(mapping))


@pytest.mark.parametrize("dtype", ["str", "string", "object", "Int64", "boolean", "f8"])
@pytest.mark.parametrize("mapping", OF_KINDS, ids=str)
def test_mappings_of_columns_with_gaps(mapping, dtype):
    """Texts and masked values, too, have the type of the values of all rows."""
    numbers = pd.Series([3, None, 1, 2, 1] if dtype != "boolean" else [None, True, True])
    rows = numbers.astype(dtype)
    if dtype in {"str", "string", "object"}:
        rows = pd.Series(["3", None, "1", "2", "1"], dtype=dtype)
        mapping = {str(key): value for key, value in mapping.items()}
    for size in (1, 2, 5):
        equal(md.Series(rows, chunk_size=size).map(mapping), rows.map(mapping))


@pytest.mark.parametrize("values", [[np.nan, None, "a"], [None, "a"], [None, np.nan, 1], [None]])
@pytest.mark.parametrize("key", [np.nan, None, pd.NaT, pd.NA], ids=str)
def test_missing_keys(key, values):
    """All objects tell which of them are the missing key."""
    rows = pd.Series(values, dtype=object)
    for mapping in ({"a": 1, key: 7}, pd.Series([1, 7], pd.Index(["a", key], dtype=object))):
        for size in (1, 2, 3):
            equal(md.Series(rows, chunk_size=size).map(mapping), rows.map(mapping))


#: Columns whose values in a row are not those of an array of numbers.
OF_ROWS: dict[str, Any] = {
    "masked": pd.Series([3, None, 2], dtype="Int64"),
    "truth": pd.Series([True, None, False], dtype="boolean"),
    "arrow": pd.Series([1.5, None, 2], dtype="double[pyarrow]"),
    "numbers": pd.Series([1, 2.5, None], dtype=object),
    "kinds": pd.Series([1, "a", None], dtype=object),
    "lists": pd.Series([[1], None, []], dtype=object),
    "missing": pd.Series([None, None, None], dtype=object),
    "texts": pd.Series(["a", None, "b"]),
    "objects": pd.Series(["a", None, 1], dtype=object),
    "times": pd.Series(pd.to_datetime(["NaT", "2024-01-01", "NaT"])),
}
#: Functions of a row.
OF_A_ROW: dict[str, Callable[[Any], Any]] = {
    "value": lambda r: r.a,
    "other": lambda r: r.k,
    "text": lambda r: str(r.a),
    "chosen": lambda r: r.a if r.k > 1 else None,
    "nothing": lambda r: None,
    "row": lambda r: r,
    "short row": lambda r: r[["a"]],
}


@pytest.mark.parametrize("func", OF_A_ROW)
@pytest.mark.parametrize("column", OF_ROWS)
def test_results_of_rows(column, func):
    """What is missing stays what it is, and the type is that of the results of all rows."""
    rows = OF_ROWS[column].to_frame("a").assign(k=[1, 2, 1])
    for size in (1, 2, 3):
        found: Any = md.DataFrame(rows, chunk_size=size).apply(OF_A_ROW[func], axis=1).compute()
        wanted = rows.apply(OF_A_ROW[func], axis=1)
        testing = pd.testing
        check: Any = testing.assert_series_equal if wanted.ndim == 1 else testing.assert_frame_equal
        check(found, wanted)
        cells, values = (pd.DataFrame(table).to_numpy(object).ravel() for table in (found, wanted))
        assert [*map(type, cells)] == [*map(type, values)]


@pytest.mark.parametrize("value", [None, np.nan])
def test_values_of_frames_without_results(value):
    """The type is that of the other results, also in a chunk without any."""
    rows = pd.DataFrame({"a": [1, 2, 3], "b": [0.5, 1.0, 2.0], "s": ["a", "b", "c"]})
    for size in (1, 2, 3):
        lazy = md.DataFrame(rows, chunk_size=size)
        for missing in (1, 0.5, "a"):
            func = functools.partial(_without, missing, value)
            equal(lazy.map(func), rows.map(func))


def _without(missing: Any, value: Any, item: Any) -> Any:
    return value if item == missing else item


def test_dicts_with_defaults():
    """Missing values are looked up, and what is in the dict for them is taken."""
    rows = pd.Series([1, np.nan, 2])
    for mapping in (defaultdict(int, {1: 10, np.nan: 42}), defaultdict(int, {1: 10})):
        for action in (None, "ignore"):
            found = md.Series(rows, chunk_size=2).map(mapping, na_action=action)
            equal(found, rows.map(mapping.copy(), na_action=action))


@pytest.mark.parametrize("func", [str, str.upper, repr, len], ids=repr)
def test_types_are_functions_too(func):
    """They have methods whose names are those of attributes of mappings."""
    rows = pd.Series(["a", "bc", "d"], dtype=object)
    equal(md.Series(rows, chunk_size=2).map(func), rows.map(func))


OF_CATEGORIES: dict[str, Callable[[Any], Any]] = {
    "all": lambda d: d.c.map(str),
    "head": lambda d: d.c.map(str).head(1),
    "filter": lambda d: d.c.apply(str)[d.n > 1],
    "counts": lambda d: d.c.map(str).value_counts(),
    "counts of none": lambda d: d.c.map(str, na_action="ignore").value_counts(),
    "groups": lambda d: d.n.groupby(d.c.map(str)).sum(),
}


@pytest.mark.parametrize("name", OF_CATEGORIES)
@pytest.mark.parametrize("values", [["a", None, "b", "a"], [None, "a", "b"], ["a", "b"]])
def test_functions_of_categories_and_gaps(name, values):
    """They give categories, or texts everywhere if one row has a gap that becomes a text."""
    frame = pd.DataFrame({"c": pd.Categorical(values), "n": range(len(values))})
    program = OF_CATEGORIES[name]
    equal(program(md.DataFrame(frame, chunk_size=1)), program(frame))


#: Texts that functions read, and that a made-up text is not: the type is that of all results.
READ_TEXTS: dict[str, tuple[list[Any], Callable[[Any], Any]]] = {
    "integers": (["1", "2", "30"], int),
    "integers and floats": (["1", "2", "2.5"], pd.to_numeric),
    "times": (["2020-01-01", "2021-01-01", None], pd.to_datetime),
    "spans": (["00:00:01", "1 days", "00:01:00"], pd.to_timedelta),
    "parts": (["a:b", "c:d", "e:f"], lambda text: text.split(":")[1]),
    "lengths": (["a:b", "c:d", "e:"], lambda text: len(text.split(":")[1])),
}


@pytest.mark.parametrize("name", READ_TEXTS)
def test_functions_that_read_texts(name: str) -> None:
    """A made-up text that a function fails for tells nothing; chunks have the type of all."""
    values, func = READ_TEXTS[name]
    series = pd.Series(values, name="t")
    lazy = md.Series(series, chunk_size=1).map(func)
    equal(lazy, series.map(func))
    equal(lazy.describe(), series.map(func).describe())


def test_functions_that_fail_for_all_texts() -> None:
    """The error of the function comes once it is called with the rows."""
    with pytest.raises(AttributeError, match="nothing"):
        md.Series(["a", "b"], chunk_size=1).map(lambda text: text.nothing).execute()


#: Functions that give times, and texts of which some chunks have none.
TIME_FUNCTIONS: dict[str, Any] = {
    "times": (pd.to_datetime, ["2020-01-01", None, pd.NaT, pd.NaT, "2020-01-02"]),
    "durations": (pd.to_timedelta, ["00:00:01", np.nan, pd.NaT, pd.NaT, "00:00:02"]),
    "fine durations": (pd.to_timedelta, ["00:00:01", None, pd.NaT, pd.NaT, "1ns"]),
    "texts": (pd.to_datetime, ["2020-01-01", "2020", "2021-02-03", "2024", "2022"]),
    "made times": (lambda text: pd.Timestamp(text).as_unit("s"), ["2020", "2021", "2022", "2023"]),
}


@pytest.mark.parametrize("name", TIME_FUNCTIONS)
@pytest.mark.parametrize("method", ["map", "apply"])
def test_all_values_decide_the_unit_of_times(name: str, method: str) -> None:
    """A chunk without a time has none of its own."""
    func, values = TIME_FUNCTIONS[name]
    series = pd.Series(values)
    for chunk_size in (1, 2, 5):
        lazy = md.Series(series, chunk_size=chunk_size)
        with option_context({"dataframe.whole": "allow"}):  # a made-up text is no time
            equal(getattr(lazy, method)(func), getattr(series, method)(func))


def test_names_of_properties_are_applied():
    """They are no methods."""
    series: Any = pd.Series([1.0, 2.0, None])
    lazy: Any = md.Series(series, chunk_size=2)
    for name in ("size", "ndim", "hasnans"):
        assert lazy.apply(name) == series.apply(name)


@pytest.mark.parametrize(
    "func", [["sum"], ["sum", "mean"], {"a": "sum"}, {"a": ["min"]}, ["count"]], ids=str
)
def test_frames_without_rows_are_applied_no_lists(func: Any) -> None:
    """Frames without rows are applied no lists."""
    frame = pd.DataFrame({"a": [1, 2], "b": [1.5, 2]})
    equal(md.from_pandas(frame, chunk_size=1)[:0].apply(func), frame[:0].apply(func))


@pytest.mark.parametrize("func", ["sum", ["sum"], {"x": "sum"}, np.sqrt, str], ids=str)
def test_columns_without_rows_are_applied_no_function(func: Any) -> None:
    """Columns without rows are applied no function."""
    column = pd.Series([1, 2], name="a")
    lazy: Any = md.from_pandas(column, chunk_size=1)[:0]
    equal(lazy.apply(func), column[:0].apply(func))


ACROSS: dict[str, Any] = {
    "name": "abs",
    "running": "cumsum",
    "row": {1: "abs"},
    "rows": {3: np.sqrt, 1: "abs"},
    "several": {1: ["abs", "cumsum"]},
    "function": {3: lambda row: row + 1},
}


@pytest.mark.parametrize("name", ACROSS)
def test_rows_are_transformed_by_their_labels(name: str) -> None:
    """Rows are transformed by their labels."""
    frame = pd.DataFrame({"a": [1, 2, 3, 4.5], "b": [4, 5, 6, 7]}, index=[3, 1, 2, 0])
    with option_context({"coalesce": False}):
        lazy = md.from_pandas(frame, chunk_size=1).transform(ACROSS[name], axis=1)
        equal(lazy, frame.transform(ACROSS[name], axis=1))


def test_rows_to_transform_must_be_there() -> None:
    """Rows to transform must be there."""
    lazy = md.from_pandas(pd.DataFrame({"a": [1, 2]}), chunk_size=1)
    with pytest.raises(KeyError):
        lazy.transform({99: "abs"}, axis=1).compute()
    with pytest.raises(ValueError, match="Function did not transform"):
        lazy.transform("mean", axis=1)


#: Columns of which a function makes missing values only, or values in the last chunk.
GAPS: dict[str, Any] = {
    "masked truth": pd.Series([None] * 3, dtype="boolean"),
    "masked numbers": pd.Series([None] * 3, dtype="Int64"),
    "a masked number": pd.Series([None, None, 3], dtype="Int64"),
    "floats": pd.Series([np.nan] * 3),
    "a float": pd.Series([np.nan, np.nan, 1.5]),
    "integers": pd.Series([1, 2, 3]),
    "truth values": pd.Series([True, False, True]),
    "times": pd.Series([pd.NaT] * 3, dtype="datetime64[ns]"),
    "durations": pd.Series([pd.NaT] * 3, dtype="timedelta64[ms]"),
    "arrow": pd.Series([None] * 3, dtype="int64[pyarrow]"),
}
MISSING: dict[str, Any] = {
    "itself": lambda value: value,
    "twice": lambda value: value if isinstance(value, pd.Timestamp) else value * 2,
    "floats": lambda value: np.nan if pd.isna(value) else 1.5,
    "the last one": lambda value: value if value == 3 else None,
    "times": lambda value: pd.NaT if pd.isna(value) else pd.Timestamp(0),
    "no times": lambda value: pd.NaT,
}


@pytest.mark.parametrize("function", MISSING)
@pytest.mark.parametrize("name", GAPS)
def test_results_that_are_all_missing(name: str, function: str) -> None:
    """They have the type that pandas finds for them, and beside a value that of the value."""
    series, func = GAPS[name], MISSING[function]
    lazy: Any = md.Series(series, chunk_size=1)
    calls = [lambda x: x.map(func), lambda x: x.apply(func)]
    if name == "a float":
        calls.append(lambda x: x.map(func, "ignore"))  # two kinds of missing values
    if function != "the last one":
        calls.append(
            lambda x: x.to_frame("a").assign(b=[func(value) for value in series]).map(func)
        )
    for call in calls:
        try:
            wanted = call(series)
        except TypeError:  # of NA, which is neither true nor false
            continue
        equal(call(lazy), wanted)
