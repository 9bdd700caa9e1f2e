"""Descriptions of requested results, reported by the tasks that compute them.

The description is part of the metadata of the running task, which every worker sends when the task
ends. It therefore needs no further task or message.
"""

from __future__ import annotations

import contextlib
import pickle
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any

from dask.task_spec import Alias, DataNode, GraphNode, Task, TaskRef

from ..base import SAMPLE_LIMIT, ChunkInfo, Key, describe

#: The key in the metadata of distributed's task states.
INFO = "mars_info"
#: Maximum bytes of a description, which the scheduler keeps as long as the task.
_LIMIT = 2 * SAMPLE_LIMIT


class DescribingFunction:
    """A task's function that also describes its result."""

    def __init__(self, func: Callable[..., Any], *, sample: bool) -> None:
        self._func = func
        self._sample = sample

    def __repr__(self) -> str:
        return repr(self._func)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        value = self._func(*args, **kwargs)
        info = describe(value)
        if not self._sample:
            info = replace(info, sample=None)
        _report(info)
        return value


def _report(info: ChunkInfo) -> None:
    from distributed import get_worker  # half a second; workers have it

    # The supervisor requests missing descriptions later.
    with contextlib.suppress(ValueError, KeyError, TypeError, pickle.PicklingError):
        worker = get_worker()
        task = worker.state.tasks[worker.get_current_task()]
        data = pickle.dumps(info)
        if len(data) > _LIMIT:  # a type contains each of its categories
            data = pickle.dumps(replace(info, columns=None, labels=None))
        task.metadata[INFO] = data


def _identity(value: Any) -> Any:
    return value


def describe_results(
    graph: Mapping[Key, GraphNode], keys: Collection[Key], *, sample: bool
) -> dict[Key, GraphNode]:
    """Return the graph with tasks for ``keys`` that describe their results.

    Workers await functions that are async by their type, so these remain as they are.
    """
    tasks = dict(graph)
    for key in keys:
        node = graph.get(key)
        if isinstance(node, Alias):
            tasks[key] = Task(
                key, DescribingFunction(_identity, sample=sample), TaskRef(node.target)
            )
        elif isinstance(node, DataNode):
            tasks[key] = Task(key, DescribingFunction(_identity, sample=sample), node.value)
        elif isinstance(node, Task) and not node.is_coro:
            tasks[key] = Task(
                key, DescribingFunction(node.func, sample=sample), *node.args, **node.kwargs
            )
    return tasks


def reported_info(metadata: Mapping[str, Any] | None) -> bytes | None:
    """Return the pickled description that a task reported, ``None`` without one."""
    return (metadata or {}).get(INFO)
