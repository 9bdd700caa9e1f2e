"""Turn outcomes into the table, the ratios and RESULTS.md."""

from __future__ import annotations

import datetime as dt
import os
import platform
import shlex
from collections.abc import Sequence
from math import exp, isnan, log
from pathlib import Path

import psutil

from benchmarks.harness import MIB, RowOutcome, RunPlan

RESULTS = Path(__file__).parent / "RESULTS.md"
SUBJECT = "marsdask"
FIGURES = {
    "seconds": "seconds, the median of warm runs",
    "cpu": "CPU seconds, the mean of warm runs",
}
LEGEND = (
    "Figures are {what}; results were checked equal. A ratio above 1 means that"
    f" {SUBJECT} is faster. CPU seconds are of the whole process tree for one run; on a shared"
    " machine they are steadier than seconds. Peak memory is the tree's resident size while"
    " running, held data included. `limit` is written by hand for each row (limits.py) and may"
    " use algebra that no engine sees."
)

Table = dict[str, dict[str, RowOutcome]]


def arrange(outcomes: Sequence[RowOutcome]) -> Table:
    """Index outcomes by row, then by system."""
    table: Table = {}
    for outcome in outcomes:
        table.setdefault(outcome.row, {})[outcome.system] = outcome
    return table


def figure(outcome: RowOutcome, by: str) -> float:
    """Return the seconds, or the processor seconds, of a run; nan where there are none."""
    return outcome.cpu if by == "cpu" and outcome.seconds else outcome.median


def cell(outcome: RowOutcome | None, by: str = "seconds") -> str:
    """Return seconds with three digits, or that there are none."""
    if outcome is None:
        return "-"
    found = figure(outcome, by)
    if isnan(found):
        return "fails"
    return f"{found:.3g}" if found < 100 else f"{found:.0f}"


def ratio(row: dict[str, RowOutcome], system: str, by: str = "seconds") -> float:
    """Return how many times slower than marsdask a system is."""
    if system not in row or SUBJECT not in row:
        return float("nan")
    ours = figure(row[SUBJECT], by)
    return figure(row[system], by) / ours if ours else float("nan")


def spell_ratio(value: float) -> str:
    """Return a ratio with three digits."""
    return "-" if isnan(value) else f"{value:.3g}x"


def geometric_mean(values: Sequence[float]) -> float:
    """Return the geometric mean of those that are numbers."""
    known = [log(v) for v in values if not isnan(v) and v > 0]
    return exp(sum(known) / len(known)) if known else float("nan")


def lines(table: Table, systems: Sequence[str], by: str = "seconds") -> list[str]:
    """Return the table in Markdown: seconds, then each peer over marsdask, processor and memory."""
    peers = [s for s in systems if s != SUBJECT and SUBJECT in systems]
    memory = [s for s in ("dask", SUBJECT) if s in systems]
    cpu = memory if by == "seconds" else []
    head = ["row", *systems, *(f"{p} / {SUBJECT}" for p in peers)]
    head += [f"CPU s: {s}" for s in cpu] + [f"peak MiB: {s}" for s in memory]
    body = [head, ["---"] * len(head)]
    for name, row in table.items():
        cells = [name, *(cell(row.get(s), by) for s in systems)]
        cells += [spell_ratio(ratio(row, p, by)) for p in peers]
        cells += [usage(row.get(s), "cpu") for s in cpu]
        body.append(cells + [usage(row.get(s), "peak") for s in memory])
    for family in sorted({name[0] for name in table}):
        rows = [row for name, row in table.items() if name[0] == family]
        means = [spell_ratio(geometric_mean([ratio(r, p, by) for r in rows])) for p in peers]
        blank = [""] * len(systems)
        body.append([f"geometric mean {family}", *blank, *means, *[""] * len(cpu + memory)])
    return ["| " + " | ".join(cells) + " |" for cells in body]


def usage(outcome: RowOutcome | None, what: str) -> str:
    """Return processor seconds a run or the peak in MiB."""
    if outcome is None or isnan(outcome.median):
        return "-"
    return f"{outcome.cpu:.3g}" if what == "cpu" else f"{outcome.peak / MIB:.0f}"


def failures(table: Table) -> list[str]:
    """Return one line for each system that could not run a row."""
    return [
        f"* {o.row} on {o.system} fails: {o.reason}"
        for row in table.values()
        for o in row.values()
        if o.reason
    ]


def versions(outcomes: Sequence[RowOutcome]) -> list[str]:
    """Return one line for each system with what it stands on."""
    known = {o.system: o.versions for o in outcomes if o.versions}
    return [
        f"* {system}: " + ", ".join(f"{k} {v}" for k, v in found.items())
        for system, found in known.items()
    ]


def machine() -> str:
    """Describe the machine in one line."""
    memory = psutil.virtual_memory().total / 2**30
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    load = psutil.getloadavg()[0]
    return (
        f"{cores} cores, {memory:.0f} GiB, {platform.system()} {platform.release()}, "
        f"Python {platform.python_version()}, load {load:.1f} at the end"
    )


def document(
    outcomes: Sequence[RowOutcome],
    systems: Sequence[str],
    plan: RunPlan,
    argv: Sequence[str],
    by: str = "seconds",
) -> str:
    """Return RESULTS.md, by ``seconds`` or by ``cpu``."""
    table = arrange(outcomes)
    command = shlex.join(["python", "-m", "benchmarks", *argv])
    parts = [
        "# Benchmark results",
        "",
        f"`{command}` on {dt.datetime.now(tz=dt.UTC).date().isoformat()}: {machine()}.",
        "",
        f"Scale {plan.scale:g}. {LEGEND.format(what=FIGURES[by])}",
        "",
        *lines(table, systems, by),
        "",
        *failures(table),
        "",
        *versions(outcomes),
    ]
    return "\n".join(parts) + "\n"
