"""Affinities of sources, by the structure of a graph and the position of its batches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from itertools import chain

from dask.task_spec import DataNode

from ...base import Hint, Key, TaskGraph

#: Maximum number of readers of a source with an affinity: a block and its eight neighbours.
READERS = 9


def affinities(count: int, start: float = 0.0, stop: float = 1.0) -> list[float]:
    """Return an affinity for each of ``count`` sources, in the order of the graph.

    Affinities go from 0 to 1, and each worker is the home of a range of them. Neighbouring sources
    have common readers, so they get similar affinities. Those of a batch are between ``start`` and
    ``stop``.
    """
    return [(start + (stop - start) * position / count) % 1.0 for position in range(count)]


def turn(earlier: int, tasks: int, later: int, ahead: int) -> tuple[float, float]:
    """Return the affinities at which a batch starts and stops.

    There are ``earlier`` tasks in earlier batches, and at most ``later`` ones in later batches.
    ``ahead`` tasks are submitted at a time. The batches of each half of these together have sources
    for all workers: a worker gets many neighbours from one batch, and other workers those of the
    next batches.
    """
    total = max(1, earlier + tasks + later)
    size = total / max(1, total // (ahead // 2))
    start = earlier % size / size
    return start, start + tasks / size


def with_affinity(
    graph: TaskGraph,
    hints: Mapping[Key, Hint],
    batch: tuple[float, float] = (0.0, 1.0),
    readers: Mapping[Key, int] | None = None,
) -> dict[Key, Hint]:
    """Return the hints with an affinity for each source that has few readers.

    Inputs with many readers get no affinity. Their readers would all wait for the few workers that
    hold them. ``batch`` are the affinities at which a batch of a graph starts and stops, and
    ``readers`` the numbers of readers in all batches, where they differ from those in this one.
    """
    counts = Counter(chain.from_iterable(node.dependencies for node in graph.values()))
    counts |= Counter(readers or {})
    sources = [
        key
        for key, node in graph.items()
        if not node.dependencies and not isinstance(node, DataNode) and counts[key] <= READERS
    ]
    updated_hints = dict(hints)
    for key, affinity in zip(sources, affinities(len(sources), *batch), strict=True):
        hint = updated_hints.get(key, Hint())
        if hint.affinity is None:
            updated_hints[key] = replace(hint, affinity=affinity)
    return updated_hints
