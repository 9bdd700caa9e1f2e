"""Functions of columns equal pandas's over chunkings."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

import marsdask.dataframe as md
import marsdask.tensor as mt
from marsdask.core.collection import Collection
from tests.dataframe.tables import equal, filtered, tables
from tests.strategies import draws

CASES: dict[str, Any] = {
    "to_numeric": lambda xd, d: xd.to_numeric(d.u.astype(str)),
    "to_numeric of what is none": lambda xd, d: xd.to_numeric(d.s, errors="coerce"),
    "to_datetime": lambda xd, d: xd.to_datetime(d.t.dt.strftime("%d/%m/%Y"), format="%d/%m/%Y"),
    "to_datetime of numbers": lambda xd, d: xd.to_datetime(d.u, unit="D"),
    "to_datetime of texts and a unit": lambda xd, d: xd.to_datetime(
        d.s.where(d.s == "none"), unit="D"
    ),
    "to_numeric in fewer bytes": lambda xd, d: xd.to_numeric(d.u * 1.0, downcast="unsigned"),
    "to_numeric as it is": lambda xd, d: xd.to_numeric(d.f, downcast="integer"),
    "to_datetime of guessed texts": lambda xd, d: xd.to_datetime(d.t.dt.strftime("%Y-%m-%d")),
    "to_datetime of columns": lambda xd, d: xd.to_datetime(
        d.assign(year=d.k + 2020, month=1, day=d.u + 1)[["year", "month", "day"]]
    ),
    "to_numeric in single floats": lambda xd, d: xd.to_numeric(d.f, downcast="float"),
    "to_timedelta": lambda xd, d: xd.to_timedelta(d.u, unit="h"),
    "concat": lambda xd, d: xd.concat([d[["k"]], d.u.rename("v"), d[["f"]]], axis=1),
    "concat of series": lambda xd, d: xd.concat([d.k, d.u], axis="columns"),
}


@draws(4)
@given(both=tables(min_rows=1))
def test_functions_of_columns(both):
    """Values, types and labels are pandas's, also of rows chosen before."""
    for operation in CASES.values():
        for frame, lazy in (both, map(filtered, both)):
            if len(frame):
                equal(operation(md, lazy), operation(pd, frame))


