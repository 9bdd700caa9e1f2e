"""Fair queueing between sessions: the order of their tasks, and their places on each worker.

Each task gets the time at which it would end if every session had its share of the cluster. Tasks
run in the order of these virtual times. Those of one session increase, so its order is its own.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

#: Position of the number of a submission in the priority of its tasks.
_NUMBER = 3

#: Number of sessions that are remembered after their virtual time has passed.
_REMEMBERED = 1000


def check_weight(weight: float) -> float:
    """Return a session's weight; raise ``ValueError`` unless it is a positive number."""
    if not 0 < weight < math.inf:
        raise ValueError(f"the weight of a session must be a positive number, not {weight!r}")
    return float(weight)


def submission(priority: Sequence[Any] | None) -> Any:
    """Return the number of the submission in a task's priority, ``None`` for those of Dask."""
    return priority[_NUMBER] if priority is not None and len(priority) > _NUMBER else None


@dataclass
class SessionShare:
    """One session: its weight, and the virtual time at which its last task ends."""

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
    sessions: dict[Hashable, SessionShare] = field(default_factory=dict)

    def share(self, session: Hashable, weight: float) -> SessionShare:
        """Return the share of a session, with this weight from now on."""
        if len(self.sessions) > _REMEMBERED:
            late = {key: one for key, one in self.sessions.items() if one.time > self.now}
            self.sessions = late
        found = self.sessions.setdefault(session, SessionShare())
        found.weight = weight
        return found

    def times(self, share: SessionShare, costs: Sequence[float]) -> list[float]:
        """Return the virtual times of the next tasks of a session, which have these costs."""
        share.time = max(share.time, self.now)
        found = []
        for cost in costs:
            share.time += cost / share.weight
            found.append(share.time)
        return found

    def run(self, time: float) -> None:
        """Record that a task of this virtual time has run."""
        self.now = max(self.now, time)


class WorkerShares:
    """The tasks of each session on each worker."""

    def __init__(self) -> None:
        self._stock = 0
        """The number of tasks of Dask on all workers."""
        self._counts: dict[Any, Counter[Hashable]] = {}
        """Tasks of each worker by session, ``None`` for tasks that belong to no session."""
        self._sessions: dict[Any, Hashable] = {}
        """The session of each submission."""
        self._weights: dict[Hashable, float] = {None: 1.0}

    def join(self, number: float, session: Hashable, weight: float) -> None:
        """Record the session of a submission."""
        self._sessions[number] = session
        self._weights[session] = weight

    def leave(self, number: float) -> None:
        """Forget a submission that has ended."""
        session = self._sessions.pop(number, None)
        if session not in self._sessions.values():
            self._weights.pop(session, None)
            self._weights[None] = 1.0

    @property
    def contended(self) -> bool:
        """Whether several jobs run, or a job and tasks of Dask."""
        return len(self._sessions) > 1 or bool(self._sessions and self._stock)

    def session(self, priority: Sequence[Any] | None) -> Hashable:
        """Return the session of a task by its priority."""
        return self._sessions.get(submission(priority))

    def add(self, worker: Any, priority: Sequence[Any] | None) -> None:
        """Count a task on a worker."""
        number = submission(priority)
        self._counts.setdefault(worker, Counter())[number] += 1
        self._stock += number is None

    def remove(self, worker: Any, priority: Sequence[Any] | None) -> None:
        """Count a task less."""
        counts, number = self._counts.get(worker), submission(priority)
        if counts is None or not counts[number]:
            return
        self._stock -= number is None
        counts[number] -= 1
        if not counts[number]:
            del counts[number]
        if not counts:
            del self._counts[worker]

    def has_place(self, worker: Any, nthreads: int, priority: Sequence[Any] | None) -> bool:
        """Return whether others fill a worker, and this task's session has not its share of it.

        Each session may have one task on every worker, whatever its weight.
        """
        session = self.session(priority)
        there: Counter[Hashable] = Counter()
        for number, count in self._counts.get(worker, {}).items():
            there[self._sessions.get(number)] += count
        own = there.pop(session, 0)
        if not there:
            return False
        weight = self._weights.get(session, 1.0)
        others = sum(self._weights.get(other, 1.0) for other in there)
        return own < max(1, math.floor(nthreads * weight / (weight + others)))
