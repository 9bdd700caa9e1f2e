"""The nanny, without a worker process or with one that never gets ready."""

import asyncio
import os
import threading
from typing import Any

import pytest
from distributed.core import Status
from distributed.process import AsyncProcess

from marsdask.scheduler.worker import MarsNanny
from marsdask.scheduler.worker.memory_ledger import MemoryLedger


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
