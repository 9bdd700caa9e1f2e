"""The worker's state machine with admission: a task that does not fit stays ready.

Like any ready task, it can be stolen or cancelled, and tasks of higher priority can overtake it.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

from dask.task_spec import Task
from dask.utils import format_bytes
from distributed.worker_state_machine import (
    ExecuteDoneEvent,
    ExecuteSuccessEvent,
    FreeKeysEvent,
    RemoveReplicasEvent,
    StateMachineEvent,
    TaskState,
    WorkerState,
)

from ..cluster.failures import HELP
from ..errors import SpillFull
from .admission import Admission, AdmissionDecision
from .running_tasks import RunningTasks
from .shared_results import SharedResults

#: Number of tasks that have run and still know their inputs, for those who look at a worker.
_FINISHED = 1000


@dataclass
class MemoryFreedEvent(StateMachineEvent):
    """Results left memory, so the next task may fit."""

    __slots__ = ()


def needs(ts: TaskState) -> int:
    """Return the hint of the bytes that a running task needs, 0 without one."""
    return int((ts.annotations or {}).get("mars_mem") or 0)


def refuse(full: str, needs: int, stored: int, worker: str) -> NoReturn:
    """Raise SpillFull: this function replaces a task that a worker cannot make room for."""
    raise SpillFull(
        f"the task needs {format_bytes(needs)} of memory at {worker}, which holds results of "
        f"{format_bytes(stored)} that it cannot spill: {full}. {HELP}"
    )


class MarsWorkerState(WorkerState):
    """Starts tasks by memory; without ``admission`` it behaves like distributed's state."""

    admission: Admission | None = None
    make_room: Callable[[int], None] | None = None
    """Starts to spill the given bytes; a :class:`MemoryFreedEvent` follows."""
    ask_again: Callable[[], None] | None = None
    """Schedules a :class:`MemoryFreedEvent`, because other processes may free memory."""
    shared_results: SharedResults | None = None
    record: RunningTasks | None = None
    """The record of running tasks for the nanny."""
    full: str | None = None
    """Why results cannot be spilled, if the disk is full."""
    crowded: Callable[[], bool] | None = None
    """Whether the process is too full for another task of unknown size; it pauses then."""
    _arriving = 0
    """Bytes of a result before it is stored, when its task has freed its reservation."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._finished: deque[TaskState] = deque()

    def _next_ready_task(self) -> TaskState | None:
        ts = super()._next_ready_task()
        if ts is None or self.admission is None:
            return ts
        if not needs(ts):
            if self.crowded is None or not self.crowded():
                return ts
            (self.constrained if ts.resource_restrictions else self.ready).add(ts)
            return None
        for task in self.long_running:
            self.admission.end(task.key)  # they may wait for the next tasks
        inputs = [dep.key for dep in ts.dependencies]
        fast: Any = getattr(self.data, "fast", {})
        resident = input_bytes = file_bytes = 0
        if hasattr(fast, "weights"):
            resident = int(fast.total_weight) + self._arriving
            input_bytes = int(sum(fast.weights.get(key, 0) for key in inputs))
            file_bytes = sum(
                dep.get_nbytes()
                for dep in ts.dependencies
                if dep.key in self.data and dep.key not in fast
            )
        if self.shared_results is not None:
            resident += self.shared_results.pool.unused()
        wants = needs(ts) + file_bytes
        decision = self.admission.decide(wants, resident, input_bytes)
        if decision is AdmissionDecision.REFUSE:
            ts.run_spec = Task(ts.key, refuse, f"{self.full}", wants, resident, self.address)
        if decision in (AdmissionDecision.START, AdmissionDecision.REFUSE):
            return ts
        (self.constrained if ts.resource_restrictions else self.ready).add(ts)
        if decision is AdmissionDecision.SPILL and self.make_room is not None:
            for key in inputs:
                with contextlib.suppress(KeyError):  # another thread may be moving it to disk
                    fast[key]
            self.make_room(self.admission.excess(wants, resident))
        elif self.ask_again is not None:
            self.ask_again()
        return None

    def _acquire_resources(self, ts: TaskState) -> None:
        super()._acquire_resources(ts)
        if self.record is not None:
            self.record.begin(ts.key)
        if self.admission is not None:
            self.admission.start(ts.key, needs(ts))

    def _release_resources(self, ts: TaskState) -> None:
        super()._release_resources(ts)
        if self.record is not None:
            self.record.end(ts.key)
        if self.admission is not None:
            self.admission.end(ts.key)

    def _execute_done_common(self, ev: ExecuteDoneEvent) -> Any:
        # distributed chooses the next task before it stores the result of the last one.
        self._arriving = ev.nbytes if isinstance(ev, ExecuteSuccessEvent) else 0
        try:
            return super()._execute_done_common(ev)
        finally:
            self._arriving = 0

    def _transition_to_memory(
        self, ts: TaskState, value: Any, msg_type: Any, *args: Any, **options: Any
    ) -> Any:
        if self.shared_results is not None:
            self.shared_results.received(ts.key, value)
        recommendations, instructions = super()._transition_to_memory(
            ts, value, msg_type, *args, **options
        )
        if msg_type == "task-finished" and ts.state == "memory":
            self._finished.append(ts)
            if len(self._finished) > _FINISHED:
                recommendations = self._forget_inputs() | recommendations
        return recommendations, instructions

    def _forget_inputs(self) -> dict[TaskState, Any]:
        """Cut the edges of the task that ran first; return the tasks to forget.

        Otherwise released inputs would be kept, with their run specs, until the result is released.
        To compute it again, the scheduler sends the keys of its inputs again.
        """
        unneeded: dict[TaskState, Any] = {}
        ts = self._finished.popleft()
        if ts.state in ("memory", "released"):
            for dep in ts.dependencies:
                dep.dependents.discard(ts)
                if dep.state == "released" and not dep.dependents:
                    unneeded[dep] = "forgotten"
            ts.dependencies.clear()
        return unneeded

    def _purge_state(self, ts: TaskState) -> None:
        super()._purge_state(ts)
        if self.shared_results is not None:
            self.shared_results.forget(ts.key)

    def _handle_event(self, ev: StateMachineEvent) -> Any:
        if isinstance(ev, MemoryFreedEvent):
            return self._ensure_computing()
        return super()._handle_event(ev)

    def handle_stimulus(self, *stims: StateMachineEvent) -> Any:
        """Handle events; after events that free results, ready tasks are tried again."""
        instructions = super().handle_stimulus(*stims)
        waits = self.admission is not None and (self.ready or self.constrained)
        if waits and any(isinstance(ev, FreeKeysEvent | RemoveReplicasEvent) for ev in stims):
            instructions += super().handle_stimulus(MemoryFreedEvent(stims[-1].stimulus_id))
        return instructions
