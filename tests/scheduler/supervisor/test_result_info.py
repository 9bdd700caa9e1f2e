"""Tests of descriptions: which tasks describe their results."""

from __future__ import annotations

from typing import Any

from dask.task_spec import Task, TaskRef

from marsdask.scheduler.supervisor.result_info import DescribingFunction, describe_results


async def add(one, other):
    return one + other


def test_functions_that_workers_await_remain_as_they_are():
    """A function around one would return its coroutine as the result."""
    graph: dict[Any, Any] = {
        "sum": Task("sum", sum, [1, 2]),
        "async": Task("async", add, TaskRef("sum"), 4),
    }
    described: dict[Any, Any] = describe_results(graph, ["sum", "async"], sample=True)
    assert isinstance(described["sum"].func, DescribingFunction)
    assert described["async"].is_coro
