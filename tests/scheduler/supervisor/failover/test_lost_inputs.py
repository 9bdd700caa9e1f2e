"""What is left of a graph whose inputs are lost."""

from types import SimpleNamespace
from typing import Any

import pytest
from dask.task_spec import Task, TaskRef

from marsdask.scheduler.supervisor.failover.lost_inputs import remove_lost

#: Task z needs y, which needs x; the others need one input each.
GRAPH = {"y": "x", "z": "y", "b": "a", "d": "c"}


def known(state, run_spec=None):
    return SimpleNamespace(state=state, run_spec=run_spec)


@pytest.mark.parametrize(
    ("tasks", "keys", "left", "lost"),
    [
        ({"x": "memory", "a": "memory", "c": "memory"}, "zbd", "yzbd", ""),
        ({"a": "memory"}, "zbd", "b", "zd"),
        ({"y": "memory", "a": "memory", "c": "memory"}, "zbd", "zbd", ""),
        ({"z": "memory", "b": "memory", "c": "memory"}, "zbd", "d", ""),
        ({"z": "memory"}, "zb", "", "b"),
        ({"y": "processing", "a": "processing", "c": "processing"}, "zbd", "zbd", ""),
        ({"y": "released", "a": "memory", "c": "memory"}, "zbd", "bd", "z"),
        ({}, "zq", "", "zq"),
    ],
)
def test_what_is_left(tasks, keys, left, lost):
    """What can be computed stays, and so do results in memory, as data."""
    specs = {"processing": object()}
    there = {key: known(state, specs.get(state)) for key, state in tasks.items()}
    graph: dict[Any, Any] = {key: Task(key, abs, TaskRef(needs)) for key, needs in GRAPH.items()}
    assert remove_lost(graph, set(keys), there) == set(lost)
    assert set(graph) == set(left)
