"""Print one table: stock distributed and a supervisor's cluster, clock and processors.

Rows T and D are dask.array and dask.dataframe on a LocalCluster of two processes of one thread, and
marsdask on a cluster of its own of as many; what is not about arrays or frames is in `programs`.
With `--threads` the rows compare marsdask's two processes with one process of two threads.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from dataclasses import dataclass
from math import isnan
from typing import Any

from benchmarks import report
from benchmarks.__main__ import add_row_options, choose
from benchmarks.cluster import programs
from benchmarks.cluster.programs import PROGRAMS, SYSTEMS
from benchmarks.harness import RowOutcome, RunPlan, check_equal, run_rows
from benchmarks.rows import tables

#: dask.array cannot sort; and stock needs minutes for 100,000 chunks.
LEFT_OUT = ("T06a", "T10b", "L")
OF_ROWS = {"stock": "dask21", "ours": "marsdask21"}
OF_THREADS = {"processes": "marsdask21", "threads": "marsdask"}
NAN = float("nan")


@dataclass
class Line:
    """A line of the table: for each of two systems seconds, processor seconds, and a remark."""

    name: str
    seconds: dict[str, float]
    cpu: dict[str, float]
    notes: dict[str, str]

    def text(self) -> str:
        """Return the line in Markdown."""
        cells = [self.name, *map(number, self.seconds.values()), ratio(self.seconds)]
        cells += [*map(number, self.cpu.values()), ratio(self.cpu)]
        notes = [f"{system}: {note}" for system, note in self.notes.items() if note]
        return "| " + " | ".join([*cells, "; ".join(notes)]) + " |"


def number(value: float) -> str:
    """Return three digits."""
    return "-" if isnan(value) else f"{value:.3g}"


def ratio(values: dict[str, float]) -> str:
    """Return how many times the second system's the first one's are."""
    return report.spell_ratio(quotient(values))


def quotient(values: dict[str, float]) -> float:
    """Return the first system's over the second's; too short to measure is nan."""
    first, second = values.values()
    return first / second if second else NAN


def row_lines(wanted: str, systems: dict[str, str], plan: RunPlan) -> list[Line]:
    """Measure rows that both systems have."""
    rows = [row for row in choose(wanted) if wanted or not row.name.startswith(LEFT_OUT)]
    for row in rows:
        tables.ensure_for(row.name, plan.tables, plan.scale)
    names = [row.name for row in rows]
    found = {name: run_rows(names, system, plan) for name, system in systems.items()}
    lines = []
    for row, *outcomes in zip(rows, *found.values(), strict=True):
        check_equal(outcomes, row)
        lines.append(row_line(row.name, dict(zip(found, outcomes, strict=True))))
    return lines


def row_line(name: str, outcomes: dict[str, RowOutcome]) -> Line:
    """Return the line of a row."""
    return Line(
        name,
        {system: outcome.median for system, outcome in outcomes.items()},
        {s: NAN if isnan(o.median) else o.cpu for s, o in outcomes.items()},
        {system: outcome.reason for system, outcome in outcomes.items()},
    )


def program_lines(name: str, timeout: float, *options: str) -> list[Line]:
    """Run a program on both systems."""
    found = {system: run_program(name, system, timeout, *options) for system in SYSTEMS}
    names = list(found["ours"].get("rows", {name: None}))
    lines = []
    for one in names:
        figures = {
            system: told.get("rows", {one: told}).get(one, {}) for system, told in found.items()
        }
        lines.append(
            Line(
                one,
                {system: told.get("seconds", NAN) for system, told in figures.items()},
                {system: told.get("cpu", NAN) for system, told in figures.items()},
                {s: told.get("note") or told.get("fails") or "" for s, told in figures.items()},
            )
        )
    return lines


def run_program(name: str, system: str, timeout: float, *options: str) -> dict[str, Any]:
    """Run a program in an interpreter of its own."""
    command = [sys.executable, "-m", "benchmarks.cluster.programs", name, system, *options]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
        return {"fails": f"timeout of {timeout:g} s"}
    if done.returncode:
        return {"fails": (done.stderr.strip().splitlines() or ["no reason given"])[-1]}
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def mean(lines: list[Line], family: str) -> Line:
    """Return the line of geometric means of ratios, the first system's over the second's."""
    rows = [line for line in lines if line.name.startswith(family)]
    first, second = rows[0].seconds
    values = [
        report.geometric_mean([quotient(getattr(row, of)) for row in rows])
        for of in ("seconds", "cpu")
    ]
    seconds, cpu = ({first: value, second: 1.0} for value in values)
    name = f"geometric mean {family or 'of all'}"
    return Line(name, seconds, cpu, {first: "ratios"})


def main() -> int:
    """Measure and print; return non-zero for a wrong result of marsdask."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cluster", description=__doc__)
    add_row_options(parser, scale=0.2, repeat=3, patience=2.0, timeout=100.0)
    parser.add_argument("--programs", default="", help="parts of names, with commas; or `none`")
    parser.add_argument("--seconds", type=float, help="how long the huge job runs (default: 30)")
    parser.add_argument(
        "--threads", action="store_true", help="marsdask's two processes, and one of two threads"
    )
    args = parser.parse_args()
    plan = RunPlan.of(args)
    systems = OF_THREADS if args.threads else OF_ROWS
    first, second = systems
    head = ["", f"{first} s", f"{second} s", "ratio"]
    head += [f"{first} CPU s", f"{second} CPU s", "CPU ratio", ""]
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    lines = [] if args.rows == "none" else row_lines(args.rows, systems, plan)
    families = sorted({line.name[0] for line in lines})
    means = [mean(lines, family) for family in ([*families, ""] if lines else [])]
    for line in (*lines, *means):
        print(line.text(), flush=True)
    for name in () if args.threads else PROGRAMS:
        if not args.programs or any(part in name for part in args.programs.split(",")):
            huge = args.seconds is not None and PROGRAMS[name] is programs.huge
            options = ["--seconds", str(args.seconds)] if huge else []
            for line in program_lines(name, args.timeout, *options):
                print(line.text(), flush=True)
    notes = [note for line in lines for name, note in line.notes.items() if name != "stock"]
    return int(any(note.startswith("wrong") for note in notes))


if __name__ == "__main__":
    sys.exit(main())
