"""What duckdb runs otherwise than pandas is left to chunks."""

from __future__ import annotations

from collections.abc import Iterator
from glob import escape
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import marsdask.dataframe as md
from marsdask.core.config import option_context
from tests.dataframe.relations.test_planning import queries
from tests.dataframe.tables import equal

FRAME = pd.DataFrame({"k": [2, 1, 2], "v": [1.5, 2, 3], "s": ["a", "b\0c", "b"]})
FRAME["d"] = pd.to_timedelta([3, 1, 2], unit="s")


@pytest.fixture(autouse=True)
def _coalesce() -> Iterator[None]:
    """Let duckdb run whatever is relational, instead of the modes of other tests."""
    with option_context({"dataframe.kernels": "duckdb", "verify": True}):
        yield


#: Programs of which pandas runs something at least.
REFUSED: dict[str, Any] = {
    "rows before": lambda d: d.assign(z=d.v.shift(1)).sort_values("k"),
    "durations": lambda d: d.sort_values("d"),
    "texts with zeros": lambda d: d[d.s == "b\0c"].sort_values("k"),
    "lists with zeros": lambda d: d[d.s.isin(["b\0c"])].sort_values("k"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str) -> None:
    """Pandas gives the same."""
    lazy = REFUSED[name](md.DataFrame(FRAME, chunk_size=2))
    assert not queries(lazy)
    equal(lazy, REFUSED[name](FRAME))


@pytest.mark.parametrize("name", ["a*b", "a[b]", "a?b"])
def test_paths_that_are_patterns(tmp_path: Path, name: str) -> None:
    """Duckdb would read other files too."""
    frame = FRAME.drop(columns=["d", "s"])
    frame.to_parquet(tmp_path / f"{name}.parquet")
    frame.to_parquet(tmp_path / "aXb.parquet")
    frame.to_parquet(tmp_path / "ab.parquet")
    lazy = md.read_parquet(escape(str(tmp_path / f"{name}.parquet"))).groupby("k").v.sum()
    assert not queries(lazy)
    equal(lazy, frame.groupby("k").v.sum())


@pytest.mark.parametrize("other", ["K", "", "file_index", "FILE_ROW_NUMBER", "filename"])
def test_names_that_sql_does_not_tell_apart(tmp_path: Path, other: str) -> None:
    """Of all columns of the files, whether or not they are read."""
    path = tmp_path / "rows.parquet"
    frame = pd.DataFrame({"k": [2, 1, 2, 1], other: [7, 6, 5, 4], "v": [1.5, 2, 3, 4]})
    frame.to_parquet(path)
    for program in (
        lambda d: d.groupby("k").v.sum(),
        lambda d: d.groupby(other).v.sum(),
        lambda d: d.sort_values("k", kind="stable"),
    ):
        lazy = program(md.read_parquet(str(path)))
        assert not queries(lazy)
        equal(lazy, program(frame))
