"""Arguments of public functions: iterators are read once, lazy scalars inside are computed."""

from __future__ import annotations

import io
from collections import deque
from collections.abc import (
    Callable,
    ItemsView,
    Iterator,
    KeysView,
    Mapping,
    Sequence,
    ValuesView,
)
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from inspect import signature
from types import FunctionType, MethodType
from typing import Any, Literal, TypeAlias, TypeVar

import dask.base
import numpy as np

from .collection import Collection, compute
from .machine.costs import FunctionWrapper
from .snapshots.functions import captured, import_path

F = TypeVar("F", bound=Callable[..., Any])

_VIEWS = (KeysView, ValuesView, ItemsView)
_EITHER = (Iterator, *_VIEWS)
#: What can be read only once, or changes: with the dict that it shows, or at both of its ends.
_READ_ONCE = (*_EITHER, deque)


def plain_arguments(
    args: tuple[Any, ...], kwargs: dict[str, Any], *, scalars_stay: bool = True
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments of a call with lists in place of iterators.

    Lazy scalars in lists, tuples, dicts and slices, at any depth, are replaced by their values,
    which are computed in one graph. With ``scalars_stay`` those that are arguments stay lazy.
    """
    if not _to_walk([*args, *kwargs.values()]):
        return args, kwargs
    scalars: dict[int, Any] = {}
    args = tuple(_read(item, scalars, stays=scalars_stay) for item in args)
    kwargs = {name: _read(item, scalars, stays=scalars_stay) for name, item in kwargs.items()}
    if not scalars:
        return args, kwargs
    values = _computed(scalars)
    return tuple(_replaced(item, values) for item in args), _replaced(kwargs, values)


def check_no_lazy_rows(name: str, args: Sequence[Any]) -> None:
    """Raise for lazy rows inside lists and dicts, which reach kernels as they are."""
    for arg in args:
        items = arg.values() if isinstance(arg, dict) else arg
        if isinstance(arg, list | tuple | dict) and any(
            issubclass(kind, Collection) for kind in set(map(type, items))
        ):
            raise NotImplementedError(
                f"{name}() with lazy rows in a {type(arg).__name__} is not supported; compute() "
                "them first"
            )


#: Arguments of labels, levels and settings: what is planned depends on them.
PLANNED = {
    *("columns", "column", "subset", "level", "levels", "items", "include", "exclude", "ascending"),
    *("percentiles", "suffixes", "id_vars", "value_vars", "names", "order", "on", "prefix"),
}
#: The same for arguments that may be rows in other functions.
PLANNED_BY = {
    **{name: {"func"} for name in ("agg", "aggregate", "aggregate_column", "apply_rows")},
    **{name: {"func"} for name in ("apply_values", "transform")},
    "sort_values": {"by"},
    "pivot_table": {"values"},
    "pivot": {"index", "values"},
    **{name: {"labels", "index"} for name in ("drop", "drop_rows")},
    "nth": {"n"},
    "rename_axis": {"mapper", "index"},
    "cut": {"labels"},
    "qcut": {"labels"},
    "concat": {"keys"},
}
#: Functions whose ``columns`` are a mapping, values, or rows.
_OTHER_COLUMNS = {"crosstab", "pivot_table", "rename", "rename_series"}


_ARITHMETIC = [
    f"{reflected}{name}"
    for name in ("add", "sub", "mul", "div", "truediv", "floordiv", "mod", "pow")
    for reflected in ("", "r")
]
#: Arguments of functions of pandas that are no iterators, with the errors for these. Elsewhere
#: iterators are lists, also where pandas takes them for no rows because it reads them twice.
NO_ITERATORS: dict[str, dict[str, type[Exception]]] = {
    **{key: {"other": TypeError} for key in ("lt", "le", "gt", "ge")},
    **{key: {"subset": TypeError} for key in ("drop_duplicates", "duplicated")},
    **{key: {"func": TypeError} for key in ("aggregate", "transform")},
    "__setitem__": {"value": TypeError},
    **{key: {"labels": TypeError} for key in ("cut", "qcut")},
    "get_dummies": {"prefix": TypeError},
    "insert": {"value": TypeError},
    "replace": {"to_replace": TypeError, "value": TypeError},
}
#: The same for views of dicts, too.
NO_VIEWS: dict[str, dict[str, type[Exception]]] = {
    **{key: {"other": TypeError} for key in _ARITHMETIC},
    **{key: {"level": KeyError} for key in ("stack", "unstack", "unstack_series")},
    **{key: {"by": KeyError, "ascending": ValueError} for key in ("sort_index", "sort_values")},
    **{key: {"arg": ValueError} for key in ("to_numeric", "to_timedelta")},
    "delete": {"loc": TypeError},
    "describe": {"percentiles": TypeError},
    "droplevel": {"level": KeyError},
    "explode": {"column": ValueError},
    "groupby": {"by": TypeError, "level": TypeError},
    "join": {"on": ValueError},
    "mask": {"cond": TypeError},
    "merge": {"on": KeyError, "left_on": ValueError, "right_on": ValueError},
    "merge_asof": {"by": TypeError},
    "qcut": {"q": TypeError},
    "quantile": {"q": TypeError},
    "reset_index": {"level": KeyError, "names": ValueError},
    "row_counts": {"subset": TypeError},
    "searchsorted": {"value": ValueError},
    "take": {"indices": TypeError},
    "to_datetime": {"arg": TypeError},
    "where": {"cond": ValueError},
}


def check_iterators(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Raise the reference's error for an iterator where it takes lists."""
    name = func.__name__
    for refused, kinds in ((NO_ITERATORS.get(name), (Iterator,)), (NO_VIEWS.get(name), _EITHER)):
        for key, error in refused.items() if refused else ():
            at = _places(func).get(key, len(args))
            item = kwargs[key] if key in kwargs else args[at] if at < len(args) else None
            if isinstance(item, kinds):
                raise error(f"{name}({key}=) is a {type(item).__name__}; use list() of it")


@cache
def _places(func: Any) -> dict[str, int]:
    """Return the positions of a function's arguments."""
    return {name: at for at, name in enumerate(signature(func).parameters)}


def planned_in_memory(
    func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments of a call with lazy labels and settings computed, as lists."""
    arguments = (*args[1:], *kwargs.values())
    if not any(isinstance(item, Collection | set | frozenset | dict) for item in arguments) and (
        not any(hasattr(type(item), "__array__") for item in arguments)
    ):
        return args, kwargs
    names = _planned(func)
    keys = (*_places(func), *[""] * len(args))
    labelled = LABELLED | (_NEW_LABELS if func.__name__ == "reindex" else set())
    args = tuple(
        _plain_item(key, item, labelled) if at and key in names else item
        for at, (key, item) in enumerate(zip(keys, args, strict=False))
    )
    return args, {
        key: _plain_item(key, item, labelled) if key in names else item
        for key, item in kwargs.items()
    }


@cache
def _planned(func: Any) -> set[str]:
    """Return the names of a function's arguments that are needed to plan."""
    name = func.__name__
    return PLANNED_BY.get(name, set()) | (set() if name in _OTHER_COLUMNS else PLANNED)


#: Arguments of several functions or labels, in whatever holds them.
_SEVERAL = {"func", "subset"}
#: Arguments that become labels: of lazy labels they have the name, type and frequency.
_NEW_LABELS = {"columns", "keys"}


#: Arguments of which a series has labels, or a name, that tell more than a list of its values.
LABELLED = {"func"}


def _plain_item(name: str, item: Any, labelled: set[str]) -> Any:
    is_lazy = isinstance(item, Collection)
    if name in _NEW_LABELS | labelled and is_lazy:
        meta = item.node.meta
        is_series = hasattr(type(meta), "iloc")
        if not isinstance(meta, np.ndarray | tuple) and (name in labelled or not is_series):
            item = item.compute()
    if name == "func" and hasattr(type(item), "__finalize__") and np.ndim(item) == 1:
        numbered = is_lazy and item.index.tolist() == list(range(len(item)))
        return item.tolist() if numbered else item.to_dict()
    return listed_names(in_memory(item)) if name in _SEVERAL else in_memory(item)


def listed_names(item: Any) -> Any:
    """Return a list of the functions or labels in a set or an array; other objects as they are."""
    if type(item) is dict:
        return {key: listed_names(value) for key, value in item.items()}
    # A series of functions has labels, as a dict has.
    is_array = hasattr(type(item), "__array__") and not hasattr(type(item), "__finalize__")
    several = is_array and np.ndim(item) == 1
    return list(item) if several or isinstance(item, set | frozenset) else item


def in_memory(item: Any) -> Any:
    """Return the values of lazy rows as a list, also in a dict; other objects as they are."""
    if type(item) is dict:
        return {key: in_memory(value) for key, value in item.items()}
    if not isinstance(item, Collection) or not item.node.chunks:
        return item
    meta = item.node.meta
    if np.ndim(meta) != 1:
        return item
    values: list[Any] = item.compute().tolist()
    return values


def listed(item: Any) -> Any:
    """Return a list of what an iterator yields, or of the values of lazy rows; others stay.

    For arguments that NumPy iterates over: axes, lengths, repetitions.
    """
    return list(item) if isinstance(item, _READ_ONCE) else in_memory(item)


def plain_values(data: Any) -> Any:
    """Return data with iterators read, and with the values of lazy scalars in it."""
    return plain_arguments((data,), {})[0][0]


#: What a function does with lazy scalars: those that are arguments stay lazy, or those in lists and
#: dicts, too. Other functions take plain values.
Lazy: TypeAlias = Literal["arguments", "items"]
_KEPT: dict[Any, Lazy] = {}


def keeps_lazy(what: Lazy) -> Callable[[F], F]:
    """Let a function receive lazy scalars as they are."""

    def mark(func: F) -> F:
        _KEPT[func] = what
        return func

    return mark


def kept_lazy(func: Any) -> Lazy | None:
    """Return what a function, or one that it wraps, does with lazy scalars."""
    while func is not None:
        if func in _KEPT:
            return _KEPT[func]
        func = getattr(func, "__wrapped__", None)
    return None


def is_lazy_scalar(item: Any) -> bool:
    """Recognise collections of no axes, ours and Dask's."""
    if isinstance(item, Collection):
        return not item.node.chunks
    shape = getattr(item, "shape", ())
    has_axes = isinstance(shape, tuple) and bool(shape)
    return not has_axes and item.__dask_graph__() is not None


def _to_walk(items: Any) -> bool:
    """Tell whether items may be iterators, or may contain lazy values."""
    kinds: set[Any] = set(map(type, items))
    return any(map(_needs_walk, kinds))


@lru_cache(maxsize=4096)
def _needs_walk(kind: Any) -> bool:
    return _is_container(kind) or _is_read_once(kind) or _is_lazy(kind)


@lru_cache(maxsize=4096)
def _is_container(kind: Any) -> bool:
    return issubclass(kind, list | tuple | Mapping | slice)


@lru_cache(maxsize=4096)
def _is_read_once(kind: Any) -> bool:
    """Tell whether objects of a type are iterators; open files are not read."""
    is_file = issubclass(kind, io.IOBase) or hasattr(kind, "read") or hasattr(kind, "write")
    return issubclass(kind, _READ_ONCE) and not is_file


@lru_cache(maxsize=4096)
def _is_lazy(kind: Any) -> bool:
    return issubclass(kind, Collection) or hasattr(kind, "__dask_graph__")


def _read(item: Any, scalars: dict[int, Any], *, stays: bool = False) -> Any:
    """Return an argument with iterators read; note the lazy scalars in it."""
    kind: Any = type(item)
    if _is_read_once(kind):
        item = list(item)
    elif not _is_container(kind):
        if not stays and _is_lazy(kind) and is_lazy_scalar(item):
            scalars[id(item)] = item
        return item
    parts = _parts(item)
    if not _to_walk(parts):
        return item
    return _with_parts(item, parts, [_read(part, scalars) for part in parts])


def with_values(item: Any) -> Any:
    """Return an argument with the values of all lazy objects in it, computed in one graph.

    They are found in lists, tuples, dicts and slices, at any depth.
    """
    lazy: dict[int, Any] = {}
    _note_lazy(item, lazy)
    return _replaced(item, _computed(lazy)) if lazy else item


def _note_lazy(item: Any, lazy: dict[int, Any]) -> None:
    kind: Any = type(item)
    if _is_lazy(kind):
        lazy[id(item)] = item
    elif _is_container(kind):
        for part in _parts(item):
            _note_lazy(part, lazy)


def _replaced(item: Any, values: dict[int, Any]) -> Any:
    if id(item) in values:
        return values[id(item)]
    kind: Any = type(item)
    if not _is_container(kind):
        return item
    parts = _parts(item)
    if not _to_walk(parts):
        return item
    return _with_parts(item, parts, [_replaced(part, values) for part in parts])


def _parts(item: Any) -> list[Any]:
    if isinstance(item, slice):
        return [item.start, item.stop, item.step]
    return list(item.values()) if isinstance(item, Mapping) else list(item)


def _with_parts(item: Any, old: list[Any], new: list[Any]) -> Any:
    """Return a container with other items, itself if they are the same."""
    if all(before is after for before, after in zip(old, new, strict=True)):
        return item
    if isinstance(item, slice):
        return slice(*new)
    if isinstance(item, Mapping):
        return dict(zip(item, new, strict=True))
    return item._make(new) if hasattr(item, "_make") else type(item)(new)


def _computed(scalars: dict[int, Any]) -> dict[int, Any]:
    """Return the values of lazy scalars, ours and Dask's."""
    ours = {at: item for at, item in scalars.items() if isinstance(item, Collection)}
    theirs = {at: item for at, item in scalars.items() if at not in ours}
    values = dict(zip(ours, compute(*ours.values()), strict=True)) if ours else {}
    values |= zip(theirs, dask.base.compute(*theirs.values(), traverse=False), strict=True)
    return {at: _unboxed(value) for at, value in values.items()}


def _unboxed(value: Any) -> Any:
    """Return the element of an array without axes."""
    return value[()] if isinstance(value, np.ndarray) and not value.ndim else value


#: The arguments that are functions of values, of the functions that call them.
CALLED: dict[str, set[str]] = {
    **{name: {"func"} for name in ("agg", "aggregate", "aggregate_column", "apply", "apply_rows")},
    **{name: {"func"} for name in ("apply_values", "filter", "map_values", "transform")},
    **{name: {"func"} for name in ("combine_columns", "combine_values")},
    **{name: {"mapper", "index", "columns"} for name in ("map_labels", "rename", "rename_series")},
    "groupby": {"by"},
}
#: The functions whose further keywords name results: each is a column and a function.
_NAMED = {"agg", "aggregate"}


@dataclass(frozen=True)
class WithValues(FunctionWrapper):
    """Calls a function of the user with values, and computes the lazy objects that it returns."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        result = self.func(*args, **kwargs)
        return result if any(isinstance(arg, Collection) for arg in args) else with_values(result)


def with_called_functions(
    func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments of a call with functions that return values instead of lazy objects."""
    called = CALLED.get(func.__name__)
    if called is None:
        return args, kwargs
    named = kwargs.keys() - _places(func).keys() if func.__name__ in _NAMED else set()
    args = tuple(
        returning_values(item) if key in called else item
        for key, item in zip((*_places(func), *[""] * len(args)), args, strict=False)
    )
    return args, {
        key: returning_values(item) if key in called or key in named else item
        for key, item in kwargs.items()
    }


def returning_values(item: Any) -> Any:
    """Return a function that returns values, also in lists and dicts; other objects stay."""
    kind: Any = type(item)
    if kind is list or kind is tuple:
        return kind(map(returning_values, item))
    if kind is dict:
        return {key: returning_values(part) for key, part in item.items()}
    is_function = callable(item) and not isinstance(item, Collection | type)
    return WithValues(item) if is_function and _has_lazy(item, set()) else item


def _has_lazy(func: Any, visited: set[int]) -> bool:
    """Tell whether a function captures lazy objects, or other functions of a script that do."""
    if isinstance(func, Collection):
        return True
    if id(func) in visited:
        return False
    visited.add(id(func))
    if isinstance(func, partial):
        parts: Any = (func.func, *func.args, *func.keywords.values())
    elif isinstance(func, MethodType):
        parts = (func.__self__, func.__func__)
    elif isinstance(func, FunctionType) and (len(visited) == 1 or not import_path(func)):
        parts = [value for _, value in captured(func).items()]
    else:
        return False
    return any(_has_lazy(part, visited) for part in parts)
