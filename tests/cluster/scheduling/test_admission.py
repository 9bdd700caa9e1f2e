"""Workers that admit tasks by memory, in this event loop, with a stock scheduler and with ours."""

from __future__ import annotations

import asyncio

import dask.config
import distributed
import numpy as np
import pytest
from dask.task_spec import Task, TaskRef
from distributed.core import Status
from distributed.diagnostics.plugin import SchedulerPlugin

from marsdask.scheduler.supervisor import Supervisor
from marsdask.scheduler.worker import MarsWorker
from marsdask.scheduler.worker.admission import AdmissionDecision
from marsdask.scheduler.worker.memory_ledger import LedgerView, MemoryLedger
from tests.cluster.loop import Gates, annotated, cluster, pass_gate, run

MIB = 2**20


def block(number, nbytes):
    """Return an array of so many bytes."""
    return np.full(nbytes, number % 256, dtype=np.uint8)


#: The tasks that have run.
RAN: list[int] = []


def ran(number):
    """Record a task."""
    RAN.append(number)
    return number


def first(*blocks):
    """Return the first element of each."""
    return [int(one[0]) for one in blocks]


def holding_back(state):
    """Return an event that comes when a worker holds a task back."""
    event = asyncio.Event()
    decide = state.admission.decide

    def watched(*args):
        decision = decide(*args)
        if decision is not AdmissionDecision.START:
            event.set()
        return decision

    state.admission.decide = watched
    return event


@pytest.mark.parametrize("scheduler", [distributed.Scheduler, Supervisor])
def test_tasks_start_one_after_the_other(scheduler):
    """Two fit of four that have threads; each that ends lets one more start."""

    async def main():
        gate = Gates.new("gate")
        one = {"nthreads": 4, "memory_limit": 200 * MIB, "baseline": 0, "validate": True}
        async with cluster(scheduler, MarsWorker, workers=(one,)) as (server, client):
            state = server.test_workers[0].state
            keys = [f"t-{i}" for i in range(4)]
            graph = annotated(
                [Task(key, pass_gate, "gate", key) for key in keys],
                mars_mem=dict.fromkeys(keys, 70 * MIB),
            )
            futures = client.get(graph, keys, sync=False)
            for _ in range(2):
                await gate.started.acquire()
            assert state.executing_count == 2
            assert state.admission.promised == 140 * MIB
            gate.go.set()
            assert await client.gather(futures) == [1, 1, 1, 1]
            assert state.admission.promised == 0

    run(main)


def test_results_leave_memory_for_a_task(tmp_path):
    """They go to the directories in turn, and come back when they are wanted."""

    async def main():
        one = {
            "nthreads": 1,
            "memory_limit": 100 * MIB,
            "baseline": 0,
            "validate": True,
            "spill_dirs": [str(tmp_path / "one"), str(tmp_path / "two")],
        }
        for name in ("one", "two"):
            (tmp_path / name).mkdir()
        async with cluster(Supervisor, MarsWorker, workers=(one,)) as (server, client):
            data = server.test_workers[0].data
            # Together they stay below distributed's own target of 60 %.
            keys = [f"b-{i}" for i in range(5)]
            tasks = [Task(key, block, i, 10 * MIB) for i, key in enumerate(keys)]
            blocks = client.get(annotated(tasks), keys, sync=False)
            await distributed.wait(blocks)
            assert len(data.slow) == 0
            graph = annotated([Task("big", abs, -1)], mars_mem={"big": 55 * MIB})
            (big,) = client.get(graph, ["big"], sync=False)
            assert await big == 1
            assert 3 <= len(data.slow) <= 4
            used = [path.name for path in tmp_path.iterdir() if any(path.rglob("[0-9a-f]"))]
            assert sorted(used) == ["one", "two"]
            graph = annotated([Task("use", first, *map(TaskRef, keys))], mars_mem={"use": MIB})
            (use,) = client.get(graph, ["use"], sync=False)
            assert await use == [0, 1, 2, 3, 4]
        assert not list(tmp_path.rglob("[0-9a-f]")), "what was spilled goes with the worker"

    run(main)


class Queueing(SchedulerPlugin):
    """Sets an event when a task has to wait on the scheduler."""

    def __init__(self, event):
        self.event = event

    def transition(self, key, start, finish, *args, **kwargs):
        """Record the transitions of a task."""
        if finish == "queued":
            self.event.set()


