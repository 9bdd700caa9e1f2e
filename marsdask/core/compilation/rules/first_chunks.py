"""Cut the first chunks of sources, where the first elements of a selection suffice."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from ...graph import Graph
from ...machine.plan import Plan
from ...node import Node
from ...sizes import Sizes, numbers, upper
from .coalescing import regridded, shown

#: Larger chunks are cut; planning smaller ones takes as long as running them.
LARGE = 2**26

#: The bytes of the first piece; each of the next is as large as all before it.
FIRST = 2**21


def cut_first_chunks(graph: Graph, plan: Plan) -> Graph:
    """Cut large first chunks into growing pieces if only the first rows of selections are wanted.

    How many elements a filter keeps is known when it has run: ``head()`` looks at one piece after
    the other.
    """
    if not plan.coalesce or not any(node.first_needed is not None for node in graph.nodes):
        return graph
    whole = _read_whole(graph)
    kept = {sizes for node in whole for sizes in node.chunks[:1]}
    new: dict[Sizes, Sizes] = {}
    for node in graph.nodes:
        if not node.inputs and node not in whole and _is_large(node):
            sizes = node.chunks[0]
            if sizes not in kept:
                new[sizes] = tuple(_pieces(node))
    return regridded(graph, new, shown(graph, plan)) if new else graph


def _read_whole(graph: Graph) -> set[Node]:
    """Return the nodes that are not read through a selection of their first elements only."""
    whole = set(graph.roots)
    for node in reversed(graph.nodes):
        if node in whole and node.first_needed is None:
            whole.update(node.inputs)
    return whole


def _row_bytes(node: Node) -> int:
    return int(node.itemsize or 8) * math.prod(upper(size) or 1 for size in node.shape[1:])


def _is_large(node: Node) -> bool:
    if not isinstance(node.meta, np.ndarray) or not node.chunks:
        return False
    return (upper(node.chunks[0][0]) or 0) * _row_bytes(node) > LARGE


def _pieces(node: Node) -> Iterator[int]:
    first, *others = numbers(node.chunks[0])
    size = max(1, FIRST // _row_bytes(node))
    done = 0
    while done < first:
        yield min(size, first - done)
        done += size
        size = done
    yield from others
