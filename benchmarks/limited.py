"""Run rows on data larger than memory, each in a process and control group of its own.

`python -m benchmarks.limited --scale 10 --limit 2048` takes minutes. Groups take root. Each system
reads the same files; what it took is printed beside what duckdb did.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import RunPlan
from benchmarks.memory import MIB, limited_group, run_module
from benchmarks.rows import Workload, sql, tables
from benchmarks.run_one import digest, find_row, high_water
from benchmarks.systems import DuckDB, MarsDask, Polars, Sql, System

ROWS = (
    *(f"Q{number:02d}" for number in range(1, 23)),
    *("D01a_filter_groupby", "D01b_groupby_str1e5", "D02a_groupby_1e6", "D02b_groupby_median"),
    *("D05_drop_dup", "D06_value_counts", "D12_column_math"),
)
#: The share of the limit that duckdb gets; marsdask takes 0.6 of it by itself, polars has no limit.
SHARE = 0.7
#: Answers agree to this precision: sums are taken in another order.
RTOL = 1e-6


class LimitedDuckDB(DuckDB):
    """duckdb within a share of the limit, which writes to a folder what exceeds it."""

    limit = 0

    def query(self, text: str, folders: Mapping[str, str]) -> Any:
        with tempfile.TemporaryDirectory() as folder:
            config = {"memory_limit": f"{self.limit}MiB", "temp_directory": folder}
            with import_module("duckdb").connect(config=config) as connection:
                for name, path in folders.items():
                    connection.sql(f"FROM '{self.where(path)}'").create_view(name)
                return connection.sql(text).to_arrow_table()


SYSTEMS: dict[str, type[System]] = {
    "marsdask": MarsDask,
    "polars": Polars,
    "duckdb": LimitedDuckDB,
}


def run(name: str, args: argparse.Namespace) -> dict[str, Any]:
    """Run a row in this process, and return what it took and what came out."""
    LimitedDuckDB.limit = int(SHARE * args.limit)
    system = SYSTEMS[args.inside](args.scale, args.data)
    row = find_row(name)
    program = sql.program(name) if isinstance(system, Sql) else row.run
    start = time.perf_counter()
    (lazy,) = program(system, *row.setup(system))
    result = system.value(lazy) if isinstance(system, Sql) else system.computed(lazy)
    took = time.perf_counter() - start
    return {
        "s": took,
        "CPU s": sum(os.times()[:2]),
        "peak MiB": high_water() / MIB,
        "answer": digest(result, row),
    }


def run_limited(row: Workload, system: str, args: argparse.Namespace) -> dict[str, Any] | int:
    """Run a row in a child with a limit; return its figures, or the status that it ended with."""
    options = ["--data", str(args.data), "--scale", str(args.scale), "--limit", str(args.limit)]
    options += ["--inside", system, "--rows", row.name]
    with limited_group(args.limit * MIB) as group:
        return run_module("benchmarks.limited", options, group)


def told(figures: dict[str, Any] | int, right: list[float] | None) -> str:
    """Return the cell of a table: seconds, CPU seconds, peak; or how the row ended."""
    if isinstance(figures, int):
        return "killed" if figures == -9 else f"status {figures}"
    text = f"{figures['s']:.3g} / {figures['CPU s']:.3g}, {figures['peak MiB']:.0f}"
    is_right = right is None or np.allclose(figures["answer"], right, rtol=RTOL)
    return text if is_right else f"{text}, **another answer**"


def main() -> int:
    """Print a line for each row; return non-zero if ours did not end, or gave another answer."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=int, default=2048, help="MiB that a row may use")
    parser.add_argument("--scale", type=float, default=10, help="GB of the tables as text")
    parser.add_argument("--data", type=Path, help="where tables are kept")
    parser.add_argument("--rows", nargs="*", default=ROWS, help="which rows")
    parser.add_argument("--systems", nargs="*", default=list(SYSTEMS), choices=SYSTEMS)
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.inside:
        print(json.dumps(run(args.rows[0], args)))
        return 0
    args.data = args.data or RunPlan(scale=args.scale).tables
    failed = False
    print("| row |", " | ".join(args.systems), "|  (s / CPU s, peak MiB)")
    print("|---" * (1 + len(args.systems)) + "|")
    for row in map(find_row, args.rows):
        tables.ensure_for(row.name, args.data, args.scale)
        results = {name: run_limited(row, name, args) for name in args.systems}
        answers = [item["answer"] for item in results.values() if isinstance(item, dict)]
        cells = [told(item, answers[-1] if answers else None) for item in results.values()]
        failed |= "killed" in cells[0] or "status" in cells[0] or "another" in cells[0]
        print(f"| {row.name} |", " | ".join(cells), "|", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
