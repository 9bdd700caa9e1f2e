"""Deterministic names: equal content gives an equal token, in any process."""

from __future__ import annotations

import threading
import types
import uuid
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache, lru_cache, partial
from hashlib import blake2b
from operator import attrgetter
from typing import Any

import numpy as np
from dask.base import tokenize

from .functions import captured, import_path
from .kinds import IMMUTABLE
from .records import captures_state, keeps_record

#: A tuple at least this long is tokenised by its runs, so that regular grids are cheap to name.
_LONG = 32


class _Writing(threading.local):
    """The functions that are being written, which may refer to themselves."""

    def __init__(self) -> None:
        self.functions: list[int] = []


_WRITING = _Writing()


@cache
def field_names(kind: type) -> tuple[str, ...]:
    """Return the names of a dataclass's fields, in order."""
    return tuple(item.name for item in fields(kind))


def values_of(part: Any) -> list[Any]:
    """Return the values of a dataclass's fields, in order."""
    kind: Any = type(part)
    return [getattr(part, name) for name in field_names(kind)]


def token(*parts: Any) -> str:
    """Return 24 hexadecimal digits that name ``parts``.

    Objects without a deterministic token get a fresh name.
    """
    out: list[str] = []
    for part in parts:
        _write(part, out)
    return blake2b("\0".join(out).encode(), digest_size=12).hexdigest()


def _write(part: Any, out: list[str]) -> None:
    kind = type(part)
    if kind in IMMUTABLE:
        out.append(f"{kind.__name__}:{part!r}")
    elif kind is tuple or kind is list:
        _write_sequence(part, out)
    elif (writer := _WRITERS.get(kind)) is not None:
        out.append(writer(part))
    elif isinstance(name := getattr(part, "token_name", None), str):
        out.append(name)
    elif isinstance(part, Enum):
        out.append(f"{kind.__module__}.{part}")
    elif is_dataclass(part) and not isinstance(part, type):
        out.append(_class(kind))
        _write_sequence(values_of(part), out)
    elif callable(part):
        out.append(_callable(part))
    else:
        out.append(_instance(part))


def _write_sequence(part: tuple[Any, ...] | list[Any], out: list[str]) -> None:
    out.append(f"{type(part).__name__}[{len(part)}")
    if len(part) < _LONG or not _write_long(part, out):
        for item in part:
            _write(item, out)
    out.append("]")


def _write_long(part: Sequence[Any], out: list[str]) -> bool:
    """Write many items of one kind at once, field by field; return whether that is possible."""
    kinds = set(map(type, part))
    if kinds <= IMMUTABLE:
        if part.count(part[0]) == len(part) - (part[-1] != part[0]) and len(kinds) == 1:
            out.append("regular")
            part = (part[0], part[-1])
        out.append(repr(part))
        return True
    kind = next(iter(kinds))
    if len(kinds) > 1 or not is_dataclass(kind) or kind in _WRITERS or hasattr(kind, "token_name"):
        return False
    names = field_names(kind)
    out.append(_class(kind))
    if len(names) > 1:
        for values in zip(*map(attrgetter(*names), part), strict=True):
            _write_sequence(values, out)
    else:
        _write_sequence([getattr(item, name) for name in names for item in part], out)
    return True


def _callable(part: Any) -> str:
    if name := import_path(part):
        return f"function:{name}"
    return unique() if keeps_record(part) else _instance(part)


def _instance(part: Any) -> str:
    return unique() if captures_state(type(part)) else foreign(part)


def unique() -> str:
    """Return a token that no other object has."""
    return f"unique:{uuid.uuid4().hex}"


def foreign(part: Any) -> str:
    """Tokenise an object as dask does, including the properties that dask ignores."""
    try:
        text = tokenize(part, ensure_deterministic=True)
        return f"{type(part).__qualname__}:{_axes_in_memory(part)}:{_lengths(part)}:{text}"
    except (TypeError, ValueError, RuntimeError):
        return unique()


def _axes_in_memory(part: Any) -> list[int]:
    """Return an array's axes in the order of memory.

    Dask hashes the bytes in that order and ignores it: a square matrix equals its transpose.
    """
    strides = getattr(part, "strides", None) or ()
    return sorted(range(len(strides)), key=lambda axis: (-abs(strides[axis]), axis))


def _lengths(part: Any) -> str:
    """Return the lengths of the texts in an array, and their types.

    Dask hashes them joined by dashes: ``["a-b", "c"]`` as ``["a", "b-c"]``.
    """
    if not (type(part) is np.ndarray and part.dtype == object and part.size):
        return ""
    texts = part.ravel(order="K")
    try:
        lengths = np.fromiter(map(len, texts), np.intp, texts.size)
    except TypeError:  # other objects are hashed one by one
        return ""
    return f"{type(texts[0]).__name__}:{tokenize(lengths)}"


