"""The memory of all compile processes together: the largest one is ended if it is too much."""

from __future__ import annotations

import contextlib
import logging
import mmap
import os
import threading
from collections.abc import Callable, Collection
from typing import Final

import dask.config
from dask.utils import format_bytes, parse_bytes

from ... import limits
from .session_process import SessionProcess

logger: Final = logging.getLogger(__name__)

#: Seconds between two readings.
_INTERVAL = 1.0

#: The setting of the budget.
SETTING: Final = "marsdask.compile.total-memory"


def total_limit(each: int) -> int:
    """Return ``marsdask.compile.total-memory``.

    By default it is half of this process's limit, or what one process may use if that is more.
    """
    configured = dask.config.get(SETTING, None)
    return max(each, limits.memory() // 2) if configured is None else parse_bytes(configured)


def used(pid: int) -> int:
    """Return the bytes of a process, with its share of what it shares with others (PSS)."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/smaps_rollup", "rb") as file:
        for line in file:
            if line.startswith(b"Pss:"):
                return int(line.split()[1]) * 1024
    return 0


def resident(pid: int) -> int:
    """Return the bytes of a process and of all that it shares; this takes less time."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/statm", "rb") as file:
        return int(file.read().split()[1]) * mmap.PAGESIZE
    return 0


class TotalMemory:
    """Reads periodically, in a thread, what processes use together."""

    def __init__(self, processes: Callable[[], Collection[SessionProcess]]) -> None:
        self._processes = processes
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None

    def watch(self) -> None:
        """Start to read, unless this is no Linux. Idempotent."""
        if self._thread is None and used(os.getpid()):
            self._thread = threading.Thread(
                target=self._run, name="marsdask-compile-memory", daemon=True
            )
            self._thread.start()

    def _run(self) -> None:
        while not self._closed.wait(_INTERVAL):
            try:
                self.check()
            except Exception:
                logger.exception("cannot read the memory of compile processes")

    def check(self) -> None:
        """End the largest processes while the sum exceeds the budget."""
        living = {
            process: process.pid
            for process in self._processes()
            if process.pid and not process.exceeded
        }
        budget = total_limit(max((process.memory for process in living), default=0))
        if not budget or sum(map(resident, living.values())) <= budget:
            return
        sizes = {process: used(pid) for process, pid in living.items()}
        while sum(sizes.values()) > budget:
            largest = max(sizes, key=sizes.__getitem__)
            del sizes[largest]
            logger.warning(
                "compile processes exceed %s (%s): ending the largest one",
                format_bytes(budget),
                SETTING,
            )
            largest.exceeded = budget
            largest.kill()

    def close(self) -> None:
        """Stop reading."""
        self._closed.set()
        if self._thread is not None:
            self._thread.join(_INTERVAL)
