"""Run a job whose intermediates are five times its memory budget, under a real limit.

`python -m benchmarks.memory --job sort` puts a child into a control group of its own (version 1 or
2, which takes root) and lets it sort an array that was made before. `--job groupby`, `merge`,
`distinct`, `merges` and `order` work on tables that are made on the way; `statistics`, `passes`,
`draws` and `chunks` fit estimators to samples that are. Where no group can be made
the child gets the budget as an argument and only its resident size is compared. The budget is for
results and running tasks: what the interpreter and its modules take comes on top.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks import fits
from benchmarks.run_one import high_water

MIB = 1 << 20
ROOT = Path("/sys/fs/cgroup")


def own_group() -> tuple[Path, str] | None:
    """Return the directory of this process's memory group and the name of its limit file."""
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, names, path = line.split(":", 2)
        if "memory" in names.split(","):
            return ROOT / "memory" / path.lstrip("/"), "memory.limit_in_bytes"
    if (ROOT / "cgroup.controllers").exists():
        return ROOT, "memory.max"
    return None


@contextmanager
def limited_group(limit: int) -> Iterator[Path | None]:
    """Make a control group with this memory limit; None where that is not allowed."""
    group = None
    try:
        if found := own_group():
            parent, limit_file = found
            group = parent / f"marsdask-bench-{os.getpid()}"
            group.mkdir()
            (group / limit_file).write_text(str(limit))
    except OSError as error:
        print(f"no control group ({error}): comparing resident size only")
        if group is not None and group.exists():
            group.rmdir()
        group = None
    try:
        yield group
    finally:
        if group is not None:
            group.rmdir()


def sort(size: int) -> dict[str, float]:
    """Make `size` bytes of numbers, keep them, sort them, and read every part of the result."""
    marsdask, mt = import_module("marsdask"), import_module("marsdask.tensor")
    x = mt.random.RandomState(0).rand(size // 8, chunk_size=1 << 21)
    start = time.perf_counter()
    x.execute()
    made = time.perf_counter()
    ordered = mt.sort(x)
    first, last, gap = marsdask.execute(ordered[0], ordered[-1], (ordered[1:] - ordered[:-1]).min())
    smallest, largest, least = (float(one.fetch()) for one in (first, last, gap))
    return {
        "made s": made - start,
        "smallest": smallest,
        "largest": largest,
        "smallest gap": least,
        "right": 0 <= smallest < largest < 1 and least >= 0,
    }


def pairs(size: int, seed: int) -> tuple[Any, int]:
    """Return a lazy frame of `size` bytes of keys, each of them about twice, and of values."""
    mt, md = import_module("marsdask.tensor"), import_module("marsdask.dataframe")
    rows = size // 16
    drawn = mt.random.RandomState(seed).randint(0, rows // 2, (rows, 2), chunk_size=(1 << 19, 2))
    return md.DataFrame(drawn, columns=["key", "value"]), rows


def groupby(size: int) -> dict[str, float]:
    """Aggregate by nearly as many groups as there are rows."""
    df, rows = pairs(size, 0)
    groups = df.groupby("key").agg(total=("value", "sum"), n=("value", "count")).execute()
    counted = int(groups.n.sum().compute())
    return {"groups": float(len(groups)), "right": counted == rows}


def merge(size: int) -> dict[str, float]:
    """Join two tables on keys that each has about twice."""
    (left, rows), (right, _) = pairs(size // 2, 0), pairs(size // 2, 1)
    joined = left.merge(right, on="key").execute()
    found = float(len(joined))
    return {"rows": found, "right": abs(found / (2 * rows) - 1) < 0.01}


def distinct(size: int) -> dict[str, float]:
    """Drop the rows whose key was there before."""
    df, rows = pairs(size, 0)
    kept = df.drop_duplicates("key").execute()
    found = float(len(kept))
    # Of n draws of n / 2 keys all but a share of exp(-2) of the keys are met.
    return {"rows": found, "right": abs(found / (rows / 2 * (1 - math.exp(-2))) - 1) < 0.01}


def merges(size: int) -> dict[str, float]:
    """Join a table with four others, one after the other, on keys that these have once."""
    df, rows = pairs(size // 2, 0)
    for number in range(4):
        other, _ = pairs(size // 8, number + 1)
        df = df.merge(
            other.drop_duplicates("key"), on="key", how="left", suffixes=("", str(number))
        )
    found = float(len(df.execute()))
    return {"rows": found, "right": found == rows}


def order(size: int) -> dict[str, float]:
    """Sort a table by two columns, and compare neighbours."""
    df, rows = pairs(size, 0)
    ordered = df.sort_values(["key", "value"]).execute()
    falls = int((ordered.key.diff() < 0).sum().compute())
    return {"rows": float(len(ordered)), "right": len(ordered) == rows and not falls}


JOBS = {
    "sort": sort,
    "groupby": groupby,
    "merge": merge,
    "distinct": distinct,
    "merges": merges,
    "order": order,
    **fits.JOBS,
}


def job(name: str, size: int, budget: int | None) -> dict[str, float]:
    """Run one job within a budget and say what it took."""
    session = import_module("marsdask").new_session(memory_limit=budget)
    JOBS[name](16 * 100)
    baseline = high_water()
    start = time.perf_counter()
    found = JOBS[name](size)
    found |= {
        "took s": time.perf_counter() - start,
        "CPU s": sum(os.times()[:2]),
        "budget MiB": session.scheduler.memory_limit / MIB,
        "interpreter MiB": baseline / MIB,
        "peak MiB": high_water() / MIB,
    }
    session.close()
    return found


def run_module(module: str, options: Sequence[str], group: Path | None) -> dict[str, float] | int:
    """Run a module in a child, inside the group if there is one.

    Return the figures that it prints last, or the status with which it failed.
    """

    def enter() -> None:
        if group is not None:
            (group / "cgroup.procs").write_text(str(os.getpid()))

    child = subprocess.run(
        [sys.executable, "-m", module, *options],
        preexec_fn=enter,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if child.returncode:
        return child.returncode
    found: dict[str, float] = json.loads(child.stdout.splitlines()[-1])
    return found


def run_child(args: argparse.Namespace, group: Path | None) -> dict[str, float]:
    """Run the job in a child, inside the group if there is one."""
    options = ["--size", str(args.size), "--job", args.job, "--inside"]
    if group is None:
        options += ["--budget", str(round(args.limit * MIB * 0.6))]
    found = run_module("benchmarks.memory", options, group)
    if isinstance(found, int):
        sys.exit(f"the job failed with status {found} (-9: the kernel ended it)")
    return found


def main() -> int:
    """Print the figures; non-zero when the job outgrew its limit or answered wrongly."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--job", choices=sorted(JOBS), default="sort")
    parser.add_argument("--limit", type=int, default=1024, help="MiB that the job may use")
    parser.add_argument("--size", type=int, default=0, help="MiB of data; 5 budgets if not given")
    parser.add_argument("--budget", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.inside:
        print(json.dumps(job(args.job, args.size * MIB, args.budget)))
        return 0
    # The budget is 60 % of the limit; what comes out is kept as well.
    args.size = args.size or round(args.limit * 0.6 * 5)
    with limited_group(args.limit * MIB) as group:
        found = run_child(args, group)
    for figure, value in found.items():
        print(f"{figure}: {value:.6g}")
    allowed = min(args.limit, found["budget MiB"] + found["interpreter MiB"])
    good = found["right"] and found["peak MiB"] <= allowed
    print(f"{args.job} of {args.size} MiB within {allowed:.0f} MiB: {'yes' if good else 'NO'}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
