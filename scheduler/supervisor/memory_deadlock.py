"""Tasks for which no worker will ever have the memory, since no disk takes what is stored there.

A worker whose memory is full pauses until its results have moved to disk. Where none can, that is
for ever, and once all workers have paused so, nothing in the cluster goes on.
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

#: Seconds between two looks, and how many in turn have to find the same.
_PAUSE, _LOOKS = 1.0, 3


class MemoryDeadlock:
    """Looks whether anything can go on, and fails the graph that came last until something can.

    The results of earlier ones stay, and may move when that one's are let go of.
    """

    def __init__(self, scheduler: Any) -> None:
        self._scheduler = scheduler
        self._looks = 0
        scheduler.periodic_callbacks["mars-memory-deadlock"] = PeriodicCallback(
            self.look, _PAUSE * 1000
        )

    def look(self) -> None:
        """Fail what cannot go on, once that is certain."""
        refusals = self._refusals()
        self._looks = self._looks + 1 if refusals else 0
        if self._looks >= _LOOKS:
            self._looks = 0
            self._fail_last("; ".join(refusals))

    def _refusals(self) -> list[str]:
        """Return what each worker says of its disks if all have paused for that, else nothing."""
        scheduler = self._scheduler
        if scheduler.running:
            return []
        paused = [ws for ws in scheduler.workers.values() if ws.status is Status.paused]
        told = [ws.metrics.get(FULL) for ws in paused]
        if not all(told) or any(ws.executing for ws in paused):
            return []
        return [f"{ws.address}: {why}" for ws, why in zip(paused, told, strict=True)]

    def _fail_last(self, why: str) -> None:
        scheduler = self._scheduler
        waiting: list[TaskState] = [*scheduler.queued, *scheduler.unrunnable]
        for ws in scheduler.workers.values():
            waiting += ws.processing - ws.long_running
        if not waiting:
            return
        last = max(_came(ts) for ts in waiting)
        stimulus = f"memory-deadlock-{time.time()}"
        recommendations: dict[Any, Any] = {}
        for ts in waiting:
            if _came(ts) == last:
                error = SpillFull(
                    f"the task {ts.key!r} waits for memory, of which no worker has any left, and "
                    f"results cannot leave it: {why}. {HELP}"
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


def _came(ts: TaskState) -> Any:
    """Return what graphs that came later have more of."""
    return ts.priority[:2] if ts.priority else ()
