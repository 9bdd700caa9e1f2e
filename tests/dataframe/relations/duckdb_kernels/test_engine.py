"""Duckdb keeps to its memory, writes where it may, and tells what is wrong."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import duckdb
import numpy as np
import pandas as pd
import pytest

import marsdask
import marsdask.dataframe as md
from marsdask.core.config import option_context
from marsdask.dataframe.relations.duckdb_kernels import engine
from marsdask.dataframe.relations.query import QueryResources
from marsdask.dataframe.relations.results import files as files_read
from marsdask.scheduler.errors import MemoryBudgetError
from tests.dataframe.relations.test_planning import queries
from tests.dataframe.tables import equal

MIB = 1 << 20
COUNT, PART = 1_500_000, 100_000
ROWS = pd.DataFrame({"k": np.arange(COUNT) % 50_021, "v": np.arange(COUNT) / 4, "w": 1})


@pytest.fixture(autouse=True)
def _coalesce() -> Iterator[None]:
    """Let duckdb run whatever is relational, instead of the modes of other tests."""
    with option_context({"dataframe.kernels": "duckdb", "verify": True}):
        yield


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write rows to files whose names SQL writes with care."""
    folder = tmp_path_factory.mktemp("it's")
    for start in range(0, COUNT, PART):
        rows = ROWS.iloc[start : start + PART].reset_index(drop=True)
        rows.to_parquet(folder / f'a "{start:07d}".parquet')
    return folder


def read(files: Path) -> Any:
    return md.read_parquet(str(files / "*.parquet"))


#: Programs whose rows do not fit in the memory that duckdb gets here.
LARGE: dict[str, Any] = {
    "sort": lambda d: d.sort_values("v", ascending=False),
    "groups": lambda d: d.groupby("v").agg({"k": "sum"}),
    "join": lambda d: d.merge(d[["v", "k"]].rename(columns={"k": "z"}), on="v"),
    "distinct": lambda d: d.drop_duplicates("v"),
}


@pytest.mark.parametrize("name", LARGE)
def test_rows_larger_than_the_memory(files: Path, name: str, tmp_path: Path) -> None:
    """They go to the session's folder, which is empty again afterwards."""
    seen: list[QueryResources] = []
    run = engine.run

    def noted(*given: Any) -> Any:
        seen.append(given[-1])
        return run(*given)

    session = marsdask.new_session(memory_limit=2 * 64 * MIB, spill_dirs=str(tmp_path))
    with session, mock.patch.object(engine, "run", noted):
        equal(LARGE[name](read(files)), LARGE[name](ROWS))
    assert [(item.folders, item.memory) for item in seen] == [((str(tmp_path),), 64 * MIB)]
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def in_order(name: str) -> pd.DataFrame:
    """Return the rows of a program in the order of a column."""
    frame: pd.DataFrame = LARGE[name](ROWS).sort_values("v")
    return frame.reset_index(drop=name == "join")


@pytest.mark.parametrize("name", LARGE)
def test_what_does_not_fit_says_what_would_do(files: Path, name: str) -> None:
    """The way out that the error names is one."""
    program = LARGE[name](read(files))
    with (
        marsdask.new_session(memory_limit=2 * 64 * MIB, spill_limit=MIB),
        mock.patch.object(files_read, "check_files", side_effect=AssertionError("read again")),
        pytest.raises(MemoryBudgetError, match=r"options\.dataframe\.kernels = 'pandas'"),
    ):
        program.compute()
    with (
        marsdask.new_session(memory_limit=2 * 64 * MIB),
        option_context({"dataframe.kernels": "pandas"}),
    ):
        rows = program.compute().sort_values("v")
    # Large sides that are merged chunk by chunk have an order of their own.
    pd.testing.assert_frame_equal(rows.reset_index(drop=name == "join"), in_order(name))


def test_nothing_is_fetched_or_loaded(files: Path) -> None:
    """Of extensions, however a query is written."""
    with duckdb.connect(config=engine.CONFIG) as connection:
        settings = connection.sql(
            "SELECT name, value FROM duckdb_settings() WHERE name LIKE 'auto%extensions'"
        ).fetchall()
    assert dict(settings) == {
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
    }


def test_names_with_quotes(tmp_path: Path) -> None:
    """Of columns, labels and files."""
    frame = pd.DataFrame({'a"b': [2, 1, 2], "it's": [1.5, 2.5, 3.5], "0": ["x", 'y"', "z'"]})
    frame.to_parquet(tmp_path / "x'y.parquet")
    lazy = md.read_parquet(str(tmp_path / "x'y.parquet"))
    for program in (
        lambda d: d.groupby('a"b')["it's"].sum(),
        lambda d: d.sort_values("0", ascending=False),
        lambda d: d.merge(d[['a"b']].drop_duplicates(), on='a"b'),
        lambda d: d[d["0"] == "z'"].groupby("0").sum(),
    ):
        assert queries(program(lazy))
        equal(program(lazy), program(frame))


def test_the_order_of_rows_of_equal_keys(tmp_path: Path) -> None:
    """It is that of the files, by number, whatever the order of their names."""
    parts = []
    for number in range(12):
        rows = pd.DataFrame({"k": [1, 0] * 20, "row": range(number * 40, number * 40 + 40)})
        rows.to_parquet(tmp_path / f"part-{number:02d}.parquet", row_group_size=7)
        parts.append(rows)
    frame = pd.concat(parts, ignore_index=True)
    lazy = md.read_parquet(str(tmp_path / "*.parquet"))
    for program in (
        lambda d: d.sort_values("k", kind="stable").reset_index(drop=True),
        lambda d: d.groupby("k", sort=False).row.agg(["first", "last"]),
        lambda d: d.drop_duplicates("k", keep="last").reset_index(drop=True),
        lambda d: d[d.row > 77].reset_index(drop=True).head(90).sort_values("k", kind="stable"),
    ):
        assert queries(program(lazy))
        equal(program(lazy), program(frame))


def test_files_that_change_or_break(tmp_path: Path) -> None:
    """The error names the file, as pandas's kernels do."""
    path = tmp_path / "rows.parquet"
    ROWS.head(1000).to_parquet(path)
    program = md.read_parquet(str(path)).groupby("k").v.sum()
    ROWS.head(2000).to_parquet(path)
    with pytest.raises(Exception, match=r"rows\.parquet"):
        program.compute()
    program = md.read_parquet(str(path)).groupby("k").v.sum()
    path.unlink()
    with pytest.raises(FileNotFoundError, match=r"rows\.parquet"):
        program.compute()


def test_a_query_ends_with_its_job(tmp_path: Path) -> None:
    """One that would take hours leaves its thread to the next job."""
    rows = pd.DataFrame({"k": 0, "v": np.arange(400_000.0)})
    rows.to_parquet(tmp_path / "rows.parquet")
    lazy = md.read_parquet(str(tmp_path / "rows.parquet"))
    begun, run = threading.Event(), engine.run

    def noted(*args: Any) -> Any:
        begun.set()
        return run(*args)

    with marsdask.new_session("threads", n_workers=1), mock.patch.object(engine, "run", noted):
        pairs = lazy.merge(lazy.rename(columns={"v": "w"}), on="k")
        execution = (pairs.v * pairs.w).sum().execute(wait=False)
        assert begun.wait(60)
        execution.cancel()
        assert lazy.v.max().execute(wait=False).result(timeout=60).fetch() == 399_999
