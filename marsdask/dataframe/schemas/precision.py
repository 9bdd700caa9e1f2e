"""Columns of a type that differs from pandas's in precision."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd


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
