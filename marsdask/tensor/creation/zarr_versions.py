"""The version of a local zarr array: of its metadata, and of the files of its chunks."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from marsdask.core.files.stamps import FileChanged, Stamp, local_stamp, unchanged

#: Files that describe an array, in both versions of the format.
_METADATA = ("zarr.json", ".zarray")


@dataclass(frozen=True)
class ZarrVersion:
    """The state of the files of an array when it was looked at."""

    path: str
    metadata: tuple[tuple[str, Stamp], ...]
    newest: int
    """When the last of its chunks was written."""
    count: int
    """The number of chunks that have files; those of others have the fill value."""
    nbytes: int

    @classmethod
    def of(cls, path: str) -> ZarrVersion:
        """Return the version of an array in a folder."""
        newest = count = nbytes = 0
        metadata = []
        for folder, _, names in os.walk(path):
            for name in names:
                file = os.path.join(folder, name)
                if folder == path and name in _METADATA:
                    metadata.append((file, local_stamp(file)))
                elif not name.startswith("."):
                    status = os.stat(file)
                    newest, count = max(newest, status.st_mtime_ns), count + 1
                    nbytes += status.st_size
        return cls(path, tuple(metadata), newest, count, nbytes)

    @contextmanager
    def unchanged(self, array: Any, parts: tuple[slice, ...]) -> Iterator[None]:
        """Raise ``FileChanged`` if chunks were written or removed before a part was read."""
        with unchanged(self.metadata, "from_zarr"):
            yield
            self._check_chunks(array, parts)

    def _check_chunks(self, array: Any, parts: tuple[slice, ...]) -> None:
        storage = getattr(array, "shards", None) or array.chunks
        is_full = self.count >= array.nchunks if storage == array.chunks else False
        chunks = (
            range(part.start // size, -(-part.stop // size))
            for part, size in zip(parts, storage, strict=True)
        )
        for place in itertools.product(*chunks):
            file = os.path.join(self.path, array.metadata.encode_chunk_key(place))
            try:
                is_new = os.stat(file).st_mtime_ns > self.newest
            except FileNotFoundError:
                is_new = is_full
            if is_new:
                raise FileChanged(
                    f"{file} has changed since from_zarr() looked at the array; call from_zarr() "
                    "again"
                )
