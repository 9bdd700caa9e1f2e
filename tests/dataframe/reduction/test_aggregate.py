"""Several reductions at once equal pandas's."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.dataframe as md
from tests.dataframe.tables import equal, filtered, table, tables
from tests.strategies import draws

#: What is called of a table.
CALLS = {
    "a name": lambda d: d[["k", "u"]].agg("sum"),
    "a name with options": lambda d: d[["k", "u"]].agg("std", ddof=0),
    "a name across": lambda d: d[["k", "u"]].agg("max", axis=1),
    "a function": lambda d: d[["k", "f"]].agg(np.max),
    "lengths": lambda d: d.agg("size"),
    "lengths of a column": lambda d: d.f.agg("size") + d[["k"]].agg("size"),
    "a list": lambda d: d[["k", "f", "u"]].agg(["sum", "mean", "nunique"]),
    "a list of one type": lambda d: d[["k", "u"]].agg(["min", max]),
    "a list of other types": lambda d: d[["s", "t", "k"]].agg(["count", "nunique", "size"]),
    "a dict": lambda d: d.agg({"k": "sum", "f": "median", "u": np.mean}),
    "a dict of lists": lambda d: d.agg({"u": ["sum", "max"], "k": "min", "f": ["max"]}),
    "named": lambda d: d.agg(a=("k", "max"), b=("f", "mean"), c=("k", "min")),
    "rows": lambda d: d[["k", "u"]].aggregate("cumsum"),
    "of a column": lambda d: d.f.agg("sum"),
    "of a column, a list": lambda d: d.f.agg(["sum", np.mean, "count"]),
    "of a column, twice": lambda d: d.f.agg(["max", "max", "min"]),
    "twice": lambda d: d.agg({"k": ["max", "max", "min"]}),
    "of a column, a dict": lambda d: d.u.agg({"x": "min", "y": "max"}),
    "of a column, named": lambda d: d.u.agg(x="min", y="max"),
}


@draws(16)
@given(both=tables(min_rows=3), what=st.sampled_from(sorted(CALLS)))
def test_aggregations(both, what):
    """By names, lists, dicts and pairs; types and labels are pandas's."""
    frame, lazy = both
    for d, e in ((frame, lazy), (filtered(frame), filtered(lazy))):
        if len(d):
            equal(CALLS[what](e), CALLS[what](d))


@pytest.mark.parametrize("name", ["sum", "min", "max", "any", "all"])
def test_functions_of_python(name):
    """Missing values are no gaps to them: they are called with whole columns, or integers' own."""
    func = getattr(builtins, name)
    frame = pd.DataFrame({"a": [3, 1, 2, 2], "b": [np.nan, 0.0, 2.0, 1.0]})
    lazy: Any = md.DataFrame(frame, chunk_size=3)
    for call in (
        lambda f: f.b.agg(func),
        lambda f: f.a.agg(func),
        lambda f: f.b.agg([func, "count"]),
        lambda f: f.agg([func]),
        lambda f: f.agg(func),
        lambda f: f.agg(func, axis=1),
    ):
        equal(call(lazy), call(frame))


def test_refused_at_the_call():
    """Several functions of each row are refused, and what pandas refuses."""
    lazy = md.DataFrame(table(5), chunk_size=2)
    with pytest.raises(ValueError, match="cannot combine transform and aggregation"):
        lazy.u.agg(["cumsum", "sum"])
    with pytest.raises(NotImplementedError, match="axis=1"):
        lazy[["k", "s"]].agg(["nunique", "count"], axis=1)
    with pytest.raises(NotImplementedError, match="one label"):
        md.DataFrame(pd.DataFrame([[1, 2]], columns=["a", "a"])).agg(["sum"])
    with pytest.raises(TypeError):
        lazy.agg()
    with pytest.raises(TypeError, match="not callable"):
        lazy.agg(3)
    with pytest.raises(TypeError):
        lazy.agg(["mean"])
    with pytest.raises(KeyError):
        lazy.agg({"nope": "sum"})
    with pytest.raises(AttributeError):
        lazy.u.agg("nope")


def test_types_of_results():
    """Those of pandas, of small integers and of integers that may be missing."""
    frame = pd.DataFrame(
        {
            "a": pd.Series([1, 2, 200], dtype="uint8"),
            "b": pd.Series([1, None, 3], dtype="Int64"),
            "c": list("xyy"),
        }
    )
    lazy = md.DataFrame(frame, chunk_size=2)
    for call in (
        lambda d: d.a.agg({"x": "max", "y": "nunique"}),
        lambda d: d[["a"]].agg(["min", "count"]),
        lambda d: d[["b"]].agg(["max", "min"]),
        lambda d: d[["b"]].agg(["sum", "mean"]),
        lambda d: d.agg({"a": ["max", "nunique"], "b": ["count"]}),
        lambda d: d.c.agg(["min", "nunique"]),
    ):
        equal(call(lazy), call(frame))


KEPT = {
    "objects": pd.Series([1, 2, 3], dtype=object),
    "flags": pd.Series([True, False, True], dtype=object),
    "texts": pd.Series([*"abc"], dtype="string"),
    "categories": pd.Series(pd.Categorical([*"aba"], ordered=True)),
    "categories of integers": pd.Series(pd.Categorical([1, 2, 1], ordered=True)),
}


