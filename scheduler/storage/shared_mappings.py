"""Mappings of shared segments, which a process may keep for the next value in the same memory.

The kernel maps a page when it is first read, which takes twice as long as copying it. Owners
write new values to segments that they have already, so a kept mapping has all pages mapped.

A kept mapping is of a file description without a lease. The lease is a second descriptor, which is
closed with the last array. The kernel frees the memory of a segment with its last mapping, so
owners truncate what they free, and :meth:`Mappings.tidy` drops what nobody can write to any more.
"""

from __future__ import annotations

import mmap
import os
import threading
import time
import weakref
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import shared_segment

#: Smaller mappings are not kept: mapping them anew takes less than a message.
KEEP_FROM = 4 << 20

#: Maximum number of kept mappings: each keeps a descriptor open.
MOST = 128

#: Mappings that were not used for so many seconds are dropped.
_IDLE = 30.0

#: The highest byte of a page's entry in ``/proc/self/pagemap``.
_PRESENT, _SWAPPED, _OF_FILE = 0x80, 0x40, 0x20


@dataclass(eq=False)
class _Kept:
    """A mapping, the segment's inode, and the process through which it was opened."""

    mapping: mmap.mmap
    inode: tuple[int, int]
    pid: int
    since: float = field(default_factory=time.monotonic)

    @property
    def bytes(self) -> np.ndarray[Any, np.dtype[np.uint8]]:
        """The memory."""
        return np.frombuffer(self.mapping, np.uint8)

    def useful(self) -> bool:
        """Return whether another value may come to this memory."""
        alive = os.path.exists(f"/proc/{self.pid}") and self.mapping.size() == len(self.mapping)
        return alive and time.monotonic() - self.since < _IDLE


class Mappings:
    """The mappings that a process keeps, at most ``most``; 0 until a worker starts."""

    def __init__(self) -> None:
        self.most = 0
        self._lock = threading.Lock()
        self._used = 0
        self._idle: list[_Kept] = []
        # The garbage collector may drop an array at any time, so returning takes no lock.
        self._returned: deque[_Kept | None] = deque()

    def open(self, descriptor: int, pid: int, token: bytes, size: int) -> Any:
        """Return the memory of a leased segment, writable for this process alone.

        It lives as long as any reference, and the lease with it.
        """
        if size >= KEEP_FROM and self.most:
            with self._lock:
                mapping = self._take(descriptor, pid, token)
            if mapping is not None:
                return self._lent(mapping, descriptor)
        return shared_segment.mapped(descriptor, size)

    def tidy(self) -> None:
        """Drop mappings that no value can come to any more."""
        with self._lock:
            self._collect()
            self._idle = [mapping for mapping in self._idle if mapping.useful()]

    def close(self) -> None:
        """Keep no more mappings."""
        with self._lock:
            self.most = 0
            self._idle.clear()
            self._collect()

    def __len__(self) -> int:
        """Return the number of kept mappings that are not in use."""
        with self._lock:
            self._collect()
            return len(self._idle)

    def _take(self, descriptor: int, pid: int, token: bytes) -> _Kept | None:
        """Return a mapping of a segment, ``None`` if too many are kept."""
        self._collect()
        status = os.fstat(descriptor)
        inode = status.st_dev, status.st_ino
        entry = next((item for item in self._idle if item.inode == inode), None)
        if entry is not None:
            self._idle.remove(entry)
            if len(entry.mapping) != status.st_size or entry.mapping[: len(token)] != token:
                entry = None
        if entry is None:
            if self._used + len(self._idle) >= self.most:
                if not self._idle:
                    return None
                del self._idle[0]
            entry = _Kept(_unleased(descriptor, status.st_size), inode, pid)
        self._used += 1
        return entry

    def _lent(self, kept: _Kept, descriptor: int) -> Any:
        # The lock belongs to the description, which the duplicate shares.
        try:
            lease = os.dup(descriptor)
        except OSError:
            self._returned.append(kept)
            raise
        memory = kept.bytes
        weakref.finalize(memory, self._give, kept, lease).atexit = False
        return memory

    def _give(self, kept: _Kept, lease: int) -> None:
        os.close(lease)
        kept.since = time.monotonic()
        self._returned.append(kept if self.most else None)

    def _collect(self) -> None:
        while self._returned:
            entry = self._returned.popleft()
            self._used -= 1
            if entry is not None and self.most and not _modified(entry.bytes):
                self._idle.append(entry)


def _unleased(descriptor: int, size: int) -> mmap.mmap:
    """Map a segment by a description of its own, whose size can be asked for later."""
    another = os.open(f"/proc/self/fd/{descriptor}", os.O_RDONLY | os.O_CLOEXEC)
    try:
        return mmap.mmap(another, size, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_WRITE)
    finally:
        os.close(another)


def _modified(memory: np.ndarray[Any, np.dtype[np.uint8]]) -> bool:
    """Return whether this process has pages of its own in a private mapping."""
    first, count = memory.ctypes.data // mmap.PAGESIZE, -(-memory.nbytes // mmap.PAGESIZE)
    entries = b""
    with suppress(OSError), open("/proc/self/pagemap", "rb", buffering=0) as file:
        entries = os.pread(file.fileno(), 8 * count, 8 * first)
    flags = np.frombuffer(entries, np.uint8)[7::8]
    if len(flags) < count:
        return True
    own = (flags & (_PRESENT | _OF_FILE)) == _PRESENT
    return bool((own | (flags & _SWAPPED != 0)).any())


#: The mappings of this process.
MAPPINGS = Mappings()
