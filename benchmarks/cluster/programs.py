"""Programs that test a cluster itself, each on stock distributed and on a supervisor's workers.

Each runs as `python -m benchmarks.cluster.programs NAME SYSTEM` and prints its figures as JSON.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import resource
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from operator import itemgetter
from typing import Any

import dask
import dask.array as da
import numpy as np
import psutil
from dask.task_spec import Task, TaskRef
from distributed import Client, KilledWorker, LocalCluster, SchedulerPlugin, wait

import marsdask
import marsdask.tensor as mt
from benchmarks.harness import MIB, processor_seconds, resident
from benchmarks.overheads import nothing
from marsdask.scheduler.base import Hint
from marsdask.scheduler.dask import annotated
from marsdask.scheduler.remote import job as remote
from marsdask.scheduler.remote.client import SupervisorScheduler

Figures = dict[str, Any]
SYSTEMS = ("stock", "ours")

TASKS = 10_000
CHAINS = 1_000
GIB = 1 << 30

#: States of tasks that are known and have not run.
NOT_RUN = ("waiting", "no-worker", "queued", "processing")


@contextmanager
def cluster(system: str, processes: int = 2, threads: int = 1, memory: int = 0) -> Iterator[Client]:
    """Start worker processes of so many threads and bytes each; yield a client."""
    if system == "stock":
        limit = memory or "auto"
        with (
            LocalCluster(
                n_workers=processes,
                threads_per_worker=threads,
                memory_limit=limit,
                dashboard_address=":0",
            ) as started,
            Client(started) as client,
        ):
            yield client
        return
    total = memory * processes or None
    scheduler = SupervisorScheduler(
        n_worker=processes, n_cpu=processes * threads, memory_limit=total
    )
    try:
        with scheduler.client.as_current():
            yield scheduler.client
    finally:
        scheduler.close()


def spent() -> float:
    """Return the processor seconds of this process and of all that it started."""
    me = psutil.Process()
    return sum(map(processor_seconds, [me, *me.children(recursive=True)]))


def timed(work: Callable[[], object]) -> Figures:
    """Measure the clock and the processors."""
    cpu, wall = spent(), time.perf_counter()
    work()
    return {"seconds": time.perf_counter() - wall, "cpu": spent() - cpu}


def noop(system: str, tasks: int = TASKS) -> Figures:
    """Run tasks that do nothing, as one graph of Dask's own."""
    with cluster(system) as client:

        def run(turn: int, count: int) -> None:
            graph = {
                ("nothing", turn, i): Task(("nothing", turn, i), nothing) for i in range(count)
            }
            wait(client.get(graph, list(graph), sync=False))

        run(0, 100)
        return timed(lambda: run(1, tasks))


