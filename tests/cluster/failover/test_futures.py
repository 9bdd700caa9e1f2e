"""Futures of Dask's interface survive their supervisor, whatever has been released."""

from __future__ import annotations

from contextlib import asynccontextmanager

import dask.config

from marsdask.scheduler.remote.reconnect import ReconnectingClient
from marsdask.scheduler.worker import MarsWorker
from tests.cluster.loop import HOST, Gates, run, side_by_side, until


async def after(gate, number):
    """Return a number, at the gate if there is one."""
    if gate:
        await Gates.named[gate]()
    return number


@asynccontextmanager
async def standing_by():
    """Start two supervisors, a worker and a client."""
    first, second = side_by_side()
    with dask.config.set({"marsdask.failover.timeout": "0.5s"}):
        async with second, first:
            worker = MarsWorker(first.address, host=HOST, nthreads=2, supervisors=first.supervisors)
            client = ReconnectingClient(first.address, asynchronous=True, set_as_default=False)
            async with worker, client:
                await second.failover._known.wait()
                yield first, client, worker


def test_inputs_released_before_they_ran():
    """Nobody else knows their graph: it is sent again."""

    async def main():
        gate = Gates.new("inputs")
        async with standing_by() as (first, client, _):
            inputs = client.map(after, ["inputs", None], [1, 2])
            total = client.submit(sum, inputs)
            inputs = [one.key for one in inputs]
            await gate.started.acquire()
            await first.close()
            assert await client.resumed(0)
            gate.go.set()
            assert await total == 3
            assert not client.futures.keys() & set(inputs)

    run(main)


def test_inputs_released_when_some_results_were_there():
    """Those results stay, though nothing could compute them again, and the others are computed."""

    async def main():
        gate = Gates.new("results")
        async with standing_by() as (first, client, worker):
            numbers = client.map(int, range(3))
            await client.gather(numbers)
            results = client.map(after, [None, None, "results"], numbers)
            del numbers
            await client.gather(results[:2])
            await gate.started.acquire()
            await until(lambda: len(worker.data) == 3, first, worker)
            await first.close()
            assert await client.resumed(0)
            gate.go.set()
            assert await client.gather(results) == [0, 1, 2]
            assert await results[0] == 0

    run(main)
