"""``describe``: a few statistics of each column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype
from pandas.arrays import FloatingArray, IntegerArray

from ..keyed.unique import drop_duplicates
from ..keyed.value_counts import value_counts
from ..schemas.samples import column as values_of
from . import times
from .aggregate import scalar_of
from .column_blocks import PandasCall, by_blocks
from .fold import assembled
from .quantiles import columns_of, quantile_of

if TYPE_CHECKING:
    from ..series import Series


def describe(obj: Any, percentiles: Any = None, include: Any = None, exclude: Any = None) -> Any:
    """Return statistics of the values, or of each column. See pandas.DataFrame.describe.

    Quantiles are exact, and cost two passes. All rows meet in one task if a column has lengths of
    time or pyarrow's numbers.
    """
    meta = obj.node.meta
    sample = _sample(meta)
    like = sample.describe(percentiles, include, exclude)  # raises pandas's errors
    shares = [0.25, 0.5, 0.75] if percentiles is None else sorted(np.asarray(percentiles).tolist())
    if meta.ndim == 2:
        obj = _chosen(obj, include, exclude)
        call = PandasCall("describe", (percentiles,), (("include", "all"),))
        if (blocks := by_blocks(obj, call, like, typed=False)) is not None:
            return blocks
    if not all(_has_parts(column.node.meta.dtype) for column in columns_of(obj)):
        how = {"percentiles": percentiles, "include": include, "exclude": exclude}
        return assembled(described_at_once, [obj], like, title="describe", typed=False, **how)
    kinds, parts, counts = [], [], []
    for column in columns_of(obj):
        kind = _kind(column.node.meta.dtype)
        stats = PARTS[kind](column, shares)
        kinds.append(kind)
        parts.extend(stats)
        counts.append(len(stats))
    how = {"kinds": tuple(kinds), "counts": tuple(counts), "shares": tuple(shares)}
    how |= {"dtypes": tuple(column.node.meta.dtype for column in columns_of(obj))}
    labels = like.columns if meta.ndim == 2 else like.name
    return assembled(described, parts, like, title="describe", labels=labels, **how)


def _sample(meta: Any) -> Any:
    """Return a few rows of the types, without missing values that change those of results."""
    columns = meta.to_frame(0) if meta.ndim == 1 else meta
    values = {at: _values(dtype) for at, dtype in enumerate(columns.dtypes)}
    frame = pd.DataFrame(values, index=range(2))
    return frame[0].rename(meta.name) if meta.ndim == 1 else frame.set_axis(meta.columns, axis=1)


def _values(dtype: Any) -> Any:
    if isinstance(dtype, pd.IntervalDtype):
        return values_of(dtype)[:2]  # those of integers cannot be missing
    plain = getattr(dtype, "kind", "O") in "biufM"
    return pd.Series([1, 0] if plain else [None, None], dtype=dtype)


def _chosen(frame: Any, include: Any, exclude: Any) -> Any:
    """Return the columns that pandas describes."""
    if include is None and exclude is None:
        result = frame.select_dtypes(include=[np.number, "datetime"])
        return result if len(result.node.meta.columns) else frame
    if isinstance(include, str) and include == "all":
        return frame
    return frame.select_dtypes(include=include, exclude=exclude)


def _kind(dtype: Any) -> str:
    if is_bool_dtype(dtype):
        return "values"
    if getattr(dtype, "kind", "O") == "M":
        return "times"
    if isinstance(dtype, np.dtype) and dtype.kind in "iuf":
        return "numbers"
    if isinstance(pd.Series([], dtype=dtype).array, IntegerArray | FloatingArray):
        return "masked"
    return "values"


def _has_parts(dtype: Any) -> bool:
    """Tell whether the description of a column is put together from those of its chunks."""
    has_values = _kind(dtype) == "values" and not is_bool_dtype(dtype) and is_numeric_dtype(dtype)
    return not has_values and getattr(dtype, "kind", "O") != "m"


def _quantiles(column: Any, shares: list[float]) -> Any:
    result: Any = quantile_of(column, shares)
    return result.to_tensor()


def _of_numbers(column: Series, shares: list[float]) -> list[Any]:
    stats = [column.count(), column.mean(), column.std(), column.min()]
    return [*stats, *([_quantiles(column, shares)] if shares else []), column.max()]


def _of_masked(column: Series, shares: list[float]) -> list[Any]:
    return _of_numbers(column.astype(float), shares)


def _of_times(column: Series, shares: list[float]) -> list[Any]:
    middle = [times.quantile(column, shares)] if shares else []
    return [column.count(), times.mean(column), column.min(), *middle, column.max()]


def _of_values(column: Series, shares: list[float]) -> list[Any]:
    del shares
    return [column.count(), drop_duplicates(column).count(), value_counts(column).nlargest(1)]


#: The lazy parts of the description of a column, by its kind.
PARTS = {"numbers": _of_numbers, "masked": _of_masked, "times": _of_times, "values": _of_values}


def described_at_once(rows: Any, **options: Any) -> Any:
    """Return the description of all rows."""
    return rows.describe(**options)


def described(
    *parts: Any, kinds: Any, counts: Any, shares: Any, dtypes: Any, labels: Any
) -> pd.Series | pd.DataFrame:
    """Put the statistics of all columns together, in the order of pandas."""
    scalars, stats = list(map(scalar_of, parts)), []
    for kind, count, dtype in zip(kinds, counts, dtypes, strict=True):
        own, scalars = scalars[:count], scalars[count:]
        stats.append(COLUMNS[kind](own, shares, dtype))
    if not isinstance(labels, pd.Index):
        return stats[0].rename(labels)
    rows: list[Any] = list(
        dict.fromkeys(x for column in sorted(stats, key=len) for x in column.index)
    )
    frame = pd.concat(stats, axis=1, ignore_index=True, sort=False).reindex(rows)
    return frame.set_axis(labels, axis=1)


def _titles(shares: Any) -> list[str]:
    """Return the names of quantiles, as pandas writes them."""
    return list(pd.Series([0.0]).describe(list(shares)).index[4:-1])


def _numbers(parts: list[Any], shares: Any, dtype: Any) -> pd.Series:
    count, mean, std, least, *quantiles, largest = parts
    values = [count, mean, std, least, *(quantiles[0].tolist() if quantiles else []), largest]
    index = ["count", "mean", "std", "min", *_titles(shares), "max"]
    # Rows tell that integers of labels that were joined are those with NA.
    plain = isinstance(dtype, np.dtype) and not any(value is pd.NA for value in values)
    return pd.Series(values, index, dtype=float if plain else "Float64")


def _times(parts: list[Any], shares: Any, dtype: Any) -> pd.Series:
    del dtype
    count, mean, least, *quantiles, largest = parts
    middle = list(quantiles[0]) if quantiles else []
    index = ["count", "mean", "min", *_titles(shares), "max"]
    return pd.Series([count, mean, least, *middle, largest], index)


def _values_of(parts: list[Any], shares: Any, dtype: Any) -> pd.Series:
    del shares, dtype
    count, distinct, most = parts
    index = ["count", "unique", "top", "freq"]
    if not distinct:
        return pd.Series([count, 0, np.nan, np.nan], index, dtype=object)
    return pd.Series([count, distinct, most.index[0], most.iloc[0]], index)


#: What makes the description of a column of its parts, by its kind.
COLUMNS = {"numbers": _numbers, "masked": _numbers, "times": _times, "values": _values_of}
