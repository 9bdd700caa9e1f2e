"""Read one worker's array in two other worker processes of the host, stock's workers and ours.

`python -m benchmarks.shared_workers` counts the processor time of all three processes, from the
request until every page of the array was read, beside the time on the clock, which says little on a
busy machine. `fresh` is the first reader of the first array; `warm` the first reader of later ones,
when our owner has memory to use again; `next` the second reader of each. `copies` is how often the
array is in memory then: what the processes' proportional sizes (PSS) have grown by.
"""

from __future__ import annotations

import argparse
import contextlib
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import dask.config
import distributed
import numpy as np

from marsdask.scheduler.supervisor import Supervisor
from marsdask.scheduler.worker import MarsNanny

from .shared import MIB, TransferCost, touch

HOST = "127.0.0.1"
ROWS = ("fresh", "warm", "next", "copies")


def proportional_size() -> int:
    """Return this process's part of the memory that it uses."""
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    kib = next(line.split()[1] for line in lines if line.startswith("Pss:"))
    return int(kib) << 10


def total(client: distributed.Client, usage: Callable[[], float]) -> float:
    """Return the usage of all workers."""
    return sum(client.run(usage).values())


@contextlib.contextmanager
def started(scheduler: type, nanny: type, memory: int) -> Iterator[distributed.Client]:
    """Start three worker processes of one thread."""
    options = {"host": HOST, "nthreads": 1, "memory_limit": memory}
    workers = {name: {"cls": nanny, "options": options} for name in "abc"}
    place = {"host": HOST, "dashboard_address": f"{HOST}:0"}
    # Replicas would be dropped while their memory is measured.
    keep = {"distributed.scheduler.active-memory-manager.start": False}
    with (
        dask.config.set(keep),
        distributed.SpecCluster(workers, {"cls": scheduler, "options": place}) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


class Workers:
    """Three worker processes and what their hand-overs have cost."""

    def __init__(self, client: distributed.Client, nbytes: int) -> None:
        self.client = client
        self.nbytes = nbytes
        self.costs: dict[str, list[TransferCost]] = {name: [] for name in ROWS}
        for name in "abc":
            self.run(name, touch, self.run(name, np.ones, MIB))  # loads what it needs
        self.before = total(client, proportional_size)

    def run(self, name: str, function: Callable[..., Any], *args: Any) -> distributed.Future:
        """Run a function in a worker."""
        future = self.client.submit(function, *args, workers=[name], pure=False)
        distributed.wait(future)
        return future

    def read(self, name: str, array: distributed.Future) -> TransferCost:
        """Read the array in a worker."""
        cpu, wall = total(self.client, time.process_time), time.perf_counter()
        assert self.run(name, touch, array).result() == self.nbytes / 4096
        wall = time.perf_counter() - wall
        return TransferCost(total(self.client, time.process_time) - cpu, wall)

    def turn(self, first: str) -> None:
        """Make an array in one worker and read it in the two others."""
        array = self.run("a", np.ones, self.nbytes // 8)
        self.costs[first].append(self.read("b", array))
        self.costs["next"].append(self.read("c", array))
        copies = (total(self.client, proportional_size) - self.before) / self.nbytes
        self.costs["copies"].append(TransferCost(copies, copies))
        array.release()
        while any(self.client.run(stored).values()):
            time.sleep(0.01)


def stored(dask_worker: distributed.Worker) -> int:
    """Return how many large results a worker has."""
    sizes = (ts.nbytes or 0 for ts in dask_worker.state.tasks.values())
    return sum(size > MIB for size in sizes)


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--mib", type=int, default=1024, help="size of the array")
    options.add_argument("--repeat", type=int, default=5)
    chosen = options.parse_args()
    nbytes = chosen.mib * MIB
    with (
        started(distributed.Scheduler, distributed.Nanny, 4 * nbytes) as stock,
        started(Supervisor, MarsNanny, 4 * nbytes) as ours,
    ):
        # In turns, so that what else the machine does meets both.
        both = [Workers(client, nbytes) for client in (stock, ours)]
        for turn in range(chosen.repeat + 1):
            for workers in both:
                workers.turn("warm" if turn else "fresh")
    print(f"\n{chosen.mib} MiB   stock CPU ms  our CPU ms  CPU ratio  wall ratio")
    for name in ROWS[:3]:
        (base, base_wall), (own, own_wall) = (typical(workers, name) for workers in both)
        ratios = f"{base / own:9.2f}x {base_wall / own_wall:10.2f}x"
        print(f"{name:8} {base * 1e3:13.1f} {own * 1e3:11.1f} {ratios}")
    print("copies   " + " ".join(f"{typical(workers, 'copies')[0]:12.2f}" for workers in both))


def typical(workers: Workers, name: str) -> tuple[float, float]:
    """Return the median costs."""
    cpu, wall = map(statistics.median, zip(*workers.costs[name], strict=True))
    return float(cpu), float(wall)


if __name__ == "__main__":
    main()
