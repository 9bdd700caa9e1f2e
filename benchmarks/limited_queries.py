"""Run each query of TPC-H under a real memory limit, in a process and control group of its own.

`python -m benchmarks.limited_queries --scale 10 --limit 4096` takes minutes. Groups take root.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from importlib import import_module
from pathlib import Path

from benchmarks.harness import RunPlan
from benchmarks.memory import MIB, limited_group, run_module
from benchmarks.rows import queries, tables
from benchmarks.run_one import high_water
from benchmarks.systems import System


def run(name: str, folder: Path, scale: float) -> dict[str, float]:
    """Run a query in this process, and return what it took."""
    session = import_module("marsdask").new_session()
    system = System(scale, folder)
    system.frames = "marsdask.dataframe"
    (row,) = (one for one in queries.ROWS if one.name == name)
    start = time.perf_counter()
    (found,) = row.run(system, *row.setup(system))
    result = found.compute()
    return {
        "s": time.perf_counter() - start,
        "CPU s": sum(os.times()[:2]),
        "budget MiB": session.scheduler.memory_limit / MIB,
        "peak MiB": high_water() / MIB,
        "rows": len(result) if hasattr(result, "__len__") else 1,
    }


def run_limited(name: str, args: argparse.Namespace) -> str:
    """Run a query in a child with a limit; return its figures, or how it ended."""
    options = ["--data", str(args.data), "--scale", str(args.scale), "--inside", name]
    with limited_group(args.limit * MIB) as group:
        found = run_module("benchmarks.limited_queries", options, group)
    if isinstance(found, int):
        return f"ended with status {found} (-9: the kernel ended it)"
    return ", ".join(f"{figure} {value:.4g}" for figure, value in found.items())


def main() -> int:
    """Print a line for each query; return non-zero if one did not end."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=int, default=4096, help="MiB that a query may use")
    parser.add_argument("--scale", type=float, default=10, help="GB of the tables as text")
    parser.add_argument("--data", type=Path, help="where tables are kept")
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.inside:
        print(json.dumps(run(args.inside, args.data, args.scale)))
        return 0
    args.data = args.data or RunPlan(scale=args.scale).tables
    failed = False
    for row in queries.ROWS:
        tables.ensure_for(row.name, args.data, args.scale)
        told = run_limited(row.name, args)
        failed |= told.startswith("ended")
        print(f"{row.name}: {told}", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
