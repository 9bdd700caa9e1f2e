"""The engine behind the in-process schedulers: lifetimes, nesting, interrupts."""

import contextlib
import gc
import signal
import subprocess
import sys
import threading
import time
import weakref
from types import SimpleNamespace

import numpy as np
import pytest
from dask.task_spec import DataNode, Task, TaskRef

from marsdask.scheduler.inprocess import engine
from marsdask.scheduler.inprocess.threads import ThreadsScheduler

DEADLINE = 60


class Referable:
    """Something weak references can be made to."""


def threads_of(scheduler):
    return list(scheduler._engine.threads)


def run(scheduler, function, *args, key="task"):
    handle = scheduler.submit({key: Task(key, function, *args)}, [key])
    handle.wait(DEADLINE)
    (value,) = scheduler.gather([key])
    scheduler.release([key])
    return value


def meet(barrier):
    barrier.wait(DEADLINE)


def test_threads_start_with_the_work():
    """No thread before the first task, and no more than there are tasks for."""
    with ThreadsScheduler(nthreads=4) as scheduler:
        assert not threads_of(scheduler)
        run(scheduler, int)
        assert len(threads_of(scheduler)) == 1
        barrier = threading.Barrier(4)
        tasks = {i: Task(i, meet, barrier) for i in range(4)}
        scheduler.submit(tasks, list(tasks)).wait(DEADLINE)
        assert len(threads_of(scheduler)) == 4


def in_a_thread(scheduler, number):
    """Compute from a thread of the task's own, while the task waits for it."""
    found = []
    key = f"inner {number}"
    thread = threading.Thread(target=lambda: found.append(run(scheduler, abs, -number, key=key)))
    thread.start()
    thread.join(DEADLINE)
    return found


def test_threads_that_tasks_start_can_compute():
    """With all workers waiting for them, they run what they wait for, and nothing else."""
    with ThreadsScheduler(nthreads=2) as scheduler:
        tasks = {i: Task(i, in_a_thread, scheduler, i) for i in range(4)}
        scheduler.submit(tasks, list(tasks)).wait(DEADLINE)
        assert scheduler.gather(list(tasks)) == [[i] for i in range(4)]
        assert len(threads_of(scheduler)) == 2


def spin(begun, stop):
    begun.set()
    while not stop.is_set():
        pass


def test_threads_that_wait_leave_the_work_to_workers():
    """While a worker computes, another thread only waits: no more tasks run than workers."""
    begun, stop = threading.Event(), threading.Event()
    with ThreadsScheduler(nthreads=1) as scheduler:
        first = scheduler.submit({0: Task(0, spin, begun, stop)}, [0])
        assert begun.wait(DEADLINE)
        second = scheduler.submit({1: Task(1, threading.get_ident)}, [1])
        try:
            with pytest.raises(TimeoutError, match=r"still running after 0.6 seconds"):
                second.wait(0.6)
        finally:
            stop.set()
        second.wait(DEADLINE)
        first.wait(DEADLINE)
        assert scheduler.gather([1]) == [threads_of(scheduler)[0].ident]


def test_close_ends_the_threads():
    """After closing none of them is alive."""
    scheduler = ThreadsScheduler(nthreads=2)
    run(scheduler, int)
    threads = threads_of(scheduler)
    scheduler.close()
    assert not any(thread.is_alive() for thread in threads)


def test_a_forgotten_scheduler_ends_its_threads():
    """Without close, collecting the scheduler is enough."""
    scheduler = ThreadsScheduler(nthreads=2)
    run(scheduler, int)
    threads = threads_of(scheduler)
    del scheduler
    gc.collect()
    for thread in threads:
        thread.join(DEADLINE)
    assert not any(thread.is_alive() for thread in threads)


def test_a_handle_keeps_a_running_scheduler_open():
    """A scheduler without references finishes its submissions."""
    gate = threading.Event()
    tasks = {"a": Task("a", gate.wait, DEADLINE)}
    handle = ThreadsScheduler(nthreads=1).submit(tasks, ["a"])
    gc.collect()
    gate.set()
    handle.wait(DEADLINE)
    assert handle.done()
    assert handle.failed is None


