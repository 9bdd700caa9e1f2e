"""The phases: one table, in order, each rule verified where that is asked for."""

from __future__ import annotations

import pytest

import marsdask.tensor as mt
from marsdask.core.compilation.passes import PIPELINE, Phase, phases_of, run_passes
from marsdask.core.compilation.verification import SpecificationError
from marsdask.core.graph import Graph
from marsdask.core.machine.plan import Plan
from tests.core.toys import Numbers, Scaled, Total


def expression():
    x = mt.ones((300, 200), chunk_size=(7, 11))
    return Graph([mt.sum(mt.add(x, 1), axis=0).node])


def test_phases_run_in_the_order_of_the_table():
    """Each starts with what the one before left, and the last one's graph is the result."""
    names, graphs = zip(*phases_of(expression(), Plan()), strict=True)
    assert [phase.name for phase in names] == [
        "simplify",
        "project",
        "relate",
        "push down",
        "coalesce",
        "fuse",
    ]
    assert graphs[-1].roots == run_passes(expression(), Plan()).roots
    assert len(graphs[-1]) < len(graphs[0])


def test_the_pipeline_keeps_shapes_and_dtypes():
    """Every rule verified on a real expression."""
    graph = run_passes(expression(), Plan(), check=True)
    assert graph.roots[0].shape == (200,)


def doubled(graph, plan):
    del plan
    return Graph([Scaled(root, 2) for root in graph.roots])


def dropped(graph, plan):
    del plan
    return Graph(graph.roots[:-1])


def test_rules_of_a_phase_are_applied_in_turn():
    """A pipeline is data: two rules of one phase see each other's graphs."""
    pipeline = (Phase("twice", (doubled, doubled)),)
    ((_, graph),) = phases_of(Graph([Numbers((2,))]), Plan(), pipeline=pipeline)
    assert [node.label for node in graph.nodes] == ["numbers", "scaled", "scaled"]


def test_a_wrong_rule_is_named():
    """The error says which rule of which phase broke the graph; unasked, nothing is checked."""
    graph, pipeline = Graph([Total(Numbers((2,)))]), (Phase("lose", (doubled, dropped)),)
    with pytest.raises(SpecificationError, match="lose: dropped changed the number of roots"):
        list(phases_of(graph, Plan(), check=True, pipeline=pipeline))
    ((_, left),) = phases_of(graph, Plan(), pipeline=pipeline)
    assert not left.roots


def test_rules_keep_what_is_not_theirs():
    """A graph that no rule has to do with comes out as it went in, of the same nodes."""
    graph = Graph([Total(Numbers((2, 3)))])
    for phase in PIPELINE:
        for rule in phase.rules:
            assert rule(graph, Plan(coalesce=False)).roots == graph.roots
