"""Find runs of frame operations that are relational, and let an engine run each as a whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from marsdask.core.compilation.plan import Plan
from marsdask.core.config import options
from marsdask.core.graph import Graph
from marsdask.core.node import Node
from marsdask.core.results.source_node import SourceNode
from marsdask.core.sizes import known

from .expression import Parameter
from .inputs import held
from .query import Query, inputs_of, nbytes_of
from .relation import FileScan, Input, Relation, Table, walk

#: Relations on top of each other, at most: they are named and pickled by recursion.
DEEPEST = 64
#: Fewer rows are not worth an engine.
FEWEST_ROWS = 20_000
#: A query may take this share of the memory; larger ones run chunk by chunk.
SHARE = 3


def plan_relations(graph: Graph, plan: Plan) -> Graph:
    """Replace runs of relational nodes by queries, where one process runs all tasks."""
    mode = options.dataframe.kernels
    if mode == "pandas" or not (plan.one_process and plan.coalesce):
        return graph
    tables = _tables(graph)
    chosen = dict(_chosen(graph, plan, tables, least=0 if mode == "polars" else FEWEST_ROWS))
    if not chosen:
        return graph
    new: dict[Node, Node] = {}
    by_name = {node.name: node for node in graph.nodes}
    for node in graph.nodes:
        if node in chosen:
            below = [by_name[name] for name in inputs_of(chosen[node])]
            new[node] = Query.of(node, chosen[node], below, new)
        else:
            new[node] = node.with_inputs(new) if node.inputs else node
    return Graph([new[root] for root in graph.roots])


def _tables(graph: Graph) -> dict[Node, Table]:
    """Return the tables of all nodes that are relational."""
    tables: dict[Node, Table] = {}
    for node in graph.nodes:
        given = [_argument(child, tables) for child in node.inputs]
        found = None if None in given else node.relation(given)
        if found is not None and len(walk([found.relation])) <= DEEPEST:
            tables[node] = found
    return tables


def _argument(node: Node, tables: Mapping[Node, Table]) -> Any:
    """Return what a node is for those that need it: a table, a number, or nothing known."""
    if node.is_row or not node.chunks:
        dtype = getattr(node.meta, "dtype", None)
        plain = isinstance(dtype, np.dtype) and dtype.kind in "if" and not node.chunks
        return Parameter(node.name, dtype) if plain else None
    found = tables.get(node)
    return held(node) if found is None and isinstance(node, SourceNode) else found


def _chosen(
    graph: Graph, plan: Plan, tables: Mapping[Node, Table], *, least: int
) -> Iterator[tuple[Node, Table]]:
    """Yield the nodes to replace: the last of each run, where somebody else needs its rows."""
    pinned = _pinned(graph)
    needed = set(graph.roots)
    for node in reversed(graph.nodes):
        if node not in needed:
            continue
        table = tables.get(node)
        if (
            table is not None
            and _is_result(node, table, plan, graph, pinned)
            and _is_worth(table, plan, least)
        ):
            yield node, table
            names = set(inputs_of(table))
            needed.update(one for one in graph.nodes if one.name in names)
        else:
            needed.update(node.inputs)


def _pinned(graph: Graph) -> set[Node]:
    """Return the nodes whose chunks a function of the user sees."""
    found: set[Node] = set()
    for node in reversed(graph.nodes):
        if node.pins_grid or node in found:
            found.update(node.inputs)
    return found


def _is_result(node: Node, table: Table, plan: Plan, graph: Graph, pinned: set[Node]) -> bool:
    """Tell whether a table can stand for a node whose chunks others see."""
    if not table.is_whole or node in pinned:
        return False
    sizes = node.chunks[0] if node.chunks else (1,)
    return len(sizes) == 1 or known(sizes) or not (plan.lasting and node in graph.roots)


def _is_worth(table: Table, plan: Plan, least: int) -> bool:
    """Tell whether a run is work for an engine, and fits into memory."""
    relations = walk([table.relation])
    if all(isinstance(one, FileScan | Input) for one in relations):
        return False
    rows = sum(_rows(one) for one in relations)
    nbytes = nbytes_of(table)
    return rows >= least and (plan.budget is None or SHARE * nbytes <= plan.budget)


def _rows(relation: Relation) -> int:
    if isinstance(relation, FileScan):
        return relation.rows
    return 0
