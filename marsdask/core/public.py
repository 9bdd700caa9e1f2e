"""Public functions: wrappers around functions that compose nodes."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, ParamSpec, Protocol, TypeVar

from .collection import Collection, collect, composing, execute, executes_at_once
from .config import options
from .display.suggestions import suggest
from .node import Node

P = ParamSpec("P")
N_co = TypeVar("N_co", covariant=True)
R_co = TypeVar("R_co", covariant=True)


class Public(Protocol[P, N_co, R_co]):
    """A public function: users call it, and operations call its ``node``."""

    __name__: str
    __qualname__: str

    @property
    def node(self) -> Callable[P, N_co]:
        """The same function for other operations: it returns nodes, and executes no tasks."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co: ...


def public(func: Callable[..., Any]) -> Any:
    """Return the public function: it converts nodes in its result to collections.

    In eager mode it then executes them at once, with the tensors that it changed in place. Calls
    inside it are not executed. ``func`` itself remains available as ``node``, for other operations.
    """

    @wraps(func)
    def face(*args: Any, **kwargs: Any) -> Any:
        try:
            if options.eager_mode and executes_at_once():
                return _executed(func, args, kwargs)
            found = func(*args, **kwargs)
        except TypeError as error:
            suggest(error, func, args, kwargs)
            raise
        return found if isinstance(found, Collection) else collected(found)

    if hasattr(func, "__wrapped__"):
        # Functions of other decorators are pickled by their name, which must refer to them.
        func.__qualname__ = f"{func.__qualname__}.node"
    face.node = func  # type: ignore[attr-defined]
    return face


def collected(found: Any) -> Any:
    """Return a result with collections in place of nodes."""
    if isinstance(found, Node):
        return collect(found)
    if not isinstance(found, tuple | list):
        return found
    items = [collected(item) for item in found]
    if all(map(operator.is_, items, found)):
        return found
    # Named tuples are built from their items.
    return getattr(found, "_make", type(found))(items)


def _executed(func: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Call a function without executing its steps, then execute its result."""
    rebound: list[Collection] = []
    reset = composing.set(rebound)
    try:
        found = collected(func(*args, **kwargs))
    finally:
        composing.reset(reset)
    if pending := [item for item in (*rebound, *_collections(found)) if not item._is_executed()]:
        execute(*pending)
    return found


def _collections(found: Any) -> Iterator[Collection]:
    if isinstance(found, Collection):
        yield found
    elif isinstance(found, tuple | list):
        for item in found:
            yield from _collections(item)
