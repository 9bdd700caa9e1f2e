"""The table of clusters: its lines and its means, of made-up figures."""

from __future__ import annotations

from benchmarks.cluster.__main__ import Line, mean, program_lines, ratio, row_line
from benchmarks.cluster.programs import PROGRAMS
from benchmarks.harness import RowOutcome


def test_a_line_says_how_many_times_slower_stock_is():
    """Clock and processors side by side; who failed has no figures but a reason."""
    ours = RowOutcome("T1", "marsdask21", seconds=[1.0, 2.0, 3.0], cpu=4.0)
    stock = RowOutcome("T1", "dask21", seconds=[8.0], cpu=2.0)
    line = row_line("T1", {"stock": stock, "ours": ours})
    assert line.text() == "| T1 | 8 | 2 | 4x | 2 | 4 | 0.5x |  |"
    failed = row_line("T2", {"stock": RowOutcome("T2", "dask21", reason="no"), "ours": ours})
    assert failed.text() == "| T2 | - | 2 | - | - | 4 | - | stock: no |"
    assert ratio({"stock": 1.0, "ours": 0.0}) == "-"
    assert mean([line, failed], "T").text().startswith("| geometric mean T | 4 | 1 | 4x |")


def test_other_pairs_of_systems():
    """The first system's figures are divided by the second's; what was too short has no ratio."""
    line = Line("T1", {"processes": 3.0, "threads": 2.0}, {"processes": 1.0, "threads": 0.0}, {})
    assert line.text() == "| T1 | 3 | 2 | 1.5x | 1 | 0 | - |  |"
    assert mean([line], "T").text().startswith("| geometric mean T | 1.5 | 1 | 1.5x | - | 1 | - |")


def test_a_program_that_fails_says_why():
    """Whatever a program dies of is its line; it is measured on both systems."""
    (line,) = program_lines("no such program", 60)
    assert "KeyError" in line.notes["stock"]
    assert "KeyError" in line.notes["ours"]
    assert "| no such program | - | - | - |" in line.text()


def test_stock_has_no_row_of_its_own_limits():
    """A million chunks are not asked of stock."""
    assert PROGRAMS["1,000,000 chunks"]("stock") == {}


def test_means_leave_out_what_is_unknown():
    """A line without figures does not spoil the mean."""
    lines = [
        Line("D1", {"stock": 2.0, "ours": 1.0}, {"stock": 8.0, "ours": 1.0}, {}),
        Line("D2", {"stock": float("nan"), "ours": 1.0}, {"stock": 2.0, "ours": 1.0}, {}),
    ]
    assert mean(lines, "D").text().startswith("| geometric mean D | 2 | 1 | 2x | 4 | 1 | 4x |")
