"""Functions of two objects, cases and differences are pandas's, across chunks of any lengths."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import marsdask.dataframe as md
from tests.dataframe import one_mode
from tests.dataframe.tables import equal, filtered, table

_coalesce = one_mode.coalesce

FRAME = table(9, seed=7)


def pairs() -> list[tuple[Any, Any]]:
    """Return frames of 9 rows, and lazy ones in chunks of any lengths, filtered or executed."""
    lazy = [md.DataFrame(FRAME, chunk_size=(sizes,)) for sizes in ((9,), (2, 0, 3, 4))]
    return [(FRAME, lazy[0]), (FRAME, lazy[1].execute()), (filtered(FRAME), filtered(lazy[1]))]


def smaller(a: Any, b: Any) -> Any:
    """Return the column of the smaller sum: it must see whole columns."""
    return a if a.sum() < b.sum() else b


CALLS: dict[str, Any] = {
    "compare": lambda x: x.u.compare(x.u.where(x.u > 3, 0)),
    "compare, all rows": lambda x: x.s.compare(x.s.fillna("a"), keep_shape=True),
    "compare, equal ones": lambda x: x.k.compare(x.u, keep_equal=True),
    "compare, below": lambda x: x.u.compare(x.u.where(x.u > 3, 0), align_axis=0),
    "compare, other names": lambda x: x.u.compare(x.k, 0, result_names=("a", "b")),
    "frames": lambda x: x.compare(x.assign(f=x.f.fillna(0), u=x.u.clip(2))),
    "frames with masks": lambda x: (
        x[["u"]].astype("Int64").compare(x[["u"]].astype("Int64").shift(1))
    ),
    "masks": lambda x: x.u.astype("Int64").compare(x.u.astype("Int64").shift(1)),
    "frames, all": lambda x: x[["s", "f"]].compare(x[["s", "f"]], keep_shape=True),
    "frames, equal ones": lambda x: x[["k", "u"]].compare(x[["k", "u"]].clip(1), keep_equal=True),
    "frames, below": lambda x: x[["k", "u", "s"]].compare(
        x[["k", "u", "s"]].assign(u=0), align_axis=0
    ),
    "combine": lambda x: x.u.combine(x.k, max),
    "combine, filled": lambda x: x.f.combine(x.u, min, fill_value=0),
    "combine, a number": lambda x: x.u.combine(3, lambda a, b: a - b),
    "combine frames": lambda x: x[["k", "u"]].combine(x[["u", "k"]] * 2, smaller),
    "combine others": lambda x: x[["k", "f"]].combine(x[["u", "f"]], np.minimum, 1, False),
    "cases": lambda x: x.u.case_when([(x.k > 0, -1), (x.f > 1, x.f), (lambda s: s == 2, 2.5)]),
    "cases of texts": lambda x: x.s.case_when([(x.s == "a", "b"), (x.b, "c")]),
    "divmod": lambda x: x.u.divmod(3)[1],
    "rdivmod": lambda x: x.u.rdivmod(7)[0],
    "divmod()": lambda x: divmod(x[["u"]], 2)[0],
    "rdivmod()": lambda x: divmod(7, x.u)[1],
}


@pytest.mark.parametrize("name", CALLS)
def test_calls(name):
    """Values, types, labels and their order."""
    for rows, lazy in pairs():
        with np.errstate(all="ignore"):
            equal(CALLS[name](lazy), CALLS[name](rows))


#: Calls that need values in memory of the number of the rows.
BESIDE: dict[str, Any] = {
    "cases": lambda x: x.u.case_when([([True, False, True] * 3, list(range(9)))]),
    "bounds": lambda x: x.u.clip(np.arange(9)),
    "bounds of rows": lambda x: x[["k", "u"]].clip(list(range(9)), np.arange(3, 12), axis=0),
    "bounds of columns": lambda x: x[["k", "u"]].clip([0, 3], axis=1),
    "bounds of cells": lambda x: x[["k", "u"]].clip(np.arange(18).reshape(9, 2)),
    "lazy bounds": lambda x: x[["k", "u"]].clip(x.k, axis=0),
}


@pytest.mark.parametrize("name", BESIDE)
def test_values_beside_the_rows(name):
    """They lie in their order, whatever the chunks."""
    for rows, lazy in pairs()[:2]:
        equal(BESIDE[name](lazy), BESIDE[name](rows))


def test_other_rows_meet():
    """Labels are aligned where rows differ."""
    lazy: Any = md.DataFrame(FRAME, chunk_size=4)
    some, few = FRAME.u[FRAME.u > 3], lazy.u[lazy.u > 3]
    equal(few.combine(lazy.k, max), some.combine(FRAME.k, max))


@pytest.mark.parametrize("func", [max, lambda a, b: f"{a}{b}"], ids=["larger", "a text"])
def test_no_rows(func):
    """They have a type of their own, whatever the function returns."""
    none = FRAME.iloc[:0]
    lazy: Any = md.DataFrame(none)
    for one, other in (("u", "k"), ("f", "u"), ("b", "b")):
        equal(lazy[one].combine(lazy[other], func), none[one].combine(none[other], func))


def test_errors():
    """Those of pandas, and what is not there."""
    lazy: Any = md.DataFrame(FRAME, chunk_size=4)
    for call, error, match in (
        (lambda: lazy.u.case_when((lazy.b, 1)), TypeError, "should be a list"),
        (lambda: lazy.u.case_when([]), ValueError, "at least one"),
        (lambda: lazy.u.case_when([lazy.b]), TypeError, "Argument 0 must be a tuple"),
        (lambda: lazy.u.case_when([(lazy.b,)]), ValueError, "must have length 2"),
        (lambda: lazy.u.compare(FRAME), TypeError, "can only compare"),
        (lambda: lazy.u.compare(lazy.k, result_names=["a", "b"]), TypeError, "tuple"),
        (lambda: lazy.compare(lazy[["u"]]), ValueError, "identically-labeled"),
        (lambda: lazy.u.compare(lazy.k, align_axis=2), ValueError, "No axis"),
        (lambda: lazy.u.case_when([(FRAME.b[1:], 1)]), NotImplementedError, "other labels"),
        (lambda: lazy.u.clip(FRAME.u[1:]), NotImplementedError, "other labels"),
        (lambda: lazy[["u"]].clip([1, 2], axis=0), ValueError, "length must be 9: given 2"),
    ):
        with pytest.raises(error, match=match):
            call()
    assert isinstance(FRAME, pd.DataFrame)


#: Values of each type, of which chunks may have none.
VALUES: dict[str, Any] = {
    "datetime64[us]": pd.Timestamp("2024-05-01"),
    "datetime64[ns, UTC]": pd.Timestamp("2024-05-01", tz="UTC"),
    "timedelta64[ns]": pd.Timedelta(1),
    "period[D]": pd.Period("2024-05-01", "D"),
    "Int64": 1,
    "boolean": True,
    "str": "a",
    "string": "a",
    "object": "a",
    "float64": 1.5,
}


def first_given(a: Any, b: Any) -> Any:
    """Return the first of two values that is not missing."""
    return b if pd.isna(a) else a


@pytest.mark.parametrize("dtype", VALUES)
def test_types_of_missing_results(dtype: str) -> None:
    """All results decide the type: of missing ones alone pandas often makes objects."""
    for given in ([0, 0, 0], [0, 0, 1, 0], [1, 0, 0], []):
        values = [VALUES[dtype] if is_given else None for is_given in given]
        rows: Any = pd.Series(values, dtype=dtype, name="n")
        for step in (1, 2):
            lazy: Any = md.Series(rows, chunk_size=step)
            equal(
                lazy.combine(lazy.shift(1), first_given), rows.combine(rows.shift(1), first_given)
            )
            equal(lazy.combine(0, lambda a, b: a), rows.combine(0, lambda a, b: a))


#: Functions of two numbers that give one of them, or another number.
OF_NUMBERS: dict[str, Any] = {
    "max": max,
    "first": lambda a, b: a,
    "second": lambda a, b: b,
    "sum": lambda a, b: a + b,
}


@pytest.mark.parametrize("name", OF_NUMBERS)
def test_numbers_of_two_types(name: str) -> None:
    """All results decide whether integers among floats are floats, whatever chunk they are in."""
    func = OF_NUMBERS[name]
    for rows in ([1, 0, 2], [0.5, np.nan, 2.0], [True, False, True]):
        series: Any = pd.Series(rows)
        lazy: Any = md.Series(series, chunk_size=1)
        for fill_value in (None, 0):
            found = lazy.combine(lazy.shift(1), func, fill_value)
            wanted = series.combine(series.shift(1), func, fill_value)
            equal(found, wanted)
            equal(found.map(str), wanted.map(str))
            if wanted.dtype.kind in "if":
                assert found.unique().compute().dtype == wanted.dtype
            equal(lazy.combine(3, func, fill_value), series.combine(3, func, fill_value))
