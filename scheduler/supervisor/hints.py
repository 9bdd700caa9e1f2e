"""Affinity hints that follow from the structure of a graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from itertools import chain

from dask.task_spec import DataNode

from ..base import Hint, Key, TaskGraph
from .placement import READERS, affinities


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
