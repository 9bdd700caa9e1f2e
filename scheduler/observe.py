"""Dask's callbacks (``ProgressBar``, ``Profiler``, ...) on our schedulers."""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping
from typing import Any

from dask.callbacks import unpack_callbacks
from dask.task_spec import DataNode, GraphNode

from .base import Callback, Key, Scheduler
from .events import Event, TaskDone, TaskStarted


class Observer:
    """Calls Dask's callbacks for one graph, one at a time but from whichever thread works.

    Of Dask's scheduler state they see which keys wait, run and are finished.
    """

    def __init__(self, callbacks: Collection[Any], graph: Mapping[Key, GraphNode]) -> None:
        self._callbacks = list(callbacks)
        self._begun: list[Any] = []
        _, self._start_state, self._pretask, self._posttask, _ = unpack_callbacks(callbacks)
        self._graph = dict(graph)
        self._lock = threading.RLock()
        self._state: dict[str, Any] = {
            "cache": {},
            "ready": [],
            "waiting": {},
            "running": set(),
            "finished": set(),
            "released": set(),
        }

    def start(self) -> Mapping[Key, Any]:
        """Tell that it begins and return the graph, in which a cache may have put results."""
        for callbacks in self._callbacks:
            if callbacks[0]:
                callbacks[0](self._graph)
            self._begun.append(callbacks)
        tasks = [key for key, node in self._graph.items() if not isinstance(node, DataNode)]
        self._state["waiting"] = dict.fromkeys(tasks)
        for callback in self._start_state:
            callback(self._graph, self._state)
        return self._graph

    def finish(self, *, failed: bool) -> None:
        """Tell that it is over to all who heard that it begins."""
        for callbacks in self._begun:
            if callbacks[4]:
                callbacks[4](self._graph, self._state, failed)

    def before(self, key: Key) -> None:
        """Tell that a task begins."""
        with self._lock:
            self._state["waiting"].pop(key, None)
            self._state["running"].add(key)
            for callback in self._pretask:
                callback(key, self._graph, self._state)

    def after(self, key: Key, value: Any) -> None:
        """Tell that a task has ended."""
        with self._lock:
            self._state["running"].discard(key)
            self._state["finished"].add(key)
            for callback in self._posttask:
                callback(key, value, self._graph, self._state, threading.get_ident())

    def wrap(self, graph: Mapping[Key, GraphNode]) -> dict[Key, GraphNode]:
        """Return the graph with tasks that tell, for schedulers that run them in this process."""
        return {
            key: node if isinstance(node, DataNode) else _Told(node, self)
            for key, node in graph.items()
        }

    def listen(self, scheduler: Scheduler) -> Callback:
        """Return an event callback that tells, for schedulers that run tasks elsewhere.

        Every key must be wanted of the submission, so that its result can be shown.
        """

        def tell(event: Event) -> None:
            if isinstance(event, TaskStarted):
                self.before(event.key)
            elif isinstance(event, TaskDone):
                self.after(event.key, scheduler.gather([event.key])[0])

        return tell


class _Told(GraphNode):
    """A node that reports to an observer; never leaves this process."""

    __slots__ = ("_node", "_observer")

    def __init__(self, node: GraphNode, observer: Observer) -> None:
        self.key = node.key
        self._dependencies = node.dependencies
        self._node = node
        self._observer = observer

    def __call__(self, values: Any = ()) -> Any:
        self._observer.before(self.key)
        value = self._node(values)
        self._observer.after(self.key, value)
        return value
