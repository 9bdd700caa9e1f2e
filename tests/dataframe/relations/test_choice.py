"""Who runs a run of relations is decided by sizes, memory and threads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

import marsdask.dataframe as md
from marsdask.core.compilation.rules.relations import choices_of
from marsdask.core.config import option_context
from marsdask.core.graph import Graph
from marsdask.core.machine.plan import Plan
from marsdask.dataframe.relations.choice import choose, forbidden, in_chunks, resources_of
from marsdask.dataframe.relations.query import QueryResources
from marsdask.dataframe.relations.relation import FileScan, Table
from tests.dataframe.tables import table

MIB, GIB = 1 << 20, 1 << 30
ONE = Plan(workers=2, budget=8 * GIB, one_process=True, folders=("there",))
NO_FOLDER = Plan(workers=2, budget=8 * GIB, one_process=True, folders=())
LITTLE = Plan(workers=2, budget=100 * MIB, one_process=True, folders=("there",))
TWO = Plan(workers=2, budget=8 * GIB, smallest=4 * GIB, slots=1)
SCAN = Table(FileScan(("rows.parquet",), (None,), (), (), 1), ())
MANY = Plan(workers=400, budget=800 * GIB, smallest=4 * GIB, slots=2)


@pytest.fixture(autouse=True)
def _coalesce() -> Iterator[None]:
    """One mode: nothing runs here."""
    with option_context({"dataframe.kernels": "auto"}):
        yield


def estimated(
    nbytes: int,
    joined: int = 0,
    rows: int = 10**6,
    held: int = 0,
    *,
    condensed: bool = True,
    result: int = 100,
) -> Any:
    return SimpleNamespace(
        read=(rows + held, nbytes),
        largest_join=joined,
        rows_of_files=rows,
        is_condensed=condensed,
        is_joined=joined > 0,
        held=held * 8,
        result=result,
        width=8,
    )


@pytest.mark.parametrize(
    ("estimates", "mode", "plan", "engine", "reason"),
    [
        (estimated(GIB), "auto", ONE, "polars", "1.00 GiB"),
        (estimated(GIB, rows=100), "auto", ONE, "pandas", "fewer than 20,000 rows of files"),
        (estimated(GIB, rows=100), "polars", ONE, "polars", "100 rows"),
        (estimated(GIB, rows=100), "duckdb", ONE, "duckdb", "100 rows"),
        (estimated(GIB, rows=0, held=10**5), "auto", ONE, "pandas", "rows of files"),
        (estimated(GIB, rows=0, held=10**6), "auto", ONE, "polars", "1,000,000 rows"),
        (estimated(GIB, rows=0, held=10**6), "auto", TWO, "pandas", "rows of files"),
        (estimated(GIB, rows=0, held=10**6, condensed=False), "auto", ONE, "pandas", "condenses"),
        (estimated(3 * GIB), "auto", ONE, "duckdb", "more than 1/3 of 8.00 GiB"),
        (estimated(3 * GIB), "polars", ONE, "pandas", "more than 1/3 of 8.00 GiB"),
        (estimated(3 * GIB, held=10**9), "auto", ONE, "pandas", "frames at hand have 7.45 GiB"),
        (estimated(3 * GIB, condensed=False), "auto", ONE, "pandas", "row by row"),
        (estimated(3 * GIB, condensed=False), "duckdb", ONE, "duckdb", "1/3 of 8.00 GiB"),
        (estimated(3 * GIB, result=9 * GIB), "auto", ONE, "duckdb", "1/3 of 8.00 GiB"),
        (estimated(3 * GIB, result=9 * GIB), "auto", NO_FOLDER, "pandas", "9.00 GiB come out"),
        (estimated(3 * GIB), "auto", LITTLE, "pandas", "duckdb needs 128.00 MiB"),
        (estimated(GIB, joined=5 * GIB), "auto", ONE, "duckdb", "a merge makes about 5.00 GiB"),
        (estimated(GIB), "auto", TWO, "polars", "1 threads"),
        (estimated(2 * GIB), "auto", TWO, "duckdb", "more than 1/3 of 4.00 GiB"),
        (estimated(2 * GIB, result=2 * GIB), "auto", TWO, "pandas", "2.00 GiB come out"),
        (estimated(GIB), "auto", MANY, "pandas", "in chunks on 400"),
        (estimated(GIB), "polars", MANY, "polars", "1.00 GiB"),
        (estimated(GIB // 100), "auto", MANY, "polars", "in chunks on 400"),
    ],
)
def test_the_choice(estimates: Any, mode: str, plan: Plan, engine: str, reason: str) -> None:
    """By rows, bytes that are read and made, the smallest memory, and threads of one and of all."""
    choice = choose(SCAN, estimates, mode, plan)
    assert choice.engine == engine
    assert reason in str(choice)
    assert (choice.resources is not None) == (engine == "duckdb")


@pytest.mark.parametrize(
    ("memory", "threads", "given"),
    [(8 * GIB, 2, 2), (256 * MIB, 2, 2), (255 * MIB, 2, 1), (128 * MIB, 8, 1), (GIB, 4, 4)],
)
def test_what_duckdb_is_given(memory: int, threads: int, given: int) -> None:
    """Half of the memory, and no more threads than it is enough for."""
    plan = Plan(workers=threads, budget=memory, one_process=True, folders=("there",))
    resources = resources_of(estimated(GIB), memory, plan)
    assert resources == QueryResources(memory // 2, given, ("there",))
    assert resources_of(estimated(GIB), memory, replace(plan, spill=MIB)).spill == MIB
    assert resources_of(estimated(GIB), memory, replace(plan, spill=2 * MIB - 1)).spill == MIB


def test_rows_whose_chunks_somebody_sees() -> None:
    """Only duckdb gives as many, from a result that comes in parts."""
    plan = Plan(workers=2, budget=4 * GIB, one_process=True, folders=("there",))
    parts = choose(SCAN, estimated(3 * GIB, result=GIB), "auto", plan)
    assert parts.resources is not None
    assert in_chunks(parts, 7).resources == replace(parts.resources, parts=7, least=1)
    for estimates in (estimated(3 * GIB), estimated(MIB)):
        choice = in_chunks(choose(SCAN, estimates, "auto", plan), 7)
        assert (choice.engine, choice.resources) == ("pandas", None)
        assert "users see the chunks" in choice.reason
    left = choose(SCAN, estimated(3 * GIB, condensed=False), "auto", plan)
    assert in_chunks(left, 7) == left


def test_the_chunks_of_a_result() -> None:
    """As many as blocks, which have as many rows as a block at least; one of little."""
    plan = Plan(workers=2, budget=4 * GIB, one_process=True, folders=("there",))
    resources = resources_of(estimated(GIB, result=GIB), 4 * GIB, plan)
    assert (resources.parts, resources.least) == (16, 64 * MIB // 8)
    assert resources_of(estimated(GIB, result=MIB), 4 * GIB, plan).parts == 1
    assert resources_of(estimated(GIB, result=GIB), 4 * GIB, TWO).parts == 1


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
