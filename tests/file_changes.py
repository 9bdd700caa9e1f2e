"""What can happen to a file between the call that looks at it and the tasks that read it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path


def appended(path: Path) -> None:
    """Add bytes to the end."""
    with path.open("ab") as file:
        file.write(path.read_bytes()[-20:])


def truncated(path: Path) -> None:
    """Cut the end off."""
    os.truncate(path, path.stat().st_size // 2)


def emptied(path: Path) -> None:
    """Leave nothing of it."""
    os.truncate(path, 0)


def deleted(path: Path) -> None:
    """Remove the file."""
    path.unlink()


def replaced(path: Path) -> None:
    """Put another file of equal size and time in its place."""
    status = path.stat()
    other = path.with_name(path.name + ".new")
    other.write_bytes(path.read_bytes()[::-1])
    os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns))
    other.rename(path)


def rewritten(path: Path) -> None:
    """Write as many other bytes into the same file, later."""
    status = path.stat()
    with path.open("r+b") as file:
        file.write(path.read_bytes()[::-1])
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns + 1_000_000))


CHANGES: dict[str, Callable[[Path], None]] = {
    change.__name__: change
    for change in (appended, truncated, emptied, deleted, replaced, rewritten)
}
