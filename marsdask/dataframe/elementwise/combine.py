"""Two objects put together: by a user's function, by cases, side by side where they differ."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from marsdask.core.collection import Collection
from marsdask.core.machine.costs import kernel
from marsdask.core.sizes import total

from ..create import as_lazy
from ..nodes.dtypes import OneType
from ..nodes.frame_node import is_array
from ..reduction.fold import Assembly
from ..reduction.reductions import collection_of
from ..reshape.flat_map import flat_map
from ..rows import alignment
from ..schemas.samples import column, sample, without_rows
from . import exemplars
from .apply import UserCall
from .combination import Converted, rows_equal
from .operands import ROW_VALUES, aligned_tensor, aligned_values, lazy_rows
from .rowwise import Method, Unsettled, rowwise

if TYPE_CHECKING:
    from ..frame import DataFrame
    from ..series import Series


@dataclass(frozen=True, eq=False)
class CombineCall(UserCall):
    """A call with a user's function of the values of a series, and of another or a constant."""

    def __call__(self, block: Any, other: Any = None) -> Any:
        if not len(block):
            return self.meta.set_axis(block.index)
        if self.meta.dtype != object:
            return exemplars.without_values(block.combine(other, *self.args), self.meta.dtype)
        values = other.array if isinstance(other, pd.Series) else [other] * len(block)
        results = (self.args[0](*pair) for pair in zip(block.array, values, strict=True))
        objects = exemplars.objects_of(results, len(block))
        return pd.Series(objects, block.index, object, self.meta.name)


@dataclass(frozen=True, eq=False)
class NumbersCall(CombineCall, Unsettled):
    """Such a call whose results are floats, or integers if all are: the values of all rows tell."""

    @property
    def by_rows(self) -> bool:
        return True


@dataclass(frozen=True, eq=False)
class CombinedType(exemplars.Listed):
    """Returns objects in the type that pandas finds for what values of a type are combined to."""

    dtype: Any

    def __call__(self, block: Any) -> Any:
        if not len(block):
            return super().__call__(block)
        values = column(self.dtype).iloc[[0] * len(block)].reset_index(drop=True)
        result = values.combine(block.reset_index(drop=True), _second)
        return result.set_axis(block.index).rename(block.name)


def _second(first: Any, second: Any) -> Any:
    """Return the second value."""
    del first
    return second


def combine_values(
    series: Series,
    other: Series | Hashable,
    func: Callable[[Hashable, Hashable], Hashable],
    fill_value: Hashable = None,
) -> Series:
    """Return what a function makes of two values each. See pandas.Series.combine.

    All rows meet in one task unless the rows are the same ones.
    """
    second: Any = as_lazy(other)
    is_lazy = isinstance(second, Collection)
    meta = series.node.meta
    pair = [meta, second.node.meta] if is_lazy else [meta]
    rows: list[Any] = [column(side.dtype)[:1].rename(side.name) for side in pair]
    if not any(series.node.chunks[0]):
        rows = pair  # pandas has a type of its own for no rows
    try:
        result = rows[0].combine(rows[1] if is_lazy else second, func, fill_value)
    except TypeError:  # of made-up values: chunks tell
        result = rows[0].astype(object)
    result = result.astype(object) if meta.dtype == object else result
    if is_lazy and alignment(series.node) != alignment(second.node):
        whole = (("func", func), ("fill_value", fill_value))
        return _series(_in_one_task("combine", series, second, result.iloc[:0], whole, rows=None))
    series, second = (_in_one_type(side) for side in (series, second))
    by_rows = _is_among_floats(result.dtype, [side.dtype for side in rows])
    like = without_rows(result.astype(float) if by_rows else result, meta)
    if isinstance(like.dtype, np.dtype) and like.dtype.kind in "biufc":
        kind = NumbersCall if by_rows else CombineCall
        call = kind("combine", (func, fill_value), (), like)
        return _series(rowwise(call, series, second))
    # Of missing values only pandas makes objects, and a chunk may have no others.
    call = CombineCall("combine", (func, fill_value), (), like.astype(object))
    combined_rows = rowwise(call, series, second)
    return _series(exemplars.by_values(CombinedType(like, meta.dtype), combined_rows))


def _is_among_floats(dtype: Any, given: list[Any]) -> bool:
    """Tell whether a function chose an integer, and may choose a float in other rows."""
    kinds = {own.kind for own in given if isinstance(own, np.dtype)}
    return isinstance(dtype, np.dtype) and dtype.kind in "iu" and "f" in kinds


def _in_one_type(rows: Any) -> Any:
    """Return rows of which a function sees values of one type, as in pandas; constants as is."""
    plain = not isinstance(rows, Collection) or rows.node.settled
    return rows if plain else type(rows)(OneType(rows.node))


def _series(found: Any) -> Series:
    series: Series = found
    return series


def combine_columns(
    frame: DataFrame,
    other: DataFrame,
    func: Callable[[Any, Any], Any],
    fill_value: Any = None,
    overwrite: bool = True,
) -> DataFrame:
    """Return what a function makes of two columns each. See pandas.DataFrame.combine.

    All rows meet in one task, since the function sees whole columns.
    """
    other = as_lazy(other)
    metas = [item.node.meta for item in (frame, other)]
    rows = [sample(meta) for meta in metas]
    like = rows[0].combine(rows[1], func, fill_value, overwrite).iloc[:0]
    is_aligned = alignment(frame.node) == alignment(other.node)
    size = total(frame.node.chunks[0])
    count = size if is_aligned and isinstance(size, int) else None
    options = (("func", func), ("fill_value", fill_value), ("overwrite", overwrite))
    like = like.set_axis(metas[0].index[:0], axis=0)
    result: DataFrame = _in_one_task("combine", frame, other, like, options, rows=count)
    return result


