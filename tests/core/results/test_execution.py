"""The future of an execution."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import CancelledError
from typing import Any

import numpy as np
import pytest

import marsdask.tensor as mt
from marsdask.core.results.execution import Monitor, RunningHandle
from marsdask.core.session import new_session, set_default_session
from marsdask.scheduler.events import GraphSubmitted, TaskDone

DEADLINE = 30.0


@pytest.fixture
def session():
    with new_session(n_workers=2) as started:
        yield started
    set_default_session(None)


class BlockGate:
    """Blocks tasks until it opens."""

    def __init__(self):
        self.reached = threading.Event()
        self.opened = threading.Event()

    def __call__(self, block):
        self.reached.set()
        assert self.opened.wait(DEADLINE)
        return block

    def __dask_tokenize__(self):
        return id(self)


def test_a_future_gives_the_collection(session):
    """``result`` returns what was executed, ``done`` and ``progress`` say so."""
    x = mt.ones((4, 4), chunk_size=2) + 1
    future = x.execute(wait=False)
    assert future.result(DEADLINE) is x
    assert future.done()
    assert not future.running()
    assert not future.cancelled()
    assert future.progress() == 1.0
    assert future.exception() is None
    np.testing.assert_array_equal(x.fetch(), np.full((4, 4), 2.0))


def test_a_running_future(session):
    """Before the end ``done`` is false, ``result`` times out and callbacks wait."""
    gate, called = BlockGate(), threading.Event()
    future = mt.ones(3).map_blocks(gate, dtype=float).execute(wait=False)
    future.add_done_callback(lambda ended: called.set() if ended is future else None)
    assert gate.reached.wait(DEADLINE)
    assert not future.done()
    assert future.progress() < 1
    with pytest.raises(TimeoutError):
        future.result(0.01)
    assert not called.is_set()
    gate.opened.set()
    assert called.wait(DEADLINE)
    assert future.done()
    assert not future.cancel(), "it has ended"


def test_a_cancelled_future(session):
    """``result`` raises CancelledError, nothing is held, and the session goes on."""
    gate = BlockGate()
    x = mt.ones((4, 4), chunk_size=2).map_blocks(gate, dtype=float)
    future = x.execute(wait=False)
    assert gate.reached.wait(DEADLINE)
    assert future.cancel()
    gate.opened.set()
    with pytest.raises(CancelledError):
        future.result(DEADLINE)
    assert future.cancelled()
    with pytest.raises(ValueError, match="execute"):
        x.fetch()
    assert mt.ones(3).sum().compute() == 3


def test_a_failed_future(session):
    """``result`` raises what the task raised; ``exception`` returns it."""

    def fail(block):
        raise ZeroDivisionError("in the task")

    future = mt.ones(3).map_blocks(fail, dtype=float).execute(wait=False)
    assert isinstance(future.exception(DEADLINE), ZeroDivisionError)
    assert not future.cancelled()
    with pytest.raises(ZeroDivisionError):
        future.result()


def test_a_future_is_awaitable(session):
    """Awaiting gives the collection."""

    async def main():
        return await (mt.ones(3) + 1).sum().execute(wait=False)

    assert asyncio.run(main()).fetch() == 6


def test_what_mars_asks_of_executions(session):
    """A future of the running loop and the collections; what has no meaning says what to use."""
    x = mt.arange(3)
    execution = x.execute(wait=False)
    assert execution.result(DEADLINE) is x
    assert list(execution.to_execute_tileables) == [x]

    async def program():
        return await mt.ones(2).execute(wait=False).get_future()

    assert asyncio.run(program()).fetch().sum() == 2
    with pytest.raises(RuntimeError, match="no running event loop"):
        execution.get_future()
    for name in ("aio_task", "loop"):
        with pytest.raises(NotImplementedError, match="await"):
            getattr(execution, name)
    with pytest.raises(NotImplementedError, match="Profiler"):
        execution.profiling_result()


def test_values_come_by_future_too(session):
    """``to_object(wait=False)`` resolves to the value."""
    np.testing.assert_array_equal(
        (mt.ones(3) + 1).to_object(wait=False).result(DEADLINE), [2.0, 2.0, 2.0]
    )


def test_a_monitor_counts():
    """Progress is tasks done of tasks known."""
    monitor = Monitor()
    heard: list[Any] = []
    monitor.listeners.append(heard.append)
    assert monitor.fraction() == 0
    for event in (GraphSubmitted(4), TaskDone("a", 0, 0.0)):
        monitor(event)
    assert monitor.fraction() == 0.25
    assert len(heard) == 2


def test_a_cancellation_is_kept_or_refused():
    """What came before the end stops it, what came later says so: never both or neither."""
    running = RunningHandle(watched=True)
    assert running.cancel()
    with pytest.raises(CancelledError):
        running.finish()
    running = RunningHandle(watched=True)
    running.finish()
    assert not running.cancel()
    running.check()
