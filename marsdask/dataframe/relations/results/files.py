"""The files that a table reads, and what is wrong with them where an engine does not say it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from marsdask.core.files.stamps import FileChanged, Stamp, unchanged
from marsdask.scheduler.errors import SpillFull

from ...storage.files import Files
from ...storage.row_groups import check_files
from ..query import terms_of
from ..relation import FileScan, Table, walk


def scans_of(table: Table) -> list[FileScan]:
    """Return the files that a table reads, and which of their columns."""
    names = {term.name for term in terms_of(table)}
    return [
        replace(scan, columns=tuple(term for term in scan.columns if term.name in names))
        for scan in walk([table.relation])
        if isinstance(scan, FileScan)
    ]


def stamps_of(table: Table) -> list[tuple[str, Stamp]]:
    """Return the versions of all files that a table reads."""
    return [pair for scan in scans_of(table) for pair in zip(scan.paths, scan.stamps, strict=True)]


@contextmanager
def files_checked(table: Table, *errors: type[BaseException]) -> Iterator[None]:
    """Raise pandas's error where an engine could not read a file, which engines do not name."""
    try:
        with unchanged(stamps_of(table), "read_parquet"):
            yield
    except (FileChanged, SpillFull):
        raise
    except errors as error:
        for scan in scans_of(table):
            check_files(
                Files(scan.paths, scan.stamps, reader="read_parquet"),
                {column.name for column in scan.columns},
            )
        if isinstance(error, Exception):
            raise
        raise RuntimeError(f"the engine failed: {error}") from error
