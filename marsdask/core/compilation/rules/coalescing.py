"""Merge chunks that are too small for a task, axis by axis, before tiling."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

from ...graph import Graph
from ...machine.plan import Plan
from ...machine.sizing import LARGEST_BLOCK, SMALLEST_BLOCK
from ...node import MultiOutput, Node
from ...sizes import Chunks, Sizes, known, known_chunks, merge_sizes, upper
from ...source_node import SourceNode


def coalesce(graph: Graph, plan: Plan) -> Graph:
    """Merge small blocks of the sources into blocks worth a task.

    The logical grid is unchanged: sources below a :func:`shown` node keep their chunks. If a merged
    grid has blocks that are too large, all sources keep them.
    """
    if not plan.coalesce:
        return graph
    fixed: Collection[Node] | None = None
    for halving in range(3):
        limit = plan.block_limit(LARGEST_BLOCK >> halving)
        new_sizes = _merged_sizes(graph, plan, limit)
        if not new_sizes:
            return graph
        fixed = shown(graph, plan) if fixed is None else fixed
        new_graph = regridded(graph, new_sizes, fixed)
        if new_graph is graph or _fits(graph, new_graph, 2 * limit):
            return new_graph
    return graph


def regridded(graph: Graph, new_sizes: Mapping[Sizes, Sizes], fixed: Collection[Node]) -> Graph:
    """Return the graph over sources in new chunks; those of ``fixed`` nodes stay."""
    # `fixed` holds nodes of the old graph; sources have no inputs, so they are unchanged.
    return graph.map(lambda node: node if node in fixed else _regridded(node, new_sizes))


def _regridded(node: Node, new_sizes: Mapping[Sizes, Sizes]) -> Node:
    new = node.regrid(new_sizes)
    if new is None:
        return node
    new.take_types_of(node)
    object.__setattr__(new, "origin", node.origin)  # it is the same line of the user's
    return new


def shown(graph: Graph, plan: Plan) -> set[Node]:
    """Return nodes whose logical chunks are visible.

    These are the inputs of grid-pinning nodes, and lasting results of unknown size. Results of
    known sizes can be rechunked later; unknown sizes require the same chunks.
    """
    nodes = _with_pinned(graph, set())
    if plan.lasting and not all(map(_all_known, graph.roots)):
        nodes = _with_pinned(graph, _counted(graph, nodes))
    return nodes


def _with_pinned(graph: Graph, nodes: set[Node]) -> set[Node]:
    """Return nodes, and what nodes that pin the grid and these read."""
    for node in reversed(graph.nodes):
        if node.pins_grid or node in nodes:
            nodes.update(node.inputs)
    return nodes


def _counted(graph: Graph, fixed: set[Node]) -> set[Node]:
    """Return roots of unknown sizes with fewer chunks if all but fixed sources are one chunk."""
    known_sizes = {
        sizes
        for node in graph.nodes
        for chunks in _outputs(node)
        for sizes in chunks
        if known(sizes)
    }
    whole = {sizes: (sum(sizes),) for sizes in known_sizes if len(sizes) > 1}  # type: ignore[arg-type]
    if not whole:
        return set()

    def change(node: Node) -> Node:
        if node in fixed:
            return node
        if isinstance(node, SourceNode):
            chunks = tuple(whole.get(sizes, sizes) for sizes in node.chunks)
            return SourceNode(node.name, node.meta, chunks)
        return node.regrid(whole) or node

    pairs = zip(graph.roots, graph.map(change).roots, strict=True)
    return {root for root, merged_root in pairs if _counts_differ(root, merged_root)}


def _counts_differ(node: Node, other: Node) -> bool:
    """Tell whether two graphs of one structure differ in the number of chunks of unknown size."""
    stack = [(node, other)]
    visited: set[Node] = set()
    while stack:
        node, other = stack.pop()
        if node is other or node in visited or _all_known(node):
            continue
        visited.add(node)
        if _counts(node) != _counts(other):
            return True
        stack.extend(zip(node.inputs, other.inputs, strict=True))
    return False


def _outputs(node: Node) -> tuple[Chunks, ...]:
    return node.chunks if isinstance(node, MultiOutput) else (node.chunks,)


def _all_known(node: Node) -> bool:
    return all(map(known_chunks, _outputs(node)))


def _counts(node: Node) -> list[int]:
    return [len(sizes) for chunks in _outputs(node) for sizes in chunks if not known(sizes)]


def _merged_sizes(graph: Graph, plan: Plan, limit: int) -> dict[Sizes, Sizes]:
    """Choose new chunks for each way to cut an axis, with no block above ``limit``."""
    nodes = [node for node in graph.nodes if _is_array(node)]
    if not nodes:
        return {}
    largest = max(nodes, key=_nbytes)
    target = max(SMALLEST_BLOCK, _nbytes(largest) // (2 * max(1, plan.workers)))
    target = min(target, limit)
    users: dict[Sizes, dict[Node, int]] = {sizes: {} for sizes in reversed(largest.chunks)}
    for node in nodes:
        for sizes in node.chunks:
            uses = users.setdefault(sizes, {})
            uses[node] = uses.get(node, 0) + 1
    factors = dict.fromkeys(users, 1)
    for sizes, uses in users.items():
        if len(sizes) > 1:
            factors[sizes] = _largest_factor(sizes, uses, factors, target)
    return {
        sizes: merge_sizes(sizes, factor)  # type: ignore[arg-type]
        for sizes, factor in factors.items()
        if factor > 1
    }


def _largest_factor(
    sizes: Sizes, users: Mapping[Node, int], factors: Mapping[Sizes, int], target: int
) -> int:
    """Return how many neighbours may merge while every block stays within its limit.

    ``users`` are the nodes with such axes, and the number of these axes.
    """
    best = len(sizes)
    for node, uses in users.items():
        block = _itemsize(node)
        for axis in node.chunks:
            block *= max(map(_bound, set(axis)), default=0) * factors[axis]
        room = target / block if block else math.inf
        best = min(best, max(1, int(min(room, 2**60) ** (1 / uses))))
    return best


def _is_array(node: Node) -> bool:
    if isinstance(node, MultiOutput) or node.itemsize is None:
        return False
    return bool(node.chunks) and known_chunks(node.chunks)


def _itemsize(node: Node) -> int:
    return int(node.itemsize or 0)


def _nbytes(node: Node) -> int:
    return math.prod(map(_bound, node.shape)) * _itemsize(node)


def _bound(size: object) -> int:
    return upper(size) or 0  # type: ignore[arg-type]


def _fits(before: Graph, after: Graph, limit: int) -> bool:
    """Tell whether no block is larger than ``limit`` and every earlier block.

    Nodes are not compared one by one: nodes that differed only in chunks are now one.
    """
    room = max(limit, *map(_block, before.nodes))
    return all(_block(node) <= room for node in after.nodes)


def _block(node: Node) -> int:
    if not _is_array(node):
        return 0
    block = _itemsize(node)
    for axis in node.chunks:
        block *= max(map(_bound, set(axis)), default=0)
    return block
