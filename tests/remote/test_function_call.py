"""Calls of functions: attempts that know nothing of each other, and results that can be kept."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from distributed import Client, LocalCluster

import marsdask
import marsdask.remote as mr


def fail_at_first(seen: list[int], given: list[int]) -> Any:
    """Fail while the arguments are as they were given."""
    given.append(1)
    seen.append(1)
    if len(TRIES) < 2:
        TRIES.append(1)
        raise OSError("try again")
    return seen, given


TRIES: list[int] = []


def test_attempts_have_their_own_arguments():
    """An attempt sees neither arguments nor inputs that the one before has modified."""
    TRIES.clear()
    with marsdask.new_session("threads", n_workers=1):
        made = mr.spawn(list)
        called = mr.spawn(fail_at_first, (made, [0]), retry_when_fail=True)
        assert called.execute().fetch() == ([1], [0, 1])
    assert len(TRIES) == 2


#: Functions whose result is an iterator.
ITERATORS = {
    "generator": lambda: (item for item in "ab"),
    "map": lambda: map(str, "ab"),
    "list_iterator": lambda: iter(["a"]),
}


@pytest.mark.parametrize("scheduler", ["threads", "processes"])
@pytest.mark.parametrize("name", ITERATORS)
def test_iterators_are_no_results(scheduler, name):
    """Two functions could not both read them; as several results they are fine."""
    with marsdask.new_session(scheduler, n_workers=1):
        with pytest.raises(TypeError, match=f"returned a {name}, .*; return a list"):
            mr.spawn(ITERATORS[name]).execute()
        if name != "list_iterator":
            several = mr.spawn(ITERATORS[name], n_output=2)
            assert several.execute().fetch() == ["a", "b"]


def interrupt() -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize(("function", "words"), [(sys.exit, "SystemExit"), (interrupt, "Keyboard")])
def test_a_function_does_not_end_its_worker(function, words):
    """What would end a worker, and then the next one, is an error of the function."""
    with (
        LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0"
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
        marsdask.new_session(client),
    ):
        with pytest.raises(RuntimeError, match=f"raised {words}"):
            mr.spawn(function).execute()
        assert mr.spawn(abs, (-3,)).execute().fetch() == 3
