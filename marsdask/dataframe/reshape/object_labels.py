"""The types that pandas infers of labels of objects, where it joins them or makes a column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype, is_object_dtype

from marsdask.core.compilation.costs import kernel

from ..elementwise.exemplars import (
    ExemplarsOf,
    as_scalar,
    join_exemplars,
    objects_of,
    with_exemplars,
)
from ..elementwise.rowwise import NewLabels, Unsettled, rowwise
from ..ordered import row_numbers
from ..reduction.fold import FrameFold
from ..reduction.reductions import collection_of
from ..rows import levels_in, with_type
from ..schemas.dtypes import is_small


def with_inferred_labels(rows: Any, parts: Sequence[Any]) -> Any:
    """Return the rows of several parts with the labels that pandas infers of all their objects.

    All labels are read before the first row is known, so those of large sources stay objects.
    """
    labels = [part.node.meta.index for part in parts]
    several = len(parts) > 1 and all(one.nlevels == 1 for one in labels)
    if not several or not _makes_objects([one.dtype for one in labels]) or not is_small(rows.node):
        return rows  # pandas keeps the types of levels
    return inferred_labels(rows)


def inferred_labels(rows: Any) -> Any:
    """Return rows whose last level has the type that pandas infers of all its objects."""
    column = rowwise(last_level, rows.index)
    steps = (ExemplarsOf((0,)), join_exemplars, as_scalar)
    exemplars = FrameFold(np.empty((), object), None, False, "exemplars", column.node, steps)
    return rowwise(InferredLabels(cast_last_level), rows, collection_of(exemplars))


def _makes_objects(dtypes: Sequence[Any]) -> bool:
    """Tell whether labels are joined as objects, of a type that only their values tell."""
    if not all(map(is_numeric_dtype, dtypes)):
        return np.dtype(object) in dtypes
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
    if index.nlevels == 1:
        return block.set_axis(with_type(index, dtype))
    at = index.nlevels - 1
    return block.set_axis(index.set_levels(with_type(index.levels[at], dtype), level=at))


def reset_index(obj: Any, level: Any = None, *, drop: bool = False, **options: Any) -> Any:
    """Label the rows from 0; the old labels become columns unless they are dropped.

    With ``level`` only some levels do, and the rows keep the others as their labels. See
    pandas.DataFrame.reset_index.
    """
    reset: Any = row_numbers.reset_index
    rows = reset(obj, level, drop=drop, **options)
    labels = obj.node.meta.index
    if drop or labels.nlevels > 1 or labels.dtype != object or not is_small(obj.node):
        return rows
    return with_exemplars(first_inferred, rows, is_object_dtype)


@kernel(scratch=1.0)
def first_inferred(block: Any) -> Any:
    """Return rows whose first column, of objects, has the type that pandas infers."""
    block = block.copy(deep=False)
    block.isetitem(0, inferred_values(block.iloc[:, 0]))
    return block


@kernel(scratch=1.0)
def inferred_values(values: Any) -> Any:
    """Return objects in the type that pandas infers of labels."""
    objects = pd.Index(values.array, dtype=object)
    return with_type(values, objects.append(objects).dtype)
