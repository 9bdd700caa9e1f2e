"""Open Parquet files and read their footers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from ..files import Files, Storage, is_remote, open_file, reading


def footer(files: Files, number: int) -> Any:
    """Return the metadata of a file."""
    return _footer(files.paths[number], files.stamps[number], files.storage, files.reader)


@lru_cache(maxsize=1024)
def _footer(path: str, stamp: Any, storage: Storage, reader: str) -> Any:
    with reading(path, stamp, storage, reader), parquet_file(path, storage) as file:
        return file.metadata


def parquet_file(
    path: str,
    storage: Storage,
    metadata: Any = None,
    codes: Sequence[str] = (),
    *,
    ahead: bool = True,
) -> Any:
    """Open a file; remote ones are read ``ahead``, column by column."""
    import pyarrow.parquet as pq

    options = {"metadata": metadata, "read_dictionary": codes}
    if is_remote(path):
        return pq.ParquetFile(open_file(path, storage), pre_buffer=ahead, **options)
    return pq.ParquetFile(path, memory_map=True, **options)
