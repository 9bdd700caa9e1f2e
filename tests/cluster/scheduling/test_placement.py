"""The placement policy on workers in this event loop."""

from __future__ import annotations

import threading
from typing import Any

import dask.array as da
import dask.config
import distributed
import pytest
from dask.task_spec import Task, TaskRef
from distributed.diagnostics.plugin import SchedulerPlugin

from marsdask.scheduler.base import Hint
from marsdask.scheduler.dask import annotated as hinted_graph
from marsdask.scheduler.supervisor import transitions
from marsdask.scheduler.supervisor.affinity import worker_ranges
from marsdask.scheduler.supervisor.affinity.affinities import with_affinity
from marsdask.scheduler.worker import MarsWorker
from tests.cluster.commands import DEADLINE
from tests.cluster.loop import HOST, Gates, annotated, pass_gate, run, supervised, until

MIB = 2**20


def test_tasks_wait_where_they_do_not_fit():
    """Two of four fit at a time, though there are threads for all; the others are queued."""

    async def main():
        gate = Gates.new("gate")
        one = {"nthreads": 4, "memory_limit": 100 * MIB}
        async with supervised(one, one) as (server, client):
            keys = [f"t-{i}" for i in range(4)]
            tasks = [Task(key, pass_gate, "gate", i) for i, key in enumerate(keys)]
            graph = annotated(tasks, mars_mem=dict.fromkeys(keys, 60 * MIB))
            futures = client.get(graph, keys, sync=False)
            for _ in range(2):
                await gate.started.acquire()
            states = sorted(server.tasks[key].state for key in keys)
            assert states == ["processing", "processing", "queued", "queued"]
            assert len({server.tasks[k].processing_on for k in keys} - {None}) == 2
            promised = map(server.policy.ledger.on, server.workers.values())
            assert list(promised) == [60 * MIB, 60 * MIB]
            gate.go.set()
            assert await client.gather(futures) == [1, 1, 1, 1]
            assert len(server.policy.ledger) == 0

    run(main)


def test_a_task_larger_than_any_worker_runs_alone():
    """It waits for the largest, which may be at work, and nothing joins it there."""

    async def main():
        gate, large_gate = Gates.new("gate"), Gates.new("large")
        small, large = {"memory_limit": 50 * MIB}, {"memory_limit": 100 * MIB, "nthreads": 2}
        async with supervised(small, large) as (server, client):
            where = server.test_workers[1].address
            blocker = client.submit(pass_gate, "large", key="blocker", workers=[where])
            await large_gate.started.acquire()
            sizes = {"big": 500 * MIB, "little": 10 * MIB}
            tasks = [Task("big", pass_gate, "gate")]
            (big,) = client.get(annotated(tasks, mars_mem=sizes), ["big"], sync=False)
            little = client.submit(abs, -1, key="after big was seen")
            assert await little == 1
            assert server.tasks["big"].state == "queued"
            large_gate.go.set()
            await blocker
            await gate.started.acquire()
            assert server.tasks["big"].processing_on.address == where
            tasks = [Task("little", pass_gate, "large")]
            (little,) = client.get(annotated(tasks, mars_mem=sizes), ["little"], sync=False)
            assert await little == 0
            assert [ws.address for ws in server.tasks["little"].who_has] != [where]
            gate.go.set()
            assert await big == 0

    run(main)


class StoredChunks(SchedulerPlugin):
    """Counts the held chunks, and their maximum."""

    def __init__(self):
        self.now = self.most = 0

    def transition(self, key, start, finish, *args, **kwargs):
        if key[0] == "load":
            self.now += (finish == "memory") - (start == "memory")
            self.most = max(self.most, self.now)


def reduced(chunk):
    """Use a chunk up."""
    return 1


