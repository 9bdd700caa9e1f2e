"""Run a job whose intermediates are five times its memory budget, under a real limit.

`python -m benchmarks.memory` puts a child into a control group of its own (version 1 or 2, which
takes root) and lets it sort an array that was made before; where no group can be made the child
gets the budget as an argument and only its resident size is compared. The budget is for results and
running tasks: what the interpreter and its modules take comes on top.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

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


def job(size: int, budget: int | None) -> dict[str, float]:
    """Make `size` bytes of numbers, keep them, sort them, and read every part of the result."""
    marsdask, mt = import_module("marsdask"), import_module("marsdask.tensor")
    session = marsdask.new_session(memory_limit=budget)
    mt.sort(mt.random.RandomState(0).rand(100, chunk_size=10)).compute()
    baseline = high_water()
    start = time.perf_counter()
    n = size // 8
    x = mt.random.RandomState(0).rand(n, chunk_size=1 << 21)
    x.execute()
    made = time.perf_counter()
    ordered = mt.sort(x)
    first, last, gap = marsdask.execute(ordered[0], ordered[-1], (ordered[1:] - ordered[:-1]).min())
    found = {
        "made s": made - start,
        "sorted s": time.perf_counter() - made,
        "budget MiB": session.scheduler.memory_limit / MIB,
        "smallest": float(first.fetch()),
        "largest": float(last.fetch()),
        "smallest gap": float(gap.fetch()),
        "interpreter MiB": baseline / MIB,
        "peak MiB": high_water() / MIB,
    }
    session.close()
    return found


def run_child(args: argparse.Namespace, group: Path | None) -> dict[str, float]:
    """Run the job in a child, inside the group if there is one."""
    budget = None if group else round(args.limit * MIB * 0.6)
    options = ["--size", str(args.size), "--job", *(["--budget", str(budget)] if budget else [])]

    def enter() -> None:
        if group is not None:
            (group / "cgroup.procs").write_text(str(os.getpid()))

    child = subprocess.run(
        [sys.executable, "-m", "benchmarks.memory", *options],
        preexec_fn=enter,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if child.returncode:
        sys.exit(f"the job failed with status {child.returncode} (-9: the kernel ended it)")
    found: dict[str, float] = json.loads(child.stdout.splitlines()[-1])
    return found


def main() -> int:
    """Print the figures; non-zero when the job outgrew its limit or answered wrongly."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=int, default=1024, help="MiB that the job may use")
    parser.add_argument("--size", type=int, default=0, help="MiB to sort; 5 budgets if not given")
    parser.add_argument("--budget", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--job", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.job:
        print(json.dumps(job(args.size * MIB, args.budget)))
        return 0
    # The budget is 60 % of the limit; the array and its sorted form are both kept.
    args.size = args.size or round(args.limit * 0.6 * 5)
    with limited_group(args.limit * MIB) as group:
        found = run_child(args, group)
    for figure, value in found.items():
        print(f"{figure}: {value:.6g}")
    allowed = min(args.limit, found["budget MiB"] + found["interpreter MiB"])
    fits = found["peak MiB"] <= allowed
    right = 0 <= found["smallest"] < found["largest"] < 1 and found["smallest gap"] >= 0
    print(f"{args.size} MiB sorted within {allowed:.0f} MiB: {'yes' if fits and right else 'NO'}")
    return 0 if fits and right else 1


if __name__ == "__main__":
    sys.exit(main())
