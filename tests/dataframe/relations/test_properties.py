"""What somebody sees of relations: the order of rows, and which of equal ones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import marsdask.dataframe as md
from marsdask.core.config import option_context
from marsdask.core.graph import Graph
from marsdask.dataframe.relations.planning import _tables
from marsdask.dataframe.relations.properties import filtered, is_semi, is_unique, ordered
from marsdask.dataframe.relations.query import terms_of
from marsdask.dataframe.relations.relation import Join, walk
from tests.dataframe.tables import table


@pytest.fixture(autouse=True)
def _coalesce() -> Iterator[None]:
    """One mode: polars, whose plan is looked at."""
    with option_context({"dataframe.kernels": "polars"}):
        yield


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write rows with repeated keys."""
    path = tmp_path_factory.mktemp("needs") / "rows.parquet"
    table(40).to_parquet(path)
    return path


def relations(lazy: Any) -> tuple[Any, list[Any]]:
    found = _tables(Graph([lazy.node]))[lazy.node]
    return found, walk([found.relation])


def seen(lazy: Any) -> set[str]:
    """Return the kinds of relations whose order somebody sees."""
    found, below = relations(lazy)
    names = ordered(below, {one.name for one in terms_of(found)})
    return {type(one).__name__ for one in below if one.token_name in names}


@pytest.mark.parametrize(
    ("name", "program", "kinds"),
    [
        ("rows", lambda d: d[d.k > 0].sort_values("k"), "FileScan Selection OrderBy Number"),
        ("sorted groups", lambda d: d.sort_values("u").groupby("k").f.sum(), "GroupAggregate"),
        (
            "groups met",
            lambda d: d.sort_values("u").groupby("k", sort=False).f.sum(),
            "FileScan Number OrderBy GroupAggregate",
        ),
        (
            "first values",
            lambda d: d.sort_values("u").groupby("k").f.first(),
            "FileScan Number OrderBy GroupAggregate",
        ),
        ("distinct", lambda d: d[["k"]].drop_duplicates().k.sum(), "Reduce"),
        (
            "rows before",
            lambda d: d.sort_values("u").f.shift(1).sum(),
            "FileScan Number OrderBy Reduce",
        ),
        ("rows before, unread", lambda d: d.assign(z=d.f.shift(1)).u.sum(), "Reduce"),
    ],
)
def test_whose_order_is_seen(rows: Path, name: str, program: Any, kinds: str) -> None:
    """That of results, of first values, of groups as they are met; not that below sorted groups."""
    assert seen(program(md.read_parquet(str(rows)))) == set(kinds.split()), name


def test_unique_right_sides(rows: Path) -> None:
    """Groups and distinct rows meet a key once, so that the order among them is not seen."""
    lazy = md.read_parquet(str(rows))
    groups = lazy.groupby("k", as_index=False).agg(n=("u", "sum"))
    for right, unique in ((groups, True), (lazy[["k", "b"]], False)):
        merged = lazy.merge(right[right.k > 0], on="k")
        (join,) = [one for one in relations(merged)[1] if isinstance(one, Join)]
        assert is_unique(join.right, join.right_on) == unique
        assert ("GroupAggregate" in seen(merged)) is False


def test_joins_that_only_search(rows: Path) -> None:
    """Where nothing of distinct keys is read."""
    lazy = md.read_parquet(str(rows))
    keys = lazy[["k"]].drop_duplicates()
    for right, semi in ((keys, True), (lazy[["k"]], False)):
        found, below = relations(lazy.merge(right, on="k"))
        (join,) = [one for one in below if isinstance(one, Join)]
        read = {one.name for one in terms_of(found, right_keys=False)}
        assert is_semi(join, read) == semi


def test_where_conditions_may_move(rows: Path) -> None:
    """Below sorts, columns and merges, not below groups or row numbers that somebody counts."""
    frame = md.read_parquet(rows)
    joined = frame.merge(frame[["k", "u"]], on="k")
    kinds = {}
    for name, lazy in {"after": joined[joined.f > 0], "before": joined}.items():
        found, below = relations(lazy.groupby("k").f.sum())
        names = filtered(below, {one.name for one in terms_of(found)})
        kinds[name] = {type(one).__name__ for one in below if one.token_name in names}
    assert kinds == {"after": {"Number", "Join", "SelectColumns", "FileScan"}, "before": set()}
