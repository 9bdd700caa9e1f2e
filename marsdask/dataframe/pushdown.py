"""Passes over graphs of frames: read no column that nothing needs, no rows that nothing keeps."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from marsdask.core.compilation.passes import register_pass
from marsdask.core.compilation.plan import Plan
from marsdask.core.graph import Graph
from marsdask.core.node import Node

from .elementwise import Rowwise, column_of
from .filter import Filter
from .frame_node import Columns, FrameNode
from .io.parquet import Condition, ReadParquet

#: Comparisons that statistics of a file can answer, and what they are with sides exchanged.
COMPARISONS: dict[Callable[..., Any], tuple[str, str]] = {
    operator.eq: ("==", "=="),
    operator.lt: ("<", ">"),
    operator.le: ("<=", ">="),
    operator.gt: (">", "<"),
    operator.ge: (">=", "<="),
}


def prune_columns(graph: Graph, plan: Plan) -> Graph:
    """Let sources read only the columns that something needs."""
    del plan
    if not any(hasattr(node, "narrowed") for node in graph.nodes):
        return graph
    wanted: dict[Node, Columns] = dict.fromkeys(graph.roots)
    for node in reversed(graph.nodes):
        for child, columns in zip(node.inputs, _required(node, wanted[node]), strict=True):
            known = wanted.get(child, frozenset())
            wanted[child] = None if known is None or columns is None else known | columns

    def narrow(node: Node) -> Node:
        columns = wanted.get(node)
        if columns is None or not hasattr(node, "narrowed"):
            return node
        narrower: Node = node.narrowed(columns)
        return narrower

    return graph.map(narrow)


def _required(node: Node, wanted: Columns) -> tuple[Columns, ...]:
    if isinstance(node, FrameNode):
        return node.requires(wanted)
    return (None,) * len(node.inputs)


def push_predicates(graph: Graph, plan: Plan) -> Graph:
    """Let files leave out row groups in which a filter keeps nothing.

    Only where nothing but the filter sees the rows.
    """
    del plan
    new: dict[Node, Node] = {}
    for node in graph.nodes:
        if not isinstance(node, Filter) or not isinstance(node.a, ReadParquet):
            continue
        source = node.a
        found = conditions(node.mask, source)
        if found and source not in new and not _seen_elsewhere(graph, source, node):
            less = source.skipping(found)
            if less is not source:
                new[source] = less
    return graph.map(lambda node: new.get(node, node)) if new else graph


def conditions(mask: Node, source: Node) -> list[Condition]:
    """List comparisons of a source's columns with constants, all of which the mask implies."""
    if not isinstance(mask, Rowwise):
        return []
    if mask.func is operator.and_:
        return [one for side in mask.inputs for one in conditions(side, source)]
    if mask.func not in COMPARISONS:
        return []
    straight, exchanged = COMPARISONS[mask.func]
    left, right = mask.args
    if isinstance(left, Node) and not isinstance(right, Node):
        label = _column(left, source)
        return [] if label is None else [(label, straight, right)]
    if isinstance(right, Node) and not isinstance(left, Node):
        label = _column(right, source)
        return [] if label is None else [(label, exchanged, left)]
    return []


def _column(node: Node, source: Node) -> Any:
    if isinstance(node, Rowwise) and node.func is column_of and node.args[0] is source:
        key = dict(node.kwargs)["key"]
        return key if isinstance(key, str) else None
    return None


def _seen_elsewhere(graph: Graph, source: Node, chosen: Filter) -> bool:
    """Tell whether anything but the filter's mask depends on a source's rows."""
    allowed = set(Graph([chosen.mask]).nodes)
    dependent = {source}
    for node in graph.nodes:
        if node is not chosen and any(child in dependent for child in node.inputs):
            dependent.add(node)
    return not dependent <= allowed | {source} or any(root in dependent for root in graph.roots)


register_pass(prune_columns)
register_pass(push_predicates)
