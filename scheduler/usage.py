"""The CPU and memory usage of this process and its descendants.

The kernel counts the CPU time of each process, so other processes of the host do not count.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import NamedTuple

import psutil

#: Minimum number of seconds between two measurements; earlier calls return the last one.
_PAUSE = 1.0


class ProcessUsage(NamedTuple):
    """The counters of one process."""

    seconds: float
    """CPU seconds, including those of descendants that ended and were waited for."""
    memory: int


class UsageSample(NamedTuple):
    """The usage of a process tree."""

    cores: float
    memory: int


def usage_since(before: float, now: Iterable[ProcessUsage], elapsed: float) -> UsageSample:
    """Return the usage, given the CPU seconds ``before`` and the counters ``now``.

    The time of a process that ended without being waited for is lost; the result is never negative.
    """
    counted = list(now)
    spent = max(0.0, sum(one.seconds for one in counted) - before)
    cores = spent / elapsed if elapsed > 0 else 0.0
    return UsageSample(cores, sum(one.memory for one in counted))


def share(used: float, total: float) -> tuple[float, float]:
    """Return the used and the free part of ``total``; they are not negative and add up to it."""
    within = min(max(0.0, used), total)
    return within, total - within


def count(children: bool = True, own: Callable[[], int] | None = None) -> list[ProcessUsage]:
    """Read the counters of this process and, with ``children``, of its descendants.

    ``own`` is the number of bytes of this process (default: all resident memory). A descendant
    counts with its unshared memory.
    """
    this = psutil.Process()
    counted = [ProcessUsage(_seconds(this), own() if own else this.memory_info().rss)]
    for pid in _descendants(this) if children else ():
        try:
            process = psutil.Process(pid)
            with process.oneshot():
                memory = process.memory_info()
                unshared = memory.rss - getattr(memory, "shared", 0)
                counted.append(ProcessUsage(_seconds(process), unshared))
        except psutil.Error:  # the process has ended meanwhile
            continue
    return counted


def _descendants(process: psutil.Process) -> list[int]:
    """Return the children of a process, and their descendants.

    The kernel's list of children is used where it exists; psutil reads all processes of the host.
    """
    if not os.path.exists(f"/proc/{process.pid}/task/{process.pid}/children"):
        return [child.pid for child in process.children(recursive=True)]
    found = list(_started_by(process.pid))
    for pid in found:  # the list grows
        found += _started_by(pid)
    return found


def _started_by(pid: int) -> Iterator[int]:
    """Yield the children of each thread; the process and its threads may end meanwhile."""
    with suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with (
                suppress(OSError),
                open(f"/proc/{pid}/task/{thread}/children", "rb", buffering=0) as file,
            ):
                yield from map(int, file.read().split())


def _seconds(process: psutil.Process) -> float:
    times = process.cpu_times()
    ended: float = times.children_user + times.children_system
    return times.user + times.system + ended


class Usage:
    """Measures the usage since the last call."""

    def __init__(
        self,
        counters: Callable[[], list[ProcessUsage]] = count,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._counters = counters
        self._clock = clock
        self._when = clock()
        now = counters()
        self._seconds = sum(one.seconds for one in now)
        self._last = usage_since(self._seconds, now, 0.0)

    def __call__(self) -> UsageSample:
        """Measure, unless the last measurement is recent."""
        elapsed = self._clock() - self._when
        if elapsed >= _PAUSE:
            now = self._counters()
            self._last = usage_since(self._seconds, now, elapsed)
            self._when += elapsed
            self._seconds = sum(one.seconds for one in now)
        return self._last
