"""Find the next nodes to tile, and the tiled ones that are still needed; constant cost a node."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from heapq import heappop, heappush

from ..graph import Graph
from ..node import Node


class Frontier:
    """The border between the nodes of a graph that are tiled and those that are not."""

    def __init__(self, graph: Graph) -> None:
        self._nodes = graph.nodes
        self._places = {node: place for place, node in enumerate(graph.nodes)}
        self._readers: dict[Node, list[Node]] = {}
        self._missing: dict[Node, int] = {}
        """How many inputs of a node are not tiled yet."""
        self._unread = dict(graph.consumers)
        """How many nodes (and roots) that read a node are not tiled yet."""
        self._needed: dict[Node, None] = {}
        self._ready: list[int] = []
        for node in graph.nodes:
            inputs = set(node.inputs)
            self._missing[node] = len(inputs)
            for child in inputs:
                self._readers.setdefault(child, []).append(node)
        self.add(node for node in graph.nodes if not node.inputs)

    @property
    def needed(self) -> Collection[Node]:
        """The tiled nodes that are roots, or inputs of nodes that are not tiled."""
        return self._needed.keys()

    def depends_on_types(self, node: Node) -> bool:
        """Tell whether a node that is not tiled yet depends on the types of an incomplete one."""
        return any(_depends_on_types(reader, node) for reader in self._readers.get(node, ()))

    def add(self, nodes: Iterable[Node]) -> None:
        """Make nodes available (again)."""
        for node in nodes:
            heappush(self._ready, self._places[node])

    def take(self) -> Node | None:
        """Return the first node in the graph's order whose inputs are tiled, if there is one."""
        return self._nodes[heappop(self._ready)] if self._ready else None

    def advance(self, node: Node) -> None:
        """Mark a node as tiled."""
        for child in set(node.inputs):
            self._unread[child] -= 1
            if not self._unread[child]:
                del self._needed[child]
        if self._unread[node]:
            self._needed[node] = None
        for reader in self._readers.pop(node, ()):
            self._missing[reader] -= 1
            if not self._missing[reader]:
                self.add([reader])


def _depends_on_types(reader: Node, node: Node) -> bool:
    if reader.keeps_types:
        return False
    requirements = zip(reader.inputs, reader.requires(None), strict=True)
    return any(child is node and node.incomplete_in(columns) for child, columns in requirements)
