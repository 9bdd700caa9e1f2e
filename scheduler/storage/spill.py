"""Results on disk: directories of value files, which are removed with their process."""

from __future__ import annotations

import errno
import itertools
import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO, Any

from dask.utils import format_bytes

from ..errors import SpillFull
from . import files, private_folder
from .sizes import size_of

try:
    import fcntl
except ImportError:  # Windows: the user has to remove the files of killed processes
    fcntl = None  # type: ignore[assignment]

#: Timeout for files that are being written when the store closes, in seconds.
_PATIENCE = 10

#: Maximum number of attempts to create a directory before another process sweeps it.
_ATTEMPTS = 10
_PREFIX = "marsdask-spill-"

#: The share of a disk that stays free.
RESERVE = 0.1

#: Returns the total, used and free bytes of a directory's disk.
Usage = Callable[[str], tuple[int, int, int]]


def check_writable(folder: str) -> None:
    """Create a directory unless it exists.

    Raises ``OSError`` if it is not writable, or if others could replace it.
    """
    private_folder.create(folder)
    with tempfile.TemporaryFile(prefix=_PREFIX, dir=folder):
        pass


def refusal(folder: str, error: OSError) -> str:
    """Return why a directory took no file, and its free space."""
    try:
        room = f", {format_bytes(shutil.disk_usage(folder).free)} free"
    except OSError:
        room = ""
    return f"{folder}: {error.strerror or error}{room}"


def full(refusals: Sequence[str]) -> SpillFull:
    """Return the error for the case that every directory has refused."""
    return SpillFull(f"no spill directory has room left ({'; '.join(refusals)})")


def room(folder: str, usage: Usage = shutil.disk_usage) -> int:
    """Return the bytes that may be written to a directory's disk: a tenth of it stays free."""
    total, _, free = usage(folder)
    return max(0, int(free - RESERVE * total))


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
        self._usage = usage
        # A finalizer may close the store at any time.
        self._lock = threading.RLock()
        self._written = threading.Condition(self._lock)
        self._writing: set[int] = set()
        """Threads that are writing a file."""
        self._used = 0
        self._counter = itertools.count()
        self._directories: dict[str, _Directory] = {}
        self._closed = False
        self._pid = os.getpid()

    def room(self) -> int:
        """Return how many more bytes can be written, as far as known."""
        disks = {}
        for folder in self.folders:
            with suppress(OSError):  # a missing directory does not count
                disks[os.stat(folder).st_dev] = room(folder, self._usage)
        free = sum(disks.values())
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
        number = next(self._counter)
        self._check_limit()
        needed = size_of(value)
        problems = []
        for attempt in range(len(self.folders)):
            folder = self.folders[(number + attempt) % len(self.folders)]
            try:
                path = os.path.join(self._directory(folder), str(number))
                self._check_disk(folder, needed)
                nbytes = files.write(path, value)
            except OSError as error:
                problems.append(refusal(folder, error))
                continue
            return self._keep(SpillFile(self, path, nbytes, files.entries(value)))
        raise full(problems or ["there is none"])

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
            self._closed = True
            # An incomplete file would keep its directory. The calling thread may be a writer when
            # the garbage collector closes an unreferenced store.
            threads = {*self._writing} - {threading.get_ident()}
            self._written.wait_for(lambda: not threads & self._writing, _PATIENCE)
            directories = list(self._directories.values())
            self._directories.clear()
        if os.getpid() == self._pid:
            for directory in directories:
                directory.remove()

    def _keep(self, file: SpillFile) -> SpillFile:
        with self._lock:
            self._used += file.nbytes
        try:
            self._check_limit()
        except SpillFull:
            file.remove()
            raise
        return file

    def _check_disk(self, folder: str, needed: int) -> None:
        if needed > room(folder, self._usage):
            reason = "a tenth of the disk stays free"
            raise OSError(errno.ENOSPC, reason)

    def _check_limit(self) -> None:
        if self.limit is not None and self._used > self.limit:
            raise SpillFull(f"the spill limit of {self.limit:,} bytes is reached")

    def _directory(self, folder: str) -> str:
        with self._lock:
            if self._closed:
                raise SpillFull("the scheduler is closed")
            if folder not in self._directories:
                self._directories[folder] = _Directory(folder)
            return self._directories[folder].path


class _Directory:
    """A directory of this process, marked by a lock that ends with the process."""

    def __init__(self, folder: str) -> None:
        private_folder.create(folder)
        _sweep(folder)
        for _ in range(_ATTEMPTS - 1):
            with suppress(FileNotFoundError, BlockingIOError):
                self.path, self._lock = _make(folder)
                return
        self.path, self._lock = _make(folder)

    def remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        _unlock(self._lock)


def _make(folder: str) -> tuple[str, IO[bytes]]:
    """Create a directory, and a file in it that is locked while this process runs.

    Raises FileNotFoundError or BlockingIOError if another process swept it before it was locked.
    """
    # It gets its visible name once it is locked, so under that name it is never swept.
    dot = "." if fcntl is not None else ""
    new = tempfile.mkdtemp(prefix=f"{dot}{_PREFIX}", dir=folder)
    path = os.path.join(folder, os.path.basename(new).removeprefix(dot))
    with ExitStack() as failed:
        failed.callback(shutil.rmtree, new, ignore_errors=True)
        file = failed.enter_context(Path(new, "lock").open("xb"))
        _mark(file)
        if dot:
            os.rename(new, path)
        failed.pop_all()
    return path, file


def _mark(file: IO[bytes]) -> None:
    """Lock a file if its file system can; BlockingIOError if another process has done so."""
    if fcntl is None:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError:
        pass  # other processes cannot lock it either, so none sweeps it


def _unlock(file: IO[bytes]) -> None:
    """Unlock a file and close it; a forked child may still have it open."""
    if fcntl is not None:
        with suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_UN)
    file.close()


def _sweep(folder: str) -> None:
    """Remove the directories of killed processes, without waiting."""
    if fcntl is None:
        return
    for leftover in Path(folder).glob(f"{_PREFIX}*"):
        _remove_unlocked(leftover)
    for unfinished in Path(folder).glob(f".{_PREFIX}*"):
        _remove_unlocked(unfinished)
        with suppress(OSError):  # it is empty, or its process creates the file now
            unfinished.rmdir()


def _remove_unlocked(directory: Path) -> None:
    """Remove a directory unless its process runs, or has not created the file yet."""
    with suppress(OSError):
        if directory.lstat().st_uid != os.geteuid():
            return
    with suppress(OSError), (directory / "lock").open("r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(directory, ignore_errors=True)
        _unlock(file)