@pytest.mark.parametrize("threads", [(2, 1), (1, 1, 1, 1, 1)])
@pytest.mark.parametrize("hinted", [False, True])
@pytest.mark.parametrize("small", [False, True])
def test_sources_wait_for_what_is_made_of_them(monkeypatch, small, hinted, threads):
    """Of many chains no more chunks are there at a time than slots and two.

    Small ones may be one more on each worker.
    """
    chains = 100
    if not small:
        monkeypatch.setattr(transitions, "_SMALL", 0)
    extra = len(threads) if small else 2

    async def main():
        workers, stored = [{"nthreads": count} for count in threads], StoredChunks()
        async with supervised(*workers) as (server, client):
            server.add_plugin(stored)
            loads = [Task(("load", i), bytes, i) for i in range(chains)]
            uses = [Task(("use", i), reduced, TaskRef(("load", i))) for i in range(chains)]
            graph: dict[Any, Any] = {task.key: task for task in (*loads, *uses)}
            hints = dict.fromkeys(graph, Hint(nbytes=1000, peak=1000)) if hinted else {}
            sent = hinted_graph(graph, with_affinity(graph, hints) if hinted else {})
            futures = client.get(sent, [task.key for task in uses], sync=False)
            assert sum(await client.gather(futures)) == chains
            assert 0 < stored.most <= sum(threads) + extra
            assert stored.now == 0

    run(main)


def beside(big, small):
    """Return what was passed last."""
    return small


@pytest.mark.parametrize("sources", [0, 10])
def test_who_is_idle_is_left_to_sources_that_wait(sources):
    """A task waits near its inputs while sources wait; else an idle worker gets it."""

    async def main():
        gates = {name: Gates.new(name) for name in ("first", "second", "source")}
        async with supervised({}, {}) as (server, client):
            await server.extensions["stealing"].stop()
            one, other = (worker.address for worker in server.test_workers)
            big = (await client.scatter([b"0" * 1000], workers=[one]))[0]
            blocking = [
                client.submit(pass_gate, "first", i, workers=[one], key=f"first-{i}")
                for i in range(3)
            ]
            ending = client.submit(pass_gate, "second", workers=[other], key="second")
            for name in ("first", "second"):
                await gates[name].started.acquire()
            used = client.submit(beside, big, ending, key="used")
            keys = [("source", i) for i in range(sources)]
            tasks: dict[Any, Any] = {key: Task(key, pass_gate, "source", key[1]) for key in keys}
            read = [Task(("read", i), abs, TaskRef(key)) for i, key in enumerate(keys)]
            tasks |= {task.key: task for task in read}
            reading = client.get(tasks, [task.key for task in read], sync=False)
            await until(lambda: len(server.queued) == sources, server)
            gates["second"].go.set()
            if sources:
                await gates["source"].started.acquire()
                assert server.tasks["used"].processing_on.address == one
                sent = {server.tasks[key].processing_on for key in keys} - {None}
                assert [ws.address for ws in sent] == [other]
            else:
                assert await used == 0
            gates["first"].go.set()
            gates["source"].go.set()
            await client.gather([used, *blocking, *reading])

    run(main)


def test_sources_of_one_colour_share_a_home():
    """Each worker makes the half that is at home with it, until it has nothing else to do."""

    async def main():
        gate = Gates.new("gate")
        gate.go.set()
        async with supervised({"nthreads": 8}, {"nthreads": 8}) as (server, client):
            keys = [f"s-{i}" for i in range(40)]
            tasks = {key: Task(key, pass_gate, "gate", i) for i, key in enumerate(keys)}
            hints = with_affinity(tasks, {key: Hint(peak=1) for key in keys})
            bands = {key: hints[key].affinity for key in keys}
            graph = annotated(tasks.values(), mars_band=bands)
            futures = client.get(graph, keys, sync=False)
            await client.gather(futures)
            where = [next(iter(server.tasks[key].who_has)) for key in keys]
            first, second = server.workers.values()
            strangers = sum(ws is not first for ws in where[:20])
            strangers += sum(ws is not second for ws in where[20:])
            # Without homes it would be about the half.
            assert strangers <= 10, "only when its own were done did a worker take another's"

    run(main)


