"""Passes over the node graph: each is pure, named, and leaves the meaning alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping

from marsdask.scheduler.base import dtype_of

from ..given import Given
from ..graph import Graph
from ..node import Node
from ..sizes import Chunks, Sizes, known, known_chunks, merge_sizes, upper
from .plan import Plan

Pass = Callable[[Graph, Plan], Graph]

#: Blocks are merged up to this many bytes ...
LARGEST_BLOCK = 64 * 2**20
#: ... and a whole array of at most this many is one block.
SMALLEST_BLOCK = 16 * 2**20


def substitute(graph: Graph, results: Mapping[str, Node]) -> Graph:
    """Put what has been computed already in place of the nodes that computed it."""
    if not results:
        return graph
    found: dict[Node, Node] = {}
    stack = list(graph.roots)
    seen: set[Node] = set()
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        stored = results.get(node.name)
        if stored is not None and stored is not node:
            found[node] = stored
        else:
            stack.extend(node.inputs)
    return graph.map(lambda node: found.get(node, node)) if found else graph


def skip_rechunks(graph: Graph, plan: Plan) -> Graph:
    """Drop rechunks that nobody sees, because all they lead to is a reduction."""
    if not plan.coalesce:
        return graph
    seen = set(graph.roots)
    for node in reversed(graph.nodes):
        alone = len(set(node.inputs)) == 1
        passes = node.input_chunks == "pass" and node not in seen
        if not (alone and (passes or node.input_chunks == "vanish")):
            seen.update(node.inputs)
    new: dict[Node, Node] = {}
    for node in graph.nodes:
        rebuilt = node.with_inputs(new) if node.inputs else node
        new[node] = (node not in seen and rebuilt.rechunked) or rebuilt
    return Graph([new[root] for root in graph.roots])


def fuse(graph: Graph, plan: Plan) -> Graph:
    """Let nodes do the work of others that nothing else needs, until nothing changes."""
    while (fused := _fuse_once(graph)).roots != graph.roots:
        graph = fused
    return graph


def _fuse_once(graph: Graph) -> Graph:
    consumers = graph.consumers
    groups = _groups(graph)
    within = {node for taken in groups.values() for node in taken}
    alone_before: dict[Node, bool] = {}

    def alone(node: Node) -> bool:
        return alone_before.get(node, False)

    new: dict[Node, Node] = {}
    for node in graph.nodes:
        if node in within:
            continue
        merged = node.taking(groups[node][::-1]) if node in groups else node
        rebuilt = merged.with_inputs(new) if merged.inputs else merged
        new[node] = rebuilt.absorb(alone)
        alone_before[new[node]] = consumers[node] == 1
    return Graph([new[root] for root in graph.roots])


def _groups(graph: Graph) -> dict[Node, list[Node]]:
    """Return what each node takes in: all ways from there lead through it; consumers first."""
    hosts: dict[Node, Node | None] = {root: root for root in graph.roots}
    groups: dict[Node, list[Node]] = {}
    for node in reversed(graph.nodes):
        host = hosts.get(node)
        if host is not None and host is not node:
            taken = groups.get(host, [])
            if host.takes(node, taken):
                groups.setdefault(host, taken).append(node)
            else:
                host = None
        if host is None:
            host = node
        for child in node.inputs:
            # Another host was met before: two need it.
            hosts[child] = host if hosts.get(child, host) is host else child
    return groups


def coalesce(graph: Graph, plan: Plan) -> Graph:
    """Merge small blocks of the sources into blocks worth a task.

    The grid that users see is untouched: sources below a node whose chunks are :func:`shown` keep
    it, and so do all when a merged grid would make some block too large.
    """
    if not plan.coalesce:
        return graph
    fixed = shown(graph, plan)
    for halving in range(3):
        limit = plan.block_limit(LARGEST_BLOCK >> halving)
        new_sizes = _merged_sizes(graph, plan, limit)
        if not new_sizes:
            return graph
        merged = _merged(graph, new_sizes, fixed)
        if merged is graph or _bounded(graph, merged, 2 * limit):
            return merged
    return graph


def _merged(graph: Graph, new_sizes: Mapping[Sizes, Sizes], fixed: Collection[Node]) -> Graph:
    # `fixed` holds nodes of the old graph; sources have no inputs, so they are met unchanged.
    return graph.map(lambda node: node if node in fixed else node.regrid(new_sizes) or node)


def shown(graph: Graph, plan: Plan) -> set[Node]:
    """Return the nodes that must come in their logical chunks, since somebody sees these.

    They are what lies below nodes that pin the grid, and below results that last and whose number
    of chunks depends on them: of known sizes a result can be cut back later, but not of sizes that
    only running tells.
    """
    found: set[Node] = set()
    if plan.lasting and not all(map(_all_known, graph.roots)):
        found = _counted(graph)
    for node in reversed(graph.nodes):
        if node.pins_grid or node in found:
            found.update(node.inputs)
    return found


def _counted(graph: Graph) -> set[Node]:
    """Return the roots of unknown sizes that come in fewer chunks where every source is whole."""
    known_sizes = {
        sizes
        for node in graph.nodes
        for chunks in _outputs(node)
        for sizes in chunks
        if known(sizes)
    }
    whole = {sizes: (sum(sizes),) for sizes in known_sizes}  # type: ignore[arg-type]

    def change(node: Node) -> Node:
        if isinstance(node, Given):
            chunks = tuple(whole.get(sizes, sizes) for sizes in node.chunks)
            return Given(node.name, node.meta, chunks)
        return node.regrid(whole) or node

    pairs = zip(graph.roots, graph.map(change).roots, strict=True)
    return {root for root, other in pairs if _counts_differ(root, other)}


def _counts_differ(node: Node, other: Node) -> bool:
    """Tell whether two graphs of one form differ in the number of chunks of some unknown sizes."""
    stack = [(node, other)]
    seen: set[Node] = set()
    while stack:
        node, other = stack.pop()
        if node is other or node in seen or _all_known(node):
            continue
        seen.add(node)
        if _counts(node) != _counts(other):
            return True
        stack.extend(zip(node.inputs, other.inputs, strict=True))
    return False


def _outputs(node: Node) -> tuple[Chunks, ...]:
    return node.chunks if isinstance(node.meta, tuple) else (node.chunks,)  # type: ignore[return-value]


def _all_known(node: Node) -> bool:
    return all(map(known_chunks, _outputs(node)))


def _counts(node: Node) -> list[int]:
    return [len(sizes) for chunks in _outputs(node) for sizes in chunks if not known(sizes)]


def _merged_sizes(graph: Graph, plan: Plan, limit: int) -> dict[Sizes, Sizes]:
    """Choose for every way an axis is cut how to cut it instead, no block above ``limit``."""
    nodes = [node for node in graph.nodes if _is_array(node)]
    if not nodes:
        return {}
    largest = max(nodes, key=_nbytes)
    target = max(SMALLEST_BLOCK, _nbytes(largest) // (2 * max(1, plan.workers)))
    target = min(target, limit)
    factors: dict[Sizes, int] = {}
    for sizes in reversed(largest.chunks):
        factors.setdefault(sizes, 1)
    for node in nodes:
        for sizes in node.chunks:
            factors.setdefault(sizes, 1)
    for sizes in factors:
        if len(sizes) > 1:
            factors[sizes] = _largest_factor(sizes, nodes, factors, target)
    return {
        sizes: merge_sizes(sizes, factor)  # type: ignore[arg-type]
        for sizes, factor in factors.items()
        if factor > 1
    }


def _largest_factor(
    sizes: Sizes, nodes: list[Node], factors: Mapping[Sizes, int], target: int
) -> int:
    """Return how many neighbours along the axis may merge while every block stays in bounds."""
    best = len(sizes)
    for node in nodes:
        uses = sum(axis == sizes for axis in node.chunks)
        if uses:
            block = _itemsize(node)
            for axis in node.chunks:
                block *= max(map(_bound, set(axis)), default=0) * factors[axis]
            room = target / block if block else math.inf
            best = min(best, max(1, int(min(room, 2**60) ** (1 / uses))))
    return best


def _is_array(node: Node) -> bool:
    if isinstance(node.meta, tuple) or _width(node) is None:
        return False
    return bool(node.chunks) and known_chunks(node.chunks)


def _itemsize(node: Node) -> int:
    return int(_width(node) or 0)


def _width(node: Node) -> float | None:
    """Return the bytes of an element (of a row, for frames), ``None`` if nobody knows."""
    row: float | None = getattr(node, "itemsize", None)
    return getattr(dtype_of(node.meta), "itemsize", None) if row is None else row


def _nbytes(node: Node) -> int:
    return math.prod(map(_bound, node.shape)) * _itemsize(node)


def _bound(size: object) -> int:
    return upper(size) or 0  # type: ignore[arg-type]


def _bounded(before: Graph, after: Graph, limit: int) -> bool:
    """Tell whether no block is larger than ``limit`` and than every block before.

    Nodes are not compared one by one: two that differed in their cuts only have become one.
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


PIPELINE: tuple[Pass, ...] = (skip_rechunks, coalesce, fuse)

#: Passes of families of operations, which run before the others.
_EARLY: list[Pass] = []


def register_pass(step: Pass) -> None:
    """Add a pass that a family of operations needs; it runs before blocks are merged."""
    if step not in _EARLY:
        _EARLY.append(step)


def verify(before: Graph, after: Graph) -> None:
    """Check that a pass kept every root's shape and dtype."""
    for old, new in zip(before.roots, after.roots, strict=True):
        if isinstance(old.meta, tuple):
            continue
        assert dtype_of(old.meta) == dtype_of(new.meta), (
            f"{old.name} changed its dtype: {old.meta!r} to {new.meta!r}"
        )
        if known(old.shape) and known(new.shape):
            assert old.shape == new.shape, f"{old.name}: {old.shape} became {new.shape}"


def run_passes(graph: Graph, plan: Plan, *, check: bool = False) -> Graph:
    """Run the pipeline, verifying after each pass if asked."""
    for step in (*_EARLY, *PIPELINE):
        new = step(graph, plan)
        if check:
            verify(graph, new)
        graph = new
    return graph
