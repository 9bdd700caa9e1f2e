"""Statistics of Arrow's types that NumPy has none of are those that pandas computes."""

from __future__ import annotations

import datetime as dt
import decimal
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import marsdask.dataframe as md
from tests.dataframe.tables import equal

NAMES = ["sum", "mean", "min", "max", "std", "var", "sem", "skew", "kurt", "any", "all"]
COLUMNS = [["d"], ["d", "i"], ["g", "d"], ["e", "d"], ["e", "d", "f"]]


def arrow(values: list[Any], dtype: Any) -> Any:
    """Return an array of Arrow's."""
    own: Any = pd.ArrowDtype(dtype)
    return pd.array(values, dtype=own)


def decimals(texts: str) -> list[Any]:
    """Return decimals, of which a dash is missing."""
    return [None if text == "-" else decimal.Decimal(text) for text in texts.split()]


FRAME = pd.DataFrame(
    {
        "d": arrow(decimals("1.50 2.25 - -3.00 9.99 0.01"), pa.decimal128(8, 2)),
        "e": arrow(decimals("1.5 2.2345 - - 7 0.01"), pa.decimal128(12, 4)),
        "large": arrow(decimals("- 2.1 9e28 - 1.3 5"), pa.decimal128(38, 3)),
        "i": arrow([1, None, 3, 4, 5, 6], pa.int8()),
        "f": arrow([1.5, None, 2, 3, 4, 5], pa.float32()),
        "g": [1, 2, 1, 2, 1, 2],
    }
)


def _check(result: Any, wanted: Any) -> None:
    if isinstance(wanted, pd.Series):
        equal(result, wanted)
        return
    value = result.compute()
    if isinstance(wanted, decimal.Decimal):
        assert isinstance(value, decimal.Decimal)
        assert value == wanted
    else:
        assert value is pd.NA if wanted is pd.NA else value == pytest.approx(wanted)


@pytest.mark.parametrize("name", NAMES)
def test_statistics_of_decimals(name: str) -> None:
    """Alone and beside other columns, with and without missing values, of rows and of none."""
    lazy = md.DataFrame(FRAME, chunk_size=2)
    for rows, reference in ((lazy, FRAME), (lazy.iloc[:0], FRAME.iloc[:0])):
        for skipna in (True, False):
            for column in ("d", "large") if len(reference) else ("d",):
                wanted = getattr(reference[column], name)(skipna=skipna)
                _check(getattr(rows[column], name)(skipna=skipna), wanted)
    for columns in COLUMNS:
        _check(getattr(lazy[columns], name)(), getattr(FRAME[columns], name)())


def test_all_digits_of_sums_are_kept() -> None:
    """Also beyond those of Python's context, and with too few values."""
    values = pd.Series(arrow(decimals("1e34 0.001 1e34 0.001"), pa.decimal128(38, 3)))
    lazy = md.Series(values, chunk_size=1)
    _check(lazy.sum(), values.sum())
    _check(lazy.mean(), values.mean())
    _check(lazy.sum(min_count=5), pd.NA)


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([dt.time(3, 5), None, dt.time(1), dt.time(7, 30)], pa.time64("us")),
        ([b"b", None, b"", b"z"], pa.binary()),
        ([dt.date(2024, 1, 2), None, dt.date(2023, 1, 1), None], pa.date32()),
    ],
)
def test_extremes_of_other_types(values: list[Any], dtype: Any) -> None:
    """Times of day, bytes and dates have a least and a largest value."""
    series = pd.Series(arrow(values, dtype), name="a")
    lazy = md.Series(series, chunk_size=1)
    assert lazy.min().compute() == series.min()
    assert lazy.min().dtype.kind != "f"
    assert lazy.max().compute() == series.max()
    equal(lazy.to_frame().max(), series.to_frame().max())


@pytest.mark.parametrize("name", ["mean", "std", "sem"])
def test_sums_of_times_of_day_are_refused(name: str) -> None:
    """At the call, in our words."""
    lazy: Any = md.Series(pd.Series(arrow([dt.time(3, 5)], pa.time64("us"))))
    with pytest.raises(NotImplementedError, match="times of day"):
        getattr(lazy, name)()


@pytest.mark.parametrize("name", ["any", "all"])
@pytest.mark.parametrize("values", [[5, None, 1, 2], [0, None, 0, 2], [None, None, 3, None]])
def test_missing_values_that_decide(name: str, values: list[Any]) -> None:
    """Chunks of missing values neither raise nor count as false."""
    frame = pd.DataFrame({"a": arrow(values, pa.int64()), "b": 1})
    lazy = md.DataFrame(frame, chunk_size=1)
    _check(getattr(lazy.a, name)(skipna=False), getattr(frame.a, name)(skipna=False))


@pytest.mark.parametrize("name", ["mean", "prod", "sum", "min"])
def test_groups_of_decimals(name: str) -> None:
    """Their means have the digits of their type, and their products those of all rows."""
    lazy = md.DataFrame(FRAME, chunk_size=2)
    grouped, reference = lazy.groupby("g")[["d", "e"]], FRAME.groupby("g")[["d", "e"]]
    equal(getattr(grouped, name)(), getattr(reference, name)())


def test_choosing_of_dictionaries() -> None:
    """Arrow's dictionaries have values in the samples that show a type."""
    dtype = pa.dictionary(pa.int32(), pa.string())
    series = pd.Series(arrow(["u", "v", None, "u"], dtype), name="a")
    mask = pd.Series([True, False, True, False])
    lazy = md.Series(series, chunk_size=2)
    equal(lazy.where(md.Series(mask, chunk_size=2)), series.where(mask))