def test_an_input_on_a_full_worker_is_fetched_by_another():
    """The holder has no memory left to promise, so the consumer runs beside it."""

    async def main():
        gate = Gates.new("gate")
        one = {"nthreads": 2, "memory_limit": 100 * MIB}
        async with supervised(one, one) as (server, client):
            holder, other = (worker.address for worker in server.test_workers)
            (data,) = await client.scatter([7], workers=[holder])
            blocker = client.submit(pass_gate, "gate", key="blocker", workers=[holder])
            await gate.started.acquire()
            server.policy.ledger.promise("blocker", server.workers[holder], 60 * MIB)
            tasks = [Task("use", abs, TaskRef(data.key))]
            (use,) = client.get(annotated(tasks, mars_mem={"use": 30 * MIB}), ["use"], sync=False)
            assert await use == 7
            assert [ws.address for ws in server.tasks["use"].who_has] == [other]
            gate.go.set()
            await blocker

    run(main)


@pytest.mark.parametrize("policy", ["memory", "stock"])
@pytest.mark.parametrize("worker", [distributed.Worker, MarsWorker])
def test_programs_without_hints(policy, worker):
    """A dask.array computes by either policy, with every state checked at every step."""

    async def main():
        with dask.config.set({"marsdask.policy": policy}):
            async with supervised({}, {}, worker=worker) as (server, client):
                x = da.random.default_rng(0).random((400, 400), chunks=50)
                y = (x + x.T).rechunk((400, 20)).sum(axis=1)
                assert abs((await client.compute(y)).sum() - 160000) < 1000
                assert (server.policy is None) == (policy == "stock")

    run(main)


DONE = threading.Event()


def secede_until_done():
    """Leave the thread to others, and wait."""
    distributed.secede()
    return DONE.wait(DEADLINE)


def test_what_a_task_waits_for_may_have_its_memory():
    """A task that left its thread holds no promise, so the one it waits for is not held up."""

    async def main():
        DONE.clear()
        one = {"nthreads": 1, "memory_limit": 100 * MIB}
        async with supervised(one) as (server, client):
            (ws,) = server.workers.values()
            sizes = {"outer": 60 * MIB, "inner": 60 * MIB, "huge": 500 * MIB}
            outer = annotated([Task("outer", secede_until_done)], mars_mem=sizes)
            (outer,) = client.get(outer, ["outer"], sync=False)
            for key in ("inner", "huge"):
                graph = annotated([Task(key, abs, -1)], mars_mem=sizes)
                (future,) = client.get(graph, [key], sync=False)
                assert await future == 1
            assert ws.long_running == {server.tasks["outer"]}
            DONE.set()
            assert await outer
            assert len(server.policy.ledger) == 0

    run(main)


def test_losing_a_worker_settles_its_promises():
    """Reservations on a removed worker move to the next one."""

    async def main():
        gate = Gates.new("gate")
        one = {"nthreads": 1, "memory_limit": 100 * MIB}
        async with supervised(one, one) as (server, client):
            graph = annotated([Task("t", pass_gate, "gate")], mars_mem={"t": 50 * MIB})
            (future,) = client.get(graph, ["t"], sync=False)
            await gate.started.acquire()
            lost = server.tasks["t"].processing_on
            await next(w for w in server.test_workers if w.address == lost.address).close()
            await gate.started.acquire()
            now = server.tasks["t"].processing_on
            assert server.policy.ledger.on(lost) == 0
            assert server.policy.ledger.on(now) == 50 * MIB
            gate.go.set()
            assert await future == 0

    run(main)


#: Tasks of this name are known to take next to no time.
SHORT = {"distributed.scheduler.default-task-durations": {"short": "10us"}}


@pytest.mark.parametrize(("worker", "most"), [(MarsWorker, 32), (distributed.Worker, 2)])
def test_short_tasks_travel_together(worker, most):
    """A worker with a record of running tasks gets batches of limited size."""

    async def main():
        gate = Gates.new("gate")
        async with supervised({}, worker=worker) as (server, client):
            graph = {("short", i): Task(("short", i), pass_gate, "gate", i) for i in range(100)}
            futures = client.get(graph, list(graph), sync=False)
            await gate.started.acquire()
            (ws,) = server.workers.values()
            assert len(ws.processing) == most
            assert len(server.queued) == 100 - most
            gate.go.set()
            assert sum(await client.gather(futures)) == 100
            assert not ws.processing

    with dask.config.set(SHORT):
        run(main)


