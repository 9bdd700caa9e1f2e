"""Sessions end soon when their supervisor has ended or does not answer."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from types import SimpleNamespace

import dask.config
import numpy as np
import pytest
from distributed.utils import LoopRunner

import marsdask
import marsdask.tensor as mt
from marsdask.scheduler.errors import NoSupervisor, ResultLost
from marsdask.scheduler.remote import client, reconnect
from marsdask.scheduler.remote import job as remote
from marsdask.scheduler.remote.reconnect import ReconnectingClient
from tests.cluster.commands import DEADLINE, Command, free_port, running
from tests.source import ROOT


@contextmanager
def started():
    """Start a supervisor, whose jobs wait for workers."""
    with running() as commands:
        port, web = free_port(), free_port()
        commands.append(command := Command(f"mars-supervisor -H 127.0.0.1 -p {port} -w {web}"))
        command.wait_for("Web started at")
        yield SimpleNamespace(
            process=command.process,
            address=f"tcp://127.0.0.1:{port}",
            web=f"http://127.0.0.1:{web}",
        )


@pytest.fixture(scope="module")
def lasting():
    """Start one that each test finds as it was."""
    with started() as supervisor:
        yield supervisor


@pytest.fixture
def supervisor(lasting):
    """Give one that may be stopped, and goes on when the test has ended."""
    yield lasting
    lasting.process.send_signal(signal.SIGCONT)


def ends(function):
    """Return whether a function returns before the deadline."""
    thread = threading.Thread(target=function, daemon=True)
    thread.start()
    thread.join(DEADLINE)
    return not thread.is_alive()


def test_a_supervisor_that_never_comes_back():
    """Its clients give up with a reason; closing them then leaves no thread behind."""
    with started() as supervisor, dask.config.set({"marsdask.failover.keep": "0.1s"}):
        session = marsdask.new_session(supervisor.address, default=False)
        future = mt.arange(10).execute(session=session, wait=False)
        supervisor.process.kill()
        with pytest.raises(NoSupervisor, match=r"failover\.keep"):
            future.result(DEADLINE)
        assert ends(session.close)


def test_a_closed_client_that_is_collected(lasting):
    """It waits for no lock: the collector may run in a thread that a new client waits for."""
    one = ReconnectingClient(lasting.address, set_as_default=False)
    one.close()
    with LoopRunner._lock:
        assert ends(one.__del__)


@pytest.mark.parametrize("ended", [False, True])
def test_a_client_that_is_collected_while_another_starts(lasting, ended):
    """It may be collected in the thread that holds the lock of event loops: it closes later."""
    one = ReconnectingClient(lasting.address, set_as_default=False)
    thread = one._loop_runner._loop_thread
    if ended:  # by itself, so that its event loop still runs
        one.sync(one._close)
    with LoopRunner._lock:
        assert ends(one.__del__)
    assert thread is not None
    thread.join(DEADLINE)  # or a TimeoutError
    assert one.status == "closed"


def test_a_supervisor_that_comes_back_without_workers():
    """Lost results raise an error."""
    with running() as commands:
        port = free_port()
        line = f"mars-supervisor -H 127.0.0.1 -p {port}"
        commands.append(Command(line))
        commands[0].wait_for("started at")
        worker = f"mars-worker -H 127.0.0.1 -s 127.0.0.1:{port} --no-bind-cpu"
        commands.append(Command(worker, MARS_CPU_TOTAL="1"))
        commands[1].wait_for("started at")
        with marsdask.new_session(f"tcp://127.0.0.1:{port}", default=False) as session:
            x = mt.arange(10, chunk_size=5).execute(session=session)
            for command in commands:
                command.kill()
            commands.append(Command(line))
            with pytest.raises(ResultLost, match=r"is lost.*execute it again"):
                x.fetch(session=session)


@pytest.mark.parametrize("busy", [False, True])
def test_a_frozen_supervisor(supervisor, busy, monkeypatch, caplog):
    """It is waited for some seconds; ``busy``: with megabytes on their way to it."""
    monkeypatch.setattr(client, "FAREWELL", 0.2)
    monkeypatch.setattr(reconnect, "FAREWELL", 0.2)
    theirs = ReconnectingClient(supervisor.address, set_as_default=False)
    session = marsdask.new_session(theirs, default=False)
    began, start = threading.Event(), remote.RemoteJob.start

    def started(job, *args):
        start(job, *args)
        began.set()

    monkeypatch.setattr(remote.RemoteJob, "start", started)
    mt.arange(10).execute(session=session, wait=False)
    assert began.wait(DEADLINE)
    supervisor.process.send_signal(signal.SIGSTOP)
    if busy:
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 GiB"}):
            future = theirs.submit(np.sum, np.ones(2**22))
        assert not future.done()
    assert ends(session.close)
    assert "could not report the end of a session" in caplog.text
    assert ends(theirs.close)
    assert ("closing the connection" in caplog.text) == busy


#: A process that ends without closing anything.
_FORGETFUL = """
import sys
import marsdask
import marsdask.tensor as mt

session = marsdask.new_session(sys.argv[1], default=False)
future = mt.arange(10).execute(session=session, wait=False)
print("waits", flush=True)
future.result()
"""


@pytest.mark.parametrize("door", ["address", "web"])
def test_a_program_that_closes_nothing(supervisor, door):
    """It ends without a word, as the programs of Mars's documents do."""
    program = "import sys, marsdask; print(marsdask.new_session(sys.argv[1]))"
    ended = subprocess.run(
        [sys.executable, "-c", program, getattr(supervisor, door)],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
        timeout=DEADLINE,
    )
    assert ended.stdout.startswith("<Session")
    assert ended.stderr == ""


def test_ctrl_c_while_the_supervisor_is_frozen(supervisor):
    """A job that waits ends, and the process with it."""
    with running() as commands:
        line = shlex.join(["python", "-c", _FORGETFUL, supervisor.address])
        commands.append(program := Command(line))
        program.wait_for("waits")
        supervisor.process.send_signal(signal.SIGSTOP)
        assert program.end(signal.SIGINT) in (1, -signal.SIGINT)
        program.wait_for("KeyboardInterrupt")
