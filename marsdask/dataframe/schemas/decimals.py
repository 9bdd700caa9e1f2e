"""Sums and means of Arrow's decimals: exact, and rounded to the digits of their type."""

from __future__ import annotations

import decimal
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

#: More digits than a sum of decimals has, and than tell whether a mean lies between two of them.
EXACT = decimal.Context(prec=160, rounding=decimal.ROUND_HALF_UP)


def is_decimal(dtype: Any) -> bool:
    """Tell whether a type is one of Arrow's decimals."""
    return isinstance(dtype, pd.ArrowDtype) and pa.types.is_decimal(dtype.pyarrow_dtype)


def has_decimals(dtypes: Any) -> bool:
    """Tell whether any type is one of Arrow's decimals."""
    return any(map(is_decimal, dtypes))


def by_items(func: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    """Combine the values of columns; those of objects stay ``None`` if they are missing.

    Arrow's decimals stay in their type: Arrow gives each sum one more digit.
    """
    if a.dtype != object and not is_decimal(a.dtype):
        return func(a, b)
    pairs = zip(a, b, strict=True)
    if is_decimal(a.dtype):
        with decimal.localcontext(EXACT):
            values = [_combined(func, x, y, a.dtype) for x, y in pairs]
        return pd.Series(values, a.index, a.dtype)
    values = [None if x is None or y is None else func(x, y) for x, y in pairs]
    return pd.Series(values, a.index, object)


def _combined(func: Callable[[Any, Any], Any], a: Any, b: Any, dtype: Any) -> Any:
    return pd.NA if a is pd.NA or b is pd.NA else _rounded(func(a, b), dtype)


def means(totals: pd.Series, counts: pd.Series, dtypes: Any) -> pd.Series:
    """Return the means of columns of which some are decimals, as Arrow rounds them."""
    values = [_mean(*column) for column in zip(totals.array, counts.array, dtypes, strict=True)]
    return pd.Series(values, totals.index, object)


def _mean(total: Any, count: Any, dtype: Any) -> Any:
    if not count or pd.isna(total):
        return np.nan if isinstance(dtype, np.dtype) else pd.NA
    if not is_decimal(dtype):
        mean = float(total) / int(count)
        return np.float64(mean) if isinstance(dtype, np.dtype) else mean
    with decimal.localcontext(EXACT):
        return _rounded(total / int(count), dtype)


def _rounded(value: Any, dtype: Any) -> Any:
    return value.quantize(decimal.Decimal(1).scaleb(-dtype.pyarrow_dtype.scale))


def check_times(dtypes: Any, name: str) -> None:
    """Raise for sums of times of day, which Arrow has none of."""
    if name in {"mean", "std", "sem"} and any(map(_is_time_of_day, dtypes)):
        raise NotImplementedError(
            f"{name}() of Arrow's times of day is not supported; use astype() and integers"
        )


def _is_time_of_day(dtype: Any) -> bool:
    return isinstance(dtype, pd.ArrowDtype) and pa.types.is_time(dtype.pyarrow_dtype)
