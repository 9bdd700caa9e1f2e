"""Fair queueing between sessions: the order of their tasks, and their places on each worker.

Each task gets the time at which it would start if every session had its share of the cluster. Tasks
run in the order of these virtual times. Those of one session increase, so its order is its own.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakValueDictionary

#: Position of the number of a submission in the priority of its tasks.
_NUMBER = 3

#: Number of sessions without jobs whose virtual time is remembered.
_REMEMBERED = 1000

#: Minimum and maximum weight of a session.
_LIGHTEST, _HEAVIEST = 1e-3, 1e3

#: Maximum time by which the first task of an idle session comes after those that have run.
_AFTER = 0.5


def check_weight(weight: float) -> float:
    """Return a session's weight; raise ``ValueError`` unless it is between 0.001 and 1000."""
    if not _LIGHTEST <= weight <= _HEAVIEST:
        raise ValueError(f"the weight of a session must be from 0.001 to 1000, not {weight!r}")
    return float(weight)


def submission(priority: Sequence[Any] | None) -> Any:
    """Return the number of the submission in a task's priority, ``None`` for those of Dask."""
    return priority[_NUMBER] if priority is not None and len(priority) > _NUMBER else None


@dataclass
class SessionShare:
    """One session: its weight, and the virtual time at which its next task starts."""

    weight: float = 1.0
    time: float = 0.0


@dataclass(frozen=True)
class JobShare:
    """The tasks of one job: their number, and the share of their session."""

    number: float
    share: SessionShare


@dataclass
class FairQueue:
    """Virtual times of the tasks of all sessions."""

    now: float = 0.0
    """The latest virtual time of any task that has run."""
    recent: dict[Hashable, SessionShare] = field(default_factory=dict)
    """The sessions that had a job last, in this order."""
    _sessions: WeakValueDictionary[Hashable, SessionShare] = field(
        default_factory=WeakValueDictionary
    )
    """These sessions, and all others that have jobs."""

    def share(self, session: Hashable, weight: float) -> SessionShare:
        """Return the share of a session, with this weight from now on."""
        share = self._sessions.get(session)
        if share is None:
            share = self._sessions[session] = SessionShare()
        self.recent.pop(session, None)
        self.recent[session] = share
        if len(self.recent) > _REMEMBERED:
            del self.recent[next(iter(self.recent))]
        share.weight = weight
        return share

    def times(self, share: SessionShare, costs: Sequence[float]) -> list[float]:
        """Return the virtual times of the next tasks of a session, which have these costs.

        An idle session does not start at the present, but a little later. Otherwise the present
        would stand still while new sessions come, and the others would wait for all of them.
        """
        if share.time <= self.now and costs:
            share.time = self.now + min(costs[0] / share.weight, _AFTER)
        moments = []
        for cost in costs:
            moments.append(share.time)
            share.time += cost / share.weight
        return moments

    def run(self, time: float) -> None:
        """Record that a task of this virtual time has run."""
        self.now = max(self.now, time)


class WorkerShares:
    """The tasks of each session on each worker."""

    def __init__(self) -> None:
        self._counts: dict[Any, Counter[Hashable]] = {}
        """Tasks of each worker by submission, ``None`` for tasks of Dask."""
        self._totals: Counter[Hashable] = Counter()
        """Tasks on all workers by session, ``None`` for tasks that belong to no session."""
        self._sessions: dict[Any, Hashable] = {}
        """The session of each submission."""
        self._weights: dict[Hashable, float] = {None: 1.0}

    def join(self, number: float, session: Hashable, weight: float) -> None:
        """Record the session of a submission that has no tasks yet."""
        self._sessions[number] = session
        self._weights[session] = weight

    def leave(self, number: float) -> None:
        """Forget a submission that has ended."""
        session = self._sessions.pop(number, None)
        count = sum(counts[number] for counts in self._counts.values())
        self._count(session, -count)
        self._count(None, count)
        if session not in self._sessions.values():
            self._weights.pop(session, None)
            self._weights[None] = 1.0

    def _count(self, session: Hashable, change: int) -> None:
        self._totals[session] += change
        if not self._totals[session]:
            del self._totals[session]

    @property
    def contended(self) -> bool:
        """Whether several sessions have jobs, or one session and tasks without one run."""
        return len(self._weights) - 1 + (None in self._totals) > 1

    def others_run(self, priority: Sequence[Any] | None) -> bool:
        """Return whether workers have tasks of other sessions than this task's."""
        return len(self._totals) > (self.session(priority) in self._totals)

    def session(self, priority: Sequence[Any] | None) -> Hashable:
        """Return the session of a task by its priority."""
        return self._sessions.get(submission(priority))

    def add(self, worker: Any, priority: Sequence[Any] | None) -> None:
        """Count a task on a worker."""
        self._counts.setdefault(worker, Counter())[submission(priority)] += 1
        self._count(self.session(priority), 1)

    def remove(self, worker: Any, priority: Sequence[Any] | None) -> None:
        """Count a task less."""
        counts, number = self._counts.get(worker), submission(priority)
        if counts is None or not counts[number]:
            return
        self._count(self.session(priority), -1)
        counts[number] -= 1
        if not counts[number]:
            del counts[number]
        if not counts:
            del self._counts[worker]

    def has_place(self, worker: Any, nthreads: int, priority: Sequence[Any] | None) -> bool:
        """Return whether a worker has others' tasks, and fewer of this session than its share.

        A share is a part of the threads by the weights, and one task at least.
        """
        session = self.session(priority)
        there: Counter[Hashable] = Counter()
        for number, count in self._counts.get(worker, {}).items():
            there[self._sessions.get(number)] += count
        own = there.pop(session, 0)
        if not there:
            return False
        weight = self._weights.get(session, 1.0)
        weights = sum(self._weights.get(peer, 1.0) for peer in there)
        return own < max(1, math.floor(nthreads * weight / (weight + weights)))
