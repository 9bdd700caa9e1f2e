"""Values on their own are pandas's arrays of their type."""

from __future__ import annotations

import pickle
from typing import Any

import dask
import numpy as np
import pandas as pd
import pytest

import marsdask
import marsdask.dataframe as md
from tests.dataframe import one_mode
from tests.dataframe.tables import equal

_coalesce = one_mode.coalesce

TIMES: Any = pd.DatetimeIndex(["2020-01-01", "NaT", "2020-01-01"])
KINDS: dict[str, Any] = {
    "categories": pd.Series(pd.Categorical(["a", "b", None, "a"], ["b", "a", "z"], ordered=True)),
    "zone": pd.Series(TIMES.tz_localize("Asia/Tokyo")),
    "dates": pd.Series(TIMES),
    "durations": pd.Series(pd.to_timedelta([1, 2, 1], "h")),
    "periods": pd.Series(pd.PeriodIndex(["2020-01", "2020-02", "2020-01"], freq="M")),
    "intervals": pd.Series(pd.IntervalIndex.from_tuples([(0, 1), (1, 2), (0, 1)])),
    "Int64": pd.Series([1, None, 1], dtype="Int64"),
    "boolean": pd.Series([True, None, True], dtype="boolean"),
    "Float32": pd.Series([1.5, None, 1.5], dtype="Float32"),
    "int64[pyarrow]": pd.Series([1, None, 1], dtype="int64[pyarrow]"),
    "str": pd.Series(["a", None, "a"], name="n", index=[5, 5, 6]),
    "string": pd.Series(["a", None, "a"], dtype="string"),
    "sparse": pd.Series(pd.arrays.SparseArray([0, 1, 0])),
    "object": pd.Series(["a", None, 1, "a"], dtype=object),
    "int": pd.Series([2, 1, 2]),
    "float": pd.Series([2.5, np.nan, 2.5], dtype="float32"),
    "nothing": pd.Series([], dtype="Int64"),
}

#: What pandas deprecates: these arrays are of objects, or of UTC.
OBJECTS = "ignore:.*values returning an:DeprecationWarning"

CALLS: dict[str, Any] = {
    "unique": lambda module, series: series.unique(),
    "module's unique": lambda module, series: module.unique(series),
    "values": lambda module, series: series.values,
    "array": lambda module, series: series.array,
    "unique of labels": lambda module, series: module.unique(module.Index(series)),
    "values of labels": lambda module, series: module.Index(series).values,
    "array of labels": lambda module, series: module.Index(series).array,
    "slice": lambda module, series: series.array[1:],
    "chosen": lambda module, series: series.array[[0, 1][: len(series)]],
    "isna": lambda module, series: series.array.isna(),
    "objects": lambda module, series: series.array.astype(object),
    "unique of values": lambda module, series: series.array.unique(),
    "present": lambda module, series: series.array.dropna(),
    "series": lambda module, series: module.Series(series.array),
    "equal": lambda module, series: series.array == series.array[0] if len(series) else None,
}


def same(value: Any, wanted: Any) -> None:
    """Check that two arrays, or labels, are equal, of one class and of one type."""
    if isinstance(wanted, pd.Series):
        pd.testing.assert_series_equal(value, wanted)
    elif isinstance(wanted, pd.Index):
        pd.testing.assert_index_equal(value, wanted)
    elif isinstance(wanted, np.ndarray):
        assert type(value) is np.ndarray
        assert value.dtype == wanted.dtype
        assert [*map(repr, value)] == [*map(repr, wanted)]
    else:
        assert type(value) is type(wanted)
        pd.testing.assert_extension_array_equal(value, wanted)


@pytest.mark.filterwarnings(OBJECTS)
@pytest.mark.parametrize("size", [None, 1])
@pytest.mark.parametrize("kind", KINDS)
def test_arrays(kind: str, size: int | None) -> None:
    """They have pandas's class, type, categories and order, wherever a type has the method."""
    series = KINDS[kind]
    for name, call in CALLS.items():
        if name == "equal" and not len(series):
            continue
        try:
            wanted = call(pd, series)
        except (TypeError, AttributeError, NotImplementedError):
            continue
        same(call(md, md.Series(series, chunk_size=size)).compute(), wanted)


FRAME = pd.DataFrame(
    {
        "x": [1, 2, 3, 4],
        "s": ["a", "b", "a", "c"],
        "i": pd.array([1, None, 3, 4], dtype="Int64"),
        "b": pd.array([True, False, True, False], dtype="boolean"),
    },
    index=[4, 3, 2, 1],
)
OTHER = pd.DataFrame(
    {"s": ["q", "b", "a", "z"], "i": pd.array([5, 6, None, 8], dtype="Int64")}, index=[1, 1, 2, 2]
)

#: Where values belong to the rows of a frame by their positions, whatever these are labelled.
BY_POSITION: dict[str, Any] = {
    "assign": lambda frame, other: frame.assign(y=other.s.values),
    "categories": lambda frame, other: frame.assign(y=other.s.astype("category").values),
    "its own": lambda frame, other: frame.assign(z=frame.s.str.upper().values),
    "unknown number": lambda frame, other: frame.assign(z=other[other.s != "1"].s.values),
    "numbers": lambda frame, other: frame.x + frame.x.array,
    "operator": lambda frame, other: frame.i + other.i.values,
    "method": lambda frame, other: frame.i.add(other.i.values),
    "comparison": lambda frame, other: frame.s == other.s.values,
    "mask": lambda frame, other: frame[frame.b.values],
    "mask of a column": lambda frame, other: frame.s[frame.b.values],
    "loc": lambda frame, other: frame.loc[frame.b.values],
    "where": lambda frame, other: frame.i.where(frame.x > 2, other.i.values),
    "groups": lambda frame, other: frame.groupby(other.s.values).x.sum(),
    "labels": lambda frame, other: frame.set_axis(other.s.array, axis=0),
    "members": lambda frame, other: frame.s.isin(other.s.values),
    "other number": lambda frame, other: frame.assign(y=other.s.head(2).values),
}