def nested(scheduler, depth):
    if not depth:
        return 1
    tasks = {(depth, i, threading.get_ident(), time.monotonic_ns()): None for i in range(3)}
    graph = {key: Task(key, nested, scheduler, depth - 1) for key in tasks}
    handle = scheduler.submit(graph, list(graph))
    handle.wait(DEADLINE)
    values = scheduler.gather(handle.keys)
    scheduler.release(handle.keys)
    return sum(values)


@pytest.mark.parametrize("nthreads", [1, 2])
def test_nested_submissions(nthreads):
    """Tasks that submit and wait three levels deep all get through, on one thread, too."""
    with ThreadsScheduler(nthreads=nthreads) as scheduler:
        tasks = {i: Task(i, nested, scheduler, 3) for i in range(4)}
        handle = scheduler.submit(tasks, list(tasks))
        handle.wait(DEADLINE)
        assert scheduler.gather(list(tasks)) == [27] * 4
        scheduler.release(handle.keys)
        assert not scheduler._engine.state.items


def test_many_nesting_tasks_do_not_pile_up():
    """A waiting worker takes no further outer task, so the stack stays shallow."""
    with ThreadsScheduler(nthreads=1) as scheduler:
        tasks = {i: Task(i, nested, scheduler, 1) for i in range(500)}
        handle = scheduler.submit(tasks, list(tasks))
        handle.wait(DEADLINE)
        assert sum(scheduler.gather(list(tasks))) == 1500


class Hasty:
    """A lock whose timed waiting may end before its time, as the system's does by a little."""

    def __init__(self):
        self._lock = threading.Lock()
        self.release = self._lock.release
        self._first = True

    def acquire(self, blocking=True, timeout=-1):
        if timeout > 0 and self._first:
            self._first = False
            return False
        return self._lock.acquire(blocking, timeout)


def waits(scheduler, started, gate):
    handle = scheduler.submit({"inner": Task("inner", open_gate, started, gate)}, ["inner"])
    assert started.wait(DEADLINE)
    with contextlib.suppress(TimeoutError):
        handle.wait(0.05)
    gate.set()
    handle.wait(DEADLINE)


def test_a_wait_that_ends_early_is_woken_once(monkeypatch):
    """Its park is not left twice among those to wake: the second release would raise."""
    monkeypatch.setattr(engine, "threading", SimpleNamespace(**{**vars(threading), "Lock": Hasty}))
    started, gate = threading.Event(), threading.Event()
    with ThreadsScheduler(nthreads=2) as scheduler:
        run(scheduler, waits, scheduler, started, gate)
        assert run(scheduler, int) == 0


def shares(scheduler, key, tasks):
    handle = scheduler.submit(tasks, [key])
    handle.wait(DEADLINE)
    scheduler.release([key])
    return True


def test_a_nested_submission_may_need_what_its_outer_one_has_still_to_run():
    """The only worker runs the shared task for the inner submission first."""
    with ThreadsScheduler(nthreads=1) as scheduler:
        inner = {"b": Task("b", int), "c": Task("c", str, TaskRef("b"))}
        outer = {"a": Task("a", shares, scheduler, "c", inner), **inner}
        handle = scheduler.submit(outer, ["a", "c"])
        handle.wait(DEADLINE)
        assert scheduler.gather(["a", "c"]) == [True, "0"]


def hold(box):
    raise RuntimeError("broken") from None


def test_a_failure_keeps_nothing_alive():
    """Neither the scheduler nor the error holds the arguments of the failed task."""
    with ThreadsScheduler(nthreads=1) as scheduler:
        box = Referable()
        seen = weakref.ref(box)
        tasks = {"x": DataNode("x", box), "a": Task("a", hold, TaskRef("x"))}
        handle = scheduler.submit(tasks, ["a"])
        del tasks, box
        with pytest.raises(RuntimeError, match="broken"):
            handle.wait(DEADLINE)
        scheduler.close()
        assert seen() is None


def test_a_finalizer_may_release_while_the_lock_is_held():
    """Releasing never blocks: it is done when the lock is free."""
    with ThreadsScheduler(nthreads=1) as scheduler:
        scheduler.submit({"a": Task("a", int)}, ["a"]).wait(DEADLINE)
        with scheduler._engine.locked():
            scheduler.release(["a"])
            assert "a" in scheduler._engine.state.items
        assert "a" not in scheduler._engine.state.items


