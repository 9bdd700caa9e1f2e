"""Lists in cells become rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pandas.api.types import is_object_dtype

from marsdask.core.machine.costs import kernel
from marsdask.core.node import Node

from ..elementwise.exemplars import constructed, with_exemplars
from ..elementwise.rowwise import Method
from ..nodes.frame_node import S, is_masked
from ..ordered.row_numbers import reset_index
from .flat_map import flat_map


@kernel(scratch=2.0)
def exploded(block: Any, column: Any = None) -> Any:
    """Return a row for each item of the lists in some columns; objects stay objects."""
    if not len(block):
        return block
    if column is None:
        is_object = is_object_dtype(block.dtype)
        return with_number(block).explode().iloc[:-1] if is_object else block.explode()
    return with_number(block).explode(column).iloc[:-1]


def with_number(block: Any) -> Any:
    """Return rows and one more of numbers: objects that are texts pandas takes for texts."""
    rows = block.iloc[[*range(len(block)), -1]].copy()
    if rows.ndim == 1:
        rows.iloc[-1] = _one_item(rows.dtype)
        return rows
    for at in at_objects(block):
        rows.isetitem(at, with_number(block.iloc[:, at]))
    return rows


def _one_item(dtype: Any) -> Any:
    """Return what becomes one row: a number, or a missing list, whose last one may be long."""
    if isinstance(dtype, pd.ArrowDtype):
        return pd.NA
    return dtype.type(0) if is_masked(dtype) else 0


def at_objects(block: pd.DataFrame) -> list[int]:
    """Return the positions of the columns whose missing values are others than those of texts.

    Those of Arrow's lists are among them, whose items become rows.
    """
    dtypes = enumerate(block.dtypes)
    return [
        at
        for at, dtype in dtypes
        if is_object_dtype(dtype) or is_masked(dtype) or _has_lists(dtype)
    ]


def _has_lists(dtype: Any) -> bool:
    return isinstance(dtype, pd.ArrowDtype) and pa.types.is_nested(dtype.pyarrow_dtype)


@kernel(scratch=2.0)
def exploded_texts(block: Any) -> Any:
    """Return a row for each of the lists' texts."""
    return block.explode().astype("str")


def explode(frame: S, column: Any, ignore_index: bool = False) -> S:
    """Return a row for each item of the lists in some columns. See pandas.DataFrame.explode.

    Looks at the items of all rows, whose type is that of the column.
    """
    frame.node.meta.explode(column)  # raises pandas's errors
    labels = column if isinstance(column, list) else [column]
    rows: S = flat_map(exploded, frame, column=labels, read=tuple(labels))
    rows = inferred_objects(rows, labels)
    return reset_index(rows, drop=True) if ignore_index else rows


def explode_series(series: S, ignore_index: bool = False) -> S:
    """Return a row for each item of the lists. See pandas.Series.explode.

    Looks at the items of all rows, whose type is that of the column, unless they are known texts.
    """
    if _has_lists_of_texts(series.node):
        rows: S = flat_map(exploded_texts, series)
    else:
        rows = flat_map(exploded, series)
        rows = inferred_objects(rows)
    return reset_index(rows, drop=True) if ignore_index else rows


def inferred_objects(rows: S, among: Any = None) -> S:
    """Return objects, or (some) columns of them, in the types that pandas finds in all values."""
    meta = rows.node.meta
    if meta.ndim == 1:
        is_object = is_object_dtype(meta.dtype)
        series: S = with_exemplars(constructed, rows, is_object_dtype) if is_object else rows
        return series
    if not meta.columns.is_unique:
        return rows
    labels = meta.columns if among is None else among
    objects = tuple(label for label in labels if is_object_dtype(meta.dtypes[label]))
    if not objects:
        return rows
    frame: S = with_exemplars(constructed, rows, is_object_dtype, labels=objects)
    return frame


def _has_lists_of_texts(node: Node) -> bool:
    """Tell whether a node splits texts."""
    func = getattr(node, "func", None)
    splits = isinstance(func, Method) and (func.accessor, func.name) in {
        ("str", "split"),
        ("str", "rsplit"),
        ("str", "findall"),
    }
    return splits and isinstance(node.inputs[0].meta.dtype, pd.StringDtype)


@kernel(scratch=2.0)
def repeated(block: Any, repeats: int) -> Any:
    """Return each row several times."""
    return block.take(np.repeat(np.arange(len(block)), repeats))


def repeat(series: S, repeats: int, axis: None = None) -> S:
    """Return each row several times, one after the other. See pandas.Series.repeat.

    A number for each row is not supported.
    """
    if axis is not None:
        raise ValueError("the 'axis' parameter is not supported in the pandas implementation")
    if not isinstance(repeats, int | np.integer):
        raise NotImplementedError(
            "repeat() of a number for each row is not supported; use explode() of lists"
        )
    if repeats < 0:
        raise ValueError("'repeats' should not be negative")
    rows: S = flat_map(repeated, series, times=int(repeats), repeats=int(repeats))
    repeated_rows: S = inferred_objects(rows)
    return repeated_rows
