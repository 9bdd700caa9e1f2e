"""Fuse nodes: reductions of the same operands, and chains of elementwise operations."""

from __future__ import annotations

from collections.abc import Hashable

from ...graph import Graph
from ...machine.plan import Plan
from ...node import Node


def join(graph: Graph, plan: Plan) -> Graph:
    """Fuse nodes that read the same inputs in the same way."""
    del plan
    groups: dict[Hashable, list[Node]] = {}
    for node in graph.nodes:
        if node.reads is not None:
            groups.setdefault((type(node), node.reads), []).append(node)
    places = {
        node: (members, position)
        for members in groups.values()
        if len(members) > 1
        for position, node in enumerate(members)
    }
    if not places:
        return graph
    new: dict[Node, Node] = {}
    for node in graph.nodes:
        rebuilt = node.with_inputs(new) if node.inputs else node
        if node in places:
            members, position = places[node]
            rebuilt = rebuilt.joined(members).parts()[position]
        new[node] = rebuilt
    return Graph([new[root] for root in graph.roots])


def fuse(graph: Graph, plan: Plan) -> Graph:
    """Fuse nodes into the only node that needs them, until the graph does not change."""
    del plan
    while (fused := _fuse_once(graph)).roots != graph.roots:
        graph = fused
    return graph


def _fuse_once(graph: Graph) -> Graph:
    consumers = graph.consumers
    groups = _groups(graph)
    within = {node for group in groups.values() for node in group}
    alone_before: dict[Node, bool] = {}

    def alone(node: Node) -> bool:
        return alone_before.get(node, False)

    new: dict[Node, Node] = {}
    for node in graph.nodes:
        if node in within:
            continue
        fusion = node.taking(groups[node][::-1]) if node in groups else node
        rebuilt = fusion.with_inputs(new) if fusion.inputs else fusion
        new[node] = rebuilt.absorb(alone)
        alone_before[new[node]] = consumers[node] == 1
    return Graph([new[root] for root in graph.roots])


def _groups(graph: Graph) -> dict[Node, list[Node]]:
    """Return the nodes that each node fuses: all their consumers are below it; consumers first."""
    hosts: dict[Node, Node | None] = {root: root for root in graph.roots}
    groups: dict[Node, list[Node]] = {}
    for node in reversed(graph.nodes):
        host = hosts.get(node)
        if host is not None and host is not node:
            group = groups.get(host, [])
            if host.takes(node, group):
                groups.setdefault(host, group).append(node)
            else:
                host = None
        if host is None:
            host = node
        for child in node.inputs:
            # Two hosts need it, so it is not fused.
            hosts[child] = host if hosts.get(child, host) is host else child
    return groups
