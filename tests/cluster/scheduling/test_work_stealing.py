"""Work stealing and replicas respect reserved memory, on workers in this event loop."""

from __future__ import annotations

from contextlib import AsyncExitStack

import dask.config
import distributed
import pytest
from dask.task_spec import Task, TaskRef
from distributed.active_memory_manager import ActiveMemoryManagerPolicy, Suggestion

from marsdask.scheduler.worker import MarsWorker
from tests.cluster.loop import HOST, Gates, annotated, pass_gate, run, supervised, until

MIB = 2**20

SHORT = {
    "distributed.scheduler.default-task-durations": {"short": "10us"},
    "distributed.scheduler.work-stealing-interval": "10ms",
}


def test_a_theft_is_promised_at_once():
    """The thief's memory is not given away twice while its victim is asked; a refusal frees it."""

    async def main():
        gate = Gates.new("gate")
        one = {"nthreads": 1, "memory_limit": 100 * MIB}
        async with supervised(one, one) as (server, client):
            victim, thief = server.workers.values()
            stealing, ledger = server.extensions["stealing"], server.policy.ledger
            await stealing.stop()
            tasks = [Task(key, pass_gate, "gate") for key in ("runs", "waits")]
            graph = annotated(tasks, mars_mem={"runs": 30 * MIB, "waits": 30 * MIB})
            futures = client.get(graph, ["runs", "waits"], sync=False, workers=[victim.address])
            await gate.started.acquire()
            for ts in victim.processing:
                stealing.move_task_request(ts, victim, thief)
            assert (ledger.on(victim), ledger.on(thief)) == (60 * MIB, 60 * MIB)
            await until(lambda: not stealing.in_flight, server, *server.test_workers)
            await gate.started.acquire()
            assert (ledger.on(victim), ledger.on(thief)) == (30 * MIB, 30 * MIB)
            gate.go.set()
            await client.gather(futures)
            assert len(ledger) == 0

    run(main)


@pytest.mark.parametrize("then", ["stays", "leaves", "returns", "is replaced"])
def test_a_task_is_counted_once_after_a_theft(then):
    """Whether it moves to the thief, or is placed again because the thief has left."""

    async def main():
        gate = Gates.new("gate")
        async with supervised({}, {}, {}) as (server, client), AsyncExitStack() as stack:
            first, second, _ = server.test_workers
            victim, thief, third = [server.workers[one.address] for one in server.test_workers]
            await server.extensions["stealing"].stop()
            tasks = [Task(key, pass_gate, "gate") for key in ("runs", "waits")]
            graph, keys = annotated(tasks), ["runs", "waits"]
            futures = client.get(graph, keys, sync=False, workers=[victim.address])
            await gate.started.acquire()
            states = first.state.tasks
            await until(lambda: len(states) == 2, server, first)
            (ts,) = [ts for ts in victim.processing if states[ts.key].state != "executing"]
            ts.worker_restrictions = {third.address}
            if then != "stays":
                await second.close()
                assert thief.address not in server.workers
            if then in ("returns", "is replaced"):
                again = MarsWorker(server.address, host=HOST, nthreads=1, port=second.port)
                again.id = second.id if then == "returns" else again.id
                await stack.enter_async_context(again)
                assert (thief == server.workers[again.address]) is (then == "returns")
            server.extensions["stealing"].move_task_request(ts, victim, thief)
            await gate.started.acquire()
            stays = then in ("stays", "returns")
            new = server.workers[thief.address] if stays else third
            assert ts.processing_on is new
            assert server.worker_shares._counts == {victim: {None: 1}, new: {None: 1}}
            gate.go.set()
            await client.gather(futures)
            assert not server.worker_shares._counts

    run(main)


def test_who_has_the_most_left_is_not_taken_for_idle():
    """Its load was recorded before the other worker ended; its waiting tasks are stolen."""

    async def main():
        long, short = Gates.new("long"), Gates.new("short")
        async with supervised({}, {}) as (server, client):
            one, other = server.workers.values()
            keys = [f"long-{i}" for i in range(3)]
            tasks = [Task(key, pass_gate, "long") for key in keys]
            ending = client.get(annotated(tasks), keys, sync=False, workers=[one.address])
            await long.started.acquire()
            tasks = [Task(("short", i), pass_gate, "short", i) for i in range(2)]
            waiting = client.get(annotated(tasks), [task.key for task in tasks], sync=False)
            await short.started.acquire()
            assert len(other.processing) == 2
            assert other.address in server.idle, "what it has is short beside the other's"
            long.go.set()
            await client.gather(ending)
            await short.started.acquire()
            short.go.set()
            await client.gather(waiting)

    with dask.config.set(SHORT):
        run(main)


def test_inputs_are_looked_up_once_for_all_thieves():
    """While thefts are decided nothing moves, so the costs are those of looking each time."""

    async def main():
        gate = Gates.new("gate")
        async with supervised({}, {}, worker=distributed.Worker) as (server, client):
            holder, other = server.workers.values()
            await client.scatter({"data": bytes(1000)}, workers=[holder.address])
            graph = annotated([Task("use", pass_gate, "gate", TaskRef("data"))])
            futures = client.get(graph, ["use"], sync=False, workers=[holder.address])
            await gate.started.acquire()
            ts = server.tasks["use"]
            costs = [server.get_comm_cost(ts, ws) for ws in (holder, other)]
            assert costs[0] == 0 < costs[1]
            with server.inputs_cached():
                assert [server.get_comm_cost(ts, ws) for ws in (holder, other)] == costs
                assert server._cached[0] is ts
            assert server._cached is None
            gate.go.set()
            await client.gather(futures)

    run(main)


class Copies(ActiveMemoryManagerPolicy):
    """Requests one more replica of each result, and records its target."""

    def run(self):
        self.chosen = []
        for ts in self.manager.scheduler.tasks.values():
            self.chosen.append((yield Suggestion("replicate", ts)))


def test_replicas_go_where_memory_is_not_promised():
    """The active memory manager counts promises as if they were stored."""

    async def main():
        async with supervised({}, {}, {}) as (server, client):
            holder, busy, free = server.workers.values()
            server.policy.ledger.promise("busy", busy, 2**60)
            future = client.submit(abs, -1, key="one", workers=[holder.address])
            await future
            manager = server.extensions["amm"]
            manager.stop()
            manager.policies.clear()
            copies = Copies()
            manager.add_policy(copies)
            manager.run_once()
            assert copies.chosen == [free]

    run(main)
