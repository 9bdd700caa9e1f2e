"""The types that pandas infers of labels of objects, where it joins them or makes a column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from typing import cast as typed

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype, is_object_dtype

from marsdask.core.machine.costs import kernel
from marsdask.core.node import Node
from marsdask.core.sizes import known, total
from marsdask.scheduler.base import dtypes_of

from ..elementwise.exemplars import (
    ExemplarsOf,
    as_scalar,
    constructed,
    exemplars_of,
    join_exemplars,
    objects_of,
    with_exemplars,
)
from ..elementwise.filter import Filter
from ..elementwise.rowwise import NewLabels, Rowwise, Unsettled, rowwise
from ..keyed.group_aggregation import GroupByAggregation
from ..nodes.dtypes import is_small
from ..ordered import row_numbers
from ..reduction.floats import NarrowFloats
from ..reduction.fold import FrameFold
from ..reduction.reductions import collection_of
from ..rows import levels_in, with_type
from ..schemas.samples import row


def with_inferred_labels(rows: Any, parts: Sequence[Any]) -> Any:
    """Return the rows of several parts with the labels that pandas infers of all their objects.

    All labels are read before the first row is known, so those of large sources stay objects.
    """
    labels = [part.node.meta.index for part in parts]
    several = len(parts) > 1 and all(one.nlevels == 1 for one in labels)
    if not several or not _makes_objects([one.dtype for one in labels]) or not is_small(rows.node):
        return rows  # pandas keeps the types of levels
    return inferred_labels(rows)


def beside_no_rows(types: Any, parts: Sequence[Node]) -> Any:
    """Return types with the labels that rows have beside parts that are known to have none."""
    indexes = [part.meta.index for part in parts]
    lengths = [total(part.chunks[0]) for part in parts]
    several = len({index.dtype for index in indexes}) > 1
    if not (several and known(lengths)) or all(lengths) or not any(lengths):
        return types
    pairs = list(zip(parts, lengths, strict=True))
    plain = all(part.meta.index.nlevels == 1 for part, count in pairs if count)
    if types.index.nlevels > 1 or not plain:
        return types
    first, *rest = [row(part.meta).index if count else part.meta.index for part, count in pairs]
    return types.set_axis(types.index.astype(first.append(rest).dtype), axis=0)


def inferred_labels(rows: Any) -> Any:
    """Return rows whose last level has the type that pandas infers of all its objects."""
    column = rowwise(last_level, rows.index)
    steps = (ExemplarsOf((0,)), join_exemplars, as_scalar)
    exemplars = FrameFold(np.empty((), object), None, False, "exemplars", column.node, steps)
    return rowwise(InferredLabels(cast_last_level), rows, collection_of(exemplars))


def in_type_of_joined_labels(table: Any, parts: Sequence[Any], join: str) -> Any:
    """Return rows joined by labels, with labels of the type that pandas gives those of the parts.

    Parts without rows count, and objects by their values.
    """
    labels = [part.node.meta.index for part in parts]
    if any(index.nlevels > 1 for index in labels) or not is_small(table.node):
        return table
    if len(kinds := {index.dtype for index in labels}) == 1 and np.dtype(object) not in kinds:
        return table
    columns = [rowwise(last_level, part.index) for part in parts]
    values = [
        collection_of(
            FrameFold(
                np.empty((), object),
                None,
                False,
                "exemplars",
                column.node,
                (few_values, join_few_values, values_or_type),
                finished=(("like", column.node.meta),),
            )
        )
        for column in columns
    ]
    ranges = tuple(isinstance(index, pd.RangeIndex) for index in labels)
    return rowwise(InferredLabels(cast_to_joined), table, *values, join=join, ranges=ranges)


@kernel(scratch=0.0)
def few_values(column: Any) -> Any:
    """Return a value of each class of objects, or one value of another type."""
    if column.dtype != object:
        return column.iloc[:1]
    values = exemplars_of(column)
    return pd.Series(objects_of(values, len(values)), dtype=object)


@kernel(scratch=0.0)
def join_few_values(a: Any, b: Any) -> Any:
    """Return exemplars of the values of two chunks."""
    return few_values(pd.concat([a, b], ignore_index=True))


@kernel(scratch=0.0)
def values_or_type(values: Any, like: Any) -> Any:
    """Return exemplars as they are passed to every chunk; without rows they are empty."""
    return as_scalar(like if values is None else values)


@kernel(view=True)
def cast_to_joined(block: Any, *values: Any, join: str, ranges: tuple[bool, ...]) -> Any:
    """Return rows with labels of the type that pandas gives joined labels of some values.

    Ranges make objects with texts of no rows, which other numbers do not.
    """
    few = [side.item() for side in values]
    if any(side is None for side in few):  # only the types are known
        return block
    indexes: list[Any] = [
        pd.RangeIndex(len(side)) if is_range else pd.Index(side.array, dtype=side.dtype)
        for side, is_range in zip(few, ranges, strict=True)
    ]
    objects = [pd.Series(0, index[~index.duplicated()]) for index in indexes]
    labels = pd.concat(objects, axis=1, join=typed("Any", join)).index
    index = block.index
    if not len(index):
        return block.set_axis(pd.Index(np.empty(0, object), dtype=labels.dtype, name=index.name))
    return block.set_axis(with_type(index, labels.dtype))


def _makes_objects(dtypes: Sequence[Any]) -> bool:
    """Tell whether labels are joined as objects, of a type that only their values tell.

    Floats that are all missing become those of the other type, such as times.
    """
    if not all(map(is_numeric_dtype, dtypes)):
        return np.dtype(object) in dtypes or any(dtype.kind == "f" for dtype in dtypes)
    empty = [pd.Index([], dtype) for dtype in dtypes]
    return bool(empty[0].append(empty[1:]).dtype == object)


@dataclass(frozen=True)
class InferredLabels(NewLabels, Unsettled):
    """A function that gives rows labels of types which their values tell."""


@kernel(view=True)
def last_level(labels: pd.Index) -> Any:
    """Return the last level of labels as a column."""
    values = levels_in(labels)[-1].array
    return pd.Series(values, dtype=values.dtype)


@kernel(view=True)
def cast_last_level(block: Any, exemplars: Any) -> Any:
    """Return rows whose last level has the type that pandas infers of exemplars of its values."""
    known = exemplars.item() if isinstance(exemplars, np.ndarray) else None
    if known is None:
        return block
    (values,) = known
    objects = pd.Index(objects_of(values, len(values)), dtype=object)
    index, dtype = block.index, objects.append(objects).dtype
    if not isinstance(index, pd.MultiIndex):
        return block.set_axis(with_type(index, dtype))
    at = index.nlevels - 1
    return block.set_axis(index.set_levels([with_type(index.levels[at], dtype)], level=[at]))


def reset_index(obj: Any, level: Any = None, *, drop: bool = False, **options: Any) -> Any:
    """Label the rows from 0; the old labels become columns unless they are dropped.

    With ``level`` only some levels do, and the rows keep the others as their labels. See
    pandas.DataFrame.reset_index.
    """
    reset: Any = row_numbers.reset_index
    rows = reset(obj, level, drop=drop, **options)
    labels = obj.node.meta.index
    if drop or np.dtype(object) not in (dtypes_of(labels) or ()) or not is_small(obj.node):
        return rows
    if labels.nlevels == 1:
        return with_exemplars(first_inferred, rows, is_object_dtype)
    count = len(rows.node.meta.columns) - (obj.ndim == 1 or len(obj.node.meta.columns))
    func = keys_inferred if _are_keys_of_groups(obj.node) else levels_inferred
    return with_exemplars(func, rows, is_object_dtype, count=count)


def _are_keys_of_groups(node: Node) -> bool:
    """Tell whether all labels are keys of groups, of which rows in no group tell the types."""
    while isinstance(node, NarrowFloats | Filter) or (
        isinstance(node, Rowwise) and not node.relabels
    ):
        node = node.inputs[0]
    if not isinstance(node, GroupByAggregation) or not node.call.one_row:
        return False
    return bool(node.meta.index.nlevels == len(node.call.by) > 1)


@kernel(scratch=1.0)
def first_inferred(block: Any) -> Any:
    """Return rows whose first column, of objects, has the type that pandas infers."""
    block = block.copy(deep=False)
    block.isetitem(0, inferred_values(block.iloc[:, 0]))
    return block


@kernel(scratch=1.0)
def keys_inferred(block: Any, count: int) -> Any:
    """Return rows whose first columns, if they are objects still, have the types of new ones."""
    block = block.copy(deep=False)
    for at in range(count):
        block.isetitem(at, constructed(block.iloc[:, at]))
    return block


@kernel(scratch=1.0)
def levels_inferred(block: Any, count: int) -> Any:
    """Return rows whose first columns, of objects, have the types of the values that are there."""
    block = block.copy(deep=False)
    for at in range(count):
        column = block.iloc[:, at]
        if column.dtype != object:
            continue
        rows = column.notna().to_numpy()
        values = pd.Series(inferred_values(column[rows]).array)
        places = np.where(rows, rows.cumsum() - 1, -1)
        block.isetitem(at, values.reindex(places).set_axis(block.index))
    return block


@kernel(scratch=1.0)
def inferred_values(values: Any) -> Any:
    """Return objects in the type that pandas infers of labels."""
    objects = pd.Index(values.array, dtype=object)
    return with_type(values, objects.append(objects).dtype)
