"""The homes of sources: each worker has a range of affinities, by its threads.

Workers of a host have ranges beside each other, because neighbouring sources have common readers.
"""

from __future__ import annotations

import itertools
import operator
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator
from typing import Any, Generic, Protocol, TypeVar

from distributed.collections import HeapSet
from distributed.scheduler import TaskState, WorkerState

#: The ranges change when this share of the workers has joined or left, because every queued source
#: gets another home then.
_CHANGED = 1 / 16


class HomeView(Protocol):
    """The data of a worker that its range depends on."""

    @property
    def host(self) -> str: ...
    @property
    def nthreads(self) -> int: ...


H = TypeVar("H", bound=HomeView)


class Ranges(Generic[H]):
    """A range of affinities for each worker; those of a host follow each other."""

    def __init__(self, workers: Iterable[H]) -> None:
        self._workers = sorted(workers, key=operator.attrgetter("host"))
        ends = [*itertools.accumulate(worker.nthreads for worker in self._workers)]
        self._ends = [end / ends[-1] for end in ends]

    def __len__(self) -> int:
        return len(self._workers)

    def home(self, affinity: float) -> H:
        """Return the worker in whose range an affinity from 0 to 1 is."""
        position = bisect_right(self._ends, affinity)
        return self._workers[min(position, len(self._workers) - 1)]


def affinity_of(ts: TaskState) -> float | None:
    """Return the affinity of a task, ``None`` without one."""
    annotations: Any = ts.annotations or {}
    affinity: float | None = annotations.get("mars_band")
    return affinity


class QueuedSources:
    """The queued tasks that have homes."""

    def __init__(self) -> None:
        self._ranges: Ranges[WorkerState] = Ranges(())
        self._left = 0
        self._tasks: dict[WorkerState | None, HeapSet[TaskState]] = {}
        """By home; ``None`` before the first worker joins."""

    def __iter__(self) -> Iterator[TaskState]:
        return itertools.chain.from_iterable(self._tasks.values())

    def home(self, ts: TaskState, workers: Collection[WorkerState]) -> WorkerState | None:
        """Return the worker for a task, ``None`` if it has no affinity."""
        affinity = affinity_of(ts)
        if affinity is None or not workers:
            return None
        difference = abs(len(workers) - len(self._ranges) + self._left)
        if difference + self._left > _CHANGED * len(self._ranges):
            self._ranges, self._left = Ranges(workers), 0
            queued = [one for one in self if one.state == "queued"]
            self.clear()
            for one in queued:
                self._put(one)
        return self._ranges.home(affinity)

    def leave(self) -> None:
        """Record that a worker has left."""
        self._left += 1

    def add(self, ts: TaskState, workers: Collection[WorkerState]) -> None:
        """Add a task to those of its home, if it has an affinity."""
        if affinity_of(ts) is not None:
            self.home(ts, workers)  # this updates the ranges
            self._put(ts)

    def _put(self, ts: TaskState) -> None:
        by_priority = HeapSet[TaskState](key=operator.attrgetter("priority"))
        self._tasks.setdefault(self._place(ts), by_priority).add(ts)

    def _place(self, ts: TaskState) -> WorkerState | None:
        affinity = affinity_of(ts)
        return None if affinity is None or not self._ranges else self._ranges.home(affinity)

    def discard(self, ts: TaskState) -> None:
        """Remove a task that leaves the queue."""
        own = self._tasks.get(self._place(ts))
        if own:
            own.discard(ts)
            if own:
                own.peek()  # this drops discarded tasks from the front of the heap

    def first(self, ws: WorkerState) -> TaskState | None:
        """Return the first queued task whose home is a worker."""
        own = self._tasks.get(ws)
        while own and own.peek().state != "queued":
            own.pop()
        return own.peek() if own else None

    def clear(self) -> None:
        """Forget all tasks."""
        self._tasks.clear()
