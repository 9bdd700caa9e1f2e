"""Measure operations from the call to the tasks, in chains: `python -m benchmarks.chains`.

Nothing runs. CPU time of the process is counted, so other work on the machine matters little.
"""

from __future__ import annotations

import argparse
import gc
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import dask
import dask.array
import dask.dataframe
import numpy as np
import pandas as pd

import marsdask.dataframe as md
import marsdask.tensor as mt
from marsdask.core.compilation.plan import RunPlan
from marsdask.core.compilation.tiling import Compilation

LINKS = 1000
RUNS = 3


class OperationChain(NamedTuple):
    """Links of some operations each, over an array or a frame in 16 chunks."""

    start: str
    operations: int
    link: Callable[[Any, int], Any]


CHAINS = {
    "x + i": OperationChain("array", 1, lambda x, i: x + i),
    "x * x + x": OperationChain("array", 2, lambda x, i: x * x + x),
    "x - x.mean(axis=0)": OperationChain("array", 2, lambda x, i: x - x.mean(axis=0)),
    "x.T": OperationChain("array", 1, lambda x, i: x.T),
    "x[::-1]": OperationChain("array", 1, lambda x, i: x[::-1]),
    "d.assign(n=d.a * 2 + d.b)": OperationChain("frame", 5, lambda d, i: d.assign(n=d.a * 2 + d.b)),
    "d[d.a > -i]": OperationChain("frame", 3, lambda d, i: d[d.a > -i]),
    "d.b + i": OperationChain("column", 1, lambda s, i: s + i),
}


def start(kind: str, *, ours: bool) -> Any:
    """Return where a chain begins."""
    if kind == "array":
        if ours:
            return mt.ones((4000, 4000), chunk_size=1000)
        return dask.array.ones((4000, 4000), chunks=1000)
    table = pd.DataFrame({"a": np.arange(1600), "b": np.arange(1600.0)})
    if ours:
        frame = md.DataFrame(table, chunk_size=100)
    else:
        frame = dask.dataframe.from_pandas(table, npartitions=16)
    return frame["b"] if kind == "column" else frame


def tasks(chain: Any, *, ours: bool) -> int:
    """Return how many tasks compute a chain."""
    if ours:
        plan = RunPlan(workers=4, budget=8 << 30)
        return len(Compilation([chain.node], plan=plan).advance({}).graph)  # type: ignore[union-attr]
    (best,) = dask.optimize(chain)
    return len(dict(best.__dask_graph__()))


def measured(chain: OperationChain, *, ours: bool, links: int) -> str:
    """Return the milliseconds of CPU that an operation takes at best, and the tasks."""
    seconds, count = [], 0
    for _ in range(RUNS):
        gc.collect()
        before = time.process_time()
        end = start(chain.start, ours=ours)
        try:
            for number in range(links):
                end = chain.link(end, number)
            count = tasks(end, ours=ours)
        except RecursionError:
            return "RecursionError"
        seconds.append(time.process_time() - before)
    return f"{min(seconds) / links / chain.operations * 1e3:.3f} ({count} tasks)"


def main() -> None:
    """Print a table of all chains, ours and Dask's in turns."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--links", type=int, default=LINKS)
    links = parser.parse_args().links
    print(f"| {links} links of | Dask, CPU ms an operation | ours |\n| --- | --- | --- |")
    for name, chain in CHAINS.items():
        found = [measured(chain, ours=ours, links=links) for ours in (False, True)]
        print(f"| `{name}` | {' | '.join(found)} |", flush=True)


if __name__ == "__main__":
    main()
