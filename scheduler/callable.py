"""Any Dask ``get`` as a scheduler: ``dask.threaded.get``, ``client.get``, or your own."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from dask.task_spec import DataNode

from .base import Callback, Capabilities, ChunkInfo, Handle, Hint, Key, TaskGraph, describe
from .dask_graph import cull
from .errors import SchedulerClosed
from .events import GraphSubmitted, TaskDone, TaskFailed
from .inprocess.results import ReferenceTable
from .inprocess.single_handle import Submission


class CallableScheduler:
    """Calls ``get(graph, keys)`` inside ``submit`` and keeps the results.

    A ``get`` reports nothing while it works. Events therefore come at its end and only for
    requested keys, a failure names no task, and nothing can be cancelled.
    """

    capabilities = Capabilities(shared_memory=True)

    def __init__(self, get: Callable[..., Any]) -> None:
        self.name = f"{getattr(get, '__module__', '')}.{getattr(get, '__name__', repr(get))}"
        self._get = get
        self._held: ReferenceTable[Any] = ReferenceTable()
        self._closed = False

    def submit(
        self,
        graph: TaskGraph,
        keys: Collection[Key],
        *,
        hints: Mapping[Key, Hint] | None = None,
        callbacks: Iterable[Callback] = (),
    ) -> Handle:
        """Compute the keys that are not held yet, and return when they are done."""
        if self._closed:
            raise SchedulerClosed("the scheduler is closed")
        handle = Submission(keys, callbacks)
        with self._held.exclusive() as entries:
            tasks, inputs = cull(graph, handle.keys, entries)
            values = {key: entries[key][-1] for key in inputs}
        outputs = [key for key in dict.fromkeys(handle.keys) if key in tasks]
        handle.emit(GraphSubmitted(len(outputs)))
        if outputs:
            tasks.update({key: DataNode(key, value) for key, value in values.items()})
            try:
                values.update(zip(outputs, self._get(tasks, outputs), strict=True))
            except Exception as error:  # noqa: BLE001  (handle.wait raises it)
                handle.emit(TaskFailed(None, error))
                handle.finish("failed", error)
                return handle
        with self._held.exclusive():
            for key in handle.keys:
                self._held.add(key, values[key])
        for key in outputs:
            handle.emit(TaskDone(key, describe(values[key]).nbytes, 0.0))
        handle.finish("done")
        return handle

    def gather(self, keys: Sequence[Key]) -> list[Any]:
        """Return held results."""
        return self._held.get(keys)

    def info(self, keys: Sequence[Key]) -> list[ChunkInfo]:
        """Describe held results."""
        return [describe(value) for value in self._held.get(keys)]

    def release(self, keys: Iterable[Key]) -> None:
        """Drop one reference of each key."""
        self._held.release(keys)

    def close(self) -> None:
        """Free all results."""
        self._closed = True
        self._held.clear()
