"""Samples of rows: they show the types of results that depend on values."""

from __future__ import annotations

import datetime as dt
import decimal
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pandas.api.extensions import ExtensionDtype

#: The number of rows of a sample.
ROWS = 4


def sample(meta: Any) -> Any:
    """Return a few rows of a meta's types: missing values, zeros, extremes, False."""
    if isinstance(meta, pd.DataFrame):
        columns = {at: column(dtype) for at, dtype in enumerate(meta.dtypes)}
        return pd.DataFrame(columns, index=range(ROWS)).set_axis(meta.columns, axis=1)
    return column(meta.dtype).rename(meta.name)


def with_replaced(rows: Any, replaced: Any) -> Any:
    """Return a sample whose columns also have the texts and numbers that are to be replaced."""
    groups = [*replaced, *replaced.values()] if isinstance(replaced, dict) else [replaced]
    lists = [group if pd.api.types.is_list_like(group) else [group] for group in groups]
    every = [value for values in lists for value in values]
    frame = rows.to_frame() if rows.ndim == 1 else rows
    longer = pd.concat([frame, frame.iloc[[0] * len(every)]])
    for at, dtype in enumerate(frame.dtypes):
        column = frame.iloc[:, at]
        values = [value if _holds(dtype, value) else column.iloc[0] for value in every]
        if isinstance(dtype, pd.StringDtype) or _is_number(dtype):
            longer.isetitem(at, pd.Series([*column, *values], longer.index, dtype))
    return longer.iloc[:, 0].rename(rows.name) if rows.ndim == 1 else longer


def _is_number(dtype: Any) -> bool:
    return isinstance(dtype, np.dtype) and dtype.kind in "iuf"


def _holds(dtype: Any, value: Any) -> bool:
    """Tell whether a text or a number is a value of a type."""
    if isinstance(dtype, pd.StringDtype):
        return isinstance(value, str)
    if not _is_number(dtype) or not isinstance(value, int | float | np.number):
        return False
    with np.errstate(all="ignore"):
        number = np.asarray(value)
        return not isinstance(value, complex) and bool(number.astype(dtype) == number)


def column(dtype: Any) -> Any:
    """Return a few values of a type."""
    if isinstance(dtype, pd.IntervalDtype):
        borders = pd.Series(range(ROWS + 1)).astype(dtype.subtype)  # type: ignore[arg-type]
        return pd.Series(pd.arrays.IntervalArray.from_breaks(borders, dtype.closed or "right"))
    kind = getattr(dtype, "kind", "O")
    plain = isinstance(dtype, np.dtype)
    values: Any = [None] * ROWS
    if plain and kind in "iu":
        values = [1, 0, np.iinfo(dtype).min, np.iinfo(dtype).max]
    elif kind == "b" and plain:
        values = [True, False, True, False]
    elif kind in "fc" and plain:
        values = [1.0, 0.0, np.nan, np.inf]
    elif kind in "mM" or (kind in "biuf" and not isinstance(dtype, pd.SparseDtype)):
        values = [1, None, 0, None]
    elif isinstance(dtype, pd.PeriodDtype):
        ends = pd.period_range("1970", periods=2, freq=dtype.freq)
        values = [ends[0], None, ends[1], None]
    elif isinstance(dtype, pd.StringDtype) or (plain and kind == "O"):
        values = ["a", None, "b", ""]
    elif isinstance(dtype, pd.CategoricalDtype) and len(dtype.categories):
        values = pd.Categorical.from_codes([0, -1, len(dtype.categories) - 1, -1], dtype=dtype)
    elif isinstance(dtype, pd.ArrowDtype):
        values = _of_arrow(dtype.pyarrow_dtype)
    elif isinstance(dtype, ExtensionDtype) and not isinstance(dtype, pd.SparseDtype):
        values = [dtype.na_value] * ROWS
    return pd.Series(values, dtype=dtype)


