"""Collections nested in arguments: taken out of them, and their values put in."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy, deepcopy
from dataclasses import dataclass, fields, is_dataclass
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
    return _Rebuilding(change).of(value)


#: Types of which no value holds others: most arguments.
_PLAIN = (int, float, str, bytes, bool, type(None), complex, np.ndarray)


class _Rebuilding:
    """One pass through a nested value."""

    def __init__(self, change: Callable[[Any], Any]) -> None:
        self._change = change
        self._around: set[int] = set()
        """The containers around the present item, by identity."""
        self._recursive: set[int] = set()
        """Those that contain themselves."""

    def of(self, value: Any) -> Any:
        """Return the value, changed."""
        if type(value) in _PLAIN:
            return value
        identity = id(value)
        if identity in self._around:
            self._recursive.add(identity)
            return value
        self._around.add(identity)
        result = self._changed(value)
        self._around.discard(identity)
        if result is not value and identity in self._recursive:
            raise NotImplementedError(
                f"collections in a {type(value).__name__} that contains itself; pass them apart"
            )
        return result

    def _changed(self, value: Any) -> Any:
        if isinstance(value, dict):
            return self._changed_dict(value)
        if isinstance(value, list | tuple | set | frozenset):
            items = [self.of(item) for item in value]
            if all(map(_same, items, value)):
                return value
            # Named tuples are built from their items.
            return getattr(type(value), "_make", type(value))(items)
        if type(value) is slice:
            return slice(*(self.of(part) for part in (value.start, value.stop, value.step)))
        result = self._change(value)
        if result is value and is_dataclass(value) and not isinstance(value, type):
            return self._changed_dataclass(value)
        return result

    def _changed_dict(self, value: dict[Any, Any]) -> Any:
        items = {self.of(key): self.of(item) for key, item in value.items()}
        if all(map(_same, items, value)) and all(map(_same, items.values(), value.values())):
            return value
        if type(value) is dict:
            return items
        copied = value.copy()  # the subclass may have more than its items
        copied.clear()
        copied.update(items)
        return copied

    def _changed_dataclass(self, value: Any) -> Any:
        result = value
        for item in fields(value):
            old = getattr(value, item.name, None)
            new = self.of(old)
            if new is not old:
                result = copy(value) if result is value else result
                object.__setattr__(result, item.name, new)  # it may be frozen
        return result


def _same(one: Any, other: Any) -> bool:
    return one is other


def private(value: Any) -> Any:
    """Return a copy that a function may modify; parts that cannot be copied are shared."""
    try:
        return deepcopy(value)
    except Exception:  # noqa: BLE001 - copying may raise any exception
        kind = type(value)
        if kind in (list, set, tuple):
            return kind(map(private, value))
        if kind is dict:
            return {key: private(item) for key, item in value.items()}
        return value
