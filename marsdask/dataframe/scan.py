"""Sums and products of all rows so far, and where extreme values are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd

import marsdask.tensor as mt

from .elementwise import Method, rowwise, with_columns
from .frame_node import dtypes_of
from .operands import tensor_beside
from .tensors import to_tensor


def cumulative(name: str, neutral: int) -> Callable[..., Any]:
    """Return the scan of that name as a method; ``neutral`` stands where values are missing."""

    def call(
        self: Any, axis: Any = 0, skipna: bool = True, dtype: Any = None, out: Any = None
    ) -> Any:
        getattr(self.node.meta, name)(axis, skipna, dtype=dtype, out=out)  # refuses here and now
        if axis not in ROWS:
            raise NotImplementedError(f"{name}(axis=1): to_tensor().{name}(axis=1)")
        if not isinstance(self.node.meta, pd.DataFrame):
            return _scanned(self, name, neutral, skipna=skipna)
        labels = tuple(self.columns)
        columns = [_scanned(self[label], name, neutral, skipna=skipna) for label in labels]
        return rowwise(with_columns, self, *columns, names=labels)

    call.__name__ = name
    call.__doc__ = f"Accumulate down the rows. See pandas.Series.{name}."
    return call


def _scanned(series: Any, name: str, neutral: int, *, skipna: bool) -> Any:
    _check_numeric(series, name)
    filled = rowwise(Method("fillna"), series, neutral) if skipna else series
    found = tensor_beside(series, getattr(to_tensor(filled), name)(), "{} values for {} rows")
    found = rowwise(Method("astype"), found, getattr(series.node.meta, name)().dtype)
    return found.where(series.notna()) if skipna and series.dtype.kind == "f" else found


def extreme_position(name: str) -> Callable[..., Any]:
    """Return ``argmax`` or ``argmin`` as a method."""

    def call(self: Any, axis: Any = None, skipna: bool = True, out: Any = None) -> Any:
        _check_numeric(self, name)
        if out is not None or axis not in {None, *ROWS}:
            raise NotImplementedError(f"{name}(axis=, out=): to_tensor().{name}()")
        found = getattr(mt, f"nan{name}" if skipna else name)
        return found(to_tensor(self))

    call.__name__ = name
    call.__doc__ = f"Return the position of an extreme value. See pandas.Series.{name}."
    return call


def _check_numeric(rows: Any, name: str) -> None:
    (dtype,) = dtypes_of(rows.node.meta)
    if getattr(dtype, "kind", "O") not in "biuf" or isinstance(
        dtype, pd.api.extensions.ExtensionDtype
    ):
        raise NotImplementedError(f"{name}() of {dtype}: astype() a numeric type of NumPy's")


#: What pandas calls the axis that scans go down.
ROWS = (None, 0, "index", "rows")
