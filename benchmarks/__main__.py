"""The command line: choose rows and systems, print the table."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from importlib import import_module
from pathlib import Path

from benchmarks import report
from benchmarks.harness import RowOutcome, RunPlan, check_equal, run_row
from benchmarks.rows import Workload, tables
from benchmarks.run_one import MODULES
from benchmarks.systems import SYSTEMS

#: The exit code of shells for a command that Ctrl-C ended.
INTERRUPTED = 130


def parse(argv: list[str]) -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--systems", default="limit,np,dask,dask21,marsdask")
    add_row_options(parser)
    parser.add_argument("--pymars", metavar="PYTHON", help="an interpreter that has pymars")
    parser.add_argument("--python", action="append", default=[], metavar="SYSTEM=PYTHON")
    parser.add_argument("--by", choices=report.FIGURES, default="seconds", help="what to compare")
    parser.add_argument("--json", type=Path, help="write every figure here")
    parser.add_argument("--record", action="store_true", help="write benchmarks/RESULTS.md")
    return parser.parse_args(argv)


def add_row_options(parser: argparse.ArgumentParser, **defaults: float) -> None:
    """Add which rows to run and how, as in :class:`RunPlan` or by other ``defaults``."""
    parser.add_argument("--rows", default="", help="names or their beginnings: T01,T12c,D; or none")
    parser.add_argument("--scale", type=float, default=RunPlan.scale, help="0.1 for a quick look")
    parser.add_argument("--repeat", type=int, default=RunPlan.repeat, help="runs after the warm-up")
    parser.add_argument("--patience", type=float, default=RunPlan.patience, help="seconds of runs")
    parser.add_argument("--timeout", type=float, default=RunPlan.timeout, help="seconds for a row")
    parser.add_argument("--data", type=Path, default=RunPlan.data, help="where tables are kept")
    parser.set_defaults(**defaults)


def choose(wanted: str) -> list[Workload]:
    """Return the rows whose names begin with one of the wanted words."""
    rows = [row for module in MODULES for row in import_module(module).ROWS]
    if not wanted:
        return rows
    words = tuple(wanted.split(","))
    return [row for row in rows if row.name.startswith(words)]


def main(argv: list[str]) -> int:
    """Measure row by row, printing each as it comes; non-zero if marsdask gave a wrong answer."""
    args = parse(argv)
    systems = args.systems.split(",")
    interpreters = dict(pair.split("=", 1) for pair in args.python)
    if args.pymars:
        interpreters["pymars"] = args.pymars
        systems += [] if "pymars" in systems else ["pymars"]
    if unknown := set(systems) - set(SYSTEMS):
        sys.exit(f"unknown systems {sorted(unknown)}; there are {sorted(SYSTEMS)}")
    plan = RunPlan.of(args, interpreters=interpreters)
    outcomes: list[RowOutcome] = []
    try:
        for row in choose(args.rows):
            outcomes += measure_row(row, systems, plan)
    except KeyboardInterrupt:  # what came before took minutes
        print(report.document(outcomes, systems, plan, argv, args.by))
        return INTERRUPTED
    print(report.document(outcomes, systems, plan, argv, args.by))
    if args.json:
        args.json.write_text(json.dumps([dataclasses.asdict(o) for o in outcomes], indent=1))
    if args.record:
        report.RESULTS.write_text(report.document(outcomes, systems, plan, argv, args.by))
    return int(any(o.system == "marsdask" and o.reason.startswith("wrong") for o in outcomes))


def measure_row(row: Workload, systems: list[str], plan: RunPlan) -> list[RowOutcome]:
    """Run one row on each system that has it, and compare the answers."""
    tables.ensure_for(row.name, plan.tables, plan.scale)
    outcomes = []
    for system in systems:
        outcome = run_row(row.name, system, plan)
        outcomes.append(outcome)
        said = outcome.reason or f"{outcome.median:.4g} s, CPU {outcome.cpu:.3g} s"
        print(f"{row.name} {system}: {said}", file=sys.stderr, flush=True)
    check_equal(outcomes, row)
    return outcomes


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
