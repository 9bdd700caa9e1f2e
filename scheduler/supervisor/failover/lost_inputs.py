"""Graphs that need lost results: what is in memory needs no inputs.

After a takeover a client sends its unfinished graphs again. Some of their results are in memory,
and what these were computed from may have been released before. distributed would cancel all keys
of such a graph.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from ...base import Key


def remove_lost(graph: dict[Key, Any], keys: set[Key], tasks: Mapping[Any, Any]) -> set[Key]:
    """Remove the tasks of a graph whose inputs are lost; return the keys that are lost so.

    ``tasks`` are those that the scheduler has. Results in memory stay there, as data.
    """
    dependents: defaultdict[Key, list[Key]] = defaultdict(list)
    stack: list[Key] = []
    for key, node in graph.items():
        for dependency in node.dependencies:
            if dependency in graph:
                dependents[dependency].append(key)
            elif dependency not in tasks:
                stack.append(key)
    tasks_without_inputs: set[Key] = set()
    while stack:
        key = stack.pop()
        if key not in tasks_without_inputs:
            tasks_without_inputs.add(key)
            if not _is_available(tasks.get(key)):
                stack += dependents[key]
    for key in tasks_without_inputs:
        del graph[key]
    return {key for key in keys - graph.keys() if not _is_available(tasks.get(key))}


def _is_available(ts: Any) -> bool:
    return ts is not None and (ts.state == "memory" or ts.run_spec is not None)
