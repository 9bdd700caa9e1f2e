"""Run rows on systems, each in its own interpreter, and watch the whole process tree."""

from __future__ import annotations

import argparse
import json
import os
import selectors
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from math import isclose
from pathlib import Path
from typing import IO, Any

import psutil

from benchmarks.rows import Workload
from benchmarks.run_one import MODULES

ROOT = Path(__file__).resolve().parent.parent
MIB = 1 << 20


@dataclass
class RowOutcome:
    """The figures of one system for one row, or the `reason` why there are none."""

    row: str
    system: str
    seconds: list[float] = field(default_factory=list)
    cpu: float = 0.0
    peak: int = 0
    digest: list[float] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)
    reason: str = ""

    @property
    def median(self) -> float:
        """Return the median of the timed runs, nan where there are none."""
        ordered = sorted(self.seconds)
        middle = len(ordered) // 2
        if not ordered:
            return float("nan")
        return (ordered[middle] + ordered[-middle - 1]) / 2


@dataclass(frozen=True)
class RunPlan:
    """The options of all runs."""

    scale: float = 1.0
    repeat: int = 5
    patience: float = 30.0
    timeout: float = 300.0
    grace: float = 10.0
    data: Path = Path("~/.cache/marsdask-bench")
    modules: tuple[str, ...] = MODULES
    interpreters: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, options: argparse.Namespace, **more: Any) -> RunPlan:
        """Return what a command line asks for."""
        given = {name: value for name, value in vars(options).items() if name in FIELDS}
        return cls(**given, **more)

    @property
    def tables(self) -> Path:
        """Return the directory of this scale's tables."""
        return self.data.expanduser().resolve() / f"scale-{self.scale:g}"


FIELDS = {one.name for one in fields(RunPlan)}


class Watch(threading.Thread):
    """Sample the memory and processor time of a process tree until told to stop."""

    def __init__(self, pid: int, period: float = 0.05) -> None:
        """Watch from `start()` on; the tree's members are looked up only now and then."""
        super().__init__(daemon=True)
        self.root = psutil.Process(pid)
        self.period = period
        self.peak = 0
        self.done = threading.Event()

    def tree(self) -> list[psutil.Process]:
        """Return the processes that live now."""
        try:
            return [self.root, *self.root.children(recursive=True)]
        except psutil.NoSuchProcess:
            return []

    def run(self) -> None:
        """Keep the largest sum of resident sizes."""
        members: list[psutil.Process] = []
        for tick in range(sys.maxsize):
            if tick % 10 == 0:
                members = self.tree()
            self.peak = max(self.peak, sum(map(resident, members)))
            if self.done.wait(self.period):
                return

    def cpu(self) -> float:
        """Return the processor seconds the living tree has used."""
        return sum(map(processor_seconds, self.tree()))


def resident(process: psutil.Process) -> int:
    """Return a process's resident bytes, 0 if it has ended."""
    try:
        return int(process.memory_info().rss)
    except psutil.Error:
        return 0


def processor_seconds(process: psutil.Process) -> float:
    """Return a process's own processor seconds, 0 if it has ended."""
    try:
        times = process.cpu_times()
    except psutil.Error:
        return 0.0
    return float(times.user + times.system)


def run_row(row: str, system: str, plan: RunPlan) -> RowOutcome:
    """Measure one row on one system; whatever happens becomes an Outcome."""
    return run_rows([row], system, plan)[0]


def run_rows(rows: Sequence[str], system: str, plan: RunPlan) -> list[RowOutcome]:
    """Measure rows in one process, and those after one that it did not survive in the next."""
    outcomes: list[RowOutcome] = []
    while len(outcomes) < len(rows):
        outcomes += run_child(rows[len(outcomes) :], system, plan)
    return outcomes


def run_child(rows: Sequence[str], system: str, plan: RunPlan) -> list[RowOutcome]:
    """Measure rows in a process of their own, as far as it lives."""
    outcomes: list[RowOutcome] = []
    reader, writer = os.pipe()
    with tempfile.TemporaryFile() as errors, os.fdopen(reader, "rb", buffering=0) as events:
        try:
            child = subprocess.Popen(
                command(rows, system, plan, writer),
                pass_fds=(writer,),
                stdin=subprocess.DEVNULL,
                stdout=errors,
                stderr=errors,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
                start_new_session=True,
            )
        except OSError as error:
            return [RowOutcome(row, system, reason=str(error)) for row in rows]
        finally:
            os.close(writer)
        told = Events(events)
        try:
            for row in rows:
                outcome = RowOutcome(row, system)
                outcomes.append(outcome)
                told.deadline = time.monotonic() + plan.timeout
                if not follow(told, child.pid, outcome):
                    break
        except TimeoutError:
            outcome.reason = f"timeout of {plan.timeout:g} s"
        finally:
            end_tree(child, plan.grace)
        if not outcome.digest and not outcome.reason:
            outcome.reason = last_words(errors, child.returncode)
    return outcomes


