"""Clusters in one event loop, of any classes: no process starts, so they cost nothing."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager

import dask.config
from distributed import Client

from tests.cluster.commands import DEADLINE

HOST = "127.0.0.1"


@asynccontextmanager
async def cluster(scheduler, worker, address=None, *, workers=({}, {}), **options):
    """Start a scheduler, workers with the given options, and a client at ``address(server)``."""
    options.setdefault("dashboard_address", f"{HOST}:0")
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(scheduler(host=HOST, **options))
        started = []
        for one in workers:
            made = worker(server.address, **{"host": HOST, "nthreads": 1, **one})
            started.append(await stack.enter_async_context(made))
        server.test_workers = started
        where = address(server) if address else server.address
        client = await stack.enter_async_context(Client(where, asynchronous=True))
        yield server, client


def run(main):
    """Run a coroutine function, with a deadline."""

    async def limited():
        async with asyncio.timeout(DEADLINE):
            await main()

    # Workers of this process would count the tests' own memory against their small limits.
    memory = {f"distributed.worker.memory.{name}": False for name in ("spill", "pause")}
    with dask.config.set(memory):
        asyncio.run(limited())
