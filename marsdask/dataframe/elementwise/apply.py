"""Users' functions of values and of rows; a call with a sample shows the types of results."""

from __future__ import annotations

import inspect
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any
from typing import cast as typed

import numpy as np
import pandas as pd

from marsdask.core.arguments import keeps_lazy
from marsdask.core.collection import Collection

from ..create import from_pandas
from ..nodes.dtypes import OneType
from ..nodes.frame_node import S, axis_number, has_na, is_masked, is_row
from ..reduction.column_functions import call_with_columns
from ..rows import declared, labels_below
from ..schemas.samples import column, row, without_rows
from ..whole.calls import refuse_sample
from . import exemplars
from .column_selection import side_by_side
from .row_series import across_columns, apply_to_objects, apply_to_rows, has_no_rows
from .rowwise import Unsettled, columns_at, relabelled, rowwise, with_columns

if TYPE_CHECKING:
    from ..frame import DataFrame
    from ..series import Series


@dataclass(frozen=True, eq=False)
class UserCall(Unsettled):
    """A pandas method of a chunk that calls a user's function; without rows it is not called."""

    name: str
    args: tuple[Any, ...]
    kwargs: tuple[tuple[str, Any], ...]
    meta: Any = field(repr=False)

    @property
    def __name__(self) -> str:
        return self.name

    @property
    def by_rows(self) -> bool:
        # A user's function has the types that it declares, or those of its first values.
        return not callable(self.args[0])

    def __call__(self, block: Any) -> Any:
        if not len(block):
            return self.meta.set_axis(block.index)
        by_function, is_map = callable(self.args[0]), self.name == "map"
        return _conformed(self.called(block), self.meta, by_function, by_function and is_map)

    def called(self, block: Any) -> Any:
        """Return what pandas returns for some rows."""
        kwargs = dict(self.kwargs)
        if callable(self.args[0]) and block.ndim == 1:
            block = exemplars.with_one_nan(block)
        if self.name == "map" and hasattr(self.args[0], "__missing__"):
            return block.map(exemplars.with_missing_key(self.args[0]), **kwargs)
        if kwargs.get("axis") == 1 and not kwargs["raw"]:
            return apply_to_rows(block, *self.args, **kwargs)
        return getattr(block, self.name)(*self.args, **kwargs)


@dataclass(frozen=True, eq=False)
class UntypedCall(UserCall):
    """A call of a user's function with each value, whose results have the types of a chunk."""

    def __call__(self, block: Any) -> Any:
        found = self.called(block)
        return _conformed(found, self.meta, False, False) if len(block) else found


@dataclass(frozen=True, eq=False)
class ValueCall(UserCall):
    """A call of a user's function with each value, whose results stay objects."""

    def called(self, block: Any) -> Any:
        func, *args = self.args
        options = dict(self.kwargs)
        skipped = options.pop("na_action", None) == "ignore"
        args = [*args, *options.pop("args", ())]
        block = exemplars.with_one_nan(block)
        results = (
            value if skipped and is_missing else func(value, *args, **options)
            for value, is_missing in zip(block, block.isna(), strict=True)
        )
        values = exemplars.objects_of(results, len(block))
        return pd.Series(values, block.index, object, block.name)


@dataclass(frozen=True, eq=False)
class RowCall(UserCall):
    """A call of a user's function with each row, whose results stay objects."""

    def called(self, block: Any) -> Any:
        func, *args = self.args
        return apply_to_objects(block, func, *args, **dict(self.kwargs))


@dataclass(frozen=True, eq=False)
class LookUp(UserCall):
    """Looks each value up in a mapping to values of several kinds, which stay objects."""

    def called(self, block: Any) -> Any:
        mapping = self.args[0]
        if isinstance(mapping, pd.Series):
            keys, values = mapping.index, [*mapping.array]
        else:
            keys, values = pd.Index(mapping.keys(), tupleize_cols=False), [*mapping.values()]
        places = block.map(pd.Series(range(len(keys)), keys), **dict(self.kwargs))
        found = (np.nan if pd.isna(place) else values[int(place)] for place in places)
        return pd.Series(exemplars.objects_of(found, len(block)), block.index, object, block.name)


