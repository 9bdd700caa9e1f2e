"""Footers of Parquet files are read once."""

from __future__ import annotations

from typing import Any

from marsdask.dataframe.storage.files import LOCAL, looked_at
from marsdask.dataframe.storage.parquet_files import footers
from tests.dataframe.tables import table


def test_footers_are_read_once(tmp_path: Any) -> None:
    """They are kept as long as the file has its stamp."""
    path = tmp_path / "x.parquet"
    table(9).to_parquet(path, row_group_size=4)
    files = looked_at((str(path),))
    assert footers.footer(files, 0).num_row_groups == 3
    assert footers.footer(files, 0) is footers.footer(looked_at((str(path),)), 0)
    with footers.parquet_file(str(path), LOCAL) as file:
        assert file.metadata.num_rows == 9
