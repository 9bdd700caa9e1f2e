"""Values in shared memory, which several processes of a host map.

A process publishes a value in its :class:`Pool`: the buffers of its pickle go into a segment.
Another process opens the :class:`~.shared_handle.SharedHandle` that the pool returns. Processes
share no reference counts, and segments have no names, see :mod:`.shared_segment`.
"""

from __future__ import annotations

import io
import os
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from . import files
from .shared_handle import SharedHandle, place
from .shared_segment import START, Segment, problem
from .sizes import size_of

#: Values below this many bytes are copied: opening a segment would cost more.
SHARE_FROM = 1 << 20

#: A value is not shared if its pickle without buffers exceeds this part of its bytes.
_STREAM_SHARE = 1 / 4

#: Bytes of a page.
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096

#: Minimum distance of a copy from its source within a page, in bytes.
_APART = 1 << 10

#: Minimum part of an idle segment that a value must fill to use it.
_MIN_FILL = 1 / 2


class Pool:
    """The segments of this process, at most ``limit`` bytes in total, reused without readers.

    With ``folder`` they are unnamed files in that directory. Any thread may call the methods. If
    memory cannot be shared, ``problem`` is the reason, and no value is published.
    """

    def __init__(
        self, limit: int, folder: str | None = None, *, share_from: int = SHARE_FROM
    ) -> None:
        self.limit = limit
        self.folder = folder
        self.share_from = share_from
        self.problem = problem(folder)
        self.report: Callable[[int], None] | None = None
        """Called with the bytes of memory of all segments when they change, in any thread."""
        self._lock = threading.Lock()
        self._segments: set[Segment] = set()
        self._nbytes = 0
        """Total bytes of all segments."""
        self._filling: set[Segment] = set()
        # The garbage collector may drop a value at any time, so returning a segment takes no lock.
        self._returned: deque[Segment] = deque()
        self._read: list[Segment] = []
        """Released segments that others still read."""
        self._idle: list[Segment] = []
        """Locked, unused segments, the most recently used last."""

    @property
    def nbytes(self) -> int:
        """Bytes of all segments: with values, with values that only others read, and idle."""
        with self._lock:
            return self._nbytes

    def publish(self, value: Any) -> SharedValue | None:
        """Copy ``value`` to a segment.

        Return ``None`` for small values and without room: the value is then sent as a copy.
        """
        nbytes = size_of(value)
        if self.problem is not None or nbytes < self.share_from:
            return None
        stream, buffers = _encode(value, nbytes)
        if not buffers or sum(buffer.nbytes for buffer in buffers) < self.share_from:
            return None
        parts, end = [], START
        for buffer in buffers:
            begin = _apart(files.aligned(end), buffer)
            end = begin + buffer.nbytes
            parts.append(slice(begin, end))
        try:
            segment = self._fill(end, buffers, parts)
        except (OSError, MemoryError):  # no memory, no descriptors, or a full disk
            return None
        return None if segment is None else SharedValue(self, segment, stream, tuple(parts))

    def trim(self) -> int:
        """Free idle segments; return the freed bytes of memory."""
        with self._lock:
            self._collect()
            freed = self._memory(self._idle)
            self._drop_idle()
            return freed

    def unused(self) -> int:
        """Return the bytes of segments without a value of this process."""
        with self._lock:
            self._collect()
            return self._memory([*self._read, *self._idle])

    def resident(self) -> int:
        """Return the memory of this process, including its segments.

        Segments count for their owner, not for readers, so figures of several processes add up.
        Files do not count, as in Mars: the system frees their pages by writing them back.
        """
        with self._lock:
            segments = 0 if self.folder else self._nbytes
        return segments + own_memory(os.getpid())

    def close(self) -> None:
        """Close all segments; readers keep theirs."""
        with self._lock:
            self.problem = "the pool is closed"
            self._returned.clear()
            self._read.clear()
            self._idle.clear()
            # A descriptor that a thread writes to could be reused for another file.
            for segment in self._segments - self._filling:
                self._drop(segment)

    def _memory(self, segments: Iterable[Segment]) -> int:
        return 0 if self.folder else sum(segment.nbytes for segment in segments)

    def _fill(
        self, size: int, buffers: Sequence[memoryview], parts: Sequence[slice]
    ) -> Segment | None:
        with self._lock:
            segment = self._find(size)
            if segment is None:
                return None
            self._filling.add(segment)
        complete = False
        try:
            segment.write(buffers, parts)
            segment.unlock()
            complete = True
        finally:
            with self._lock:
                self._filling.remove(segment)
                complete = complete and self.problem is None
                if not complete:
                    self._drop(segment)
        return segment if complete else None

    def _find(self, size: int) -> Segment | None:
        """Return a locked segment of at least ``size`` bytes, ``None`` without room.

        There is no room if the remaining descriptors are reserved for connections.
        """
        self._collect()
        least = max(size, _PAGE)  # no segment is smaller
        fitting = [x for x in self._idle if _MIN_FILL * x.nbytes <= least <= x.nbytes]
        if fitting:
            segment = min(fitting, key=lambda segment: segment.nbytes)
            self._idle.remove(segment)
            return segment
        segment = Segment(size, self.folder)
        if self._idle and files.scarce(segment.descriptor):
            segment.close()
            self._drop_idle()
            segment = Segment(size, self.folder)
        excess = self._nbytes + segment.nbytes - self.limit
        room = excess <= sum(x.nbytes for x in self._idle) and not files.scarce(segment.descriptor)
        if self.problem is not None or not room:
            segment.close()
            return None
        while excess > 0:
            excess -= self._idle[0].nbytes
            self._drop(self._idle.pop(0))
        segment.try_lock()
        self._segments.add(segment)
        self._count(segment.nbytes)
        return segment

    def _collect(self) -> None:
        while self._returned:
            segment = self._returned.popleft()
            if segment in self._segments:  # the descriptor of a closed one may be reused
                self._read.append(segment)
        for segment in [x for x in self._read if x.try_lock()]:
            self._read.remove(segment)
            self._idle.append(segment)

    def _drop_idle(self) -> None:
        while self._idle:
            self._drop(self._idle.pop())

    def _drop(self, segment: Segment) -> None:
        if segment in self._segments:
            self._segments.remove(segment)
            self._count(-segment.nbytes)
        segment.free()

    def _count(self, nbytes: int) -> None:
        self._nbytes += nbytes
        if self.report is not None:
            self.report(0 if self.folder else self._nbytes)


