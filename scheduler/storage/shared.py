"""Values that several processes of a host see at once, each lying in memory once.

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
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from dask.sizeof import sizeof

from . import files
from .shared_handle import SharedHandle, place
from .shared_segment import START, Segment, problem

#: Values below this many bytes are sent as they are: opening a segment would cost more.
SHARE_FROM = 1 << 20

#: A value is shared unless more than this part of it is no buffer, such as Python objects.
_STREAM_SHARE = 1 / 4

#: Bytes of a page.
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096

#: A copy begins at least so many bytes further, within a page, than its source, or before it.
_APART = 1 << 10

#: Idle memory is used for a value unless the value is smaller than this part of it.
_SNUG = 1 / 2


class Pool:
    """Segments of this process's, of at most ``limit`` bytes in all, used again when nobody reads.

    With ``folder`` they are files in that directory, which have no names either. Any thread may
    call. Where memory cannot be shared, ``problem`` says why, and nothing is ever published.
    """

    def __init__(
        self, limit: int, folder: str | None = None, *, share_from: int = SHARE_FROM
    ) -> None:
        self.limit = limit
        self.folder = folder
        self.share_from = share_from
        self.problem = problem(folder)
        self._lock = threading.Lock()
        self._segments: set[Segment] = set()
        self._nbytes = 0
        """Of all segments, of which there may be many thousands."""
        self._filling: set[Segment] = set()
        # The collector may drop a value in the middle of anything, so returning takes no lock.
        self._returned: deque[Segment] = deque()
        self._read: list[Segment] = []
        """Not needed here any more, but still read by others."""
        self._idle: list[Segment] = []
        """Locked, and unused; the last one used is the last."""

    @property
    def nbytes(self) -> int:
        """All bytes of the segments: of values, of values that only others read, and idle."""
        with self._lock:
            return self._nbytes

    def publish(self, value: Any) -> SharedValue | None:
        """Copy ``value`` to where other processes can map it.

        None if it is not worth it or there is no room: then it travels as it always did.
        """
        nbytes = int(sizeof(value))
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
        """Free what nobody uses; return how many bytes of memory that were."""
        with self._lock:
            self._collect()
            freed = self._memory(self._idle)
            self._drop_idle()
            return freed

    def unused(self) -> int:
        """Return the bytes of the memory in segments that no value of this process's is in."""
        with self._lock:
            self._collect()
            return self._memory([*self._read, *self._idle])

    def resident(self) -> int:
        """Return the memory to charge to this process, its segments included.

        They are charged to it, who can free them, and not to those who read them, and whether
        somebody has touched them or not. So figures of several processes add up. Files of a folder
        are charged to nobody, as Mars has it: the system frees their pages by writing them back.
        """
        with self._lock:
            shared = 0 if self.folder else self._nbytes
        return shared + own_memory(os.getpid())

    def close(self) -> None:
        """Let go of all segments; what others have opened stays theirs."""
        with self._lock:
            self.problem = "the pool is closed"
            self._returned.clear()
            self._read.clear()
            self._idle.clear()
            # Under a thread that writes, the descriptor could become another file's.
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
        filled = False
        try:
            segment.write(buffers, parts)
            segment.unlock()
            filled = True
        finally:
            with self._lock:
                self._filling.remove(segment)
                filled = filled and self.problem is None
                if not filled:
                    self._drop(segment)
        return segment if filled else None

    def _find(self, size: int) -> Segment | None:
        """Return a locked segment of at least ``size`` bytes, None if there is no room for it.

        Nor is there if the descriptors that are left are for connections.
        """
        self._collect()
        least = max(size, _PAGE)  # as no segment is smaller
        snug = [x for x in self._idle if _SNUG * x.nbytes <= least <= x.nbytes]
        if snug:
            segment = min(snug, key=lambda segment: segment.nbytes)
            self._idle.remove(segment)
            return segment
        segment = Segment(size, self.folder)
        if self._idle and files.scarce(segment.descriptor):
            segment.close()
            self._drop_idle()
            segment = Segment(size, self.folder)
        missing = self._nbytes + segment.nbytes - self.limit
        room = missing <= sum(x.nbytes for x in self._idle) and not files.scarce(segment.descriptor)
        if self.problem is not None or not room:
            segment.close()
            return None
        while missing > 0:
            missing -= self._idle[0].nbytes
            self._drop(self._idle.pop(0))
        segment.try_lock()
        self._segments.add(segment)
        self._nbytes += segment.nbytes
        return segment

    def _collect(self) -> None:
        while self._returned:
            segment = self._returned.popleft()
            if segment in self._segments:  # and is not closed: its number may be another file's
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
            self._nbytes -= segment.nbytes
        segment.close()


def own_memory(pid: int) -> int:
    """Return the memory of a process that nobody shares with it; 0 if it has ended.

    What it has mapped of files, which the system drops when it likes, is not among it, and neither
    are segments, whoever made them.
    """
    try:
        # What is resident, and what of it is mapped of files or of segments. It is asked for ten
        # times a second, and /proc/PID/status says the same, but takes five times as long.
        with open(f"/proc/{pid}/statm", "rb", buffering=0) as file:
            _, resident, shared, *_ = map(int, file.read().split())
    except (OSError, ValueError):  # it has ended, or does while it is looked at
        return 0
    return (resident - shared) * _PAGE


class SharedValue:
    """A value that its owner keeps in shared memory; dropping this object lets the memory go."""

    def __init__(
        self, pool: Pool, segment: Segment, stream: bytes, parts: tuple[slice, ...]
    ) -> None:
        self.handle = SharedHandle(
            place(), os.getpid(), segment.descriptor, segment.token, stream, parts
        )
        """Opens the value in another process of this user on this host, while this one lives."""
        self.release = weakref.finalize(self, pool._returned.append, segment)


def _apart(position: int, buffer: memoryview) -> int:
    """Return where from ``position`` on a buffer is copied to at full speed.

    Processors compare the low twelve bits of addresses first: what is read a little behind what
    was just written, a multiple of 4 KiB away, waits for it. Such copies take three times as long.
    """
    if buffer.nbytes < 64 * _APART:
        return position
    ahead = (position - np.frombuffer(buffer, np.uint8).ctypes.data) % 4096
    return files.aligned(position + max(0, _APART - ahead))


class _Stream(io.BytesIO):
    """Takes a pickle until it gets too long."""

    def __init__(self, limit: float) -> None:
        self._limit = limit

    def write(self, data: Any) -> int:
        if self.tell() + len(data) > self._limit:
            raise _TooLong
        return super().write(data)


class _TooLong(Exception):
    pass


def _encode(value: Any, nbytes: int) -> tuple[bytes, list[memoryview]]:
    """Return the pickle of a value and its buffers; none if most of it would be pickle."""
    stream = _Stream(_STREAM_SHARE * nbytes)
    try:
        buffers = files.dump(stream, value, by_value=True)
    except Exception:  # noqa: BLE001 - its classes may raise anything, and have other ways to be sent
        return b"", []
    return stream.getvalue(), buffers
