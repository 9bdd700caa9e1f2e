"""Replace and choose values, row by row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.extensions import no_default
from pandas.api.types import is_bool_dtype

from marsdask.core.arguments import keeps_lazy
from marsdask.core.collection import Collection
from marsdask.core.grids.blockwise import Blockwise
from marsdask.core.grids.grid import Grid
from marsdask.core.machine.costs import kernel
from marsdask.core.node import Columns, Node
from marsdask.core.public import public_call
from marsdask.core.sizes import is_single

from ..create import FromTensor
from ..nodes.frame_node import S, SameRows, axis_number, is_array, is_masked, is_row
from ..reduction.reductions import collection_of
from ..rows import as_one_chunk
from ..whole.fallback import function_with_fallback
from . import exemplars
from .column_selection import side_by_side
from .operands import (
    BROADCAST,
    ROW_VALUES,
    aligned_tensor,
    aligned_values,
    array_of,
    check_order,
    labelled_values,
    lazy_rows,
    operand,
)
from .rowwise import Method, columns_at, rowwise


@keeps_lazy("items")
def fillna(
    obj: S, value: Any, *, limit: int | None = None, inplace: bool = False, **options: Any
) -> S:
    """Replace missing values. See pandas.DataFrame.fillna."""
    if limit is not None:
        raise NotImplementedError(
            "fillna(limit=) is not supported, since it counts over all rows; use fillna(value)"
        )
    if isinstance(value, dict) and any(isinstance(item, Collection) for item in value.values()):
        rows: S = _filled(obj, value, inplace=inplace)
        return rows
    result: S = rowwise(method_in("fillna", inplace=inplace), obj, value, **options)
    return result


def method_in(name: str, *, inplace: bool) -> Method:
    """Return a method, or what it does to an object in place: columns keep their types."""
    return InPlace(name) if inplace else Method(name)


def _filled(frame: Any, values: dict[Any, Any], *, inplace: bool) -> Any:
    """Replace missing values of some columns, by values of which some are lazy."""
    if frame.ndim == 1:
        raise NotImplementedError(
            "fillna() of rows by lazy values is not supported; use compute() first"
        )
    columns = {
        name: fillna(frame[name], item, inplace=inplace)
        for name, item in values.items()
        if name in frame
    }
    return frame._with(columns)


def isin(obj: S, values: Any) -> S:
    """Tell for each value whether it is in ``values``. See pandas.DataFrame.isin.

    Values of a lazy column are made distinct, and are one chunk, which all tasks need. For a frame
    they are not supported, nor is a lazy frame.
    """
    if not isinstance(values, Collection):
        result: S = rowwise(Method("isin"), obj, values)
        return result
    if isinstance(obj.node.meta, pd.DataFrame) or isinstance(values.node.meta, pd.DataFrame):
        raise NotImplementedError(  # pandas aligns them
            "isin() of lazy values is not supported for frames; use isin(values.compute()), or "
            "merge(how='left', indicator=True)"
        )
    mask: S = collection_of(ValuesAmong(obj.node, "isin", _distinct(values).node))
    return mask


def _distinct(values: Any) -> Any:
    """Return the distinct values of a column, of labels or of a tensor, as rows."""
    if isinstance(values.node.meta, np.ndarray):
        column = FromTensor(values.ravel().node, None, pd.Series)
        return collection_of(column).drop_duplicates()
    if isinstance(values.node.meta, pd.Index):
        values = values.to_series()
    return values.reset_index(drop=True).drop_duplicates()


class InPlace(Method):
    """Calls a method that changes an object: columns refuse values of other types."""

    def __call__(self, block: Any, *args: Any, **kwargs: Any) -> Any:
        changed = block.copy(deep=False)
        super().__call__(changed, *args, inplace=True, **kwargs)
        return changed


@dataclass(frozen=True, eq=False)
class ValuesAmong(SameRows):
    """Whether each value is among others, all of which are one chunk."""

    values: Node

    @property
    def meta(self) -> Any:
        return self.a.meta.isin([])

    def requires(self, wanted: Columns) -> tuple[Columns, ...]:
        return wanted, None

    def tile(self, a: Grid, values: Grid) -> Grid:
        grids = (a, as_one_chunk(values))
        return self.grid(Blockwise(among, grids, ((0,), (None,)), {}), a.chunks[0])


@kernel(scratch=1.0)
def among(block: Any, values: Any) -> Any:
    """Tell for each value whether it is among others."""
    return block.isin(values)


@keeps_lazy("arguments")
def where(
    obj: S, cond: Any, other: Any = no_default, *, inplace: bool = False, **options: Any
) -> S:
    """Keep values where a condition holds, and put others elsewhere. See pandas.DataFrame.where."""
    result: S = _chosen(method_in("where", inplace=inplace), obj, cond, other, options)
    return result


def cells_where(frame: S, cond: Any) -> S:
    """Return the values of a frame where a frame of booleans holds: ``frame[cond]``."""
    for dtype in cond.node.meta.dtypes:
        if not is_bool_dtype(dtype):
            raise TypeError(f"Boolean array expected for the condition, not {dtype}")
    return where(frame, cond)


@keeps_lazy("arguments")
def mask(obj: S, cond: Any, other: Any = no_default, *, inplace: bool = False, **options: Any) -> S:
    """Replace values where a condition holds. See pandas.DataFrame.mask."""
    result: S = _chosen(method_in("mask", inplace=inplace), obj, cond, other, options)
    return result


def _chosen(method: Method, obj: Any, cond: Any, other: Any, options: dict[str, Any]) -> Any:
    name = method.name
    if options.pop("level", None) is not None:
        raise NotImplementedError(f"{name}(level=) is not supported; use reset_index()")
    if obj.ndim == 2 and isinstance(other, list | tuple | range) and np.ndim(other) == 1:
        options["axis"], other = 1, _of_columns(obj, other)
    elif obj.ndim == 1 and isinstance(other, ROW_VALUES | pd.Index) and np.shape(other) == (1,):
        other = other[0]  # for all rows
    elif other is not no_default:
        other = beside(obj, other, name)
    # Whether a value was given decides what pandas makes of intervals.
    values = [beside(obj, cond, name), *([] if other is no_default else [other])]
    if isinstance(method, InPlace):
        return rowwise(method, obj, *values, **options)
    if len(values) == 2 and not options and _in_all_rows(obj, *values):
        return exemplars.chosen(method, obj, *values, where=name == "where")
    if options.get("axis") in (0, "index") and _has_its_columns(obj, values[0], other):
        parts = zip(_columns_of(obj), _columns_of(values[0]), strict=True)
        chosen = [_chosen(method, column, cond, other, {}) for column, cond in parts]
        return _beside_each_other(chosen, obj.node.meta.columns)
    return rowwise(method, obj, *values, **options)


def _has_its_columns(obj: Any, cond: Any, other: Any) -> bool:
    """Tell whether each column of a frame has a condition, and its type may depend on all rows."""
    metas = [part.node.meta for part in (obj, cond) if isinstance(part, Collection)]
    if len(metas) < 2 or not all(isinstance(meta, pd.DataFrame) for meta in metas):
        return False
    same = metas[0].columns.equals(metas[1].columns)
    return same and any(_in_all_rows(column, other) for column in _columns_of(obj))


def _columns_of(frame: Any) -> list[Any]:
    count = len(frame.node.meta.columns)
    return [columns_at(frame, at) for at in range(count)]


def _beside_each_other(columns: list[Any], labels: Any) -> Any:
    return rowwise(side_by_side, *columns, order=list(range(len(columns))), columns=labels)


def _in_all_rows(obj: Any, *values: Any) -> bool:
    """Tell whether the type of a column depends on what may replace other rows."""
    rows = [obj, *values]
    if not all(_is_column(part) for part in rows) or is_single(obj.node.chunks[0]):
        return False
    return exemplars.needs_all_replacements(obj, values[-1].node.meta.dtype)


def _is_bound_of_all_rows(obj: Any, bound: Any) -> bool:
    """Tell whether what a bound does to a column depends on other rows of it."""
    if not _is_column(bound):
        return False
    columns = [obj] if obj.ndim == 1 else _columns_of(obj)
    several = not is_single(obj.node.chunks[0])
    masked = several and is_masked(bound.node.meta.dtype)
    return masked or any(_in_all_rows(column, bound) for column in columns)


def _is_column(value: Any) -> bool:
    """Tell whether a value is a lazy series of rows."""
    is_series = isinstance(value, Collection) and isinstance(value.node.meta, pd.Series)
    return is_series and not is_row(value.node)


def _of_columns(frame: Any, values: Any) -> pd.Series:
    """Return a value for each column; a single one is that of all."""
    values = [*values] * len(frame.columns) if len(values) == 1 else values
    if len(values) != len(frame.columns):
        if len(frame.columns) == 1:
            raise NotImplementedError(
                "values for the rows of one column, without labels, are not supported as a list; "
                "use a Series"
            )
        raise ValueError(f"other must have {len(frame.columns)} values, one for each column")
    return pd.Series(values, index=frame.columns)


def beside(obj: Any, value: Any, name: str) -> Any:
    """Return what is chosen by or from: what a function returns, arrays as rows."""
    value = value(obj) if callable(value) and not isinstance(value, Collection) else value
    if isinstance(value, pd.Series | pd.DataFrame):
        if value.ndim != obj.ndim:
            raise NotImplementedError(
                f"{name}() of a {type(obj).__name__} with a {type(value).__name__} is not "
                "supported; use the frame's columns one by one"
            )
        return labelled_values(obj, value, name)
    complaint = "Array conditional must be same shape as self"
    if is_array(value):
        if len(value.node.chunks) != obj.ndim:
            raise ValueError(complaint)
        return aligned_tensor(obj, value, complaint)
    if isinstance(value, np.ndarray) and value.ndim == 0 and obj.ndim == 1:
        return value[()]
    if isinstance(value, ROW_VALUES | pd.Index):
        if np.ndim(value) != obj.ndim:
            raise ValueError(complaint)
        return aligned_values(obj, array_of(value) if obj.ndim == 1 else value, complaint)
    return value


@keeps_lazy("arguments")
def clip(
    obj: S, lower: Any = None, upper: Any = None, *, axis: Any = None, inplace: bool = False
) -> S:
    """Replace values outside of bounds by the bounds. See pandas.DataFrame.clip."""
    ends = {"lower": lower, "upper": upper}
    if axis is None and obj.ndim == 2:
        ends, axis = _of_all_rows(obj.node.meta.columns, ends)
    number = None if axis is None else axis_number(obj.node.meta, axis)
    by_row = obj.ndim == 1 or number == 0
    bounds = {
        name: _as_bound(obj, end, by_row=by_row) for name, end in ends.items() if end is not None
    }
    if by_row and not inplace and any(_is_bound_of_all_rows(obj, end) for end in bounds.values()):
        if obj.ndim == 1:
            column: S = _clipped(obj, bounds)
            return column
        if all(not isinstance(end, Collection) or _is_column(end) for end in bounds.values()):
            columns = [_clipped(column, bounds) for column in _columns_of(obj)]
            frame: S = _beside_each_other(columns, obj.node.meta.columns)
            return frame
    how = {} if axis is None else {"axis": axis}
    scalar = any(isinstance(end, Collection) and not end.node.chunks for end in bounds.values())
    by_scalar = ClipInPlaceByScalar("clip") if inplace else ClipByScalar("clip")
    method = by_scalar if scalar else method_in("clip", inplace=inplace)
    result: S = rowwise(method, obj, **bounds, **how)
    return result


def _of_all_rows(columns: pd.Index, ends: dict[str, Any]) -> tuple[dict[str, Any], int | None]:
    """Return bounds of one row as values of the columns, and the axis of these."""
    rows = {
        name: pd.Series(end[0], columns)
        for name, end in ends.items()
        if isinstance(end, np.ndarray) and end.shape == (1, len(columns))
    }
    return ends | rows, 1 if rows else None


@keeps_lazy("arguments")
def between(series: S, left: Any, right: Any, inclusive: str = "both") -> S:
    """Tell which values lie between two bounds. See pandas.Series.between."""
    ends = {"left": operand(series, left), "right": operand(series, right)}
    inside: S = rowwise(Method("between"), series, **ends, inclusive=inclusive)
    return inside


def _clipped(series: Any, bounds: dict[str, Any]) -> Any:
    """Clip a column by others: pandas takes missing bounds for infinite ones."""
    for name, end in bounds.items():
        if not _is_column(end):
            series = clip(series, **{name: end})
            continue
        least = name == "lower"
        bound = rowwise(without_gaps, end, end.notna().any(), least=least)
        inside = series >= bound if least else series <= bound
        series = where(series, inside | series.isna(), bound)
    return series


def without_gaps(block: Any, any_present: Any, least: bool) -> Any:
    """Return bounds with infinity for missing ones."""
    block = block if any_present else block.astype("float64")
    return block.fillna(-np.inf if least else np.inf)


class ClipByScalar(Method):
    """``clip`` by values that were lazy: pandas takes arrays without axes for rows."""

    def __call__(self, block: Any, *args: Any, **kwargs: Any) -> Any:
        bounds = {
            name: value[()] if isinstance(value, np.ndarray) and not value.ndim else value
            for name, value in kwargs.items()
        }
        return super().__call__(block, *args, **bounds)


class ClipInPlaceByScalar(ClipByScalar, InPlace):
    """The same in place."""


def _as_bound(obj: Any, bound: Any, *, by_row: bool) -> Any:
    """Return a bound of each row or of each column; one of rows lies beside them."""
    if isinstance(bound, pd.DataFrame) or (by_row and isinstance(bound, pd.Series)):
        return labelled_values(obj, bound, "clip")
    if is_array(bound) and by_row:
        return aligned_tensor(obj, bound, BROADCAST)
    check_order(bound)
    if isinstance(bound, np.ndarray) and bound.ndim == 0 and obj.ndim == 1:
        return bound[()]
    if not isinstance(bound, ROW_VALUES | pd.Index):
        return bound
    if np.ndim(bound) == 2:
        return aligned_values(obj, bound, BROADCAST)
    if not by_row:
        return bound
    complaint = "Length of values ({}) does not match length of index ({})"
    if obj.ndim == 2:
        complaint = "Unable to coerce to Series, length must be {1}: given {0}"
    return aligned_values(obj, bound, complaint)


def replace(obj: S, to_replace: Any = None, value: Any = no_default, **options: Any) -> S:
    """Replace some values by others. See pandas.DataFrame.replace."""
    if any(isinstance(item, Collection) for item in (to_replace, value)):
        raise NotImplementedError("replace() of lazy values is not supported; use compute() first")
    # Whether a value was given decides what pandas does.
    arguments = options if value is no_default else {"value": value, **options}
    result: S = rowwise(Method("replace"), obj, to_replace=to_replace, **arguments)
    return result


@keeps_lazy("arguments")
def combine_first(obj: S, other: Any) -> S:
    """Replace missing values by those of another object. See pandas.DataFrame.combine_first."""
    other = lazy_rows(obj, other, "combine_first")
    result: S = rowwise(Method("combine_first"), obj, other)
    return result


@public_call
@function_with_fallback
def isna(obj: S) -> S:
    """Tell which values are missing. See pandas.isna."""
    result: S = _missing(pd.isna, obj)
    return result


@public_call
@function_with_fallback
def notna(obj: S) -> S:
    """Tell which values are there. See pandas.notna."""
    result: S = _missing(pd.notna, obj)
    return result


def _missing(func: Any, obj: Any) -> Any:
    """Tell which values are missing, or which are not."""
    if not isinstance(obj, Collection):
        return func(obj)
    if isinstance(obj.node.meta, np.ndarray):
        values: Any = obj
        return values.map_blocks(func, dtype=bool)
    return rowwise(Method(func.__name__), obj)
