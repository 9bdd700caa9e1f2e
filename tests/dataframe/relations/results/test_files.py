"""Files that an engine cannot read are named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import marsdask.dataframe as md
from marsdask.core.config import option_context
from marsdask.core.files.stamps import FileChanged
from marsdask.core.graph import Graph
from marsdask.dataframe.relations.planning import _tables
from marsdask.dataframe.relations.results.files import files_checked, scans_of, stamps_of


def table(path: Path) -> Any:
    """Return the relations of a program that reads two of three columns."""
    rows = md.read_parquet(str(path))
    lazy = rows[rows.a > 1].groupby("b").size()
    return _tables(Graph([lazy.node]))[lazy.node]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    pd.DataFrame({"a": range(9), "b": range(9), "c": 0.5}).to_parquet(tmp_path / "rows.parquet")
    return tmp_path / "rows.parquet"


def test_what_is_read(path: Path) -> None:
    """Only columns that somebody needs, and the version that was planned with."""
    (scan,) = scans_of(table(path))
    assert [column.name for column in scan.columns] == ["a", "b"]
    assert [name for name, _ in stamps_of(table(path))] == [str(path)]


def test_errors_of_an_engine(path: Path) -> None:
    """They stay if the files are as they were; a file that is no longer one is named."""
    relations = table(path)
    with pytest.raises(ValueError, match="of the engine"), files_checked(relations, ValueError):
        raise ValueError("of the engine")
    with pytest.raises(RuntimeError, match="failed"), files_checked(relations, KeyboardInterrupt):
        raise KeyboardInterrupt
    path.write_bytes(b"no file of Parquet")
    with pytest.raises(FileChanged, match=r"rows\.parquet"), files_checked(relations, ValueError):
        pass


def test_a_page_that_cannot_be_read(path: Path) -> None:
    """The file is named."""
    rows = np.random.default_rng(0).normal(size=9000)
    pd.DataFrame({"a": rows, "b": rows, "c": rows}).to_parquet(path, compression="gzip")
    data = bytearray(path.read_bytes())
    data[200:40_000] = bytes(39_800)
    path.write_bytes(bytes(data))
    program = md.read_parquet(str(path)).groupby("b").a.sum()
    with (
        option_context({"dataframe.kernels": "duckdb"}),
        pytest.raises(Exception, match=r"rows\.parquet"),
    ):
        program.compute()
