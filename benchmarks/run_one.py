"""Run rows on one system and report each phase as a line of JSON on a file descriptor.

The harness starts it as `python -m benchmarks.run_one` under that system's own interpreter.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import time
import traceback
import warnings
import zlib
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.rows import Workload, expressions, sql
from benchmarks.systems import SYSTEMS, System

MODULES = (
    "benchmarks.rows.tensor",
    "benchmarks.rows.dataframe",
    "benchmarks.rows.queries",
    "benchmarks.rows.learn",
    "benchmarks.rows.sparse",
)


def find_row(name: str, modules: tuple[str, ...] = MODULES) -> Workload:
    """Return the row of this name."""
    for module in modules:
        rows: tuple[Workload, ...] = import_module(module).ROWS
        for row in rows:
            if row.name == name:
                return row
    raise KeyError(f"no row {name!r} in {', '.join(modules)}")


def digest(result: Any, row: Workload) -> list[float]:
    """Reduce a result to a few numbers that two systems share when their results are equal."""
    if hasattr(result, "columns"):
        if len(result.columns) > 1:
            return frame_digest(result, row)
        result = as_numbers(np.asarray(result.iloc[:, 0]))
    flat = np.asarray(result, dtype=float).ravel()
    if row.signless:
        flat = np.abs(flat)
    if row.unordered:
        flat = np.sort(flat)
    if flat.size <= 64:
        return [float(x) for x in flat]
    missing = np.isnan(flat)
    flat = np.where(missing, 0.0, flat)
    place = np.linspace(0.5, 1.5, flat.size)
    sums = [flat.sum(), np.abs(flat).sum(), flat @ place]
    return [float(one) for one in (flat.size, missing.sum(), *sums)]


def frame_digest(frame: Any, row: Workload) -> list[float]:
    """Reduce a frame, by sums that see the rows' order unless the row's order is free."""
    numbers = [float(len(frame))]
    place = np.ones(len(frame)) if row.unordered else np.linspace(0.5, 1.5, len(frame))
    for column in sorted(map(str, frame.columns)):
        values = as_numbers(np.asarray(frame[column]))
        numbers += [float(values @ place), float(values @ values)]
    return numbers


def as_numbers(values: Any) -> Any:
    """Return numbers as floats, times as their microseconds, texts as numbers of four digits."""
    if values.dtype.kind == "M":
        return values.astype("M8[us]").astype(np.int64).astype(float)
    if values.dtype.kind == "O":
        return np.array([zlib.crc32(str(value).encode()) % 9973 for value in values], float)
    return values.astype(float)


def finish(system: System, row: Workload, lazy: tuple[Any, ...]) -> tuple[Any, ...]:
    """Compute the outputs the way the row says."""
    return system.hold(*lazy) if row.held else system.bring(*lazy)


def runner(name: str, row: Workload) -> Callable[..., tuple[Any, ...]]:
    """Return what is timed: the row's program, its SQL, or, for the limit, one by hand."""
    if name == "polars" and row.name in expressions.EXPRESSIONS:
        return expressions.EXPRESSIONS[row.name]
    if SYSTEMS[name].takes_sql:
        return sql.program(row.name)
    if name != "limit":
        return row.run
    limits: dict[str, Callable[..., tuple[Any, ...]]] = import_module(
        "benchmarks.rows.limits"
    ).LIMITS
    return limits[row.name]


def high_water(reset: bool = False) -> int:
    """Return this process's peak RSS since the last reset, where the system tells (Linux)."""
    with suppress(OSError):
        if reset:
            Path("/proc/self/clear_refs").write_text("5")
        for entry in Path("/proc/self/status").read_text().splitlines():
            if entry.startswith("VmHWM:"):
                return int(entry.split()[1]) * 1024
    return 0


def time_left(began: float, seconds: list[float], patience: float) -> bool:
    """Say whether one more run is due; the first always is."""
    return not seconds or time.perf_counter() - began < patience


def measure(
    system: System, row: Workload, args: argparse.Namespace, say: Callable[..., None]
) -> tuple[Any, ...]:
    """Warm up, then run until `repeat` runs or `patience` seconds are reached; at least once."""
    data = row.setup(system)
    run = runner(args.system, row)
    began = time.perf_counter()
    finish(system, row, run(system, *data))
    gc.collect()
    gc.freeze()
    high_water(reset=True)
    say(event="timed", warmup=time.perf_counter() - began)
    outputs: tuple[Any, ...] = ()
    seconds: list[float] = []
    while len(seconds) < args.repeat and time_left(began, seconds, args.patience):
        del outputs
        gc.collect()
        system.settle()
        start = time.perf_counter()
        outputs = finish(system, row, run(system, *data))
        seconds.append(time.perf_counter() - start)
    say(event="ran", seconds=seconds, peak=high_water())
    return outputs


def main() -> None:
    """Measure the rows one after the other."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--system", required=True, choices=sorted(SYSTEMS))
    parser.add_argument("--row", required=True, nargs="+")
    parser.add_argument("--modules", nargs="+", default=list(MODULES))
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--patience", type=float, default=30.0)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--fd", type=int, required=True)
    args = parser.parse_args()
    warnings.simplefilter("ignore")

    def say(**fields: Any) -> None:
        os.write(args.fd, (json.dumps(fields) + "\n").encode())

    system = SYSTEMS[args.system](args.scale, args.data)
    try:
        for name in args.row:
            one_row(system, name, args, say)
    finally:
        system.close()


def one_row(system: System, name: str, args: argparse.Namespace, say: Callable[..., None]) -> None:
    """Measure a row; whatever a peer raises is its answer."""
    try:
        row = find_row(name, tuple(args.modules))
        outputs = measure(system, row, args, say)
        numbers = [n for x in outputs for n in digest(system.value(x), row)]
        say(event="result", digest=numbers, versions=system.versions())
    except Exception as error:  # noqa: BLE001 - the table goes on
        traceback.print_exc()
        say(event="failed", reason=f"{type(error).__name__}: {str(error).strip()[:300]}")


if __name__ == "__main__":
    main()
