"""Results stay in memory if they are few, and are mapped from a file without a name if not."""

from __future__ import annotations

import sys
from pathlib import Path

import pyarrow as pa
import pytest

from marsdask.dataframe.relations.results.rows import collect
from marsdask.scheduler.errors import SpillFull
from marsdask.scheduler.storage import scratch
from marsdask.scheduler.storage.scratch import ScratchFolder

SCHEMA = pa.schema([("a", pa.int64()), ("s", pa.string())])


def batches(count: int) -> list[pa.RecordBatch]:
    """Return batches of ten rows, of which the last one lacks a value."""
    rows = [pa.record_batch([list(range(10)), ["x"] * 10], schema=SCHEMA) for _ in range(count)]
    rows[-1] = pa.record_batch([list(range(10)), [None, *["x"] * 9]], schema=SCHEMA)
    return rows


def test_without_a_folder() -> None:
    """All rows stay in memory."""
    assert collect(batches(5), SCHEMA, 0, None).in_memory


@pytest.mark.parametrize("limit", [0, 150, 10**6])
def test_rows_are_the_same_in_memory_and_in_a_file(tmp_path: Path, limit: int) -> None:
    """Nothing is left in the folder; what is in memory is counted."""
    given = batches(5)
    rows = collect(given, SCHEMA, limit, ScratchFolder(str(tmp_path)))
    assert not list(tmp_path.iterdir())
    assert rows.rows.equals(pa.Table.from_batches(given))
    assert rows.gaps == {"s"}
    assert rows.in_memory == (limit == 10**6)
    assert (sys.getsizeof(rows) >= rows.rows.nbytes) == rows.in_memory
    part = rows.part(range(38, 44))
    assert part["a"].to_pylist() == [8, 9, 0, 1, 2, 3]
    assert part["s"].to_pylist() == ["x", "x", None, "x", "x", "x"]


def test_of_no_rows(tmp_path: Path) -> None:
    """There are columns all the same."""
    rows = collect([], SCHEMA, 0, ScratchFolder(str(tmp_path)))
    assert len(rows) == 0
    assert rows.part(range(3))["a"].to_pylist() == []
    assert rows.fits("a", "int8")


def test_the_range_of_integers(tmp_path: Path) -> None:
    """Of all rows, at both ends."""
    rows = collect(batches(1), SCHEMA, 0, ScratchFolder(str(tmp_path)))
    assert rows.fits("a", "int8")
    wide = pa.record_batch([[-129], ["x"]], schema=SCHEMA)
    assert not collect([wide], SCHEMA, 0, ScratchFolder(str(tmp_path))).fits("a", "int8")


def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the folder, and no file is left."""
    monkeypatch.setattr(scratch, "room", lambda folder: 0)
    with pytest.raises(SpillFull, match=str(tmp_path)):
        collect(batches(5), SCHEMA, 0, ScratchFolder(str(tmp_path)))
    assert not list(tmp_path.iterdir())
    with pytest.raises(SpillFull, match="missing"):
        collect(batches(5), SCHEMA, 0, ScratchFolder(str(tmp_path / "missing")))
