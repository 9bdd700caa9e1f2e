"""Directories of files that end with their process, below several folders that are used in turn."""

from __future__ import annotations

import errno
import itertools
import logging
import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO, Final, TypeVar

from dask.utils import format_bytes

from ..errors import SpillFull
from . import private_folder

try:
    import fcntl
except ImportError:  # Windows: the user has to remove the files of killed processes
    fcntl = None  # type: ignore[assignment]

logger: Final = logging.getLogger(__name__)

T = TypeVar("T")

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


def rooms(folders: Sequence[str], usage: Usage = shutil.disk_usage) -> dict[str, int]:
    """Return the bytes that may be written to each of the disks of these directories."""
    disks = {}
    for folder in folders:
        with suppress(OSError):  # a missing directory does not count
            disks[str(os.stat(folder).st_dev)] = room(folder, usage)
    return disks


class SpillDirectories:
    """Directories of this process below ``folders``, used in turn; a tenth of each disk stays free.

    They are made when the first file is written, and again if somebody removed them. In each at
    most ``parallel`` files are written at the same time.
    """

    def __init__(
        self,
        folders: Sequence[str],
        usage: Usage = shutil.disk_usage,
        parallel: int = 2**16,
    ) -> None:
        self.folders = list(folders)
        self.closed = False
        self._usage = usage
        self._turns = itertools.count()
        self._slots = [threading.BoundedSemaphore(parallel) for _ in self.folders]
        # A finalizer may close them at any time.
        self._lock = threading.RLock()
        self._directories: dict[str, _Directory] = {}
        self._pid = os.getpid()

    def rooms(self) -> dict[str, int]:
        """Return how many more bytes can be written to each disk."""
        return rooms(self.folders, self._usage)

    def create(self) -> None:
        """Make the directories now; raise ``OSError`` if one cannot be made."""
        for folder in self.folders:
            self.path(folder)

    def write(self, nbytes: int, write: Callable[[str], T]) -> T:
        """Call ``write(path)`` with a new path of the next directory that accepts the bytes.

        If it raises ``OSError``, it leaves no file, and the next directory is tried. Raises
        SpillFull if none is left.
        """
        turn = next(self._turns)
        refusals = []
        for offset in range(len(self.folders)):
            position = (turn + offset) % len(self.folders)
            folder = self.folders[position]
            try:
                with self._slots[position]:
                    path = os.path.join(self.path(folder), f"{turn:x}")
                    self._check_room(folder, nbytes)
                    return write(path)
            except OSError as error:
                refusals.append(refusal(folder, error))
        raise full(refusals or ["there is none"])

    def path(self, folder: str) -> str:
        """Return the path of this process's directory below a folder; make it if it is missing."""
        with self._lock:
            if self.closed:
                raise SpillFull("the scheduler is closed")
            directory = self._directories.get(folder)
            if directory is not None and os.path.isdir(directory.path):
                return directory.path
            new = self._directories[folder] = _Directory(folder)
            if directory is not None:
                directory.remove()  # of which only the lock is left
                removed = directory.path
                logger.warning("the spill directory %s was removed, with what was in it", removed)
            return new.path

    def close(self) -> None:
        """Remove every file and directory, except those of the parent in a forked child."""
        with self._lock:
            self.closed = True
            directories = list(self._directories.values())
            self._directories.clear()
        if os.getpid() == self._pid:
            for directory in directories:
                directory.remove()

    def _check_room(self, folder: str, nbytes: int) -> None:
        if nbytes > room(folder, self._usage):
            raise OSError(errno.ENOSPC, "a tenth of the disk stays free")


def sweep(folder: str) -> None:
    """Remove the directories of killed processes, without waiting."""
    if fcntl is None:
        return
    for leftover in Path(folder).glob(f"{_PREFIX}*"):
        _remove_unlocked(leftover)
    for unfinished in Path(folder).glob(f".{_PREFIX}*"):
        _remove_unlocked(unfinished)
        with suppress(OSError):  # it is empty, or its process creates the file now
            unfinished.rmdir()


class _Directory:
    """A directory of this process, marked by a lock that ends with the process."""

    def __init__(self, folder: str) -> None:
        private_folder.create(folder)
        sweep(folder)
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


def _remove_unlocked(directory: Path) -> None:
    """Remove a directory unless its process runs, or has not created the file yet."""
    with suppress(OSError):
        if directory.lstat().st_uid != os.geteuid():
            return
    with suppress(OSError), (directory / "lock").open("r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(directory, ignore_errors=True)
        _unlock(file)
