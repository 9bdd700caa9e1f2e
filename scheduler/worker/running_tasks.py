"""The running tasks of a worker process, in memory that survives its death for its nanny.

A scheduler sees only that the tasks of a dead worker had not ended. Most of them had not started.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Hashable
from typing import Any

#: Bytes of the header, which holds the length.
_LENGTH = 8


class RunningTasksRecord:
    """Anonymous memory of the nanny, opened by ``path``; empty until the worker writes."""

    def __init__(self) -> None:
        self._descriptor = os.memfd_create("marsdask-running")
        self.path = f"/proc/{os.getpid()}/fd/{self._descriptor}"

    @classmethod
    def start(cls) -> RunningTasksRecord | None:
        """Create the memory if the system supports it."""
        return cls() if hasattr(os, "memfd_create") else None

    def read(self) -> list[Any] | None:
        """Return the tasks that the process ran last, ``None`` if unknown."""
        try:
            length = int.from_bytes(os.pread(self._descriptor, _LENGTH, 0))
            found: list[Any] = pickle.loads(os.pread(self._descriptor, length, _LENGTH))
        except (OSError, EOFError, pickle.UnpicklingError):
            return None
        return found

    def close(self) -> None:
        """Close the memory."""
        os.close(self._descriptor)


class RunningTasks:
    """Writes the running tasks of a worker process."""

    def __init__(self, path: str) -> None:
        self._descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        self._keys: set[Hashable] = set()
        self._write()

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
        os.pwrite(self._descriptor, bytes(_LENGTH), 0)

    def close(self) -> None:
        """Close the memory."""
        os.close(self._descriptor)

    def _write(self) -> None:
        data = pickle.dumps(list(self._keys))
        os.pwrite(self._descriptor, len(data).to_bytes(_LENGTH) + data, 0)
