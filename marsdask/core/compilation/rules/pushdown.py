"""Project columns and push filters down to the sources."""

from __future__ import annotations

from ...graph import Graph
from ...machine.plan import Plan
from ...node import UNUSED, Columns, Node, Predicate


def project(graph: Graph, plan: Plan) -> Graph:
    """Let sources read only the needed columns."""
    del plan
    columns_of: dict[Node, Columns] = dict.fromkeys(graph.roots)
    for node in reversed(graph.nodes):
        if node not in columns_of:
            continue
        for child, columns in zip(node.inputs, node.requires(columns_of[node]), strict=True):
            if columns is UNUSED:
                continue
            earlier = columns_of.get(child, frozenset())
            columns_of[child] = None if earlier is None or columns is None else earlier | columns
    new: dict[Node, Node] = {}
    for node in graph.nodes:
        if node in columns_of:
            columns = columns_of[node]
            new[node] = (node if columns is None else node.narrowed(columns)).with_inputs(new)
    if all(new[node] is node for node in new):
        return graph
    return Graph([new[root] for root in graph.roots])


def push_down(graph: Graph, plan: Plan) -> Graph:
    """Let sources skip rows that a filter drops, if only the filter reads these rows."""
    del plan
    new: dict[Node, Node] = {}
    for node in graph.nodes:
        predicate = node.predicate
        if predicate is None or predicate.source in new:
            continue
        source = predicate.source
        fewer = source.skipping(predicate.conditions)
        if fewer is not source and not _seen_elsewhere(graph, node, predicate):
            new[source] = fewer
    return graph.map(lambda node: new.get(node, node)) if new else graph


def _seen_elsewhere(graph: Graph, chosen: Node, predicate: Predicate) -> bool:
    """Tell whether nodes other than a filter and its mask depend on the source's rows."""
    source, mask, _ = predicate
    allowed = {source, *Graph([mask]).nodes}
    dependent = {source}
    for node in graph.nodes:
        if node is not chosen and any(child in dependent for child in node.inputs):
            dependent.add(node)
    return not dependent <= allowed or any(root in dependent for root in graph.roots)
