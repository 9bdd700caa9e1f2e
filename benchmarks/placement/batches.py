"""The batches of a trace, as a job of a supervisor submits them."""

from __future__ import annotations

from typing import Any

from benchmarks.placement.traces import Trace
from marsdask.scheduler.supervisor.affinity.affinities import turn, with_affinity
from marsdask.scheduler.supervisor.compilation.packed_tasks import PackedTask
from marsdask.scheduler.supervisor.jobs import BATCH, ahead


class TraceBatches:
    """The batches of a trace, or the ``whole`` trace as one."""

    def __init__(
        self, trace: Trace, consumers: list[list[int]], threads: int, *, whole: bool
    ) -> None:
        self._trace = trace
        self._consumers = consumers
        self._size = len(trace) if whole or len(trace) <= BATCH else BATCH
        self._next = 0
        self._ahead = ahead(threads)
        self._missing: dict[int, int] = {}
        """The number of results for which each unfinished batch waits."""

    def take(self) -> range | None:
        """Return the next batch, ``None`` if too many are unfinished or none is left."""
        start = self._next
        if start >= len(self._trace) or len(self._missing) >= self._ahead // BATCH:
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

    def affinities(self, batch: range) -> dict[Any, float]:
        """Return the affinities that the supervisor gives to tasks of a batch."""
        inputs, tasks = self._trace.inputs, len(self._trace)
        graph: dict[Any, Any] = {task: PackedTask(b"", frozenset(inputs[task])) for task in batch}
        readers: dict[Any, int] = {task: len(self._consumers[task]) for task in batch}
        share = turn(batch.start, len(batch), tasks - batch.stop, self._ahead)
        found = with_affinity(graph, {}, share, readers)
        return {key: hint.affinity for key, hint in found.items() if hint.affinity is not None}
