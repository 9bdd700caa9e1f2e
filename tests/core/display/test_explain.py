"""What is told of each level."""

from __future__ import annotations

import sys

import pytest

import marsdask.tensor as mt
from marsdask.core.config import option_context
from marsdask.core.display.explain import dot
from tests.core.recording import recording_session


def expression():
    return (mt.ones((4, 4), chunk_size=2) + 1).sum()


def test_each_level_is_told():
    """Nodes, passes, grids with bytes, tasks."""
    with recording_session(), option_context({"coalesce": False}):
        text = expression().explain()
    for heading in ("Nodes as written", "Nodes after the passes", "Grids of", "Tasks of"):
        assert heading in text
    assert "4x4 in 2x2 chunks" in text
    assert "on recording" in text


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
    with pytest.raises(ValueError, match="nodes, chunks, tasks"):
        dot([expression().node], "grids")


def test_pictures_need_graphviz(monkeypatch):
    """The error says what to install, or what to do without."""
    monkeypatch.setitem(sys.modules, "graphviz", None)
    with pytest.raises(ImportError, match=r"pip install graphviz.*\.dot"):
        expression().visualize("graph.svg")
