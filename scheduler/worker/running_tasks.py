"""The running tasks of a worker process, in memory that survives its death for its nanny.

A scheduler sees only that the tasks of a dead worker had not ended. Most of them had not started.
"""

from __future__ import annotations

import os
import pickle
import threading
from collections.abc import Hashable
from typing import Any

#: Bytes of each number of the header: process, bytes of its shared memory, length of the tasks.
_NUMBER = 8
_PID, _SEGMENTS, _LENGTH, _TASKS = (position * _NUMBER for position in range(4))


class RunningTasksRecord:
    """Anonymous memory of the nanny, opened by ``path``; empty until the worker writes."""

    def __init__(self) -> None:
        self._descriptor = os.memfd_create("marsdask-running")
        self.path = f"/proc/{os.getpid()}/fd/{self._descriptor}"

    @classmethod
    def start(cls) -> RunningTasksRecord | None:
        """Create the memory if the system supports it."""
        return cls() if hasattr(os, "memfd_create") else None

    @property
    def pid(self) -> int:
        """The process that writes, or wrote last; 0 without any."""
        return self._number(_PID)

    @property
    def segments(self) -> int:
        """Bytes of the process's shared memory."""
        return self._number(_SEGMENTS)

    def read(self) -> list[Any] | None:
        """Return the tasks that the process ran last, ``None`` if unknown."""
        try:
            data = os.pread(self._descriptor, self._number(_LENGTH), _TASKS)
            tasks: list[Any] = pickle.loads(data)
        except (OSError, EOFError, pickle.UnpicklingError):
            return None
        return tasks

    def _number(self, position: int) -> int:
        return int.from_bytes(os.pread(self._descriptor, _NUMBER, position))

    def close(self) -> None:
        """Close the memory."""
        os.close(self._descriptor)


class RunningTasks:
    """Writes the running tasks of a worker process, and the size of its shared memory."""

    def __init__(self, path: str) -> None:
        self._descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        self._lock = threading.Lock()
        self._keys: set[Hashable] = set()
        self._write()
        self._put(_SEGMENTS, 0)
        self._put(_PID, os.getpid())

    def begin(self, key: Hashable) -> None:
        """Record a task before it starts."""
        self._keys.add(key)
        self._write()

    def end(self, key: Hashable) -> None:
        """Record that a task has ended."""
        self._keys.discard(key)
        self._write()

    def disclaim(self) -> None:
        """Record that the running tasks are unknown."""
        self._put(_LENGTH, 0)

    def tell_segments(self, nbytes: int) -> None:
        """Record the bytes of shared memory; any thread may call this, also after the end."""
        with self._lock:
            if self._descriptor >= 0:
                self._put(_SEGMENTS, nbytes)

    def close(self) -> None:
        """Close the memory."""
        with self._lock:
            descriptor, self._descriptor = self._descriptor, -1
        os.close(descriptor)

    def _put(self, position: int, number: int) -> None:
        os.pwrite(self._descriptor, number.to_bytes(_NUMBER), position)

    def _write(self) -> None:
        data = pickle.dumps(list(self._keys))
        os.pwrite(self._descriptor, len(data).to_bytes(_NUMBER) + data, _LENGTH)
