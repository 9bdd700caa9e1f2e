"""Find runs of frame operations that are relational, and let an engine run each as a whole."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from marsdask.core.config import options
from marsdask.core.graph import Graph
from marsdask.core.machine.plan import Plan
from marsdask.core.node import Node
from marsdask.core.sizes import known, total, upper
from marsdask.core.source_node import SourceNode

from . import aggregates
from .choice import EngineChoice, choose, forbidden, in_chunks, is_little
from .estimates import Estimates, described
from .expression import Parameter
from .inputs import held
from .query import Query, Shared, inputs_of
from .relation import FileScan, Input, Reduce, Relation, Table, walk

#: Relations on top of each other, at most: they are named and pickled by recursion.
DEEPEST = 64


def plan_relations(graph: Graph, plan: Plan) -> Graph:
    """Replace runs of relational nodes by queries, where one task may run each of them."""
    mode = options.dataframe.kernels
    if forbidden(mode, plan) or is_little(_source_rows(graph), mode):
        return graph
    tables = _tables(graph)
    choices = {node: item for node, item in decisions(graph, plan, tables) if item.is_whole}
    runs = {node: tables[node] for node in choices}
    if not runs:
        return graph
    together = shared(runs)
    new: dict[Node, Node] = {}
    by_name = {node.name: node for node in graph.nodes}
    for node in graph.nodes:
        if node in runs:
            below = [by_name[name] for name in inputs_of(runs[node])]
            resources = choices[node].resources
            new[node] = Query.of(node, runs[node], below, new, together.get(node), resources)
        else:
            new[node] = node.with_inputs(new) if node.inputs else node
    return Graph([new[root] for root in graph.roots])


def tell_relations(graph: Graph, plan: Plan) -> list[str]:
    """Describe each run of relations: its estimates, who runs it and why."""
    tables = _tables(graph)
    why = forbidden(options.dataframe.kernels, plan)
    if why is not None:
        return [f"pandas: {why}"] if any(map(_is_work, tables.values())) else []
    lines: list[str] = []
    for node, choice in decisions(graph, plan, tables):
        lines.append(f"{node.label} by {choice}")
        if choice.estimates is not None:
            lines.extend(f"  {line}" for line in described(choice.estimates))
    return lines


def shared(chosen: Mapping[Node, Table]) -> dict[Node, Shared]:
    """Return the reductions of the same rows that one query computes together."""
    groups: dict[Relation, list[Node]] = {}
    for node, table in chosen.items():
        below = table.relation
        # What needs a number that was computed before may need that of another one of these.
        if isinstance(below, Reduce) and inputs_of(table) == inputs_of(Table(below.a, ())):
            groups.setdefault(below.a, []).append(node)
    results: dict[Node, Shared] = {}
    for below, nodes in groups.items():
        group = sorted(nodes, key=lambda node: node.name)
        values = [value for node in group for value in _reduction(chosen[node]).values]
        if len(nodes) > 1 and len(values) == len(nodes):
            whole = aggregates.reduce(Table(below, ()), values)
            likes = tuple(node.meta for node in group)
            if whole is not None:
                results.update({item: Shared(whole, likes, at) for at, item in enumerate(group)})
    return results


def _reduction(table: Table) -> Reduce:
    assert isinstance(table.relation, Reduce)
    return table.relation


def _source_rows(graph: Graph) -> float:
    """Return how many rows the sources of a program have, at most."""
    sizes = [node.chunks[0] for node in graph.nodes if not node.inputs and node.chunks]
    bounds = [upper(total(size)) for size in sizes]
    return math.inf if None in bounds else sum(bounds)  # type: ignore[arg-type]


def _tables(graph: Graph) -> dict[Node, Table]:
    """Return the tables of all nodes that are relational."""
    tables: dict[Node, Table] = {}
    for node in graph.nodes:
        # Engines have columns of one type, which only running tells here.
        inputs = [None if child.incomplete else _argument(child, tables) for child in node.inputs]
        table = None if None in inputs else node.relation(inputs)
        if table is not None and len(walk([table.relation])) <= DEEPEST:
            tables[node] = table
    return tables


def _argument(node: Node, tables: Mapping[Node, Table]) -> Any:
    """Return what a node is for those that need it: a table, a number, or nothing known."""
    if node.is_row or not node.chunks:
        dtype = getattr(node.meta, "dtype", None)
        plain = isinstance(dtype, np.dtype) and dtype.kind in "if" and not node.chunks
        return Parameter(node.name, dtype) if plain else None
    table = tables.get(node)
    return held(node) if table is None and isinstance(node, SourceNode) else table


def decisions(
    graph: Graph, plan: Plan, tables: Mapping[Node, Table]
) -> Iterator[tuple[Node, EngineChoice]]:
    """Yield the last node of each run, where somebody else needs its rows, and who runs it."""
    pins = _pinned(graph)
    outputs = set(graph.roots)
    rejects: set[Node] = set()
    by_name = {node.name: node for node in graph.nodes}
    for node in reversed(graph.nodes):
        if node not in outputs:
            continue
        table = tables.get(node)
        if table is not None and _is_work(table) and _is_result(node, table, plan, graph, pins):
            below = [by_name[name] for name in inputs_of(table)]
            choice = _choice(table, plan, below)
            if node in pins and node.chunks:
                choice = in_chunks(choice, len(node.chunks[0]))
            if choice.is_whole or node not in rejects:
                yield node, choice
            if choice.is_whole:
                outputs.update(below)
                continue
            rejects.add(node)
        outputs.update(node.inputs)
        if node in rejects:
            rejects.update(node.inputs)


def _choice(table: Table, plan: Plan, below: Sequence[Node]) -> EngineChoice:
    rows = {node.name: float(upper(total(node.chunks[0])) or 0) for node in below if node.chunks}
    return choose(table, Estimates(table, rows), options.dataframe.kernels, plan)


def _pinned(graph: Graph) -> dict[Node, bool]:
    """Return the nodes whose chunks somebody sees, and whether only their number is seen."""
    nodes: dict[Node, bool] = {}
    for node in reversed(graph.nodes):
        if node.pins_grid or node in nodes:
            counted = node.counts_chunks if node.pins_grid else nodes[node]
            for below in node.inputs:
                nodes[below] = nodes.get(below, True) and counted
    return nodes


def _is_result(
    node: Node, table: Table, plan: Plan, graph: Graph, pinned: Mapping[Node, bool]
) -> bool:
    """Tell whether a table can stand for a node whose chunks others see."""
    sizes = node.chunks[0] if node.chunks else (1,)
    if not table.is_whole or not (pinned.get(node, True) or known(sizes)):
        return False
    return len(sizes) == 1 or known(sizes) or not (plan.lasting and node in graph.roots)


def _is_work(table: Table) -> bool:
    """Tell whether relations do more than read: pandas reads as well."""
    return not all(isinstance(relation, FileScan | Input) for relation in walk([table.relation]))
