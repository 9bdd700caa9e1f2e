"""Spilled results in several directories, used in turn.

Files are mapped, not copied. The system reads pages on access and may drop them again. Pages that
the reader modifies become private copies.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterable, Iterator, MutableMapping, Sequence
from typing import Any

from distributed.diskutils import WorkSpace

from ..storage import private_folder
from ..storage.files import contents
from ..storage.spill_directories import SpillDirectories, sweep

Data = bytes | bytearray | memoryview

_ALIGNMENT = 64

#: Held while directories of killed processes are removed: a second call sees all that have ended.
_purging = threading.Lock()


def _padding(parts: Sequence[Data]) -> int:
    """Return the padding that aligns the largest part for any dtype."""
    sizes = [memoryview(part).nbytes for part in parts]
    return -sum(sizes[: sizes.index(max(sizes))]) % _ALIGNMENT


def purge(folder: str, spill_folders: Iterable[str]) -> None:
    """Remove what killed workers left below their folder and those of results; others' stays."""
    with _purging:
        with contextlib.suppress(OSError):
            WorkSpace(private_folder.within(folder))._purge_leftovers()
        for path in (folder, *spill_folders):
            sweep(path)


class Directories(MutableMapping[Any, Any]):
    """Bytes by key, in files below ``paths``; a directory that is full is skipped.

    In each directory at most ``parallel`` files are written at the same time. The next process that
    uses a directory removes the files of killed processes, and so does their nanny when it closes.
    Any thread may read, write and delete, but only one at a time each key.
    """

    def __init__(self, paths: Sequence[str], parallel: int = 1) -> None:
        self.directories = SpillDirectories(paths, parallel=parallel)
        self.directories.create()
        self._files: dict[Any, tuple[str, int]] = {}
        self._aside: dict[Any, tuple[str, int]] = {}

    def __setitem__(self, key: Any, value: Data | Sequence[Data]) -> None:
        parts = value if isinstance(value, list | tuple) else (value,)
        padding = _padding(parts)
        nbytes = padding + sum(memoryview(part).nbytes for part in parts)
        path = self.directories.write(nbytes, lambda path: _write(path, (bytes(padding), *parts)))
        self._files[key] = path, padding

    def __getitem__(self, key: Any) -> memoryview:
        return contents(*self._files[key])

    def check(self, key: Any) -> None:
        """Raise ``OSError`` if this key has a file and it cannot be read."""
        entry = self._files.get(key)
        try:
            if entry is not None:
                contents(*entry)
        except OSError:
            if self._files.get(key) == entry:  # else another thread has deleted it
                raise

    def where(self, key: Any) -> tuple[str, int] | None:
        """Return the arguments for :func:`contents`, ``None`` for an unknown key."""
        return self._files.get(key)

    def __delitem__(self, key: Any) -> None:
        path, _ = self._files.pop(key)
        with contextlib.suppress(OSError):  # for example, the user has emptied the directory
            os.unlink(path)

    def set_aside(self, key: Any) -> None:
        """Keep the file of a key that is no longer here."""
        self._aside[key] = self._files.pop(key)

    def restore(self, key: Any) -> None:
        """Take a file back that was set aside."""
        self._files[key] = self._aside.pop(key)

    def drop_aside(self, key: Any) -> None:
        """Delete a file that was set aside."""
        path, _ = self._aside.pop(key)
        with contextlib.suppress(OSError):
            os.unlink(path)

    def __contains__(self, key: object) -> bool:
        return key in self._files

    def __iter__(self) -> Iterator[Any]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)

    def close(self) -> None:
        """Remove the files."""
        self._files.clear()
        self._aside.clear()
        self.directories.close()


def _write(path: str, parts: Sequence[Data]) -> str:
    """Write a new file and return its path; a file that is incomplete is removed."""
    try:
        with open(path, "wb") as file:
            file.writelines(parts)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(path)
        raise
    return path
