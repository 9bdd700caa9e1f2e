"""Parquet files in folders of the values of columns, and beside those of an earlier writing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import fsspec
import numpy as np
import pandas as pd
import pytest

import marsdask.dataframe as md

FRAME = pd.DataFrame(
    {
        "u": range(9),
        "k": [1, 2, 3] * 3,
        "t": ["x", "y", "Köln/Rhein"] * 3,
        "f": np.linspace(0, 1, 9),
    }
)


def read(path: Any, **how: Any) -> pd.DataFrame:
    """Return what pandas reads, in the order of the rows that were written."""
    return pd.read_parquet(path, **how).sort_values("u", ignore_index=True)


@pytest.mark.parametrize("keyword", ["partition_cols", "partition_on"])
@pytest.mark.parametrize("by", ["k", ["k"], ["t", "k"]], ids=str)
@pytest.mark.parametrize("chunk_size", [1, 4, 9])
def test_values_are_folders(tmp_path: Path, keyword: str, by: Any, chunk_size: int) -> None:
    """Pandas and the lazy reader read what pandas would have written."""
    columns = [by] if isinstance(by, str) else by
    FRAME.to_parquet(tmp_path / "pandas", partition_cols=columns)
    lazy: Any = md.DataFrame(FRAME, chunk_size=chunk_size)
    counts = lazy.to_parquet(tmp_path / "lazy", **{keyword: by}).compute()
    assert counts["rows"].sum() == 9
    pd.testing.assert_frame_equal(read(tmp_path / "lazy"), read(tmp_path / "pandas"))
    found: Any = md.read_parquet(tmp_path / "lazy").compute()
    pd.testing.assert_frame_equal(
        found.sort_values("u", ignore_index=True), read(tmp_path / "pandas")
    )
    assert not [path for path in (tmp_path / "lazy").iterdir() if path.name.startswith(".")]


def test_later_writings(tmp_path: Path) -> None:
    """A later one replaces the files of an earlier one, or stands beside them."""
    lazy: Any = md.DataFrame(FRAME, chunk_size=2)
    for rows in (lazy, lazy[lazy.k < 3]):
        rows.to_parquet(tmp_path, partition_cols="k")
        assert len(read(tmp_path)) == len(rows)
    lazy[:3].to_parquet(tmp_path, partition_cols="k", append=True)
    assert read(tmp_path)["u"].tolist() == [0, 0, 1, 1, 2, 3, 4, 6, 7]
    md.read_parquet(tmp_path).to_parquet(tmp_path, partition_cols="k")
    assert read(tmp_path)["u"].tolist() == [0, 0, 1, 1, 2, 3, 4, 6, 7]
    with pytest.raises(ValueError, match="Appended columns not the same"):
        lazy[["u", "k"]].to_parquet(tmp_path, partition_cols="k", append=True)
    with pytest.raises(ValueError, match="Appended dtypes differ"):
        lazy.assign(u=0.5).to_parquet(tmp_path, partition_cols="k", append=True)
    (tmp_path / "k=1" / "other.parquet").write_bytes(b"")
    with pytest.raises(FileExistsError, match=r"other\.parquet"):
        lazy.to_parquet(tmp_path, partition_cols="k")
    lazy.to_parquet(tmp_path, partition_cols="k", overwrite=True)
    pd.testing.assert_frame_equal(read(tmp_path)[["u", "t"]], FRAME[["u", "t"]])


def test_appended_files(tmp_path: Path) -> None:
    """Files stand beside those of an earlier writing."""
    lazy: Any = md.DataFrame(FRAME, chunk_size=4)
    lazy.to_parquet(tmp_path)
    lazy.to_parquet(tmp_path, append=True)
    assert len(list(tmp_path.iterdir())) == 2 * lazy.npartitions
    assert read(tmp_path)["u"].tolist() == sorted([*range(9)] * 2)
    with pytest.raises(ValueError, match="Appended columns not the same"):
        lazy[["u"]].to_parquet(tmp_path, append=True)


def test_failures_leave_what_was_there(tmp_path: Path) -> None:
    """Neither an incomplete file nor fewer rows."""
    lazy: Any = md.DataFrame(FRAME, chunk_size=2)
    lazy.to_parquet(tmp_path, partition_cols="k")

    def failing(rows: Any) -> Any:
        if rows["u"].max() > 5:
            raise ZeroDivisionError
        return rows

    with pytest.raises(ZeroDivisionError):
        lazy.map_partitions(failing, meta=FRAME[:0]).to_parquet(tmp_path, partition_cols="k")
    assert len(read(tmp_path)) == 9
    assert {path.name for path in tmp_path.iterdir()} == {"k=1", "k=2", "k=3"}


def test_urls() -> None:
    """Folders may lie behind a URL."""
    lazy: Any = md.DataFrame(FRAME, chunk_size=4)
    for rows in (lazy, lazy, lazy[:0], lazy):
        rows.to_parquet("memory://partitions", partition_cols=["k"])
    fs = fsspec.filesystem("memory")
    paths = fs.find("/partitions")
    assert {path.split("/")[2] for path in paths} == {"k=1", "k=2", "k=3"}
    found: Any = md.read_parquet("memory://partitions").compute()
    assert sorted(found["u"]) == [*range(9)]


def test_columns_of_all_chunks(tmp_path: Path) -> None:
    """A column of integers of which only some chunks have gaps has one type."""
    frame = pd.DataFrame({"k": [1, 1, 2, 2], "v": [1, 2, 3, 4]})
    lazy: Any = md.DataFrame(frame, chunk_size=2)
    other = md.DataFrame({"k": [1], "w": [5]})
    lazy.merge(other, how="left").to_parquet(tmp_path, partition_cols="k")
    assert pd.read_parquet(tmp_path)["w"].tolist()[:2] == [5, 5]


@pytest.mark.parametrize(
    ("by", "error", "words"),
    [
        (["nope"], KeyError, "nope"),
        (["u", "k", "t", "f"], ValueError, "No data left"),
    ],
)
def test_bad_columns(tmp_path: Path, by: Any, error: type[Exception], words: str) -> None:
    """They are refused at the call."""
    with pytest.raises(error, match=words):
        md.DataFrame(FRAME).to_parquet(tmp_path / "x", partition_cols=by)
    assert not (tmp_path / "x").exists()
    with pytest.raises(ValueError, match="pattern"):
        md.DataFrame(FRAME).to_parquet(tmp_path / "x-*.parquet", partition_cols=["k"])
