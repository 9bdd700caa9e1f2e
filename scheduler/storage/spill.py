"""Results on disk: files of values, which are removed with their process."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from ..errors import SpillFull
from . import files
from .sizes import size_of
from .spill_directories import SpillDirectories, Usage

#: Timeout for files that are being written when the store closes, in seconds.
_PATIENCE = 10


class SpillFile:
    """One result on disk."""

    __slots__ = ("_store", "entries", "loading", "nbytes", "path")

    def __init__(self, store: SpillStore, path: str, nbytes: int, entries: int = 0) -> None:
        self._store = store
        self.path = path
        self.nbytes = nbytes
        self.entries = entries
        """The number of entries of the value that can be loaded separately."""
        self.loading = threading.Lock()
        """Held while the value is loaded, so that only one thread does so."""

    def read(self) -> Any:
        """Return the value; its arrays are mapped privately, so they are writable."""
        return files.read(self.path)

    def load(self, entry: int | None = None) -> Any:
        """Return the value, or one entry of it, in private memory."""
        return files.load(self.path, entry)

    def remove(self) -> None:
        """Delete the file; values read from it stay valid."""
        self._store.forget(self)


class SpillStore:
    """Writes values round-robin to directories that are created on first use.

    By default this is the directory for temporary files; without any, nothing is written. It writes
    up to ``limit`` bytes in all. A tenth of each disk stays free.
    """

    def __init__(
        self,
        folders: Sequence[str] | None = None,
        limit: int | None = None,
        usage: Usage = shutil.disk_usage,
    ) -> None:
        self.folders = [tempfile.gettempdir()] if folders is None else list(folders)
        self.limit = limit
        self._directories = SpillDirectories(self.folders, usage)
        # A finalizer may close the store at any time.
        self._lock = threading.RLock()
        self._written = threading.Condition(self._lock)
        self._writing: set[int] = set()
        """Threads that are writing a file."""
        self._used = 0
        self._pid = os.getpid()

    def room(self) -> int:
        """Return how many more bytes can be written, as far as known."""
        free = sum(self._directories.rooms().values())
        return free if self.limit is None else min(free, max(0, self.limit - self._used))

    def write(self, value: Any) -> SpillFile:
        """Write ``value`` to the next directory that accepts it.

        Raises SpillFull if none does, and the pickler's error if the value cannot be pickled.
        """
        with self._lock:
            self._writing.add(threading.get_ident())
        try:
            return self._write(value)
        finally:
            with self._written:
                self._writing.discard(threading.get_ident())
                self._written.notify_all()

    def _write(self, value: Any) -> SpillFile:
        self._check_limit()

        def write(path: str) -> SpillFile:
            return SpillFile(self, path, files.write(path, value), files.entries(value))

        return self._keep(self._directories.write(size_of(value), write))

    def forget(self, file: SpillFile) -> None:
        """Delete a file and subtract its bytes from the used limit."""
        if os.getpid() == self._pid:  # a forked child drops only its copy of the reference
            with suppress(OSError):  # removed with the directory, or (Windows) still mapped
                os.unlink(file.path)
        with self._lock:
            self._used -= file.nbytes

    def close(self) -> None:
        """Remove every file and directory, except those of the parent in a forked child."""
        with self._lock:
            self._directories.closed = True
            # An incomplete file would keep its directory. The calling thread may be a writer when
            # the garbage collector closes an unreferenced store.
            threads = {*self._writing} - {threading.get_ident()}
            self._written.wait_for(lambda: not threads & self._writing, _PATIENCE)
        self._directories.close()

    def _keep(self, file: SpillFile) -> SpillFile:
        with self._lock:
            self._used += file.nbytes
        try:
            self._check_limit()
        except SpillFull:
            file.remove()
            raise
        return file

    def _check_limit(self) -> None:
        if self.limit is not None and self._used > self.limit:
            raise SpillFull(f"the spill limit of {self.limit:,} bytes is reached")