def _has_kinds(mapping: Any, meta: Any) -> bool:
    """Tell whether pandas finds the type of what a mapping gives in all rows."""
    if meta.ndim > 1 or not _has_plain_values(meta.dtype):
        return False  # arrays of pandas have rules of their own
    known = isinstance(mapping, dict | pd.Series) and not hasattr(mapping, "__missing__")
    if not known:
        return False
    values = pd.Series(mapping)
    dtype, kind = meta.dtype, getattr(values.dtype, "kind", "")
    is_text = isinstance(dtype, pd.StringDtype) and dtype.na_value is pd.NA
    by_rows = values.dtype == "object" or is_text or (is_masked(dtype) and kind == "b")
    return by_rows and bool(values.notna().any())


def _has_plain_values(dtype: Any) -> bool:
    plain = isinstance(dtype, np.dtype) and dtype.kind not in "mM"
    return plain or isinstance(dtype, pd.StringDtype) or is_masked(dtype)


def _meets_missing_keys(mapping: Any, meta: Any) -> bool:
    """Tell whether pandas infers of all objects which of them are a missing key of a mapping."""
    if meta.ndim > 1 or meta.dtype != object or hasattr(mapping, "__missing__"):
        return False
    keys: Any = mapping.index if isinstance(mapping, pd.Series) else mapping
    is_mapping = isinstance(mapping, dict | pd.Series)
    return is_mapping and any(pd.api.types.is_scalar(key) and pd.isna(key) for key in keys)


def _conformed(found: Any, meta: Any, by_function: bool, by_value: bool) -> Any:
    """Return a chunk's result with the columns of the whole one."""
    kind: Any = pd.Series if isinstance(meta, pd.Series) else pd.DataFrame
    if not isinstance(found, kind):
        raise TypeError(
            f"the function returned a {type(found).__name__} for a chunk, and a "
            f"{type(meta).__name__} was expected; pass meta="
        )
    if isinstance(meta, pd.Series):
        return (exemplars.without_values(found, meta.dtype) if by_function else found).rename(
            meta.name
        )
    if not found.columns.equals(meta.columns):
        if set(found.columns) - set(meta.columns):
            raise ValueError(
                f"the function returned the columns {list(found.columns)} for a chunk, and "
                f"{list(meta.columns)} were expected; pass meta="
            )
        return found.reindex(columns=meta.columns)
    if by_value:
        for place, dtype in enumerate(meta.dtypes):
            found.isetitem(place, exemplars.without_values(found.iloc[:, place], dtype))
    return found


