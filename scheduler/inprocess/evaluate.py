"""Evaluate one node of a Dask task graph: a faster ``node(values)``.

Dask's own call checks the dependencies and copies the values at each nesting level, which often
takes longer than the task.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from dask.task_spec import Alias, DataNode, GraphNode, Task, TaskRef

_PLAIN_CALL = Task.__call__


def evaluate(node: Any, values: Mapping[Hashable, Any]) -> Any:
    """Return the result of a GraphNode, given the results of the keys that it depends on."""
    kind: Any = type(node)
    if kind is Task or kind.__call__ is _PLAIN_CALL:
        args = [
            values[arg.key]
            if isinstance(arg, TaskRef)
            else (evaluate(arg, values) if isinstance(arg, GraphNode) else arg)
            for arg in node.args
        ]
        if not node.kwargs:
            return node.func(*args)
        return node.func(
            *args, **{name: _argument(arg, values) for name, arg in node.kwargs.items()}
        )
    if kind is DataNode:
        return node.value
    if kind is Alias:
        return values[node.target]
    # A subclass with its own call, possibly from another project.
    return node({key: values[key] for key in node.dependencies})


def _argument(arg: Any, values: Mapping[Hashable, Any]) -> Any:
    if isinstance(arg, TaskRef):
        return values[arg.key]
    return evaluate(arg, values) if isinstance(arg, GraphNode) else arg
