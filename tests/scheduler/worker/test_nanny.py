"""The nanny, without a worker process or with one that never gets ready."""

import asyncio
import os
import threading
from types import SimpleNamespace
from typing import Any

import distributed
import pytest
from distributed import Client
from distributed.core import Status
from distributed.process import AsyncProcess

from marsdask.scheduler.storage.shared import own_memory
from marsdask.scheduler.supervisor import Supervisor
from marsdask.scheduler.worker import MarsNanny
from marsdask.scheduler.worker.memory_ledger import LedgerView, MemoryLedger
from marsdask.scheduler.worker.nanny import ProcessMemory
from marsdask.scheduler.worker.running_tasks import RunningTasks
from tests.cluster.commands import DEADLINE
from tests.cluster.loop import beside, cluster

#: Empty files of distributed's that stay for the next worker.
LOCKS = {"global.lock", "purge.lock"}


@pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="needs Linux")
def test_it_keeps_nothing_open():
    """A command that goes on with another supervisor starts new ones each time."""
    host = MemoryLedger(1, 1000)

    async def main():
        nanny = MarsNanny("tcp://127.0.0.1:1", nthreads=1, ledger=(host.path, 0))
        share, record = nanny._ledger, nanny._record
        assert share is not None
        assert record is not None
        opened = [share._descriptor, record._descriptor]
        await nanny.close()
        for descriptor in opened:
            with pytest.raises(OSError, match="descriptor"):
                os.fstat(descriptor)

    asyncio.run(main())
    host.close()


@pytest.mark.parametrize("given", [True, False])
def test_a_killed_worker_leaves_no_files(given, tmp_path):
    """The nanny that does not restart it removes its directories: no other may come to do so."""
    spill = tmp_path / "spill"
    spill.mkdir()

    def left():
        return [one for one in tmp_path.rglob("*") if one.is_file() and one.name not in LOCKS]

    async def main():
        dirs = {"spill_dirs": [str(spill)]} if given else {"io_threads": 1}
        options = {"local_directory": str(tmp_path), **dirs}
        async with cluster(Supervisor, MarsNanny, workers=(options,)) as (server, client):
            (nanny,) = server.test_workers
            await client.submit(abs, -1)
            assert len(left()) == 2, "one lock of its own directory and one of where it spills"
            nanny.close_gracefully()
            nanny.process.process.kill()
            await asyncio.wait_for(nanny.finished(), DEADLINE)

    asyncio.run(main())
    assert not left()


def never(**options: Any) -> None:
    """Stand in for a worker that waits for its supervisor."""
    threading.Event().wait()


@pytest.mark.parametrize("late", [False, True])
def test_it_ends_while_it_restarts_a_process(late, monkeypatch):
    """What waits for a supervisor is not waited for; ``late``: when there is a process."""
    start = AsyncProcess.start

    async def main():
        begun = asyncio.Event()

        async def begin(process):
            if not late:
                begun.set()
            await start(process)
            begun.set()

        monkeypatch.setattr(AsyncProcess, "start", begin)
        nanny = MarsNanny("tcp://127.0.0.1:1", nthreads=1, worker_class=never)
        await nanny.listen("tcp://127.0.0.1:0")
        nanny.status = Status.running
        nanny._on_worker_exit_sync(-9)
        async with asyncio.timeout(60):
            await begun.wait()
        assert nanny.pid is not None or not late
        async with asyncio.timeout(10):
            await nanny.close(timeout=1)
        assert nanny.status is Status.closed

    asyncio.run(main())


def test_a_start_that_takes_too_long():
    """The process is ended, and the error says so."""

    async def main():
        nanny = MarsNanny("tcp://127.0.0.1:1", nthreads=1, worker_class=never, death_timeout=0.5)
        await nanny.listen("tcp://127.0.0.1:0")
        with pytest.raises(TimeoutError):
            await nanny.instantiate()
        assert nanny.status is Status.closed

    asyncio.run(main())


class WatchedNanny:
    """A nanny of this process, and the signals that it would send."""

    status = Status.running
    worker_address = "tcp://127.0.0.1:1"
    nthreads = 1

    def __init__(self):
        self.signals: list[str] = []
        self.logged: list[int] = []
        self.periodic_callbacks: dict[str, Any] = {}
        ended = self.signals.append
        process = SimpleNamespace(
            pid=os.getpid(), terminate=lambda: ended("TERM"), kill=lambda: ended("KILL")
        )
        self.process = SimpleNamespace(process=process)

    def log_event(self, topic, event):
        self.logged.append(event["rss"])


@pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="needs Linux")
def test_it_measures_the_process_itself():
    """The host's ledger says what the process last told of itself, which may be long ago."""
    taken = own_memory(os.getpid())
    host = MemoryLedger(2, int(taken / 0.95))
    own = LedgerView(host.path, 1)
    nanny: Any = WatchedNanny()
    monitor = ProcessMemory(nanny, memory_limit=taken // 2)
    monitor.host, monitor.position = LedgerView(host.path), 1
    own.tell(resident=1)
    monitor.memory_monitor(nanny)
    monitor.memory_monitor(nanny)
    assert nanny.signals == ["TERM", "KILL"], "the second time for good"
    assert own.used() >= taken, "other processes of the host see it too"
    nanny.signals.clear()
    monitor.host = LedgerView(MemoryLedger(2, 4 * taken).path)
    monitor.memory_monitor(nanny)
    assert not nanny.signals, "the host has room left"
    own.close()
    host.close()


def test_a_clock_that_is_set_back_does_not_stop_it():
    """Its look at the worker's memory would be due in an hour."""

    async def main():
        nanny: Any = MarsNanny("tcp://127.0.0.1:1", nthreads=1)
        nanny.start_periodic_callbacks()
        watch = nanny.periodic_callbacks["marsdask-clock"]
        old = nanny.periodic_callbacks["memory_monitor"]
        watch._ahead += 3600.0
        watch.look()
        assert nanny.periodic_callbacks["memory_monitor"] is not old
        assert not old.is_running()
        await nanny.close()

    asyncio.run(main())


@pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="needs Linux")
def test_shared_memory_counts():
    """Of the process that owns it, whether it maps it or not."""
    taken = own_memory(os.getpid())
    nanny: Any = WatchedNanny()
    server: Any = MarsNanny("tcp://127.0.0.1:1", nthreads=1)
    monitor = ProcessMemory(nanny, memory_limit=2 * taken)
    monitor.record = server._record
    running = RunningTasks(server._record.path)
    monitor.memory_monitor(nanny)
    assert not nanny.signals
    running.tell_segments(2 * taken)
    monitor.memory_monitor(nanny)
    assert nanny.signals == ["TERM"]
    assert nanny.logged[0] >= 3 * taken * 0.9
    running.close()
    asyncio.run(server.close())


@pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="needs Linux")
def test_what_an_ended_process_ran(monkeypatch):
    """It is known by the process's number, also when the next one has begun to write."""

    async def main():
        nanny: Any = MarsNanny("tcp://127.0.0.1:1", nthreads=1)
        first = RunningTasks(nanny._record.path)
        first.begin("poison")
        assert nanny.ran(pid=os.getpid()) == nanny.ran() == ["poison"]
        monkeypatch.setattr(distributed.Nanny, "instantiate", started)
        await nanny.instantiate()
        second = RunningTasks(nanny._record.path)
        assert nanny.ran(pid=os.getpid()) == ["poison"]
        assert nanny.ran() == []
        assert nanny.ran(pid=-1) is None, "of what nobody knows all is possible"
        first.close()
        second.close()
        await nanny.close()

    async def started(nanny):
        return Status.running

    asyncio.run(main())


def hog(nbytes):
    """Take memory in the event loop, which then never goes on."""
    memory = bytearray(nbytes)
    memory[::4096] = b"x" * len(memory[::4096])
    threading.Event().wait()


@pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="needs Linux")
def test_a_worker_whose_loop_is_blocked():
    """It is restarted when it takes what neither it nor its host has."""
    host = MemoryLedger(1, 400 << 20)
    options = {"cls": MarsNanny, "memory_limit": 300 << 20, "ledger": (host.path, 0)}
    with beside(options) as cluster, Client(cluster, set_as_default=False) as client:
        client.wait_for_workers(1, timeout=60)
        (before,) = client.run(os.getpid).values()
        stuck = threading.Thread(
            target=client.run, args=(hog, 400 << 20), kwargs={"on_error": "ignore"}, daemon=True
        )
        stuck.start()
        client.submit(abs, -1).result(60)
        stuck.join(60)
        assert not stuck.is_alive()
        assert before not in client.run(os.getpid).values()
    host.close()