def user_call(obj: Any, name: str, *args: Any, meta: Any = None, **kwargs: Any) -> Any:
    """Return what a pandas method with a user's function gives, chunk by chunk."""
    node = obj.node
    call, is_open = UserCall(name, args, tuple(kwargs.items()), None), False
    if meta is not None:
        like = declared(meta, node.meta)
    elif not any(node.chunks[0]):
        like = call.called(node.meta)  # pandas has types of its own for no rows
    else:
        try:
            like = _guessed(call, node.meta)
        except Exception as error:  # noqa: BLE001  # whatever the function raises
            like, is_open = _guessed_of_text(call, node.meta, error), True
        _check_categories(like, name)
    is_open |= meta is None and callable(args[0]) and exemplars.tells_no_unit(like, node.meta)
    by_values = meta is None and callable(args[0]) and (is_open or _tells_nothing(like, node.meta))
    by_key = meta is None and name == "map" and _has_kinds(args[0], node.meta)
    guess = without_rows(like, node.meta)
    by_rows = meta is None and _tells_values(call, like, node.meta)
    if by_rows or is_open or (by_key and isinstance(like, pd.Series)):
        like = like.astype(object)
    kind = ValueCall if by_values else LookUp if by_key else RowCall if by_rows else UserCall
    call = kind(name, args, tuple(kwargs.items()), without_rows(like, node.meta))
    # A function sees one type of values, as in pandas, however chunks came about.
    rows = obj if node.settled or is_row(node) else type(obj)(OneType(node))
    by_missing = name == "map" and _meets_missing_keys(args[0], node.meta)
    if meta is None and callable(args[0]) and isinstance(like, pd.Series):
        by_missing = isinstance(like.dtype, pd.CategoricalDtype)  # unless a gap becomes a text
    by_value = meta is None and callable(args[0]) and (name == "map" or node.meta.ndim == 1)
    if kind is UserCall and by_value and not by_missing:
        untyped = UntypedCall(name, args, call.kwargs, call.meta)
        return exemplars.typed_by_all(call, untyped, rows)
    rows = (exemplars.by_values if by_missing else rowwise)(call, rows)
    if by_key and not isinstance(node.meta.dtype, np.dtype):
        return exemplars.by_values(exemplars.mapped_from, rows, dtype=node.meta.dtype)
    if by_key:
        return exemplars.by_values(exemplars.constructed, rows)
    if by_rows:
        return exemplars.by_values(exemplars.Listed(guess), rows)
    if is_open:
        return exemplars.by_values(exemplars.Inferred(guess), rows)
    return exemplars.by_values(exemplars.inferred, rows) if by_values else rows


def _check_categories(like: Any, name: str) -> None:
    """Raise for categories that no type can be found for, such as lists."""
    if isinstance(like, pd.Series) and isinstance(like.dtype, pd.CategoricalDtype):
        try:
            hash(like.dtype)
        except (TypeError, ValueError) as error:
            raise NotImplementedError(
                f"{name}() of categories to lists is not supported; use astype(object) first"
            ) from error


def _tells_nothing(found: Any, meta: Any) -> bool:
    """Tell whether results of made-up values do not show the type of other values."""
    if not isinstance(found, pd.Series) or not isinstance(meta, pd.Series):
        return False
    return found.dtype == object and (meta.dtype == object or bool(found.isna().all()))


def _tells_values(call: UserCall, found: Any, meta: Any) -> bool:
    """Tell whether results of rows are values of a type that all of them decide."""
    options = dict(call.kwargs)
    by_row = call.name == "apply" and meta.ndim == 2 and options.get("axis") == 1
    if not by_row or options["raw"] or options["result_type"] is not None:
        return False
    if isinstance(found, pd.DataFrame):
        dtypes = {*found.dtypes}
        return len(dtypes) > 1 or np.dtype(object) in {row(meta).iloc[0].dtype, *dtypes}
    dtypes = {*meta.dtypes, found.dtype}
    return np.dtype(object) in dtypes or any(map(has_na, dtypes))


#: Values of several kinds, for columns of objects.
KINDS: tuple[Any, ...] = ("a", 1, 2.5)


def _guessed_columns(call: UserCall, meta: pd.DataFrame) -> Any:
    """Return the results of a row; other values are tried where that of a column is missing."""
    found = _tried(call, row(meta))
    if not isinstance(found, pd.DataFrame) or found.shape[1] != meta.shape[1]:
        return found
    for at, dtype in enumerate(meta.dtypes):
        if dtype != "object" and found.iloc[:, at].isna().all():
            values = _guessed(call, meta.iloc[:, at])
            found.isetitem(at, values.array[:1])
    return found


