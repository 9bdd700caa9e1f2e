"""The worker itself, in this process."""

import asyncio
import errno
import gc
import os
import sys
from pathlib import Path

import dask.config
import distributed
import numpy as np
import pytest
from dask.task_spec import Task
from distributed import wait
from distributed.core import Status

from marsdask.scheduler.supervisor import Supervisor
from marsdask.scheduler.web.authentication import Token
from marsdask.scheduler.web.websocket import BODY
from marsdask.scheduler.worker import MarsWorker, memory_ledger
from marsdask.scheduler.worker import server as servers
from marsdask.scheduler.worker.memory_ledger import LedgerView, MemoryLedger
from tests.cluster.loop import HOST, Gates, annotated, cluster, pass_gate, run, supervised

resource = pytest.importorskip("resource", reason="only Unix limits descriptors")


def test_many_files_may_be_open():
    """Spilled results are mapped, so the limit of files is raised in any case."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    if 0 < before[1] <= 1024:
        pytest.skip("no more files may be open here")

    async def main():
        async with cluster(Supervisor, MarsWorker, workers=({},)) as (server, _):
            (worker,) = server.test_workers
            assert worker.shared_results is None
            assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] > 1024

    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, before[1]))
    try:
        with dask.config.set({"marsdask.shared.limit": 0}):
            run(main)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_a_process_that_fills_faster_than_its_results_are_written(monkeypatch):
    """It pauses before the next task, not only when its memory is looked at the next time."""
    options = {"memory_limit": 2**33}

    async def main():
        with dask.config.set({"distributed.worker.memory.pause": 0.8}):
            async with cluster(Supervisor, MarsWorker, workers=(options,)) as (server, client):
                await fills(server.test_workers[0], client)

    async def fills(worker, client):
        worker.periodic_callbacks["memory_monitor"].stop()
        monkeypatch.setattr(worker.monitor, "get_process_memory", lambda: 9 * 2**33 // 10)
        assert await client.submit(abs, -1) == 1
        worker.spill_manager.moves["x"] = asyncio.get_running_loop().create_future()
        pause, looked = worker.memory_manager._maybe_pause_or_unpause, asyncio.Event()

        def look(worker, memory):
            pause(worker, memory)
            looked.set()

        monkeypatch.setattr(worker.memory_manager, "_maybe_pause_or_unpause", look)
        later = client.submit(abs, -2)
        await looked.wait()
        assert worker.status is Status.paused
        assert not worker.state.executing
        worker.spill_manager.moves.clear()
        monkeypatch.undo()
        await worker.memory_manager.memory_monitor(worker)
        assert await later == 2

    run(main)


MIB = 1 << 20


async def spilled(client, worker):
    """Return a result ``x`` of a worker that is on disk, and its file."""
    x = client.submit(np.ones, MIB, workers=[worker.address], key="x")
    await wait(x)
    assert await worker.spill_manager.free(1)
    return x, Path(worker._directories.where("x")[0])


def disks(folder):
    """Return the options of a worker that spills to a folder."""
    return {"memory_limit": 2**33, "io_threads": 1, "spill_dirs": [str(folder)]}


def test_a_spilled_result_that_is_gone(tmp_path, caplog):
    """It is computed again for the worker that asks for it."""

    async def main():
        async with supervised(disks(tmp_path), {}) as (server, client):
            holder, other = server.test_workers
            x, path = await spilled(client, holder)
            path.unlink()
            assert await client.submit(np.sum, x, workers=[other.address]) == MIB
            assert holder.transfer_outgoing_count == 0
        assert "dropping the spilled result x" in caplog.text

    run(main)


@pytest.mark.parametrize("busy", [False, True])
def test_a_spilled_input_that_is_gone(busy, tmp_path, caplog):
    """It is computed again for a task of the same worker, once no other task reads it."""

    async def main():
        async with cluster(Supervisor, MarsWorker, workers=(disks(tmp_path),)) as (server, client):
            (worker,) = server.test_workers
            x, path = await spilled(client, worker)
            gate, reader = Gates.new("reader"), None
            if busy:
                reader = client.submit(pass_gate, "reader", x)
                await gate.started.acquire()
                assert await worker.spill_manager.free(1)
                path = Path(worker._directories.where("x")[0])
            path.unlink()
            found = client.submit(np.sum, x)
            if reader is not None:
                gate.go.set()
                assert await reader == 1
            assert await found == MIB
            assert float((await x).sum()) == MIB
        assert "dropping the spilled result x" in caplog.text

    run(main)


@pytest.mark.parametrize("reason", ["a task has started with it", "no file can be opened"])
def test_a_spilled_result_that_is_kept(reason, tmp_path, monkeypatch):
    """The receiver asks again later; the connection that it took is free again."""

    async def main():
        async with cluster(Supervisor, MarsWorker, workers=(disks(tmp_path),)) as (server, client):
            (worker,) = server.test_workers
            x, path = await spilled(client, worker)
            gate, later = Gates.new("unreadable"), None
            if reason == "no file can be opened":
                monkeypatch.setattr(servers, "SCARCE", (errno.ENOENT,))
            else:
                later = client.submit(pass_gate, "unreadable", x)
                await gate.started.acquire()
                assert await worker.spill_manager.free(1)
            path.unlink()
            with pytest.raises(FileNotFoundError):
                await worker.get_data(None, ["x"])
            assert "x" in worker.data
            assert worker.transfer_outgoing_count == 0
            gate.go.set()
            if later is not None:
                assert await later == 1

    run(main)


def test_an_error_while_results_are_spilled(monkeypatch, caplog):
    """The task that waits for their memory is tried again."""

    async def main():
        options = {"memory_limit": 100 * MIB, "baseline": 0}
        async with cluster(Supervisor, MarsWorker, workers=(options,)) as (server, client):
            (worker,) = server.test_workers
            free, broken = worker.spill_manager.free, iter([True])

            async def fails_once(nbytes):
                if next(broken, False):
                    raise MemoryError("on purpose")
                return await free(nbytes)

            monkeypatch.setattr(worker.spill_manager, "free", fails_once)
            x = client.submit(np.ones, 5 * MIB, key="x")
            await wait(x)
            graph = annotated([Task("next", abs, -7)], mars_mem={"next": 50 * MIB})
            (later,) = client.get(graph, ["next"], sync=False)
            assert await later == 7
        assert "MemoryError: on purpose" in caplog.text

    run(main)


@pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="needs Linux")
def test_a_task_that_waits_for_the_host_is_given_up():
    """It keeps its turn until then; afterwards it delays no other process."""
    host = MemoryLedger(2, 2**50)
    neighbour = LedgerView(host.path, 1)
    neighbour.tell(promised=2**50)

    async def main():
        options = {"memory_limit": 100 * MIB, "baseline": 0, "ledger": (host.path, 0)}
        async with cluster(distributed.Scheduler, MarsWorker, workers=(options,)) as (
            server,
            client,
        ):
            share = server.test_workers[0].share
            promise, tell = share.promise_alone, share.tell
            asked, cleared = asyncio.Queue[int](), asyncio.Event()

            def promise_alone(nbytes):
                alone = promise(nbytes)
                asked.put_nowait(int(share._rows[1, memory_ledger._WAITS]))
                return alone

            def watched(**figures):
                tell(**figures)
                if figures.get("waits") == 0:
                    cleared.set()

            share.promise_alone, share.tell = promise_alone, watched
            graph = annotated([Task("big", abs, -1)], mars_mem={"big": 90 * MIB})
            (big,) = client.get(graph, ["big"], sync=False)
            (since,) = {await asked.get() for _ in range(3)}
            assert since > 0
            assert not cleared.is_set()
            assert neighbour.others("waits")
            await big.cancel()
            await cleared.wait()
            assert not neighbour.others("waits")

    run(main)
    host.close()


def sample():
    """Look at the stacks of the worker that runs this, by both of its methods."""
    worker = distributed.get_worker()
    worker.trigger_profile()
    return list(worker.profile_keys), worker.get_call_stack()


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="the interpreter takes care of it")
def test_no_garbage_is_collected_while_stacks_are_sampled(monkeypatch):
    """Python 3.11 could stop for ever (see `thread_frames.py`)."""
    frames, collecting = sys._current_frames, []

    def current_frames():
        collecting.append(gc.isenabled())
        return frames()

    async def main():
        async with cluster(Supervisor, MarsWorker, workers=({},)) as (_, client):
            monkeypatch.setattr(sys, "_current_frames", current_frames)
            names, stacks = await client.submit(sample, key="task")
            assert names == ["task"]
            assert "in sample" in str(stacks["task"])

    run(main)
    assert collecting == [False, False]


async def answer(port, head):
    """Return the first line of the answer to the head of a request."""
    reader, writer = await asyncio.open_connection(HOST, port)
    writer.write(head.encode())
    line = await reader.readline()
    writer.close()
    await writer.wait_closed()
    return line.decode()


def test_nobody_sends_much_to_its_pages():
    """Nor to those of a supervisor without a web service: the request is not even read."""
    token = Token("x" * 32)

    async def main():
        async with cluster(Supervisor, MarsWorker, workers=({"token": token},), token=token) as (
            server,
            _,
        ):
            for one in (server, *server.test_workers):
                head = f"POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: {BODY + 1}\r\n\r\n"
                assert "400" in await answer(one.http_server.port, head)

    run(main)
