"""Spilled results in several directories, used in turn.

Files are mapped, not copied. The system reads pages on access and may drop them again. Pages that
the reader modifies become private copies.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import os
import shutil
import threading
from collections.abc import Iterable, Iterator, MutableMapping, Sequence
from typing import Any, Final

from distributed.diskutils import WorkDir, WorkSpace

from ..storage import private_folder
from ..storage.files import contents
from ..storage.spill import full, refusal

logger: Final = logging.getLogger(__name__)

Data = bytes | bytearray | memoryview

_ALIGNMENT = 64

#: Held while directories of killed processes are removed: a second call sees all that have ended.
_purging = threading.Lock()


def _padding(parts: Sequence[Data]) -> int:
    """Return the padding that aligns the largest part for any dtype."""
    sizes = [memoryview(part).nbytes for part in parts]
    return -sum(sizes[: sizes.index(max(sizes))]) % _ALIGNMENT


def free_space(paths: Sequence[str]) -> dict[str, int]:
    """Return the free bytes of the disks that hold these directories."""
    disks = {}
    for path in paths:
        with contextlib.suppress(OSError):  # a missing directory does not count
            disks[str(os.stat(path).st_dev)] = shutil.disk_usage(path).free
    return disks


def purge(paths: Iterable[str]) -> None:
    """Remove what killed workers left below these directories; what runs keeps its own."""
    with _purging:
        for path in filter(os.path.isdir, paths):
            with contextlib.suppress(OSError):
                WorkSpace(private_folder.within(path))._purge_leftovers()


def _new_folder(path: str) -> WorkDir:
    folder: WorkDir = WorkSpace(private_folder.within(path)).new_work_dir(prefix="spill-")
    return folder


class Directories(MutableMapping[Any, Any]):
    """Bytes by key, in files below ``paths``; a directory that is full is skipped.

    In each directory at most ``parallel`` files are written at the same time. The next process that
    uses a directory removes the files of killed processes, and so does their nanny when it closes.
    Any thread may read, write and delete, but only one at a time each key.

    In a directory that others share, such as ``/tmp``, this user has a private one.
    """

    def __init__(self, paths: Sequence[str], parallel: int = 1) -> None:
        self.paths = list(paths)
        self._spaces = [_new_folder(path) for path in paths]
        self._making = threading.Lock()
        self._free = [threading.BoundedSemaphore(parallel) for _ in paths]
        self._turns = itertools.count()
        self._files: dict[Any, tuple[str, int]] = {}
        self._aside: dict[Any, tuple[str, int]] = {}

    def __setitem__(self, key: Any, value: Data | Sequence[Data]) -> None:
        turn = next(self._turns)
        refusals = []
        parts = value if isinstance(value, list | tuple) else (value,)
        padding = _padding(parts)
        for offset in range(len(self._spaces)):
            position = (turn + offset) % len(self._spaces)
            try:
                with self._free[position]:
                    path = self._write(position, f"{turn:x}", (bytes(padding), *parts))
            except OSError as error:
                refusals.append(refusal(self.paths[position], error))
                continue
            self._files[key] = path, padding
            return
        raise full(refusals)

    def _write(self, which: int, name: str, parts: Sequence[Data]) -> str:
        """Return the path of a new file; the directory is made again if somebody removed it."""
        folder = self._spaces[which].dir_path
        if not os.path.isdir(folder):
            folder = self._make_again(which, folder)
        path = os.path.join(folder, name)
        try:
            with open(path, "wb") as file:
                file.writelines(parts)
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(path)
            raise
        return path

    def _make_again(self, which: int, removed: str) -> str:
        with self._making:
            if self._spaces[which].dir_path == removed:
                self._spaces[which] = _new_folder(self.paths[which])
                logger.warning("the spill directory %s was removed, with what was in it", removed)
            return self._spaces[which].dir_path

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
        for space in self._spaces:
            space.release()
