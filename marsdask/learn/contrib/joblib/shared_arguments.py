"""Large arguments that calls of joblib share: a session holds each of them once."""

from __future__ import annotations

import copy
import threading
import uuid
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from joblib.parallel import BatchedCalls
from scipy.sparse import issparse

from marsdask.core.collection import execute
from marsdask.core.grids.blockwise import blockwise
from marsdask.core.grids.grid import Grid
from marsdask.core.node import Node
from marsdask.core.session import Session
from marsdask.core.sizes import Chunks
from marsdask.learn.rows import Value

#: Bytes from which an argument counts as large.
LARGE = 2**20


@dataclass(frozen=True)
class ArgumentPlace:
    """Stands in a call for one of the held arguments."""

    index: int


@dataclass(frozen=True, eq=False)
class OneObject(Node):
    """A node of one chunk, which is an object of Python; no two of them are the same."""

    interned: ClassVar[bool] = False

    given_name: str

    @property
    def name(self) -> str:
        return self.given_name

    @property
    def meta(self) -> Any:
        return None

    @property
    def chunks(self) -> Chunks:
        return ((1,),)


@dataclass(frozen=True, eq=False)
class HeldArgument(OneObject):
    """One object of the caller's memory."""

    value: Any = field(repr=False)
    nbytes: int

    def tile(self) -> Grid:
        return blockwise(
            given,
            [],
            chunks=self.chunks,
            meta=self.meta,
            kwargs={"value": self.value},
            itemsize=float(self.nbytes),
        )


def given(*, value: Any) -> Any:
    """Return the value."""
    return value


class SharedArguments:
    """Takes large arguments out of calls, and lets a session hold them.

    An argument is held when it comes for the second time: what only one call takes goes with it.
    Those that are shared may not change while calls run.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._lock = threading.Lock()
        self._seen: dict[int, weakref.ref[Any]] = {}
        self._held: dict[int, tuple[Any, Value]] = {}

    def take(self, calls: Any) -> tuple[Any, tuple[Node, ...]]:
        """Return a batch of joblib with places in it, and the arguments that belong there."""
        is_shared = self._session.scheduler.capabilities.shared_memory
        if is_shared or not isinstance(calls, BatchedCalls):
            return calls, ()
        nodes: list[Node] = []
        places: dict[int, ArgumentPlace] = {}

        def placed(item: Any) -> Any:
            node = None if id(item) in places else self._node_of(item)
            if node is not None:
                places[id(item)] = ArgumentPlace(len(nodes))
                nodes.append(node)
            return places.get(id(item), item)

        with self._lock:
            batch = mapped(calls, placed)
        return (batch, tuple(nodes)) if nodes else (calls, ())

    def _node_of(self, item: Any) -> Node | None:
        """Return the node of an argument that was held; nothing for those that go with calls."""
        if size_of(item) < LARGE:
            return None
        if id(item) not in self._held:
            before = self._seen.get(id(item))
            self._seen[id(item)] = weakref.ref(item)
            if before is None or before() is not item:
                return None
            value = Value(HeldArgument(f"argument-{uuid.uuid4().hex}", item, size_of(item)))
            execute(value, session=self._session, show_progress=False)
            self._held[id(item)] = item, value
        return self._held[id(item)][1].node


def size_of(item: Any) -> int:
    """Return the bytes of an array, dense or sparse, or a frame; 0 of other objects."""
    if isinstance(item, pd.DataFrame):
        return int(item.memory_usage().sum())
    if isinstance(item, np.ndarray | pd.Series):
        return int(item.nbytes)
    return int(item.nnz * item.dtype.itemsize) if issparse(item) else 0


def mapped(calls: Any, func: Callable[[Any], Any]) -> Any:
    """Return a batch of calls with a function of each argument in its place."""
    new = copy.copy(calls)
    new.items = [
        (call, tuple(map(func, args)), {name: func(item) for name, item in kwargs.items()})
        for call, args, kwargs in calls.items
    ]
    return new


def filled(calls: Any, arguments: Sequence[Any]) -> Any:
    """Return a batch of calls with the arguments in their places."""
    if not arguments:
        return calls
    return mapped(
        calls, lambda item: arguments[item.index] if isinstance(item, ArgumentPlace) else item
    )
