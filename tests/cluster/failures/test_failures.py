"""Failures of parts of a cluster: their effects on a job, its session and other sessions."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import subprocess
import sys
import threading
import urllib.request
from contextlib import suppress
from functools import partial
from unittest.mock import patch

import dask.array as da
import dask.config
import psutil
import pytest
from distributed import Client, KilledWorker
from distributed.diagnostics.plugin import SchedulerPlugin, WorkerPlugin
from distributed.scheduler import NoWorkerError
from distributed.worker_state_machine import ComputeTaskEvent

import marsdask
import marsdask.tensor as mt
from marsdask.scheduler.errors import MarsdaskError, WorkerDied
from marsdask.scheduler.remote import client, job
from marsdask.scheduler.remote.client import SupervisorScheduler
from marsdask.scheduler.testing import Gate
from marsdask.scheduler.testing.tools import pass_gate
from marsdask.scheduler.worker import MarsNanny
from tests.cluster import loop
from tests.cluster.commands import DEADLINE, Command, free_port, running
from tests.cluster.loop import beside
from tests.source import ROOT
from tests.subprocesses import children

#: Two deaths are enough.
SOON = {"MARS_CPU_TOTAL": "1", "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1"}


class FailingCluster:
    """A supervisor and a worker, whose process tests may kill: its nanny starts another."""

    def __init__(self, commands):
        self.port, self.web = free_port(), free_port()
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.workers = f"mars-worker -H 127.0.0.1 -s 127.0.0.1:{self.port} --no-bind-cpu"
        commands.append(
            Command(f"mars-supervisor -H 127.0.0.1 -p {self.port} -w {self.web}", **SOON)
        )
        commands[0].wait_for("Mars Web started at")
        self.commands = commands
        self.start_worker()

    def start_worker(self):
        """Start a worker; it is the last of the commands."""
        self.commands.append(Command(self.workers, **SOON))
        self.commands[-1].wait_for("started at")

    def session(self, **options):
        """Return a session of its own client."""
        return marsdask.new_session(self.address, default=False, **options)

    def client(self, workers=1):
        """Return a client once so many workers are there."""
        found = Client(self.address, set_as_default=False, timeout=DEADLINE)
        found.wait_for_workers(workers, timeout=DEADLINE)
        return found

    def told(self, session):
        """Return what the interface tells of a session."""
        url = f"http://127.0.0.1:{self.web}/api/session/{session}"
        with urllib.request.urlopen(url, timeout=DEADLINE) as answer:
            return json.load(answer)


@pytest.fixture(scope="module")
def cluster():
    with running() as commands:
        yield FailingCluster(commands)
    assert not children()


@pytest.fixture(autouse=True)
def nothing_left_running():
    """Check only at the end of the module, which shares the cluster."""


class Sent(SchedulerPlugin):
    """Notices when the last of some tasks has been sent to a worker."""

    name = "sent"

    def __init__(self, missing):
        self.missing = missing
        self.all = asyncio.Event()

    def transition(self, key, start, finish, *args, **kwargs):
        if finish == "processing":
            self.missing.discard(key)
            if not self.missing:
                self.all.set()


async def until_sent(dask_scheduler, keys):
    """Wait until a scheduler has sent all of the tasks to workers."""
    tasks = dask_scheduler.tasks
    waiting = {key for key in keys if key not in tasks or tasks[key].state != "processing"}
    if waiting:
        dask_scheduler.add_plugin(sent := Sent(waiting))
        await asyncio.wait_for(sent.all.wait(), DEADLINE)
        dask_scheduler.remove_plugin(name=sent.name)


def suspect(dask_scheduler, keys):
    """Let tasks have failed as often as they may."""
    for key in keys:
        dask_scheduler.tasks[key].suspicious = dask_scheduler.allowed_failures


def deadly(block, address):
    """Wait at the gate, and kill the process that computes the second chunk."""
    if len(block) > 1 and block[0] == 4:
        pass_gate(address, None)
        os.kill(os.getpid(), signal.SIGKILL)
    return block


def test_a_task_that_kills_its_workers(cluster, gate):
    """The error names the task and its line; other sessions are not affected."""
    with cluster.client() as client, cluster.session() as one, cluster.session() as other:
        kept = (mt.arange(20, chunk_size=4) * 2).execute(session=other)
        sent = mt.array(range(10), chunk_size=5).execute(session=other)
        x = mt.arange(8, chunk_size=4).map_chunk(deadly, args=(gate.address,), dtype=int)
        future = x.execute(session=one, wait=False)
        gate.wait_until_reached()
        behind = client.map(abs, [-1, -2], pure=False)
        keys = [future.key for future in behind]
        client.run_on_scheduler(until_sent, keys=keys)
        client.run_on_scheduler(suspect, keys=keys)
        gate.open()
        gate.wait_until_reached()
        gate.open()
        with pytest.raises(WorkerDied, match="was tried 2 times") as caught:
            future.result(DEADLINE)
        assert isinstance(caught.value, KilledWorker)
        assert "deadly" in str(caught.value)
        assert "--mem-bytes" in str(caught.value)
        notes = "\n".join(caught.value.__notes__)
        assert "chunk (1,) of (2,)" in notes
        assert notes.count("written at") == 1
        assert f"written at {__file__}" in notes
        assert client.gather(behind) == [1, 2], "they were sent there and had not begun"
        assert kept.fetch(session=other).sum() == 380
        assert (sent + 1).sum().execute(session=other).fetch(session=other) == 55


def held(block, address):
    """Wait at the gate with the second chunk."""
    if len(block) > 1 and block[0] == 4:
        pass_gate(address, None)
    return block


def test_the_last_worker_is_killed_in_mid_job(cluster, gate):
    """The job waits and says what to start; it ends right once another worker is there."""
    logger = logging.getLogger(job.__name__)
    logger.addHandler(heard := Heard())
    try:
        with cluster.session() as session:
            kept = (mt.arange(8, chunk_size=4) * 3).execute(session=session)
            x = kept.map_chunk(abs, dtype=int) + mt.arange(8, chunk_size=4).map_chunk(
                held, args=(gate.address,), dtype=int
            )
            future = x.execute(session=session, wait=False)
            gate.wait_until_reached()
            cluster.commands[-1].kill()
            assert heard.first.wait(DEADLINE)
            assert f"mars-worker -s 127.0.0.1:{cluster.port}" in heard.said[0]
            assert not future.done()
            gate.open()
            cluster.start_worker()
            gate.wait_until_reached()
            gate.open()
            assert future.result(DEADLINE).fetch(session=session).tolist() == list(range(0, 32, 4))
            assert kept.fetch(session=session).sum() == 84, "it was lost, and is computed again"
    finally:
        logger.removeHandler(heard)


def muddle(dask_worker, key):
    """Let the arrival of a task fail as anything may where the state machine is wrong."""
    handle = dask_worker.state._handle_event

    def fail(event):
        assert not (isinstance(event, ComputeTaskEvent) and event.key == key), "on purpose"
        return handle(event)

    dask_worker.state._handle_event = fail


def test_a_worker_that_does_not_know_its_state():
    """Its nanny starts another process, and what it held and was to do is computed there."""

    async def main():
        async with loop.supervised({}, worker=MarsNanny) as (_, client):
            kept = client.submit(abs, -2)
            assert await kept == 2
            before = await client.run(os.getpid)
            await client.run(muddle, key="sent")
            assert await client.submit(abs, -1, key="sent") == 1
            assert await kept == 2
            after = await client.run(os.getpid)
            assert len(after) == len(before) == 1
            assert set(after.values()).isdisjoint(before.values())

    loop.run(main)


class Muddled(WorkerPlugin):
    """Lets a task muddle each worker that it comes to."""

    name = "muddled"

    def setup(self, worker):
        muddle(worker, "poison")


def test_a_task_that_muddles_its_workers(cluster):
    """The task fails although it never ran; other sessions are not affected."""
    with cluster.client() as client, cluster.session() as session:
        client.register_plugin(Muddled())
        with pytest.raises(KilledWorker):
            client.submit(abs, -1, key="poison").result(DEADLINE)
        client.unregister_worker_plugin("muddled")
        assert (mt.arange(20, chunk_size=4) * 2).execute(session=session).fetch(
            session=session
        ).sum() == 380


def slow(block, address):
    """Wait at the gate."""
    return pass_gate(address, block) if len(block) > 1 else block


async def silent(dask_scheduler, address, patience=30):
    """Let the time to live of a worker pass since it was last heard of, and its nanny's to act."""
    worker = dask_scheduler.workers[address]
    worker.last_seen -= 1 + dask_scheduler.worker_ttl
    restart = partial(dask_scheduler.restart_workers, timeout=patience)
    with (
        patch.object(dask_scheduler, "restart_workers", restart),
        patch.object(dask_scheduler.silence, "correct"),  # it would know that no time has passed
        suppress(TimeoutError),
    ):
        await dask_scheduler.check_worker_ttl()


