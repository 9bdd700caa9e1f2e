"""Measure overheads: imports, one trivial compute, tasks, very large grids.

Each figure comes from a fresh interpreter: `python -m benchmarks.overheads`.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import psutil

from benchmarks.run_one import high_water

Figures = dict[str, float]
TASKS = 20000
PROCESS_TASKS = 2000
CHUNKS = 1000000
CALLS = 10000


def nothing() -> None:
    """Do nothing."""


def importing(module: str) -> Figures:
    """Time one import in this interpreter."""
    start = time.perf_counter()
    import_module(module)
    return {"ms": (time.perf_counter() - start) * 1e3}


def trivial(module: str) -> Figures:
    """Time `ones(10).sum().compute()`."""
    xp = import_module(module)
    runs = []
    for _ in range(50):
        start = time.perf_counter()
        xp.ones(10).sum().compute()
        runs.append(time.perf_counter() - start)
    return {"ms": statistics.median(runs) * 1e3}


def tasks(run: Callable[[dict[Any, Any], list[Any]], None], count: int) -> Figures:
    """Time independent tasks that do nothing; the second run counts."""
    task = import_module("dask.task_spec").Task
    per_task = 0.0
    for turn in range(2):
        keys = [("noop", turn, i) for i in range(count)]
        graph = {key: task(key, nothing) for key in keys}
        start = time.perf_counter()
        run(graph, keys)
        per_task = (time.perf_counter() - start) / count
    return {"us a task": per_task * 1e6, "tasks": count}


def dask_tasks(getter: str, count: int = TASKS) -> Figures:
    """Run no-op tasks through one of Dask's own getters."""
    module, name = getter.rsplit(".", 1)
    return tasks(getattr(import_module(module), name), count)


