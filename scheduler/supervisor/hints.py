"""Hints of tasks: bytes as the scheduler reads them."""

from __future__ import annotations

from typing import Any

from distributed.scheduler import TaskState, WorkerState

from .placement import TaskView


def needs(ts: TaskState) -> int:
    """Return the hint of the bytes that a running task needs, 0 without one."""
    annotations: Any = ts.annotations
    return int((annotations and annotations.get("mars_mem")) or 0)


def task_view(ts: TaskState) -> TaskView[WorkerState]:
    """Return the policy's view of a task."""
    return TaskView(
        needs(ts), tuple([(dts.get_nbytes(), dts.who_has or ()) for dts in ts.dependencies])
    )


def hinted_bytes(ts: TaskState) -> int:
    """Return the hint of the bytes of a task's result, 0 without one."""
    annotations: Any = ts.annotations
    return int((annotations and annotations.get("mars_out")) or 0)


def mean_bytes(ts: TaskState) -> float:
    """Return the mean of the results of a task's group, 0 if there is none yet."""
    group: Any = ts.group
    count = group.states["memory"] + group.states["forgotten"]
    return group.nbytes_total / count if count else 0.0
