"""The rows that an engine returns: in memory if they are few, else in a file that is mapped."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from marsdask.scheduler.errors import SpillFull
from marsdask.scheduler.storage.scratch import ScratchFolder

#: Rows of a file between two looks at the room that is left on the disk.
_LOOKS = 64


@dataclass(frozen=True)
class ResultRows:
    """The columns of a result, of which parts become chunks."""

    rows: pa.Table
    gaps: frozenset[str]
    """The columns in which values are missing."""
    in_memory: bool

    def __sizeof__(self) -> int:
        return int(self.rows.nbytes) if self.in_memory else object.__sizeof__(self)

    def __len__(self) -> int:
        return int(self.rows.num_rows)

    def part(self, rows: range) -> dict[str, Any]:
        """Return the columns of some rows."""
        part = self.rows.slice(rows.start, len(rows))
        return dict(zip(part.column_names, part.columns, strict=True))

    def fits(self, name: str, dtype: Any) -> bool:
        """Tell whether the integers of a column are in the range of a type."""
        least, most = pc.min_max(self.rows[name]).as_py().values()
        limits = np.iinfo(dtype)
        return bool(least is None or limits.min <= least <= most <= limits.max)


def collect(
    batches: Iterable[pa.RecordBatch],
    schema: pa.Schema,
    limit: int,
    folder: ScratchFolder | None,
) -> ResultRows:
    """Keep batches in memory up to ``limit`` bytes, and beyond that in a file of a folder.

    The file has no name, so it ends with the last use of its rows. Raises SpillFull.
    """
    kept: list[pa.RecordBatch] = []
    nbytes = 0
    gaps: set[str] = set()
    batches = iter(batches)
    for batch in batches:
        kept.append(batch)
        nbytes += batch.nbytes
        gaps |= gaps_of(batch)
        if nbytes > limit and folder is not None:
            rows, more = _written(chain(kept, batches), schema, folder)
            return ResultRows(rows, frozenset(gaps | more), in_memory=False)
    return ResultRows(pa.Table.from_batches(kept, schema), frozenset(gaps), in_memory=True)


def _written(
    batches: Iterable[pa.RecordBatch], schema: pa.Schema, folder: ScratchFolder
) -> tuple[pa.Table, set[str]]:
    """Write batches to a file and map it; return its rows, and the columns with missing values."""
    gaps: set[str] = set()
    try:
        with tempfile.NamedTemporaryFile(dir=folder.path) as file:
            with pa.ipc.new_file(file, schema) as writer:
                for number, batch in enumerate(batches):
                    gaps |= gaps_of(batch)
                    writer.write_batch(batch)
                    if number % _LOOKS == 0:
                        folder.check_room()
            file.flush()
            return pa.ipc.open_file(pa.memory_map(file.name)).read_all(), gaps
    except SpillFull:
        raise
    except OSError as error:
        raise folder.refused(error) from error


def gaps_of(batch: pa.RecordBatch) -> set[str]:
    """Return the columns of a batch in which values are missing."""
    return {name for name in batch.schema.names if batch[name].null_count}