def test_a_finalizer_may_close_while_the_lock_is_held():
    """A scheduler that is collected in the middle of its own work closes after it."""
    scheduler = ThreadsScheduler(nthreads=1)
    scheduler.submit({"a": Task("a", int)}, ["a"]).wait(DEADLINE)
    engine = scheduler._engine
    with engine.locked():
        del scheduler
        gc.collect()
        assert not engine.closed
    assert engine.closed
    engine.threads[0].join(DEADLINE)
    assert not engine.state.items


def refuse(event):
    raise RuntimeError(f"no {event}")


def test_raising_callbacks_harm_nobody(caplog):
    """The exception of a callback is logged, and tasks continue."""
    with ThreadsScheduler(nthreads=1) as scheduler:
        handle = scheduler.submit({"a": Task("a", int)}, ["a"], callbacks=[refuse])
        handle.wait(DEADLINE)
        assert scheduler.gather(["a"]) == [0]
    assert "no GraphSubmitted" in caplog.text


@pytest.mark.skipif(sys.platform == "win32", reason="signals threads")
def test_an_interrupted_wait_can_be_cancelled():
    """Ctrl-C reaches a waiting main thread, which then cancels; the scheduler stays usable."""
    with ThreadsScheduler(nthreads=1) as scheduler:
        gate, started = threading.Event(), threading.Event()
        tasks = {"a": Task("a", open_gate, started, gate), "b": Task("b", str, TaskRef("a"))}
        handle = scheduler.submit(tasks, ["b"])
        assert started.wait(DEADLINE)
        main = threading.get_ident()
        interrupt = threading.Thread(target=signal.pthread_kill, args=(main, signal.SIGINT))
        with pytest.raises(KeyboardInterrupt):  # noqa: PT012  (it may come before the wait)
            interrupt.start()
            handle.wait(DEADLINE)
        interrupt.join(DEADLINE)
        handle.cancel()
        gate.set()
        assert run(scheduler, int) == 0
        assert not scheduler._engine.state.items


def open_gate(started, gate):
    started.set()
    gate.wait(DEADLINE)


EXIT = """
import numpy as np
from dask.task_spec import Task
from marsdask.scheduler.inprocess.threads import ThreadsScheduler
scheduler = ThreadsScheduler(nthreads=2, memory_limit=2**20, spill_dirs={folder!r})
tasks = {{i: Task(i, np.ones, 2**16) for i in range(8)}}
scheduler.submit(tasks, list(tasks)).wait()
print(len(scheduler._engine.threads) > 0, scheduler._engine.state.on_disk > 0)
"""


def test_the_end_of_the_interpreter_ends_all(tmp_path):
    """A program that closes nothing ends, and leaves no file."""
    code = EXIT.format(folder=str(tmp_path))
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=DEADLINE, check=True
    )
    assert (done.stdout, done.stderr) == ("True True\n", "")
    assert not list(tmp_path.iterdir())


def test_concurrent_submissions_and_releases():
    """Threads that submit, gather and release at once get their own right results."""
    with ThreadsScheduler(nthreads=2, memory_limit=2**22) as scheduler:
        errors = []

        def use(seed):
            try:
                for i in range(20):
                    keys = [("x", (seed + i + j) % 7) for j in range(4)]
                    tasks = {key: Task(key, np.full, 2**16, key[1]) for key in keys}
                    handle = scheduler.submit(tasks, keys)
                    handle.wait(DEADLINE)
                    for key, value in zip(keys, scheduler.gather(keys), strict=True):
                        assert (value == key[1]).all()
                    del value
                    scheduler.release(keys)
            except Exception as error:  # noqa: BLE001  (any of them is the test's failure)
                errors.append(error)

        users = [threading.Thread(target=use, args=(seed,)) for seed in range(4)]
        for user in users:
            user.start()
        for user in users:
            user.join(DEADLINE)
        assert not errors
        assert not scheduler._engine.state.items
        assert scheduler._engine.state.memory.ledger.nbytes == 0
