"""One graph type: nodes reached from roots, inputs before consumers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from .node import Node


class Graph:
    """The nodes that ``roots`` need, in topological order."""

    def __init__(self, roots: Sequence[Node]) -> None:
        self.roots: tuple[Node, ...] = tuple(roots)

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """Every node once, inputs first, in the order of the roots."""
        order: list[Node] = []
        visited: set[Node] = set()
        stack = [(root, False) for root in reversed(self.roots)]
        while stack:
            node, expanded = stack.pop()
            if node in visited:
                continue
            if expanded:
                visited.add(node)
                order.append(node)
                continue
            stack.append((node, True))
            stack.extend((child, False) for child in reversed(node.inputs) if child not in visited)
        return tuple(order)

    @cached_property
    def consumers(self) -> dict[Node, int]:
        """The number of nodes (and roots) that need each node."""
        counts = dict.fromkeys(self.nodes, 0)
        for node in self.nodes:
            for child in set(node.inputs):
                counts[child] += 1
        for root in set(self.roots):
            counts[root] += 1
        return counts

    def __iter__(self) -> Iterator[Node]:
        return iter(self.nodes)

    def __len__(self) -> int:
        return len(self.nodes)

    def map(self, change: Callable[[Node], Node]) -> Graph:
        """Return the graph with ``change(node)`` in place of each node, inputs changed first.

        Return itself if no node changes.
        """
        new: dict[Node, Node] = {}
        for node in self.nodes:
            is_changed = any(new[child] is not child for child in node.inputs)
            new[node] = change(node.with_inputs(new) if is_changed else node)
        if all(new[node] is node for node in self.nodes):
            return self
        return Graph([new[root] for root in self.roots])


@dataclass(frozen=True)
class _At:
    """An input in a packed list of nodes."""

    position: int


#: Nodes in order, each with the data to rebuild it, and the positions of the roots.
Packed = tuple[list[Any], list[int]]


def pack(roots: Sequence[Node]) -> Packed:
    """Return nodes as a flat list, inputs first: pickling must not recurse along an expression."""
    places: dict[Node, _At] = {}
    records = []
    for node in Graph(roots).nodes:
        rebuild, (kind, values) = node.__reduce__()
        records.append((rebuild, kind, tuple(_substituted(value, places) for value in values)))
        places[node] = _At(len(places))
    return records, [places[root].position for root in roots]


def unpack(packed: Packed) -> list[Node]:
    """Return the roots of a packed list."""
    entries, positions = packed
    places: dict[_At, Node] = {}
    for position, (rebuild, kind, values) in enumerate(entries):
        places[_At(position)] = rebuild(kind, tuple(_substituted(v, places) for v in values))
    return [places[_At(position)] for position in positions]


def _substituted(value: Any, places: Mapping[Any, Any]) -> Any:
    """Replace nodes by positions, or positions by nodes, in a field with one or several."""
    if isinstance(value, Node | _At):
        return places.get(value, value)
    if type(value) is tuple and any(isinstance(item, Node | _At) for item in value):
        return tuple(_substituted(item, places) for item in value)
    return value
