"""``agg``: several reductions of columns, put together as pandas does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from pandas.api.types import infer_dtype, is_numeric_dtype, is_object_dtype

from marsdask.core.collection import Collection
from marsdask.core.snapshots.functions import function_name

from ..arguments.pandas_arguments import named_pairs
from ..elementwise.column_selection import with_types_of_rows
from ..elementwise.rowwise import columns_at
from ..nodes.frame_node import axis_number, dtypes_of, is_masked
from ..schemas.samples import column as few_values
from .column_blocks import PandasCall, by_blocks
from .column_functions import call_with_columns
from .custom_reduction import CustomReduction
from .fold import assembled
from .reductions import one_row

if TYPE_CHECKING:
    from marsdask.tensor import Tensor

    from ..frame import DataFrame
    from ..series import Series

#: Functions that are the reductions of their names.
KNOWN: dict[Callable[..., Any], str] = {
    np.sum: "sum",
    np.mean: "mean",
    np.min: "min",
    np.max: "max",
    np.prod: "prod",
    np.any: "any",
    np.all: "all",
}

#: The same of Python, which are those of their names for integers and booleans: missing values are
#: no gaps to them.
OF_PYTHON: dict[Callable[..., Any], str] = {
    sum: "sum",
    min: "min",
    max: "max",
    any: "any",
    all: "all",
}

#: Reductions whose results are values of columns.
EXTREMES = {"min", "max"}

#: pandas's names of kinds of numbers.
NUMBERS = {"boolean", "integer", "floating", "mixed-integer-float"}


def name_of(func: Any, meta: Any) -> str | None:
    """Return the name of a reduction of columns, given by name or as a function that is known."""
    if isinstance(func, str):
        return func
    if not callable(func):
        raise TypeError(f"{type(func).__name__!r} object is not callable")
    plain = all(isinstance(t, np.dtype) and t.kind in "iub" for t in dtypes_of(meta))
    return OF_PYTHON.get(func, KNOWN.get(func)) if plain else KNOWN.get(func)


def _value(column: Any, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return a lazy scalar: a reduction of a column."""
    if isinstance(func, CustomReduction):
        return func(column)
    name = name_of(func, column.node.meta)
    if name == "size":
        return column.isna().count()
    # Which columns are reduced is settled.
    how = {key: value for key, value in kwargs.items() if key not in {"numeric_only", "bool_only"}}
    if name:
        result = getattr(column, name)(*args, **how)
    else:
        result = call_with_columns(column, "agg", func, 0, *args, **how)
    if not isinstance(result, Collection) or not isinstance(result.node.meta, np.ndarray):
        raise NotImplementedError(
            f"agg() of {_label(func)!r} among others is not supported, since it returns rows; "
            "call it alone"
        )
    return result


def scalar_of(value: Any) -> Any:
    """Return a computed scalar as pandas has it."""
    return value[()] if isinstance(value, np.ndarray) and not value.ndim else value


def in_column(*values: Any, form: pd.Series) -> pd.Series:
    """Return values as a series, whose type they decide."""
    series = pd.Series(list(map(scalar_of, values)), index=form.index, name=form.name)
    return _typed(series, form.dtype)


def _typed(found: pd.Series, dtype: Any) -> pd.Series:
    """Return numbers of several types in the type that pandas gives them together."""
    if dtype == "Float64" and infer_dtype(found, skipna=False) == "integer":
        return found.astype("Int64")  # only the rows tell that they are integers
    if not is_masked(dtype) and (found.dtype != object or not is_numeric_dtype(dtype)):
        return found
    if any(value is pd.NA for value in found):
        return found.astype(dtype) if is_masked(dtype) else found  # no type of NumPy holds NA
    gaps = found.isna().any() and not is_masked(dtype) and dtype.kind in "iub"
    return found if gaps or infer_dtype(found) not in NUMBERS else found.astype(dtype)


def _kept(found: pd.Series, dtype: Any) -> pd.Series:
    """Return values of other types than numbers in the type of their column."""
    if is_numeric_dtype(dtype):
        return found
    is_plain = (
        not isinstance(dtype, pd.CategoricalDtype) or found.dropna().isin(dtype.categories).all()
    )
    return found.astype(dtype) if is_plain else found