def cluster_tasks() -> Figures:
    """Run no-op tasks through a LocalCluster of two processes."""
    distributed = import_module("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        return tasks(client.get, PROCESS_TASKS)


def own_tasks(name: str, count: int = TASKS) -> Figures:
    """Run no-op tasks through one of marsdask's schedulers."""
    scheduler = import_module("marsdask.scheduler.registry").create(name)

    def run(graph: dict[Any, Any], keys: list[Any]) -> None:
        scheduler.submit(graph, keys).wait()
        scheduler.gather(keys)
        scheduler.release(keys)

    try:
        return tasks(run, count)
    finally:
        scheduler.close()


def spent() -> float:
    """Return the CPU seconds of this process and of its children."""
    own = psutil.Process()
    times = [process.cpu_times() for process in (own, *own.children(recursive=True))]
    return sum(one.user + one.system for one in times)


def calls(run: Callable[[int], Any], count: int) -> Figures:
    """Measure the CPU time of calls that do nothing, from the call to the value."""
    run(count // 10)  # to warm up
    start = spent()
    assert run(count) == list(range(count))
    return {"us of CPU a call": (spent() - start) / count * 1e6, "calls": count}


def same(value: int) -> int:
    """Return the value."""
    return value


def spawned(count: int, **options: Any) -> Figures:
    """Call a function with marsdask.remote."""
    remote = import_module("marsdask.remote")

    def run(count: int) -> Any:
        objects = [remote.spawn(same, (i,)) for i in range(count)]
        return remote.ExecutableTuple(objects).execute().fetch()

    with import_module("marsdask").new_session(**options):
        return calls(run, count)


def delayed(count: int, *, cluster: bool = False) -> Figures:
    """Call a function with dask.delayed, on two threads or on two processes."""
    dask = import_module("dask")

    def run(count: int, **options: Any) -> Any:
        return list(dask.compute(*(dask.delayed(same)(i) for i in range(count)), **options))

    if not cluster:
        return calls(partial(run, scheduler="threads", num_workers=2), count)
    distributed = import_module("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0"
        ) as servers,
        distributed.Client(servers),
    ):
        return calls(run, count)


def lowering(*, coalesce: bool) -> Figures:
    """Build an elementwise chain and a sum over 1,000,000 chunks, and lower it to tasks."""
    mt = import_module("marsdask.tensor")
    plan = import_module("marsdask.core.compilation.passes").RunPlan(workers=2, coalesce=coalesce)
    compilation = import_module("marsdask.core.compilation.tiling").Compilation
    start = time.perf_counter()
    x = ((mt.ones(CHUNKS * 10, chunk_size=10) + 1) * 2).sum()
    built = time.perf_counter()
    stage = compilation([x._node], plan=plan).advance({})
    done = time.perf_counter()
    return {
        "build s": built - start,
        "lower s": done - built,
        "tasks": len(stage.graph),
        "peak MiB": high_water() / 2**20,
    }


MEASUREMENTS: dict[str, tuple[Callable[..., Figures], dict[str, Any], int]] = {
    "import marsdask.tensor": (importing, {"module": "marsdask.tensor"}, 5),
    "import dask.array": (importing, {"module": "dask.array"}, 5),
    "import marsdask.dataframe": (importing, {"module": "marsdask.dataframe"}, 5),
    "import dask.dataframe": (importing, {"module": "dask.dataframe"}, 5),
    "ones(10).sum().compute() marsdask": (trivial, {"module": "marsdask.tensor"}, 1),
    "ones(10).sum().compute() dask": (trivial, {"module": "dask.array"}, 1),
    "no-op tasks marsdask threads": (own_tasks, {"name": "threads"}, 1),
    "no-op tasks marsdask inline": (own_tasks, {"name": "inline"}, 1),
    "no-op tasks marsdask synchronous": (own_tasks, {"name": "synchronous"}, 1),
    "no-op tasks dask threads": (dask_tasks, {"getter": "dask.threaded.get"}, 1),
    "no-op tasks dask synchronous": (dask_tasks, {"getter": "dask.get"}, 1),
    "no-op tasks marsdask processes": (
        own_tasks,
        {"name": "processes", "count": PROCESS_TASKS},
        1,
    ),
    "no-op tasks dask processes": (
        dask_tasks,
        {"getter": "dask.multiprocessing.get", "count": PROCESS_TASKS},
        1,
    ),
    "no-op tasks dask LocalCluster 2x1": (cluster_tasks, {}, 1),
    "calls marsdask threads": (spawned, {"count": CALLS, "n_workers": 2}, 1),
    "calls dask.delayed threads": (delayed, {"count": CALLS}, 1),
    "calls marsdask cluster 2x1": (spawned, {"count": CALLS, "n_worker": 2, "n_cpu": 2}, 1),
    "calls dask.delayed cluster 2x1": (delayed, {"count": CALLS, "cluster": True}, 1),
    "lower 1,000,000 chunks as the user cut them": (lowering, {"coalesce": False}, 1),
    "lower 1,000,000 chunks with passes": (lowering, {"coalesce": True}, 1),
}


def measure(name: str, timeout: float) -> Figures | str:
    """Measure in fresh interpreters and return the median of each figure, or why there is none."""
    runs = []
    for _ in range(MEASUREMENTS[name][2]):
        try:
            child = subprocess.run(
                [sys.executable, "-m", "benchmarks.overheads", "--one", name],
                capture_output=True,
                text=True,
                timeout=timeout,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return f"timeout of {timeout:g} s"
        if child.returncode:
            return (child.stderr.strip().splitlines() or ["no reason given"])[-1]
        runs.append(json.loads(child.stdout.splitlines()[-1]))
    return {figure: statistics.median(run[figure] for run in runs) for figure in runs[0]}


def main() -> None:
    """Print one line for each measurement."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--one", choices=MEASUREMENTS, help="measure in this interpreter")
    parser.add_argument("--only", default="", help="part of the names to measure")
    parser.add_argument("--timeout", type=float, default=300.0)
    args = parser.parse_args()
    if args.one:
        run, options, _ = MEASUREMENTS[args.one]
        print(json.dumps(run(**options)))
        return
    for name in MEASUREMENTS:
        if args.only in name:
            found = measure(name, args.timeout)
            said = found if isinstance(found, str) else ", ".join(spell(*f) for f in found.items())
            print(f"{name}: {said}", flush=True)


def spell(figure: str, value: float) -> str:
    """Return one figure with its unit."""
    return f"{value:,.0f} {figure}" if value >= 1000 else f"{value:.3g} {figure}"


if __name__ == "__main__":
    main()
