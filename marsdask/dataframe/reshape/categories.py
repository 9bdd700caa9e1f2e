"""Intervals of values, indicators of categories, numbers of values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
import pandas as pd
from pandas.api.types import is_integer, is_list_like

from marsdask.core.collection import compute
from marsdask.core.public import public_call

from ..create import from_pandas
from ..elementwise.astype import as_plain_numbers
from ..elementwise.column_selection import with_types_of_rows
from ..elementwise.rowwise import Method, relabelled, rowwise, with_columns
from ..nodes.categories import with_all_categories
from ..nodes.frame_node import as_node
from ..tensors import to_tensor
from ..whole.fallback import function_with_fallback
from ..whole.object_types import with_known_types
from .conversions import Conversion, as_lazy, is_lazy, of_memory

if TYPE_CHECKING:
    from marsdask.tensor import Tensor

    from ..frame import DataFrame
    from ..index import Index
    from ..series import Series


def _values(x: Any, name: str) -> Any:
    meta = as_node(x).meta
    if not isinstance(meta, pd.Series):
        raise NotImplementedError(
            f"{name}() of {type(meta).__name__} is not supported; use a Series"
        )
    return meta


@overload
def cut(x: Any, bins: Any, *, retbins: Literal[True], **options: Any) -> tuple[Series, Any]: ...
@overload
def cut(x: Any, bins: Any, *, retbins: Literal[False] = False, **options: Any) -> Series: ...
@public_call
@function_with_fallback
def cut(x: Any, bins: Any, *, retbins: bool = False, **options: Any) -> Any:
    """Return the interval of each value. See pandas.cut.

    Of a number of intervals it computes the extremes of the values at the call.
    """
    if not is_lazy(x):
        return _of_memory("cut", x, bins, retbins=retbins, **options)
    meta = _values(x, "cut")
    if np.ndim(bins) == 0 and not isinstance(bins, pd.IntervalIndex):
        options_of_edges = {"right": options.get("right", True), "retbins": True}
        x = as_plain_numbers(x)
        bins = pd.cut(_extremes(x), bins, **options_of_edges)[1]
    edges = pd.cut(meta, bins, retbins=True, **options)[1]
    intervals: Series = rowwise(Conversion("cut"), x, bins=bins, **options)
    return (intervals, edges) if retbins else intervals


def _of_memory(name: str, x: Any, *args: Any, **options: Any) -> Any:
    """Return the intervals of values in memory; edges stay there."""
    result = of_memory(name, x, *args, **options)
    return (as_lazy(result[0]), result[1]) if options["retbins"] else result


def _extremes(x: Any) -> Any:
    """Return the smallest and the largest value."""
    low, high, rows = compute(x.min(), x.max(), x.count())
    if not rows and not len(x):
        raise ValueError("Cannot cut empty array")
    return pd.Series([low, high])


@overload
def qcut(x: Any, q: Any, *, retbins: Literal[True], **options: Any) -> tuple[Series, Any]: ...
@overload
def qcut(x: Any, q: Any, *, retbins: Literal[False] = False, **options: Any) -> Series: ...
@public_call
@function_with_fallback
def qcut(x: Any, q: Any, *, retbins: bool = False, **options: Any) -> Any:
    """Return the interval of each value between quantiles. See pandas.qcut.

    Computes the quantiles at the call.
    """
    if not is_lazy(x):
        return _of_memory("qcut", x, q, retbins=retbins, **options)
    _values(x, "qcut")
    x = as_plain_numbers(with_known_types(x))
    quantiles = x.dropna().quantile(list(shares_of(q))).compute()
    edges = pd.Index(quantiles)
    if quantiles.isna().all():  # there is no value: pandas tells what comes of it
        like: Any = pd.Series([], dtype=quantiles.dtype)
        bins = pd.qcut(like, q, retbins=True, **options)[1]
        rows = rowwise(no_values, x, dtype=like.dtype)
        gaps: Series = rowwise(Conversion("qcut"), rows, q=q, **options)
        return (gaps, bins) if retbins else gaps
    options["include_lowest"] = True
    bins = pd.cut(pd.Series([], dtype=quantiles.dtype), edges, retbins=True, **options)[1]
    intervals: Series = rowwise(Conversion("cut"), x, bins=edges, **options)
    return (intervals, bins) if retbins else intervals


def shares_of(q: Any) -> Any:
    """Return the shares of quantiles between which so many parts of equal size are.

    Those that no float holds exactly are rounded up, as pandas has them: a value at such a quantile
    is not above it.
    """
    if is_list_like(q):
        return q
    if not is_integer(q):
        raise ValueError("`q` should be a positive integer or list-like of quantiles.")
    if q < 1:
        raise ValueError("`q` should be a positive integer.")
    shares = np.linspace(0, 1, q + 1)
    inexact = shares * q != np.arange(q + 1)
    return np.where(inexact, np.nextafter(shares, 1), shares)


def no_values(block: Any, dtype: Any) -> Any:
    """Return a missing value for each row."""
    kind = dtype if dtype.kind in "mMf" else float
    return pd.Series([None] * len(block), block.index, kind, block.name)


@public_call
@function_with_fallback
def get_dummies(
    data: DataFrame | Series,
    prefix: Any = None,
    prefix_sep: Any = "_",
    dummy_na: bool = False,
    columns: Any = None,
    sparse: bool = False,
    drop_first: bool = False,
    dtype: Any = None,
) -> DataFrame:
    """Return an indicator column for each category. See pandas.get_dummies.

    Computes the distinct values, at the call, of columns whose type does not tell them.
    """
    options: dict[str, Any] = {"prefix": prefix, "prefix_sep": prefix_sep, "dummy_na": dummy_na}
    options |= {"sparse": sparse, "drop_first": drop_first, "dtype": dtype}
    if not is_lazy(data):
        of_values: DataFrame = of_memory("get_dummies", data, columns=columns, **options)
        return of_values
    if not isinstance(as_node(data).meta, pd.DataFrame):
        _values(data, "get_dummies")
    source = data = with_types_of_rows(with_all_categories(data), "O")
    meta = as_node(data).meta
    frame = meta.to_frame() if isinstance(meta, pd.Series) else meta
    encoded = frame
    if meta.ndim == 2 and columns is None:
        encoded = frame.select_dtypes(include=["object", "str", "category"])
    elif meta.ndim == 2:
        encoded = frame[list(columns)]
    for position, (label, kind) in enumerate(encoded.dtypes.items()):
        if isinstance(kind, pd.CategoricalDtype):
            continue
        if not frame.columns.is_unique or label is None:
            raise NotImplementedError(
                f"get_dummies() of columns {label!r} is not supported; use set_axis(axis=1)"
            )
        data = _categorical(data, encoded.columns[position])
    if meta.ndim == 2:
        options["columns"] = columns
    indicators: DataFrame = rowwise(Conversion("get_dummies"), data, **options)
    if meta.ndim == 1 and prefix is None and as_node(data) is not as_node(source):
        return _of_values(indicators, as_node(data).meta, dummy_na=dummy_na, drop_first=drop_first)
    return indicators


def _of_values(indicators: DataFrame, meta: Any, *, dummy_na: bool, drop_first: bool) -> DataFrame:
    """Return indicators whose columns are labelled by values, not by categories."""
    values = meta.cat.categories
    values = values.insert(len(values), np.nan) if dummy_na else values
    labels = values[int(drop_first) :]
    if not len(labels):
        return indicators
    result: DataFrame = rowwise(relabelled, indicators, columns=labels)
    return result


@public_call
@function_with_fallback
def from_dummies(
    data: DataFrame, sep: str | None = None, default_category: Any = None
) -> DataFrame:
    """Return a column of categories for each set of indicators. See pandas.from_dummies.

    Rows with several categories, or without one, raise where they are met.

    Parameters
    ----------
    data : DataFrame
        The indicators, a column a category.
    sep : str, optional
        What is between the name of a set and that of a category.
    default_category : object, optional
        The category of rows without an indicator; a dict of them by the name of the set.

    Returns
    -------
    DataFrame
        A column for each set.

    Raises
    ------
    TypeError
        If ``data`` is no frame, or ``sep`` no text.
    ValueError
        If a set has no default.

    Examples
    --------
    >>> frame = md.DataFrame({"x_a": [1, 0], "x_b": [0, 1]})
    >>> md.from_dummies(frame, sep="_").compute().x.tolist()
    ['a', 'b']
    """
    options = {"sep": sep, "default_category": default_category}
    if not is_lazy(data):
        of_values: DataFrame = of_memory("from_dummies", data, **options)
        return of_values
    result: DataFrame = rowwise(Conversion("from_dummies"), data, **options)
    _ = result.node.meta  # raises for columns and defaults that do not fit
    return result


def _categorical(data: Any, label: Any) -> Any:
    """Return an object with a column whose type tells its categories."""
    column = data if data.ndim == 1 else data[label]
    values = column.drop_duplicates().compute()
    dtype = pd.CategoricalDtype(pd.Categorical(values).categories)
    result = rowwise(Method("astype"), column, dtype)
    return result if data.ndim == 1 else rowwise(with_columns, data, result, names=(label,))


def codes_of(block: Any, values: Any) -> Any:
    """Return the position of each value among distinct ones, -1 for others."""
    codes = values.get_indexer(pd.Index(block.array, dtype=block.dtype))
    if values.hasnans:
        codes[block.isna()] = values.isna().argmax()
    return pd.Series(codes, index=block.index, dtype=np.intp)


@public_call
@function_with_fallback
def factorize(
    values: Any, sort: bool = False, use_na_sentinel: bool = True, size_hint: int | None = None
) -> tuple[Tensor, Index]:
    """Return the number of each value among the distinct ones, and these. See pandas.factorize.

    Computes the distinct values at the call, so that ``size_hint`` has no effect.
    """
    del size_hint
    if not is_lazy(values):
        codes, distinct = of_memory("factorize", values, sort, use_na_sentinel)
        return as_lazy(codes), as_lazy(distinct)
    _values(values, "factorize")
    distinct = values.drop_duplicates().compute()
    uniques: Any = pd.factorize(distinct, sort=sort, use_na_sentinel=use_na_sentinel)[1]
    numbers = rowwise(codes_of, values, values=uniques)
    index: Any = from_pandas(uniques)
    return to_tensor(numbers), index


def factorize_series(
    series: Series, sort: bool = False, use_na_sentinel: bool = True
) -> tuple[Tensor, Index]:
    """Return the number of each value among the distinct ones, and these.

    See pandas.Series.factorize. Computes the distinct values at the call.
    """
    return factorize(series, sort, use_na_sentinel)
