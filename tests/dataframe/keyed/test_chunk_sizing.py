"""Rows of more than the memory budget: chunks are cut and put together as there is room."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest

import marsdask
import marsdask.dataframe as md
from marsdask.core.config import option_context
from marsdask.core.machine.sizing import part_bytes
from marsdask.core.session import Session
from marsdask.dataframe.keyed.chunk_sizing import MeasuredGrid, repartition
from tests.core.compilation.test_stage_results import Watching
from tests.dataframe.tables import planned

MIB = 2**20
BUDGET = 2 * MIB
ROWS = 3 * BUDGET // 16
JOBS = {
    "group-by": lambda d: d.groupby("key").agg({"value": ["sum", "count"]}),
    "unsorted group-by": lambda d: d.groupby("key", sort=False).value.median(),
    "distinct rows": lambda d: d.drop_duplicates("key", keep="last"),
    "sort": lambda d: d.sort_values("key", kind="stable"),
    "few groups": lambda d: d.assign(key=d.key % 3).groupby("key").value.sum().reset_index(),
    "merge with few rows": lambda d: d.merge(d[d.value < 9], on="key"),
}


def table(rows: int) -> pd.DataFrame:
    """Return a table with about two rows of each key."""
    random = np.random.default_rng(0)
    return pd.DataFrame({"key": random.integers(0, rows // 2, rows), "value": np.arange(rows)})


@pytest.fixture(autouse=True)
def _coalesce() -> Iterator[None]:
    """Take the chunks as they are given, once."""
    with option_context({"coalesce": False}):
        yield


@pytest.fixture(scope="module")
def small() -> Any:
    """Return a session with memory for a third of the table."""
    session = marsdask.new_session("threads", n_workers=1, memory_limit=BUDGET, default=False)
    yield session
    session.close()


@pytest.mark.parametrize("name", JOBS)
def test_more_rows_than_the_budget(name: str, small: Any):
    """Three budgets of rows are worked on as pandas would, whatever the size of the chunks."""
    frame = table(ROWS)
    lazy = md.from_pandas(frame, chunk_size=ROWS // (3 if name == "sort" else 20))
    found, wanted = JOBS[name](lazy).compute(session=small), JOBS[name](frame)
    check = pd.testing.assert_series_equal if wanted.ndim == 1 else pd.testing.assert_frame_equal
    check(found, wanted)


def test_merge_of_more_rows_than_the_budget(small: Any):
    """Two sides that fit together no more than what comes of them."""
    frame = table(ROWS // 2)
    lazy = md.from_pandas(frame, chunk_size=ROWS // 20)
    found = lazy.merge(lazy, on="key").compute(session=small)
    wanted = frame.merge(frame, on="key")
    columns = list(wanted.columns)
    pd.testing.assert_frame_equal(
        found.sort_values(columns, ignore_index=True),
        wanted.sort_values(columns, ignore_index=True),
    )


@pytest.mark.parametrize(
    ("sizes", "wanted"),
    [
        ((100,), (20, 20, 20, 20, 20)),
        ((10, 60, 10), (10, 20, 20, 20, 10)),
        ((5, 5, 5, 5, 5, 5), (20, 10)),
        ((20, 24), (20, 24)),
    ],
)
def test_chunks_are_packed(sizes: tuple[int, ...], wanted: tuple[int, ...]):
    """Large chunks are cut evenly, small neighbours put together."""
    rows = sum(sizes)
    grid: Any = md.from_pandas(table(rows), chunk_size=(sizes,)).node.tile()
    with planned("tight"):
        source = MeasuredGrid(grid, tuple(size * part_bytes() // 20 for size in sizes))
        assert repartition(source).chunks[0] == wanted


def repeated(rows: Any, count: int) -> Any:
    """Sort rows, and merge them with their groups, some times."""
    for number in range(count):
        rows = rows.sort_values("value", ascending=bool(number % 2))
        groups = rows.groupby("key", as_index=False).agg(z=("value", "sum"))
        rows = rows.merge(groups, on="key").drop(columns="z")
    return rows


@pytest.mark.parametrize("mode", ["shuffled", "tight"])
def test_looks_let_go_of_rows(mode: str):
    """Each look finds as few chunks held as those before, however many came."""
    most = {}
    for count in (1, 3):
        scheduler = Watching()
        with option_context({"coalesce": False}), planned(mode), Session(scheduler) as session:
            lazy: Any = md.DataFrame(table(24), chunk_size=6)
            (stored,) = session.execute([repeated(lazy, count).node])
            found = pd.concat(session.fetch(stored))
        pd.testing.assert_frame_equal(found, repeated(table(24), count), check_index_type=False)
        assert len(scheduler.at_submit) > 3 * count
        most[count] = max(map(len, scheduler.at_submit))
    assert most[3] <= most[1] <= 4 * 4
