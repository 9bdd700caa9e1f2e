"""What a worker process runs, kept where its nanny finds it when the process has died.

A scheduler sees only that the tasks of a dead worker had not ended. Most of them had not begun.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Hashable
from typing import Any

#: Bytes in front that tell how many follow.
_LENGTH = 8


class Record:
    """Memory without a name of the nanny's, found by ``path``; empty as long as nobody writes."""

    def __init__(self) -> None:
        self._descriptor = os.memfd_create("marsdask-running")
        self.path = f"/proc/{os.getpid()}/fd/{self._descriptor}"

    @classmethod
    def start(cls) -> Record | None:
        """Make one where the system can."""
        return cls() if hasattr(os, "memfd_create") else None

    def read(self) -> list[Any] | None:
        """Return the tasks that the process ran last, ``None`` if it has not said."""
        try:
            length = int.from_bytes(os.pread(self._descriptor, _LENGTH, 0))
            found: list[Any] = pickle.loads(os.pread(self._descriptor, length, _LENGTH))
        except (OSError, EOFError, pickle.UnpicklingError):
            return None
        return found

    def close(self) -> None:
        """Let go of it."""
        os.close(self._descriptor)


class RunningTasks:
    """The worker's end."""

    def __init__(self, path: str) -> None:
        self._descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        self._keys: set[Hashable] = set()
        self._write()

    def begin(self, key: Hashable) -> None:
        """Note that a task starts, before it does."""
        self._keys.add(key)
        self._write()

    def end(self, key: Hashable) -> None:
        """Note that it has ended."""
        self._keys.discard(key)
        self._write()

    def disclaim(self) -> None:
        """Note that nobody can say what runs."""
        os.pwrite(self._descriptor, bytes(_LENGTH), 0)

    def close(self) -> None:
        """Let go of it."""
        os.close(self._descriptor)

    def _write(self) -> None:
        data = pickle.dumps(list(self._keys))
        os.pwrite(self._descriptor, len(data).to_bytes(_LENGTH) + data, 0)
