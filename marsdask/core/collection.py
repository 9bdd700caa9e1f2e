"""What Tensor, DataFrame, Series and Index share: a thin object around one node."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self

from .config import options
from .errors import NotExecutedError
from .node import Node
from .session import Execution, Session, ensure_session, get_default_session
from .stored import Stored

_CLASSES: dict[type, Callable[[Any], type[Collection] | None]] = {}


class Collection:
    """A lazy object: holds its node, computes it in a session, fetches the result."""

    __slots__ = ("__weakref__", "_node", "_session")

    def __init__(self, node: Node, session: Session | None = None) -> None:
        self._node = node
        self._session = session

    @property
    def node(self) -> Node:
        """The operation behind it."""
        return self._node

    def execute(
        self, session: Session | None = None, *, wait: bool = True, show_progress: Any = None
    ) -> Any:
        """Compute, keep the chunks in the session and return self (a future if not ``wait``)."""
        return execute(self, session=session, wait=wait, show_progress=show_progress)

    def fetch(self, session: Session | None = None) -> Any:
        """Return the computed value; ``ValueError`` if it was not executed before."""
        return fetch(self, session=session)

    def compute(self, **kwargs: Any) -> Any:
        """Compute and return the value without keeping it."""
        session = kwargs.pop("session", None) or self._session
        stored = ensure_session(session).execute([self._node])[0]
        return self._value(stored)

    def _value(self, stored: Stored) -> Any:
        layout = stored.result.layout
        blocks = stored.result.scheduler.gather(list(layout.keys.values()))
        return self._assemble(stored, dict(zip(layout.keys, blocks, strict=True)))

    @classmethod
    def _assemble(cls, stored: Stored, blocks: dict[Any, Any]) -> Any:
        """Put fetched blocks together; each family says how."""
        raise NotImplementedError(f"{cls.__name__} does not say how its blocks fit together")

    def _adopt(self, stored: Stored, session: Session) -> Self:
        self._node = stored
        self._session = session
        return self


class ExecutableTuple(tuple[Any, ...]):
    """Several collections that execute together."""

    __slots__ = ()

    def execute(self, session: Session | None = None, **kwargs: Any) -> Any:
        """Compute all of them in one graph and return self (a future if ``wait=False``)."""
        return execute(*self, session=session, _returns=self, **kwargs)

    def fetch(self, session: Session | None = None) -> Any:
        """Return the values: a list, or the namedtuple's own type."""
        values = [fetch(item, session=session) for item in self]
        return self._make(values) if hasattr(self, "_make") else values


def wrap(node: Node) -> Any:
    """Return the collection for a node; in eager mode it is executed at once."""
    # Errors of shape and type belong to the user's call, not to a later execute().
    node.chunks  # noqa: B018
    collection = _class_of(node.meta)(node)
    if options.eager_mode:
        collection.execute()
    return collection


def register_collection(meta_type: type, kind: type[Collection]) -> None:
    """Say which collection wraps nodes whose meta is of ``meta_type``."""
    _CLASSES[meta_type] = kind  # type: ignore[assignment]


def _class_of(meta: Any) -> Any:
    for kind in type(meta).__mro__:
        if kind in _CLASSES:
            return _CLASSES[kind]
    raise TypeError(f"no collection holds {type(meta).__name__} chunks")


def flatten(items: Iterable[Any]) -> list[Any]:
    """Return the collections in (nested) lists and tuples, in order."""
    found = []
    for item in items:
        if isinstance(item, list | tuple):
            found.extend(flatten(item))
        else:
            found.append(item)
    return found


def execute(
    *items: Any,
    session: Session | None = None,
    wait: bool = True,
    show_progress: Any = None,
    _returns: Any = None,
) -> Any:
    """Compute collections in one graph: returns the single one given, or a list.

    With ``wait=False`` a future is returned at once.
    """
    collections = flatten(items)
    for item in collections:
        if not isinstance(item, Collection):
            raise TypeError(f"execute() takes tensors and frames, not {type(item).__name__}")
    if _returns is None:
        _returns = items[0] if len(items) == 1 else list(items)
    chosen = session or next((item._session for item in collections if item._session), None)  # noqa: SLF001
    if chosen is not None and chosen.closed and session is None:
        chosen = None
    chosen = ensure_session(chosen)
    nodes = [item._node for item in collections]  # noqa: SLF001

    def finish(stored: list[Stored]) -> Any:
        for item, result in zip(collections, stored, strict=True):
            item._adopt(result, chosen)  # noqa: SLF001
        return _returns

    if not wait:
        return chosen.submit(nodes, finish)
    return finish(chosen.execute(nodes))


def fetch(*items: Any, session: Session | None = None) -> Any:
    """Return the values of executed collections: one value, or a list."""
    values = [_fetch_one(item, session) for item in flatten(items)]
    return values[0] if len(items) == 1 and not isinstance(items[0], list | tuple) else values


def _fetch_one(item: Collection, session: Session | None) -> Any:
    chosen = session or item._session or get_default_session()  # noqa: SLF001
    stored = chosen.lookup(item._node) if chosen is not None else None  # noqa: SLF001
    if chosen is None or stored is None:
        raise NotExecutedError(
            f"{item.node.label} has not been executed: call execute() before fetch(), or compute()"
        )
    chosen._check_open()  # noqa: SLF001
    return item._value(stored)  # noqa: SLF001


__all__: Sequence[str] = [
    "Collection",
    "ExecutableTuple",
    "Execution",
    "execute",
    "fetch",
    "register_collection",
    "wrap",
]