def _function(part: Any) -> str:
    """Return the token of a function: its import path, or its code and what it captures."""
    if name := import_path(part):
        return f"function:{name}"
    if keeps_record(part):
        return unique()
    if id(part) in _WRITING.functions:
        return f"recursive:{len(_WRITING.functions) - _WRITING.functions.index(id(part))}"
    _WRITING.functions.append(id(part))
    try:
        out = [part.__module__ or "", part.__qualname__, _code(part.__code__)]
        for name, value in captured(part).items():
            out.append(name)
            _write(value, out)
    finally:
        _WRITING.functions.pop()
    return "function{" + "\0".join(out) + "}"


@lru_cache(4096)
def _code(code: types.CodeType) -> str:
    out = [f"{code.co_firstlineno}:{code.co_flags}:{code.co_code!r}"]
    counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount)
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    out.append(f"{counts}{names}{code.co_exceptiontable!r}")
    out.extend(map(_constant, code.co_consts))
    return blake2b("\0".join(out).encode(), digest_size=12).hexdigest()


def _constant(constant: Any) -> str:
    if isinstance(constant, types.CodeType):
        return _code(constant)
    if isinstance(constant, tuple | frozenset):
        items = map(_constant, constant)
        # The order of a set differs from process to process.
        inner = items if isinstance(constant, tuple) else sorted(items)
        return f"{type(constant).__name__}({','.join(inner)})"
    return f"{type(constant).__name__}:{constant!r}"


def _method(part: types.MethodType) -> str:
    if keeps_record(part):
        return unique()
    out: list[str] = []
    _write(part.__func__, out)
    _write(part.__self__, out)
    return "method{" + "\0".join(out) + "}"


def _native_method(part: Any) -> str:
    owner = part.__self__
    if owner is None or isinstance(owner, types.ModuleType):
        name = import_path(part)
        return f"function:{name}" if name else foreign(part)
    if keeps_record(part):
        return unique()
    out = [part.__name__]
    _write(owner, out)
    return "method{" + "\0".join(out) + "}"


def _class(part: type) -> str:
    """Return the token of a class: its import path, or its methods as well."""
    if name := import_path(part):
        return f"class:{name}"
    if captures_state(part):
        return unique()
    out = [part.__module__, part.__qualname__]
    for base in part.__bases__:
        _write(base, out)
    for name, member in vars(part).items():
        inner = getattr(member, "__func__", getattr(member, "fget", member))
        if isinstance(inner, types.FunctionType):
            out.extend((name, _code(inner.__code__)))
            cells = captured(inner).cells.values()
            out.extend(repr(cell) for cell in cells if type(cell) in IMMUTABLE)
        elif type(member) in IMMUTABLE and name != "__firstlineno__":
            out.append(f"{name}:{member!r}")
    return "class{" + "\0".join(out) + "}"


def _module(part: types.ModuleType) -> str:
    return f"module:{part.__name__}"


def _slice(part: slice) -> str:
    return f"slice:{part.start!r}:{part.stop!r}:{part.step!r}"


def _mapping(part: dict[Any, Any]) -> str:
    out: list[str] = []
    for key in sorted(part, key=repr):
        _write(key, out)
        _write(part[key], out)
    return "{" + "\0".join(out) + "}"


def _dict_view(part: Any) -> str:
    return f"{type(part).__name__}{_mapping(part.mapping)}"


def _vectorized(part: Any) -> str:
    names = ("pyfunc", "otypes", "excluded", "signature")
    return f"vectorize{_mapping({name: getattr(part, name) for name in names})}"


def _partial(part: partial[Any]) -> str:
    out: list[str] = []
    for item in (part.func, part.args, part.keywords):
        _write(item, out)
    return "partial{" + "\0".join(out) + "}"


_WRITERS: dict[type, Callable[[Any], str]] = {
    types.FunctionType: _function,
    types.MethodType: _method,
    types.BuiltinFunctionType: _native_method,
    types.ModuleType: _module,
    type: _class,
    slice: _slice,
    dict: _mapping,
    types.MappingProxyType: lambda part: "proxy" + _mapping(part),
    **dict.fromkeys((type({}.keys()), type({}.values()), type({}.items())), _dict_view),
    partial: _partial,
    np.vectorize: _vectorized,
}


def register_token(kind: type, writer: Callable[[Any], str]) -> None:
    """Register the token of objects of exactly ``kind``, unique to their content."""
    _WRITERS[kind] = writer