def _guessed(call: UserCall, meta: Any) -> Any:
    if meta.ndim == 2 and call.name == "map" and callable(call.args[0]):
        return _guessed_columns(call, meta)
    if isinstance(meta, pd.DataFrame) or not callable(call.args[0]):
        return _tried(
            call, row(meta) if meta.ndim > 1 else column(meta.dtype)[:1].rename(meta.name)
        )
    of_kinds = meta.dtype == object
    values = pd.Series(KINDS, dtype=object) if of_kinds else column(meta.dtype)
    first, *samples = (values[at : at + 1].rename(meta.name) for at in range(len(values)))
    results = []
    with suppress(*(() if not of_kinds else (Exception,))):
        results.append(_tried(call, first))
    for rows in samples:
        if of_kinds or not isinstance(results[-1], pd.Series) or _is_missing(results[-1]):
            with suppress(Exception):
                results.append(_tried(call, rows))
    if not results:
        return _tried(call, first)  # raises
    examples = [result for result in results if not _is_missing(result)] or results[:1]
    first = examples[0]
    columns = [result for result in examples if isinstance(result, pd.Series)]
    alike = len(columns) < len(examples) or all(result.dtype == first.dtype for result in columns)
    return first if alike else first.astype(object)


#: Texts that functions of numbers, times and spans of time read.
TEXTS = ("1", "2020-01-01", "00:00:01")


def _guessed_of_text(call: UserCall, meta: Any, error: Exception) -> Any:
    """Return results of other texts, where a function fails for that of a made-up row.

    Text that is no number is a value of a column of texts, but not of each function of them.
    """
    plain = meta.ndim == 1 and meta.dtype in (object, "str")
    if not plain or call.name != "map" or not callable(call.args[0]):
        refuse_sample(error)
    for text in TEXTS:
        with suppress(Exception):
            return call.called(pd.Series([text], dtype=meta.dtype, name=meta.name))
    return pd.Series([None], dtype=object, name=meta.name)


def _is_missing(found: Any) -> bool:
    return isinstance(found, pd.Series) and bool(found.isna().all())


def _tried(call: UserCall, rows: Any) -> Any:
    try:
        return call.called(rows)
    except Exception as error:
        error.add_note(
            f"{call.name}() called the function with a row of the columns' types to find the type "
            "of the result; pass meta= to declare it"
        )
        raise


@keeps_lazy("arguments")
def apply_rows(
    frame: DataFrame,
    func: Any,
    axis: int | str = 0,
    raw: bool = False,
    result_type: str | None = None,
    args: tuple[Any, ...] = (),
    *,
    meta: Any = None,
    **kwargs: Any,
) -> DataFrame | Series:
    """Call a function with each column or row. See pandas.DataFrame.apply.

    The function is called with made-up rows first, which show the type of the result. ``meta``
    tells the type instead: a pandas object, a dict of columns and types, or a name and a type.
    All rows meet in one task with ``axis=0``.
    """
    number = axis_number(frame.node.meta, axis)
    if not any(result_type is option or result_type == option for option in RESULT_TYPES):
        raise ValueError(
            "invalid value for result_type, must be one of {None, 'reduce', 'broadcast', 'expand'}"
        )
    if isinstance(func, list | tuple | dict) and not (args or kwargs):
        if has_no_rows(frame) and number == 0:
            return typed("DataFrame", from_pandas(frame.node.meta.apply(func)))
        several: Series | DataFrame = frame.agg(func, axis)
        return several
    if isinstance(func, str):
        values: DataFrame = _named(frame, func, number, args, kwargs)
        return values
    if isinstance(func, np.ufunc) and not (args or kwargs):
        applied: DataFrame = rowwise(func, frame)
        return applied
    options = {"raw": raw, "result_type": result_type, "args": args, **kwargs}
    if number == 0:
        like = None if meta is None else declared(meta, frame.node.meta)
        columns: DataFrame = call_with_columns(frame, "apply", func, meta=like, **options)
        return columns
    result: DataFrame = user_call(frame, "apply", func, axis=1, meta=meta, **options)
    return result


#: What ``apply`` may make of the results.
RESULT_TYPES = (None, "reduce", "broadcast", "expand")

#: Methods of which ``apply`` refuses an axis that they have.
_DOWN_ONLY = {"corrwith", "skew"}


