"""Let families of nodes plan runs of theirs as a whole."""

from __future__ import annotations

from ...graph import Graph
from ...machine.plan import Plan
from ...node import Planner


def relate(graph: Graph, plan: Plan) -> Graph:
    """Apply the planner of each family that has one."""
    for planner in _planners(graph):
        graph = planner.rewrite(graph, plan)
    return graph


def choices_of(graph: Graph, plan: Plan) -> list[str]:
    """Describe in lines what :func:`relate` does to a graph, and why."""
    return [line for planner in _planners(graph) for line in planner.tell(graph, plan)]


def _planners(graph: Graph) -> list[Planner]:
    planners = dict.fromkeys(type(node).planner for node in graph.nodes)
    return [planner for planner in planners if planner is not None]
