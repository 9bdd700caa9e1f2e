"""The harness on workloads of a few kilobytes: its figures, its comparisons, its failures."""

from __future__ import annotations

import math
from pathlib import Path

import psutil
import pytest

from benchmarks import __main__ as command
from benchmarks import report
from benchmarks.harness import MIB, RowOutcome, RunPlan, check_equal, run_row
from benchmarks.rows import Size, Workload, queries, sql, tables
from benchmarks.rows.expressions import EXPRESSIONS
from benchmarks.rows.limits import LIMITS
from benchmarks.rows.tables import ensure
from benchmarks.run_one import MODULES, find_row
from benchmarks.systems import SYSTEMS, System

TRIVIAL = ("tests.benchmarks.trivial_rows",)


@pytest.fixture
def plan(tmp_path: Path) -> RunPlan:
    """Return a plan for the trivial rows."""
    return RunPlan(repeat=2, timeout=60, data=tmp_path, modules=TRIVIAL)


@pytest.mark.parametrize("system", ["np", "dask"])
def test_a_row_reports_runs_result_and_versions(system: str, plan: RunPlan) -> None:
    """A row that works comes back with each run's seconds, its answer and what it ran on."""
    outcome = run_row("column_sums", system, plan)
    assert outcome.reason == ""
    assert len(outcome.seconds) == 2
    assert all(s > 0 for s in outcome.seconds)
    assert len(outcome.digest) == 3
    assert "numpy" in outcome.versions


def test_systems_agree_on_the_data(plan: RunPlan) -> None:
    """The expression for the data gives every system the same numbers."""
    outcomes = [run_row("column_sums", system, plan) for system in ("np", "dask")]
    check_equal(outcomes, find_row("column_sums", TRIVIAL))
    assert [o.reason for o in outcomes] == ["", ""]


def test_peak_counts_what_the_timed_runs_touch(plan: RunPlan) -> None:
    """An allocation that is gone at the end of a run is in the peak."""
    small, big = run_row("column_sums", "np", plan), run_row("big", "np", plan)
    assert big.peak - small.peak > 200 * MIB


def test_a_wrong_answer_loses_its_figures(plan: RunPlan) -> None:
    """A system that differs from the first is shown as wrong and has no time."""
    outcomes = [run_row("differs", system, plan) for system in ("np", "dask")]
    check_equal(outcomes, find_row("differs", TRIVIAL))
    assert outcomes[0].reason == ""
    assert outcomes[1].reason.startswith("wrong: ")
    assert math.isnan(outcomes[1].median)


def test_a_refusal_is_shown_with_its_reason(plan: RunPlan) -> None:
    """An exception in a row is an outcome, not an end of the table."""
    assert run_row("refuses", "np", plan).reason == "NotImplementedError: no such operation"


def test_a_death_is_shown_with_the_last_line(plan: RunPlan) -> None:
    """A child that ends without a word is shown with what it wrote last."""
    assert run_row("dies", "np", plan).reason == "the last line"


def test_a_timeout_leaves_no_process(tmp_path: Path) -> None:
    """A row that hangs is ended at its time limit, with its children."""
    plan = RunPlan(repeat=1, timeout=2, grace=0.1, data=tmp_path, modules=TRIVIAL)
    outcome = run_row("hangs", "np", plan)
    assert outcome.reason == "timeout of 2 s"
    assert not [p for p in psutil.Process().children() if "benchmarks.run_one" in p.cmdline()]


def test_a_missing_interpreter_is_shown(plan: RunPlan) -> None:
    """An interpreter that is not there is a reason like any other."""
    missing = RunPlan(data=plan.data, modules=TRIVIAL, interpreters={"np": "/nonexistent/python"})
    assert "nonexistent" in run_row("column_sums", "np", missing).reason