def test_what_waits_behind_a_long_task_is_taken_elsewhere():
    """One of many short tasks takes long: those that were sent along with it do not wait for it."""

    async def main():
        gate = Gates.new("gate")
        async with supervised({}, {}) as (_, client):
            tasks = [Task(("short", 0), pass_gate, "gate")]
            tasks += [Task(("short", i), abs, -i) for i in range(1, 10)]
            graph = {task.key: task for task in tasks}
            long, *others = client.get(graph, list(graph), sync=False)
            assert sum(await client.gather(others)) == sum(range(10))
            gate.go.set()
            assert await long == 0

    with dask.config.set(SHORT):
        run(main)


def test_colours_of_what_has_left_the_queue_are_forgotten():
    """Though the queue is not empty, which it hardly ever is in a job of many windows."""

    async def main():
        gates = {name: Gates.new(name) for name in ("first", "next")}
        async with supervised({}) as (server, client):
            futures = []
            for name, priority in zip(gates, (1, 0), strict=True):
                tasks = [Task((name, i), pass_gate, name) for i in range(8)]
                keys = [task.key for task in tasks]
                graph = annotated(tasks, mars_band=dict.fromkeys(keys, 0))
                futures += client.get(graph, keys, sync=False, priority=priority)
            await gates["first"].started.acquire()
            gates["first"].go.set()
            await gates["next"].started.acquire()
            at_home = set(server.homes)
            assert {ts.key[0] for ts in at_home} == {"next"}
            assert at_home == set(server.queued)
            gates["next"].go.set()
            await client.gather(futures)

    run(main)


def test_restrictions_come_before_memory():
    """Who says where a task runs is obeyed, though it has no room there; the promise counts."""

    async def main():
        gate = Gates.new("gate")
        one = {"nthreads": 4, "memory_limit": 100 * MIB}
        workers = ({**one, "resources": {"GPU": 1}}, one)
        async with supervised(*workers, worker=distributed.Worker) as (server, client):
            full, other = (server.workers[w.address] for w in server.test_workers)
            ledger = server.policy.ledger
            ledger.promise("somebody", full, 70 * MIB)
            wishes: dict[str, dict[str, Any]] = {
                "worker": {"workers": [full.address]},
                "resource": {"resources": {"GPU": 1}},
                "loose": {"workers": [full.address], "allow_other_workers": True},
                "gone": {"workers": ["127.0.0.1:1"], "allow_other_workers": True},
            }
            futures = []
            for key, wish in wishes.items():
                graph = annotated([Task(key, pass_gate, "gate")], mars_mem={key: MIB})
                futures += client.get(graph, [key], sync=False, **wish)
                await gate.started.acquire()
            on = {key: server.tasks[key].processing_on for key in wishes}
            assert [on["worker"], on["resource"], on["loose"]] == [full] * 3
            assert on["gone"] in (full, other)
            assert ledger.on(full) + ledger.on(other) == (70 + len(wishes)) * MIB
            gate.go.set()
            await client.gather(futures)
            actor = await client.submit(Gates, actor=True, workers=[other.address])
            assert actor is not None

    run(main)


def test_a_worker_that_has_left_and_returned(monkeypatch):
    """Is what it is now: what it was is equal to it, and would run nothing."""
    monkeypatch.setattr(worker_ranges, "_CHANGED", 10)  # as of many workers

    async def main():
        gate = Gates.new("gate")

        def start(port=0):
            made = MarsWorker(server.address, host=HOST, nthreads=2, port=port)
            made.id = "the same"
            return made

        def send(name):
            tasks = [Task((name, i), pass_gate, "gate") for i in range(20)]
            graph = annotated(tasks, mars_band={task.key: i / 20 for i, task in enumerate(tasks)})
            return client.get(graph, [task.key for task in tasks], sync=False)

        async with supervised({"nthreads": 2}) as (server, client):
            async with start() as first:
                past = server.workers[first.address]
                gate.go.set()
                await client.gather(send("before"))
                gate.go.clear()
            server.check_idle_saturated(past)  # as a theft does that ends late
            async with start(first.port) as second:
                now = server.workers[second.address]
                assert (past == now, past is now) == (True, False)
                known = [*server._open, *server._ahead, *server._batching, *server.domains._domains]
                assert not any(one is past for one in known)
                futures = send("after")
                await until(lambda: server.queued, server, second)
                assert now.processing
                assert not past.processing
                assert any(server._home(ts) is now for ts in server.queued)
                server._home = lambda ts: past
                server.stimulus_queue_slots_maybe_opened(stimulus_id="test")
                assert not past.processing
                gate.go.set()
                await client.gather(futures)

    run(main)


