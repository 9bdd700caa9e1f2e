"""Deterministic names: equal content gives an equal token, in any process."""

from __future__ import annotations

import sys
import types
import uuid
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache, partial
from hashlib import blake2b
from typing import Any

import numpy as np
from dask.base import tokenize

#: A tuple at least this long is tokenised by its runs, so that regular grids are cheap to name.
_LONG = 32

#: The module name of a script; the same name may mean other code in the next script.
_MAINS = ("__main__", "__mp_main__")

_PLAIN = (int, float, complex, bool, str, bytes, type(None), type(...), range)


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
    if kind in _PLAIN:
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
    elif callable(part) and (name := _importable_name(part)):
        out.append(f"function:{name}")
    else:
        out.append(foreign(part))


def _write_sequence(part: tuple[Any, ...] | list[Any], out: list[str]) -> None:
    out.append(f"{type(part).__name__}[{len(part)}")
    if len(part) >= _LONG and part.count(part[0]) >= len(part) - 1 and part[-1:] != part[:1]:
        out.append("regular")
        part = (part[0], part[-1])
    elif len(part) >= _LONG and part.count(part[0]) == len(part):
        out.append("equal")
        part = (part[0],)
    for item in part:
        _write(item, out)
    out.append("]")


def _importable_name(part: Any) -> str | None:
    """Return the dotted name under which ``part`` can be imported, if there is one."""
    module, name = getattr(part, "__module__", None), getattr(part, "__name__", None)
    if module in _MAINS or not isinstance(name, str):
        return None
    found = getattr(sys.modules.get(str(module)), name, None)
    return f"{module}.{name}" if found is part else None


def foreign(part: Any) -> str:
    """Tokenise an object as dask does, including the properties that dask ignores."""
    try:
        text = tokenize(part, ensure_deterministic=True)
        return f"{type(part).__qualname__}:{_axes_in_memory(part)}:{_lengths(part)}:{text}"
    except (TypeError, ValueError, RuntimeError):
        return f"unique:{uuid.uuid4().hex}"


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
    qualname = part.__qualname__
    if "<" in qualname or part.__module__ in _MAINS:
        return foreign(part)
    return f"function:{part.__module__}.{qualname}"


def _class(part: type) -> str:
    return f"class:{part.__module__}.{part.__qualname__}"


def _slice(part: slice) -> str:
    return f"slice:{part.start!r}:{part.stop!r}:{part.step!r}"


def _mapping(part: dict[Any, Any]) -> str:
    out: list[str] = []
    for key in sorted(part, key=repr):
        _write(key, out)
        _write(part[key], out)
    return "{" + "\0".join(out) + "}"


def _partial(part: partial[Any]) -> str:
    out: list[str] = []
    for item in (part.func, part.args, part.keywords):
        _write(item, out)
    return "partial{" + "\0".join(out) + "}"


_WRITERS: dict[type, Callable[[Any], str]] = {
    types.FunctionType: _function,
    type: _class,
    slice: _slice,
    dict: _mapping,
    partial: _partial,
}


def register_token(kind: type, writer: Callable[[Any], str]) -> None:
    """Register the token of objects of exactly ``kind``, unique to their content."""
    _WRITERS[kind] = writer
