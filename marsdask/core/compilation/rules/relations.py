"""Let families of nodes plan runs of theirs as a whole."""

from __future__ import annotations

from ...graph import Graph
from ..plan import Plan


def relate(graph: Graph, plan: Plan) -> Graph:
    """Apply the planner of each family that has one."""
    planners = dict.fromkeys(type(node).planner for node in graph.nodes)
    for planner in planners:
        if planner is not None:
            graph = planner.rewrite(graph, plan)
    return graph
