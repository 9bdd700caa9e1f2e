"""Many threads, random jobs, and everything that can go wrong: nothing is left behind."""

import gc
import operator
import random
import threading
import weakref
from concurrent.futures import CancelledError
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from dask.task_spec import Task, TaskRef

from marsdask.scheduler.base import Hint
from marsdask.scheduler.errors import SchedulerClosed
from marsdask.scheduler.inprocess.threads import ThreadsScheduler

DEADLINE = 120
BUDGET = 2**20
CLIENTS, JOBS = 3, 25


class Planned(Exception):
    """What a task raises that is to fail."""


class Story:
    """One scheduler, its clients, and every array that was ever made for them."""

    def __init__(self, seed, folder):
        self.seed = seed
        self.scheduler = ThreadsScheduler(
            nthreads=2, memory_limit=BUDGET, spill_dirs=str(folder), spill_limit=40 * BUDGET
        )
        self.made = []
        self.jobs = threading.Semaphore(0)
        self.wrong = []
        self.clients = [
            threading.Thread(target=self.client, args=(random.Random(f"{seed}-{i}"), i))
            for i in range(CLIENTS)
        ]

    def make(self, number, size):
        array = np.full(size, float(number))
        self.made.append(weakref.ref(array))
        return array

    def client(self, chance, me):
        try:
            for step in range(JOBS):
                self.job(chance, (me, step))
                self.jobs.release()
        except SchedulerClosed:
            pass
        except BaseException as error:  # noqa: BLE001 - the main thread raises it
            self.wrong.append(error)
        finally:
            for _ in range(JOBS):
                self.jobs.release()

    def job(self, chance, name):
        tasks, expected = self.graph(chance, name)
        wanted = chance.sample(sorted(tasks), chance.randint(1, len(tasks)))
        hints = dict.fromkeys(tasks, Hint(2**17, 2**17)) if chance.random() < 0.5 else {}
        callbacks = [lambda event: None] if chance.random() < 0.3 else []
        handle = self.scheduler.submit(tasks, wanted, hints=hints, callbacks=callbacks)
        if chance.random() < 0.3:
            with suppress(TimeoutError, Planned, CancelledError):
                handle.wait(chance.random() / 200)
            handle.cancel()
        try:
            handle.wait(DEADLINE)
        except (Planned, CancelledError):
            return
        try:
            for key, value in zip(wanted, self.scheduler.gather(wanted), strict=True):
                assert np.all(np.asarray(value) == expected[key]), key
            self.scheduler.info(wanted)
        except KeyError:
            assert self.scheduler._engine.closed  # it forgets before it ends
            raise SchedulerClosed from None
        finally:
            self.scheduler.release(wanted)

    def graph(self, chance, name):
        """Arrays, sums of them, lists that others take one entry of, nested jobs, failures."""
        tasks: dict[Any, Task] = {}
        expected: dict[Any, int] = {}
        for i in range(chance.randint(1, 8)):
            key, size = (*name, i), chance.choice([2**4, 2**10, 2**14])
            before = chance.choice(sorted(tasks)) if tasks else None
            kind = chance.choice(["make", "make", "add", "entry", "nest", "fail"])
            expected[key] = i
            if kind == "fail" and chance.random() < 0.2:
                tasks[key] = Task(key, self.fail)
            elif kind == "add" and before is not None:
                tasks[key] = Task(key, np.add, TaskRef(before), 1.0)
                expected[key] = expected[before] + 1
            elif kind == "entry":
                parts = (*key, "parts")
                tasks[parts] = Task(parts, self.parts, i, size)
                tasks[key] = Task(key, operator.getitem, TaskRef(parts), 1)
                expected[parts] = i
            elif kind == "nest":
                tasks[key] = Task(key, self.nested, (*key, "inner"), i, size)
            else:
                tasks[key] = Task(key, self.make, i, size)
        return tasks, expected

    def end(self):
        """Wait for tasks of cancelled jobs, and for releases left to whoever had the lock."""
        meeting = threading.Barrier(2)
        tasks = {i: Task(i, meeting.wait, DEADLINE) for i in range(2)}
        self.scheduler.submit(tasks, [0, 1]).wait(DEADLINE)
        self.scheduler.release([0, 1])
        while self.scheduler._engine._released:
            self.scheduler.release(())

    def parts(self, number, size):
        return [self.make(number, size) for _ in range(3)]

    def nested(self, key, number, size):
        inner = {(*key, i): Task((*key, i), self.make, number, size) for i in range(3)}
        self.scheduler.submit(inner, list(inner)).wait(DEADLINE)
        try:
            return sum(self.scheduler.gather(list(inner))) / 3
        except KeyError:
            raise SchedulerClosed from None
        finally:
            self.scheduler.release(inner)

    @staticmethod
    def fail():
        raise Planned


@pytest.mark.parametrize("seed", range(6))
def test_nothing_is_left_behind(seed, tmp_path):
    """Failures, cancellations, nesting, spilling and a close at any point; and all values right."""
    story = Story(seed, tmp_path)
    for thread in story.clients:
        thread.start()
    # Every other story is closed in the middle.
    for _ in range(random.Random(seed).randrange(CLIENTS * JOBS) if seed % 2 else CLIENTS * JOBS):
        assert story.jobs.acquire(timeout=DEADLINE)
    if seed % 2:
        story.scheduler.close()
    for thread in story.clients:
        thread.join(DEADLINE)
        assert not thread.is_alive()
    if story.wrong:
        raise story.wrong[0]
    engine = story.scheduler._engine
    if not engine.closed:
        story.end()
    state, memory = engine.state, engine.state.memory
    with engine.lock:
        assert not state.items
        assert not state.jobs
    story.scheduler.close()
    assert (memory.ledger.nbytes, memory.reserved, memory.leaving, state.active) == (0, 0, 0, 0)
    assert state.on_disk == 0
    assert not any(thread.is_alive() for thread in engine.threads)
    assert not list(tmp_path.iterdir())
    gc.collect()
    assert not [array for array in story.made if array() is not None]
