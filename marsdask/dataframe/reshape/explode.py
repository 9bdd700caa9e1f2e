"""Lists in cells become rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_object_dtype

from marsdask.core.machine.costs import kernel
from marsdask.core.node import Node

from ..elementwise.exemplars import constructed, with_exemplars
from ..elementwise.rowwise import Method
from ..nodes.frame_node import S
from ..ordered.row_numbers import reset_index
from .flat_map import flat_map


@kernel(scratch=2.0)
def exploded(block: Any, column: Any = None) -> Any:
    """Return a row for each item of the lists in some columns; objects stay objects."""
    if column is None:
        return _as_before(block.explode(), block)
    result = block.explode(column)
    objects = [label for label in column if block.dtypes[label] == "object"]
    return result.astype(dict.fromkeys(objects, object))


def _as_before(found: Any, block: Any) -> Any:
    return found.astype(object) if block.dtype == object else found


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
    objects = tuple(label for label in labels if frame.node.meta.dtypes[label] == "object")
    if objects:
        rows = with_exemplars(constructed, rows, is_object_dtype, labels=objects)
    return reset_index(rows, drop=True) if ignore_index else rows


def explode_series(series: S, ignore_index: bool = False) -> S:
    """Return a row for each item of the lists. See pandas.Series.explode.

    Looks at the items of all rows, whose type is that of the column, unless they are known texts.
    """
    if _has_lists_of_texts(series.node):
        rows: S = flat_map(exploded_texts, series)
    else:
        rows = flat_map(exploded, series)
        rows = _constructed(rows)
    return reset_index(rows, drop=True) if ignore_index else rows


def _constructed(rows: Any) -> Any:
    is_object = is_object_dtype(rows.node.meta.dtype)
    return with_exemplars(constructed, rows, is_object_dtype) if is_object else rows


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
    return _as_before(block.repeat(repeats), block)


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
    repeated_rows: S = _constructed(rows)
    return repeated_rows
