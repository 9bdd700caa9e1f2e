"""What is told of each level."""

from __future__ import annotations

import sys

import pandas as pd
import pytest

import marsdask.dataframe as md
import marsdask.tensor as mt
from marsdask.core.config import option_context
from marsdask.core.display.explain import dot
from tests.core.recording import recording_session


def expression():
    return (mt.ones((4, 4), chunk_size=2) + 1).sum()


def test_each_level_is_told():
    """Nodes, phases, grids with bytes, tasks."""
    with recording_session(), option_context({"coalesce": False}):
        text = expression().explain()
    for heading in ("Nodes as written", "Phase 'fuse'", "Nodes that", "Grids of", "Tasks of"):
        assert heading in text
    assert "4x4 in 2x2 chunks" in text
    assert "on recording" in text


def test_each_phase_tells_what_it_changed(tmp_path):
    """The nodes that differ, without the phase and with it; columns are counted."""
    pd.DataFrame({"a": range(9), "b": 1, "c": 2}).to_parquet(tmp_path / "x.parquet")
    frame = md.read_parquet(tmp_path / "x.parquet")
    with recording_session():
        lines = frame[frame.a > 3][["b"]].explain().splitlines()
    start = lines.index("Phase 'project': 5 nodes before, 5 after")
    assert lines[start + 1 : start + 5] == [
        "  - ReadParquet readparquet  9x3 in 1 chunks",
        "  - Filter filter  nanx3 in 1 chunks",
        "  + ReadParquet readparquet  9x2 in 1 chunks",
        "  + Filter filter  nanx2 in 1 chunks",
    ]


def test_phases_that_change_nothing_are_not_told():
    """Nor does one say more than a few lines, however many nodes differ."""
    with recording_session():
        assert "Phase" not in mt.ones(3).explain()
        assert "No phase changes them" in mt.ones(3).explain()
        several = mt.stack([mt.ones((4, i), chunk_size=2).sum() for i in range(5, 25)])
        text = several.explain()
    assert "  - and " in text
    assert len(text.split("Phase 'coalesce'")[1].split("Nodes that")[0].splitlines()) < 40


def test_explaining_runs_nothing():
    """Not even a look."""
    with recording_session() as (_, scheduler):
        expression().explain()
        assert scheduler.tasks == 0


@pytest.mark.parametrize("level", ["nodes", "chunks", "tasks"])
def test_drawings_have_an_edge_for_each_input(level, tmp_path):
    """As text for graphviz, without graphviz."""
    text = dot([expression().node], level)
    assert text.startswith("digraph {")
    assert "->" in text
    path = str(tmp_path / "graph.dot")
    assert expression().visualize(path, level=level) == path
    with open(path, encoding="utf-8") as file:
        assert file.read() == text


def test_an_unknown_level_is_refused():
    """With those that exist."""
    with pytest.raises(ValueError, match="'nodes', 'chunks', 'tasks'"):
        dot([expression().node], "grids")


def test_pictures_need_graphviz(monkeypatch):
    """The error says what to install, or what to do without."""
    monkeypatch.setitem(sys.modules, "graphviz", None)
    with pytest.raises(ImportError, match=r"pip install graphviz.*\.dot"):
        expression().visualize("graph.svg")
