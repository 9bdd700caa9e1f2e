"""A cluster of processes, jobs on it, and what goes wrong meanwhile, drawn from one seed."""

from __future__ import annotations

import contextlib
import gc
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import psutil
from distributed import Client, KilledWorker

import marsdask
import marsdask.dataframe as md
import marsdask.tensor as mt
from marsdask.scheduler.errors import MarsdaskError
from marsdask.scheduler.events import TaskDone
from tests.cluster.commands import Command, free_port
from tests.source import ROOT

#: Seconds for a job to end, right or with an error, and for a cluster to be whole again.
DEADLINE = 120

#: What tells a user that the cluster failed, and not the program.
CLEAR = (MarsdaskError, KilledWorker, CancelledError, OSError)

#: Open files by which a server may have grown in the end: connections that come and go.
SLACK = 8

WORKERS = 2

#: Maximum number of finished tasks before a failure.
MOST_TASKS = 60


def sorting(seed: int) -> tuple[Any, Any]:
    """Return a sort of many chunks, and its value."""
    values = np.random.default_rng(seed).integers(0, 2**40, 200_000)
    return mt.sort(mt.array(values, chunk_size=5_000) * 2), np.sort(values * 2)


def decomposing(seed: int) -> tuple[Any, Any]:
    """Return the singular values of a tall matrix, and their value."""
    values = np.random.default_rng(seed).random((8_000, 20))
    found = mt.linalg.svd(mt.array(values, chunk_size=(250, 20)))
    return found[1], np.linalg.svd(values, compute_uv=False)


def shuffling(seed: int) -> tuple[Any, Any]:
    """Return a sort of a frame by its values, and those."""
    values = np.random.default_rng(seed).permutation(20_000)
    frame = pd.DataFrame({"key": values % 97, "value": values})
    found = md.DataFrame(frame, chunk_size=1_000).sort_values("value")
    return found["value"], np.arange(20_000)


JOBS: tuple[Callable[[int], tuple[Any, Any]], ...] = (sorting, decomposing, shuffling)

#: A client of its own, which is killed at its job.
_CLIENT = """
import sys
import marsdask
from tests.chaos.random_failures import JOBS

session = marsdask.new_session(sys.argv[1])
job, _ = JOBS[int(sys.argv[2])](int(sys.argv[3]))
print("begins", flush=True)
while True:
    job.execute(session=session)
    job, _ = JOBS[int(sys.argv[2])](int(sys.argv[3]))
"""


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

    def end(self, *job: Any) -> None:
        """Set the event, because the job has ended."""
        self.set()


@dataclass
class FailureInjector:
    """A cluster whose processes are killed and restarted; counts the results of jobs."""

    seed: int
    folder: Path
    right: int = 0
    errors: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.draw = random.Random(self.seed)
        self.port = free_port()
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.workers: list[Command] = []
        self.killed_workers: list[str] = []

    @contextlib.contextmanager
    def cluster(self) -> Iterator[FailureInjector]:
        """Start the cluster, and kill its processes at the end."""
        self.supervisor = self._start("mars-supervisor")
        try:
            for _ in range(WORKERS):
                self.workers.append(self._start("mars-worker"))
            yield self
        finally:
            for command in (*self.workers, self.supervisor):
                command.kill()

    def _start(self, name: str) -> Command:
        line = f"{name} -H 127.0.0.1 "
        if name == "mars-supervisor":
            line += f"-p {self.port}"
        else:
            line += f"-s 127.0.0.1:{self.port} --no-bind-cpu --spill-dirs {self.folder}"
        command = Command(line, MARS_CPU_TOTAL="1", TMPDIR=str(self.folder))
        if name == "mars-supervisor":
            command.wait_for("started at")
        return command

    def step(self) -> None:
        """Run one job during a failure, and check its result or error."""
        kind = self.draw.randrange(len(JOBS))
        job, expected = JOBS[kind](self.draw.randrange(2**32))
        fail = self.draw.choice((self.kill_worker, self.kill_nanny, self.kill_client))
        if self.draw.random() < 0.2:
            fail = self.kill_supervisor
        self.failures.append(fail.__name__)
        self._await_workers()
        try:
            with marsdask.new_session(self.address, default=False) as session:
                trigger = ProgressTrigger(session, self.draw.randrange(MOST_TASKS))
                running = job.execute(session=session, wait=False)
                running.add_done_callback(trigger.end)
                assert trigger.wait(DEADLINE), "a job makes no progress"
                fail()
                running.result(DEADLINE)
                found = np.asarray(job.fetch(session=session))
        except CLEAR as error:
            self.errors.append(f"{fail.__name__}: {told(error)}")
        else:
            np.testing.assert_allclose(found, expected, err_msg=str(self.failures))
            self.right += 1

    def kill_worker(self) -> None:
        """Kill a worker process; its nanny starts another."""
        with self._client() as client:
            pids = sorted(client.run(os.getpid, on_error="ignore").values())
        if pids:
            _kill(self.draw.choice(pids))

    def kill_nanny(self) -> None:
        """Kill a whole ``mars-worker``, and start one in its place."""
        position = self.draw.randrange(WORKERS)
        processes = self.workers[position].descendants()
        self.workers[position].process.kill()
        _, alive = psutil.wait_procs(processes, timeout=DEADLINE)
        assert not alive, f"{alive} outlive their nanny"
        self.workers[position].kill()
        self.workers[position] = self._start("mars-worker")

    def kill_client(self) -> None:
        """Kill a client in the middle of a job of its own."""
        kind, seed = self.draw.randrange(len(JOBS)), self.draw.randrange(2**32)
        with subprocess.Popen(
            [sys.executable, "-c", _CLIENT, self.address, str(kind), str(seed)],
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
        ) as process:
            assert process.stdout is not None
            process.stdout.readline()
            process.kill()

    def kill_supervisor(self) -> None:
        """Kill the supervisor, and start one in its place; the workers find it."""
        self.supervisor.kill()
        self.supervisor = self._start("mars-supervisor")

    def _client(self) -> Client:
        return Client(self.address, set_as_default=False, timeout=DEADLINE)

    def _await_workers(self) -> None:
        with self._client() as client:
            client.wait_for_workers(WORKERS, timeout=DEADLINE)

    def shut_down(self) -> None:
        """Wait until the supervisor knows of no task; end all in order, and look for leaks."""
        self._await_workers()
        with self._client() as client:
            deadline = time.monotonic() + DEADLINE
            while left := client.run_on_scheduler(_tasks):
                assert time.monotonic() < deadline, f"the supervisor keeps {left}"
        for command in (*self.workers, self.supervisor):
            processes = command.descendants()
            command.end(signal.SIGTERM)
            _, alive = psutil.wait_procs(processes, timeout=10)
            assert not alive, f"{command.line} leaves {alive}"


def told(error: BaseException) -> str:
    """Return what an error says, if it says anything but that time is up."""
    assert not isinstance(error, TimeoutError), "a job hangs"
    assert str(error) or isinstance(error, CancelledError), repr(error)
    return f"{type(error).__name__}: {error}"[:200]


def _tasks(dask_scheduler: Any) -> list[str]:
    return [str(key) for key in dask_scheduler.tasks][:10]


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def open_files() -> int:
    """Return how many files and sockets this process has open, without garbage's."""
    gc.collect()
    return psutil.Process().num_fds()
