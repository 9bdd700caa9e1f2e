"""Parquet files as relations: pandas's types, and files that only pandas reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import marsdask.dataframe as md
from marsdask.core.config import option_context
from marsdask.core.graph import Graph
from marsdask.dataframe.relations.planning import _tables
from marsdask.dataframe.relations.relation import FileScan
from tests.dataframe.tables import equal


@pytest.fixture(autouse=True)
def _coalesce() -> Any:
    """Let polars run whatever is relational, instead of the modes of other tests."""
    with option_context({"dataframe.kernels": "polars", "verify": True}):
        yield


def scanned(lazy: Any) -> Any:
    """Return the table of a frame, ``None`` if only pandas reads it."""
    return _tables(Graph([lazy.node])).get(lazy.node)


def test_types(tmp_path: Path) -> None:
    """Integers with gaps are floats, and nulls among floats are NaN."""
    table = pa.table(
        {
            "k": pa.array([1, 2, 1, 2], pa.int16()),
            "gaps": pa.array([1, None, 3, 4], pa.int64()),
            "f": pa.array([0.5, None, float("nan"), 2.0], pa.float32()),
            "s": pa.array(["a", None, "a", "b"]),
            "t": pa.array([0, 1, None, 3], pa.timestamp("ms")),
            "day": pa.array([0, 1, 2, 3], pa.date32()),
            "zone": pa.array([0, 1, 2, 3], pa.timestamp("us", "UTC")),
        }
    )
    path = tmp_path / "a.parquet"
    pq.write_table(table, path)
    lazy, frame = md.read_parquet(str(path)), pd.read_parquet(path)
    known = dict(zip(frame, scanned(lazy).columns, strict=True))
    assert [name for name, one in known.items() if one is None] == ["day", "zone"]
    assert [name for name, one in known.items() if one is not None and one.full] == ["k"]
    names = ["k", "gaps", "f", "s", "t"]
    for by in names:
        wanted = frame[names].sort_values(by, kind="stable")
        equal(lazy[names].sort_values(by, kind="stable"), wanted)
        equal(lazy.groupby(by)[["gaps", "f"]].sum(), frame.groupby(by)[["gaps", "f"]].sum())
    equal(lazy.sort_values(["k", "s"]), frame.sort_values(["k", "s"]))


def test_rows_that_a_filter_skips_keep_their_numbers(tmp_path: Path) -> None:
    """Row groups that no condition meets are not read; labels count them all the same."""
    frame = pd.DataFrame({"a": np.arange(100), "b": np.arange(100) % 3})
    frame.to_parquet(tmp_path / "a.parquet", row_group_size=10, index=False)
    lazy = md.read_parquet(str(tmp_path / "a.parquet"))
    found, wanted = lazy[lazy.a >= 55], frame[frame.a >= 55]
    equal(found.sort_values("b", kind="stable"), wanted.sort_values("b", kind="stable"))


def test_files_that_pandas_reads(tmp_path: Path) -> None:
    """Labels of their own, folders as keys, the user's filters, and files that differ."""
    frame = pd.DataFrame({"a": [1, 2, 3], "b": [1.0, 2.0, 3.0]})
    frame.set_index(pd.Index(["x", "y", "z"])).to_parquet(tmp_path / "labels.parquet")
    assert scanned(md.read_parquet(str(tmp_path / "labels.parquet"))) is None
    (tmp_path / "year=1").mkdir()
    frame.to_parquet(tmp_path / "year=1" / "a.parquet")
    assert scanned(md.read_parquet(str(tmp_path / "year=1"), filters=[("a", ">", 1)])) is None
    (tmp_path / "several").mkdir()
    frame.to_parquet(tmp_path / "several" / "0.parquet", index=False)
    plain = md.read_parquet(str(tmp_path / "several" / "0.parquet"))
    assert isinstance(scanned(plain).relation, FileScan)
    frame.assign(c=1).to_parquet(tmp_path / "several" / "1.parquet", index=False)
    assert scanned(md.read_parquet(str(tmp_path / "several" / "*.parquet"))) is None
