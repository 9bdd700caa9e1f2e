"""Measure operations from the call to the tasks, in chains: `python -m benchmarks.chains`.

Nothing runs. CPU time of the process is counted, so other work on the machine matters little.
"""

from __future__ import annotations

import argparse
import gc
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import dask

from marsdask.core.compilation.tiling import Compilation
from marsdask.core.graph import Graph
from marsdask.core.machine.plan import Plan

from .arrays import ARRAYS
from .family import DASK, OURS, Family, Vocabulary
from .shapes import SHAPES
from .tables import TABLES

FAMILIES = ARRAYS | SHAPES | TABLES
LINKS = 1000
#: Dask's frames recurse over chains much longer than this, and slow families take minutes.
DASK_LINKS = 100
SYSTEMS = {"dask": DASK, "marsdask": OURS}


def tasks(chain: Any, system: Vocabulary) -> int:
    """Return how many tasks compute a chain, as far as planned without running any."""
    if system is OURS:
        plan = Plan(workers=4, budget=8 << 30)
        return len(Compilation([chain.node], plan=plan).advance({}).graph)  # type: ignore[union-attr]
    (best,) = dask.optimize(chain)
    return len(dict(best.__dask_graph__()))


def nodes(family: Family) -> float:
    """Return how many nodes a link of ours has."""
    short, long = (len(Graph([family.built(OURS, links).node]).nodes) for links in (12, 24))
    return (long - short) / 12


def least(work: Callable[[], int], runs: int) -> tuple[float, int]:
    """Return the least seconds of CPU of some runs, and what the last returned."""
    seconds, count = [], 0
    for _ in range(runs):
        gc.collect()
        before = time.process_time()
        count = work()
        seconds.append(time.process_time() - before)
    return min(seconds), count


def measured(family: Family, system: Vocabulary, *, links: int, runs: int) -> str:
    """Return the milliseconds of CPU of a node, and the tasks: or why a system cannot."""
    work = partial(_built_and_planned, family, system)
    try:
        work(3)
        seconds, count = least(partial(work, links), runs)
    except Exception as failure:  # noqa: BLE001 - what a system cannot do is part of the table
        return type(failure).__name__
    return f"{seconds / links / nodes(family) * 1e3:.3f} ({count} tasks)"


def _built_and_planned(family: Family, system: Vocabulary, links: int) -> int:
    return tasks(family.built(system, links), system)


def main() -> None:
    """Print a table of the chains that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--links", type=int, default=LINKS, help="links of our chains")
    parser.add_argument("--dask-links", type=int, default=DASK_LINKS, help="links of Dask's")
    parser.add_argument("--runs", type=int, default=1, help="of which the fastest counts")
    parser.add_argument("--systems", default="dask,marsdask")
    parser.add_argument("--families", default="", help="a comma between parts of names")
    asked = parser.parse_args()
    lengths = {"dask": asked.dask_links, "marsdask": asked.links}
    systems = asked.systems.split(",")
    heads = [f"{name}, {lengths[name]} links, CPU ms a node" for name in systems]
    print(f"| a link is | nodes | {' | '.join(heads)} |\n| --- |{' --- |' * (len(heads) + 1)}")
    for name, family in FAMILIES.items():
        if not any(part in name for part in asked.families.split(",")):
            continue
        found = [
            measured(family, SYSTEMS[system], links=lengths[system], runs=asked.runs)
            for system in systems
        ]
        print(f"| `{name}` | {nodes(family):g} | {' | '.join(found)} |", flush=True)


if __name__ == "__main__":
    main()
