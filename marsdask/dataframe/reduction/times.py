"""Means, medians and quantiles of times: those of integers from the earliest time on."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..arguments.pandas_arguments import check_boolean
from ..elementwise.rowwise import rowwise
from ..nodes.dtypes import OneType, is_small
from ..nodes.frame_node import axis_number
from . import quantiles
from .aggregate import scalar_of
from .fold import assembled
from .reductions import collection_of, reduction

if TYPE_CHECKING:
    from marsdask.tensor import Tensor

    from ..series import Series

_mean = reduction("mean")


def mean(obj: Any, axis: Any = 0, **options: Any) -> Series | Tensor:
    """Return the means down the rows, or across them. See pandas.DataFrame.mean.

    Differs from pandas: means of times are exact, where pandas rounds sums of them.
    """
    if _kind(obj.node.meta) != "M":
        result: Series | Tensor = _mean(obj, axis, **options)  # type: ignore[operator]
        return result
    options = {key: value for key, value in options.items() if value is not None}
    if extra := set(options) - {"skipna", "numeric_only"}:
        raise TypeError(f"mean() got an unexpected keyword argument {extra.pop()!r}")
    check_boolean("skipna", options.get("skipna", True), none=False)
    series = _in_one_unit(obj)
    start, apart = _from_start(series)
    return _time(series, start, apart.mean(), axis, **options)


def median(
    obj: Any, axis: Any = 0, *, skipna: bool = True, numeric_only: bool = False
) -> Series | Tensor:
    """Return the exact medians down the rows, or across them. See pandas.DataFrame.median.

    Down the rows it costs two passes over each column.
    """
    check_boolean("skipna", skipna, none=False)
    if not _kind(obj.node.meta):
        return quantiles.median(obj, axis, skipna=skipna, numeric_only=numeric_only)
    series = _in_one_unit(obj)
    start, apart = _from_start(series)
    return _time(series, start, apart.median(), axis, skipna=skipna, numeric_only=numeric_only)


def quantile(series: Series, q: Any = 0.5, interpolation: str = "linear") -> Series | Tensor:
    """Return quantiles: a series for several ``q``. See pandas.Series.quantile."""
    meta = series.node.meta
    if not _kind(meta):
        return quantiles.quantile_of(series, q, interpolation)
    series = _in_one_unit(series)
    # Not from the earliest one on: floats of the same size round as pandas's do.
    apart = rowwise(as_integers, series.dropna())
    start = apart.min() * 0
    result: Any = quantiles.quantile_of(apart, q, interpolation)
    if np.ndim(q) == 0:
        return _time(series, start, result)
    like = meta.iloc[:0].set_axis(pd.Index([], dtype=float)).reindex(q)
    how: Any = {"index": like.index, "name": meta.name, "dtype": meta.dtype}
    rows: Series = assembled(
        as_times,
        [start, quantiles.selected(apart, q, interpolation), *_in_unit(series)],
        like,
        title="quantile",
        typed=series.node.settled,
        **how,
    )
    return rows


def _kind(meta: Any) -> str:
    """Return the kind of a column of times: ``"M"``, ``"m"`` or none."""
    kind = getattr(getattr(meta, "dtype", None), "kind", "O")
    return kind if kind in ("m", "M") else ""


def _in_one_unit(series: Any) -> Any:
    """Return times in one unit: the one of all rows, or that is declared if these are many."""
    node = series.node
    if node.settled:
        return series
    return collection_of(OneType(node)) if is_small(node) else series.astype(node.meta.dtype)


def _in_unit(series: Any) -> list[Any]:
    """Return the first row, if only values tell the type of all."""
    return [] if series.node.settled else [series.head(1)]


def _from_start(series: Any) -> tuple[Any, Any]:
    """Return the earliest time as an integer, and the times that are there from it on."""
    whole = rowwise(as_integers, series.dropna())
    start = whole.min()
    return start, rowwise(apart_from, whole, start)


def apart_from(block: Any, start: Any) -> Any:
    """Return integers from the least one on, which is missing if there are none."""
    return block - scalar_of(start) if len(block) else block


def as_integers(block: Any) -> Any:
    """Return times as integers, in their unit."""
    return block.astype(np.int64)


def _time(
    series: Any,
    start: Any,
    apart: Any,
    axis: Any = 0,
    *,
    skipna: bool = True,
    numeric_only: bool = False,
) -> Tensor:
    meta = series.node.meta
    if axis is not None:
        axis_number(meta, axis)
    if numeric_only:
        raise TypeError("Series.median does not allow numeric_only=True with non-numeric dtypes.")
    gaps: Any = [] if skipna else [series.isna().any()]
    parts = [start, apart, *_in_unit(series), *gaps]
    like = pd.Series([0]).astype(meta.dtype).iloc[0]
    how = {"dtype": meta.dtype, "skipna": skipna, "typed": series.node.settled}
    result: Tensor = assembled(as_time, parts, like, title="mean", **how)
    return result


def as_time(start: Any, apart: Any, *rest: Any, dtype: Any, skipna: bool) -> Any:
    """Return the time that is ``apart`` from the earliest one; none if that is missing.

    The ``rest`` is the first row, if only values tell the type, and whether a time is missing.
    """
    if not skipna and rest[-1]:
        return pd.NaT
    first = rest if skipna else rest[:-1]
    return as_times(start, [scalar_of(apart)], *first, dtype=dtype).iloc[0]


def as_times(
    start: Any, apart: Any, first: Any = None, *, dtype: Any, index: Any = None, name: Any = None
) -> pd.Series:
    """Return the times that are ``apart`` from the earliest one, in the type of ``first``."""
    values = [_added(start, float(duration)) for duration in apart]
    dtype = dtype if first is None else first.dtype
    return pd.Series(values, index, dtype="Int64", name=name).astype(dtype)


def _added(start: Any, apart: float) -> Any:
    """Return a sum as an integer, rounded towards zero as in pandas; missing if one is."""
    if math.isnan(apart):
        return None
    whole = math.floor(apart)
    value = int(scalar_of(start)) + whole
    return value + 1 if value < 0 and apart > whole else value
