"""One step: a program runs while something goes wrong, and ends right or with a named error."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NoReturn

import numpy as np

import marsdask
from marsdask.scheduler.events import TaskDone
from tests.chaos.cluster import DEADLINE, ChaosCluster, shared_bytes
from tests.chaos.faults import FAULTS, Mend, named
from tests.chaos.programs import PROGRAMS, Program

#: Maximum number of finished tasks before a fault, and seconds until it is mended.
MOST_TASKS, LONGEST = 60, 25.0

#: Numbers of tasks from which on stages are split; usually large ones only.
BATCHES = (None, 6, 20)


class ProgressTrigger(threading.Event):
    """Set when the given number of a session's tasks are done."""

    def __init__(self, session: Any, tasks: int) -> None:
        super().__init__()
        self._missing = tasks
        self._compile = session.scheduler.compile
        session.scheduler.compile = self._compiled
        if not tasks:
            self.set()

    def _compiled(self, *args: Any, callbacks: Any = (), **options: Any) -> Any:
        return self._compile(*args, callbacks=(*callbacks, self._heard), **options)

    def _heard(self, event: Any) -> None:
        if isinstance(event, TaskDone):
            self._missing -= 1
            if self._missing <= 0:
                self.set()


def _mend_later(ended: threading.Event, seconds: float, mend: Mend) -> None:
    """Undo a fault after some seconds, or once the job has ended."""
    ended.wait(seconds)
    mend()


def _run(program: Program, session: Any, seed: int, *, coalesce: bool) -> tuple[Any, Any]:
    """Run a program; all its chunks are tasks unless they may coalesce."""
    with marsdask.option_context({"coalesce": coalesce}):
        return program(session, seed)


class Steps:
    """The steps of a seed, each of which is drawn from the seed and its number alone."""

    def __init__(self, cluster: ChaosCluster, seed: int, kinds: Sequence[str] = ()) -> None:
        self.cluster = cluster
        self.seed = seed
        possible = [name for name, one in FAULTS.items() if cluster.apart or not one.apart]
        self.kinds = list(kinds or possible)
        self.right = 0
        self.errors: list[str] = []
        """The named errors of faults."""
        self.shared = 0
        """The most bytes that a worker has shared after a job."""

    def run(self, number: int) -> None:
        """Run a program during a fault, and check its value or error."""
        draw = random.Random(f"{self.seed}:{number}")
        program, seed = draw.choice(PROGRAMS), draw.randrange(2**32)
        name, after = draw.choice(self.kinds), draw.randrange(MOST_TASKS)
        lasts = draw.uniform(1.0, LONGEST)
        batch = random.Random(f"{self.seed}:{number}:batch").choice(BATCHES)
        address = self.cluster.whole()
        print(  # noqa: T201
            f"SEED={self.seed} STEP={number}: {program.__name__}, {name} after {after} tasks for "
            f"{lasts:.0f} s; batches of {batch}",
            flush=True,
        )
        self.cluster.split_stages(batch)
        began = time.monotonic()
        with (
            marsdask.new_session(address, default=False) as session,
            ThreadPoolExecutor(1) as thread,
        ):
            trigger = ProgressTrigger(session, after)
            running = thread.submit(_run, program, session, seed, coalesce=batch is None)
            running.add_done_callback(lambda _: trigger.set())
            if not trigger.wait(DEADLINE):
                self._give_up("a job makes no progress")
            mend = FAULTS[name].inject(self.cluster, draw)
            ended = threading.Event()
            mending = threading.Thread(target=_mend_later, args=(ended, lasts, mend))
            mending.start()
            try:
                found, right = running.result(DEADLINE)
                np.testing.assert_allclose(found, right)
                self.right += 1
            except FAULTS[name].errors as error:
                self.errors.append(f"{name}: {named(error, FAULTS[name].errors)}")
            except TimeoutError:
                self._give_up(f"a job hangs {DEADLINE} s after {name}")
            finally:
                ended.set()
                mending.join()
            self._look(session)
        print(f"  {time.monotonic() - began:.0f} s", flush=True)  # noqa: T201

    def _give_up(self, why: str) -> NoReturn:
        """Print the state of a cluster whose job hangs, and fail; the job would hang for ever."""
        print(self.cluster.state(), flush=True)  # noqa: T201
        self.cluster.kill()
        raise AssertionError(why)

    def _look(self, session: Any) -> None:
        """Ask what is shared now."""
        try:
            told = session.scheduler.client.run(shared_bytes, on_error="ignore")
        except OSError:  # it reconnects
            return
        self.shared = max([self.shared, *told.values()])