def _named(frame: Any, name: str, number: int, args: Any, kwargs: dict[str, Any]) -> Any:
    """Call a method of a frame by its name, along the axis that is given to ``apply``."""
    method = getattr(frame, name)
    if not callable(method):
        return frame.agg(name, number)
    along = "axis" in inspect.signature(getattr(pd.DataFrame, name)).parameters
    if number and (not along or name in _DOWN_ONLY):
        raise ValueError(f"Operation {name} does not support axis=1")
    return method(*args, **({"axis": 1} if number else {}), **kwargs)


@keeps_lazy("arguments")
def apply_values(
    series: Series,
    func: Any,
    args: tuple[Any, ...] = (),
    *,
    by_row: Any = "compat",
    meta: Any = None,
    **kwargs: Any,
) -> Series | DataFrame:
    """Call a function with each value. See pandas.Series.apply.

    The function is called with a made-up value first, which shows the type of the result. ``meta``
    tells the type instead, as for DataFrames.
    """
    if has_no_rows(series) and by_row is not False and meta is None:
        return type(series)(series.node)
    if isinstance(func, str):
        method = getattr(series, func)
        return typed("Series", method(*args, **kwargs) if callable(method) else method)
    if isinstance(func, np.ufunc) and not (args or kwargs):
        return typed("Series", rowwise(func, series))
    if isinstance(func, list | tuple | dict | pd.Series):
        functions = func.values() if isinstance(func, dict) else func
        if not (args or kwargs) and all(isinstance(item, str | np.ufunc) for item in functions):
            return typed("Series", series.agg(func))
        names = {getattr(item, "__name__", None) for item in functions}
        if isinstance(func, list | tuple) and not (args or kwargs) and len(names) == len(func):
            return typed("DataFrame", transform(series, func))
        raise NotImplementedError("apply() of these functions is not supported; use transform()")
    if not callable(func):
        raise TypeError(f"{type(func).__name__!r} object is not callable")
    if by_row is False:
        return typed("Series", func(series, *args, **kwargs))
    result: Series = user_call(series, "apply", func, args=args, meta=meta, **kwargs)
    return result


@keeps_lazy("arguments")
def map_values(
    obj: S, func: Any, na_action: str | None = None, *, meta: Any = None, **kwargs: Any
) -> S:
    """Map each value by a function, or a column's by a dict. See pandas.Series.map.

    The function is called with a made-up value first, which shows the type of the result. ``meta``
    tells the type instead, as for ``apply``.
    """
    if isinstance(func, Collection):
        raise NotImplementedError("map() by a lazy series is not supported; use merge()")
    empty: Any = pd.DataFrame() if obj.ndim == 2 else pd.Series()
    empty.map(func if obj.ndim == 2 else str, na_action)  # raises pandas's errors
    call: dict[str, Any] = {"na_action": na_action, "meta": meta, **kwargs}
    result: S = (_mapped_columns if obj.ndim == 2 else user_call)(obj, "map", func, **call)
    return result


def _mapped_columns(frame: Any, name: str, func: Any, *, meta: Any, **kwargs: Any) -> Any:
    """Map a frame: of objects, pandas finds the type of a column in all its values."""
    columns, types = frame.node.meta.columns, frame.node.meta.dtypes
    objects = [at for at in range(len(columns)) if types.iloc[at] == np.dtype(object)]
    if meta is not None or not objects:
        return user_call(frame, name, func, meta=meta, **kwargs)
    positions = [at for at in range(len(columns)) if at not in objects]
    parts = [user_call(columns_at(frame, at), name, func, **kwargs) for at in objects]
    if positions:
        parts.append(user_call(columns_at(frame, positions), name, func, **kwargs))
    order = np.argsort([*objects, *positions]).tolist()
    return rowwise(side_by_side, *parts, order=order, columns=columns)


@keeps_lazy("arguments")
def transform(obj: S, func: Any, axis: int | str = 0, *args: Any, **kwargs: Any) -> S:
    """Call functions that return as many rows. See pandas.DataFrame.transform.

    A function of a frame's columns is called with lazy columns, one of a series with each value.
    """
    if isinstance(func, list | tuple | dict) and not _are_given(func):
        raise ValueError("No transform functions were provided")
    result: S = _transformed(obj, func, axis_number(obj.node.meta, axis), args, kwargs)
    return result


