"""What the worker processes of a host take together: a ledger that each of them keeps its row of.

The rows lie in memory without a name that belongs to the process which started the workers. There
is no server to ask, nobody has to be told of a process that was killed, since its row stops
counting with it, and nothing is left behind. A lock of the kernel's makes a look and a promise one
step.
"""

from __future__ import annotations

import mmap
import os
import time
from collections.abc import Iterable
from typing import Any

import numpy as np

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

#: Shares of the host's memory: up to the first a process may promise what others leave, beyond the
#: second nothing starts.
SOFT, HARD = 0.75, 0.90

#: Seconds that the lock is waited for, which is kept for some microseconds.
_LOCKED = 0.05

#: Bytes of a row: one line of the processor's cache.
_WIDTH = 64

_PID, _STARTED, _RESIDENT, _FLOOR, _PROMISED, _WAITS = range(6)
_COLUMNS = {"resident": _RESIDENT, "floor": _FLOOR, "promised": _PROMISED, "waits": _WAITS}


class MemoryLedger:
    """The ledger of ``processes`` workers that get ``total`` bytes, made by who starts them."""

    def __init__(self, processes: int, total: int) -> None:
        self._descriptor = os.memfd_create("marsdask-host")
        os.ftruncate(self._descriptor, (1 + processes) * _WIDTH)
        _rows(self._descriptor)[0, _RESIDENT] = total
        self.path = f"/proc/{os.getpid()}/fd/{self._descriptor}"
        """By which the processes find it."""

    @classmethod
    def start(cls, processes: int, total: int) -> MemoryLedger | None:
        """Make a ledger where the system can; ``None`` elsewhere: each keeps to its own share."""
        if fcntl is None or not hasattr(os, "memfd_create"):
            return None
        return cls(processes, total)

    def close(self) -> None:
        """Let go of it; those who have opened it keep it."""
        os.close(self._descriptor)


class LedgerView:
    """One process's view of the ledger, and its own row if it has a ``position``."""

    def __init__(self, path: str, position: int | None = None) -> None:
        self._descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        self._rows = _rows(self._descriptor)
        self.total = int(self._rows[0, _RESIDENT])
        self._mine = -1 if position is None else 1 + position
        if position is not None:
            pid = os.getpid()
            self._rows[self._mine] = (pid, _started(pid), 0, 0, 0, 0, 0, 0)

    def tell(self, **figures: int) -> None:
        """Note what this process takes: ``resident``, its ``floor`` without tasks, ``promised``.

        ``waits`` is 1 while it has nothing to do but a task that does not fit besides others.
        """
        for name, value in figures.items():
            self._rows[self._mine, _COLUMNS[name]] = value

    def used(self) -> int:
        """Return what all processes take, or will by what they have promised."""
        return _taken(row for row in self._rows[1:].tolist() if _lives(row))

    def within(self, share: float, nbytes: int = 0) -> bool:
        """Whether all processes, with so many bytes more, keep to a share of the host's memory."""
        room = share * self.total - nbytes
        # Who still lives need not be looked up where there is room beside the dead.
        return _taken(self._rows[1:].tolist()) <= room or self.used() <= room

    def promise(self, nbytes: int, share: float) -> bool:
        """Promise bytes if that leaves the host below a share of its memory.

        It is a step of its own as long as the others do not stand still: one that was stopped with
        the lock would stop all of them, so after a while it goes without.
        """
        locked = self._lock()
        try:
            fits = self.within(share, nbytes)
            if fits:
                promised = int(self._rows[self._mine, _PROMISED])
                self._rows[self._mine, _PROMISED] = promised + nbytes
        finally:
            if locked:
                fcntl.flock(self._descriptor, fcntl.LOCK_UN)
        return fits

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
        """Whether another process has such a figure: something ``promised``, or ``waits``."""
        column = _COLUMNS[figure]
        rows = self._rows.tolist()
        others = (row for place, row in enumerate(rows) if place not in {0, self._mine})
        return any(row[column] and _lives(row) for row in others)

    def close(self) -> None:
        """Take this process's row out. Idempotent: a worker may be told to close while it does."""
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
    """Return when a process started, which tells it from others of its number; 0 if it ended."""
    try:
        with open(f"/proc/{pid}/stat", "rb", buffering=0) as file:
            status = file.read()
    except OSError:
        return 0
    return int(status.rpartition(b")")[2].split()[19])
