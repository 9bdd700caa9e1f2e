"""Functions on schedulers: every scheduler runs the same programs, on one thread, too."""

from __future__ import annotations

import gc
import traceback
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import dask.threaded
import pytest
from distributed import Client, LocalCluster

import marsdask
import marsdask.remote as mr
import marsdask.tensor as mt
from tests.remote.programs import PROGRAMS, inc, seen


@pytest.fixture(scope="module")
def client():
    with (
        LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0"
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


#: What runs the programs, each with one thread.
SCHEDULERS: dict[str, dict[str, Any]] = {
    "synchronous": {},
    "threads": {"n_workers": 1},
    "processes": {"n_workers": 1},
    "dask": {},
    "callable": {},
}


@pytest.fixture(scope="module")
def session(request, client):
    address = {"dask": client, "callable": dask.threaded.get}.get(request.param, request.param)
    with marsdask.new_session(address, **SCHEDULERS[request.param]) as session:
        yield session


@pytest.fixture(autouse=True)
def nothing_left_running():
    """Check nothing: the sessions of the module share their processes."""


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("session", SCHEDULERS, indirect=True)
def test_programs(session, program):
    """Each scheduler gives the same values, and waits within functions never block it."""
    run, expected = PROGRAMS[program]
    assert run() == expected


def fail() -> None:
    raise ZeroDivisionError("boom")


@pytest.mark.parametrize("session", SCHEDULERS, indirect=True)
def test_errors_and_logs(session):
    """An error is the function's own, and says where in it; what was printed can be fetched."""
    with pytest.raises(ZeroDivisionError, match="boom") as caught:
        mr.spawn(fail).execute()
    told = "".join(traceback.format_exception(caught.value))
    assert 'raise ZeroDivisionError("boom")' in told
    called = mr.spawn(print, ("to", "work")).execute()
    assert str(called.fetch_log()) == "to work\n"


TRIES: list[int] = []


def fail_twice() -> int:
    TRIES.append(1)
    if len(TRIES) < 3:
        raise OSError("try again")
    return len(TRIES)


@pytest.mark.parametrize("again", [True, False])
def test_retries(again):
    """With retry_when_fail a function runs up to three times, else once."""
    TRIES.clear()
    with marsdask.new_session("synchronous"):
        call = mr.spawn(fail_twice, retry_when_fail=again)
        if again:
            assert call.execute().fetch() == 3
        else:
            with pytest.raises(OSError, match="try again"):
                call.execute()
            assert len(TRIES) == 1


async def later() -> None:
    """Do nothing, asynchronously."""


#: Wrong arguments, those which Mars knows refused as it does.
WRONG = [
    ({"func": inc, "kwargs": [1]}, TypeError, "kwargs has to be a dict"),
    ({"func": inc, "n_outputs": 3}, ValueError, "Unexpected kw: n_outputs"),
    ({"func": 3}, TypeError, "func has to be callable"),
    ({"func": later}, TypeError, "a function that calls asyncio.run"),
    ({"func": inc, "n_output": 2.0}, TypeError, "n_output has to be an int, not float"),
    ({"func": inc, "n_output": True}, TypeError, "n_output has to be an int, not bool"),
    ({"func": inc, "n_output": 0}, ValueError, "n_output has to be positive, not 0"),
]


@pytest.mark.parametrize(("how", "kind", "words"), WRONG)
def test_wrong_arguments(how, kind, words):
    """Wrong arguments raise at the call."""
    with pytest.raises(kind, match=words):
        mr.spawn(**how)


@pytest.mark.parametrize(
    ("value", "kind", "words"),
    [(3, TypeError, "result is not iterable, got 3"), ([1], ValueError, "should be 2, got 1")],
)
def test_wrong_number_of_results(value, kind, words):
    """Functions of n_output results have to return so many."""
    with marsdask.new_session("synchronous"), pytest.raises(kind, match=words):
        mr.spawn(seen, (value,), n_output=2).execute()


def test_calls_are_not_pure():
    """Equal calls run as often as they are written; an executed one runs once."""
    ran: list[int] = []
    with marsdask.new_session("threads", n_workers=2):
        first, second = mr.spawn(ran.append, (1,)), mr.spawn(ran.append, (1,))
        assert first.key != second.key
        mr.ExecutableTuple([first, second]).execute()
        mr.spawn(seen, (first,)).execute()
        assert first.execute() is first
        assert len(ran) == 2
        assert repr(mr.spawn(inc, (1,))).startswith("Object <spawn, inc, key=spawn-")


def test_objects_are_copied_and_have_no_chunks():
    """A copy is of the same call, and is executed apart."""
    call = mr.spawn(seen, args=(1,))
    twin = call.copy()
    assert twin.key == call.key
    assert (call.nsplits, call.chunk_shape, call.issparse(), call.is_sparse()) == (
        *((), ()),
        *(False, False),
    )
    assert twin.execute().fetch() == call.execute().fetch()


def test_results_are_freed():
    """A result lives as long as its object, also where a function receives it."""

    class Tracked:
        pass

    with marsdask.new_session("threads", n_workers=1):
        made = mr.spawn(Tracked).execute()
        ref = weakref.ref(made.fetch())
        taken = mr.spawn(kinds_of, (made,)).execute()
        del made
        gc.collect()
        assert taken.fetch() == "Tracked"
        assert ref() is None


def kinds_of(value: Any) -> str:
    return type(value).__name__


def test_threads_of_functions_can_compute():
    """Functions that wait for threads of their own leave nobody else to compute for these."""
    with marsdask.new_session("threads", n_workers=1):
        calls = mr.ExecutableTuple([mr.spawn(threaded, (i,)) for i in range(2)])
        assert calls.execute().fetch() == [1, 2]


def threaded(number: int) -> Any:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: mr.spawn(inc, (number,)).execute().fetch()).result(60)


def test_eager_calls():
    """In eager mode a call runs at once, and calls within it are lazy."""
    with (
        marsdask.new_session("threads", n_workers=1),
        marsdask.option_context({"eager_mode": True}),
    ):
        assert mr.spawn(lazy).fetch() == [False, 3]


def lazy() -> list[Any]:
    call = mr.spawn(inc, (2,))
    return [call._is_executed(), call.execute().fetch()]


def test_the_session_of_the_caller():
    """A function computes where its call was executed, whatever the default session is."""
    with marsdask.new_session("synchronous") as other, marsdask.new_session("threads"):
        found = mr.spawn(marsdask.get_default_session).execute(session=other)
        assert found.fetch(session=other) is other
        tensor = mt.arange(3).execute(session=other)
        assert mr.spawn(seen, (tensor,)).execute(session=other).fetch() is not None
