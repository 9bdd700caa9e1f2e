"""Facts: properties that follow from a node's fields, computed once and without deep recursion."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

#: The number of facts that may wait for another. Each takes several frames of Python's stack.
_DEPTH = 20


class _TooDeepError(BaseException):
    """The requested fact depends on one that is too many levels below."""

    def __init__(self, node: Any, fact: Fact) -> None:
        self.node = node
        self.fact = fact


class _Pending(threading.local):
    depth = 0


_PENDING = _Pending()


class Fact:
    """A property that each node computes once.

    Computing a fact computes those of all inputs. Deep chains restart from the node reached, to
    stay below the recursion limit.
    """

    def __init__(self, name: str, compute: Callable[[Any], Any]) -> None:
        self.name = name
        self.compute = compute
        self.__doc__ = compute.__doc__

    @classmethod
    def among(cls, namespace: dict[str, Any]) -> dict[str, Any]:
        """Return the namespace of a class with facts for its properties."""
        return {
            name: cls(name, value.fget) if isinstance(value, property) and value.fget else value
            for name, value in namespace.items()
        }

    def __get__(self, node: Any, owner: type | None = None) -> Any:
        if node is None:
            return self
        if getattr(type(node), self.name) is not self:
            # A base class's, which the node's own asks for: counted and kept with that one.
            return self.compute(node)
        if _PENDING.depth >= _DEPTH:
            raise _TooDeepError(node, self)
        return self._settled(node) if _PENDING.depth else self._first(node)

    def _settled(self, node: Any) -> Any:
        _PENDING.depth += 1
        try:
            value = self.compute(node)
        finally:
            _PENDING.depth -= 1
        vars(node)[self.name] = value
        return value

    def _first(self, node: Any) -> Any:
        stack: list[tuple[Any, Fact]] = [(node, self)]
        while True:
            node, fact = stack[-1]
            try:
                value = fact._settled(node)
            except _TooDeepError as deep:
                stack.append((deep.node, deep.fact))
                continue
            stack.pop()
            if not stack:
                return value
