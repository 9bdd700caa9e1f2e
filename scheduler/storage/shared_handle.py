"""The handle with which a process opens a value that another process shares."""

from __future__ import annotations

import functools
import os
import pickle
import weakref
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..errors import SharedGone
from . import files, shared_segment
from .shared_mappings import MAPPINGS

#: Processes with another number use another format of handles.
FORMAT = 1


@functools.cache
def place() -> str:
    """Return the id of the host, container and user, whose processes can share memory."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot}/{os.stat('/proc/self/ns/pid').st_ino}/{os.geteuid()}"
    except (OSError, AttributeError):  # not Linux
        return f"only process {os.getpid()}"


@dataclass(frozen=True)
class SharedHandle:
    """The place of a shared value, in a few hundred bytes."""

    place: str
    pid: int
    descriptor: int
    token: bytes
    stream: bytes
    """The value's pickle, without its buffers."""
    parts: tuple[slice, ...]
    """The position of each buffer in the segment."""

    @property
    def nbytes(self) -> int:
        """The bytes of the buffers, which are not copied."""
        return sum(part.stop - part.start for part in self.parts)

    def open(self) -> OpenedValue:
        """Lease the value; raise :class:`~..errors.SharedGone` if it no longer exists."""
        if self.place != place():
            raise SharedGone("the value is shared on another host, or for another user")
        lease = shared_segment.lease(self.pid, self.descriptor, self.token)
        return OpenedValue(self, lease)

    def load(self) -> Any:
        """Return the value, which keeps its memory alive."""
        opened = self.open()
        try:
            return opened.value
        finally:
            opened.close()


class OpenedValue:
    """A value that another process shares; this object keeps it alive.

    It is mapped when ``value`` is first read, which raises ``OSError`` if that fails. Arrays in it
    are writable: modified pages become private to this process.
    """

    def __init__(self, handle: SharedHandle, descriptor: int) -> None:
        self.close = weakref.finalize(self, os.close, descriptor)
        self._source = handle
        self.handle = replace(handle, pid=os.getpid(), descriptor=descriptor)
        """A handle for a third process, valid even if the first process has ended."""

    @functools.cached_property
    def memory(self) -> Any:
        """The mapped segment, which lives as long as any reference to the memory."""
        source, end = self._source, self._source.parts[-1].stop
        return MAPPINGS.open(self.handle.descriptor, source.pid, source.token, end)

    @functools.cached_property
    def value(self) -> Any:
        """The value, in shared memory."""
        memory = memoryview(self.memory)
        buffers = [memory[part] for part in self.handle.parts]
        return pickle.loads(self.handle.stream, buffers=buffers)

    @property
    def scarce(self) -> bool:
        """Whether too few descriptors are free, so the value should be copied."""
        return files.scarce(self.handle.descriptor)

    def copied(self) -> Any:
        """Return a copy of the value in private memory, writable too."""
        memory = memoryview(self.memory)
        buffers = [bytearray(memory[part]) for part in self.handle.parts]
        return pickle.loads(self.handle.stream, buffers=buffers)
