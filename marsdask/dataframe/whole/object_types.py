"""The types of declared objects, which only the rows tell: of times or numbers, some replaced."""

from __future__ import annotations

from typing import Any, TypeVar

import pandas as pd
from pandas.api.types import is_object_dtype

from marsdask.core.collection import Collection
from marsdask.scheduler.base import dtypes_of

from ..nodes.dtypes import is_small
from .origin import Access

S = TypeVar("S", bound=Any)
"""A DataFrame, Series or Index."""

#: Methods whose way depends on whether columns are numbers, times or other objects.
BY_COLUMNS = {
    *("agg", "aggregate", "convert_dtypes", "corrwith", "describe", "infer_objects"),
    *("interpolate", "melt", "searchsorted", "select_dtypes", "slice_indexer"),
    *("kurt", "kurtosis", "mean", "median", "quantile", "sem", "skew", "std", "var"),
    *("nlargest", "nsmallest"),
}

#: Methods of frames that give floats where no column has other objects.
BY_ALL_COLUMNS = {"max", "min", "prod", "product", "sum"}

#: Methods that may call those above by their names.
BY_NAME = {"apply", "transform"}

#: Methods whose way depends on whether the row labels are times.
BY_LABELS = {"asfreq", "at_time", "between_time", "interpolate", "to_period", "to_timestamp"}

_BY_TYPES = BY_COLUMNS | BY_ALL_COLUMNS | BY_NAME | BY_LABELS | {"shift"}


def with_types_for(obj: S, access: Access) -> tuple[S, Access]:
    """Return rows, and a call of their method, that tell the types on which its way depends."""
    if access.name not in _BY_TYPES or not isinstance(obj, Collection):
        return obj, access
    if dtypes_of(obj.node.meta) is None:
        return obj, access
    name, args, options = access.name, access.args or (), access.kwargs or {}
    function = args[0] if args else options.get("func")
    by_name = name in BY_NAME and isinstance(function, str | list | dict)
    # These give the same numbers as objects, so that rows of large sources are not run for them.
    by_all = name in BY_ALL_COLUMNS and obj.node.meta.ndim == 2 and is_small(obj.node)
    if name in BY_COLUMNS or by_name or by_all:
        obj = with_known_types(obj)
        args = tuple(with_known_types(x) if isinstance(x, Collection) else x for x in args)
        access = access._replace(args=args)
    if name in BY_LABELS or (name == "shift" and options.get("freq") is not None):
        obj = with_known_labels(obj)
    return obj, access


def with_known_types(obj: S) -> S:
    """Return rows whose columns have the types that their values have, which runs them if need be.

    Objects may be times, or numbers, as where some are replaced by texts.
    """
    rows: S = _executed(obj, obj.node.meta)
    return rows


def with_known_labels(obj: S) -> S:
    """Return rows whose labels have the types that they have, which runs the rows if need be."""
    meta = obj.node.meta
    rows: S = _executed(obj, meta if isinstance(meta, pd.Index) else meta.index)
    return rows


def _executed(obj: Any, typed: Any) -> Any:
    open_types = any(map(is_object_dtype, dtypes_of(typed) or ())) and not obj.node.settled
    return obj.persist() if open_types else obj
