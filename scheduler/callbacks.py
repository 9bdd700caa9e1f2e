"""Dask's callbacks (``ProgressBar``, ``Profiler``, ...) on the schedulers of this process."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

from dask.callbacks import Callback as DaskCallback
from dask.callbacks import local_callbacks, unpack_callbacks
from dask.task_spec import DataNode

from .base import Key, TaskGraph
from .dask_graph import cull, to_tasks
from .events import Event


class Observer:
    """Calls Dask's callbacks for one computation, one at a time, from any working thread.

    Each submission of the computation has the observer among its callbacks. The state has Dask's
    format and grows with each submission. Its ``cache`` stays empty, because results may be on
    disk.
    """

    def __init__(self, callbacks: Collection[Any]) -> None:
        self._callbacks = list(callbacks)
        self._begun: list[Any] = []
        _, self._start_state, self._pretask, self._posttask, _ = unpack_callbacks(callbacks)
        self._lock = threading.RLock()
        self._graph: dict[Key, Any] = {}
        self._wanted: set[Key] = set()
        self._open: set[Key] = set()
        """Tasks that have not finished; empty at the end of the computation."""
        self._waiting: dict[Key, set[Key]] = {}
        self._ready: list[Key] = []
        self._unread: dict[Key, set[Key]] = {}
        """The tasks that still have to read each result."""
        self._dependencies: dict[Key, set[Key]] = {}
        self._dependents: dict[Key, set[Key]] = {}
        self._state: dict[str, Any] = {
            "dependencies": self._dependencies,
            "dependents": self._dependents,
            "waiting": self._waiting,
            "waiting_data": self._unread,
            "cache": {},
            "ready": self._ready,
            "running": set(),
            "finished": set(),
            "released": set(),
        }

    def __call__(self, event: Event) -> None:
        """Do nothing: a scheduler calls ``begin``, ``before`` and ``after`` instead."""

    def begin(self, graph: TaskGraph, keys: Collection[Key]) -> TaskGraph:
        """Report and return the tasks that will run; a callback may replace tasks by results."""
        self._graph.update(graph)
        if self._begun:
            self._expect(graph, keys)
            return graph
        for callbacks in self._callbacks:
            if callbacks[0]:
                callbacks[0](self._graph)
            self._begun.append(callbacks)
        graph = to_tasks(self._graph)
        self._expect(graph, keys)
        for callback in self._start_state:
            callback(self._graph, self._state)
        return graph

    def _expect(self, graph: TaskGraph, keys: Collection[Key]) -> None:
        """Add the tasks of a graph to the state; missing keys are results already."""
        self._wanted.update(keys)
        dependencies = {key for node in graph.values() for key in node.dependencies}.union(keys)
        ready = []
        for key, node in cull(graph, list(keys), dependencies - graph.keys())[0].items():
            needs = self._dependencies[key] = set(node.dependencies)
            for name in (key, *needs):
                self._dependents.setdefault(name, set())
                self._unread.setdefault(name, set())
            for name in needs:
                self._dependents[name].add(key)
                self._unread[name].add(key)
            if isinstance(node, DataNode):
                self._state["cache"][key] = node.value
                continue
            self._open.add(key)
            if inputs := needs & self._open:
                self._waiting[key] = inputs
            else:
                ready.append(key)
        self._ready.extend(reversed(ready))  # the last task runs next

    def before(self, key: Key) -> None:
        """Report that a task starts."""
        with self._lock:
            if key in self._open:
                self._waiting.pop(key, None)
                _remove_last(self._ready, key)
                self._state["running"].add(key)
                for callback in self._pretask:
                    callback(key, self._graph, self._state)

    def after(self, key: Key, value: Any) -> None:
        """Report that a task has ended."""
        with self._lock:
            if key in self._open:
                self._open.remove(key)
                self._state["running"].discard(key)
                self._state["finished"].add(key)
                self._pass_on(key)
                for callback in self._posttask:
                    callback(key, value, self._graph, self._state, threading.get_ident())

    def _pass_on(self, key: Key) -> None:
        """Record which tasks become ready after a task, and which results are no longer needed."""
        for dependent in self._dependents[key]:
            inputs = self._waiting.get(dependent)
            if inputs is not None:
                inputs.discard(key)
                if not inputs:
                    del self._waiting[dependent]
                    self._ready.append(dependent)
        for source in self._dependencies[key]:
            readers = self._unread[source]
            readers.discard(key)
            if not readers and source not in self._wanted:
                del self._unread[source]
                self._state["released"].add(source)
                self._state["cache"].pop(source, None)

    def finish(self, *, failed: bool) -> None:
        """Report the end to all callbacks that saw the start, and nothing afterwards."""
        with self._lock:
            self._open.clear()
            for callbacks in self._begun:
                if callbacks[4]:
                    callbacks[4](self._graph, self._state, failed)


def _remove_last(items: list[Key], item: Key) -> None:
    """Remove an item that is probably near the end."""
    for position in range(len(items) - 1, -1, -1):
        if items[position] == item:
            del items[position]
            return


@contextmanager
def observing(callbacks: Collection[Any] | None = None) -> Iterator[tuple[Observer, ...]]:
    """Yield the callbacks of a computation's submissions, with an observer if Dask has callbacks.

    By default the active Dask callbacks are called, but not for nested computations.
    """
    if callbacks is None and not DaskCallback.active:
        yield ()
        return
    with local_callbacks(callbacks) as active:
        if not active:
            yield ()
            return
        observer = Observer(active)
        failed = True
        try:
            yield (observer,)
            failed = False
        finally:
            observer.finish(failed=failed)
