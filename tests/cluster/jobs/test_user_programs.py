"""Features that programs use with dask.distributed, on a supervisor and its workers.

Distributed's own suite says it all (``make compat``); this is the short form, for every day.
"""

from __future__ import annotations

import operator
from concurrent.futures import CancelledError

import dask.array as da
import dask.config
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import (
    Client,
    Event,
    Lock,
    Queue,
    Semaphore,
    Variable,
    WorkerPlugin,
    as_completed,
    fire_and_forget,
    get_worker,
    wait,
    worker_client,
)
from distributed.diagnostics.plugin import SchedulerPlugin

from marsdask.scheduler.worker import MarsWorker
from tests.cluster.loop import HOST, Gates, beside, pass_gate, run, supervised, until


def where(*_):
    """Return the worker that runs this task."""
    return get_worker().address


def inner(values):
    """Use the cluster from within a task."""
    with worker_client() as client:
        return sum(client.gather(client.map(operator.neg, values)))


class Counter:
    """An actor."""

    def __init__(self):
        self.count = 0

    def add(self, number):
        self.count += number
        return self.count


class Remembers(WorkerPlugin):
    """A plugin with a state on each worker."""

    name = "remembers"

    def setup(self, worker):
        worker.remembered = worker.address

    def teardown(self, worker):
        del worker.remembered


class Seen(SchedulerPlugin):
    """A plugin that hears of every task."""

    name = "seen"

    def __init__(self):
        self.finished = []

    def transition(self, key, start, finish, *args, **kwargs):
        if finish == "memory":
            self.finished.append(key)


def on_a_cluster(habit):
    """Make a test of a coroutine function, on a cluster that validates its states at every step."""

    async def main():
        async with supervised({}, {}) as (server, client):
            await habit(server, client)

    def test():
        run(main)

    test.__name__, test.__doc__ = habit.__name__, habit.__doc__
    return test


@on_a_cluster
async def test_futures(server, client):
    """Results, errors of their own types, and completion in any order."""
    assert await client.gather(client.map(abs, [-1, -2])) == [1, 2]
    broken = client.submit(operator.truediv, 1, 0)
    after = client.submit(abs, broken)
    with pytest.raises(ZeroDivisionError):
        await after
    assert after.status == "error"
    found = {await future async for future in as_completed(client.map(abs, range(-5, 0)))}
    assert found == {1, 2, 3, 4, 5}


@on_a_cluster
async def test_released(server, client):
    """What no future stands for leaves the scheduler and the workers; the rest stays."""
    future, kept = client.submit(abs, -1), client.submit(abs, -2)
    await wait([future, kept])
    workers = server.test_workers
    assert set(server.tasks) == {future.key, kept.key}
    assert {key for worker in workers for key in worker.data} == {future.key, kept.key}
    del future
    await until(lambda: len(server.tasks) < 2, server)
    await until(lambda: sum(len(worker.data) for worker in workers) < 2, server, *workers)
    assert set(server.tasks) == {kept.key}
    assert [value for worker in workers for value in worker.data.values()] == [2]


@on_a_cluster
async def test_scattered(server, client):
    """Send data to one worker, to all, or to the named one."""
    named = server.test_workers[1].address
    (future,) = await client.scatter([7], workers=[named])
    assert await client.submit(abs, future) == 7
    assert named in (await client.who_has([future]))[future.key]
    everywhere = await client.scatter("x", broadcast=True)
    assert len((await client.who_has([everywhere]))[everywhere.key]) == 2
    assert await client.gather({"a": [everywhere]}) == {"a": ["x"]}


@on_a_cluster
async def test_cancelled(server, client):
    """Cancel a task and what depends on it; others go on."""
    gate = Gates.new("cancelled")
    running = client.submit(pass_gate, "cancelled", pure=False)
    after = client.submit(abs, running)
    await gate.started.acquire()
    await client.cancel([running])  # which sends the wish and does not wait for it
    await until(lambda: running.key not in server.tasks, server)
    gate.go.set()
    with pytest.raises(CancelledError):
        await after
    assert await client.submit(abs, -3) == 3


@on_a_cluster
async def test_resources(server, client):
    """A task runs where its resource is, and waits without one."""
    future = client.submit(where, resources={"GPU": 1}, pure=False)
    await until(lambda: server.unrunnable, server)
    device = MarsWorker(server.address, host=HOST, nthreads=1, resources={"GPU": 1})
    async with device:
        assert await future == device.address


@on_a_cluster
async def test_restrictions(server, client):
    """Tasks stay where they were told to."""
    one, other = (worker.address for worker in server.test_workers)
    places = client.map(where, range(6), workers=[one], pure=False)
    assert set(await client.gather(places)) == {one}
    free = client.submit(where, workers=["127.0.0.9:1"], allow_other_workers=True, pure=False)
    assert await free in {one, other}


@on_a_cluster
async def test_priorities(server, client):
    """Of tasks that wait, the urgent ones start first."""
    worker = server.test_workers[0].address
    gate = Gates.new("priorities")
    first = client.submit(pass_gate, "priorities", workers=[worker], pure=False)
    await gate.started.acquire()
    waiting = [
        client.submit(abs, level, priority=level, workers=[worker], pure=False)
        for level in (1, 3, 2)
    ]
    state = server.test_workers[0].state
    await until(lambda: len(state.ready) == len(waiting), server, server.test_workers[0])
    gate.go.set()
    await client.gather([first, *waiting])
    levels = [ts.priority[0] for ts in (server.tasks[future.key] for future in waiting)]
    assert levels == [-1, -3, -2]
    started = {
        line[0]: position
        for position, line in enumerate(state.log)
        if len(line) > 2 and line[1:3] == ("ready", "executing")
    }
    by_start = sorted(waiting, key=lambda future: started[future.key])
    assert by_start == [waiting[1], waiting[2], waiting[0]]


