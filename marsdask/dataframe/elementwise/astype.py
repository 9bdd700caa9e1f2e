"""Casts of values; the categories of a type without any are computed."""

from __future__ import annotations

from typing import Any

import pandas as pd
from pandas.api.extensions import ExtensionDtype
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from marsdask.core.collection import compute

from ..nodes.dtypes import OneType
from ..nodes.frame_node import S, dtypes_of, is_row
from .exemplars import as_texts, tells_texts
from .rowwise import Method, columns_at, relabelled, rowwise


def astype(obj: S, dtype: Any, **options: Any) -> S:
    """Cast the values. See pandas.DataFrame.astype.

    Computes the distinct values, at the call, of columns that are cast to a categorical type
    without categories.
    """
    places = _without_categories(obj.node.meta, dtype)
    if places:
        categorical: S = _categorical(obj, dtype, places, options)
        return categorical
    node = obj.node
    result: S = rowwise(Method("astype"), obj, dtype, **options)
    if is_row(node):
        return result
    dtypes = dtypes_of(result.node.meta)
    if _writes_texts(dtypes_of(node.meta), dtypes):
        result = as_texts(Method("astype"), obj, dtype, **options)
    elif not node.settled and any(map(_tells_types, dtypes)):
        result = rowwise(Method("astype"), OneType(node), dtype, **options)
    return result


def _writes_texts(given: list[Any], wanted: list[Any]) -> bool:
    """Tell whether a cast makes texts of times or categories, which depend on all of them."""
    return any(
        tells_texts(old) and isinstance(new, pd.StringDtype)
        for old, new in zip(given, wanted, strict=True)
    )


def _tells_types(dtype: Any) -> bool:
    """Tell whether cast values depend on the type before the cast, as text does."""
    return isinstance(dtype, pd.StringDtype | pd.ArrowDtype) or dtype == "object"


def _without_categories(meta: Any, dtype: Any) -> dict[int, Any]:
    """Return the places of columns that get categories of their values, and the types given."""
    labels = [meta.name] if meta.ndim == 1 else list(meta.columns)
    getter = dtype.get if pd.api.types.is_dict_like(dtype) else lambda _: dtype
    types = {}
    for place, (label, own) in enumerate(zip(labels, dtypes_of(meta), strict=True)):
        target = getter(label)
        is_open = isinstance(target, pd.CategoricalDtype) and target.categories is None
        is_name = isinstance(target, str) and target == "category"
        if (is_name or is_open) and not isinstance(own, pd.CategoricalDtype):
            types[place] = target
    return types


def _categorical(obj: Any, dtype: Any, places: dict[int, Any], options: dict[str, Any]) -> Any:
    """Return an object with all its casts, of types with the categories of all rows."""
    meta = obj.node.meta
    meta.astype(dtype, **options)  # raises pandas's errors
    if meta.ndim == 1:
        values = obj.drop_duplicates().compute()
        return rowwise(Method("astype"), obj, values.astype(places[0]).dtype, **options)
    if not meta.columns.is_unique:
        table = rowwise(relabelled, obj, columns=pd.RangeIndex(len(meta.columns)))
        result = astype(table, _by_place(meta.columns, dtype), **options)
        return rowwise(relabelled, result, columns=meta.columns)
    distinct = compute(*(columns_at(obj, at).drop_duplicates() for at in places))
    dtypes = _by_place(meta.columns, dtype) | {
        at: values.astype(places[at]).dtype for at, values in zip(places, distinct, strict=True)
    }
    return astype(obj, {meta.columns[at]: item for at, item in dtypes.items()}, **options)


def _by_place(labels: Any, dtype: Any) -> dict[int, Any]:
    """Return the types that are given, by the places of the columns."""
    if not pd.api.types.is_dict_like(dtype):
        return dict.fromkeys(range(len(labels)), dtype)
    return {place: dtype[label] for place, label in enumerate(labels) if label in dtype}


def as_plain_numbers(x: Any) -> Any:
    """Return truth values as integers, and numbers that have a mask as floats, as pandas cuts."""
    dtype = x.node.meta.dtype
    if is_bool_dtype(dtype):
        return x.astype("int64")
    if isinstance(dtype, ExtensionDtype) and is_numeric_dtype(dtype):
        return x.astype("float64")
    return x
