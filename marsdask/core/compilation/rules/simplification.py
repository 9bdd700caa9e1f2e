"""Removes computed nodes, nodes without effect, and redundant rechunks."""

from __future__ import annotations

from collections.abc import Mapping

from ...graph import Graph
from ...machine.plan import Plan
from ...node import Node


def substitute(graph: Graph, results: Mapping[str, Node]) -> Graph:
    """Replace computed nodes by their results."""
    if not results:
        return graph
    replacements: dict[Node, Node] = {}
    stack = list(graph.roots)
    visited: set[Node] = set()
    while stack:
        node = stack.pop()
        if node in visited:
            continue
        visited.add(node)
        result = results.get(node.name)
        if result is not None and result is not node:
            replacements[node] = result
        else:
            stack.extend(node.inputs)
    return graph.map(lambda node: replacements.get(node, node)) if replacements else graph


def skip_no_ops(graph: Graph, plan: Plan) -> Graph:
    """Drop nodes without effect, such as a sort of sorted rows."""
    del plan
    return graph.map(_without_no_ops)


def _without_no_ops(node: Node) -> Node:
    while node.no_op is not None:
        node = node.no_op
    return node


def skip_rechunks(graph: Graph, plan: Plan) -> Graph:
    """Drop rechunks whose chunks only a reduction reads."""
    if not plan.coalesce:
        return graph
    protected = set(graph.roots)
    for node in reversed(graph.nodes):
        alone = len(set(node.inputs)) == 1
        passes = node.input_chunks == "pass" and node not in protected
        if not (alone and (passes or node.input_chunks == "vanish")):
            protected.update(node.inputs)
    new: dict[Node, Node] = {}
    for node in graph.nodes:
        rebuilt = node.with_inputs(new) if node.inputs else node
        new[node] = (node not in protected and rebuilt.rechunked) or rebuilt
    return Graph([new[root] for root in graph.roots])