@pytest.mark.parametrize("size", [None, 1, 3])
def test_values_belong_to_rows_by_position(size: int | None) -> None:
    """As in pandas: labels do not count."""
    frame, other = (md.DataFrame(data, chunk_size=size) for data in (FRAME, OTHER))
    for call in BY_POSITION.values():
        try:
            wanted = call(FRAME, OTHER)
        except ValueError:
            with pytest.raises(ValueError, match="does not match length of index"):
                call(frame, other).compute()
        else:
            equal(call(frame, other), wanted)


def test_history() -> None:
    """Executed, persisted, pickled, by Dask or with others: the array is the same."""
    series = md.Series(KINDS["categories"], chunk_size=2)
    values: Any
    values, wanted = series.values, KINDS["categories"].array
    for value in (
        values.execute().fetch(),
        values.persist().compute(),
        pickle.loads(pickle.dumps(values)).compute(),
        dask.compute(values)[0],
        dask.persist(values)[0].compute(),
        marsdask.ExecutableTuple([values, series]).compute()[0],
        values.to_series().compute().array,
        pd.array(values.to_tensor().compute(), dtype=wanted.dtype),
    ):
        same(value, wanted)
    assert list(np.asarray(values)) == list(wanted)
    assert (len(values), values.shape, values.ndim) == (4, (4,), 1)
    assert "ExtensionValues" in repr(series.iloc[1:].values)
    assert repr(values) == repr(wanted)
    assert "category" in values._repr_html_()


def test_writes_to_the_array_stay_there() -> None:
    """What is computed is a copy."""
    values = md.Series([1, 2]).array
    values.compute()[0] = 9
    assert list(values) == [1, 2]


def test_categories() -> None:
    """Values of categories have these, and others have no such names."""
    values: Any = md.Series(KINDS["categories"], chunk_size=2).values
    assert list(values.categories) == ["b", "a", "z"]
    assert values.ordered
    assert list(values.codes.compute()) == [1, 0, -1, 1]
    with pytest.raises(AttributeError, match="not supported; use compute"):
        values.rename_categories(["x", "y", "z"])
    with pytest.raises(AttributeError, match="no attribute 'codes'"):
        md.Series(["a"]).array.codes  # noqa: B018


@pytest.mark.parametrize(
    ("values", "operands"),
    [
        (pd.array([1, None, 3], dtype="Int64"), "+ - * / // % **"),
        (pd.array([1, 2, 3], dtype="int64[pyarrow]"), "+ - *"),
        (pd.array(["a", None, "b"], dtype="str"), "+"),
    ],
    ids=["masked", "arrow", "texts"],
)
def test_operators(values, operands):
    """Those with a scalar on either side give pandas's arrays."""
    scalar = "x" if values.dtype == "str" else 2
    lazy = md.Series(values, chunk_size=2).values
    for sign in operands.split():
        names = {"v": values, "x": scalar}, {"v": lazy, "x": scalar}
        for text in (f"v {sign} x", f"x {sign} v"):
            reference, ours = (eval(text, {}, of) for of in names)  # noqa: S307
            pd.testing.assert_extension_array_equal(ours.compute(), reference)


ARITHMETIC: dict[str, Any] = {
    "sum": lambda a, b: a + b,
    "equal": lambda a, b: a == b,
    "less": lambda a, b: a < b,
    "and": lambda a, b: a & b,
    "negative": lambda a, b: -a,
    "not": lambda a, b: ~a,
    "difference": lambda a, b: a - b,
}


@pytest.mark.parametrize("name", ARITHMETIC)
@pytest.mark.parametrize("kind", ["Int64", "boolean", "dates", "str", "int", "categories"])
def test_values_meet_values_by_position(kind, name):
    """Labels do not matter, nor how the values are cut."""
    one, other = KINDS[kind], KINDS[kind].iloc[::-1]
    lazy: Any = [md.Series(one, chunk_size=2), md.Series(other, chunk_size=1)]
    try:
        wanted = ARITHMETIC[name](one.array, other.array)
    except TypeError:
        with pytest.raises(TypeError):
            ARITHMETIC[name](lazy[0].array, lazy[1].array).compute()
        return
    same(ARITHMETIC[name](lazy[0].array, lazy[1].array).compute(), wanted)
    present: Any = [side[side.notna()] for side in (one, lazy[0])]
    wanted, found = (ARITHMETIC[name](side.array, side.array) for side in present)
    same(found.compute(), wanted)


def test_values_that_pandas_refuses():
    """Other lengths, keys of rows, and short floats, which no labels of pandas have."""
    lazy: Any = md.Series(pd.Series([1, None, 2], dtype="Int64"))
    with pytest.raises(ValueError, match="broadcast"):
        lazy.array + lazy[:2].array
    frame: Any = md.DataFrame({"a": [1, 2, 3]})
    for keys in (lazy.array, lazy.compute().array):
        with pytest.raises(TypeError, match="keys"):
            frame.set_index(keys)
    with pytest.raises(NotImplementedError, match="to_tensor"):
        md.Series(pd.Series([1.5], dtype="float16")).array  # noqa: B018
    total = lazy.array + md.Series([0.5, 1, 2])
    equal(total, lazy.compute().array + pd.Series([0.5, 1, 2]))
