"""How many rows relations have, by footers and rules of thumb."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import marsdask.dataframe as md
from marsdask.core.config import option_context
from marsdask.core.graph import Graph
from marsdask.dataframe.relations.estimates import Estimates
from marsdask.dataframe.relations.planning import _tables


@pytest.fixture(autouse=True)
def _coalesce() -> Iterator[None]:
    """One mode: nothing runs here."""
    with option_context({"dataframe.kernels": "polars"}):
        yield


@pytest.fixture(scope="module")
def orders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a thousand rows of a hundred keys."""
    path = tmp_path_factory.mktemp("orders") / "orders.parquet"
    rows = np.arange(1000)
    frame = pd.DataFrame({"key": rows % 100, "v": rows / 2, "s": "text", "b": rows % 2 == 0})
    frame.to_parquet(path, row_group_size=300)
    return path


def estimates(lazy: Any) -> Estimates:
    return Estimates(_tables(Graph([lazy.node]))[lazy.node], {})


#: Programs, and how many rows they have about.
PROGRAMS: list[tuple[Any, float]] = [
    (lambda d: d[d.key == 3], 10),
    (lambda d: d[d.key.isin([1, 2, 3])], 30),
    (lambda d: d[~(d.b == True)], 500),  # noqa: E712
    (lambda d: d[(d.v > 1) & (d.v < 9)], 1000 / 9),
    (lambda d: d[(d.v > 1) | d.v.notna()], 1000),
    (lambda d: d.head(7), 7),
    (lambda d: d.drop_duplicates("key"), 100),
    (lambda d: d.groupby("key").v.sum(), 100),
    (lambda d: d.groupby(["key", "b"]).v.sum(), 200),
    (lambda d: d.groupby("s").v.sum(), 1000),
    (lambda d: d.merge(d.rename(columns={"v": "w"})[["key", "w"]], on="key"), 10_000),
    (lambda d: d.merge(d[["key"]].drop_duplicates(), on="key"), 1000),
    (lambda d: d.merge(d[d.key == 1].rename(columns={"v": "w"}), on="key", how="left"), 1000),
    (lambda d: d.v.sum(), 1),
]


@pytest.mark.parametrize("place", range(len(PROGRAMS)))
def test_rows(orders: Path, place: int) -> None:
    """Of filters, groups, distinct rows and merges, where integers have bounds."""
    program, rows = PROGRAMS[place]
    found = estimates(program(md.read_parquet(str(orders))))
    assert found.of(found.relations[-1]).count == pytest.approx(rows)


def test_bytes(orders: Path) -> None:
    """Of the columns that are read, once, and of the largest table that a merge makes."""
    lazy = md.read_parquet(str(orders))
    found = estimates(lazy.merge(lazy[["key", "s"]], on="key").groupby("key").v.sum())
    assert found.read == (1000, 1000 * (8 + 8))
    assert found.largest_join == 10_000 * (8 + 8 + 8)


def test_what_condenses_rows(orders: Path) -> None:
    """Groups, reductions and the first of sorted rows do; filters and merges do not."""
    lazy = md.read_parquet(str(orders))
    assert estimates(lazy.groupby("key").v.sum()).is_condensed
    assert estimates(lazy.v.sum()).is_condensed
    assert estimates(lazy.sort_values("v").head(3)).is_condensed
    assert not estimates(lazy[lazy.v > 1].merge(lazy[["key"]], on="key").head(3)).is_condensed


def test_rows_at_hand() -> None:
    """They are no rows of files, and as many as the frame has."""
    lazy = md.DataFrame(pd.DataFrame({"k": [1, 2, 3], "v": 1.0}), chunk_size=2)
    summed = lazy.groupby("k").v.sum()
    found = Estimates(_tables(Graph([summed.node]))[summed.node], {lazy.node.name: 3.0})
    assert found.rows_of_files == 0
    assert found.read == (3, 3 * 16)
