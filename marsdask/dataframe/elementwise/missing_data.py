"""Drop rows and columns with missing values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from pandas.api.extensions import no_default

from marsdask.core.collection import wrap

from ..arguments.pandas_arguments import check_boolean
from ..labels.masks import has_label
from ..nodes.dtypes import in_one_type
from ..nodes.frame_node import S, axis_number
from .filter import Filter
from .row_functions import among_columns, row_function
from .rowwise import column_of, relabelled, rowwise


def dropna(
    obj: S,
    *,
    axis: Any = 0,
    how: Any = no_default,
    thresh: Any = no_default,
    subset: Any = None,
    ignore_index: bool = False,
) -> S:
    """Drop rows or columns with missing values. See pandas.DataFrame.dropna.

    Which columns to drop is computed at the call.
    """
    if obj.ndim == 1:
        _check_options_of_values(thresh, subset)
        check_boolean("ignore_index", ignore_index)
        how, axis = "any", axis or 0
    if how is not no_default and thresh is not no_default:
        raise TypeError("You cannot set both the how and thresh arguments at the same time.")
    if isinstance(axis, tuple | list):
        raise TypeError("supplying multiple axes to axis is no longer supported.")
    number = axis_number(obj.node.meta, axis)
    if subset is not None:
        subset = list(subset) if pd.api.types.is_list_like(subset) else [subset]
    limit = {"thresh": thresh}
    if thresh is not no_default:
        pd.Series([0]).ge(thresh)  # raises pandas's errors
    else:
        limit = {"how": "any" if how is no_default else how}
        if limit["how"] not in {"any", "all"}:
            raise ValueError(f"invalid how option: {how}")
    rows = _columns(obj, limit, subset) if number == 1 else _rows(obj, limit, subset)
    result: S = rows.reset_index(drop=True) if ignore_index else rows
    return result


def _check_options_of_values(thresh: Any, subset: Any) -> None:
    flags = {"thresh": thresh is not no_default, "subset": subset is not None}
    for name in (name for name, is_given in flags.items() if is_given):
        raise TypeError(f"Series.dropna() got an unexpected keyword argument {name!r}")


def _rows(obj: Any, limit: dict[str, Any], subset: list[Any] | None) -> Any:
    """Return the rows whose values are there."""
    if subset is not None:
        missing = [label for label in subset if label not in obj.node.meta.columns]
        if missing:
            raise KeyError(missing)
    mask = rowwise(complete, obj, subset=subset, **limit)
    return wrap(Filter(in_one_type(obj.node), mask.node))


@row_function(among_columns("subset"))
def complete(block: Any, subset: Any, how: str | None = None, thresh: Any = None) -> Any:
    """Tell which rows have no missing values, have others, or have a number of these."""
    if block.ndim == 1:
        return block.notna()
    if subset is not None:
        block = column_of(block, subset)
    if how is None:
        return block.count(axis=1) >= thresh
    present = block.notna()
    return present.all(axis=1) if how == "any" else present.any(axis=1)


def _columns(frame: Any, limit: dict[str, Any], subset: list[Any] | None) -> Any:
    """Return the columns whose values are there, in all rows or in those of some labels."""
    # Several columns may have one label.
    table = rowwise(relabelled, frame, columns=pd.RangeIndex(len(frame.columns)))
    if subset is None:
        mask = _is_kept(table, **limit).compute()
        places = np.flatnonzero(mask.to_numpy())
    else:
        labels = pd.Index(subset) if subset else frame.node.meta.index
        rows: Any = table[rowwise(has_label, table, labels=labels)].compute()
        places = rows.dropna(axis=1, subset=subset, **limit).columns.to_numpy()
    return frame.iloc[:, places.tolist()]


def _is_kept(frame: Any, how: str | None = None, thresh: Any = None) -> Any:
    """Tell lazily which columns have no missing values, have others, or have a number of these."""
    if how is None:
        return frame.count() >= thresh
    present = frame.notna()
    return present.all() if how == "any" else present.any()
