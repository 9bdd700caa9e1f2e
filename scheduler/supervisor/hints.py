"""What a graph itself says of where its tasks belong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from itertools import chain

from dask.task_spec import DataNode

from ..base import Hint, Key, TaskGraph
from .placement import READERS, affinities


def with_affinity(graph: TaskGraph, hints: Mapping[Key, Hint], workers: int) -> dict[Key, Hint]:
    """Return the hints with an affinity of each task that has no inputs, and few readers.

    What many tasks read is no better beside its neighbours: the readers of one are those of the
    others, and all of them would wait for the few workers that hold them.
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
    for key, colour in zip(sources, affinities(len(sources), workers), strict=True):
        hint = chosen.get(key, Hint())
        if hint.affinity is None:
            chosen[key] = replace(hint, affinity=colour)
    return chosen