def _are_given(functions: Any) -> bool:
    """Tell whether there are functions, for each column if they are by column."""
    by_column = functions.values() if isinstance(functions, dict) else ()
    return len(functions) > 0 and all(np.ndim(several) == 0 or several for several in by_column)


def _transformed(obj: Any, func: Any, number: int, args: Any, kwargs: Any) -> Any:
    if number == 1 and isinstance(func, str | list | tuple | dict):
        return across_columns(obj, func, args, kwargs)
    if isinstance(func, list | tuple | dict):
        return _by_several(obj, func, args, kwargs)
    if isinstance(func, str):
        return _of_rows(obj, _function_named(obj, func)(*args, **kwargs))
    if obj.ndim == 1:
        return _column_transformed(obj, func, args, kwargs)
    if number == 1:
        return _of_rows(obj, apply_rows(obj, func, 1, args=args, **kwargs))
    return _by_column(obj, func, args, kwargs)


def _of_rows(obj: Any, found: Any) -> Any:
    if not isinstance(found, Collection) or type(found) is not type(obj):
        raise ValueError("Function did not transform")
    return found


def _by_several(obj: Any, func: Any, args: Any, kwargs: Any) -> DataFrame:
    """Call functions of a list, or of a dict by column; of a series the dict has their names."""
    if not isinstance(func, dict):
        func = dict.fromkeys(obj.columns, func) if obj.ndim == 2 else _by_name(func)
    missing = [label for label in func if obj.ndim == 2 and label not in obj.columns]
    if missing:
        raise KeyError(f"Label(s) {missing} do not exist")
    functions = {label: _by_name(np.atleast_1d(item).tolist()) for label, item in func.items()}
    calls = [
        ((label, name), function)
        for label, several in functions.items()
        for name, function in several.items()
    ]
    columns = [
        _column_transformed(obj[label] if obj.ndim == 2 else obj, function, args, kwargs)
        for (label, _), function in calls
    ]
    labels: Any = pd.Index(list(func))
    if any(map(np.ndim, func.values())):
        labels = labels_below(list(func), list(map(list, functions.values())))
    bare = (obj if obj.ndim == 2 else obj.to_frame())[[]]
    table = rowwise(with_columns, bare, *columns, names=tuple(range(len(columns))))
    result: DataFrame = rowwise(relabelled, table, columns=labels)
    return result


def _by_name(functions: Any) -> dict[Any, Any]:
    """Return functions by their names."""
    by_name = {getattr(function, "__name__", function): function for function in functions}
    if len(by_name) < len(functions):
        raise pd.errors.SpecificationError(
            "Function names must be unique if there is no new column names assigned"
        )
    return by_name


def _function_named(obj: Any, name: str) -> Any:
    """Return a method of a frame, or a function of NumPy's."""
    function = getattr(obj, name, None)
    if function is None and isinstance(ufunc := getattr(np, name, None), np.ufunc):
        function = partial(rowwise, ufunc, obj)
    if not callable(function):
        raise ValueError("Transform function failed")
    return function


def _column_transformed(column: Any, func: Any, args: Any, kwargs: Any) -> Any:
    """Call a function with each value of a column or, if it cannot, with the column."""
    if isinstance(func, str):
        return transform(column, func, 0, *args, **kwargs)
    try:
        values = apply_values(column, func, args, **kwargs)
    except Exception as error:  # noqa: BLE001  # whatever it is, as in pandas
        try:
            values = func(column, *args, **kwargs)
        except Exception:
            if isinstance(error, NotImplementedError):
                raise error from None
            raise
    return _of_rows(column, values)


def _by_column(frame: Any, func: Any, args: Any, kwargs: Any) -> Any:
    columns = [_of_rows(frame[name], func(frame[name], *args, **kwargs)) for name in frame.columns]
    return rowwise(with_columns, frame, *columns, names=tuple(frame.columns))