def holders(dask_scheduler, key):
    """Return the workers that have a result."""
    return [worker.address for worker in dask_scheduler.tasks[key].who_has]


def held_up(session, gate, first):
    """Start a job with a task for each of two workers, both of which stand at the gate."""
    x = mt.arange(first, first + 8, chunk_size=4)
    x = x.map_chunk(slow, args=(gate.address,), dtype=int)
    future = x.execute(session=session, wait=False)
    for _ in range(2):
        gate.wait_until_reached()
    return future


def test_frozen_workers(cluster, gate):
    """After the time to live their tasks run elsewhere.

    A nanny starts a frozen process anew. Where it is frozen too, both come back when they go on,
    with their results.
    """
    with running() as commands, cluster.session() as session:
        commands.append(Command(cluster.workers, **SOON))
        commands[0].wait_for("started at")
        with cluster.client(workers=2) as client:
            before = client.run(os.getpid)
            kept = (mt.arange(20, chunk_size=4) * 2).execute(session=session)
            future = held_up(session, gate, first=0)
            frozen = min(before)
            os.kill(before[frozen], signal.SIGSTOP)
            gate.open()
            client.run_on_scheduler(silent, address=frozen)
            gate.wait_until_reached()  # elsewhere
            gate.open()
            assert future.result(DEADLINE).fetch(session=session).tolist() == list(range(8))
            assert kept.fetch(session=session).sum() == 380
            client.wait_for_workers(2, timeout=DEADLINE)
            after = set(client.run(os.getpid).values())
            assert before[frozen] not in after, "its nanny has ended it"
            assert len(after & set(before.values())) == 1

            pids = client.run(os.getpid)
            both = [psutil.Process(commands[0].process.pid), *commands[0].descendants()]
            (frozen,) = (a for a, pid in pids.items() if pid in {one.pid for one in both})
            (sent,) = client.scatter([b"sent"], workers=[frozen], hash=False)
            future = held_up(session, gate, first=8)
            for process in both:
                process.suspend()
            gate.open()
            client.run_on_scheduler(silent, address=frozen, patience=0.5)
            gate.wait_until_reached()
            gate.open()
            assert future.result(DEADLINE).fetch(session=session).tolist() == list(range(8, 16))
            for process in both:
                process.resume()
            client.wait_for_workers(2, timeout=DEADLINE)
            assert client.run(os.getpid) == pids
            assert client.run_on_scheduler(holders, key=sent.key) == [frozen]


