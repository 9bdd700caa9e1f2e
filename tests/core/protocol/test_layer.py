"""Our nodes as a layer of Dask's, without any array."""

from __future__ import annotations

import pickle

import pytest
from dask.highlevelgraph import HighLevelGraph, MaterializedLayer

from marsdask.core.compilation.static_graph import check_static, static_tasks
from marsdask.core.dask.source import DaskGraph, FromDask, KeysOf
from marsdask.core.protocol.layer import (
    MarsLayer,
    MergeLayers,
    graph_of,
    key_of,
    nested_keys,
)
from tests.core.toys import Looked, Numbers, Scaled, Total


def run(tasks, key):
    done = {}

    def value(name):
        if name not in done:
            done[name] = tasks[name]({each: value(each) for each in tasks[name].dependencies})
        return done[name]

    return value(key)


def test_tasks_end_at_the_names_of_the_nodes():
    """However their grids are called."""
    node = Total(Scaled(Numbers((2, 2)), 3))
    tasks, hints = static_tasks([node])
    assert run(tasks, (node.name, 0)) == [18]
    assert set(hints) == set(tasks)


def test_a_root_below_another_is_made_once():
    """The other root goes by the same tasks."""
    inner = Scaled(Numbers((2, 2)), 3)
    outer = Total(inner)
    tasks, _ = static_tasks([inner, outer])
    assert run(tasks, (outer.name, 0)) == [18]
    assert run(tasks, (inner.name, 1)) == [6, 9]
    assert sum(not hasattr(task, "target") for task in tasks.values()) <= 2 + 2 + 2


def test_adopted_keys_are_referred_to():
    """Their tasks stay in their own layers, below ours."""
    source = FromDask("a", [], ((2, 2),), DaskGraph({("a", 0): [1], ("a", 1): [2]}), KeysOf("a"))
    node = Scaled(source, 2)
    graph = graph_of(node)
    assert graph.dependencies == {node.name: {"a"}, "a": set()}
    assert set(graph.layers[node.name]) == {(node.name, 0), (node.name, 1)}
    assert nested_keys(source) == [("a", 0), ("a", 1)]
    assert key_of(source, (1,)) == ("a", 1)
    assert set(graph_of(source).layers) == {"a"}


def test_looking_is_refused():
    """A tiling that asks cannot be static."""
    words = r"graph of looked, .* is not supported; use execute"
    with pytest.raises(NotImplementedError, match=words):
        check_static(Looked(Numbers((2, 2))))
    check_static(Total(Numbers((2, 2))))


def test_names_survive_the_journey():
    """The keys are those that were asked for, whatever the nodes are called over there."""
    layer = MarsLayer([Numbers((1, 1))], ["asked-for"])
    copy = pickle.loads(pickle.dumps(layer))
    assert copy.get_output_keys() == {("asked-for", 0), ("asked-for", 1)} <= set(copy)
    assert copy.root("asked-for") is Numbers((1, 1))


def test_layers_with_other_annotations_stay_apart():
    """What the user wished for one is no wish for the other."""
    base = Numbers((2, 2))
    a, b, c = (
        MarsLayer([Scaled(base, factor)], annotations={"priority": priority} if priority else None)
        for factor, priority in ((2, 1), (3, None), (4, None))
    )
    graph = HighLevelGraph({"a": a, "b": b, "c": c}, {"a": set(), "b": set(), "c": set()})
    merged = MergeLayers()(graph, [])
    assert len(merged.layers) == 2
    assert set(merged) >= set(graph)
    assert MergeLayers()({}, []) == {}


def test_layers_that_feed_each_other_stay_apart():
    """Merging them would make a circle through the layer between."""
    first, last = MarsLayer([Numbers((1,))]), MarsLayer([Numbers((2,))])
    between = MaterializedLayer({"x": 1})
    graph = HighLevelGraph(
        {"first": first, "between": between, "last": last},
        {"first": set(), "between": {"first"}, "last": {"between"}},
    )
    assert MergeLayers()(graph, []) is graph
