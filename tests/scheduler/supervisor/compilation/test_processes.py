"""A process for each session compiles its jobs; what hangs, dies or grows too large is ended."""

from __future__ import annotations

import collections
import contextlib
import importlib
import itertools
import os
import pickle
import signal
import stat
import struct
import sys
import threading

import dask.config
import psutil
import pytest

import marsdask
import marsdask.tensor as mt
from marsdask.scheduler.errors import CompilationDied, CompilationTimeout
from marsdask.scheduler.remote.client import SupervisorScheduler
from marsdask.scheduler.storage import server_folder
from marsdask.scheduler.supervisor import jobs
from marsdask.scheduler.supervisor.compilation import forkserver, total_memory
from marsdask.scheduler.supervisor.compilation import processes as compile_processes
from marsdask.scheduler.supervisor.compilation.packed_tasks import PackedTask
from marsdask.scheduler.supervisor.compilation.packing import packed
from marsdask.scheduler.supervisor.lineage import Lineage
from tests.cluster.commands import DEADLINE
from tests.cluster.loop import beside
from tests.scheduler.peer import eventually

MEMORY = 1 << 30


@pytest.fixture
def cluster():
    """Start a supervisor with compile processes, and a worker, in this process."""
    with (
        dask.config.set({"marsdask.compile.memory": MEMORY}),
        beside({"nthreads": 2}, compile_processes=True, validate=True) as cluster,
    ):
        yield cluster


@pytest.fixture
def session(cluster):
    scheduler = SupervisorScheduler(cluster.scheduler_address)
    with marsdask.new_session(scheduler, default=False) as session:
        yield session
    scheduler.close()


class Reduced:
    """Something whose unpickling calls a function."""

    def __init__(self, function, *args):
        self.call = function, args

    def __reduce__(self):
        return self.call


#: Never ends, and lets no other thread run meanwhile.
SPINNING = Reduced(collections.deque, itertools.repeat(0), 0)


def started(cluster, client, session, value):
    """Start a job with a value in place of a compilation."""

    async def start():
        supervisor = cluster.scheduler
        data = packed(value)
        number = await supervisor.jobs.compile(
            client=client.id, session=session, name="", compilation=data
        )
        return supervisor.jobs.jobs[number]

    return cluster.sync(start)


def ended(cluster, job):
    """Wait until a job has ended, and return its error."""

    async def wait():
        async with job.changed:
            await job.changed.wait_for(lambda: job.ended)
        return pickle.loads(job.outcome)[1]

    return cluster.sync(wait)


def processes(cluster):
    """Return the compile processes that are alive."""
    return {one.pid for one in list(cluster.scheduler.jobs._compilers._processes) if one.alive}


def test_jobs_that_hang_die_or_grow(cluster, session):
    """Each is ended with its own error, and delays nobody, though it lets no thread run."""
    client = session.scheduler.client
    x = mt.ones(4, chunk_size=2).sum()
    x.execute(session=session)
    others = processes(cluster)
    with dask.config.set({"marsdask.compile.timeout": "1s"}):
        job = started(cluster, client, "other", SPINNING)
        y = mt.ones(6, chunk_size=2).sum()
        y.execute(session=session)
        assert not job.ended, "this session did not wait for the other one"
        assert isinstance(ended(cluster, job), CompilationTimeout)
    assert processes(cluster) == others
    error = ended(cluster, started(cluster, client, "other", Reduced(os._exit, 3)))
    assert isinstance(error, CompilationDied)
    assert error.exitcode == 3
    large = Reduced(bytearray, 2 * MEMORY)
    error = ended(cluster, started(cluster, client, session.session_id, large))
    assert isinstance(error, MemoryError)
    assert "marsdask.compile.memory" in error.__notes__[0]
    assert processes(cluster) == others
    assert [x.fetch(session=session), y.fetch(session=session)] == [4, 6]


