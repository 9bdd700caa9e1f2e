"""Stages in batches: the same tasks, each after what it needs, and nothing kept for longer."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

import marsdask.tensor as mt
from marsdask.core.compilation.tiling import Compilation
from marsdask.core.machine.plan import Plan
from marsdask.scheduler.base import Done, describe
from marsdask.scheduler.inprocess.evaluate import evaluate


def ones(chunk):
    """Return a matrix of twelve chunks."""
    return mt.ones((12, 16), chunk_size=chunk) * 3


EXPRESSIONS = {
    "map": lambda: ones(4) + 1,
    "tree": lambda: (ones(2) + 1).sum() + 1,
    "used twice": lambda: ones(4)[:, :12] + ones(4)[:, :12].T,
    "anomaly": lambda: ((ones(2) - ones(2).mean(0)) ** 2).mean() + 1,
    "exchange": lambda: (ones((2, 16)).rechunk((12, 1)) + 1).cumsum(axis=0),
    "part": lambda: ones(2)[3:7, 2:5].sum(axis=0),
    "several": lambda: mt.sort(mt.arange(40, chunk_size=2)[::-1]),
    "product": lambda: ones(3) @ ones(3).T,
}


def drive(root, batch):
    """Run a compilation, batch by batch; return its values, and the tasks of each step."""
    compilation = Compilation([root.node], plan=Plan(coalesce=False, batch=batch, workers=2))
    held: dict[Any, Any] = {}
    infos: dict[Any, Any] = {}
    steps = []
    wanted: list[Any] = []
    kept: set[Any] = set()
    readers: dict[Any, int] = {}
    uses: Counter[Any] = Counter()
    earlier = 0
    while not isinstance(step := compilation.advance(infos), Done):
        values = dict(held)
        for key in ordered(step.graph):
            assert step.graph[key].dependencies <= values.keys(), "made before what it needs"
            values[key] = evaluate(step.graph[key], values)
        steps.append(step.graph)
        assert step.earlier == earlier
        earlier = earlier + len(step.graph) if step.later else 0
        readers |= step.readers
        uses.update(key for task in step.graph.values() for key in task.dependencies)
        if not step.later:
            inner = {key: count for key, count in uses.items() if count > 1 and key not in held}
            assert batch is None or all(readers[key] >= count for key, count in inner.items())
            uses.clear()
        dropped = set(step.dropped)
        assert dropped <= kept | set(wanted)
        kept = kept - dropped | set(step.kept)
        wanted = [*(key for key in wanted if key not in dropped), *step.keys]
        held = {key: values[key] for key in {*wanted, *kept}}
        infos = {}
        if not step.later:
            assert not kept, "nothing is kept beyond the last batch"
            infos = {key: describe(held[key]) for key in wanted}
    return [held[key] for key in step.keys], steps


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("name", EXPRESSIONS)
def test_lost_results_are_made_again(name, shared):
    """They are the same tasks, down to the inputs, and down to what is held."""
    compilation = Compilation(
        [EXPRESSIONS[name]().node],
        plan=Plan(coalesce=False, batch=3, workers=2, shared_memory=shared),
    )
    held: dict[Any, Any] = {}
    infos: dict[Any, Any] = {}
    needs: dict[Any, Any] = {}
    while not isinstance(step := compilation.advance(infos), Done):
        for key in ordered(step.graph):
            held[key] = evaluate(step.graph[key], held)
            needs[key] = step.graph[key].dependencies
        infos = {key: describe(held[key]) for key in held}
    everything = list(held)
    for lost in (everything, everything[::2], everything[-1:], everything[:1]):
        for others in (set(), held.keys() - lost):
            kept = {key: held[key] for key in others}
            graph = compilation.recompute(lost, kept.keys()).graph
            values = dict(kept)
            for key in ordered(graph):
                values[key] = evaluate(graph[key], values)
            made = {key: node.dependencies for key, node in graph.items()}
            assert made.items() <= needs.items(), "other tasks than the first time"
            for key in lost:
                np.testing.assert_equal(values[key], held[key])


def ordered(graph):
    """Return the keys of a graph, each after what it needs of it."""
    order: dict[Any, None] = {}
    stack = list(reversed(graph))
    while stack:
        key = stack.pop()
        needs = [k for k in graph[key].dependencies if k in graph and k not in order]
        if needs:
            stack += [key, *needs]
        else:
            order[key] = None
    return list(order)


@pytest.mark.parametrize("batch", [1, 3, 7])
@pytest.mark.parametrize("name", EXPRESSIONS)
def test_batches_do_what_one_graph_does(name, batch):
    """Every task is made once, in batches that are no larger than asked, and values are equal."""
    expected, whole = drive(EXPRESSIONS[name](), None)
    found, parts = drive(EXPRESSIONS[name](), batch)
    assert len(parts) > len(whole)
    assert max(map(len, parts)) <= batch
    tasks = [key for part in parts for key in part]
    assert len(tasks) == len(set(tasks))
    assert set(tasks) == {key for graph in whole for key in graph}
    assert all((a == b).all() for a, b in zip(expected, found, strict=True))


def test_little_is_kept_of_a_tree():
    """Of a map under a tree, batches leave a path of the tree behind, however many there are."""
    x = (mt.ones(20_000, chunk_size=1) + 1).sum()
    compilation = Compilation([x.node], plan=Plan(coalesce=False, batch=500))
    kept: set[Any] = set()
    most = 0
    step: Any = compilation.advance({})
    while step.later:
        kept = kept - set(step.dropped) | set(step.kept)
        most = max(most, len(kept))
        step = compilation.advance({})
    assert 0 < most < 200
