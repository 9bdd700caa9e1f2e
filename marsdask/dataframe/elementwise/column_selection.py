"""Choose columns by their types, each once though several may have one label."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from ..nodes.categories import KnownTypes, TypesOnly
from ..nodes.dtypes import OneType, is_small
from ..nodes.frame_node import FrameNode, is_wide
from ..schemas.schema import once_a_schema
from .row_functions import labels_of
from .rowwise import Rowwise, column_of, columns_at, relabelled, rowwise, with_columns


def columns_where(frame: Any, holds: Callable[[Any], bool]) -> Any:
    """Return the columns for whose types a function holds."""

    def choose(meta: pd.DataFrame) -> list[int]:
        return [at for at, dtype in enumerate(meta.dtypes) if holds(dtype)]

    return columns_by_types(frame, choose)


def numeric_part(frame: Any) -> Any:
    """Return the columns of numbers and truth values: what pandas leaves if ``numeric_only``."""
    return columns_where(frame, is_numeric_dtype)


def columns_by_types(frame: Any, choose: Callable[[pd.DataFrame], list[int]]) -> Any:
    """Return the columns that a function of no rows chooses by their types.

    Computes the types at the call where the rows decide them, and they the choice: truth values of
    a join are objects, and integers floats, only if a row has no match.
    """
    meta = frame.node.meta
    places = choose(meta)
    if (narrow := _without_gaps(frame.node)) is not None and choose(narrow) != places:
        frame = with_types_of_rows(frame)
        places = choose(frame.node.meta)
    return frame if len(places) == len(meta.columns) else frame.iloc[:, places]


def with_types_of_rows(frame: Any, kinds: str = "Of") -> Any:
    """Return rows that declare the types that all of them have; computes them if they are open.

    Only objects, or floats, that may be truth values or integers are.
    """
    node = frame.node
    if _without_gaps(node, kinds) is None:
        return frame
    types = type(frame)(TypesOnly(OneType(node))).compute()
    return type(frame)(KnownTypes(node, types))


def _without_gaps(node: Any, kinds: str = "Of") -> Any:
    """Return no rows of the types without gaps; ``None`` if the rows do not decide the types."""
    is_frame = isinstance(node, FrameNode) and isinstance(node.meta, pd.DataFrame)
    if not is_frame or not node.may_narrow or not is_wide(node.meta) or not is_small(node):
        return None
    types = enumerate(node.meta.dtypes.items())
    places = [at for at, (label, dtype) in types if dtype.kind in kinds and is_open(node, label)]
    if not places:
        return None
    meta = node.meta.copy()
    for at in places:
        narrow = bool if meta.dtypes.iloc[at].kind == "O" else "int64"
        meta.isetitem(at, meta.iloc[:, at].astype(narrow))
    return meta


def is_open(node: Any, key: Hashable) -> bool:
    """Tell whether the rows decide the type of a column, below assignments of other columns."""
    types = dict(zip(node.meta.columns, node.meta.dtypes, strict=True))
    if not isinstance(types.get(key), np.dtype) or types[key].kind not in "fO":
        return False
    while isinstance(node, Rowwise) and node.func is with_columns:
        names = dict(node.kwargs)["names"]
        if key in names:
            node = node.args[1 + names.index(key)]
            break
        node = node.args[0]
    if not isinstance(node, FrameNode) or key in node.common_keys:
        return False
    return node.may_narrow


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
