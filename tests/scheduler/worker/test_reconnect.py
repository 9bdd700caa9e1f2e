"""A worker that registers anew with its supervisor, in this process."""

import asyncio
from typing import Any

import pytest
from distributed.core import Status
from distributed.worker_state_machine import UpdateDataEvent

from marsdask.scheduler.base import Key
from marsdask.scheduler.worker import MarsWorker
from tests.cluster.loop import HOST, run, supervised, until


def following(server):
    """Return a worker that has not started, and that reconnects to this supervisor."""
    known = [server.address]
    return MarsWorker(server.address, host=HOST, nthreads=1, supervisors=known, memory_limit=0)


def when_measured(worker, change):
    """Call a function once, when the worker has collected a part of its next registration."""
    measured = worker._measured

    async def later():
        metrics = await measured()
        worker._measured = measured
        await change()
        return metrics

    worker._measured = later


@pytest.mark.parametrize(
    ("before", "after"), [(Status.paused, Status.running), (Status.running, Status.paused)]
)
def test_a_status_that_changes_while_it_registers(before, after):
    """The supervisor learns of it, though there is no connection to send it on."""

    async def main():
        async with supervised() as (server, _), following(server) as worker:
            changed = asyncio.Event()
            handle = server.stream_handlers["worker-status-change"]

            def heard(**message):
                handle(**message)
                changed.set()

            async def known(status):
                while server.workers[worker.address].status is not status:
                    changed.clear()
                    await changed.wait()

            async def change():
                worker.status = after

            server.stream_handlers["worker-status-change"] = heard
            worker.status = before
            await known(before)
            when_measured(worker, change)
            worker._leave()
            await known(after)
            assert worker.status is after

    run(main)


def test_a_result_that_is_stored_while_it_registers():
    """The supervisor, which does not know it, has it removed."""

    async def main():
        async with supervised() as (server, _), following(server) as worker:
            introduction, stored = worker._introduction, asyncio.Event()

            async def introduced():
                told = await introduction()
                worker.handle_stimulus(UpdateDataEvent(data={"x": 1}, stimulus_id="store"))
                stored.set()
                return told

            worker._introduction = introduced
            worker._leave()
            await stored.wait()
            await until(lambda: "x" not in worker.data, server, worker)
            assert worker.address in server.workers

    run(main)


def test_numbers_of_shuffles_are_not_brought_along():
    """What was shuffled has not been kept: another supervisor would not have it sent again."""

    async def main():
        async with supervised() as (server, _), following(server) as worker:
            introduction = worker._introduction
            told: asyncio.Future[set[Key]] = asyncio.Future()

            async def introduced():
                found = await introduction()
                told.set_result({key for key, _ in found["extra"]["mars_held"]})
                worker._introduction = introduction
                return found

            worker._introduction = introduced
            numbers: list[Key] = [
                ("shuffle-transfer-a", 0),
                ("ones-rechunk-transfer-b", 0, 1),
                ("hash-join-transfer-c", 2),
                "shuffle-barrier-d",
            ]
            data: dict[Any, object] = dict.fromkeys([*numbers, ("shuffle-p2p-a", 0)], 1)
            worker.handle_stimulus(UpdateDataEvent(data=data, stimulus_id="store"))
            worker._leave()
            assert await told == {("shuffle-p2p-a", 0)}

    run(main)


@pytest.mark.parametrize("when", ["searching", "registering"])
@pytest.mark.parametrize("starting", [False, True])
def test_a_worker_that_is_closed_before_it_has_registered(when, starting):
    """It does not join: the supervisor would send it tasks."""

    async def main():
        async with supervised() as (server, _):
            worker = following(server)
            find = worker._find
            if not starting:
                await worker

            async def search():
                worker._find = find
                await worker.close()

            if when == "searching":
                worker._find = search
            else:
                when_measured(worker, worker.close)
            await (worker if starting else worker._register_with_scheduler())
            assert not server.workers
            assert not any(one.is_running() for one in worker.periodic_callbacks.values())

    run(main)


def test_it_closes_while_a_heartbeat_is_under_way(caplog):
    """The answer is awaited: a closed connection would be logged as an error."""

    async def main():
        async with supervised() as (server, _), following(server) as worker:
            answer = server.handlers["heartbeat_worker"]
            asked, released = asyncio.Event(), asyncio.Event()

            async def answer_later(*args, **message):
                asked.set()
                await released.wait()
                return answer(*args, **message)

            server.handlers["heartbeat_worker"] = answer_later
            heartbeat = asyncio.create_task(worker.heartbeat())
            await asked.wait()
            closing = asyncio.create_task(worker.close())
            asyncio.get_running_loop().call_later(0.05, released.set)
            await asyncio.gather(heartbeat, closing)
            assert worker.status is Status.closed

    run(main)
    assert not [record for record in caplog.records if record.levelname == "ERROR"]
