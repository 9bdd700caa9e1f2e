"""Frames and series of lazy values, with the labels and the type that a user asks for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from typing import cast as typed

import numpy as np
import pandas as pd
from pandas.api.types import is_scalar

from marsdask.core.arguments import plain_values
from marsdask.core.collection import Collection
from marsdask.core.public import public_call

from ..create import frame_from_tensor, in_memory, series_from_tensor
from ..rows import alignment
from ..whole.calls import function_by_pandas

if TYPE_CHECKING:
    from ..frame import DataFrame
    from ..series import Series


def has_lazy_columns(data: Any) -> bool:
    """Tell whether data of a frame are lazy, or a dict of which a value is."""
    values = data.values() if isinstance(data, Mapping) else [data]
    return any(isinstance(item, Collection) for item in values)


@public_call
def frame_of_lazy(data: Any, index: Any, columns: Any, dtype: Any) -> DataFrame:
    """Return the frame of ``md.DataFrame(data, ...)`` of lazy data. See pandas.DataFrame."""
    if isinstance(data, Mapping):
        return _frame_of_columns(data, index, columns, dtype)
    meta = data.node.meta
    if isinstance(meta, pd.Index):
        data = data.to_series().reset_index(drop=True)
        meta = data.node.meta
    if isinstance(meta, np.ndarray) and meta.dtype.names:
        return _frame_of_columns(_fields(data), index, columns, dtype)
    if isinstance(meta, np.ndarray):
        frame: Any = frame_from_tensor(data, columns)
        frame = frame if index is None else frame.set_axis(index)
    elif isinstance(meta, pd.Series | pd.DataFrame):
        frame = _with_columns(data, meta, columns)
        frame = frame if index is None else frame.reindex(index)
    else:
        raise TypeError(f"cannot convert {type(data).__name__} to a DataFrame")
    return typed("DataFrame", frame if dtype is None else frame.astype(dtype))


def _fields(records: Any) -> dict[Any, Any]:
    return {name: records[name] for name in records.dtype.names}


def frame_of_records(
    data: Any,
    index: Any = None,
    exclude: Any = None,
    columns: Any = None,
    coerce_float: bool = False,
    nrows: int | None = None,
) -> DataFrame:
    """Return a frame of a tensor of records. See pandas.DataFrame.from_records."""
    if coerce_float:
        raise NotImplementedError(
            "from_records(coerce_float=True) of a tensor is not supported; use astype()"
        )
    del nrows  # pandas takes it of iterators
    names = data.dtype.names
    listed = [index] if isinstance(index, str) else index
    known = names or columns or range(data.shape[1])
    by_fields = isinstance(listed, list) and all(label in known for label in listed)
    if names and columns is not None:
        data = data[list(columns)]
    frame = frame_of_lazy(data, None if by_fields else index, columns, None)
    if by_fields:
        dtypes = frame.dtypes
        frame = frame.set_index(listed)
        if isinstance(index, str):  # set_index() makes labels of 64 bits
            frame.index = frame.index.astype(dtypes[listed[0]])
    return frame if exclude is None else frame.drop(columns=exclude)


def _with_columns(data: Any, meta: Any, columns: Any) -> Any:
    """Return a frame or a series as a frame of some columns, as pandas.DataFrame chooses them."""
    if meta.ndim == 2:
        return data if columns is None else data.reindex(columns=columns)
    if columns is None:
        return data.to_frame()
    if meta.name is None:
        return data.to_frame().set_axis(columns, axis=1)
    return _frame_of_columns({meta.name: data}, None, columns, None)


def _frame_of_columns(data: Mapping[Any, Any], index: Any, columns: Any, dtype: Any) -> DataFrame:
    labels = list(data) if columns is None else list(columns)
    chosen = {key: _column(data[key]) for key in labels if key in data}
    kinds = {key: _kind(item) for key, item in chosen.items()}
    series = [item for key, item in chosen.items() if kinds[key] == "series"]
    rows = {alignment(item.node) if isinstance(item, Collection) else None for item in series}
    if (
        len(rows) > 1
        or None in rows
        or (series and index is not None)
        or set(kinds.values()) <= {"scalar"}
    ):
        refusal = "a dict of lazy columns of different labels is not supported; use concat(axis=1)"
        how = {"index": index, "columns": columns, "dtype": dtype}
        whole = function_by_pandas("DataFrame", (data,), how, NotImplementedError(refusal))
        return typed("DataFrame", whole)
    first = next(
        (key for kind in ("series", "values") for key in chosen if kinds[key] == kind), None
    )
    frame: Any = _one_column(chosen[first], first)
    for key, item in chosen.items():
        if key != first:
            frame[key] = item
    if index is not None:
        frame = frame.set_axis(index)
    for key in labels:
        if key not in chosen:
            frame[key] = pd.Series(np.nan, dtype=object)
    frame = frame[labels]
    return typed("DataFrame", frame if dtype is None else frame.astype(dtype))


def _column(item: Any) -> Any:
    if isinstance(item, Mapping):
        return pd.Series(item)
    return item if isinstance(item, Collection) else plain_values(item)


def _kind(item: Any) -> str:
    """Return what a value of a dict gives to a frame: a series, values of rows or a scalar."""
    meta = item.node.meta if isinstance(item, Collection) else item
    if isinstance(meta, pd.Series):
        return "series"
    return "scalar" if is_scalar(meta) or np.ndim(meta) == 0 else "values"


def _one_column(item: Any, label: Any) -> Any:
    if not isinstance(item, Collection):
        lazy: Any = in_memory(pd.DataFrame({0: item}), None, None, copy=True)
        return lazy.set_axis([label], axis=1)
    return frame_of_lazy(item, None, None, None).set_axis([label], axis=1)


@public_call
def series_of_lazy(data: Any, index: Any, dtype: Any, name: Any) -> Series:
    """Return the series of ``md.Series(data, ...)`` of lazy data. See pandas.Series."""
    if isinstance(data.node.meta, np.ndarray):
        series: Any = series_from_tensor(data)
        series = series if index is None else series.set_axis(index)
    else:
        is_index = isinstance(data.node.meta, pd.Index)
        series = data.to_series().reset_index(drop=True) if is_index else data
        series = series if index is None else series.reindex(index)
    series = series if dtype is None else series.astype(dtype)
    return typed("Series", series if name is None else series.rename(name))
