"""A Dask get as a scheduler; test_contract.py has the tests of all schedulers."""

import dask
from dask.task_spec import Task, TaskRef

from marsdask.scheduler.callable import CallableScheduler
from marsdask.scheduler.testing.tools import inc


def test_name():
    """It is named after the function."""
    assert CallableScheduler(dask.get).name == "dask.local.get_sync"


def test_get_sees_nodes_and_held_values():
    """The function gets the graph of what has to run, held results as data in it, and keys."""
    calls = []

    def get(graph, keys):
        calls.append((dict(graph), list(keys)))
        return dask.get(graph, keys)

    scheduler = CallableScheduler(get)
    a, b = Task("a", inc, 1), Task("b", inc, TaskRef("a"))
    scheduler.submit({"a": a}, ["a"]).wait()
    scheduler.submit({"a": a, "b": b}, ["b", "b", "a"]).wait()
    (first, keys), (second, more) = calls
    assert (first, keys) == ({"a": a}, ["a"])
    assert more == ["b"]
    assert second["a"].value == 2
    assert scheduler.gather(["a", "b"]) == [2, 3]
    scheduler.close()
