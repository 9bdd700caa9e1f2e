"""From what Dask hands over to tasks."""

import dask
import dask.array as da
import dask.dataframe as dd
import pandas as pd
import pytest
from dask.highlevelgraph import HighLevelGraph
from dask.task_spec import Alias, DataNode, GraphNode, Task, TaskRef

from marsdask.scheduler.base import Key
from marsdask.scheduler.dask_graph import cull, flatten, nest, to_tasks


def add(left, right):
    return left + right


def test_legacy_graph():
    """Tuples become tasks, names of keys aliases, the rest data."""
    graph = to_tasks({"a": 1, "b": (add, "a", 2), "c": "a", "d": ["a", "b"]})
    assert isinstance(graph["a"], DataNode)
    assert isinstance(graph["c"], Alias)
    assert graph["b"]({"a": 1}) == 3
    assert graph["d"]({"a": 1, "b": 3}) == [1, 3]
    assert graph["d"].dependencies == {"a", "b"}


def test_self_alias_is_dropped():
    """A key that names itself stands for a held result and is no task."""
    assert to_tasks({"a": Alias("a"), "b": Alias("b", "a")}).keys() == {"b"}


@pytest.mark.parametrize(
    "collection",
    [
        da.ones((4, 4), chunks=2).sum(),
        dd.from_pandas(pd.DataFrame({"a": range(8)}), npartitions=2).a.sum(),
        dask.delayed(add)(1, 2),
    ],
    ids=["array", "dataframe", "delayed"],
)
def test_collections(collection):
    """High-level graphs, expressions and collections give graphs of nodes."""
    expression = collection.optimize().expr if hasattr(collection, "expr") else {}
    for graph in (collection, collection.__dask_graph__(), expression):
        assert all(isinstance(node, GraphNode) for node in to_tasks(graph).values())
    assert set(flatten(collection.__dask_keys__())) <= to_tasks(collection).keys()


def test_high_level_graph():
    """A high-level graph is flattened."""
    graph = HighLevelGraph.from_collections("x", {"x": (add, 1, 2)})
    assert to_tasks(graph)["x"]({}) == 3


def test_refuses_others():
    """What is no graph is a TypeError that says so."""
    with pytest.raises(TypeError, match="expected a Dask graph, not int"):
        to_tasks(3)


def test_nested_keys():
    """Lists nest, tuples are keys, and results take the shape of the keys."""
    keys = [[("x", 0), ("x", 1)], "y", []]
    assert list(flatten(keys)) == [("x", 0), ("x", 1), "y"]
    assert list(flatten(("x", 0))) == [("x", 0)]
    values: dict[Key, int] = {("x", 0): 1, ("x", 1): 2, "y": 3}
    assert nest(keys, values) == ((1, 2), 3, ())
    assert nest("y", values) == 3


def test_cull():
    """Only what has to run stays, down to what is held."""
    graph: dict[Key, GraphNode] = {
        "a": Task("a", add, 1, 2),
        "b": Task("b", add, TaskRef("a"), TaskRef("held")),
        "c": Task("c", add, TaskRef("b"), 1),
        "unused": Task("unused", add, 1, 2),
        "held": Task("held", add, TaskRef("unused"), 1),
    }
    needed, inputs = cull(graph, ["c", "b"], {"held"})
    assert needed.keys() == {"a", "b", "c"}
    assert inputs == {"held"}
    with pytest.raises(KeyError, match="nowhere"):
        cull(graph, ["nowhere"], ())
