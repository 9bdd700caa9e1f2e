"""Functions that keep a record: copies of them would not change what they are to change."""

from __future__ import annotations

import types
from collections.abc import Iterator
from functools import lru_cache, partial
from typing import Any

from .functions import CHANGING, captured, changed_names, changes_itself, import_path
from .kinds import CONTAINERS, DATA, IMMUTABLE, form_of, is_fixed, is_local

_LIBRARIES = tuple(f"{name}." for name in (*DATA, "sklearn"))

#: Methods of which dataclasses remember what they are showing.
_DESCRIBING = ("__init__", "__repr__")


def captures_state(kind: type) -> bool:
    """Tell whether a class that cannot be imported has attributes or captures that may change."""
    return any(map(_captures_state, kind.__mro__)) if is_local(kind) else False


def _captures_state(kind: type) -> bool:
    if not is_local(kind):
        return False
    for name, member in vars(kind).items():
        inner = getattr(member, "__func__", getattr(member, "fget", member))
        if name in _DESCRIBING:
            continue
        if isinstance(inner, types.FunctionType):
            capture = captured(inner)
            parts = (capture.cells, capture.defaults, capture.attributes)
            values = tuple(value for part in parts for value in part.values())
        else:
            values = () if name.startswith("__") else (inner,)
        if any(type(value) in CONTAINERS or hasattr(value, "__array__") for value in values):
            return True
    return False


def keeps_record(func: Any) -> bool:
    """Tell whether a function is written to change what it captures, or might be.

    It may count its calls, or report to other threads: copies of it would not do that.
    """
    return _Records().kept_by(func)


class _Records:
    """One look at a function and what it captures."""

    def __init__(self) -> None:
        self._seen: set[int] = set()

    def kept_by(self, func: Any) -> bool:
        """Tell whether a function keeps a record."""
        if isinstance(func, types.FunctionType):
            return self._function(func)
        if isinstance(func, types.MethodType):
            return self.kept_by(func.__func__) or self.are_in(func.__self__)
        if isinstance(func, types.BuiltinFunctionType):
            return _is_native_record(func)
        return self.are_in(func)

    def are_in(self, value: Any) -> bool:
        """Tell whether a captured value is there to be changed, or might be."""
        kind: Any = type(value)
        if kind in IMMUTABLE or id(value) in self._seen:
            return False
        self._seen.add(id(value))
        if isinstance(value, types.FunctionType | types.MethodType | types.BuiltinFunctionType):
            return self.kept_by(value)
        if isinstance(value, partial) and _changes_arguments(value.func):
            return True
        return any(map(self.are_in, _parts(value))) or _is_record(kind)

    def _function(self, func: types.FunctionType) -> bool:
        if import_path(func):
            return False
        capture, assigned = captured(func), changed_names(func)
        if capture.missing:
            return True
        values = dict(capture.items())
        anything = "?" in assigned or any(map(_changes_arguments, values.values()))
        return any(
            (name in assigned and not is_fixed(value))
            or (anything and form_of(type(value)) is not None and not is_fixed(value))
            or self.are_in(value)
            for name, value in values.items()
        )


def _changes_arguments(func: Any) -> bool:
    """Tell whether a function of a user changes what it is given."""
    if not isinstance(func, types.FunctionType) or f"{func.__module__}.".startswith(_LIBRARIES):
        return False
    code = func.__code__
    arguments = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return not changed_names(func).isdisjoint(arguments)


def _is_native_record(func: Any) -> bool:
    owner = func.__self__
    return isinstance(owner, list | set | dict) and func.__name__ in CHANGING


def _parts(value: Any) -> Iterator[Any]:
    if type(value) in (list, tuple, set, frozenset):
        yield from value
    elif type(value) is dict:
        yield from value
        yield from value.values()
    elif isinstance(value, partial):
        yield from (value.func, *value.args, *value.keywords.values())


@lru_cache(4096)
def _is_record(kind: Any) -> bool:
    """Tell whether objects of a type are there to be changed, as counters and queues are."""
    root = kind.__module__.partition(".")[0]
    if (form := form_of(kind)) != "pickled" or root in (*DATA, "collections"):
        return form == "shared"
    if hasattr(kind, "get_params") or kind in (partial, bytearray, types.SimpleNamespace):
        return False
    if root == "builtins" or not kind.__flags__ & (1 << 9):  # iterators and other objects of C
        return True
    return changes_itself(kind)
