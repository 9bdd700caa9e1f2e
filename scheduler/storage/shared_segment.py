"""A piece of memory that other processes of this user may map, and nobody else can find.

A segment is a memfd or, below a directory, a file without a name: the kernel frees it with the last
process that has it open or mapped, however that process ends. Readers open it through the owner's
``/proc/<pid>/fd`` and hold a shared ``flock`` on their own description of it. A mapping keeps that
description, so the lease lasts exactly as long as the last array that looks at the memory, and the
kernel ends it with a killed reader. The owner writes only while it holds the lock alone.

A segment starts with a token that is drawn anew for each content. Whoever has the lease and
reads the token that it was told has the content that it was told of, until it lets go.
"""

from __future__ import annotations

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

#: Where the content begins, behind the token.
START = 64
_TOKEN = 16

#: What one call writes: the kernel takes no more than 2 GiB.
_PIECE = 1 << 30


class Segment:
    """Memory of this process's that it writes and others read; it takes ``nbytes`` for good."""

    def __init__(self, size: int, folder: str | None = None) -> None:
        self.nbytes = -(-size // mmap.PAGESIZE) * mmap.PAGESIZE
        self.descriptor = _anonymous_file(folder)
        self.token = b""
        self._pages: np.ndarray[Any, np.dtype[np.uint8]] | None = None
        self._warm = False
        self._close = weakref.finalize(self, os.close, self.descriptor)
        # Only this descriptor can write, also among the processes of this user.
        os.fchmod(self.descriptor, stat.S_IRUSR)

    def close(self) -> None:
        """Let go of the memory; readers keep what they have."""
        self._pages = None
        self._close()

    def try_lock(self) -> bool:
        """Lock out new readers, if there are none now."""
        return _lock(self.descriptor, fcntl.LOCK_EX)

    def unlock(self) -> None:
        """Let readers in."""
        fcntl.flock(self.descriptor, fcntl.LOCK_UN)

    def write(self, buffers: Sequence[memoryview], parts: Sequence[slice]) -> None:
        """Replace the content, while locked; ``OSError`` if there is no room for it.

        Fresh memory is written by the system, which neither faults page by page nor clears pages
        that it is about to fill, and can say that a disk is full, where a mapping would kill the
        process. Memory that is there already is written faster through a mapping.
        """
        self.token = secrets.token_bytes(_TOKEN)
        put = self._put if self._warm else self._write
        put(memoryview(self.token), 0)
        for buffer, part in zip(buffers, parts, strict=True):
            put(buffer, part.start)
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
    """Open a segment of a process and return a descriptor that holds its content.

    :class:`~..errors.SharedGone` if it has another content by now, or none.
    """
    try:
        # What the number means by now may be something that one would wait for.
        flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
        found = os.open(f"/proc/{pid}/fd/{descriptor}", flags)
    except OSError as error:
        raise SharedGone(f"process {pid} does not share its descriptor {descriptor}") from error
    try:
        if not _holds(found, token):
            raise SharedGone(f"process {pid} shares something else by now")
    except BaseException:
        os.close(found)
        raise
    return found


def _holds(descriptor: int, token: bytes) -> bool:
    status = os.fstat(descriptor)
    return (
        stat.S_ISREG(status.st_mode)
        and status.st_uid == os.geteuid()
        # Before the lock, so that no file is locked that is no segment, and again under it.
        and os.pread(descriptor, _TOKEN, 0) == token
        and _lock(descriptor, fcntl.LOCK_SH)
        and os.pread(descriptor, _TOKEN, 0) == token
    )


def mapped(descriptor: int, size: int) -> mmap.mmap:
    """Map a leased segment; what is modified there becomes a copy of this process's own.

    The lease is the same whether the mapping has a descriptor of its own or not.
    """
    # READ | WRITE of a private mapping: the descriptor itself can only read.
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
