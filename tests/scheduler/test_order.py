"""The order of a graph's tasks."""

import pytest
from dask.task_spec import Task, TaskRef

from marsdask.scheduler.base import Hint
from marsdask.scheduler.order import by_priority, plan


def task(key, *inputs):
    return Task(key, max, *map(TaskRef, inputs))


def graph(**inputs):
    """``graph(a="", b="a")`` is b after a."""
    return {key: task(key, *needs) for key, needs in inputs.items()}


def test_plan_finishes_one_output_before_the_next():
    """Each root follows its own inputs, not those of all roots."""
    tasks = graph(a="", b="", c="", d="", x="ab", y="cd")
    assert plan(tasks, ["x", "y"], ()) == list("abxcdy")


def test_plan_leaves_out_what_is_not_needed():
    """Neither unwanted keys nor the inputs of known ones are planned."""
    tasks = graph(a="", b="a", c="b", d="")
    assert plan(tasks, ["c"], {"b"}) == ["c"]


def test_plan_refuses_a_cycle():
    """A cycle is an error at the call, not a wait without end."""
    with pytest.raises(ValueError, match="cycle"):
        plan(graph(a="b", b="a"), ["a"], ())


def test_plan_names_a_missing_key():
    """A reference to what is neither given nor held names the key."""
    with pytest.raises(KeyError, match="nowhere"):
        plan({"a": task("a", "nowhere")}, ["a"], ())


def test_plan_follows_the_graph_among_inputs():
    """Which input comes first is the graph's order, whatever the hashes of the keys."""
    names = [f"input {i}" for i in range(50)]
    tasks = {name: task(name) for name in names} | {"x": task("x", *names)}
    assert plan(tasks, ["x"], ()) == [*names, "x"]


def test_plan_of_a_long_chain():
    """Depth costs no recursion."""
    tasks = {i: task(i, *([i - 1] if i else [])) for i in range(10_000)}
    assert plan(tasks, [9_999], ()) == list(range(10_000))


def test_by_priority_keeps_what_has_none_in_its_place():
    """A task without priority stays behind the one it followed."""
    hints = {"a": Hint(priority=2), "c": Hint(priority=1), "d": Hint(nbytes=1)}
    assert by_priority(list("abcd"), hints) == list("cdab")
    assert by_priority(list("abcd"), {"a": Hint()}) == list("abcd")
