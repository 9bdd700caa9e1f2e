"""Schemas: empty objects of equal types are one, and what functions make of them is found once."""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
import pandas as pd

from marsdask.core.node import Node

from .frame_node import is_row

_SCHEMAS: WeakValueDictionary[Hashable, Any] = WeakValueDictionary()
_BY_IDENTITY: WeakValueDictionary[int, Any] = WeakValueDictionary()

#: What calls gave, with the schemas of their arguments, whose identities are in the key.
_RESULTS: dict[Hashable, tuple[list[Any], Any]] = {}
#: Results that are remembered.
REMEMBERED = 4096

#: Functions of numbers whose result has a type that follows from the types of both.
BY_TYPES: set[Callable[..., Any]] = {
    *(operator.add, operator.sub, operator.mul, operator.eq, operator.ne),
    *(operator.lt, operator.le, operator.gt, operator.ge),
}

#: Types of which equal ones are the same in every respect.
_PLAIN = (np.dtype, pd.StringDtype, pd.DatetimeTZDtype)
#: Types of constants of which equal ones are the same in every respect.
_CONSTANTS = (str, bytes, int, float, complex, bool, type, type(None), np.dtype)


def interned(meta: Any) -> Any:
    """Return the one object of these types and labels, itself where they are hard to compare."""
    form = None if _is_schema(meta) else _form(meta)
    if form is None:
        return meta
    found = _SCHEMAS.setdefault(form, meta)
    _BY_IDENTITY[id(found)] = found
    return found


def _is_schema(meta: Any) -> bool:
    return _BY_IDENTITY.get(id(meta)) is meta


def _form(meta: Any) -> Hashable | None:
    if not isinstance(meta, pd.DataFrame | pd.Series) or meta.attrs:
        return None
    if isinstance(meta, pd.DataFrame):
        dtypes, labels = tuple(meta.dtypes), _labels(meta.columns)
    else:
        dtypes, labels = (meta.dtype,), _name(meta.name)
    rows = _labels(meta.index)
    plain = all(isinstance(dtype, _PLAIN) for dtype in dtypes)
    return (type(meta), dtypes, labels, rows) if plain and labels and rows else None


def _labels(index: pd.Index) -> Hashable | None:
    """Return what tells labels from others, ``None`` if that is hard."""
    name = _name(index.name)
    if name is None or index.nlevels > 1:
        return None
    if type(index) is pd.RangeIndex:
        return name, index.start, index.stop, index.step
    plain = type(index) is pd.Index and isinstance(index.dtype, _PLAIN)
    labels = tuple(index)
    return (name, index.dtype, labels) if plain and all(map(_name, labels)) else None


def _name(name: Any) -> Hashable | None:
    return (name,) if name is None or type(name) is str else None


def result_of(
    func: Callable[..., Any], args: tuple[Any, ...], kwargs: Any, compute: Callable[[], Any]
) -> Any:
    """Return the schema of a function's result: computed, if that was not done for equal types."""
    try:
        key = func, tuple(_decisive(arg, func in BY_TYPES) for arg in args), _decisive(kwargs)
        known = _RESULTS.get(key)
    except TypeError:
        return interned(compute())
    if known is None:
        if len(_RESULTS) >= REMEMBERED:
            _RESULTS.clear()
        schemas = [arg.meta for arg in args if isinstance(arg, Node)]
        known = _RESULTS[key] = schemas, interned(compute())
    return known[1]


def _decisive(arg: Any, by_type: bool = False) -> Any:
    """Return what of an argument decides of which type a result is.

    Raises ``TypeError`` where that is hard to say.
    """
    kind = type(arg)
    if isinstance(arg, Node):
        if not _is_schema(arg.meta):
            raise TypeError("its types are hard to compare")
        return Node, id(arg.meta), is_row(arg), len(arg.chunks)
    if kind in (tuple, list):
        return kind, tuple(map(_decisive, arg))
    if by_type and kind is float:
        return kind
    if by_type and kind is int:
        # Small columns take small numbers only.
        return kind, arg < 0, (~arg if arg < 0 else arg).bit_length()
    if kind not in _CONSTANTS and not isinstance(arg, np.dtype):
        raise TypeError("its value is hard to compare")
    return kind, arg
