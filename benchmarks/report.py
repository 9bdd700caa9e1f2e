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
LEGEND = (
    "Seconds are the median of warm runs; results were checked equal. A ratio above 1 means that"
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


def cell(outcome: RowOutcome | None) -> str:
    """Return seconds with three digits, or that there are none."""
    if outcome is None:
        return "-"
    if isnan(outcome.median):
        return "fails"
    return f"{outcome.median:.3g}" if outcome.median < 100 else f"{outcome.median:.0f}"


def ratio(row: dict[str, RowOutcome], system: str) -> float:
    """Return how many times slower than marsdask a system is."""
    if system not in row or SUBJECT not in row:
        return float("nan")
    return row[system].median / row[SUBJECT].median


def spell_ratio(value: float) -> str:
    """Return a ratio with three digits."""
    return "-" if isnan(value) else f"{value:.3g}x"


def geometric_mean(values: Sequence[float]) -> float:
    """Return the geometric mean of those that are numbers."""
    known = [log(v) for v in values if not isnan(v) and v > 0]
    return exp(sum(known) / len(known)) if known else float("nan")


def lines(table: Table, systems: Sequence[str]) -> list[str]:
    """Return the table in Markdown: seconds, then each peer over marsdask, processor and memory."""
    peers = [s for s in systems if s != SUBJECT and SUBJECT in systems]
    memory = [s for s in ("dask", SUBJECT) if s in systems]
    head = ["row", *systems, *(f"{p} / {SUBJECT}" for p in peers)]
    head += [f"CPU s: {s}" for s in memory] + [f"peak MiB: {s}" for s in memory]
    body = [head, ["---"] * len(head)]
    for name, row in table.items():
        cells = [name, *(cell(row.get(s)) for s in systems)]
        cells += [spell_ratio(ratio(row, p)) for p in peers]
        cells += [usage(row.get(s), "cpu") for s in memory]
        body.append(cells + [usage(row.get(s), "peak") for s in memory])
    for family in sorted({name[0] for name in table}):
        rows = [row for name, row in table.items() if name[0] == family]
        means = [spell_ratio(geometric_mean([ratio(r, p) for r in rows])) for p in peers]
        blank = [""] * len(systems)
        body.append([f"geometric mean {family}", *blank, *means, *[""] * 2 * len(memory)])
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
    outcomes: Sequence[RowOutcome], systems: Sequence[str], plan: RunPlan, argv: Sequence[str]
) -> str:
    """Return RESULTS.md."""
    table = arrange(outcomes)
    command = shlex.join(["python", "-m", "benchmarks", *argv])
    parts = [
        "# Benchmark results",
        "",
        f"`{command}` on {dt.datetime.now(tz=dt.UTC).date().isoformat()}: {machine()}.",
        "",
        f"Scale {plan.scale:g}. {LEGEND}",
        "",
        *lines(table, systems),
        "",
        *failures(table),
        "",
        *versions(outcomes),
    ]
    return "\n".join(parts) + "\n"
