"""Shutdown of clusters: regular, by a signal, or with processes that restart."""

from __future__ import annotations

import collections
import itertools
import os
import signal
from types import SimpleNamespace

import numpy as np
import psutil
import pytest
from distributed import Client

from marsdask.scheduler.supervisor.compilation.packing import packed
from marsdask.scheduler.testing.tools import pass_gate
from tests.cluster.commands import DEADLINE, Command, free_port, running
from tests.scheduler.peer import eventually
from tests.subprocesses import is_lasting

ONE = {"MARS_CPU_TOTAL": "1"}
TWO = {"MARS_CPU_TOTAL": "2", "DASK_MARSDASK__FAILOVER__KEEP": "1s"}


def worker_line(cluster):
    """Return the line that starts a worker of a cluster."""
    return f"mars-worker -H 127.0.0.1 -s 127.0.0.1:{cluster.port}"


@pytest.fixture(scope="module")
def supervised():
    """Start a supervisor for all tests but the last, which ends it."""
    with running() as commands:
        cluster = SimpleNamespace(commands=commands, port=free_port())
        cluster.address = f"tcp://127.0.0.1:{cluster.port}"
        commands.append(Command(f"mars-supervisor -H 127.0.0.1 -p {cluster.port}"))
        commands[0].wait_for("started at")
        yield cluster


@pytest.fixture
def cluster(supervised):
    """Give a test a cluster with one worker, which is the test's own."""
    with running() as commands:
        commands.append(worker := Command(worker_line(supervised), **ONE))
        worker.wait_for("started at")
        yield SimpleNamespace(**vars(supervised) | {"commands": commands, "worker": worker})


def gone(processes):
    """Return whether all of the processes end within the ten seconds that they may take."""
    _, alive = psutil.wait_procs(processes, timeout=10)
    return not alive


def starting(command):
    """Return the processes of a command but Python's own helpers."""
    return [one for one in command.descendants() if not is_lasting(one)]


def test_a_terminated_worker_leaves_in_order(cluster):
    """Unique results move to another worker; the exit code requests a restart."""
    with Client(cluster.address, set_as_default=False) as client:
        (mine,) = client.nthreads()
        (future,) = client.scatter([np.arange(1000)], workers=[mine])
        cluster.commands.append(other := Command(worker_line(cluster), **ONE))
        other.wait_for("started at")
        processes = cluster.worker.descendants()
        assert processes
        assert cluster.worker.end(signal.SIGTERM) == 143
        assert gone(processes)
        assert future.result(DEADLINE).sum() == 499500
        assert mine not in client.nthreads()
        assert other.end(signal.SIGINT) == 0, "Ctrl-C is no failure"


def test_a_worker_that_is_terminated_while_it_starts(supervised):
    """Its code says the same, and the process that was starting ends."""
    with running() as commands:
        commands.append(worker := Command(worker_line(supervised), **ONE))
        worker.wait_for("Start Nanny at")
        processes = eventually(lambda: starting(worker))
        assert worker.end(signal.SIGTERM) == 143, worker.said
        assert gone(processes)
        assert not any("Traceback" in line for line in worker.said), worker.said


def test_a_killed_nanny_takes_its_worker_along(cluster):
    """SIGKILL of the command leaves no process behind."""
    processes = cluster.worker.descendants()
    assert processes
    cluster.worker.process.kill()
    assert gone(processes)


def test_a_killed_worker_process_comes_back(cluster):
    """Its nanny starts another one, at the same port, which computes."""
    with Client(cluster.address, set_as_default=False) as client:
        pid = client.submit(os.getpid).result(DEADLINE)
        os.kill(pid, signal.SIGKILL)
        assert client.submit(os.getpid, pure=False).result(DEADLINE) != pid


def test_a_process_that_is_not_recovered(supervised):
    """The command ends with it, and as it did, where that is asked for."""
    with running() as commands, Client(supervised.address, set_as_default=False) as client:
        line = f"{worker_line(supervised)} --disable-proc-recover"
        commands.append(worker := Command(line, **ONE))
        worker.wait_for("started at")
        processes = worker.descendants()
        os.kill(client.submit(os.getpid, pure=False).result(DEADLINE), signal.SIGKILL)
        assert worker.wait() == 128 + signal.SIGKILL
        assert gone(processes)


def test_dismissed_workers_end(cluster):
    """A worker that the cluster retires does not come back: the command ends."""
    with Client(cluster.address, set_as_default=False) as client:
        client.retire_workers(close_workers=True)
    assert cluster.worker.wait() == 0


def test_a_terminated_web_server(cluster):
    """It and all that it started end with 0: nothing is lost with it."""
    cluster.commands.append(web := Command(f"mars-web -p 0 -s 127.0.0.1:{cluster.port}"))
    web.wait_for("started at")
    processes = web.descendants()
    assert web.end(signal.SIGTERM) == 0
    assert gone(processes)


class HangingJob:
    """A job whose unpickling waits at a gate."""

    def __init__(self, gate):
        self.address = gate.address

    def __reduce__(self):
        return pass_gate, (self.address, None)


class Spinning:
    """A job whose unpickling never ends, and lets no other thread of its process run."""

    def __reduce__(self):
        return collections.deque, (itertools.repeat(0), 0)


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGKILL])
def test_a_supervisor_with_a_job_that_hangs(gate, signum):
    """It works for others, and ends with 0 and all its processes; those also if it is killed."""
    with running() as commands:
        port = free_port()
        commands.append(command := Command(f"mars-supervisor -H 127.0.0.1 -p {port}"))
        command.wait_for("started at")
        with Client(f"tcp://127.0.0.1:{port}", set_as_default=False) as client:
            job = {"client": client.id, "session": "one", "name": ""}
            start = client.scheduler.mars_compile
            client.sync(start, compilation=packed([HangingJob(gate), Spinning()]), **job)
            gate.wait_until_reached()
            gate.open()
            assert client.scheduler_info()["id"]
            processes = command.descendants()
            assert len(processes) == 2, "the session's own, which is a fork of the other one"
            assert command.end(signum) == (0 if signum == signal.SIGTERM else -signum)
        assert gone(processes)


def test_workers_wait_for_the_next_supervisor(supervised):
    """A supervisor ends with 0, as operators expect; its workers join the one that follows.

    One that has given up is started again at once, whatever another of its command does.
    """
    with running() as commands:
        commands.append(worker := Command(f"{worker_line(supervised)} --processes 2", **TWO))
        worker.wait_for("started at")
        with Client(supervised.address, set_as_default=False) as client:
            client.wait_for_workers(2, timeout=DEADLINE)
            pids = client.run(os.getpid).values()
        frozen = next(one for one in worker.descendants() if one.pid in pids)
        frozen.suspend()
        assert supervised.commands[0].end(signal.SIGTERM) == 0
        worker.wait_for("have lost the supervisor")
        spare = free_port()
        line = f"mars-scheduler -H 127.0.0.1 -p {supervised.port},{spare}"
        commands.append(older := Command(line))
        older.wait_for(f"unused ports: {spare}")
        with Client(supervised.address, set_as_default=False) as client:
            assert client.submit(sum, [1, 2]).result(DEADLINE) == 3
            frozen.resume()
            worker.wait_for("continues with the supervisor")
            client.wait_for_workers(2, timeout=DEADLINE)
            assert frozen.pid in client.run(os.getpid).values(), "it has not ended"
        assert older.end(signal.SIGTERM) == 0, "the older name is the same command"
        processes = worker.descendants()
        assert worker.end(signal.SIGTERM) == 143, "there is nowhere to move results to"
        assert gone(processes)