def _of_arrow(kind: Any) -> list[Any]:
    """Return a few values of a type of Arrow's that is neither of numbers nor of times."""
    types = pa.types
    if types.is_string(kind) or types.is_large_string(kind):
        return ["a", None, "b", ""]
    if types.is_binary(kind) or types.is_large_binary(kind):
        return [b"a", None, b"b", b""]
    if types.is_date(kind):
        return [dt.date(1970, 1, 1), None, dt.date(1970, 1, 2), None]
    if types.is_decimal(kind):
        return [decimal.Decimal(0), None, decimal.Decimal(0), None]
    if types.is_time(kind):
        return [dt.time(), None, dt.time(), None]
    if types.is_dictionary(kind) and not types.is_dictionary(kind.value_type):
        return list(column(pd.ArrowDtype(kind.value_type)))
    return [None] * ROWS


def row(meta: pd.DataFrame) -> Any:
    """Return one row of an empty frame's types, including those of the labels."""
    rows = sample(meta).iloc[:1]
    labels = meta.index
    if isinstance(labels, pd.MultiIndex):
        levels = [column(level.dtype)[:1] for level in labels.levels]
        return rows.set_axis(pd.MultiIndex.from_arrays(levels, names=labels.names))
    return rows.set_axis(pd.Index(column(labels.dtype)[:1], name=labels.name))


def without_rows(found: Any, like: Any) -> Any:
    """Return an object without rows, with the labels of another."""
    return found.iloc[:0].set_axis(like.index, axis=0)


def with_a_column(metas: Sequence[Any], gaps: Sequence[bool]) -> list[Any]:
    """Return metas whose labels pandas joins: it leaves out those without columns and rows.

    ``gaps`` tells which ones stand for rows without columns, which have labels.
    """
    return [
        pd.DataFrame(columns=[0], index=meta.index) if gap else meta
        for meta, gap in zip(metas, gaps, strict=True)
    ]


def joined_columns(parts: Sequence[pd.DataFrame], like: pd.DataFrame) -> pd.DataFrame:
    """Return joined parts without rows, with those columns of another frame that a part lacks."""
    lacking = [label for label in like.columns if not all(label in part.columns for part in parts)]
    joined = pd.concat(parts).drop(columns=lacking, errors="ignore").iloc[:0]
    for at, label in enumerate(like.columns):
        if label in lacking:
            joined.insert(at, label, like[label].iloc[:0].array)
    return joined


def gaps_of(rows: Any) -> frozenset[int]:
    """Return the levels of integers or truth values that have gaps, where others have NaN."""
    index = rows if isinstance(rows, pd.Index) else getattr(rows, "index", None)
    if not isinstance(index, pd.MultiIndex):
        return frozenset()
    plain = [isinstance(dtype, np.dtype) and dtype.kind in "iub" for dtype in index.dtypes]
    return frozenset(
        at for at, codes in enumerate(index.codes) if plain[at] and (np.asarray(codes) < 0).any()
    )


def with_gaps(meta: Any, gaps: frozenset[int]) -> Any:
    """Return one row of a meta's types, whose labels have gaps; the meta if there are none."""
    if not gaps:
        return meta
    index = meta if isinstance(meta, pd.Index) else meta.index
    labels = labels_like(index)[:1].set_codes([[-1]] * len(gaps), level=[*gaps])
    return labels if meta is index else sample(meta).iloc[:1].set_axis(labels)


def labels_like(index: pd.Index) -> Any:
    """Return the labels of a sample, of an index's types."""
    if isinstance(index, pd.MultiIndex):
        levels = [column(dtype) for dtype in index.dtypes]
        return pd.MultiIndex.from_arrays(levels, names=index.names)
    if isinstance(index, pd.RangeIndex):
        return pd.RangeIndex(ROWS, name=index.name)
    return pd.Index(column(index.dtype), name=index.name)