def own_memory(pid: int) -> int:
    """Return the unshared memory of a process; 0 if it has ended.

    Mapped files do not count, because the system can drop their pages. Segments do not count
    either.
    """
    try:
        # Resident pages, and the part of files and segments. This runs ten times a second;
        # /proc/PID/status has the same figures, but takes five times as long.
        with open(f"/proc/{pid}/statm", "rb", buffering=0) as file:
            _, resident_pages, shared_pages, *_ = map(int, file.read().split())
    except (OSError, ValueError):  # the process has ended
        return 0
    return (resident_pages - shared_pages) * _PAGE


class SharedValue:
    """A value in shared memory, which its owner frees by dropping this object."""

    def __init__(
        self, pool: Pool, segment: Segment, stream: bytes, parts: tuple[slice, ...]
    ) -> None:
        self.handle = SharedHandle(
            place(), os.getpid(), segment.descriptor, segment.token, stream, parts
        )
        """A handle for other processes of this user on this host, while this process runs."""
        self.release = weakref.finalize(self, pool._returned.append, segment)


def _apart(position: int, buffer: memoryview) -> int:
    """Return the next position from ``position`` on where copying a buffer has full speed.

    Processors compare the low twelve bits of addresses first. A read slightly behind a recent
    write, at a distance of a multiple of 4 KiB, waits for it. Such copies take three times as long.
    """
    if buffer.nbytes < 64 * _APART:
        return position
    ahead = (position - np.frombuffer(buffer, np.uint8).ctypes.data) % 4096
    return files.aligned(position + max(0, _APART - ahead))


class _Stream(io.BytesIO):
    """Accepts a pickle up to a limit."""

    def __init__(self, limit: float) -> None:
        self._limit = limit

    def write(self, data: Any) -> int:
        if self.tell() + len(data) > self._limit:
            raise _TooLong
        return super().write(data)


class _TooLong(Exception):
    pass


def _encode(value: Any, nbytes: int) -> tuple[bytes, list[memoryview]]:
    """Return the pickle of a value and its buffers; no buffers if the pickle is too long."""
    stream = _Stream(_STREAM_SHARE * nbytes)
    try:
        buffers = files.dump(stream, value, by_value=True)
    except Exception:  # noqa: BLE001 - its classes may raise any exception
        return b"", []
    return stream.getvalue(), buffers
