"""Moves selections of few elements towards the sources, so that the rest is never made."""

from __future__ import annotations

from collections.abc import Container, Iterator

from ...graph import Graph
from ...machine.plan import Plan
from ...node import Node


def push_selections(graph: Graph, plan: Plan) -> Graph:
    """Make parts of arrays of parts of their inputs, where nobody needs the whole arrays."""
    del plan
    new = _moved(graph)
    return _rebuilt(graph, new) if new else graph


def _moved(graph: Graph) -> dict[Node, Node]:
    """Return for each selection that moves the node that takes its place."""
    new = {
        node: target for node in graph.nodes if (target := node.pushed_down()) not in (None, node)
    }
    if not new:
        return new
    whole = _needed_whole(graph, new)
    new = {node: target for node, target in new.items() if node.inputs[0] not in whole}
    # What it leaves to selections below moves on.
    visited = {*graph.nodes}
    pending = [node for target in new.values() for node in _unseen(target, visited)]
    while pending:
        node = pending.pop()
        if not node.inputs or node.inputs[0] in whole:
            continue
        if (target := node.pushed_down()) is not None and target is not node:
            new[node] = target
            pending.extend(_unseen(target, visited))
    return new


def _needed_whole(graph: Graph, selections: Container[Node]) -> set[Node]:
    """Return the nodes that somebody needs who is no selection."""
    whole = set(graph.roots)
    for node in reversed(graph.nodes):
        if node in whole:
            whole.update(node.inputs[1:] if node in selections else node.inputs)
    return whole


def _unseen(root: Node, seen: set[Node]) -> Iterator[Node]:
    """Yield the nodes that a root adds to those seen before, itself first."""
    stack = [root]
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            yield node
            stack.extend(node.inputs)


def _rebuilt(graph: Graph, new: dict[Node, Node]) -> Graph:
    """Return the graph with nodes replaced, and those that replace them, again and again."""
    results: dict[Node, Node] = {}
    stack = list(graph.roots)
    while stack:
        node = stack[-1]
        below = (new[node],) if node in new else node.inputs
        if pending := [child for child in below if child not in results]:
            stack += pending
            continue
        stack.pop()
        if node in new:
            results[node] = results[new[node]]
        elif node not in results:
            is_changed = any(results[child] is not child for child in below)
            results[node] = node.with_inputs(results) if is_changed else node
    return Graph([results[root] for root in graph.roots])
