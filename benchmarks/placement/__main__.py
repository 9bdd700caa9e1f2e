"""The command line: simulate each graph under each rule, and print a table."""

from __future__ import annotations

import argparse
import contextlib
import gc
import sys
import time
from collections.abc import Iterator

from benchmarks.placement.machine import GIB, Hardware
from benchmarks.placement.rules import RULES
from benchmarks.placement.simulate import Figures, Simulation
from benchmarks.placement.traces import COMPILED, TRACES

_HEAD = (
    "graph",
    "tasks",
    "rule",
    "seconds",
    "idle",
    "GB moved",
    "GB in host",
    "fullest GB",
    "GB spilled",
    "us",
)


def row(name: str, tasks: int, rule: str, figures: Figures, threads: int) -> str:
    """Return a line of the table."""
    cells = (
        name,
        f"{tasks:,}",
        rule,
        f"{figures.seconds:,.1f}",
        f"{figures.idle(threads):.1%}",
        f"{figures.between_hosts / 1e9:,.1f}",
        f"{figures.within_hosts / 1e9:,.1f}",
        f"{figures.fullest / 1e9:.2f}",
        f"{figures.spilled / 1e9:,.1f}",
        f"{figures.deciding / tasks * 1e6:.1f}",
    )
    return f"| {' | '.join(cells)} |"


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    """No round of the collector over millions of results, none of which is in a cycle."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@uncollected()
def main(argv: list[str]) -> int:
    """Print the table as it comes."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.placement", description=__doc__)
    parser.add_argument("--tasks", type=int, default=50_000, help="about so many in each graph")
    parser.add_argument("--workers", type=int, default=Hardware.workers)
    parser.add_argument("--per-host", type=int, default=Hardware.per_host)
    parser.add_argument("--threads", type=int, default=Hardware.nthreads, help="of each worker")
    parser.add_argument("--memory", type=float, default=8, help="GiB of each worker")
    parser.add_argument("--graphs", default="", help="beginnings of names: map,tree")
    parser.add_argument("--rules", default="", help="beginnings of names: mars")
    args = parser.parse_args(argv)
    hardware = Hardware(
        args.workers, args.per_host, nthreads=args.threads, memory=int(args.memory * GIB)
    )
    began = time.process_time()
    print(f"| {' | '.join(_HEAD)} |\n|{'---|' * len(_HEAD)}")
    graphs, rules = tuple(args.graphs.split(",")), tuple(args.rules.split(","))
    threads = hardware.workers * hardware.nthreads
    for make in TRACES:
        if not make.__name__.startswith(graphs):
            continue
        trace = make(args.tasks)
        for rule in RULES:
            if not rule.name.startswith(rules):
                continue
            if rule.compiled and make in COMPILED:
                trace = COMPILED[make](args.tasks, threads)
            figures = Simulation(trace, hardware, rule(hardware.bandwidth)).run()
            print(row(trace.name, len(trace), rule.name, figures, threads), flush=True)
    print(f"\n{time.process_time() - began:.0f} s of processor time")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
