"""Schemas: metas of equal types are one object; results of functions of them are cached."""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable
from dataclasses import is_dataclass
from functools import partial
from typing import Any, TypeVar
from weakref import WeakValueDictionary, ref

import numpy as np
import pandas as pd

from marsdask.core.node import Node
from marsdask.core.registry import register_seal, sealed
from marsdask.core.snapshots.tokens import values_of

from .frozen import frozen

T = TypeVar("T")

_SCHEMAS: WeakValueDictionary[Hashable, Any] = WeakValueDictionary()
_BY_IDENTITY: WeakValueDictionary[int, Any] = WeakValueDictionary()

#: Cached results of functions of a schema, by its identity while it lives.
_FACTS: dict[int, tuple[ref[Any], dict[Callable[..., Any], Any]]] = {}

#: Cached results of calls, with the schemas of their arguments: their identities are in the key.
_RESULTS: dict[Hashable, tuple[list[Any], Any]] = {}
#: The most results in the cache.
REMEMBERED = 4096

#: Functions of two numbers whose types decide the type of the result.
BY_TYPES: set[Callable[..., Any]] = {
    *(operator.add, operator.sub, operator.mul, operator.eq, operator.ne),
    *(operator.lt, operator.le, operator.gt, operator.ge),
}

#: Types of which equal ones are interchangeable.
_PLAIN = (np.dtype, pd.StringDtype, pd.DatetimeTZDtype)
#: Types of constants of which equal ones are interchangeable.
_CONSTANTS = (str, bytes, int, float, complex, bool, type, type(None), type(...), np.dtype)


def interned(meta: Any) -> Any:
    """Return the one object of these types and labels, or ``meta`` if they cannot be compared."""
    form = None if _is_schema(meta) else _form(meta)
    if form is None:
        return meta
    schema = _SCHEMAS.get(form)
    if schema is None:
        schema = _SCHEMAS.setdefault(form, sealed(meta))
        _BY_IDENTITY[id(schema)] = schema
    return schema


def _is_schema(meta: Any) -> bool:
    return _BY_IDENTITY.get(id(meta)) is meta


def once_a_schema(func: Callable[[Any], T], meta: Any) -> T:
    """Return a function of a meta, cached if the meta is a schema."""
    if not _is_schema(meta):
        return func(meta)
    number = id(meta)
    entry = _FACTS.get(number)
    if entry is None or entry[0]() is not meta:
        forget = partial(_FACTS.pop, number, None)
        entry = _FACTS[number] = ref(meta, lambda _: forget()), {}
    facts = entry[1]
    if func not in facts:
        facts[func] = func(meta)
    value: T = facts[func]
    return value


def _form(meta: Any) -> Hashable | None:
    if not isinstance(meta, pd.DataFrame | pd.Series) or meta.attrs:
        return None
    if isinstance(meta, pd.DataFrame):
        kind: type = pd.DataFrame
        dtypes, labels = tuple(meta.dtypes), _labels(meta.columns)
    else:
        kind = pd.Series
        dtypes, labels = (meta.dtype,), _name(meta.name)
    rows = _labels(meta.index)
    plain = all(isinstance(dtype, _PLAIN) for dtype in dtypes)
    return (kind, dtypes, labels, rows) if plain and labels and rows else None


def _labels(index: pd.Index) -> Hashable | None:
    """Return a form that equal labels share, ``None`` if they cannot be compared."""
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
    """Return the schema of a function's result, cached for equal types of the arguments."""
    try:
        key = func, tuple(_decisive(arg, func in BY_TYPES) for arg in args), _decisive(kwargs)
        entry = _RESULTS.get(key)
    except TypeError:
        return interned(compute())
    if entry is None:
        if len(_RESULTS) >= REMEMBERED:
            _RESULTS.clear()
        # While they live, no other object has their identities.
        schemas = [arg.meta for arg in _nodes(args)]
        entry = _RESULTS[key] = schemas, interned(compute())
    return entry[1]


def types_of(node: Node, compute: Callable[[], Any]) -> Any:
    """Return the schema of a node whose types follow from its parameters and its inputs' types."""
    args = tuple(values_of(node))
    return result_of(type(node), args, (), compute)


def _nodes(arg: Any) -> list[Node]:
    if isinstance(arg, tuple | list):
        return [node for item in arg for node in _nodes(item)]
    return [arg] if isinstance(arg, Node) else []


def _decisive(arg: Any, by_type: bool = False) -> Any:
    """Return the part of an argument that decides the type of a result.

    Raises ``TypeError`` if it cannot be compared.
    """
    kind = type(arg)
    if isinstance(arg, Node):
        return Node, _types(arg), arg.is_row, len(arg.chunks)
    if isinstance(arg, tuple | list):
        return kind, tuple(map(_decisive, arg))
    if kind is dict:
        return kind, tuple(map(_decisive, arg.items()))
    if is_dataclass(arg) and not isinstance(arg, type):
        return kind, tuple(map(_decisive, values_of(arg)))
    if by_type and kind is float:
        return kind
    if by_type and kind is int:
        # Columns of small integers take small numbers only.
        return kind, arg < 0, (~arg if arg < 0 else arg).bit_length()
    if kind not in _CONSTANTS and not isinstance(arg, np.dtype):
        raise TypeError(f"values of {kind.__name__} cannot be compared")
    return kind, arg


def _types(node: Node) -> Hashable:
    """Return a value that nodes of equal types share; replace the node's meta by the schema."""
    meta = node.meta
    if type(meta) is np.ndarray and meta.dtype.kind != "O":
        return meta.dtype, meta.shape
    schema = interned(meta)
    if not _is_schema(schema):
        raise TypeError(f"types of {type(meta).__name__} cannot be compared")
    if schema is not meta:
        vars(node)["meta"] = schema
    return id(schema)


register_seal(pd.DataFrame, frozen)
register_seal(pd.Series, frozen)
