"""Memory without a name that only other processes of this user can map.

A segment is a memfd or, below a directory, an unnamed file. The kernel frees it with the last
process that has it open or mapped. Readers open it through the owner's ``/proc/<pid>/fd``.

The lease of a reader is a shared ``flock`` on its own file description. A mapping keeps the
description, so the lease lasts as long as the last array in the memory. It ends with a killed
reader, too. The owner writes only with an exclusive lock.

A segment starts with a random token, which is new for each content. A reader with a lease compares
the token with that of its handle. If they are equal, the content cannot change during the lease.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import secrets
import stat
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import SharedGone
from .files import UNTRACKED

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

#: Position of the content, after the token.
START = 64
_TOKEN = 16

#: Maximum bytes of one write: the kernel accepts at most 2 GiB.
_PIECE = 1 << 30


class Segment:
    """Memory that this process writes and others read; its size ``nbytes`` is fixed."""

    def __init__(self, size: int, folder: str | None = None) -> None:
        self.nbytes = -(-size // mmap.PAGESIZE) * mmap.PAGESIZE
        self.descriptor = _anonymous_file(folder)
        self.token = b""
        self._pages: np.ndarray[Any, np.dtype[np.uint8]] | None = None
        self._warm = False
        self._close = weakref.finalize(self, os.close, self.descriptor)
        # Only this descriptor can write; other processes of this user cannot.
        os.fchmod(self.descriptor, stat.S_IRUSR)

    def close(self) -> None:
        """Close the segment; readers keep their mappings."""
        self._pages = None
        self._close()

    def free(self) -> None:
        """Close the segment; without readers its memory is free, whoever maps it."""
        with contextlib.suppress(OSError):
            if self.try_lock():
                os.ftruncate(self.descriptor, 0)
        self.close()

    def try_lock(self) -> bool:
        """Lock the segment if it has no readers; return whether it is locked."""
        return _lock(self.descriptor, fcntl.LOCK_EX)

    def unlock(self) -> None:
        """Allow readers."""
        fcntl.flock(self.descriptor, fcntl.LOCK_UN)

    def write(self, buffers: Sequence[memoryview], parts: Sequence[slice]) -> None:
        """Replace the content of a locked segment; raise ``OSError`` without room for it.

        New memory is written by system calls. They avoid page faults and clearing of pages, and
        report a full disk, where a mapping would kill the process. Existing memory is written
        faster through a mapping.
        """
        self.token = secrets.token_bytes(_TOKEN)
        copy = self._put if self._warm else self._write
        copy(memoryview(self.token), 0)
        for buffer, part in zip(buffers, parts, strict=True):
            copy(buffer, part.start)
        if not self._warm:
            os.ftruncate(self.descriptor, self.nbytes)
            self._warm = True

    def _write(self, buffer: memoryview, position: int) -> None:
        while buffer:
            count = os.pwrite(self.descriptor, buffer[:_PIECE], position)
            position += count
            buffer = buffer[count:]

    def _put(self, buffer: memoryview, position: int) -> None:
        if self._pages is None:
            pages = mmap.mmap(self.descriptor, self.nbytes, **UNTRACKED)
            self._pages = np.frombuffer(pages, np.uint8)
        # NumPy copies without the interpreter's lock.
        np.copyto(self._pages[position : position + buffer.nbytes], buffer)


def _anonymous_file(folder: str | None) -> int:
    if folder is None:
        return os.memfd_create("marsdask")
    return os.open(folder, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600)


def _lock(descriptor: int, how: int) -> bool:
    try:
        fcntl.flock(descriptor, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def lease(pid: int, descriptor: int, token: bytes) -> int:
    """Open a segment of a process and return a descriptor with a lease.

    Raises :class:`~..errors.SharedGone` if its content has changed or no longer exists.
    """
    try:
        # The descriptor may be reused for a file whose opening blocks.
        flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
        lease_descriptor = os.open(f"/proc/{pid}/fd/{descriptor}", flags)
    except OSError as error:
        raise SharedGone(f"process {pid} does not share its descriptor {descriptor}") from error
    try:
        if not _holds(lease_descriptor, token):
            raise SharedGone(f"process {pid} has reused its descriptor {descriptor}")
    except BaseException:
        os.close(lease_descriptor)
        raise
    return lease_descriptor


def _holds(descriptor: int, token: bytes) -> bool:
    status = os.fstat(descriptor)
    return (
        stat.S_ISREG(status.st_mode)
        and status.st_uid == os.geteuid()
        # Before the lock, so that only segments are locked, and again with the lock.
        and os.pread(descriptor, _TOKEN, 0) == token
        and _lock(descriptor, fcntl.LOCK_SH)
        and os.pread(descriptor, _TOKEN, 0) == token
    )


def mapped(descriptor: int, size: int) -> mmap.mmap:
    """Map a leased segment; modified pages become private copies.

    The lease does not depend on whether the mapping has its own descriptor.
    """
    # A private mapping may be writable although the descriptor is read-only.
    protection = mmap.PROT_READ | mmap.PROT_WRITE
    return mmap.mmap(descriptor, size, mmap.MAP_PRIVATE, protection, **UNTRACKED)


def problem(folder: str | None = None) -> str | None:
    """Return why segments cannot be shared here, ``None`` if they can."""
    if fcntl is None or not hasattr(os, "memfd_create") or not hasattr(os, "O_TMPFILE"):
        return "only Linux shares memory without names"
    try:
        segment = Segment(START, folder)
        try:
            segment.write([], [])
            os.close(lease(os.getpid(), segment.descriptor, segment.token))
        finally:
            segment.close()
    except OSError as error:
        where = "in memory" if folder is None else f"in {folder}"
        return f"no file {where} can be opened twice: {error}"
    return None
