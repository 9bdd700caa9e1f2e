"""Who runs a run of relations is decided by sizes, memory and threads."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

import marsdask.dataframe as md
from marsdask.core.compilation.rules.relations import choices_of
from marsdask.core.config import option_context
from marsdask.core.graph import Graph
from marsdask.core.machine.plan import Plan
from marsdask.dataframe.relations.choice import choose, forbidden
from tests.dataframe.tables import table

GIB = 1 << 30
ONE = Plan(workers=2, budget=8 * GIB, one_process=True)
TWO = Plan(workers=2, budget=8 * GIB, smallest=4 * GIB, slots=1)
MANY = Plan(workers=400, budget=800 * GIB, smallest=4 * GIB, slots=2)


@pytest.fixture(autouse=True)
def _coalesce() -> Iterator[None]:
    """One mode: nothing runs here."""
    with option_context({"dataframe.kernels": "auto"}):
        yield


def estimated(
    nbytes: int, joined: int = 0, rows: int = 10**6, held: int = 0, *, condensed: bool = True
) -> Any:
    return SimpleNamespace(
        read=(rows + held, nbytes),
        largest_join=joined,
        rows_of_files=rows,
        is_condensed=condensed,
    )


@pytest.mark.parametrize(
    ("estimates", "mode", "plan", "engine", "reason"),
    [
        (estimated(GIB), "auto", ONE, True, "1.00 GiB"),
        (estimated(GIB, rows=100), "auto", ONE, False, "fewer than 20,000 rows of files"),
        (estimated(GIB, rows=100), "polars", ONE, True, "100 rows"),
        (estimated(GIB, rows=0, held=10**5), "auto", ONE, False, "rows of files"),
        (estimated(GIB, rows=0, held=10**6), "auto", ONE, True, "1,000,000 rows"),
        (estimated(GIB, rows=0, held=10**6), "auto", TWO, False, "rows of files"),
        (estimated(GIB, rows=0, held=10**6, condensed=False), "auto", ONE, False, "condenses"),
        (estimated(3 * GIB), "auto", ONE, False, "more than 1/3 of 8.00 GiB"),
        (estimated(GIB, joined=5 * GIB), "auto", ONE, False, "a merge makes about 5.00 GiB"),
        (estimated(GIB), "auto", TWO, True, "1 threads"),
        (estimated(2 * GIB), "auto", TWO, False, "more than 1/3 of 4.00 GiB"),
        (estimated(GIB), "auto", MANY, False, "in chunks on 400"),
        (estimated(GIB), "polars", MANY, True, "1.00 GiB"),
        (estimated(GIB // 100), "auto", MANY, True, "in chunks on 400"),
    ],
)
def test_the_choice(estimates: Any, mode: str, plan: Plan, engine: bool, reason: str) -> None:
    """By rows, bytes that are read and made, the smallest memory, and threads of one and of all."""
    found = choose(estimates, mode, plan)
    assert found.polars == engine
    assert reason in str(found)


def test_what_forbids_queries() -> None:
    """The option, chunks that users see, and processes of unknown memory."""
    assert forbidden("auto", ONE) is forbidden("polars", TWO) is None
    assert "kernels" in (forbidden("pandas", ONE) or "")
    assert "chunks" in (forbidden("auto", Plan(one_process=True, coalesce=False)) or "")
    assert "memory" in (forbidden("auto", Plan(workers=2, budget=GIB)) or "")


def test_the_plan_tells_relations_estimates_and_the_reason(tmp_path: Any) -> None:
    """Of each run, whoever runs it; nothing of programs without relations."""
    table(40).to_parquet(tmp_path / "rows.parquet")
    lazy = md.read_parquet(str(tmp_path / "rows.parquet"))
    summed = lazy[lazy.k > 0].groupby("k").f.sum()
    graph = Graph([summed.node])
    lines = choices_of(graph, ONE)
    assert lines[0] == "groupby by pandas: 40 rows, 640 B: fewer than 20,000 rows of files"
    assert lines[1:] == [
        "  GroupAggregate sum, about 5 rows, 80 B",
        "    Selection, about 13 rows, 213 B",
        "      FileScan rows.parquet, about 40 rows, 640 B",
    ]
    with option_context({"dataframe.kernels": "polars"}):
        assert choices_of(graph, ONE)[0] == "groupby by polars: 40 rows, 640 B"
    with option_context({"dataframe.kernels": "pandas"}):
        assert choices_of(graph, ONE) == ["pandas: options.dataframe.kernels is 'pandas'"]
    assert choices_of(Graph([lazy.node]), ONE) == []
    assert "groupby by pandas: 40 rows" in summed.explain()
