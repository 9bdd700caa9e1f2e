"""Hints of tasks: affinity by the structure of a graph, and bytes as the scheduler reads them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from itertools import chain
from typing import Any

from dask.task_spec import DataNode
from distributed.scheduler import TaskState, WorkerState

from ..base import Hint, Key, TaskGraph
from .placement import READERS, TaskView, affinities


def with_affinity(graph: TaskGraph, hints: Mapping[Key, Hint], workers: int) -> dict[Key, Hint]:
    """Return the hints with an affinity for each source that has few readers.

    Inputs with many readers get no affinity. Their readers would all wait for the few workers that
    hold them.
    """
    if not workers:
        return dict(hints)
    readers = Counter(chain.from_iterable(node.dependencies for node in graph.values()))
    sources = [
        key
        for key, node in graph.items()
        if not node.dependencies and not isinstance(node, DataNode) and readers[key] <= READERS
    ]
    chosen = dict(hints)
    for key, affinity in zip(sources, affinities(len(sources), workers), strict=True):
        hint = chosen.get(key, Hint())
        if hint.affinity is None:
            chosen[key] = replace(hint, affinity=affinity)
    return chosen


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
    made = group.states["memory"] + group.states["forgotten"]
    return group.nbytes_total / made if made else 0.0
