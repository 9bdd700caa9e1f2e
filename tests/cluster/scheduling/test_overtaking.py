"""A task that waits for memory holds up nobody but who submitted it, and is not delayed itself."""

from __future__ import annotations

import pytest
from dask.task_spec import Task
from distributed import Client
from distributed.diagnostics.plugin import SchedulerPlugin

from marsdask.scheduler.supervisor.waiting_tasks import QueueGroups
from tests.cluster.loop import Gates, annotated, pass_gate, run, supervised, until

MIB = 2**20
LARGE = {"nthreads": 2, "memory_limit": 200 * MIB, "baseline": 0}
SMALL = {"nthreads": 1, "memory_limit": 64 * MIB, "baseline": 0}


def submit(client, name, nbytes):
    """Submit a task that waits at the gate of its name and needs so many bytes."""
    graph = annotated([Task(name, pass_gate, name)], mars_mem={name: nbytes})
    return client.get(graph, [name], sync=False)[0]


def state(server, key):
    """Return the state of a task, ``None`` before it is known."""
    ts = server.tasks.get(key)
    return ts and ts.state


@pytest.mark.parametrize("second", [90, 190], ids=["fits later", "alone"])
def test_others_overtake_the_first(second):
    """Tasks of another session run on the workers that are idle; the first one has its turn."""

    async def main():
        busy, big = Gates.new("busy"), Gates.new("big")
        async with (
            supervised(LARGE, SMALL, SMALL, SMALL) as (server, client),
            Client(server.address, asynchronous=True, set_as_default=False) as other,
        ):
            before = submit(client, "busy", 100 * MIB)
            await busy.started.acquire()
            late = submit(client, "big", second * MIB)
            await until(lambda: state(server, "big") == "queued", server)
            futures = other.map(abs, range(-40, 0), pure=False)
            assert sum(await other.gather(futures)) == sum(range(41))
            assert state(server, "big") == "queued"
            busy.go.set()
            await big.started.acquire()
            big.go.set()
            assert [await before, await late] == [0, 0]
            assert not server.policy.ledger.promised

    run(main)


def test_those_that_overtake_do_not_delay_it():
    """What needs the same memory waits behind it, however often it is tried."""

    async def main():
        names = ["busy", "big", *(f"next-{number}" for number in range(3))]
        gates = {name: Gates.new(name) for name in names}
        async with (
            supervised(LARGE | {"nthreads": 8}) as (server, client),
            Client(server.address, asynchronous=True, set_as_default=False) as other,
        ):
            futures = [submit(client, "busy", 80 * MIB)]
            await gates["busy"].started.acquire()
            futures.append(submit(client, "big", 100 * MIB))
            await until(lambda: state(server, "big") == "queued", server)
            assert await other.submit(abs, -1) == 1
            futures += [submit(other, name, 60 * MIB) for name in names[2:]]
            await until(lambda: state(server, names[-1]) == "queued", server)
            assert [state(server, name) for name in names[2:]] == ["queued"] * 3
            gates["busy"].go.set()
            await gates["big"].started.acquire()
            for gate in gates.values():
                gate.go.set()
            assert await client.gather(futures[:2]) == [0, 0]
            assert await other.gather(futures[2:]) == [0, 0, 0]
            assert not server.policy.ledger.promised

    run(main)


def test_a_first_task_that_is_given_up():
    """Its memory is free again at once for others."""

    async def main():
        gates = {name: Gates.new(name) for name in ("busy", "big", "next")}
        async with supervised(LARGE) as (server, client):
            busy = submit(client, "busy", 80 * MIB)
            await gates["busy"].started.acquire()
            big = submit(client, "big", 100 * MIB)
            await until(lambda: state(server, "big") == "queued", server)
            await client.submit(abs, -1)
            big.release()
            await until(lambda: "big" not in server.tasks, server)
            following = submit(client, "next", 60 * MIB)
            await gates["next"].started.acquire()
            for gate in gates.values():
                gate.go.set()
            assert await client.gather([busy, following]) == [0, 0]
            assert not server.policy.ledger.promised

    run(main)


class LeftInQueue(SchedulerPlugin):
    """Counts the tasks that have left the queue and are still in groups of it."""

    name = "left-in-queue"

    def __init__(self, scheduler):
        self.scheduler = scheduler
        self.looked = self.most = 0

    def transition(self, key, start, finish, *args, **options):
        server = self.scheduler
        if finish == "queued" and server._waiting is None:
            server._waiting = QueueGroups()  # as if one of them had had to wait
        elif start == "queued":
            held = sum(map(len, server._waiting._groups.values()))
            self.looked += 1
            self.most = max(self.most, held - len(server.queued))


def test_tasks_that_left_the_queue_are_forgotten():
    """While it never becomes empty; otherwise a supervisor keeps all tasks of a long job."""

    async def main():
        async with supervised({}, {}) as (server, client):
            server.add_plugin(left := LeftInQueue(server))
            await client.gather(client.map(abs, range(200)))
            assert left.looked > 100
            assert left.most <= 0

    run(main)


def test_a_graph_that_is_given_up_and_sent_again():
    """Its tasks are new, though equal to those that waited before, and the queue never empties."""

    async def main():
        gates = {name: Gates.new(name) for name in ("busy", "again")}
        async with (
            supervised({}) as (server, client),
            Client(server.address, asynchronous=True, set_as_default=False) as other,
        ):
            waiting = client.map(pass_gate, ["busy"] * 8, pure=False)
            await gates["busy"].started.acquire()
            tasks = [Task(("again", i), pass_gate, "again") for i in range(8)]
            keys = [task.key for task in tasks]
            graph = annotated(tasks, mars_band=dict.fromkeys(keys, 0))

            async def send():
                futures = other.get(graph, keys, sync=False, priority=1)
                await until(lambda: state(server, keys[-1]) == "queued", server)
                return futures

            futures = await send()
            server._pass_others("test")
            past = [server.tasks[key] for key in keys]
            for future in futures:
                future.release()
            await until(lambda: keys[-1] not in server.tasks, server)
            assert not set(server.homes) & set(past)
            assert sum(map(len, server._waiting._groups.values())) == len(server.queued)
            futures = await send()
            first = server._first_queued()
            assert first in past
            assert first is server.tasks[first.key]
            for gate in gates.values():
                gate.go.set()
            await other.gather(futures)
            await client.gather(waiting)

    run(main)
