"""Measure the memory of a supervisor and of a worker against the number of tasks of one job.

`python -m benchmarks.supervisor_memory 100000 200000` adds up that many chunks, each on a local
cluster of its own, and takes the processes' high-water marks at the end of the job. The difference
between two sizes shows what a task costs. `--workers 2` starts two worker processes, not one.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from importlib import import_module
from pathlib import Path

MIB = 1 << 20


def high_water(pid: int) -> int:
    """Return the largest resident size that a process has had."""
    status = Path(f"/proc/{pid}/status").read_text()
    (line,) = [line for line in status.splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) << 10


def measure(chunks: int, workers: int) -> dict[str, float]:
    """Add up so many chunks of one number each; return what the processes needed."""
    marsdask, mt = import_module("marsdask"), import_module("marsdask.tensor")
    with (
        marsdask.new_session(n_worker=workers, n_cpu=workers, default=False) as session,
        marsdask.option_context({"coalesce": False}),
    ):
        mt.ones(10, chunk_size=1).sum().execute(session=session)
        supervisor = session.scheduler._local.pid
        pids = session.scheduler.client.run(os.getpid).values()
        before, of_workers = high_water(supervisor), max(map(high_water, pids))
        start = time.perf_counter()
        x = (mt.ones(chunks, chunk_size=1) + 1).sum()
        x.execute(session=session)
        seconds = time.perf_counter() - start
        assert x.fetch(session=session) == 2 * chunks
        used, most = high_water(supervisor) - before, max(map(high_water, pids)) - of_workers
    return {
        "chunks": chunks,
        "seconds": seconds,
        "MiB": used / MIB,
        "bytes a chunk": used / chunks,
        "MiB of a worker": most / MIB,
    }


def main() -> None:
    """Measure and print one line for each size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("chunks", nargs="+", type=int)
    parser.add_argument("--workers", type=int, default=1, help="processes (default 1)")
    chosen = parser.parse_args()
    for chunks in chosen.chunks:
        print(json.dumps(measure(chunks, chosen.workers)), flush=True)


if __name__ == "__main__":
    main()