@on_a_cluster
async def test_actors(server, client):
    """Keep the state of an actor on its worker."""
    counter = await client.submit(Counter, actor=True)
    assert await counter.add(2) == 2
    assert await counter.add(3) == 5


@on_a_cluster
async def test_coordination(server, client):
    """Locks, semaphores, queues, variables and events."""
    lock = Lock("lock")
    assert await lock.acquire()
    assert not await Lock("lock").acquire(timeout=0.05)
    await lock.release()
    leases = await Semaphore(max_leases=1, name="leases")
    async with leases:
        assert await leases.get_value() == 1
    queue = Queue("queue")
    await queue.put(client.submit(abs, -4))
    assert await (await queue.get()) == 4
    variable = Variable("variable")
    await variable.set((1, 2))
    assert list(await Variable("variable").get()) == [1, 2]
    event = Event("event")
    assert not await event.is_set()
    await event.set()
    assert await event.wait(timeout=5)


@on_a_cluster
async def test_published(server, client):
    """Publish a dataset for the next client."""
    future = client.submit(abs, -5)
    await client.publish_dataset(answer=future)
    del future
    async with Client(server.address, asynchronous=True) as another:
        assert "answer" in await another.list_datasets()
        assert await (await another.get_dataset("answer")) == 5
    await client.unpublish_dataset("answer")


@on_a_cluster
async def test_plugins(server, client):
    """Plugins of workers and of the scheduler, and functions that run there."""
    await client.register_plugin(Remembers())
    found = await client.run(lambda dask_worker: dask_worker.remembered)
    assert found == {address: address for address in server.workers}
    await client.unregister_worker_plugin("remembers")
    assert not any(hasattr(worker, "remembered") for worker in server.test_workers)
    seen = Seen()
    server.add_plugin(seen)
    future = client.submit(abs, -1, key="heard")
    await future
    assert seen.finished == ["heard"]
    count = await client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.workers))
    assert count == 2


@on_a_cluster
async def test_nested(server, client):
    """Tasks use the cluster themselves; some are fire-and-forget."""
    assert await client.submit(inner, [1, 2, 3]) == -6
    gate = Gates.new("nobody's")
    gate.go.set()
    fire_and_forget(client.submit(pass_gate, "nobody's", pure=False))
    await gate.started.acquire()


@on_a_cluster
async def test_copies(server, client):
    """Results are replicated, and the memory manager drops needless replicas."""
    future = client.submit(abs, -6)
    await client.replicate([future], n=2)
    ts = server.tasks[future.key]
    assert len(ts.who_has) == 2
    server.extensions["amm"].run_once()
    workers = server.test_workers
    await until(lambda: sum(ts.key in one.data for one in workers) == 1, server, *workers)
    assert await future == 6


@on_a_cluster
async def test_retired(server, client):
    """Move what only a retired worker has to another."""
    leaving, staying = server.test_workers
    (future,) = await client.scatter(["only copy"], workers=[leaving.address])
    await client.retire_workers([leaving.address], close_workers=True)
    assert await future == "only copy"
    assert future.key in staying.data
    await leaving.finished()


@on_a_cluster
async def test_stolen(server, client):
    """Give a worker without work a part of what waits for another."""
    first, second = server.test_workers
    # Tasks of which nothing is known are not worth moving: these seem to take long.
    Gates.new("warm").go.set()
    await client.submit(pass_gate, "warm", pure=False)
    server.task_prefixes["pass_gate"].add_duration("compute", 0.0, 10.0)
    stealing = server.extensions["stealing"]
    await stealing.stop()  # by itself it may move tasks before all of them wait
    gate = Gates.new("stolen")
    options = {"workers": [first.address], "allow_other_workers": True, "pure": False}
    tasks = client.map(pass_gate, ["stolen"] * 8, range(8), **options)
    await gate.started.acquire()
    await until(lambda: len(first.state.ready) == len(tasks) - 1, server, first)
    stealing.balance()
    await until(lambda: second.state.tasks, server, second)
    gate.go.set()
    await wait(tasks)
    assert second.data


@on_a_cluster
async def test_all_to_all(server, client):
    """Peer-to-peer shuffles of frames and arrays."""
    frame = pd.DataFrame({"key": np.arange(60) % 7, "value": np.arange(60)})
    with dask.config.set({"dataframe.shuffle.method": "p2p", "array.rechunk.method": "p2p"}):
        shuffled = dd.from_pandas(frame, npartitions=4).shuffle("key", npartitions=3)
        found = await client.compute(shuffled)
        turned = da.arange(36, chunks=6).reshape(6, 6).rechunk((6, 1)).rechunk((1, 6))
        array = await client.compute(turned)
    pd.testing.assert_frame_equal(found.sort_values("value"), frame, check_dtype=False)
    np.testing.assert_array_equal(array, np.arange(36).reshape(6, 6))


def test_a_cluster_that_adapts():
    """Workers come when there is work, and go when there is none."""

    async def main():
        async with (
            beside(asynchronous=True) as cluster,
            Client(cluster, asynchronous=True) as client,
        ):
            cluster.adapt(minimum=0, maximum=2, interval="20ms", wait_count=2)
            assert await client.submit(abs, -1) == 1
            await until(lambda: not cluster.scheduler.workers, cluster.scheduler)

    run(main)
