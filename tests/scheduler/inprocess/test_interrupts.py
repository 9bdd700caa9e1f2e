"""Ctrl-C waits for the end of what it must not cut in two."""

import math
import signal
import threading
from contextlib import contextmanager

import pytest
from dask.task_spec import Task, TaskRef

from marsdask.scheduler.inprocess.inline import InlineScheduler
from marsdask.scheduler.inprocess.interrupts import allowed, shielded
from marsdask.scheduler.inprocess.state import State

pytestmark = pytest.mark.skipif(
    threading.current_thread() is not threading.main_thread(), reason="signals need the main thread"
)


def press():
    signal.raise_signal(signal.SIGINT)


def inc(value):
    return value + 1


def pressed_within(context, done):
    with context():
        press()
        done.append(1)


@contextmanager
def shielded_and_allowed():
    with shielded(), allowed:
        yield


@pytest.mark.parametrize(("context", "expected"), [(shielded, [1]), (shielded_and_allowed, [])])
def test_waits_for_the_end_or_where_it_is_allowed(context, expected):
    """An interrupt comes when the shield is down, or where it has an opening."""
    done: list[object] = []
    with pytest.raises(KeyboardInterrupt):
        pressed_within(context, done)
    assert done == expected
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_is_delivered_where_allowed():
    """An earlier interrupt is raised once when interrupts are allowed."""
    with shielded():
        press()
        with pytest.raises(KeyboardInterrupt), allowed:
            pytest.fail("the interrupt came before")
    with shielded():
        pass  # it was raised once, and no more


def pressed_twice(cleared):
    with shielded():
        try:
            with allowed:
                press()
        finally:
            press()
            cleared.append(1)


def pressed_within_a_task(done):
    with shielded(), allowed:
        pressed_within(shielded, done)
        done.append("the task goes on")


@pytest.mark.parametrize("work", [pressed_twice, pressed_within_a_task])
def test_does_not_hit_what_must_be_whole(work):
    """Neither a second one what clears up after the first, nor any a scheduler within a task."""
    done: list[object] = []
    with pytest.raises(KeyboardInterrupt):
        work(done)
    assert done == [1]


def test_leaves_the_handlers_of_others_alone():
    """A handler that the program installed gets each signal at once."""
    seen = []
    before = signal.signal(signal.SIGINT, lambda *_: seen.append(len(seen)))
    try:
        with shielded():
            press()
            press()
    finally:
        signal.signal(signal.SIGINT, before)
    assert seen == [0, 1]


def test_other_threads_are_not_shielded():
    """Only the main thread handles signals."""
    handlers = []

    def look():
        with shielded(), allowed:
            handlers.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert handlers == [signal.default_int_handler]


@pytest.mark.parametrize("event", ["submit", "next", "finish", "release"])
def test_bookkeeping_is_not_cut(event, monkeypatch):
    """An interrupt in the middle of any event leaves a scheduler that works and holds nothing."""
    scheduler = InlineScheduler()
    original = getattr(State, event)

    def pressed(self, *args):
        press()
        return original(self, *args)

    graph = {i: Task(i, inc, TaskRef(i - 1) if i else 0) for i in range(3)}

    def work():
        scheduler.submit(graph, [2]).wait(60)
        scheduler.release([2])

    with monkeypatch.context() as patch:
        patch.setattr(State, event, pressed)
        with pytest.raises(KeyboardInterrupt):
            work()
    engine = scheduler._engine
    assert not engine.lock.locked()
    assert (engine.state.items, engine.state.jobs, engine.state.active) == ({}, set(), 0)
    assert engine.state.memory.budget == math.inf
    scheduler.submit(graph, [2]).wait(60)
    assert scheduler.gather([2]) == [3]
    scheduler.close()