@pytest.mark.parametrize("what", KEPT)
def test_types_that_lists_of_functions_keep(what):
    """Columns of a frame keep objects, texts and categories; a dict of lists infers types."""
    frame = pd.DataFrame({"a": KEPT[what], "n": [1, 2, 3]})
    lazy = md.DataFrame(frame, chunk_size=2)
    functions: Any
    for functions in (["min", "max"], ["max", "count"], {"a": ["min", "max"]}):
        equal(lazy.agg(functions), frame.agg(functions))


#: Columns of which nothing is there: NA has no type of NumPy, and frames say None of objects.
NOTHING: Any = {
    "objects": pd.Series([None, None], dtype=object),
    "mixed": pd.Series([None, 1], dtype=object),
    "masked": pd.Series([None, None], dtype="Int64"),
    "short": pd.Series([None, None], dtype="Float32"),
    "texts": pd.Series([None, None], dtype="str"),
}


@pytest.mark.parametrize("kind", NOTHING)
def test_lists_of_functions_of_nothing(kind):
    """A list of functions of columns, and of one, as pandas has it."""
    frame = NOTHING[kind].to_frame("a")
    for rows in (frame, frame[:0]):
        lazy = md.DataFrame(rows, chunk_size=1)
        for functions in (["count", "max"], ["nunique", "min"], ["min"]):
            for got, want in ((lazy, rows), (lazy.a, rows.a)):
                found, wanted = got.agg(functions).compute(), want.agg(functions)
                equal_cells(found, wanted)


def equal_cells(found, wanted):
    """Compare values, also whether what is missing is None, NaN or NA."""
    check = pd.testing.assert_frame_equal if wanted.ndim == 2 else pd.testing.assert_series_equal
    check(found, wanted)
    pairs = zip(found.to_numpy().flat, wanted.to_numpy().flat, strict=True)
    assert all(one is other for one, other in pairs if other is None or other is pd.NA)


def test_booleans_of_no_rows():
    """Are numbers: the least of none is missing."""
    frame = pd.DataFrame({"b": [True, False], "c": [False, True]})
    lazy = md.DataFrame(frame, chunk_size=1)
    choices: Any = (["min", "sum"], ["max", "count"], ["any", "sum"])
    for how in choices:
        equal(lazy[lazy.b & lazy.c].agg(how), frame[frame.b & frame.c].agg(how))
        equal(lazy.agg(how), frame.agg(how))


def test_functions_in_a_series():
    """Are taken as those of a dict."""
    frame = pd.DataFrame({"v": [1, 2, 6], "w": [0.5, 1, 2]})
    lazy = md.DataFrame(frame, chunk_size=1)
    of_rows: Any
    of_columns: Any
    of_rows, of_columns = pd.Series({"A": "sum", "B": "mean"}), pd.Series({"v": "sum"})
    equal(lazy.v.agg(of_rows), frame.v.agg(of_rows))
    equal(lazy.agg(of_columns), frame.agg(of_columns))


@pytest.mark.parametrize("values", [[2, pd.NA, 1], [2.5, None, 1], [True, False, None]], ids=str)
def test_functions_of_objects(values):
    """Values decide the type of the results, and of what is made of these."""
    series: Any = pd.Series(values, dtype=object, name="a")
    lazy: Any = md.Series(series, chunk_size=1)
    pairs: list[Any] = [(lazy.agg(["max", "min"]), series.agg(["max", "min"]))]
    frame: Any = series.to_frame()
    pairs.append((lazy.to_frame().agg({"a": "max"}), frame.agg({"a": "max"})))
    for found, wanted in pairs:
        equal(found, wanted)
        values, expected = found.unique().compute(), wanted.unique()
        assert values.dtype == expected.dtype
        np.testing.assert_array_equal(values, expected)


def test_description_of_labels_that_become_columns():
    """Without rows these have the type of the other side's key, also where it is masked."""
    left: Any = pd.DataFrame({"a": [], "m": []}, dtype="int64")
    right: Any = pd.DataFrame({"m": pd.array([1, None], "Int64"), "u": [1.5, 2]})
    found, wanted = (
        one.merge(other, left_index=True, right_on="m").groupby("u")[["m"]].shift(1).describe()
        for one, other in ((md.DataFrame(left), md.DataFrame(right, chunk_size=1)), (left, right))
    )
    equal(found, wanted)


#: Values of types that aggregate to others if all of them are missing.
OF_GAPS = {
    "texts": pd.Series(["b", "a"], dtype="str"),
    "missing texts": pd.Series([None], dtype="str"),
    "masked": pd.Series([3, None], dtype="Int64"),
    "missing": pd.Series([None], dtype="Int64"),
    "missing truth": pd.Series([None], dtype="boolean"),
    "categories": pd.Series(["b", "a"], dtype=pd.CategoricalDtype(["a", "b"], ordered=True)),
    "times": pd.Series([pd.NaT, pd.NaT]),
}


@pytest.mark.parametrize("func", [{"a": "max", "b": "nunique"}, ["max", "min"], ["count"]])
@pytest.mark.parametrize("name", OF_GAPS)
def test_declared_types_of_gaps(name, func):
    """Types of which missing values alone give others are not settled."""
    values = OF_GAPS[name]
    lazy, wanted = md.Series(values, chunk_size=1).agg(func), values.agg(func)
    equal(lazy, wanted)
    assert not lazy.node.settled or lazy.dtype == wanted.dtype


def test_texts_of_an_aggregation():
    """What is a text is one beside numbers, and has their accessor."""
    values = pd.Series(["B", "a"])
    lazy: Any = md.Series(values, chunk_size=1).agg({"a": "max", "b": "nunique"})
    equal(lazy.str.lower(), values.agg({"a": "max", "b": "nunique"}).str.lower())
