"""A name stands for one value, whatever workers bring that were cut off."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import pytest
from distributed import rpc
from distributed.comm import get_address_host_port

from marsdask.scheduler.remote.reconnect import ReconnectingClient
from marsdask.scheduler.supervisor import Supervisor
from marsdask.scheduler.worker import MarsWorker
from tests.cluster.commands import free_port
from tests.cluster.loop import HOST, Gates, pass_gate, run, until


class AwayWorker(MarsWorker):
    """A worker that finds no supervisor while it is ``away``."""

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self.present = asyncio.Event()
        self.present.set()

    async def _find(self):
        await self.present.wait()
        return await super()._find()


@asynccontextmanager
async def pair():
    """Start a supervisor at a fixed port, two workers that follow it, and a client."""
    options: Any = {"host": HOST, "port": free_port(), "dashboard_address": f"{HOST}:0"}
    async with Supervisor(**options) as server:
        address = server.address
        one, two = (
            AwayWorker(address, host=HOST, nthreads=1, supervisors=[address], name=name)
            for name in "ab"
        )
        client = ReconnectingClient(address, asynchronous=True, set_as_default=False)
        async with one, two, client:
            yield SimpleNamespace(server=server, options=options, one=one, two=two, client=client)


async def cut(server, worker):
    """Break the connection of a worker, which stays away."""
    worker.present.clear()
    server.stream_comms[worker.address].abort()
    await until(lambda: worker.address not in server.workers, server)


async def back(server, worker):
    """Let a worker return, and wait until it has heard the supervisor's first messages."""
    worker.present.set()
    await until(lambda: worker.address in server.workers, server)
    await server.broadcast(msg={"op": "identity"}, workers=[worker.address])


async def compute(client, value, worker=None):
    """Compute a value of the name ``latest``."""
    workers = None if worker is None else [worker.address]
    future = client.submit(abs, value, key="latest", workers=workers)
    await future
    return future


async def release(server, future):
    """Release a future, and wait until its name is unknown."""
    key = future.key
    future.release()
    await until(lambda: key not in server.tasks, server)


@pytest.mark.parametrize("again", [False, True])
def test_a_name_that_was_computed_anew(again):
    """Whoever was cut off with its old value drops it; ``again``: the new one was released too."""

    async def main():
        async with pair() as cluster:
            server, client = cluster.server, cluster.client
            old = await compute(client, -1, cluster.one)
            await cut(server, cluster.one)
            await release(server, old)
            new = await compute(client, -2, cluster.two)
            if again:
                await release(server, new)
            await back(server, cluster.one)
            if not again:
                assert {ws.address for ws in server.tasks["latest"].who_has} == {
                    cluster.two.address
                }
            await until(lambda: "latest" not in cluster.one.data, server, cluster.one)
            newest = await compute(client, -3 if again else -2, cluster.one)
            assert await newest == (3 if again else 2)

    run(main)


def test_what_nobody_has_touched_is_adopted():
    """A replica, and a value that only this worker had, count again when it returns."""

    async def main():
        async with pair() as cluster:
            server, client, one = cluster.server, cluster.client, cluster.one
            (both,) = await client.scatter([1], broadcast=True)
            (alone,) = await client.scatter([2], workers=[one.address])
            name = alone.key
            await cut(server, one)
            assert name not in server.tasks
            await back(server, one)
            found = {key: set(server.tasks[key].who_has) for key in (both.key, name)}
            assert len(found[both.key]) == 2
            assert found[name] == {server.workers[one.address]}
            assert await client.submit(abs, both, workers=[one.address]) == 1

    run(main)


@pytest.mark.parametrize("first", ["old", "new"])
def test_a_restarted_supervisor_learns_who_was_cut_off(first):
    """From the others; whichever worker joins first, the old value does not come back."""

    async def main():
        async with pair() as cluster:
            one, two, client = cluster.one, cluster.two, cluster.client
            old = await compute(client, -1, one)
            await cut(cluster.server, one)
            await release(cluster.server, old)
            new = await compute(client, -2, two)
            two.present.clear()
            await cluster.server.close()
            order = (one, two) if first == "old" else (two, one)
            async with Supervisor(**cluster.options) as server:
                for worker in order:
                    await back(server, worker)
                await until(lambda: "latest" not in one.data, server, one)
                assert [ws.address for ws in server.tasks["latest"].who_has] == [two.address]
                assert await client.gather(new) == 2
                await client.close()

    run(main)


@pytest.mark.parametrize("first", ["one", "two"])
def test_who_left_for_another_supervisor_was_not_cut_off(first):
    """Though the last one was still there, and has told the others, who left it a little later."""

    async def main():
        async with pair() as cluster:
            server, client, one, two = cluster.server, cluster.client, cluster.one, cluster.two
            kept = await compute(client, -1, one)
            one.present.clear()
            async with rpc(one.address) as peer:
                await peer.mars_fence(epoch=server.failover.epoch + 1)
            await until(lambda: one.address not in server.workers, server)
            assert await client.submit(abs, -5, workers=[two.address]) == 5
            assert one.address in two._removed
            two.present.clear()
            await server.close()
            async with Supervisor(**cluster.options) as server:
                for worker in (one, two) if first == "one" else (two, one):
                    await back(server, worker)
                assert [ws.address for ws in server.tasks["latest"].who_has] == [one.address]
                assert await client.gather(kept) == 1
                await client.close()

    run(main)


def test_a_worker_in_the_place_of_one_that_was_retired():
    """The others do not report its address to the next supervisor: its results count."""

    async def main():
        async with pair() as cluster:
            server, client, one, two = cluster.server, cluster.client, cluster.one, cluster.two
            port = get_address_host_port(one.address)[1]
            await server.retire_workers([one.address])
            await one.finished()
            followed = [server.address]
            async with AwayWorker(
                server.address, host=HOST, port=port, nthreads=1, supervisors=followed
            ) as new:
                assert new.address == one.address
                kept = await compute(client, -1, new)
                assert await client.submit(abs, -5, workers=[two.address]) == 5
                new.present.clear()
                two.present.clear()
                await server.close()
                async with Supervisor(**cluster.options) as server:
                    for worker in (two, new):
                        await back(server, worker)
                    assert [ws.address for ws in server.tasks["latest"].who_has] == [new.address]
                    assert await client.gather(kept) == 1
                    await client.close()

    run(main)


def test_a_return_that_another_worker_has_missed():
    """It was cut off itself; it learns of that when it returns."""

    async def main():
        async with pair() as cluster:
            server, client, one, two = cluster.server, cluster.client, cluster.one, cluster.two
            await cut(server, one)
            assert await client.submit(abs, -5, workers=[two.address]) == 5
            assert one.address in two._removed
            await cut(server, two)
            await back(server, one)
            await back(server, two)
            assert await client.submit(abs, -6, workers=[two.address]) == 6
            assert one.address not in two._removed

    run(main)


def test_a_run_that_began_before():
    """What a worker ran for the old submission is not the value of the new one."""

    async def main():
        async with pair() as cluster:
            server, client, one = cluster.server, cluster.client, cluster.one
            gate = Gates.new("old")
            old = client.submit(pass_gate, "old", key="latest", workers=[one.address])
            await gate.started.acquire()
            await cut(server, one)
            await release(server, old)
            await back(server, one)
            new = client.submit(abs, -2, key="latest", workers=[one.address])
            await until(
                lambda: "latest" in server.tasks and cluster.one.state.executing, server, one
            )
            gate.go.set()
            assert await new == 2

    run(main)
