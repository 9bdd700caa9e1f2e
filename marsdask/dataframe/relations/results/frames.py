"""Columns of an engine as the pandas object that they stand for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa

from marsdask.scheduler.base import dtypes_of

from ...schemas.precision import in_precision
from ..expression import Column, has_gaps, kind_of
from ..relation import LABEL, Reduce, Table
from .rows import ResultRows

#: A column of an engine.
Arrow: TypeAlias = "pa.Array[Any] | pa.ChunkedArray[Any]"


@dataclass(frozen=True)
class ResultPart:
    """Some rows of a result, and what all rows decide."""

    start: int
    """The number of the first one."""
    gaps: frozenset[str]
    """The columns in which values are missing."""
    wide: frozenset[str] = frozenset()
    """The columns of integers that do not fit in pandas's type."""


def result_of(table: Table, columns: dict[str, Arrow], like: Any) -> Any:
    """Return the pandas object of columns named as `Table.outputs` says, or the value of all rows.

    ``like`` has the types, or those of each of several reductions. The columns are taken out.
    """
    if isinstance(table.relation, Reduce):
        if isinstance(like, tuple):
            return [_reduced(columns[f"{place}"], item) for place, item in enumerate(like)]
        return _reduced(columns["0"], like)
    gaps = {name for name, item in columns.items() if item.null_count}
    return _frame(table, columns, like, ResultPart(0, frozenset(gaps)))


def part_of(table: Table, result: ResultRows, rows: range, like: Any) -> Any:
    """Return the pandas object of some rows, whose types are those of all rows."""
    types = dict(enumerate(dtypes_of(like) or ()))
    wide = {
        name
        for place, (name, term) in enumerate(table.outputs[: len(types)])
        if kind_of(term.dtype) in "iu" and getattr(types[place], "kind", "") in {"i", "u"}
        if term.dtype != types[place] and not result.fits(name, types[place])
    }
    part = ResultPart(rows.start, result.gaps, frozenset(wide))
    return _frame(table, result.part(rows), like, part)


def _frame(table: Table, found: dict[str, Arrow], like: Any, part: ResultPart) -> Any:
    """Return Arrow's columns as the pandas object that they stand for, and empty ``found``.

    Each goes as soon as it is copied, so that at no time there are two copies of all.
    """
    rows = len(next(iter(found.values()), ()))
    types = dtypes_of(like) or ()
    values = {
        place: _value(found, f"{place}", term, part, types[place])
        for place, term in enumerate(table.columns)
    }
    index = _index(table, found, range(part.start, part.start + rows), like.index, part)
    if isinstance(like, pd.Series):
        return pd.Series(values[0], index=index, name=like.name, copy=False)
    frame = pd.DataFrame(values, index=index, copy=False)
    frame.columns = like.columns
    return frame


def _value(found: dict[str, Arrow], name: str, term: Any, part: ResultPart, dtype: Any) -> Any:
    """Take out a column in pandas's type: sums of groups have 64 bits only if they need them."""
    values = _column(found, name, term, part)
    return values if name in part.wide else in_precision(values, dtype)


def _index(
    table: Table, found: dict[str, Arrow], rows: range, like: pd.Index[Any], part: ResultPart
) -> pd.Index[Any]:
    if table.labels is None:
        return pd.RangeIndex(rows.start, rows.stop, name=like.name)
    arrays = [
        _column(found, f"{LABEL}{place}", term, part) for place, term in enumerate(table.labels)
    ]
    if like.nlevels > 1:
        levels: pd.Index[Any] = pd.MultiIndex.from_arrays(arrays, names=like.names)
        return levels
    (label,) = table.labels
    if isinstance(label, Column) and label.numbers_rows:
        # Some rows of numbered ones: pandas keeps a range where it can.
        count = int(arrays[0].max()) + 1 if len(arrays[0]) else 0
        labels: pd.Index[Any] = pd.RangeIndex(count, name=like.name).take(arrays[0])
        return labels
    index: pd.Index[Any] = pd.Index(arrays[0], name=like.name, copy=False)
    return index


def _column(columns: dict[str, Arrow], name: str, term: Any, part: ResultPart) -> Any:
    """Take out a column of Arrow's as an array of pandas's type."""
    values, dtype = columns.pop(name), term.dtype
    if kind_of(dtype) == "s":
        return dtype.__from_arrow__(values)
    if has_gaps(term) and name in part.gaps:
        if dtype.kind == "b":
            objects = values.to_numpy(zero_copy_only=False).astype(object)
            objects[values.is_null().to_numpy(zero_copy_only=False)] = np.nan
            return objects
        return values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    # A copy, which owns its memory and may be written to, unless the conversion made one.
    array = values.to_numpy(zero_copy_only=False)
    array = array if array.flags.writeable and array.base is None else array.copy()
    return array if array.dtype == dtype else array.astype(dtype)


def _reduced(values: Arrow, like: Any) -> Any:
    """Return the value of all rows as a number: of no rows, what pandas says is missing."""
    array = values.to_numpy(zero_copy_only=False)
    if pa.types.is_temporal(values.type):
        return pd.Series(array).iloc[0]
    if values.null_count:
        return np.float64("nan")
    return np.asarray(array[0], like.dtype)[()]