@pytest.mark.parametrize("leaves", [True, False])
def test_who_comes_takes_what_waits_and_who_leaves_lets_it_go(leaves):
    """Tasks that wait for memory are tried again when workers join, leave or pause."""

    async def main():
        blocking, gate = Gates.new("blocking"), Gates.new("gate")
        one = {"nthreads": 2, "memory_limit": 100 * MIB}
        async with supervised(one) as (server, client):
            (first,) = server.test_workers
            sizes = {"blocker": 60 * MIB, "waits": 60 * MIB, "huge": 500 * MIB}

            def send(key, gate, **wish):
                graph = annotated([Task(key, pass_gate, gate)], mars_mem=sizes)
                return client.get(graph, [key], sync=False, **wish)[0]

            blocker = send("blocker", "blocking", workers=[first.address])  # and nowhere else
            await blocking.started.acquire()
            waits = send("waits", "gate")
            await until(lambda: "waits" in server.tasks and server.queued, server, first)
            async with MarsWorker(
                server.address, host="127.0.0.1", nthreads=1, memory_limit=90 * MIB
            ) as second:
                await gate.started.acquire()
                assert server.tasks["waits"].processing_on.address == second.address
                gate.go.set()
                await waits
                gate.go.clear()
                huge = send("huge", "gate")
                await until(lambda: "huge" in server.tasks and server.queued, server, first)
                if leaves:
                    await first.close()
                else:
                    server.handle_worker_status_change("paused", first.address, "test")
                await gate.started.acquire()
                assert server.tasks["huge"].processing_on.address == second.address
                gate.go.set()
                await huge
                blocking.go.set()
                if not leaves:
                    await blocker

    run(main)


def test_nothing_goes_to_who_is_paused_or_retired():
    """Tasks with their home or input there run elsewhere."""

    async def main():
        one = {"nthreads": 2}
        async with supervised(one, one) as (server, client):
            paused, other = server.workers.values()
            await client.scatter({"data": -7}, workers=[paused.address])
            server.handle_worker_status_change("paused", paused, "test")
            sources = [Task(("source", i), abs, -i) for i in range(20)]
            graph = annotated(
                [*sources, Task("use", abs, TaskRef("data"))],
                mars_band={task.key: 0 for task in sources},
                mars_mem={task.key: 1 for task in sources},
            )
            keys = [*(task.key for task in sources), "use"]
            futures = client.get(graph, keys, sync=False)
            assert await client.gather(futures) == [*range(20), 7]
            assert {ws for key in keys for ws in server.tasks[key].who_has} == {other}
            server.handle_worker_status_change("running", paused, "test")
            await client.retire_workers([other.address])
            again = client.get(
                annotated([Task("again", abs, TaskRef("use"))]), ["again"], sync=False
            )
            assert await client.gather(again) == [7]
            assert server.tasks["again"].who_has == {paused}

    run(main)


def test_outputs_of_shuffles_are_sent_at_once():
    """Distributed's P2P shuffles count on that: each only learns where it has to run."""

    async def main():
        gate, barrier = Gates.new("gate"), Gates.new("barrier")
        async with supervised({}, {}) as (server, client):
            outputs = [Task(("out", i), pass_gate, "gate", TaskRef("all")) for i in range(20)]
            graph = annotated([Task("all", pass_gate, "barrier"), *outputs])
            futures = client.get(graph, [task.key for task in outputs], sync=False)
            await barrier.started.acquire()
            states = [server.tasks[task.key] for task in outputs]
            assert all(map(server.is_rootish, states))
            for ts in states:
                ts._queueable = False
            barrier.go.set()
            await until(lambda: states[0].state == "processing", server, *server.test_workers)
            assert {ts.state for ts in states} == {"processing"}
            gate.go.set()
            assert await client.gather(futures) == [1] * 20

    run(main)