def in_cells(
    *values: Any,
    cells: tuple[tuple[int, int], ...],
    form: pd.DataFrame,
    keeps: bool = False,
    objects: frozenset[Any] = frozenset(),
    flags: frozenset[Any] = frozenset(),
) -> pd.DataFrame:
    """Return values at their rows and columns of a frame; other cells are missing.

    With ``keeps`` ``objects``, texts and categories keep their types, as of a list of functions.
    Values of ``flags``, which are booleans, are objects only together with numbers.
    """
    index, columns = form.index, form.columns
    types = [
        object if items in objects and is_object_dtype(dtype) else None
        for items, dtype in zip(columns, form.dtypes, strict=True)
    ]  # the integers of objects stay integers
    rows: dict[int, dict[int, Any]] = {at: {} for at in range(len(columns))}
    for (row, at), value in zip(cells, values, strict=True):
        rows[at][row] = value.iloc[0] if isinstance(value, pd.Series) else scalar_of(value)
    table = {}
    for (at, items), dtype in zip(rows.items(), form.dtypes, strict=True):
        column = pd.Series(list(items.values()), list(items), types[at]).reindex(range(len(index)))
        table[at] = _kept(column, dtype) if keeps and columns[at] not in flags else column
        table[at] = _typed(table[at], dtype)
    return pd.DataFrame(table).set_axis(index, axis=0).set_axis(columns, axis=1)


def _several(func: Any, named: dict[str, Any]) -> list[Any]:
    """Return the functions of a series, of which some may be the same."""
    func = named if func is None else func
    return list(func.values()) if isinstance(func, dict) else list(func)


def _label(func: Any) -> Any:
    return func if isinstance(func, str) else function_name(func)


def aggregate_column(
    series: Series, func: Any = None, axis: Any = 0, *args: Any, **kwargs: Any
) -> Series | Tensor:
    """Aggregate with one or several reductions. See pandas.Series.agg.

    Functions are names of reductions, and those of NumPy that are the same, or of Python for
    integers. Of others all rows meet in one task.
    """
    axis_number(series.node.meta, axis)
    func = func.to_dict() if isinstance(func, pd.Series) else func
    if func is None and not kwargs:
        raise TypeError("Must provide 'func' or tuples of 'column, aggfunc.")
    if func is not None and not isinstance(func, dict | list | tuple):
        result: Series | Tensor = _called(series, func, args, kwargs)
        return result
    meta = series.node.meta
    like: Any = one_row(meta).agg(func, 0, *args, **kwargs)
    if isinstance(like, pd.DataFrame):
        rows: Series = series.transform(func, 0, *args, **kwargs)
        return rows
    # As in pandas, the functions of a list take the arguments, those of a dict do not.
    how = (args, kwargs) if isinstance(func, list | tuple) else ((), {})
    values = [_value(series, item, *how) for item in _several(func, kwargs)]
    typed = not is_object_dtype(meta.dtype)
    # Of missing values alone the results may have other types than of some.
    if is_masked(meta.dtype):
        gaps = few_values(meta.dtype)[1:2].agg(func, 0, *args, **kwargs)
        typed = gaps.dtype == like.dtype
    elif typed and like.isna().any():
        gaps, sample = like, few_values(meta.dtype)[:1].rename(meta.name)
        like = sample.agg(func, 0, *args, **kwargs)
        typed = gaps.dtype == like.dtype
    several: Series = assembled(in_column, values, like, title="agg", form=like, typed=typed)
    return several


