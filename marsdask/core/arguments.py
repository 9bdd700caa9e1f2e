"""Arguments of public functions: iterators are read once, lazy scalars inside are computed."""

from __future__ import annotations

import io
from collections.abc import Callable, ItemsView, Iterator, KeysView, Mapping, ValuesView
from functools import cache, lru_cache
from inspect import signature
from typing import Any, Literal, TypeAlias, TypeVar

import dask.base
import numpy as np

from .collection import Collection, compute

F = TypeVar("F", bound=Callable[..., Any])

#: What can be read only once, or changes with the dict that it shows.
_READ_ONCE = (Iterator, KeysView, ValuesView, ItemsView)


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


#: Arguments of labels, levels and settings: what is planned depends on them.
PLANNED = {
    *("columns", "column", "subset", "level", "levels", "items", "include", "exclude", "ascending"),
    *("percentiles", "suffixes", "id_vars", "value_vars", "names", "order", "on", "prefix"),
}
#: The same for arguments that may be rows in other functions.
PLANNED_BY = {
    **{name: {"func"} for name in ("agg", "aggregate", "aggregate_column")},
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


def planned_in_memory(
    func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments of a call with lazy labels and settings computed, as lists."""
    arguments = (*args[1:], *kwargs.values())
    if not any(isinstance(item, Collection) or type(item) is dict for item in arguments):
        return args, kwargs
    names, places = _planned(func)
    args = tuple(in_memory(item) if at in places else item for at, item in enumerate(args))
    return args, {key: in_memory(item) if key in names else item for key, item in kwargs.items()}


@cache
def _planned(func: Any) -> tuple[set[str], set[int]]:
    """Return the names of a function's arguments that are needed to plan, and their positions."""
    name = func.__name__
    names = PLANNED_BY.get(name, set()) | (set() if name in _OTHER_COLUMNS else PLANNED)
    own = list(signature(func).parameters)
    return names, {at for at, key in enumerate(own) if at and key in names}


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
