"""Operators of a series with one of its own values, which is lazy, by type."""

from __future__ import annotations

import datetime as dt
import decimal
import operator
from collections.abc import Callable
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import marsdask.dataframe as md

DATES = [dt.date(2000, 1, day) for day in range(1, 6)]

#: By what they hold.
COLUMNS: dict[str, pd.Series[Any]] = {
    "period": pd.Series(pd.period_range("2000", periods=5, freq="D")),
    "datetime": pd.Series(pd.date_range("2000", periods=5)),
    "zone": pd.Series(pd.date_range("2000", periods=5, tz="UTC")),
    "timedelta": pd.Series(pd.to_timedelta(range(5), unit="D")),
    "decimal": pd.Series([decimal.Decimal(number) for number in range(5)]),
    "date": pd.Series(DATES),
    "str": pd.Series(list("abcde")),
    "object": pd.Series(list("abcde"), dtype=object),
    "Int64": pd.Series(range(5), dtype="Int64"),
    "boolean": pd.Series([True, False, True, True, False], dtype="boolean"),
    "int64[pyarrow]": pd.Series(range(5), dtype="int64[pyarrow]"),
    "date32[pyarrow]": pd.Series(DATES, dtype=pd.ArrowDtype(pa.date32())),
    "category": pd.Series(list("abcab"), dtype="category"),
    "ordered": pd.Series(pd.Categorical(list("abcab"), ordered=True)),
    "interval": pd.Series(pd.interval_range(0, 5)),
}

#: How a value is taken.
VALUES: dict[str, Callable[[Any], Any]] = {
    "iloc": lambda column: column.iloc[2],
    "label": lambda column: column[2],
    "max": lambda column: column.max(),
}
OPERATORS = ("gt", "eq", "add", "sub")


def outcome(call: Callable[[], Any]) -> Any:
    """Return the result of a call, or the type of its error."""
    try:
        result = call()
        return result.compute() if hasattr(result, "compute") else result
    except Exception as error:  # noqa: BLE001 - it is compared
        return type(error)


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("name", COLUMNS)
def test_operators(name: str, value: str) -> None:
    """They give what pandas gives, or raise what it raises."""
    raw, lazy = COLUMNS[name], md.Series(COLUMNS[name], chunk_size=2)
    for title in OPERATORS:
        func = getattr(operator, title)
        for swaps in (False, True):

            def call(column: Any, func: Any = func, swaps: bool = swaps) -> Any:
                pair = column, VALUES[value](column)
                return func(*(pair[::-1] if swaps else pair))

            found, expected = outcome(lambda: call(lazy)), outcome(lambda: call(raw))
            if isinstance(expected, pd.Series):
                pd.testing.assert_series_equal(found, expected)
            else:
                assert found == expected, (title, swaps)


def test_extremes_of_categories() -> None:
    """The extreme of texts is an object, not a number."""
    lazy = md.Series(COLUMNS["ordered"], chunk_size=2)
    assert lazy.max().dtype == lazy.min().dtype == object
    within: Any = lazy.between(lazy.min(), lazy.iloc[1])
    assert within.compute().tolist() == [True, True, False, True, True]