class Gone(SchedulerPlugin):
    """Reports on a socket that a client disconnected, and its remaining tasks."""

    name = "gone"

    def __init__(self, address, client):
        self.address = address
        self.client = client

    def remove_client(self, scheduler, client):
        if client == self.client:
            # After all plugins have heard of it, so that the sessions have too.
            scheduler.loop.add_callback(pass_gate, self.address, None)


#: A session that keeps one result and is in the middle of the next.
_SESSION = """
import sys
import marsdask
import marsdask.tensor as mt
from tests.cluster.failures.test_failures import slow

session = marsdask.new_session(sys.argv[1], session_id=sys.argv[2], default=False)
kept = mt.arange(10, chunk_size=5).execute(session=session)
address = ("127.0.0.1", int(sys.argv[3]))
x = mt.arange(4, chunk_size=4).map_chunk(slow, args=(address,), dtype=int)
future = x.execute(session=session, wait=False)
print(session.scheduler.client.id, flush=True)
sys.stdin.read()
session.close()
"""


@pytest.mark.parametrize("how", ["killed", "closed"])
def test_a_client_that_is_gone(cluster, gate, how):
    """Its results are freed and its jobs stopped, and its session is listed as ended.

    If it was killed, its results are freed later: its connection could have broken.
    """
    last = Gate()
    with cluster.client() as client:
        before = set(client.run_on_scheduler(_tasks))
        arguments = [cluster.address, how, str(gate.address[1])]
        with subprocess.Popen(
            [sys.executable, "-c", _SESSION, *arguments],
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdout is not None
            assert process.stdin is not None
            name = process.stdout.readline().strip()
            gate.wait_until_reached()
            assert set(client.run_on_scheduler(_tasks)) - before
            told = cluster.told(how)
            assert (told["state"], told["running"]) == ("open", 1)
            client.register_plugin(Gone(last.address, name))
            if how == "killed":
                process.kill()
            else:
                process.stdin.close()
            last.wait_until_reached()
            last.close()
        gate.open()
        client.unregister_scheduler_plugin("gone")
        told = cluster.told(how)
        assert (told["state"], told["running"]) == ("ended", 0)
        assert told["end_time"] is not None
        left = set(client.run_on_scheduler(_tasks)) - before
        assert bool(left) == (how == "killed")
        client.run_on_scheduler(_end_hold)
        assert set(client.run_on_scheduler(_tasks)) <= before


def _end_hold(dask_scheduler):
    dask_scheduler.unclaimed_results._drop()  # as after marsdask.failover.keep


def _tasks(dask_scheduler):
    return [str(key) for key in dask_scheduler.tasks]


def test_a_session_that_ends_before_its_client(cluster):
    """It is listed as ended too, and only its own results are freed."""
    with cluster.client() as client:
        session = marsdask.new_session(client, default=False, session_id="guest")
        kept = client.submit(abs, -1)
        x = mt.arange(10, chunk_size=5).execute(session=session)
        assert x.fetch(session=session).sum() == 45
        assert cluster.told("guest")["state"] == "open"
        session.close()
        assert cluster.told("guest")["state"] == "ended"
        assert kept.result(DEADLINE) == 1


class Heard(logging.Handler):
    """Records log messages and their times."""

    def __init__(self):
        super().__init__()
        self.said: list[str] = []
        self.first = threading.Event()

    def emit(self, record):
        self.said.append(record.getMessage())
        self.first.set()


@pytest.mark.parametrize("compiled", [True, False])
def test_nobody_comes(compiled):
    """The warning names the command to start workers; after the timeout the job fails."""
    logger = logging.getLogger((job if compiled else client).__name__)
    logger.addHandler(heard := Heard())
    try:
        with (
            dask.config.set({"distributed.scheduler.no-workers-timeout": "3s"}),
            beside() as cluster,
            marsdask.new_session(
                SupervisorScheduler(cluster.scheduler_address), default=False
            ) as session,
        ):
            x = mt.ones(10) if compiled else mt.from_dask(da.ones(10, chunks=5))
            future = x.sum().execute(session=session, wait=False)
            assert heard.first.wait(DEADLINE)
            endpoint = cluster.scheduler_address.removeprefix("tcp://")
            assert f"mars-worker -s {endpoint}" in heard.said[0]
            with pytest.raises(MarsdaskError, match=r"no worker joined.*3.*mars-worker") as caught:
                future.result(DEADLINE)
            assert isinstance(caught.value, NoWorkerError)
            session.scheduler.close()
    finally:
        logger.removeHandler(heard)
