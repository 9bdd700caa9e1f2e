"""Collections nested in arguments: taken out of them, and their values put in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class InputPlace:
    """Stands in arguments for the input at a position."""

    position: int


def rebuilt(value: Any, change: Callable[[Any], Any]) -> Any:
    """Return a nested value with ``change(item)`` for each item, or itself if no item changes.

    It looks into lists, tuples, sets, dictionaries, slices and dataclasses.
    """
    kind = type(value)
    if kind in _PLAIN:
        return value
    if isinstance(value, dict):
        return _changed_dict(value, change)
    if isinstance(value, list | tuple | set | frozenset):
        items = [rebuilt(item, change) for item in value]
        if all(map(_same, items, value)):
            return value
        # Named tuples are built from their items.
        return getattr(kind, "_make", kind)(items)
    if kind is slice:
        parts = [rebuilt(part, change) for part in (value.start, value.stop, value.step)]
        return slice(*parts)
    found = change(value)
    if found is value and is_dataclass(value) and not isinstance(value, type):
        return _changed_dataclass(value, change)
    return found


#: Types of which no value holds others: most arguments.
_PLAIN = (int, float, str, bytes, bool, type(None), complex, np.ndarray)


def _same(one: Any, other: Any) -> bool:
    return one is other


def _changed_dict(value: dict[Any, Any], change: Callable[[Any], Any]) -> Any:
    items = {rebuilt(key, change): rebuilt(item, change) for key, item in value.items()}
    if all(map(_same, items, value)) and all(map(_same, items.values(), value.values())):
        return value
    if type(value) is dict:
        return items
    copy = value.copy()  # the subclass may have more than its items
    copy.clear()
    copy.update(items)
    return copy


def _changed_dataclass(value: Any, change: Callable[[Any], Any]) -> Any:
    changes = {}
    for item in fields(value):
        old = getattr(value, item.name)
        new = rebuilt(old, change)
        if new is not old and item.init:
            changes[item.name] = new
    return replace(value, **changes) if changes else value


def private(value: Any) -> Any:
    """Return a value that a function may modify: arrays, frames and containers are copied."""
    kind = type(value)
    if kind in (list, set):
        return kind(map(private, value))
    if kind is tuple:
        return tuple(map(private, value))
    if kind is dict:
        return {key: private(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return value.copy(order="K")
    return value.copy() if hasattr(type(value), "iloc") else value
