"""Fails waiting tasks when all workers are paused and cannot spill.

A worker with full memory pauses until its results have moved to disk. A worker that cannot spill
stays paused. When all are paused, no task of the cluster can run.
"""

from __future__ import annotations

import pickle
import time
from typing import Any

from distributed.core import Status
from distributed.scheduler import TaskState
from tornado.ioloop import PeriodicCallback

from ..cluster.failures import FULL, HELP
from ..errors import SpillFull
from .fair_share import submission

#: Seconds between two checks, and the number of consecutive checks that must agree.
_PAUSE, _CHECKS = 1.0, 3


class MemoryDeadlock:
    """Detects the deadlock and fails the last submitted graph, until other tasks can run.

    The results of earlier graphs stay. They can move when the failed graph's results are released.
    """

    def __init__(self, scheduler: Any) -> None:
        self._scheduler = scheduler
        self._found = 0
        scheduler.periodic_callbacks["mars-memory-deadlock"] = PeriodicCallback(
            self.check, _PAUSE * 1000
        )

    def check(self) -> None:
        """Fail the last graph if several consecutive checks find a deadlock."""
        refusals = self._refusals()
        self._found = self._found + 1 if refusals else 0
        if self._found >= _CHECKS:
            self._found = 0
            self._fail_last("; ".join(refusals))

    def _refusals(self) -> list[str]:
        """Return why each worker cannot spill if all are paused for that reason, else nothing."""
        scheduler = self._scheduler
        if scheduler.running:
            return []
        paused = [ws for ws in scheduler.workers.values() if ws.status is Status.paused]
        reasons = [ws.metrics.get(FULL) for ws in paused]
        if not all(reasons) or any(ws.executing for ws in paused):
            return []
        return [f"{ws.address}: {why}" for ws, why in zip(paused, reasons, strict=True)]

    def _fail_last(self, why: str) -> None:
        scheduler = self._scheduler
        tasks: list[TaskState] = [*scheduler.queued, *scheduler.unrunnable]
        for ws in scheduler.workers.values():
            tasks += ws.processing - ws.long_running
        if not tasks:
            return
        last = max(_generation(ts) for ts in tasks)
        stimulus = f"memory-deadlock-{time.time()}"
        recommendations: dict[Any, Any] = {}
        for ts in tasks:
            if _generation(ts) == last:
                error = SpillFull(
                    f"the task {ts.key!r} waits for memory, but all workers are full and cannot "
                    f"spill: {why}. {HELP}"
                )
                on = ts.processing_on and ts.processing_on.address
                recommendations |= scheduler.transition(
                    ts.key,
                    "erred",
                    exception=pickle.dumps(error),
                    exception_text=repr(error),
                    cause=ts.key,
                    stimulus_id=stimulus,
                    **({"worker": on} if on else {}),
                )
        scheduler.transitions(recommendations, stimulus_id=stimulus)


def _generation(ts: TaskState) -> Any:
    """Return the part of the priority that increases with each submitted graph."""
    if ts.priority is None:
        return ()
    number = submission(ts.priority)
    return ts.priority[:2] if number is None else (ts.priority[0], number)
