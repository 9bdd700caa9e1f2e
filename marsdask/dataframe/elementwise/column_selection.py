"""Choose columns by their types, each once though several may have one label."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from ..schemas.schema import once_a_schema
from .row_functions import labels_of
from .rowwise import column_of, columns_at, relabelled, rowwise


def columns_where(frame: Any, holds: Callable[[Any], bool]) -> Any:
    """Return the columns for whose types a function holds."""
    dtypes = list(frame.node.meta.dtypes)
    places = [at for at, dtype in enumerate(dtypes) if holds(dtype)]
    return frame if len(places) == len(dtypes) else frame.iloc[:, places]


def numeric_part(frame: Any) -> Any:
    """Return the columns of numbers and truth values: what pandas leaves if ``numeric_only``."""
    return columns_where(frame, is_numeric_dtype)


def has_unique_labels(meta: pd.DataFrame) -> bool:
    """Tell whether each column has a label of its own."""
    return once_a_schema(_is_unique, meta)


def _is_unique(meta: pd.DataFrame) -> bool:
    return meta.columns.is_unique


def columns_labelled(frame: Any, labels: pd.Index) -> Any:
    """Return the columns of some labels; in the labels' order, if no column has that of another."""
    meta = frame.node.meta
    if labels_of(meta) is not None:
        return rowwise(column_of, frame, key=list(labels))
    if has_unique_labels(meta):
        return columns_at(frame, meta.columns.get_indexer_for(labels).tolist())
    return frame.iloc[:, np.flatnonzero(meta.columns.isin(labels)).tolist()]


def columns_of_levels(frame: Any, key: tuple[Any, ...]) -> Any:
    """Return the columns of slices or lists of labels within the levels of the columns."""
    places = pd.DataFrame([range(len(frame.columns))], columns=frame.columns)[key]
    columns = frame.iloc[:, places.iloc[0].tolist()]
    return rowwise(relabelled, columns, columns=places.columns)


def side_by_side(*blocks: Any, order: list[int], columns: Any) -> Any:
    """Return the columns of blocks of the same rows, in an order."""
    return pd.concat(blocks, axis=1).iloc[:, order].set_axis(columns, axis=1)
