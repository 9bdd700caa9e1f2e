"""Covariances and correlations of pairs of columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from marsdask.core.machine.costs import kernel

from ..elementwise.operands import lazy_rows
from ..elementwise.rowwise import rowwise
from ..nodes.frame_node import axis_number
from ..ordered.rank import rank_columns
from ..rows import check_aligned
from .fold import FrameFold, assembled
from .moments import (
    ProductSums,
    finish_corr,
    finish_cov,
    map_finite_products,
    map_products,
    merge_products,
)
from .quantiles import columns_of, numeric_columns
from .reductions import collection_of

if TYPE_CHECKING:
    from marsdask.tensor import Tensor

    from ..frame import DataFrame
    from ..series import Series


def _folded(obj: Any, title: str, finish: Any, like: Any, **options: Any) -> Any:
    meta = like.iloc[:0] if isinstance(like, pd.DataFrame) else np.zeros(())
    rows = len(like) if isinstance(like, pd.DataFrame) else None
    map_ = map_products if like is None else map_finite_products
    steps = (map_, merge_products, finish)
    return collection_of(
        FrameFold(meta, rows, False, title, obj.node, steps, tuple(options.items()))
    )


def covariances(found: ProductSums | None, *, columns: Any, **options: Any) -> Any:
    """Return the matrix of covariances."""
    return finish_cov(_or_none(found, columns), columns=columns, **options)


def correlations(found: ProductSums | None, *, columns: Any, **options: Any) -> Any:
    """Return the matrix of correlations."""
    return finish_corr(_or_none(found, columns), columns=columns, **options)


def _or_none(found: ProductSums | None, columns: Any) -> ProductSums:
    """Return the products of no rows if there are none."""
    zeros = np.zeros((len(columns), len(columns)))
    default = ProductSums(zeros, zeros, zeros, zeros, 0, np.zeros(len(columns), bool))
    return default if found is None else found


def covariance(found: ProductSums | None, **options: Any) -> Any:
    """Return the covariance of two columns."""
    products = _or_none(found, range(2))._replace(missing=0, infinite=np.zeros(2, bool))
    return covariances(products, columns=range(2), **options).iat[0, 1]


def correlation(found: ProductSums | None, **options: Any) -> Any:
    """Return the correlation of two columns."""
    return correlations(found, columns=range(2), **options).iat[0, 1]


def cov(
    frame: Any, min_periods: int | None = None, ddof: int = 1, numeric_only: bool = False
) -> DataFrame:
    """Return the covariances of all pairs of columns, in one pass. See pandas.DataFrame.cov."""
    if any(dtype.kind in "mM" for dtype in frame.node.meta.dtypes):  # chosen or not
        raise TypeError(
            "DataFrame contains columns with dtype datetime64 or timedelta64, which are not "
            "supported for cov."
        )
    frame = _numbers_of(frame, "cov", numeric_only=numeric_only)
    labels = frame.node.meta.columns
    like = pd.DataFrame(0.0, labels, labels)
    options = {"columns": labels, "least": min_periods or 1, "ddof": ddof}
    matrix: DataFrame = _folded(frame, "cov", covariances, like, **options)
    return matrix


def corr(
    frame: Any, method: Any = "pearson", min_periods: int = 1, numeric_only: bool = False
) -> DataFrame:
    """Return the correlations of all pairs of columns, in one pass. See pandas.DataFrame.corr.

    Those of ranks sort each pair of columns. Infinite values are missing ones, as in pandas. All
    rows meet in one task for ``method="kendall"`` and for functions.
    """
    _check_method(method)
    frame = _numbers_of(frame, "corr", numeric_only=numeric_only)
    labels = frame.node.meta.columns
    like = pd.DataFrame(0.0, labels, labels)
    if _sees_all_rows(method):
        options = {"method": method, "least": min_periods}
        of_all: DataFrame = assembled(all_correlations, [frame], like, title="corr", **options)
        return of_all
    if method == "spearman":
        columns = columns_of(rowwise(finite, frame))
        pairs = [(a, b) for at, a in enumerate(columns) for b in columns[: at + 1]]
        values = [corr_with(a, b, method, min_periods) for a, b in pairs]
        ranked: DataFrame = assembled(both_triangles, values, like, title="corr", labels=labels)
        return ranked
    matrix: DataFrame = _folded(
        frame, "corr", correlations, like, columns=labels, least=min_periods
    )
    return matrix


def _sees_all_rows(method: Any) -> bool:
    return method == "kendall" or callable(method)


@kernel(scratch=3.0)
def all_correlations(block: Any, method: Any, least: int) -> Any:
    """Return the correlations of all pairs of columns of all rows."""
    return block.corr(method, min_periods=least)


@kernel(scratch=3.0)
def pair_correlation(block: Any, method: Any, least: int | None) -> Any:
    """Return the correlation of two columns of all rows."""
    return np.asarray(block[0].corr(block[1], method, min_periods=least), dtype=float)


def finite(frame: pd.DataFrame) -> pd.DataFrame:
    """Return numbers, missing where they are infinite."""
    return frame.where(~frame.isin([np.inf, -np.inf]))


def both_triangles(*values: Any, labels: pd.Index) -> pd.DataFrame:
    """Return a symmetric matrix from the values up to its diagonal, row by row."""
    lower = np.zeros((len(labels), len(labels)))
    lower[np.tril_indices(len(labels))] = [float(value) for value in values]
    return pd.DataFrame(np.where(lower == 0, lower.T, lower), labels, labels)


def cov_with(series: Any, other: Any, min_periods: int | None = None, ddof: int = 1) -> Tensor:
    """Return the covariance with another column of the same rows. See pandas.Series.cov."""
    if int(ddof) != ddof:
        raise ValueError("ddof must be integer")
    pair = _both(series, other, "cov")
    result: Tensor = _folded(pair, "cov", covariance, None, least=min_periods or 1, ddof=ddof)
    return result


def corr_with(
    series: Any, other: Any, method: Any = "pearson", min_periods: int | None = None
) -> Tensor:
    """Return the correlation with another column of the same rows. See pandas.Series.corr."""
    _check_method(method)
    pair = _both(series, other, "corr")
    if _sees_all_rows(method):
        options = {"method": method, "least": min_periods}
        value: Tensor = assembled(pair_correlation, [pair], 0.0, title="corr", **options)
        return value
    if method == "spearman":
        pair = rank_columns(pair.dropna())
    result: Tensor = _folded(pair, "corr", correlation, None, least=min_periods or 1)
    return result


def corrwith(
    frame: Any,
    other: Any,
    axis: Any = 0,
    drop: bool = False,
    method: Any = "pearson",
    numeric_only: bool = False,
    min_periods: int | None = None,
) -> Series:
    """Return the correlations with a column, or with the columns of the same labels.

    See pandas.DataFrame.corrwith. The other object has the same rows.
    """
    if axis_number(frame.node.meta, axis) == 1:
        raise NotImplementedError(
            "corrwith(axis=1) is not supported; use to_tensor() and mt.corrcoef()"
        )
    frame = numeric_columns(frame, "corrwith", numeric_only=numeric_only)
    labels = frame.node.meta.columns
    other = lazy_rows(frame, other, "corrwith")
    if other.node.meta.ndim == 2:
        other, drop = numeric_columns(other, "corrwith", numeric_only=numeric_only), bool(drop)
        theirs = other.node.meta.columns
        if labels.equals(theirs):
            pairs = list(zip(columns_of(frame), columns_of(other), strict=True))
        else:
            _check_unique(labels, theirs)
            common = labels.intersection(theirs, sort=False)
            remainder = labels.union(theirs).difference(common) if not drop else labels[:0]
            pairs = [(frame[label], other[label]) for label in common]
            labels = common.append(remainder)
    else:
        pairs = [(column, other) for column in columns_of(frame)]
    values = [corr_with(a, b, method, min_periods) for a, b in pairs]
    like = pd.Series(0.0, labels)
    result: Series = assembled(one_for_each, values, like, title="corrwith", labels=labels)
    return result


def _check_unique(*labels: pd.Index) -> None:
    if not all(index.is_unique for index in labels):
        raise NotImplementedError(
            "corrwith() of frames with different columns, of which several have one label, is not "
            "supported; use set_axis(axis=1) first"
        )


def one_for_each(*values: Any, labels: Any) -> pd.Series:
    """Return values for the first labels, missing ones for the others."""
    gaps = [np.nan] * (len(labels) - len(values))
    return pd.Series([*map(float, values), *gaps], labels, dtype=float)


def autocorr(series: Any, lag: int = 1) -> Tensor:
    """Return the correlation with the rows ``lag`` before. See pandas.Series.autocorr."""
    if series.node.meta.dtype == bool:
        series = series.astype(float)  # shifted, they would be objects
    return corr_with(series, series.shift(lag))


def two_columns(a: Any, b: Any) -> pd.DataFrame:
    """Return two columns as a frame."""
    return pd.DataFrame({0: a.array, 1: b.array}, index=a.index)


def _both(a: Any, b: Any, name: str) -> Any:
    b = lazy_rows(a, b, name)
    check_aligned((a.node, b.node), name)
    numbers = [_as_floats(column) for column in (a, b)]
    return numeric_columns(rowwise(two_columns, *numbers), name, numeric_only=False)


def _holds_numbers(dtype: Any) -> bool:
    """Tell whether values are objects, texts or categories, which pandas takes for numbers."""
    return not pd.api.types.is_numeric_dtype(dtype) and getattr(dtype, "kind", "O") not in "mM"


def _as_floats(column: Any) -> Any:
    """Return objects, texts and categories as the numbers that they hold, as pandas does."""
    return rowwise(floats_of, column) if _holds_numbers(column.node.meta.dtype) else column


def _numbers_of(frame: Any, name: str, *, numeric_only: bool) -> Any:
    """Return the columns as numbers; raise for times."""
    if not numeric_only and any(map(_holds_numbers, frame.node.meta.dtypes)):
        frame = rowwise(float_columns, frame)
    return numeric_columns(frame, name, numeric_only=numeric_only)


def float_columns(frame: pd.DataFrame) -> pd.DataFrame:
    """Return columns that hold numbers as floats; raise for other values."""
    frame = frame.copy(deep=False)
    for at, dtype in enumerate(frame.dtypes):
        if _holds_numbers(dtype):
            frame.isetitem(at, floats_of(frame.iloc[:, at]))
    return frame


def floats_of(block: Any) -> Any:
    """Return values as floats; raise for those that are none."""
    return pd.Series(block.to_numpy(float, na_value=np.nan), block.index, name=block.name)


def _check_method(method: Any) -> None:
    if method not in ("pearson", "spearman", "kendall") and not callable(method):
        raise ValueError(
            "method must be either 'pearson', 'spearman', 'kendall', or a callable, "
            f"'{method}' was supplied"
        )