def _called(obj: Any, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if isinstance(func, CustomReduction):
        return func(obj)
    name = name_of(func, obj.node.meta)
    if name is None:
        of_rows = kwargs.pop("axis", 0)
        if of_rows:
            return obj.apply(func, axis=1, args=args, **kwargs)
        return call_with_columns(obj, "agg", func, 0, *args, **kwargs)
    member = getattr(obj, name)
    if name == "size" and not isinstance(member, int):  # only running tells the number of rows
        rows = columns_at(obj, 0) if obj.ndim == 2 else obj
        return rows.isna().count() * (len(obj.node.meta.columns) if obj.ndim == 2 else 1)
    return member(*args, **kwargs) if callable(member) else member


def aggregate(
    frame: DataFrame, func: Any = None, axis: Any = 0, *args: Any, **kwargs: Any
) -> Series | DataFrame:
    """Aggregate with one, several or named reductions. See pandas.DataFrame.agg.

    Functions are names of reductions, and those of NumPy that are the same, or of Python for
    integers. Of others all rows meet in one task.
    """
    if isinstance(func, list | tuple):  # values of objects stay objects
        frame = with_types_of_rows(frame, "O")
    meta = frame.node.meta
    across = axis_number(meta, axis) == 1
    func = func.to_dict() if isinstance(func, pd.Series) else func
    if func is None and not kwargs:
        raise TypeError("Must provide 'func' or tuples of 'column, aggfunc.")
    if isinstance(func, CustomReduction):
        func = dict.fromkeys(meta.columns, func)
    if func is not None and func != "size" and not isinstance(func, dict | list | tuple):
        result: Series | DataFrame = _called(
            frame, func, args, {**({"axis": 1} if across else {}), **kwargs}
        )
        return result
    if across and (columns := _across(frame, func)) is not None:
        return columns
    if across:
        raise NotImplementedError(
            "agg(axis=1) of several functions is not supported; use one, or assign() of each"
        )
    if not meta.columns.is_unique:
        raise NotImplementedError(
            "agg() of several columns of one label is not supported; use set_axis(labels, axis=1)"
        )
    like: Any = one_row(meta).agg(func, 0, *args, **kwargs)
    if isinstance(func, list | tuple):
        if like.columns.nlevels > meta.columns.nlevels:
            rows: DataFrame = frame.transform(func, 0, *args, **kwargs)
            return rows
        if all(isinstance(item, str) for item in func):
            call = PandasCall("agg", (list(func), 0, *args), tuple(kwargs.items()))
            blocks: DataFrame | None = by_blocks(frame, call, like, typed=False)
            if blocks is not None and len(like.columns) == len(meta.columns):
                return blocks
        # As in pandas, the functions of a list take the arguments, those of a dict do not.
        triples = list(_wanted(like, func, kwargs))
        return _put_together(frame, triples, like, args, kwargs, keeps=True)
    return _put_together(frame, list(_wanted(meta, func, kwargs)), like)


def _across(frame: Any, func: Any) -> DataFrame | None:
    """Return reductions of the rows of numbers side by side, ``None`` of other functions."""
    meta = frame.node.meta
    are_numbers = all(isinstance(t, np.dtype) and t.kind in "iuf" for t in meta.dtypes)
    if not isinstance(func, list | tuple) or not are_numbers:
        return None
    like: Any = one_row(meta).agg(list(func), 1)
    labels = list(map(_label, func))
    if list(like.columns) != labels or len(set(labels)) < len(labels):
        return None
    parts = {label: frame.agg(item, 1) for label, item in zip(labels, func, strict=True)}
    rows: Any = frame[[]].assign(
        **{label: part.astype(like.dtypes[label]) for label, part in parts.items()}
    )
    rows.columns = like.columns
    result: DataFrame = rows
    return result


def _cells(like: Any, wanted: list[tuple[Any, Any]]) -> tuple[tuple[int, int], ...]:
    """Return the cells of columns and functions; a function that is there twice has two rows."""
    counts: Counter[Any] = Counter()
    cells = []
    for column, label in wanted:
        rows = like.index.get_indexer_for([label])
        cells.append((int(rows[counts[column, label]]), like.columns.get_loc(column)))
        counts[column, label] += 1
    return tuple(cells)


def _wanted(meta: Any, func: Any, named: dict[str, Any]) -> Iterable[tuple[Any, Any, Any]]:
    """Yield the column, the function and the label of the result's row."""
    if func is None:
        pairs = named_pairs(named).items()
        yield from ((column, item, label) for label, (column, item) in pairs)
    elif isinstance(func, dict):
        for column, how in func.items():
            yield from ((column, item, _label(item)) for item in _as_list(how))
    else:
        several = _as_list(func)
        yield from ((column, item, _label(item)) for column in meta.columns for item in several)


def _as_list(how: Any) -> Any:
    return how if isinstance(how, list | tuple) else [how]


def _put_together(
    frame: DataFrame,
    wanted: list[tuple[Any, Any, Any]],
    like: Any,
    args: tuple[Any, ...] = (),
    kwargs: dict[str, Any] | None = None,
    *,
    keeps: bool = False,
) -> Series | DataFrame:
    meta = frame.node.meta
    places = {label: meta.columns.get_loc(label) for label, *_ in wanted}
    columns = {label: columns_at(frame, place) for label, place in places.items()}
    objects = frozenset(func for func in meta if keeps and is_object_dtype(meta[func]))
    values = []
    for column, func, _ in wanted:
        if column in objects and func in EXTREMES:  # those of none are None in frames only
            values.append(getattr(frame.iloc[:, [places[column]]], func)(*args, **kwargs or {}))
        else:
            values.append(_value(columns[column], func, args, kwargs or {}))
    typed = not any(is_object_dtype(column.node.meta.dtype) for column in columns.values())
    if isinstance(like, pd.Series):
        own: dict[str, Any] = {"form": like, "row": True, "typed": typed}
        series: Series = assembled(in_column, values, like, title="agg", **own)
        return series
    cells = _cells(like, [(column, label) for column, _, label in wanted])
    flags = frozenset(label for label in meta if meta[label].dtype == bool)
    how: Any = {"cells": cells, "form": like, "keeps": keeps, "objects": objects, "flags": flags}
    several: DataFrame = assembled(in_cells, values, like, title="agg", typed=typed, **how)
    return several
