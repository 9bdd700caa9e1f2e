"""Dask graphs taken in as chunks."""

from __future__ import annotations

import pickle
from typing import Any

import dask
import dask.array as da
import pytest
from dask.task_spec import DataNode, Task, TaskRef

from marsdask.core.dask.source import DaskGraph, FromDask, KeysOf
from marsdask.core.session import Session
from marsdask.scheduler.errors import ResultLost
from tests.core.recording import RecordingScheduler
from tests.core.toys import Scaled, Total


def increment(value):
    return [item + 1 for item in value]


def graph():
    return {
        ("a", 0): Task(("a", 0), increment, TaskRef("source")),
        ("a", 1): (increment, "source"),  # a legacy task
        "source": DataNode("source", [1, 2]),
        "unused": Task("unused", increment, 5),
    }


def adopted(source: Any = None) -> FromDask:
    return FromDask("a", [], ((2, 2),), DaskGraph(source or graph()), KeysOf("a"))


def test_only_what_is_needed_comes_in():
    """The tasks behind a key, legacy ones converted."""
    found = DaskGraph(graph()).needed([("a", 1)])
    assert set(found) == {("a", 1), "source"}
    assert found["a", 1]({"source": [1, 2]}) == [2, 3]


def test_adopted_chunks_run_with_ours():
    """One graph holds both, under the keys that Dask knows."""
    with Session(RecordingScheduler()) as session:
        (stored,) = session.execute([Total(Scaled(adopted(), 2))])
        assert session.fetch(stored) == [[20]]
        (stored,) = session.execute([adopted()])
        assert session.fetch(stored) == [[2, 3], [2, 3]]
        assert list(stored.result.layout.keys.values()) == [("a", 0), ("a", 1)]


def test_a_collections_graph_is_optimised_by_its_own_rules():
    """Once, when the first chunk is needed."""
    late = dask.delayed(increment)([1])
    source = DaskGraph(late)
    assert set(source.needed([late.key])) == {late.key}
    assert source.layers is late.__dask_graph__() or set(source.layers) >= {late.key}


class Cluster:
    """A client that holds values."""

    def gather(self, futures):
        return [[7] for _ in futures]


class FutureOf(TaskRef):
    """What a client gives for a key."""

    __slots__ = ("client",)

    def __init__(self, key, client):
        super().__init__(key)
        self.client = client

    def bind_client(self, client):
        """Give it the client of whoever unpickled it."""
        self.client = client


def test_results_on_a_cluster_need_no_task_there_and_move_elsewhere():
    """A scheduler on the same client refers to them, others get the values."""
    client = Cluster()
    source = DaskGraph({("a", 0): FutureOf(("a", 0), client), ("a", 1): FutureOf(("a", 1), client)})
    near: Any = RecordingScheduler()
    near.client, near.futures = client, list
    far = RecordingScheduler()
    assert source.within_reach(client) is source
    assert source.needed([("a", 0)]) == {}
    moved = source.within_reach(None)
    assert moved.needed([("a", 0)])["a", 0]({}) == [7]
    node = FromDask("a", [], ((1, 1),), source, KeysOf("a"))
    assert node.within_reach(near) is node
    with Session(far) as session:
        (stored,) = session.execute([Total(node)])
        assert session.fetch(stored) == [[14]]


def test_results_that_were_unpickled_are_looked_for_where_results_are_kept():
    """By the scheduler's client; without any, the error says what is missing."""
    key, client = ("a", 0), Cluster()
    scheduler: Any = RecordingScheduler()
    scheduler.client, scheduler.futures = client, list
    lost = FromDask("a", [], ((1,),), DaskGraph({key: FutureOf(key, None)}), KeysOf("a"))
    with pytest.raises(ResultLost, match="start a session there"):
        lost.within_reach(RecordingScheduler())
    assert lost.within_reach(scheduler) is lost
    for_dask = lost.near(None, client)
    assert for_dask.graph.needed([key])[key]({}) == [7]
    assert lost.near(None, client).graph is for_dask.graph


def test_adopted_nodes_pickle():
    """With their graph, not with what was expanded of it."""
    node = adopted()
    node.graph.needed([("a", 0)])
    copy = pickle.loads(pickle.dumps(node))
    assert copy.name == "a"
    assert copy.label == "a"
    assert set(copy.graph.needed([("a", 0)])) == {("a", 0), "source"}


def test_annotations_become_hints():
    """Those of layers, of calls and of Dask's fused tasks; no chain fuses over their borders."""
    with dask.annotate(resources={"GPU": 1}, priority=first_index):
        value = dask.delayed(increment)([1])
    later = dask.delayed(increment)(value)
    with dask.annotate(retries=3, priority=5):
        source = DaskGraph(later)
    source = pickle.loads(pickle.dumps(source))
    found = source.hints(source.needed([later.key]))
    assert {key: hint.annotations for key, hint in found.items()} == {
        value.key: {"resources": {"GPU": 1}, "priority": 1, "retries": 3},
        later.key: {"retries": 3, "priority": 5},
    }
    assert not DaskGraph(graph()).hints(["source"])
    ones = da.ones(4, chunks=2)[1:]
    with dask.annotate(resources={"GPU": 1}):
        x = ones.rechunk(3) + 1
    adopted = DaskGraph(x[:2])
    hints = adopted.hints(adopted.needed(dask.core.flatten(x[:2].__dask_keys__())))
    assert {(x.name, 0)} <= hints.keys() < {*adopted.needed([(x[:2].name, 0)])}


def first_index(key):
    """Return a priority for a key, as annotations may be functions."""
    return 1
