"""Cut the chunks of sources of which the memory cannot hold several for each worker."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from ...graph import Graph
from ...machine.plan import Plan
from ...machine.sizing import FEWEST_BLOCKS
from ...node import MultiOutput, Node
from ...sizes import Sizes, known_chunks, numbers
from .coalescing import regridded, shown

#: Blocks that are cut become as small as if each worker held this many.
MANY_BLOCKS = 16

#: Sources are not cut into blocks of fewer bytes than the limit divided by this.
SHREDS = 16

#: No more chunks are made along an axis.
MOST_CHUNKS = 2**16

#: How often blocks are cut that follow from those that were cut before.
ROUNDS = 4


def cut_large_blocks(graph: Graph, plan: Plan) -> Graph:
    """Cut the sources where blocks are too large for the memory, their own or those made of them.

    An operation that joins an axis leaves others to be cut. If cutting for all nodes would leave
    shreds of a source, only the sources' own blocks count.
    """
    large, limit = plan.share(FEWEST_BLOCKS), plan.share(MANY_BLOCKS)
    if large is None or limit is None:
        return graph
    arrays = [node for node in graph.nodes if _is_array(node)]
    if all(_bytes(node) <= large for node in arrays):
        return graph
    fixed = shown(graph, plan)
    for all_nodes in (True, False):
        new_graph = _cut(graph, limit, fixed, all_nodes=all_nodes)
        if new_graph is not None:
            return new_graph
    return graph


def _cut(graph: Graph, limit: int, fixed: Collection[Node], *, all_nodes: bool) -> Graph | None:
    """Return the graph over sources in smaller chunks, ``None`` if these are shreds."""
    for _ in range(ROUNDS):
        sources = [node for node in graph.nodes if _is_source(node) and node not in fixed]
        lengths = {sizes: max(numbers(sizes)) for node in sources for sizes in node.chunks}
        whole = dict(lengths)
        nodes = filter(_is_array, graph.nodes) if all_nodes else sources
        for node in sorted(nodes, key=_bytes, reverse=True):
            _shorten(node, lengths, limit)
        new = [sizes for sizes, length in lengths.items() if length < whole[sizes]]
        if not new:
            return graph
        if any(sum(numbers(sizes)) > MOST_CHUNKS * lengths[sizes] for sizes in new):
            return None
        if any(_is_shredded(node, lengths, whole, limit) for node in sources):
            return None
        pieces = {sizes: _pieces(numbers(sizes), lengths[sizes]) for sizes in new}
        graph = regridded(graph, pieces, fixed)
    return graph


def _shorten(node: Node, lengths: dict[Sizes, int], limit: int) -> None:
    """Halve the longest axis that sources have, until a block of a node is within the limit.

    Axes of one chunk come last: some operation may need them whole.
    """
    for axes in _several(node), node.chunks:
        while (block := _block(node, lengths)) > limit:
            longest = max(axes, key=lambda sizes: lengths.get(sizes, 1), default=None)
            if longest is None or lengths.get(longest, 1) == 1:
                break
            # Powers of two align with other operations, and with the tiles of random numbers.
            lengths[longest] = 1 << ((lengths[longest] - 1).bit_length() - 1)
        if block <= limit:
            return


def _several(node: Node) -> list[Sizes]:
    """Return the axes of several chunks."""
    return [sizes for sizes in node.chunks if len(sizes) > 1]


def _is_shredded(
    node: Node, lengths: Mapping[Sizes, int], whole: Mapping[Sizes, int], limit: int
) -> bool:
    """Tell whether blocks of a source are small, even if the axes that are not cut are merged."""
    block = node.itemsize or 0
    before = _bytes(node)
    for sizes in node.chunks:
        length = lengths[sizes]
        block *= length if length < whole[sizes] else sum(numbers(sizes))
    return block * SHREDS < min(before, limit)


def _pieces(sizes: Sequence[int], length: int) -> Sizes:
    """Return the chunks of an axis, those that are longer in pieces."""
    pieces: list[int] = []
    for size in sizes:
        whole, rest = divmod(size, length)
        pieces += [length] * whole + [rest] * bool(rest or not size)
    return tuple(pieces)


def _is_array(node: Node) -> bool:
    if isinstance(node, MultiOutput) or not isinstance(node.meta, np.ndarray):
        return False
    return bool(node.chunks) and known_chunks(node.chunks)


def _is_source(node: Node) -> bool:
    """Tell whether a node chooses its own chunks."""
    return type(node).regrid is not Node.regrid and _is_array(node)


def _bytes(node: Node) -> float:
    """Return the bytes of the largest block."""
    return (node.itemsize or 0) * math.prod(max(numbers(sizes)) for sizes in node.chunks)


def _block(node: Node, lengths: Mapping[Sizes, int]) -> float:
    block = node.itemsize or 0
    for sizes in node.chunks:
        longest = max(numbers(sizes))
        block *= min(longest, lengths.get(sizes, longest))
    return block
