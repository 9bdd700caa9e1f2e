"""The graph of nodes: order, consumers, rewriting."""

from __future__ import annotations

from marsdask.core.graph import Graph
from marsdask.core.node import Node
from tests.core.toys import Numbers, Scaled, Total


def test_inputs_come_before_consumers_and_once():
    """A diamond has each node once, in topological order."""
    a = Numbers((2, 2))
    b = Scaled(a, 2)
    roots = [Total(b), Scaled(b, 3)]
    nodes = Graph(roots).nodes
    assert len(nodes) == len(set(nodes)) == 4
    assert all(nodes.index(child) < nodes.index(node) for node in nodes for child in node.inputs)


def test_a_chain_of_ten_thousand_nodes_needs_no_recursion():
    """Long loops in user code are long chains here."""
    node: Node = Numbers((2,))
    for step in range(10_000):
        node = Scaled(node, step)
    graph = Graph([node])
    assert len(graph) == 10_001
    assert graph.map(lambda item: item) is graph


def test_consumers_count_nodes_and_roots():
    """A root is needed by the user."""
    a = Numbers((2, 2))
    b, c = Scaled(a, 2), Scaled(a, 3)
    assert Graph([b, c, a]).consumers == {a: 3, b: 1, c: 1}


def test_map_rewrites_consumers_of_what_changed():
    """A changed source changes everything above it, and nothing else."""
    a, b = Numbers((2, 2)), Numbers((3, 3))
    roots = [Total(Scaled(a, 2)), Total(b)]
    new = Graph(roots).map(lambda node: Numbers((4,)) if node is a else node)
    assert new.roots == (Total(Scaled(Numbers((4,)), 2)), roots[1])
