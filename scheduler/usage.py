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
    processes = list(now)
    spent = max(0.0, sum(process.seconds for process in processes) - before)
    cores = spent / elapsed if elapsed > 0 else 0.0
    return UsageSample(cores, sum(process.memory for process in processes))


def share(used: float, total: float) -> tuple[float, float]:
    """Return the used and the free part of ``total``; they are not negative and add up to it."""
    within = min(max(0.0, used), total)
    return within, total - within


def count(children: bool = True, own: Callable[[], int] | None = None) -> list[ProcessUsage]:
    """Read the counters of this process and, with ``children``, of its descendants.

    ``own`` is the number of bytes of this process (default: all resident memory). A descendant
    counts with its unshared memory.
    """
    own_process = psutil.Process()
    usages = [ProcessUsage(_seconds(own_process), own() if own else own_process.memory_info().rss)]
    for pid in _descendants(own_process) if children else ():
        try:
            process = psutil.Process(pid)
            with process.oneshot():
                memory = process.memory_info()
                unshared = memory.rss - getattr(memory, "shared", 0)
                usages.append(ProcessUsage(_seconds(process), unshared))
        except psutil.Error:  # the process has ended meanwhile
            continue
    return usages


def _descendants(process: psutil.Process) -> list[int]:
    """Return the children of a process, and their descendants.

    The kernel's list of children is used where it exists; psutil reads all processes of the host.
    """
    if not os.path.exists(f"/proc/{process.pid}/task/{process.pid}/children"):
        return [child.pid for child in process.children(recursive=True)]
    pids = list(_started_by(process.pid))
    for pid in pids:  # the list grows
        pids += _started_by(pid)
    return pids


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
        self._seconds = sum(process.seconds for process in now)
        self._last = usage_since(self._seconds, now, 0.0)

    def __call__(self) -> UsageSample:
        """Measure, unless the last measurement is recent."""
        elapsed = self._clock() - self._when
        if elapsed >= _PAUSE:
            now = self._counters()
            self._last = usage_since(self._seconds, now, elapsed)
            self._when += elapsed
            self._seconds = sum(process.seconds for process in now)
        return self._last
