"""The contract's second half: failing, cancelling, events, several jobs at once, closing."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError
from typing import Any

import numpy as np
import pytest
from dask.task_spec import Task, TaskRef

from ..base import Handle, Scheduler, describe
from ..errors import SchedulerClosed
from ..events import GraphEnded, GraphSubmitted, TaskDone, TaskFailed, TaskStarted
from .fixtures import ContractFixtures
from .tools import (
    DEADLINE,
    Broken,
    Gate,
    Recorder,
    add,
    assert_not_held,
    fail,
    graph_of,
    identity,
    inc,
    interrupt,
    key,
    pass_gate,
    run,
)


class JobsContract(ContractFixtures):
    """Submissions from their start to their end."""

    def test_failure(self, scheduler: Scheduler) -> None:
        """``wait`` raises the task's exception; no result is held, and the scheduler works."""
        good, bad, after = key("good"), key("bad"), key("after")
        nodes = [
            Task(good, inc, 0),
            Task(bad, fail, TaskRef(good)),
            Task(after, inc, TaskRef(bad)),
        ]
        handle = scheduler.submit(graph_of(*nodes), [good, after])
        for _ in range(2):
            with pytest.raises(Broken, match="broken by 1"):
                handle.wait(DEADLINE)
        assert handle.done()
        if self.names_failed:
            assert handle.failed == bad
        assert_not_held(scheduler, good, bad, after)
        assert run(scheduler, Task(key(), inc, 0)) == [1]

    def test_failure_keeps_what_was_held(self, scheduler: Scheduler) -> None:
        """A failing submission drops only its own references."""
        a, b = key("a"), key("b")
        scheduler.submit({a: Task(a, inc, 0)}, [a]).wait(DEADLINE)
        with pytest.raises(Broken):
            scheduler.submit({b: Task(b, fail, TaskRef(a))}, [a, b]).wait(DEADLINE)
        assert scheduler.gather([a]) == [1]
        scheduler.release([a])
        assert_not_held(scheduler, a, b)

    def test_interrupt_in_a_task(self, scheduler: Scheduler) -> None:
        """After Ctrl-C in a task, ``wait`` raises KeyboardInterrupt and no result is held."""
        if not self.passes_interrupts:
            pytest.skip("tasks get no interrupts here")
        a, b = key("a"), key("b")
        with pytest.raises(KeyboardInterrupt):
            scheduler.submit(graph_of(Task(a, inc, 0), Task(b, interrupt)), [a, b]).wait(DEADLINE)
        assert_not_held(scheduler, a, b)
        assert run(scheduler, Task(key(), inc, 0)) == [1]

    @pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="needs POSIX signals")
    def test_interrupted_wait(self, scheduler: Scheduler, gate: Gate) -> None:
        """Ctrl-C interrupts ``wait``, and ``cancel`` then frees all results."""
        a = key()
        handle = scheduler.submit({a: Task(a, pass_gate, gate.address, 1)}, [a])
        gate.wait_until_reached()
        main = threading.main_thread().ident
        assert main is not None
        timer = threading.Timer(0.1, signal.pthread_kill, (main, signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            handle.wait(DEADLINE)
        timer.join(DEADLINE)
        handle.cancel()
        gate.open()
        with pytest.raises(CancelledError):
            handle.wait(DEADLINE)
        assert_not_held(scheduler, a)
        assert run(scheduler, Task(key(), inc, 0)) == [1]

    def test_wait_timeout(self, scheduler: Scheduler, gate: Gate) -> None:
        """Tasks continue after a timeout of ``wait``."""
        a = key()
        handle = scheduler.submit({a: Task(a, pass_gate, gate.address, 1)}, [a])
        gate.wait_until_reached()
        with pytest.raises(TimeoutError):
            handle.wait(0.01)
        assert not handle.done()
        gate.open()
        handle.wait(DEADLINE)
        assert scheduler.gather([a]) == [1]
        scheduler.release([a])

    def test_cancel_while_running(self, scheduler: Scheduler, gate: Gate) -> None:
        """After ``cancel``, ``wait`` raises CancelledError, and no task runs."""
        a, b, c = key("a"), key("b"), key("c")
        nodes = [
            Task(a, inc, 0),
            Task(b, pass_gate, gate.address, 1, TaskRef(a)),
            Task(c, inc, TaskRef(b)),
        ]
        handle = scheduler.submit(graph_of(*nodes), [a, c])
        gate.wait_until_reached()
        handle.cancel()
        gate.open()
        with pytest.raises(CancelledError):
            handle.wait(DEADLINE)
        handle.cancel()
        assert handle.done()
        assert_not_held(scheduler, a, b, c)
        assert run(scheduler, Task(key(), inc, 0)) == [1]

    def test_cancel_after_the_end(self, scheduler: Scheduler) -> None:
        """Cancelling an ended submission has no effect."""
        a = key()
        handle = scheduler.submit({a: Task(a, inc, 0)}, [a])
        handle.wait(DEADLINE)
        handle.cancel()
        handle.wait(DEADLINE)
        assert scheduler.gather([a]) == [1]
        scheduler.release([a])

    def test_cancel_spares_the_others(self, scheduler: Scheduler, gate: Gate) -> None:
        """A task of two submissions continues when one of them is cancelled."""
        a, b = key("a"), key("b")
        common = Task(a, pass_gate, gate.address, 1)
        first = scheduler.submit({a: common}, [a])
        gate.wait_until_reached()
        second = scheduler.submit(graph_of(common, Task(b, inc, TaskRef(a))), [b])
        first.cancel()
        gate.open()
        second.wait(DEADLINE)
        assert scheduler.gather([b]) == [2]
        scheduler.release([b])
        assert_not_held(scheduler, a, b)

    def test_done_callbacks(self, scheduler: Scheduler, gate: Gate) -> None:
        """Each callback is called once, even if another one raises."""
        a = key()
        handle = scheduler.submit({a: Task(a, pass_gate, gate.address, 1)}, [a])
        gate.wait_until_reached()
        calls: list[Handle] = []
        last = threading.Event()

        def finish(_: Handle) -> None:
            last.set()

        for callback in (calls.append, fail, calls.append, finish):
            handle.add_done_callback(callback)
        assert not calls
        gate.open()
        handle.wait(DEADLINE)
        assert last.wait(DEADLINE)
        assert calls == [handle, handle]
        scheduler.release([a])

    @pytest.mark.parametrize("function", [inc, fail])
    def test_done_callback_after_the_end(
        self, scheduler: Scheduler, function: Callable[[Any], Any]
    ) -> None:
        """A callback that is added to an ended handle is called at once."""
        a = key()
        handle = scheduler.submit({a: Task(a, function, 0)}, [a])
        ended = threading.Event()
        handle.add_done_callback(lambda _: ended.set())
        assert ended.wait(DEADLINE)
        calls: list[Handle] = []
        handle.add_done_callback(calls.append)
        assert calls == [handle]
        scheduler.release([a])

    def test_events(self, scheduler: Scheduler) -> None:
        """The events are GraphSubmitted, a TaskDone for each task, and GraphEnded."""
        a, b, c = key("a"), key("b"), key("c")
        nodes = [Task(a, inc, 0), Task(b, inc, TaskRef(a)), Task(c, inc, TaskRef(a))]
        recorder = Recorder()
        handle = scheduler.submit(graph_of(*nodes), [b, c], callbacks=[recorder])
        handle.wait(DEADLINE)
        events = recorder.wait()
        ends = recorder.of(TaskDone)
        assert events[0] == GraphSubmitted(3 if self.counts_tasks else 2)
        assert events[-1] == GraphEnded("done")
        assert len(events) - 2 == len(ends) + len(recorder.of(TaskStarted))
        assert {event.key for event in ends} == ({a, b, c} if self.counts_tasks else {b, c})
        assert all(event.nbytes >= 0 and event.seconds >= 0 for event in ends)
        if self.counts_tasks:
            starts = [event.key for event in recorder.of(TaskStarted)]
            assert sorted(starts) == sorted([a, b, c])
        scheduler.release([b, c])

    def test_failure_events(self, scheduler: Scheduler) -> None:
        """A failing graph reports the failure and ends as failed."""
        a = key()
        recorder = Recorder()
        with pytest.raises(Broken):
            scheduler.submit({a: Task(a, fail)}, [a], callbacks=[recorder]).wait(DEADLINE)
        events = recorder.wait()
        (failure,) = recorder.of(TaskFailed)
        assert isinstance(failure.error, Broken)
        if self.names_failed:
            assert failure.key == a
        assert events[-1] == GraphEnded("failed")

    def test_raising_event_callback(self, scheduler: Scheduler) -> None:
        """An event callback that raises affects neither the job nor other callbacks."""
        a = key()
        recorder = Recorder()
        scheduler.submit({a: Task(a, inc, 0)}, [a], callbacks=[fail, recorder]).wait(DEADLINE)
        assert recorder.wait()[-1] == GraphEnded("done")
        assert scheduler.gather([a]) == [1]
        scheduler.release([a])

    @pytest.mark.parametrize(
        "value", [3, "text", np.arange(6.0).reshape(2, 3), np.zeros(20_000), None, (1, 2)]
    )
    def test_info(self, scheduler: Scheduler, value: Any) -> None:
        """``info`` of a held result equals ``describe`` of its value."""
        a = key()
        scheduler.submit({a: Task(a, identity, value)}, [a]).wait(DEADLINE)
        (info,) = scheduler.info([a])
        description = describe(value)
        assert (info.shape, info.dtype) == (description.shape, description.dtype)
        assert info.nbytes == description.nbytes
        np.testing.assert_array_equal(info.sample, description.sample)
        scheduler.release([a])
        with pytest.raises(KeyError):
            scheduler.info([a])

    def test_running_key_is_shared(self, scheduler: Scheduler, gate: Gate) -> None:
        """A key of two submissions is computed once."""
        a, b = key("a"), key("b")
        common = Task(a, pass_gate, gate.address, 1)
        first = scheduler.submit({a: common}, [a])
        gate.wait_until_reached()
        second = scheduler.submit(graph_of(common, Task(b, inc, TaskRef(a))), [a, b])
        gate.open()
        first.wait(DEADLINE)
        second.wait(DEADLINE)
        assert scheduler.gather([a, b]) == [1, 2]
        scheduler.release([a, b])
        assert scheduler.gather([a]) == [1]
        scheduler.release([a])

    def test_two_threads(self, scheduler: Scheduler) -> None:
        """Two threads submit, share a key and gather at the same time."""
        common = key("shared")
        results: dict[int, list[Any]] = {}

        def work(number: int) -> None:
            results[number] = []
            for i in range(20):
                own = key(f"own-{number}")
                nodes = [Task(common, identity, 7), Task(own, add, TaskRef(common), i)]
                results[number] += run(scheduler, *nodes, keys=[own, common])

        threads = [threading.Thread(target=work, args=(n,)) for n in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(DEADLINE)
        sums = [value for i in range(20) for value in (7 + i, 7)]
        assert results == {0: sums, 1: sums}
        assert_not_held(scheduler, common)

    def test_nested_submit(self, scheduler: Scheduler) -> None:
        """Tasks that submit to their own scheduler and wait do not deadlock."""
        if not self.nested:
            pytest.skip("tasks cannot reach the scheduler")

        def inner(depth: int) -> Any:
            if not depth:
                return 1
            children = [Task(key(), inner, depth - 1) for _ in range(3)]
            return sum(run(scheduler, *children))

        nodes = [Task(key(), inner, 3) for _ in range(4)]
        assert run(scheduler, *nodes) == [27] * 4

    def test_close(self, disposable: Scheduler) -> None:
        """A closed scheduler refuses graphs, and may be closed again."""
        a = key()
        disposable.submit({a: Task(a, inc, 0)}, [a]).wait(DEADLINE)
        disposable.close()
        disposable.close()
        disposable.release([a])
        b = key()
        with pytest.raises(SchedulerClosed):
            disposable.submit({b: Task(b, inc, 0)}, [b])
        with pytest.raises((SchedulerClosed, KeyError)):
            disposable.gather([a])

    def test_close_cancels(self, disposable: Scheduler, gate: Gate) -> None:
        """Closing cancels running submissions: ``wait`` raises CancelledError."""
        a = key()
        handle = disposable.submit({a: Task(a, pass_gate, gate.address, 1)}, [a])
        gate.wait_until_reached()
        closer = threading.Thread(target=disposable.close)
        closer.start()
        with pytest.raises(CancelledError):
            handle.wait(DEADLINE)
        gate.open()
        closer.join(DEADLINE)
        assert not closer.is_alive()
