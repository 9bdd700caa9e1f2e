"""What a graph itself says of where its tasks belong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dask.task_spec import DataNode

from ..base import Hint, Key, TaskGraph
from .placement import colours


def coloured(graph: TaskGraph, hints: Mapping[Key, Hint], workers: int) -> dict[Key, Hint]:
    """Return the hints with an affinity of each task that has no inputs."""
    if not workers:
        return dict(hints)
    sources = [
        key
        for key, node in graph.items()
        if not node.dependencies and not isinstance(node, DataNode)
    ]
    chosen = dict(hints)
    for key, colour in zip(sources, colours(len(sources), workers), strict=True):
        hint = chosen.get(key, Hint())
        if hint.affinity is None:
            chosen[key] = replace(hint, affinity=colour)
    return chosen
