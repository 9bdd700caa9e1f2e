"""The batches of a trace, as a job of a supervisor submits them."""

from __future__ import annotations

from marsdask.scheduler.supervisor.compilation.packed_tasks import PackedTask
from marsdask.scheduler.supervisor.hints import with_affinity
from marsdask.scheduler.supervisor.jobs import AHEAD, BATCH
from marsdask.scheduler.base import Key
from benchmarks.placement.traces import Trace


class TraceBatches:
    """The batches of a trace, or the ``whole`` trace as one."""

    def __init__(self, trace: Trace, consumers: list[list[int]], *, whole: bool) -> None:
        self._trace = trace
        self._consumers = consumers
        self._size = len(trace) if whole or len(trace) <= BATCH else BATCH
        self._next = 0
        self._missing: dict[int, int] = {}
        """The number of results for which each unfinished batch waits."""

    def take(self) -> range | None:
        """Return the next batch, ``None`` if too many are unfinished or none is left."""
        start = self._next
        if start >= len(self._trace) or len(self._missing) >= AHEAD // BATCH:
            return None
        self._next = min(start + self._size, len(self._trace))
        batch = range(start, self._next)
        missing = sum(map(self._leaves, batch))
        if missing:
            self._missing[start // self._size] = missing
        return batch

    def submitted(self, task: int) -> bool:
        """Return whether the scheduler knows a task."""
        return task < self._next

    def finish(self, task: int) -> None:
        """Record that a task is done."""
        if self._leaves(task):
            number = task // self._size
            self._missing[number] -= 1
            if not self._missing[number]:
                del self._missing[number]

    def _leaves(self, task: int) -> bool:
        """Return whether the job waits for a task: a result, or an input of a later batch."""
        consumers = self._consumers[task]
        return not consumers or consumers[-1] // self._size > task // self._size

    def affinities(self, batch: range, workers: int) -> dict[Key, int]:
        """Return the affinities that the supervisor gives to tasks of a batch."""
        inputs = self._trace.inputs
        graph = {task: PackedTask(b"", frozenset(inputs[task])) for task in batch}
        hints = with_affinity(graph, {}, workers)
        return {task: hint.affinity for task, hint in hints.items()}