def _in_one_task(
    name: str, obj: Any, other: Any, like: Any, options: Any, *, rows: int | None
) -> Any:
    nodes = (obj.node, other.node)
    return collection_of(Assembly(like, rows, False, name, nodes, combined, options))


@kernel(scratch=3.0)
def combined(block: Any, other: Any, func: Any, **options: Any) -> Any:
    """Combine all rows of two objects."""
    return block.combine(other, func, **options)


def case_when(series: Series, caselist: Any) -> Series:
    """Replace values where conditions hold, by the first that does. See pandas.Series.case_when.

    Conditions and replacements have the rows of the series, or are in its order.
    """
    if not isinstance(caselist, list):
        raise TypeError(f"The caselist argument should be a list; instead got {type(caselist)}")
    if not caselist:
        raise ValueError(
            "provide at least one boolean condition, with a corresponding replacement."
        )
    for number, entry in enumerate(caselist):
        if not isinstance(entry, tuple):
            raise TypeError(f"Argument {number} must be a tuple; instead got {type(entry)}.")
        if len(entry) != 2:
            raise ValueError(
                f"Argument {number} must have length 2; a condition and replacement; instead got "
                f"length {len(entry)}."
            )
    flat = [_beside(series, item) for entry in caselist for item in entry]
    result: Series = rowwise(cases, series, *flat)
    return result


def _beside(series: Series, value: Any) -> Any:
    value = value(series) if callable(value) and not isinstance(value, Collection) else value
    if is_array(value):
        return aligned_tensor(series, value, "Array conditional must be same shape as self")
    if isinstance(value, Collection) and isinstance(value.node.meta, np.ndarray):
        return value
    value = lazy_rows(series, value, "case_when")
    if isinstance(value, ROW_VALUES | pd.Index):
        return aligned_values(series, value, "Array conditional must be same shape as self")
    return value


@kernel(scratch=3.0)
def cases(block: Any, *flat: Any) -> Any:
    """Replace values where conditions hold."""
    return block.case_when(list(zip(flat[::2], flat[1::2], strict=True)))


def compare(
    obj: Any,
    other: Any,
    align_axis: Any = 1,
    keep_shape: bool = False,
    keep_equal: bool = False,
    result_names: tuple[Any, Any] = ("self", "other"),
) -> DataFrame | Series:
    """Return the rows that differ, side by side. See pandas.DataFrame.compare.

    The rows must be the same ones. Of frames without ``keep_shape``, which columns differ is
    computed at the call.
    """
    if type(obj) is not type(other := lazy_rows(obj, other, "compare")):
        mine, theirs = type(obj).__name__, type(other).__name__
        raise TypeError(f"can only compare '{mine}' (not '{theirs}') with '{mine}'")
    if not isinstance(result_names, tuple):
        raise TypeError(
            f"Passing 'result_names' as a {type(result_names)} is not supported. Provide "
            "'result_names' as a tuple instead."
        )
    if obj.ndim == 2 and not obj.columns.equals(other.columns):
        raise ValueError(
            "Can only compare identically-labeled (both index and columns) DataFrame objects"
        )
    how = {"keep_shape": True, "keep_equal": keep_equal, "result_names": result_names}
    rows = rowwise(Converted(Method("compare")), obj, other, **how)
    if not keep_shape:
        rows = rows[~rowwise(rows_equal, obj, other)]
        if obj.ndim == 2:
            differ = ~rowwise(cells_equal, obj, other).all().to_pandas().to_numpy()
            rows = rows.iloc[:, np.flatnonzero(np.repeat(differ, 2)).tolist()]
    if align_axis in (1, "columns"):
        side_by_side: DataFrame = rows
        return side_by_side
    if align_axis not in (0, "index", "rows"):
        raise ValueError(f"No axis named {align_axis} for object type {type(obj).__name__}")
    has_name = obj.ndim == 1 and obj.name == other.name
    options = {
        "names": result_names,
        "name": obj.name if has_name else None,
        "framed": obj.ndim == 2,
    }
    below: DataFrame | Series = flat_map(alternated, rows, times=2, **options)
    return below


@kernel(scratch=2.0)
def cells_equal(block: Any, other: Any) -> Any:
    """Tell of each cell whether it is equal to another, or missing as that is."""
    mask = (block == other) | (block.isna() & other.isna())
    return mask.fillna(False).astype(bool)


@kernel(scratch=3.0)
def alternated(block: Any, names: tuple[Any, Any], name: Any, framed: bool) -> Any:
    """Return values side by side as rows, one of each in turn."""
    if framed:
        labels = block.columns[::2].droplevel(-1)
        halves = [block.iloc[:, at::2].set_axis(labels, axis=1) for at in (0, 1)]
    else:
        halves = [block.iloc[:, at].rename(name) for at in (0, 1)]
    below = pd.concat(halves, keys=names)
    levels = [*range(1, below.index.nlevels), 0]
    rows = below.take(np.arange(len(below)).reshape(2, -1).T.ravel())
    return rows.set_axis(rows.index.reorder_levels(levels), axis=0)
