"""Row groups are left out only if none of their rows can meet a condition."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from marsdask.dataframe.storage.files import looked_at
from marsdask.dataframe.storage.parquet_files.layout import ParquetLayout
from marsdask.dataframe.storage.parquet_files.statistics import excluded
from marsdask.dataframe.storage.row_groups import RowGroup


@pytest.mark.parametrize("operator", ["==", "!=", "<", "<=", ">", ">="])
def test_excluded(tmp_path: Any, operator: str) -> None:
    """By the least and the largest value; categories only by equality."""
    codes = pd.Categorical(list("aabbcc"), list("cba"), ordered=True)
    frame = pd.DataFrame({"u": range(6), 3: list("aabbcc"), "c": codes})
    frame.columns = pd.Index(["u", "3", "c"])
    frame.to_parquet(tmp_path / "x.parquet", row_group_size=2)
    layout = ParquetLayout(looked_at((str(tmp_path / "x.parquet"),)))
    for label, values in (("u", range(-1, 8)), ("3", ["", *"abcd"]), ("c", [*"abc"])):
        for value in values:
            for group in range(3):
                rows = frame[label].iloc[2 * group : 2 * group + 2]
                met = {
                    "==": rows == value,
                    "!=": rows != value,
                    "<": rows < value,
                    "<=": rows <= value,
                    ">": rows > value,
                    ">=": rows >= value,
                }[operator]
                left_out = excluded(layout, RowGroup(0, group, 0, 2), [(label, operator, value)])
                assert not (left_out and met.any())
                assert left_out or met.any() or operator == "!=" or label == "c"