@pytest.mark.parametrize("scheduler", [distributed.Scheduler, Supervisor])
def test_a_task_that_never_fits_runs_alone(scheduler):
    """It waits for the others, and then for nothing; and while it runs, others wait for it."""

    async def main():
        gate, alone = Gates.new("gate"), Gates.new("alone")
        one = {"nthreads": 2, "memory_limit": 100 * MIB, "baseline": 0, "validate": True}
        async with cluster(scheduler, MarsWorker, workers=(one,)) as (server, client):
            state = server.test_workers[0].state
            waits = holding_back(state)
            server.add_plugin(Queueing(waits))

            def start(key, size, name):
                graph = annotated([Task(key, pass_gate, name, 1)], mars_mem={key: size})
                return client.get(graph, [key], sync=False)[0]

            small = start("small", MIB, "gate")
            await gate.started.acquire()
            huge = start("huge", 2**40, "alone")
            await waits.wait()
            waits.clear()
            assert state.executing_count == 1
            gate.go.set()
            assert await small == 1
            await alone.started.acquire()
            more = start("more", MIB, "gate")
            await waits.wait()
            assert state.executing_count == 1
            alone.go.set()
            assert await huge == 1
            assert await more == 1

    run(main)


def test_freed_results_make_room():
    """A task in line starts when results are released, though no task ends."""

    async def main():
        gate = Gates.new("gate")
        one = {"nthreads": 2, "memory_limit": 100 * MIB, "baseline": 0, "validate": True}
        async with cluster(distributed.Scheduler, MarsWorker, workers=(one,)) as (server, client):
            state = server.test_workers[0].state
            state.make_room = None  # as if the disk were slow
            held = client.submit(block, 1, 40 * MIB, key="held")
            await distributed.wait(held)
            graph = annotated([Task("busy", pass_gate, "gate")], mars_mem={"busy": MIB})
            (busy,) = client.get(graph, ["busy"], sync=False)
            await gate.started.acquire()
            waits = holding_back(state)
            graph = annotated([Task("next", abs, -7)], mars_mem={"next": 50 * MIB})
            (later,) = client.get(graph, ["next"], sync=False)
            await waits.wait()
            assert not later.done()
            held.release()
            assert await later == 7
            gate.go.set()
            await busy

    run(main)


def test_without_hints_or_limits_nothing_is_held_back():
    """A worker without a memory limit has no admission, and stock programs notice none."""

    async def main():
        async with cluster(
            Supervisor, MarsWorker, workers=({"memory_limit": 0}, {"nthreads": 2})
        ) as (server, client):
            unlimited, limited = server.test_workers
            assert unlimited.state.admission is None
            futures = client.map(abs, range(-20, 0))
            assert sum(await client.gather(futures)) == 210
            assert limited.state.admission.held_back == 0

    run(main)


def test_what_comes_back_leaves_again(monkeypatch):
    """A result read back while others move to disk for a task does not keep that from starting."""

    async def main():
        one = {"nthreads": 1, "memory_limit": 100 * MIB, "baseline": 0, "validate": True}
        async with cluster(distributed.Scheduler, MarsWorker, workers=(one,)) as (server, client):
            worker = server.test_workers[0]
            free, rounds = worker.spill_manager.free, []

            async def disturbed(nbytes):
                freed = await free(nbytes)
                rounds.append(freed)
                if len(rounds) == 1:
                    assert "held" not in worker.data.fast
                    assert worker.data["held"] is not None
                return freed

            monkeypatch.setattr(worker.spill_manager, "free", disturbed)
            held = client.submit(block, 1, 40 * MIB, key="held")
            await distributed.wait(held)
            graph = annotated([Task("next", abs, -7)], mars_mem={"next": 50 * MIB})
            (later,) = client.get(graph, ["next"], sync=False)
            assert await later == 7
            assert len(rounds) == 2

    run(main)


