"""Queued tasks by who submitted them: one that must wait holds up its own submission only.

The first task that waits for memory has a reservation on the worker that can take it soonest, so
those that overtake it do not delay it. A client or job can ask why its tasks wait for workers.
"""

from __future__ import annotations

import itertools
import operator
import time
from collections.abc import Callable, Collection, Hashable
from typing import Any, Final, Generic, Protocol, TypeVar

from distributed.collections import HeapSet

from ..cluster import failures
from .fair_share import submission
from .placement import Reservations, WorkerView, share

#: Seconds for which the absence of workers needs no reason.
_SOON = 2.0

#: Number of tasks without a worker, and of tasks that need one of these, that are looked at.
_FIRST, _ABOVE = 20, 1000

#: What turns a monotonic time into one of the wall clock.
_CLOCK: Final = time.time() - time.monotonic()


class QueuedTask(Hashable, Protocol):
    """The data of a queued task; distributed's TaskState has them."""

    @property
    def key(self) -> Hashable: ...
    @property
    def priority(self) -> Any: ...
    @property
    def state(self) -> str: ...
    @property
    def who_wants(self) -> Any: ...


T = TypeVar("T", bound=QueuedTask)
W = TypeVar("W", bound=WorkerView)


def submitter(ts: QueuedTask) -> Hashable:
    """Return the submission of a session, the client that waits, or the submission of Dask."""
    number = submission(ts.priority)
    if number is not None:
        return float(number)
    if ts.who_wants:
        first: str = min(client.client_key for client in ts.who_wants)
        return first
    return tuple(ts.priority[:2])


class QueueGroups(Generic[T]):
    """The queued tasks of each submitter, in the order of their priorities."""

    def __init__(self) -> None:
        self._groups: dict[Hashable, HeapSet[T]] = {}
        self._submitters: dict[T, Hashable] = {}
        """The submitter of each task when it was added: nobody wants a task when it is released."""

    def add(self, ts: T) -> None:
        """Add a queued task."""
        group = self._submitters[ts] = submitter(ts)
        if group not in self._groups:
            self._groups[group] = HeapSet(key=operator.attrgetter("priority"))
        self._groups[group].add(ts)

    def discard(self, ts: T) -> None:
        """Remove a task that leaves the queue."""
        tasks = self._groups.get(self._submitters.pop(ts, None))
        if tasks:
            tasks.discard(ts)
            if tasks:
                tasks.peek()  # this drops discarded tasks from the front of the heap

    def advance(self, send: Callable[[T], bool]) -> None:
        """Send the tasks of each group until one must wait, those of higher priority first.

        The first task of all has been tried. ``send`` returns whether a task has left the queue.
        """
        if len(self._groups) < 2:
            return  # it is the first task's own
        for group in self._by_priority():
            while (ts := self._first(group)) is not None and send(ts):
                pass

    def _by_priority(self) -> list[Hashable]:
        firsts = {group: self._first(group) for group in list(self._groups)}
        heads = {group: ts for group, ts in firsts.items() if ts is not None}
        return sorted(heads, key=lambda group: heads[group].priority)

    def _first(self, group: Hashable) -> T | None:
        """Return the first queued task of a group; forget a group without any."""
        tasks = self._groups.get(group)
        while tasks:
            ts = tasks.peek()
            if ts.state == "queued":
                return ts
            tasks.discard(ts)
            self._submitters.pop(ts, None)
        self._groups.pop(group, None)
        return None


class HeadReservation(Generic[W]):
    """The reservation of the first task that waits for memory, at most one."""

    def __init__(self, ledger: Reservations) -> None:
        self._ledger = ledger
        self.task: Any = None
        self.worker: W | None = None
        self.alone: W | None = None
        """The worker that nothing else may start on: the task runs alone there."""

    def make(self, ts: QueuedTask, needs: int, workers: Collection[W], soft: float) -> None:
        """Reserve memory for a task where it fits soonest; it keeps its place there."""
        if self.task is not ts or self.worker not in workers:
            self.release()
            self.task = ts
            able = [one for one in workers if needs <= soft * share(one)]
            if able:
                self.worker = min(able, key=lambda one: self._ledger.on(one) - soft * share(one))
            else:
                self.worker = self.alone = max(workers, key=share, default=None)
        if self.worker is not None:
            self._ledger.promise(self, self.worker, needs)

    def pause(self) -> None:
        """Free the bytes while the task itself is placed."""
        self._ledger.settle(self)

    def release(self) -> None:
        """Forget the task."""
        self.pause()
        self.task = self.worker = self.alone = None

    def expire(self) -> None:
        """Forget a task that has left the queue."""
        if self.task is not None and self.task.state != "queued":
            self.release()

    def others(self, ts: QueuedTask, workers: Collection[W]) -> Collection[W]:
        """Return the workers on which a task may start."""
        if self.alone is None or self.task is ts:
            return workers
        return [worker for worker in workers if worker != self.alone]


class WorkerAbsence:
    """The monotonic time ``since`` when no worker takes tasks, ``None`` if one does."""

    def __init__(self) -> None:
        self.since: float | None = time.monotonic()

    def note(self, running: Collection[Any]) -> None:
        """Record the workers that take tasks."""
        if running:
            self.since = None
        elif self.since is None:
            self.since = time.monotonic()


def why_waiting(scheduler: Any, client: str) -> str | None:
    """Return why a client's tasks wait for workers, ``None`` if they do not."""
    timeout: float | None = scheduler.no_workers_timeout
    start = time.monotonic() - _SOON
    since: float | None = scheduler.absence.since
    if since is not None:
        if since > start:
            return None
        since += _CLOCK
        if not scheduler.workers:
            return failures.no_workers(scheduler.address, since, timeout)
        return failures.no_running_workers(len(scheduler.workers), since, timeout)
    for ts, since in itertools.islice(scheduler.unrunnable.items(), _FIRST):
        asks = ts.resource_restrictions, ts.host_restrictions, ts.worker_restrictions
        if since < start and any(asks) and _is_wanted(ts, client):
            conditions = failures.restrictions(*asks)
            return failures.no_valid_worker(ts.key, conditions, since + _CLOCK, timeout)
    return None


def _is_wanted(ts: Any, client: str) -> bool:
    """Return whether a client wants a task, or one of the first that need it."""
    visited, stack = {ts}, [ts]
    while stack and len(visited) < _ABOVE:
        task = stack.pop()
        if any(state.client_key == client for state in task.who_wants or ()):
            return True
        fresh = [state for state in task.waiters or () if state not in visited]
        visited.update(fresh)
        stack.extend(fresh)
    return False