def command(rows: Sequence[str], system: str, plan: RunPlan, fd: int) -> list[str]:
    """Return the command line of the child."""
    python = plan.interpreters.get(system, sys.executable)
    options = {
        "--system": system,
        "--scale": plan.scale,
        "--repeat": plan.repeat,
        "--patience": plan.patience,
        "--data": plan.tables,
        "--fd": fd,
    }
    words = [str(word) for option in options.items() for word in option]
    words += ["--row", *rows, "--modules", *plan.modules]
    return [python, "-m", "benchmarks.run_one", *words]


class Events:
    """What a child says, line by line, until it closes its end; TimeoutError at the deadline."""

    def __init__(self, pipe: IO[bytes]) -> None:
        """Read a pipe; the caller sets the deadline."""
        self.deadline = 0.0
        self._pipe = pipe
        self._lines: list[bytes] = []
        self._pending = b""

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yield the lines as they come."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._pipe, selectors.EVENT_READ)
            while True:
                while self._lines:
                    yield json.loads(self._lines.pop(0))
                if not selector.select(max(0.0, self.deadline - time.monotonic())):
                    raise TimeoutError
                block = os.read(self._pipe.fileno(), 1 << 16)
                if not block:
                    return
                *self._lines, self._pending = (self._pending + block).split(b"\n")


def follow(events: Events, pid: int, outcome: RowOutcome) -> bool:
    """Turn the child's events into the outcome; memory and processor count between two of them.

    Say whether it came to the row's end.
    """
    watch, cpu = Watch(pid), 0.0
    try:
        for event in events:
            kind = event["event"]
            if kind == "timed":
                cpu = watch.cpu()
                watch.start()
            elif kind == "ran":
                watch.done.set()
                outcome.seconds = event["seconds"]
                outcome.cpu = (watch.cpu() - cpu) / len(outcome.seconds)
                outcome.peak = max(watch.peak, event["peak"])
            elif kind == "result":
                outcome.digest, outcome.versions = event["digest"], event["versions"]
                return True
            else:
                outcome.seconds, outcome.reason = [], event["reason"]
                return True
    finally:
        watch.done.set()
    return False


def end_tree(child: subprocess.Popen[bytes], grace: float) -> None:
    """Give the child a moment to close what it started, then end what is left of its tree."""
    try:
        tree = psutil.Process(child.pid).children(recursive=True)
    except psutil.NoSuchProcess:
        tree = []
    try:
        child.wait(timeout=grace)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
    for process in tree:
        if process.is_running():
            process.kill()
    psutil.wait_procs(tree, timeout=5)


def last_words(errors: IO[bytes], code: int | None) -> str:
    """Return the last line a dead child wrote."""
    errors.seek(0)
    lines = errors.read().decode(errors="replace").strip().splitlines()
    return lines[-1][:300] if lines else f"exit status {code}"


def check_equal(outcomes: Sequence[RowOutcome], row: Workload) -> None:
    """Turn a wrong answer into a failure: all must equal the first system that has one."""
    answered = [o for o in outcomes if o.digest]
    for outcome in answered[1:]:
        rtol = max(row.tolerance(outcome.system), row.tolerance(answered[0].system))
        if not same(outcome.digest, answered[0].digest, rtol, row.atol):
            outcome.reason = f"wrong: {shorten(outcome.digest)}, not {shorten(answered[0].digest)}"
            outcome.seconds = []


def same(ours: Sequence[float], theirs: Sequence[float], rtol: float, atol: float) -> bool:
    """Say whether two digests agree."""
    return len(ours) == len(theirs) and all(
        isclose(a, b, rel_tol=rtol, abs_tol=atol) for a, b in zip(ours, theirs, strict=True)
    )


def shorten(digest: Sequence[float]) -> str:
    """Return the head of a digest for a message."""
    return ", ".join(f"{x:.9g}" for x in digest[:4])
