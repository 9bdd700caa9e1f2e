"""Measure the memory of a supervisor against the number of tasks of one job.

`python -m benchmarks.supervisor_memory 100000 200000` adds up that many chunks, each on a local
cluster of its own with one worker process, and takes the supervisor's high-water mark at the end of
the job. The difference between two sizes shows what a task costs.
"""

from __future__ import annotations

import argparse
import json
import time
from importlib import import_module
from pathlib import Path

MIB = 1 << 20


def high_water(pid: int) -> int:
    """Return the largest resident size that a process has had."""
    status = Path(f"/proc/{pid}/status").read_text()
    (line,) = [line for line in status.splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) << 10


def measure(chunks: int) -> dict[str, float]:
    """Add up so many chunks of one number each; return what the supervisor needed."""
    marsdask, mt = import_module("marsdask"), import_module("marsdask.tensor")
    with (
        marsdask.new_session(n_worker=1, n_cpu=1, default=False) as session,
        marsdask.option_context({"coalesce": False}),
    ):
        pid = session.scheduler._local.pid
        mt.ones(10, chunk_size=1).sum().execute(session=session)
        before = high_water(pid)
        start = time.perf_counter()
        x = (mt.ones(chunks, chunk_size=1) + 1).sum()
        x.execute(session=session)
        seconds = time.perf_counter() - start
        assert x.fetch(session=session) == 2 * chunks
        used = high_water(pid) - before
    return {"chunks": chunks, "seconds": seconds, "MiB": used / MIB, "bytes a chunk": used / chunks}


def main() -> None:
    """Measure and print one line for each size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("chunks", nargs="+", type=int)
    for chunks in parser.parse_args().chunks:
        print(json.dumps(measure(chunks)), flush=True)


if __name__ == "__main__":
    main()