def made(turn: int) -> Any:
    """Return an array of a GiB."""
    return np.full(GIB // 8, float(turn))


def total(array: Any) -> float:
    """Read all of it."""
    return float(array[:: 4096 // 8].sum())


def transfer(system: str) -> Figures:
    """Hand a GiB from one process to another, and to a third."""
    found: dict[str, list[Figures]] = {"first": [], "next": []}
    with cluster(system, processes=3) as client:
        first, second, third = client.scheduler_info()["workers"]
        for turn in range(4):
            data = client.submit(made, turn, workers=[first], key=f"made-{turn}")
            wait(data)
            for name, reader in (("first", second), ("next", third)):
                cost = timed(client.submit(total, data, workers=[reader], pure=False).result)
                if turn:
                    found[name].append(cost)
            del data
    best = {name: min(costs, key=lambda cost: cost["cpu"]) for name, costs in found.items()}
    return {"rows": {f"1 GiB, {name} reader": cost for name, cost in best.items()}}


def swollen(nbytes: int, number: int) -> int:
    """Take much memory for a while, of which no result tells."""
    block = np.full(nbytes // 8, float(number))
    time.sleep(0.5)  # as long as a nanny needs to see it
    return int(block[-1])


def peaks(system: str) -> Figures:
    """Run tasks of which two do not fit into a process; stock's has no word for that."""
    size, count = 400 * MIB, 8
    logging.disable()
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        cluster(system, threads=2, memory=800 * MIB) as client,
    ):
        keys = [("swollen", i) for i in range(count)]
        graph: dict[Any, Any] = {key: Task(key, swollen, size, key[1]) for key in keys}
        hints = dict.fromkeys(graph, Hint(nbytes=32, peak=size)) if system == "ours" else {}
        try:
            cost = timed(
                lambda: client.gather(client.get(annotated(graph, hints), keys, sync=False))
            )
        except KilledWorker:
            return {"fails": "KilledWorker"}
    return cost


class HeldChunks(SchedulerPlugin):
    """Counts the held chunks, and their maximum."""

    name = "held"

    def __init__(self) -> None:
        self.now = self.most = 0

    def transition(self, key: Any, start: str, finish: str, *args: Any, **options: Any) -> None:
        """Count a chunk that is stored or released."""
        if key[0] == "load":
            self.now += (finish == "memory") - (start == "memory")
            self.most = max(self.most, self.now)


def most_held(dask_scheduler: Any) -> int:
    """Return what the plugin counted."""
    return int(dask_scheduler.plugins["held"].most)


def chains(system: str) -> Figures:
    """Load chunks and use each up; as few as possible should be there at a time."""
    with cluster(system) as client:
        client.register_plugin(HeldChunks())
        loads = [Task(("load", i), bytes, 10_000) for i in range(CHAINS)]
        uses = [Task(("use", i), len, TaskRef(("load", i))) for i in range(CHAINS)]
        graph: dict[Any, Any] = {task.key: task for task in (*loads, *uses)}
        hints = dict.fromkeys(graph, Hint(nbytes=10_000, peak=10_000))
        sent = annotated(graph, hints if system == "ours" else {})
        cost = timed(lambda: wait(client.get(sent, [task.key for task in uses], sync=False)))
        return {**cost, "note": f"at most {client.run_on_scheduler(most_held)} chunks held"}


def received(dask_worker: Any) -> int:
    """Return the bytes that a worker got of others."""
    return sum(transfer["total"] for transfer in dask_worker.transfer_incoming_log)


def arrays(system: str) -> Figures:
    """Compute Dask's own arrays on four processes, to which what lies together need not move.

    Each twice, of which the better counts: where cores are few, the processes share them.
    """
    found: dict[str, Figures] = {}
    with cluster(system, processes=4) as client:
        data = da.random.default_rng(1).random((8000, 8000), chunks=(500, 500))
        smoothed = data.map_overlap(np.negative, depth=10, boundary="none")
        results = {
            "overlap": smoothed.sum(),
            "diff": da.diff(data, axis=0).std(),
            "centring": ((data - data.mean(axis=0)) ** 2).sum(axis=1).max(),
            "transpose": (data + data.T).sum(),
        }
        client.run(import_module, "dask.array")  # as stock's have, which import this module
        for name, result in results.items():
            costs = []
            for _ in range(2):
                before = sum(client.run(received).values())
                costs.append(timed(client.compute(result).result))
                moved = sum(client.run(received).values()) - before
            best = min(costs, key=itemgetter("seconds"))
            found[f"dask.array {name}"] = {**best, "note": f"{moved / 1e6:.0f} MB moved"}
    return {"rows": found}


def spin(number: int) -> int:
    """Keep a core busy, with nothing of NumPy's."""
    for _ in range(400_000):
        number = (number * 1_103_515_245 + 12_345) % 2_147_483_648
    return number


def bind_scheduler(cores: set[int]) -> None:
    """Keep all threads of the scheduler's process on some cores."""
    for thread in psutil.Process().threads():
        os.sched_setaffinity(thread.id, cores)


def cores(system: str) -> Figures:
    """Spin in as many worker processes as there are cores, and with a scheduler that has fewer."""
    found: dict[str, Figures] = {}
    all_of_them = sorted(os.sched_getaffinity(0))
    for count in range(1, len(all_of_them) + 1):
        with cluster(system, processes=count) as client:

            def run(client: Client = client) -> None:
                client.gather(client.map(spin, range(16), pure=False))

            client.gather(client.map(spin, range(count), pure=False))
            found[f"16 busy tasks, {count} worker cores"] = timed(run)
            if system == "ours" and count > 1:
                client.run_on_scheduler(bind_scheduler, set(all_of_them[:1]))
                found[f"{count} worker cores, supervisor on one"] = timed(run)
    return {"rows": found}


def scheduler_memory(dask_scheduler: Any) -> tuple[int, int, int]:
    """Return the scheduler's bytes, its tasks, and those of them that have not run."""
    groups = dask_scheduler.task_groups.values()
    waiting = sum(group.states[state] for group in groups for state in NOT_RUN)
    return resident(psutil.Process()), len(dask_scheduler.tasks), waiting


def huge(system: str, seconds: float = 30.0, chunks: int = 1_000_000) -> Figures:
    """Run a job of a million chunks, so long at most, and ask how the supervisor is meanwhile."""
    if system == "stock":
        return {}
    shipped: list[int] = []
    start = remote.RemoteJob.start

    def spy(self: Any, data: bytes, *args: Any) -> None:
        shipped.append(len(data))
        start(self, data, *args)

    remote.RemoteJob.start = spy  # type: ignore[method-assign, assignment]
    with (
        marsdask.new_session(n_worker=2, n_cpu=2, default=False) as session,
        marsdask.option_context({"coalesce": False, "show_progress": False}),
    ):
        scheduler: Any = session.scheduler
        client = scheduler.client
        before = client.run_on_scheduler(scheduler_memory)[0]
        began = time.perf_counter()
        future = (
            (mt.ones(chunks * 10, chunk_size=10) + 1).sum().execute(session=session, wait=False)
        )
        returned = time.perf_counter() - began
        pings, seen = watch(client, future, began + seconds)
        took = time.perf_counter() - began
        (job,) = client.sync(client.scheduler.mars_jobs)
        future.cancel()
    quarters = [seen[len(seen) * part // 4][0] for part in range(1, 4)]
    memory = [rss / MIB for rss in (before, *quarters, seen[-1][0])]
    notes = [
        f"{shipped[0] / 1e3:.1f} kB shipped, back in {returned * 1e3:.0f} ms",
        f"{job['state']}: {job['tasks_done']} of {job['tasks']} tasks done in {took:.0f} s",
        f"at most {max(waiting for *_, waiting in seen)} ahead",
        f"ping p50 {milliseconds(pings, 0.5)}, p99 {milliseconds(pings, 0.99)} ms",
        f"supervisor's process {', '.join(f'{size:.0f}' for size in memory)} MiB, a quarter each",
        f"{max(tasks for _, tasks, _ in seen)} tasks known",
    ]
    return {"note": ", ".join(notes)}


def watch(client: Any, future: Any, until: float) -> tuple[list[float], list[Any]]:
    """Ping the supervisor till a job ends, and look now and then at what it holds."""
    pings, seen = [], []
    looked = 0.0
    while (asked := time.perf_counter()) < until and not future.done():
        client.sync(client.scheduler.ncores)
        pings.append(time.perf_counter() - asked)
        if asked - looked > 2:
            seen.append(client.run_on_scheduler(scheduler_memory))
            looked = asked
        threading.Event().wait(0.02)
    return pings, seen


def milliseconds(seconds: list[float], share: float) -> str:
    """Return a quantile."""
    return f"{np.quantile(seconds, share) * 1e3:.0f}"


PROGRAMS: dict[str, Callable[..., Figures]] = {
    "10,000 no-op tasks": noop,
    "cores": cores,
    "transfer": transfer,
    "1,000 chains": chains,
    "dask.array": arrays,
    "unmanaged peaks": peaks,
    "1,000,000 chunks": huge,
}


def main() -> None:
    """Run one program on one system."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cluster.programs")
    parser.add_argument("name")
    parser.add_argument("system", choices=SYSTEMS)
    parser.add_argument("--seconds", type=float, help="how long the huge job may take")
    parser.add_argument("--tasks", type=int, help="how many tasks do nothing")
    args = parser.parse_args()
    given = {"seconds": args.seconds, "tasks": args.tasks}
    options = {name: value for name, value in given.items() if value is not None}
    soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
    del soft
    resource.setrlimit(resource.RLIMIT_CORE, (0, hard))  # workers are killed on purpose
    print(json.dumps(PROGRAMS[args.name](args.system, **options)))


if __name__ == "__main__":
    main()
