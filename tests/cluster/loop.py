"""Clusters in one event loop, of any classes: no process starts, so they cost nothing."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager
from typing import ClassVar

import dask.config
from dask.highlevelgraph import HighLevelGraph, MaterializedLayer
from distributed import Client, SpecCluster
from distributed.diagnostics.plugin import SchedulerPlugin

from marsdask.scheduler.remote.reconnect import ReconnectingClient
from marsdask.scheduler.supervisor import Supervisor
from marsdask.scheduler.worker import MarsWorker
from tests.cluster.commands import DEADLINE, free_port

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
        secured = Client(where, asynchronous=True, security=options.get("security"))
        client = await stack.enter_async_context(secured)
        yield server, client


def supervised(*workers, worker=MarsWorker):
    """Start a supervisor that checks its states at every step, and workers with such options."""
    return cluster(Supervisor, worker, workers=workers, validate=True)


def reconnecting(server):
    """Return a client, for this event loop, that continues when its connection breaks."""
    return ReconnectingClient(server.address, asynchronous=True, set_as_default=False)


def side_by_side(**options):
    """Return two supervisors that have not started, of which the first one started is active."""
    ports = [free_port(), free_port()]
    options |= {"dashboard_address": f"{HOST}:0", "supervisors": [f"{HOST}:{p}" for p in ports]}
    return [Supervisor(host=HOST, port=port, **options) for port in ports]


def beside(*workers, asynchronous=False, **options):
    """Start a supervisor, and workers with such options, in a thread: the test itself may block."""

    def spec(cls=MarsWorker, **changed):
        return {"cls": cls, "options": {"host": HOST, "nthreads": 1} | changed}

    options = {"host": HOST, "dashboard_address": f"{HOST}:0"} | options
    scheduler = {"cls": Supervisor, "options": options}
    chosen = {number: spec(**one) for number, one in enumerate(workers)}
    return SpecCluster(chosen, scheduler, spec(), asynchronous=asynchronous)


def run(main):
    """Run a coroutine function, with a deadline."""

    async def limited():
        async with asyncio.timeout(DEADLINE):
            await main()

    # Workers of this process would count the tests' own memory against their small limits.
    memory = {f"distributed.worker.memory.{name}": False for name in ("spill", "pause")}
    with dask.config.set(memory):
        asyncio.run(limited())


class News(SchedulerPlugin):
    """Hears whenever something changes in a scheduler or in workers."""

    name = "news"

    def __init__(self):
        self.there = asyncio.Event()

    def transition(self, *args, **options):
        self.there.set()

    def add_worker(self, scheduler, worker):
        self.there.set()

    def remove_worker(self, scheduler, worker, **options):
        self.there.set()


async def until(condition, scheduler, *workers):
    """Wait until a condition holds, checking it at each change; the caller sets a deadline."""
    news = News()
    scheduler.add_plugin(news)
    for worker in workers:
        worker.plugins[news.name] = news
    try:
        while not condition():
            news.there.clear()
            await news.there.wait()
    finally:
        scheduler.remove_plugin(name=news.name)
        for worker in workers:
            worker.plugins.pop(news.name, None)


def annotated(tasks, **annotations):
    """Return a graph whose tasks carry annotations: {name: {key: value}}."""
    graph = {task.key: task for task in tasks}
    layer = MaterializedLayer(graph, annotations={n: m.get for n, m in annotations.items()})
    return HighLevelGraph({"layer": layer}, {"layer": set()})


class Gates:
    """Tasks of this process that wait until the test lets them go."""

    named: ClassVar[dict[str, Gates]] = {}

    @classmethod
    def new(cls, name):
        """Return a gate that tasks find by its name; needs a running loop."""
        cls.named[name] = cls()
        return cls.named[name]

    def __init__(self):
        self.started = asyncio.Semaphore(0)
        self.go = asyncio.Event()

    async def __call__(self, *values):
        self.started.release()
        await self.go.wait()
        return len(values)


async def pass_gate(name, *values):
    """Wait at a gate."""
    return await Gates.named[name](*values)
