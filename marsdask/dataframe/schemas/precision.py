"""Columns of a type that differs from pandas's in precision."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from .decimals import is_decimal


def in_doubles(frame: pd.DataFrame, dtypes: tuple[Any, ...]) -> pd.DataFrame:
    """Return short floats as doubles: a rounded mean is far from large values that are close.

    Arrow computes deviations of decimals of doubles.
    """
    short: dict[Any, Any] = {
        at: _double(dtype)
        for at, dtype in enumerate(frame.dtypes)
        if dtype in dtypes or is_decimal(dtype)
    }
    if not short:
        return frame
    wide = frame.set_axis(range(frame.shape[1]), axis=1).astype(short)
    return wide.set_axis(frame.columns, axis=1)


def _double(dtype: Any) -> Any:
    if isinstance(dtype, pd.ArrowDtype):
        return pd.ArrowDtype(pa.float64())
    return pd.Float64Dtype() if isinstance(dtype, pd.Float32Dtype) else float


def in_precision(column: Any, dtype: Any) -> Any:
    """Cast a column to pandas's type if the two differ in precision only, and its values fit."""
    kinds = getattr(column.dtype, "kind", "O") + getattr(dtype, "kind", "O")
    if column.dtype == dtype or kinds not in {"ff", "ii", "uu", "iu", "ui"}:
        return column
    if isinstance(dtype, pd.ArrowDtype) and dtype.kind in "iu":
        limits: Any = np.iinfo(str(dtype).removesuffix("[pyarrow]"))
        if not column.between(limits.min, limits.max).fillna(True).all():
            return column
    result = column.astype(dtype)
    return result if kinds == "ff" or (result == column).all() else column
