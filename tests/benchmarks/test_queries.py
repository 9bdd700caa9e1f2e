"""All 22 queries of TPC-H give what pandas gives: values, types, order and labels."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster
from hypothesis import settings

from benchmarks.rows import queries, sql
from benchmarks.run_one import digest
from benchmarks.systems import SYSTEMS, System
from marsdask import new_session
from marsdask.core.config import option_context

SCALE = 0.01
#: `make test-long` runs all of them on all schedulers, `make test` a few.
SOME = ("Q04", "Q11")
IS_LONG = settings.default is not None and settings.default.max_examples > 100


def result_of(row: Any, folder: Path, frames: str) -> Any:
    """Return what a row gives with the frames of a package."""
    system = System(SCALE, folder)
    system.frames = frames
    (found,) = row.run(system, *row.setup(system))
    return found


def check(found: Any, wanted: Any, *, in_order: bool = True) -> None:
    if not isinstance(wanted, pd.DataFrame):
        np.testing.assert_allclose(found, wanted)
        return
    if not in_order:
        order = list(wanted.columns)
        found, wanted = (one.sort_values(order, ignore_index=True) for one in (found, wanted))
    pd.testing.assert_frame_equal(found, wanted, check_exact=False)


@pytest.mark.in_turn(2)
@pytest.mark.parametrize("kernels", ["polars", "pandas"])
@pytest.mark.parametrize("row", queries.ROWS, ids=lambda row: row.name)
def test_a_query_equals_pandas(folder: Path, row: Any, kernels: str) -> None:
    """Whether an engine runs it or pandas, chunk by chunk."""
    wanted = result_of(row, folder, "pandas")
    with option_context({"dataframe.kernels": kernels}):
        found = result_of(row, folder, "marsdask.dataframe").compute()
    # Merges of many rows chunk by chunk do not promise an order.
    check(found, wanted, in_order=kernels == "polars")


@pytest.mark.parametrize("name", ["polars", "duckdb"])
def test_the_same_in_sql(folder: Path, name: str) -> None:
    """Systems that take SQL are asked for what pandas is asked for."""
    pytest.importorskip(name)
    system = SYSTEMS[name](SCALE, folder)
    for row in queries.ROWS:
        (found,) = sql.program(row.name)(system, *row.setup(system))
        wanted = digest(result_of(row, folder, "pandas"), row)
        np.testing.assert_allclose(
            digest(system.value(found), row), wanted, rtol=row.rtol, err_msg=row.name
        )


@contextmanager
def two_processes(name: str) -> Iterator[Any]:
    """Start a scheduler of two processes of one thread."""
    if name == "dask":
        with (
            LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
            Client(cluster) as client,
            new_session(client) as session,
        ):
            yield session
    elif name == "processes":
        with new_session("processes", nprocesses=2) as session:
            yield session
    else:
        with new_session(n_worker=2, n_cpu=2) as session:
            yield session


@pytest.mark.parametrize("kernels", ["polars", "pandas"] if IS_LONG else ["polars"])
@pytest.mark.parametrize("scheduler", ["processes", "supervisor", *(["dask"] * IS_LONG)])
def test_queries_equal_pandas_on_several_processes(
    folder: Path, scheduler: str, kernels: str
) -> None:
    """As one task of one worker, or chunk by chunk."""
    with two_processes(scheduler) as session, option_context({"dataframe.kernels": kernels}):
        for row in queries.ROWS:
            if IS_LONG or row.name in SOME:
                lazy = result_of(row, folder, "marsdask.dataframe")
                assert (": Query" in lazy.explain(session=session)) == (kernels == "polars")
                found = lazy.execute(session=session).fetch()
                check(found, result_of(row, folder, "pandas"), in_order=kernels == "polars")