def test_pausing_while_results_leave_memory():
    """A worker that spills looks after its memory all the same: tasks go on meanwhile."""
    shares = {"spill": 0.7, "pause": 0.8}
    thresholds = {f"distributed.worker.memory.{name}": share for name, share in shares.items()}

    async def main():
        one = {"memory_limit": 2**50, "io_threads": 1}  # or what the host has
        with dask.config.set(thresholds):
            async with cluster(distributed.Scheduler, MarsWorker, workers=(one,)) as (server, _):
                worker = server.test_workers[0]
                manager = worker.memory_manager
                looked, begun, go = asyncio.Event(), asyncio.Event(), asyncio.Event()
                taken, look = {"share": 0.75}, manager._maybe_pause_or_unpause

                def watched(*args):
                    look(*args)
                    looked.set()

                async def free(nbytes):
                    begun.set()
                    await go.wait()
                    return nbytes

                manager._maybe_pause_or_unpause = watched
                worker.spill_manager.free = free
                worker.monitor.get_process_memory = lambda: taken["share"] * manager.memory_limit
                await begun.wait()
                for share, status in ((0.85, Status.paused), (0.75, Status.running)):
                    taken["share"] = share
                    while worker.status is not status:
                        looked.clear()
                        await looked.wait()
                taken["share"] = 0
                go.set()

    run(main)


@pytest.mark.parametrize("full", ["no disk has room", None])
def test_tasks_of_unknown_size_on_full_disks(full):
    """Before each the worker looks at its memory: it pauses at once, and not at the next look."""
    config = {"pause": 0.8, "spill": False, "monitor-interval": "1h"}

    async def main():
        RAN.clear()
        with dask.config.set(
            {f"distributed.worker.memory.{name}": config[name] for name in config}
        ):
            one = {"memory_limit": 2**50, "validate": True}
            async with cluster(distributed.Scheduler, MarsWorker, workers=(one,)) as (
                server,
                client,
            ):
                (worker,) = server.test_workers
                manager, paused = worker.memory_manager, asyncio.Event()
                pause = manager._maybe_pause_or_unpause

                def watched(*args):
                    pause(*args)
                    paused.set()

                manager._maybe_pause_or_unpause = watched
                worker.monitor.get_process_memory = lambda: len(RAN) * manager.memory_limit / 10
                worker.spill_manager.full = full
                futures = client.map(ran, range(20), pure=False)
                if full:
                    await paused.wait()
                    assert worker.status is Status.paused
                    assert len(RAN) == 9
                    RAN.clear()
                    worker.spill_manager.full = None
                    pause(worker, 0)
                assert await client.gather(futures) == [*range(20)]

    run(main)


def test_idle_segments_make_room_where_nothing_is_spilled():
    """A worker without a disk frees the memory that it has shared and needs no more."""

    async def main():
        one = {"nthreads": 1, "memory_limit": 100 * MIB, "baseline": 0, "validate": True}
        with dask.config.set({"distributed.worker.memory.target": False}):
            async with cluster(Supervisor, MarsWorker, workers=(one,)) as (server, client):
                worker = server.test_workers[0]
                assert isinstance(worker.data, dict)
                assert worker.shared_results.pool.publish(block(1, 40 * MIB))
                assert worker.shared_results.pool.unused() > 40 * MIB
                graph = annotated([Task("next", abs, -7)], mars_mem={"next": 50 * MIB})
                (later,) = client.get(graph, ["next"], sync=False)
                assert await later == 7
                assert worker.shared_results.pool.nbytes == 0

    run(main)


@pytest.mark.parametrize("crowded", [False, True])
def test_workers_of_one_host(crowded):
    """A task beyond its worker's share uses what others leave; if they leave nothing, it waits."""

    async def main():
        gate, other = Gates.new("gate"), Gates.new("other")
        host = MemoryLedger(
            2, MIB if crowded else 2**50
        )  # other than what this process really takes
        one = {"nthreads": 1, "memory_limit": 100 * MIB, "baseline": 0, "validate": True}
        workers = [one | {"ledger": (host.path, place)} for place in range(2)]
        async with cluster(distributed.Scheduler, MarsWorker, workers=workers) as (server, client):
            first, second = (worker.address for worker in server.test_workers)
            waits = holding_back(server.test_workers[1].state)

            def start(key, gate, where):
                graph = annotated(
                    [Task(key, pass_gate, gate)], mars_mem={key: 90 * MIB}, workers={key: [where]}
                )
                return client.get(graph, [key], sync=False)[0]

            busy = start("busy", "gate", first)
            await gate.started.acquire()
            more = start("more", "other", second)
            other.go.set()
            if crowded:
                await waits.wait()
                assert other.started.locked()
            else:
                assert await more == 0
            gate.go.set()
            assert await busy == 0
            assert await more == 0
        assert LedgerView(host.path).used() == 0
        host.close()

    run(main)
