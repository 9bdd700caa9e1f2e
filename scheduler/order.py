"""The order of the tasks of a graph: one output after the other."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from operator import itemgetter
from typing import Any

from dask.task_spec import GraphNode

from .base import Hint, Key, TaskGraph


def by_priority(order: list[Key], hints: Mapping[Any, Hint]) -> list[Key]:
    """Return ``order`` sorted by the priorities of the hints, if there are any."""
    priorities = {key: hint.priority for key in order if (hint := hints.get(key)) is not None}
    if not any(priority is not None for priority in priorities.values()):
        return order
    # A task without priority stays next to its predecessor in the order of the graph.
    ranked, last = [], 0
    for key in order:
        priority = priorities.get(key)
        last = last if priority is None else priority
        ranked.append(last)
    return [key for _, key in sorted(zip(ranked, order, strict=True), key=itemgetter(0))]


def plan(graph: TaskGraph, keys: Iterable[Key], known: Container[Key]) -> list[Key]:
    """Return the keys to run for ``keys``: inputs first, one output after the other.

    Finishing one output before starting the next keeps the fewest results in memory. Among the
    inputs of one task the order of the graph decides. Keys in ``known``, and keys that only they
    need, are not computed.
    """
    order: list[Key] = []
    placed: dict[Key, bool] = {}  # False while its inputs are being placed
    positions: dict[Key, int] = {}
    for root in keys:
        stack = [root]
        while stack:
            key = stack[-1]
            if placed.get(key) or key in known:
                stack.pop()
                continue
            if key not in placed:
                needs = _node(graph, key).dependencies
                todo = [d for d in needs if not (placed.get(d) or d in known)] if needs else ()
                if todo:
                    placed[key] = False
                    for dependency in todo:
                        if dependency in placed:
                            raise ValueError(f"the graph has a cycle through {dependency!r}")
                    if len(todo) > 1:
                        positions = positions or {k: i for i, k in enumerate(graph)}
                        ranked = [(-positions.get(d, 0), d) for d in todo]
                        ranked.sort(key=itemgetter(0))
                        todo = [d for _, d in ranked]
                    stack += todo
                    continue
            stack.pop()
            placed[key] = True
            order.append(key)
    return order


def _node(graph: TaskGraph, key: Key) -> GraphNode:
    try:
        return graph[key]
    except KeyError:
        raise KeyError(f"{key!r} is neither in the graph nor held by the scheduler") from None
