"""Jobs of several sessions share the workers; a small one does not wait for a large one."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import ClassVar

import pytest
from dask.task_spec import Task, TaskRef

from marsdask.scheduler.base import Stage
from marsdask.scheduler.supervisor.submissions import SubmittedGraphs, prepare
from tests.cluster.loop import Gates, pass_gate, run, supervised, until


class Order:
    """The names of jobs in the order in which their tasks ran."""

    ran: ClassVar[list[str]] = []
    wait: ClassVar[Callable[[], Awaitable[None]]]
    """Returns when the small job has a task on the worker, or has ended."""


async def record(name, *values):
    """Run one task of a job; messages have time to arrive meanwhile."""
    Order.ran.append(name)
    await Order.wait()


def job(server, name, weight=1.0):
    return SubmittedGraphs(server, server.jobs._watch, name, name, weight)


def send(graphs, tasks):
    graph = {task.key: task for task in tasks}
    graphs.send(prepare(Stage(graph, (), {}, kept=tuple(graph)), 10))


def sources(name, count):
    """Return tasks that wait in the queue; the first one waits at its gate, too."""
    rest = [Task((name, number), record, name) for number in range(1, count)]
    return [Task((name, 0), pass_gate, name), *rest]


def readers(name, count):
    """Return tasks that are sent to the worker together, when their inputs are computed."""
    heads = [Task((f"{name}-head", number), int) for number in range(5)]
    refs = [TaskRef(head.key) for head in heads]
    rest = [Task((name, number), record, name, *refs) for number in range(1, count)]
    return [*heads, Task((name, 0), pass_gate, name, *refs), *rest]


@pytest.mark.parametrize("large", [sources, readers])
@pytest.mark.parametrize("small", [sources, readers])
def test_a_small_job_runs_between_tasks_of_a_large_one(large, small):
    """Whether the tasks wait in the queue, or on the worker."""

    async def main():
        Order.ran.clear()
        gates = {name: Gates.new(name) for name in ("large", "small")}
        gates["small"].go.set()
        async with supervised({"nthreads": 1}) as (server, _):
            first, second = job(server, "large"), job(server, "small")
            tasks = server.test_workers[0].state.tasks

            def there():
                small = [ts.state for key, ts in tasks.items() if key[0].startswith("small")]
                return not second._batches or "ready" in small or "executing" in small

            Order.wait = partial(until, there, server, server.test_workers[0])
            send(first, large("large", 60))
            await gates["large"].started.acquire()
            (worker,) = server.workers.values()
            assert len(worker.processing) in ([60] if large is readers else [1, 2])
            send(second, small("small", 6))
            gates["large"].go.set()
            await second.below(1)
            assert Order.ran.count("small") == 5
            assert Order.ran.count("large") <= 30
            await first.below(1)
            assert Order.ran.count("large") == 59
            await asyncio.gather(first.close(), second.close())
            assert not server.worker_shares._sessions
            assert not server.worker_shares._counts

    run(main)


def test_weights():
    """Of two jobs that come together, one of three times the weight is served three times."""

    async def main():
        Order.ran.clear()
        gate = Gates.new("busy")
        async with supervised({"nthreads": 1}) as (server, client):
            busy = client.submit(pass_gate, "busy", pure=False)
            await gate.started.acquire()
            heavy, light = job(server, "heavy", 3.0), job(server, "light")
            Order.wait = partial(asyncio.sleep, 0)
            for name, graphs in (("light", light), ("heavy", heavy)):
                Gates.new(name).go.set()
                send(graphs, sources(name, 40))
            gate.go.set()
            await asyncio.gather(busy, heavy.below(1), light.below(1))
            assert 24 <= Order.ran[:36].count("heavy") <= 30
            await asyncio.gather(heavy.close(), light.close())

    run(main)


@pytest.mark.parametrize("now", [0.0, 1e10, 1e15])
def test_jobs_have_numbers_of_their_own(now):
    """They increase, however late it is."""

    async def main():
        async with supervised() as (server, _):
            server.fair_queue.now = now
            jobs = [server.join(number, 1.0) for number in range(50)]
            numbers = [one.number for one in jobs]
            assert sorted({*numbers}) == numbers
            assert numbers[0] == now
            server.fair_queue.now = now + 100
            assert server.join(0, 1.0).number == now + 100

    run(main)
