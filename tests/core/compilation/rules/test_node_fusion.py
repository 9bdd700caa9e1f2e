"""Nodes that do the work of others: those that read the same are one."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from marsdask.core.compilation.rules.node_fusion import fuse, join
from marsdask.core.graph import Graph
from marsdask.core.machine.plan import Plan
from marsdask.core.node import MultiOutput, Node, Part
from tests.core.toys import Numbers, Scaled, Total


@dataclass(frozen=True, eq=False)
class Power(Scaled):
    """A toy that can be one with others of the same input."""

    @property
    def reads(self) -> Hashable:
        return self.a

    def joined(self, nodes: Sequence[Node]) -> MultiOutput:
        return Powers(self.a, tuple(node.factor for node in nodes))  # type: ignore[attr-defined]


@dataclass(frozen=True, eq=False)
class OtherPower(Power):
    """A toy that reads the same in another way."""


@dataclass(frozen=True, eq=False)
class Powers(MultiOutput):
    """Several powers of one input."""

    a: Node
    factors: tuple[float, ...]

    @property
    def meta(self) -> Any:
        return ([],) * len(self.factors)

    @property
    def chunks(self) -> Any:
        return (self.a.chunks,) * len(self.factors)


def test_nodes_that_read_the_same_become_parts_of_one():
    """In the order in which the graph has them, wherever they are needed."""
    source = Numbers((2, 2))
    first, second, alone = Power(source, 2), Power(source, 3), Power(Numbers((5,)), 3)
    graph = join(Graph([first, Total(second), alone]), Plan())
    one, total, other = graph.roots
    assert isinstance(one, Part)
    assert isinstance(one.source, Powers)
    assert one.source.factors == (2, 3)
    assert total.inputs == (Part(one.source, 1),)
    assert other is alone


def test_only_nodes_of_one_type_are_joined():
    """What another type has in common with it means something else."""
    source = Numbers((2, 2))
    graph = Graph([Power(source, 2), OtherPower(source, 3)])
    assert join(graph, Plan()) is graph


def test_joined_nodes_read_what_was_joined_before():
    """The inputs of a joint node are those of the new graph."""
    source = Numbers((2,))
    low, high = Power(source, 2), Power(source, 3)
    graph = join(Graph([low, high, Power(low, 4), Power(low, 5)]), Plan())
    *_, last = graph.roots
    assert last.inputs[0].inputs == (graph.roots[0],)


@dataclass(frozen=True, eq=False)
class Chain(Scaled):
    """A toy that takes in nodes of its type."""

    def takes(self, node: Node, taken: Sequence[Node]) -> bool:
        return isinstance(node, Chain)

    def taking(self, taken: Sequence[Node]) -> Node:
        factor = self.factor
        for node in taken:
            factor *= node.factor  # type: ignore[attr-defined]
        return Chain(taken[0].inputs[0], factor)


def test_a_chain_becomes_its_last_node():
    """As far as nothing else needs what lies between."""
    source = Numbers((2,))
    middle = Chain(Chain(source, 2), 3)
    (whole,) = fuse(Graph([Chain(middle, 5)]), Plan()).roots
    assert whole is Chain(source, 30)
    last, kept = fuse(Graph([Chain(middle, 5), middle]), Plan()).roots
    assert kept is Chain(source, 6)
    assert last is Chain(kept, 5)