def test_median_of_odd_and_even() -> None:
    """The median is the middle run, or the mean of the two middle ones."""
    assert RowOutcome("r", "s", [3.0, 1.0, 2.0]).median == 2.0
    assert RowOutcome("r", "s", [4.0, 1.0, 2.0, 3.0]).median == 2.5
    assert math.isnan(RowOutcome("r", "s").median)


def test_the_table_shows_ratios_means_and_failures() -> None:
    """Peers are divided by marsdask, means leave out what did not run."""
    outcomes = [
        RowOutcome("T1", "np", [8.0]),
        RowOutcome("T1", "marsdask", [2.0], peak=3 * MIB),
        RowOutcome("T2", "np", [1.0]),
        RowOutcome("T2", "marsdask", [1.0]),
        RowOutcome("T3", "np", reason="too small"),
        RowOutcome("T3", "marsdask", [1.0]),
    ]
    text = report.document(outcomes, ["np", "marsdask"], RunPlan(), ["--rows", "T"])
    assert "| T1 | 8 | 2 | 4x | 0 | 3 |" in text
    assert "| T3 | fails | 1 | - |" in text
    assert "| geometric mean T |  |  | 2x |" in text
    assert "* T3 on np fails: too small" in text


def test_every_row_has_a_limit_or_a_peer_and_a_unique_name() -> None:
    """Tensors and estimators have limits, queries and frames what polars runs.

    S01 has only pandas, and sparse matrices have SciPy.
    """
    names = [row.name for module in MODULES for row in __import__(module, fromlist=["ROWS"]).ROWS]
    assert len(names) == len(set(names))
    frames = {name for name in names if name.startswith("D")}
    peers = {*sql.texts(), *EXPRESSIONS}
    assert peers == frames | {query.upper() for query in queries.TABLES}
    others = {name for name in names if name.startswith(("S", "P"))}
    assert set(LIMITS) - frames == set(names) - peers - others
    assert set(LIMITS) <= set(names)
    assert {name for names in (frames, peers) for name in names} <= set(tables.TABLES_OF_ROW)


def test_size_keeps_the_number_of_chunks() -> None:
    """Scaling a square scales its chunks alike."""
    size = Size(0.25)
    assert size.side(8000) == 4000
    assert size.side(8000) // size.side(1000) == 8
    assert size.tall(1000) == 250


@pytest.mark.parametrize("table", ["groupby", "left", "right", "kv", "small"])
def test_tables_are_written_once(table: str, tmp_path: Path) -> None:
    """A table that exists is left as it is, and no half-made one stays."""
    ensure(table, tmp_path, 1e-4)
    written = sorted((tmp_path / table).iterdir())
    before = [path.stat().st_mtime_ns for path in written]
    ensure(table, tmp_path, 1e-4)
    assert [path.stat().st_mtime_ns for path in written] == before
    assert [path.name for path in tmp_path.iterdir()] == [table]


def test_numpy_is_the_reference_system(tmp_path: Path) -> None:
    """The data are h(i, j) as documented."""
    x = System(1.0, tmp_path).array((3, 2), (3, 2), seed=1)
    wave = math.sin(12.9898 * 2 + 78.233 + 1) * 43758.5453
    assert x[2, 1] == pytest.approx(wave - math.floor(wave))
    peers = {"limit", "np", "dask", "dask21", "pymars", "polars", "duckdb"}
    assert set(SYSTEMS) == {*peers, "marsdask", "marsdask21"}


def test_an_interrupted_run_reports_the_rows_before(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ctrl-C ends the run without a traceback, and what was measured is printed."""

    def measured(row: Workload, systems: list[str], plan: RunPlan) -> list[RowOutcome]:
        if row.name.startswith("T03"):
            raise KeyboardInterrupt
        return [RowOutcome(row.name, "np", [0.25])]

    monkeypatch.setattr(command, "measure_row", measured)
    assert command.main(["--rows", "T02,T03", "--systems", "np"]) == command.INTERRUPTED
    printed = capsys.readouterr().out
    assert "| T02_elementwise | 0.25 |" in printed
    assert "| T03" not in printed
