"""Spilled results in several directories, each used in its turn."""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Iterator, MutableMapping, Sequence
from typing import Any

from distributed.diskutils import WorkSpace

Data = bytes | bytearray | memoryview


class Directories(MutableMapping[Any, Any]):
    """Bytes by key, in files below ``paths``; a directory that refuses is passed over.

    What a process left behind that was killed is removed by the next one that uses the directory.
    Any thread may read, write and delete, each key one at a time.
    """

    def __init__(self, paths: Sequence[str]) -> None:
        self._spaces = [WorkSpace(path).new_work_dir(prefix="spill-") for path in paths]
        self._turns = itertools.count()
        self._files: dict[Any, str] = {}

    def __setitem__(self, key: Any, value: Data | Sequence[Data]) -> None:
        turn = next(self._turns)
        failure: OSError | None = None
        for offset in range(len(self._spaces)):
            space = self._spaces[(turn + offset) % len(self._spaces)]
            path = os.path.join(space.dir_path, f"{turn:x}")
            try:
                with open(path, "wb") as file:
                    file.writelines(value if isinstance(value, list | tuple) else (value,))
            except OSError as error:
                failure = error
                with contextlib.suppress(OSError):
                    os.unlink(path)
                continue
            self._files[key] = path
            return
        assert failure is not None
        raise failure

    def __getitem__(self, key: Any) -> bytearray:
        with open(self._files[key], "rb") as file:
            data = bytearray(os.fstat(file.fileno()).st_size)
            file.readinto(data)
        return data

    def __delitem__(self, key: Any) -> None:
        os.unlink(self._files.pop(key))

    def __contains__(self, key: object) -> bool:
        return key in self._files

    def __iter__(self) -> Iterator[Any]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)

    def close(self) -> None:
        """Remove the files."""
        self._files.clear()
        for space in self._spaces:
            space.release()