def test_a_cancelled_job_that_hangs(cluster, session):
    """The session's next job has another process; the first one ends later, if it still hangs."""
    x = mt.ones(4, chunk_size=2).sum()
    x.execute(session=session)
    (pid,) = processes(cluster)
    hanging = Reduced(hoard, 1)
    with dask.config.set({"marsdask.compile.timeout": "5s"}):
        job = started(cluster, session.scheduler.client, session.session_id, hanging)
        (process,) = cluster.scheduler.jobs._compilers._processes
        process.new()  # as of a result that may be lost
        eventually(lambda: len(process.open) > 1 and process.is_still(process.requests))
        cluster.sync(cluster.scheduler.jobs.cancel, job=job.id)
        y = mt.ones(6, chunk_size=2).sum()
        y.execute(session=session)
        assert process.is_still(process.requests)
        eventually(lambda: pid not in processes(cluster))
    assert [x.fetch(session=session), y.fetch(session=session)] == [4, 6]


def hoard(size):
    """Use memory, and wait."""
    data = b"x" * size
    threading.Event().wait()
    return data


def test_all_processes_together_have_a_budget(cluster, session, monkeypatch):
    """Of those that exceed it together, the largest one is ended, and says which setting it is."""
    monkeypatch.setattr(total_memory, "_INTERVAL", 0.05)
    client = session.scheduler.client
    with dask.config.set({"marsdask.compile.total-memory": MEMORY // 4}):
        x = mt.ones(4, chunk_size=2).sum()
        x.execute(session=session)
        small = processes(cluster)
        error = ended(cluster, started(cluster, client, "other", Reduced(hoard, MEMORY // 4)))
        assert isinstance(error, CompilationDied)
        assert error.exitcode == -signal.SIGKILL
        assert f"{MEMORY // 4} bytes (marsdask.compile.total-memory" in str(error)
        assert processes(cluster) == small
        assert x.fetch(session=session) == 4


def flood():
    """Announce an answer of a terabyte on every connection of this process."""
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            if stat.S_ISSOCK(os.fstat(int(name)).st_mode):
                os.write(int(name), struct.pack("!iQ", -1, 1 << 40))
    threading.Event().wait()


def leave_group(group):
    """Join another group of processes, and wait."""
    os.setpgid(0, group)
    threading.Event().wait()


def test_answers_that_are_too_large_and_processes_that_leave_their_group(cluster, session):
    """The answer is not read; the process is ended, and the fork server does not wait for it."""
    client = session.scheduler.client
    x = mt.ones(4, chunk_size=2).sum()
    x.execute(session=session)
    others = processes(cluster)
    assert isinstance(
        ended(cluster, started(cluster, client, "other", Reduced(flood))), CompilationDied
    )
    with dask.config.set({"marsdask.compile.timeout": "0.5s"}):
        job = started(cluster, client, "other", Reduced(leave_group, *others))
        assert isinstance(ended(cluster, job), CompilationTimeout)
    assert processes(cluster) == others


def test_an_answer_that_comes_too_late(cluster, session, monkeypatch):
    """It would name the fork of another session to the next one: there is a new fork server."""
    compilers = cluster.scheduler.jobs._compilers
    forkserver_before = compilers._forkserver
    forkserver_before.start()
    os.kill(forkserver_before.pid, signal.SIGSTOP)
    forkserver_before._control.settimeout(0.2)
    with pytest.raises(CompilationDied):
        mt.ones(7, chunk_size=2).execute(session=session)
    os.kill(forkserver_before.pid, signal.SIGCONT)
    x = mt.ones(9, chunk_size=2).sum()
    assert x.execute(session=session).fetch(session=session) == 9
    (used,) = processes(cluster)
    assert psutil.Process(used).ppid() == compilers._forkserver.pid != forkserver_before.pid


def broken(block):
    """Fail as users' functions do."""
    raise OSError(7, "broken on purpose")


def test_tasks_stay_packed(cluster, session, monkeypatch):
    """The supervisor knows their inputs only, also of those that it makes again."""
    monkeypatch.setattr(jobs, "BATCH", 10)
    with marsdask.option_context({"coalesce": False}):
        x = mt.arange(40, chunk_size=1) + 1
        x.execute(session=session)
        small = mt.arange(4, chunk_size=1) + 2
        small.execute(session=session)
    scheduler = cluster.scheduler
    kinds = {type(ts.run_spec) for ts in scheduler.tasks.values() if isinstance(ts.key, tuple)}
    assert kinds == {PackedTask, Lineage}

    async def lose():
        keys = [key for key, ts in scheduler.tasks.items() if isinstance(ts.run_spec, Lineage)]
        scheduler.transitions(dict.fromkeys(keys, "released"), "lost")

    cluster.sync(lose)
    assert x.fetch(session=session).sum() == 820
    failing = mt.ones((4, 4), chunk_size=2).map_chunk(broken, dtype=float)
    with pytest.raises(OSError, match="on purpose") as caught:
        failing.execute(session=session)
    assert __file__ in "\n".join(caught.value.__notes__), "errors are explained as ever"
    (used,) = processes(cluster)
    process = psutil.Process(used)
    session.scheduler.close()
    process.wait(DEADLINE)
    assert not processes(cluster), "it has ended with its session"


class Imported:
    """Something whose unpickling fails with the number in a module."""

    def __init__(self, name):
        self.name = name

    def __reduce__(self):
        return told, (self.name,)


def told(name):
    """Raise what a module has as its number."""
    raise LookupError(importlib.import_module(name).VERSION)


def test_uploaded_modules(cluster, session, tmp_path, monkeypatch):
    """Later jobs get a module as it is now, though the process has imported an old one."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    module = tmp_path / "uploaded_for_compilation.py"
    client = session.scheduler.client
    for number in (1, 2):
        module.write_text(f"VERSION = {number}")
        client.upload_file(str(module))
        job = started(cluster, client, session.session_id, Imported(module.stem))
        assert ended(cluster, job).args == (number,)
    sys.modules.pop(module.stem, None)


def test_a_fork_server_does_without_uploads(monkeypatch):
    """It starts without what clients have uploaded; each session's process gets that later."""
    monkeypatch.setattr(sys, "path", ["/uploaded/modules", *sys.path])
    monkeypatch.setattr(server_folder, "_uploads", {"/uploaded/modules"})
    server = forkserver.ForkServer()
    try:
        server.start()
        assert server.pid is not None
        command = psutil.Process(server.pid).cmdline()
    finally:
        server.close()
    assert "/uploaded/modules" not in command
    assert sys.path[-1] in command


def test_a_killed_fork_server(cluster, session):
    """Its forks end with it, and the next job has others."""
    x = mt.ones(4, chunk_size=2).sum()
    x.execute(session=session)
    compilers = cluster.scheduler.jobs._compilers
    (used,) = (psutil.Process(pid) for pid in processes(cluster))
    assert used.ppid() == compilers._forkserver.pid
    os.kill(compilers._forkserver.pid, signal.SIGKILL)
    used.wait(DEADLINE)
    y = mt.ones(6, chunk_size=2).sum()
    y.execute(session=session)
    assert [x.fetch(session=session), y.fetch(session=session)] == [4, 6]
    assert used.pid not in processes(cluster)


def test_a_fork_server_that_cannot_start(cluster, session, monkeypatch):
    """A job says so; the next one starts another."""
    cluster.scheduler.jobs._compilers._forkserver.close()
    with monkeypatch.context() as patch:
        patch.setattr(forkserver, "_START", "raise SystemExit(3)")
        for number in (7, 8):
            with pytest.raises(CompilationDied):
                mt.ones(number, chunk_size=2).execute(session=session)
    x = mt.ones(9, chunk_size=2).sum()
    assert x.execute(session=session).fetch(session=session) == 9


def test_a_failed_start_is_not_repeated(monkeypatch):
    """Whoever asks again gets the same error."""
    monkeypatch.setattr(forkserver, "_START", "raise SystemExit(3)")
    server = forkserver.ForkServer()
    for _ in range(2):
        with pytest.raises(BrokenPipeError):
            server.start()
    assert not server.alive
    server.close()


def test_idle_processes_end(cluster, session, monkeypatch):
    """A session whose jobs have ended keeps none; its next job starts one."""
    monkeypatch.setattr(compile_processes, "_IDLE", 0.0)
    for number in (4, 6):
        x = mt.ones(number, chunk_size=2).sum()
        assert x.execute(session=session).fetch(session=session) == number
        assert eventually(lambda: not processes(cluster))
