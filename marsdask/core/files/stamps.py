"""Stamps of files: the versions that a plan was made for, compared by whoever opens the files."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any, NamedTuple

from marsdask.scheduler.errors import MarsdaskError


class FileChanged(MarsdaskError, OSError):
    """A file is not what it was when the program that reads it was written."""


class FileGone(FileChanged, FileNotFoundError):
    """A file is no longer where it was when the program that reads it was written."""


class Stamp(NamedTuple):
    """The version of a file."""

    time: Any
    """When it was changed last; of remote files, all that their filesystem tells of a version."""
    size: int
    host: str = ""
    """The machine that looked at it, if the file is a local one."""
    inode: int = 0
    """A file of the same name that replaces it has another."""

    def difference(self, new: Stamp) -> str:
        """Say how a later stamp differs; nothing if it is of the same version.

        On another machine only the sizes are compared: it may have its own copy of the file.
        """
        if self.size != new.size:
            return f"it had {self.size:,} bytes then, and has {new.size:,}"
        if self.host == new.host and self.inode != new.inode:
            return "it was replaced"
        if self.host == new.host and self.time != new.time:
            return "it was written again"
        return ""


@cache
def _host() -> str:
    return socket.gethostname()


def local_stamp(path: str) -> Stamp:
    """Return the stamp of a local file."""
    status = os.stat(path)
    return Stamp(status.st_mtime_ns, status.st_size, _host(), status.st_ino)


def remote_stamp(fs: Any, path: str) -> Stamp:
    """Return the stamp of a file of a filesystem of fsspec, as it is now."""
    with suppress(AttributeError, NotImplementedError):
        fs.invalidate_cache(fs._parent(path))
    size = fs.info(path)["size"]
    return Stamp(fs.ukey(path), -1 if size is None else size)


def check_unchanged(path: str, stamp: Stamp, reader: str, fs: Any = None) -> None:
    """Raise :class:`FileChanged` if a file is not what it was when ``reader`` looked at it."""
    kind = FileChanged
    try:
        new = local_stamp(path) if fs is None else remote_stamp(fs, path)
    except FileNotFoundError:
        kind, problem = FileGone, "there is no such file now"
    else:
        problem = stamp.difference(new)
    if problem:
        raise kind(
            f"{path} has changed since {reader}() looked at it: {problem}; call {reader}() again"
        )


@contextmanager
def unchanged(files: Sequence[tuple[str, Stamp]], reader: str, fs: Any = None) -> Iterator[None]:
    """Check files before they are read, and once more afterwards: what was read is one version.

    An error while a changed file is read is the consequence of the change.
    """
    for path, stamp in files:
        check_unchanged(path, stamp, reader, fs)
    try:
        yield
    except Exception as error:
        for path, stamp in files:
            try:
                check_unchanged(path, stamp, reader, fs)
            except FileChanged as changed:
                raise changed from error
        raise
    if fs is None:
        for path, stamp in files:
            check_unchanged(path, stamp, reader)