def both(call: Any, values: Any, **series: Any) -> None:
    """Check that a function of a column in chunks of two rows gives what pandas gives or raises."""
    column = pd.Series(values, **series)
    lazy = md.Series(column, chunk_size=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # texts without a format
        try:
            wanted = call(pd, column)
        except (ValueError, TypeError) as error:
            with pytest.raises(type(error)):
                call(md, lazy).compute()
        else:
            equal(call(md, lazy), wanted)


def test_lazy_arrays_of_texts_have_no_type():
    """Whether numbers are whole is told by the values, and arrays have one type."""
    with pytest.raises(NotImplementedError, match="Series"):
        md.to_numeric(mt.tensor(["1", "2"], chunk_size=1))
    with pytest.raises(NotImplementedError, match="Series"):
        md.to_numeric(md.Index([1, 2]), downcast="float")


NUMBERS: list[Any] = [
    *([1, 2, 3], [1.0, 2, 3], [1.5, 2, 3], [0.1, 2, 3], [1, None, 3], ["1", "2", "3"]),
    *(["1.5", "2", "3"], [1, 2, 300], [-1, 2, 3], [2**24 + 1, 1.0, 0.5], [], [None, None]),
]


@pytest.mark.parametrize("dtype", [None, "Int64", "Float64", "float32", "int64[pyarrow]"])
@pytest.mark.parametrize("downcast", ["integer", "unsigned", "float"])
def test_fewer_bytes(downcast, dtype):
    """The type is the smallest that holds all values, whatever chunks they lie in."""
    for values in NUMBERS:
        try:
            pd.Series(values, dtype=dtype)
        except (TypeError, ValueError):
            continue
        both(lambda xd, d: xd.to_numeric(d, downcast=downcast), values, dtype=dtype)


@pytest.mark.parametrize("backend", ["numpy_nullable", "pyarrow"])
def test_types_of_numbers(backend):
    """Numbers have the types that dtype_backend tells, also those of texts."""
    for values in NUMBERS:
        both(lambda xd, d: xd.to_numeric(d, dtype_backend=backend), values)
    both(lambda xd, d: xd.to_numeric(d, dtype_backend=backend, downcast="integer"), [1, 2, None])


#: Texts of times, with zones or without.
ZONED = ["2020-01-01 00:00+01:00", "2020-01-02 00:00+01:00"]
TIMES: list[Any] = [
    *([*ZONED, "2020-01-01 00:00+02:00"], [*ZONED, "2020-01-01 00:00"], [*ZONED, None]),
    *([None, None, *ZONED], ["x", "x", *ZONED], ["2020-01-01", "2021-02-03", ZONED[0]]),
    *(["", "NaT", "2020-01-01"], ["Jan 5th 2020", "Feb 6th 2020"], [ZONED[0], None, "x"]),
    ["2020-01-01 00:00 UTC+3", None, "2020-01-01 01:00 UTC+3"],
    [pd.Timestamp("2020"), "2021-01-06", "7 Feb 2021"],
]


@pytest.mark.parametrize("format", [None, "mixed", "%Y-%m-%d %H:%M%z"])
def test_texts_of_times(format):
    """Formats are guessed as by pandas; all times have one zone."""
    for values in TIMES:
        for errors in ("raise", "coerce") if format is None else ("raise",):
            options = {"format": format, "errors": errors}
            both(lambda xd, d, o=options: xd.to_datetime(d, **o), values, dtype=object)
        both(lambda xd, d: xd.to_datetime(d, format=format, utc=True), values, dtype=object)


@pytest.mark.parametrize(
    ("name", "values", "options"),
    [
        ("to_datetime", ["2020-01-01", None], {}),
        ("to_datetime", ["01/02/2020", None], {"format": "%d/%m/%Y"}),
        ("to_datetime", ["2020-01-01", "x"], {"errors": "coerce", "utc": True}),
        ("to_datetime", [1, 2], {}),
        ("to_datetime", [1, 2], {"unit": "s"}),
        ("to_datetime", [1.5, None], {"unit": "D"}),
        ("to_timedelta", ["1D", None], {}),
        ("to_timedelta", [1, 2], {}),
        ("to_timedelta", [1, 2], {"unit": "h"}),
        ("to_timedelta", [1.5, None], {"unit": "h"}),
    ],
    ids=str,
)
def test_units_are_declared(name, values, options):
    """Before anything runs, the unit is that of the times, not that of no rows."""
    wanted = getattr(pd, name)(pd.Series(values), **options)
    lazy = getattr(md, name)(md.Series(pd.Series(values), chunk_size=1), **options)
    assert lazy.dtype == wanted.dtype
    equal(lazy, wanted)


#: What has no chunks yet: texts, numbers, times, lists, arrays, labels and rows.
VALUES: list[Any] = [
    *("2020", 1, 1.5, None, True, pd.Timestamp("2020"), np.datetime64("2020"), np.float32(2)),
    *(["2020", "2021"], [1, 2], (1, 2), [[1]], [], [None], range(3), np.array([1, 2])),
    *(pd.Index([1, 2], name="i"), pd.array([1, None]), pd.Series([1, 2], [3, 4], name="s")),
    *({"year": [2020], "month": [1], "day": [2]}, pd.DataFrame({"year": [2020], "month": 1})),
]


@pytest.mark.parametrize("name", ["to_datetime", "to_timedelta", "to_numeric"])
def test_values_in_memory(name):
    """Scalars give scalars; rows, labels and arrays give lazy ones; errors are pandas's."""
    for values in VALUES:
        try:
            wanted = getattr(pd, name)(values)
        except (ValueError, TypeError) as error:
            with pytest.raises(type(error)):
                getattr(md, name)(values)
            continue
        found = getattr(md, name)(values)
        rows = isinstance(wanted, pd.Series | pd.Index | np.ndarray)
        assert isinstance(found, Collection) == rows
        found = found.compute() if rows else found
        assert type(found) is type(wanted)
        if rows:
            pd.testing.assert_series_equal(pd.Series(found), pd.Series(wanted))
        else:
            assert repr(found) == repr(wanted)
    assert getattr(md, name)(md.Series([1, 2]).max()) == getattr(pd, name)(2)
    labels = pd.Index([1, 2, 3], name="i")
    convert = getattr(md, name)
    equal(convert(md.Index(labels, chunk_size=2)), getattr(pd, name)(labels))
    array = mt.tensor(labels.to_numpy(), chunk_size=2)
    wanted = pd.Index(getattr(pd, name)(labels.to_numpy()))
    pd.testing.assert_index_equal(pd.Index(convert(array).compute()), wanted)
    with pytest.raises(TypeError):
        convert(mt.ones((2, 2), chunk_size=1))


@pytest.mark.parametrize("values", [[1.0, 2.0], [1.0, 2.5], [1.0, np.nan], []])
@pytest.mark.parametrize("function", ["to_datetime", "to_timedelta"])
def test_units_that_numbers_tell(function, values):
    """Times have the unit that all numbers tell, as arrays, as their rows, and without rows."""
    numbers = pd.Series(values, dtype=float)
    wanted = getattr(pd, function)(numbers, unit="D")
    lazy = getattr(md, function)(md.Series(numbers, chunk_size=1), unit="D")
    found = lazy.values.compute()
    assert found.dtype == wanted.to_numpy().dtype
    np.testing.assert_array_equal(found, wanted.to_numpy())
    for times in (lazy, md.Series(lazy.values)):
        equal(times, wanted)
        equal(times.nlargest(1), wanted.nlargest(1))
