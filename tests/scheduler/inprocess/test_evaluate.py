"""Nodes evaluate as dask itself evaluates them."""

from collections.abc import Hashable
from typing import Any

import pytest
from dask._task_spec import Dict, Set, Tuple
from dask.task_spec import Alias, DataNode, List, Task, TaskRef

from marsdask.scheduler.inprocess.evaluate import evaluate

VALUES: dict[Hashable, Any] = {"x": 1, "y": [2], "z": None}


def collect(*args, **kwargs):
    return args, kwargs


class Doubling(Task):
    """A task with a call of its own, which sees only what it depends on."""

    def __call__(self, values=()):
        return set(values), 2 * super().__call__(values)


NODES = [
    Task("t", collect),
    Task("t", collect, TaskRef("x"), 5, TaskRef("x"), "x"),
    Task("t", collect, TaskRef("z"), named=TaskRef("y"), plain=3),
    Task("t", collect, List(TaskRef("x"), List(TaskRef("y"), 7)), Task("u", collect, TaskRef("x"))),
    Task("t", collect, Dict({"a": TaskRef("x"), "b": List()}), Tuple(TaskRef("x"), 2)),
    Task("t", collect, named=Set(TaskRef("x"), 1)),
    Task("t", collect, DataNode("d", 3), named=DataNode("d", [3])),
    Task("t", collect, Alias("x"), nested=Alias("a", "y")),
    Task.fuse(Task("s", collect, TaskRef("x")), Task("t", collect, TaskRef("s"))),
    Doubling("t", collect, TaskRef("x")),
    DataNode("d", [1, 2]),
    Alias("a", "y"),
    List(TaskRef("x"), TaskRef("y")),
]


@pytest.mark.parametrize("position", range(len(NODES)))
def test_equals_dask(position):
    """The result is that of calling the node."""
    node = NODES[position]
    assert evaluate(node, VALUES) == node({key: VALUES[key] for key in node.dependencies})


def test_results_are_the_same_objects():
    """Nothing is copied on the way."""
    assert evaluate(Alias("a", "y"), VALUES) is VALUES["y"]
    (args, _) = evaluate(Task("t", collect, TaskRef("y")), VALUES)
    assert args[0] is VALUES["y"]
