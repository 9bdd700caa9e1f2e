"""Cut sources that are only searched: a search reads one chunk after another, and few."""

from __future__ import annotations

from ...graph import Graph
from ...machine.plan import Plan
from ...node import Node
from ...sizes import Sizes, known, numbers
from .coalescing import regridded, shown
from .first_chunks import LARGE

#: The most chunks of what is searched, and the fewest elements of such a chunk.
MOST_CHUNKS = 2**18
FEWEST_ELEMENTS = 2**18


def cut_searched_chunks(graph: Graph, plan: Plan) -> Graph:
    """Cut the large sources of vectors in which nodes search, where nobody reads them whole."""
    if not plan.coalesce or all(node.searched is None for node in graph.nodes):
        return graph
    whole = _read_whole(graph)
    kept = {sizes for node in whole for sizes in node.chunks}
    new: dict[Sizes, Sizes] = {}
    for node in graph.nodes:
        if node.inputs or node in whole or len(node.chunks) != 1:
            continue
        (sizes,) = node.chunks
        if known(sizes) and sizes not in kept and max(numbers(sizes)) * 8 > LARGE:
            new[sizes] = _pieces(numbers(sizes))
    return regridded(graph, new, shown(graph, plan)) if new else graph


def _read_whole(graph: Graph) -> set[Node]:
    """Return the nodes that are read otherwise than by searches."""
    whole = set(graph.roots)
    for node in reversed(graph.nodes):
        if node in whole:
            whole.update(child for child in node.inputs if child is not node.searched)
    return whole


def _pieces(sizes: tuple[int, ...]) -> Sizes:
    step = max(FEWEST_ELEMENTS, sum(sizes) // MOST_CHUNKS)
    pieces: list[int] = []
    for size in sizes:
        pieces += [step] * (size // step) + [size % step] * bool(size % step)
    return tuple(pieces)
