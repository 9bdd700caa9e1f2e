"""A ledger of the memory of a host's worker processes: each process updates its own row.

The rows are in anonymous memory of the process that started the workers, so there is no server and
nothing to clean up. The row of a killed process no longer counts. A kernel lock makes a check and a
reservation atomic.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import time
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

#: Shares of the host's memory. Up to the first, a process may reserve memory that others do not
#: use. Beyond the second, no task starts.
SOFT, HARD = 0.75, 0.90

#: Timeout for the lock, which is held for some microseconds, in seconds.
_LOCKED = 0.05

#: Time until a waiting process that no longer asks for memory delays no others, in nanoseconds.
_SILENT = 5 * 10**9

#: Bytes of a row: one cache line.
_WIDTH = 64

_PID, _STARTED, _RESIDENT, _FLOOR, _PROMISED, _WAITS, _ASKED = range(7)
_COLUMNS = {"resident": _RESIDENT, "floor": _FLOOR, "promised": _PROMISED, "waits": _WAITS}


class MemoryLedger:
    """The ledger of ``processes`` workers with ``total`` bytes; the parent process creates it."""

    def __init__(self, processes: int, total: int) -> None:
        self._descriptor = os.memfd_create("marsdask-host")
        os.ftruncate(self._descriptor, (1 + processes) * _WIDTH)
        _rows(self._descriptor)[0, _RESIDENT] = total
        self.path = f"/proc/{os.getpid()}/fd/{self._descriptor}"
        """The path that the processes open."""

    @classmethod
    def start(cls, processes: int, total: int) -> MemoryLedger | None:
        """Create a ledger, or return ``None`` if the system does not support it."""
        if fcntl is None or not hasattr(os, "memfd_create"):
            return None
        return cls(processes, total)

    def close(self) -> None:
        """Close it; processes that have opened it keep it."""
        os.close(self._descriptor)


class LedgerView:
    """The ledger in one process, which has a row if it has a ``position``."""

    def __init__(self, path: str, position: int | None = None) -> None:
        self._descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        self._rows = _rows(self._descriptor)
        self.total = int(self._rows[0, _RESIDENT])
        self._mine = -1 if position is None else 1 + position
        if position is not None:
            pid = os.getpid()
            self._rows[self._mine] = (pid, _started(pid), 0, 0, 0, 0, 0, 0)

    def tell(self, **figures: int) -> None:
        """Set figures of this process: ``resident``, its ``floor`` without tasks, ``promised``.

        ``waits`` is the time since when a task waits for memory of the other processes, or 0.
        """
        for name, value in figures.items():
            self._rows[self._mine, _COLUMNS[name]] = value

    def measured(self, position: int, pid: int, resident: int) -> None:
        """Set the used bytes of another process, which may be unable to do so itself."""
        row = self._rows[1 + position]
        if int(row[_PID]) == pid:
            row[_RESIDENT] = resident

    def used(self) -> int:
        """Return the bytes that all processes use or have reserved."""
        return _taken(row for row in self._rows[1:].tolist() if _lives(row))

    def within(self, share: float, nbytes: int = 0) -> bool:
        """Return whether ``nbytes`` more fit into a share of the host's memory."""
        room = share * self.total - nbytes
        # Ended processes are looked up only if their rows make a difference.
        return _taken(self._rows[1:].tolist()) <= room or self.used() <= room

    def promise(self, nbytes: int, share: float) -> bool:
        """Reserve bytes if the host stays below a share of its memory and nobody waits longer."""
        with self._locked():
            fits = not self._behind() and self.within(share, nbytes)
            if fits:
                self._reserve(nbytes)
        return fits

    def promise_alone(self, nbytes: int) -> bool:
        """Reserve bytes if no other process has reserved any and nobody waits longer; or wait."""
        with self._locked():
            alone = not self.others("promised") and not self._behind()
            if alone:
                self._reserve(nbytes)
            else:
                row, now = self._rows[self._mine], time.monotonic_ns()
                row[_WAITS] = int(row[_WAITS]) or now
                row[_ASKED] = now
        return alone

    def _reserve(self, nbytes: int) -> None:
        row = self._rows[self._mine]
        row[_PROMISED] = int(row[_PROMISED]) + nbytes
        row[_WAITS] = 0

    def _behind(self) -> bool:
        """Return whether a task of another process waits longer than the one of this process."""
        now = time.monotonic_ns()
        since = int(self._rows[self._mine, _WAITS]) or now
        return any(
            0 < row[_WAITS] < since and row[_ASKED] > now - _SILENT and _lives(row)
            for row in self._others()
        )

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """Make a step atomic unless the lock times out.

        A process that is stopped with the lock would otherwise block all others.
        """
        locked = self._lock()
        try:
            yield
        finally:
            if locked:
                fcntl.flock(self._descriptor, fcntl.LOCK_UN)

    def _lock(self) -> bool:
        deadline = time.monotonic() + _LOCKED
        while True:
            try:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > deadline:
                    return False
                time.sleep(_LOCKED / 100)
            else:
                return True

    def others(self, figure: str) -> bool:
        """Return whether a figure of another process, such as ``waits``, is not 0."""
        column = _COLUMNS[figure]
        return any(row[column] and _lives(row) for row in self._others())

    def _others(self) -> list[list[int]]:
        rows = self._rows.tolist()
        return [row for place, row in enumerate(rows) if place not in {0, self._mine}]

    def close(self) -> None:
        """Clear this process's row. Idempotent, because a worker may be closed twice."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor < 0:
            return
        if self._mine > 0:
            self._rows[self._mine] = 0
        os.close(descriptor)


def _rows(descriptor: int) -> np.ndarray[Any, np.dtype[np.uint64]]:
    memory = mmap.mmap(descriptor, os.fstat(descriptor).st_size)
    return np.frombuffer(memory, np.uint64).reshape(-1, _WIDTH // 8)


def _taken(rows: Iterable[list[int]]) -> int:
    return sum(max(row[_RESIDENT], row[_FLOOR] + row[_PROMISED]) for row in rows)


def _lives(row: list[int]) -> bool:
    return row[_PID] != 0 and _started(row[_PID]) == row[_STARTED]


def _started(pid: int) -> int:
    """Return the start time of a process, which identifies it; 0 if it ended."""
    try:
        with open(f"/proc/{pid}/stat", "rb", buffering=0) as file:
            status = file.read()
    except OSError:
        return 0
    return int(status.rpartition(b")")[2].split()[19])
