"""The border between nodes that are tiled and those that are not."""

from __future__ import annotations

from marsdask.core.compilation.frontier import Frontier
from marsdask.core.graph import Graph
from tests.core.toys import Numbers, Scaled, Total

SOURCE = Numbers((2, 1))
LEFT, RIGHT = Scaled(SOURCE, 2), Scaled(SOURCE, 3)
ROOT = Total(LEFT)


def test_a_node_is_taken_once_its_inputs_are_tiled():
    """Sources come first, and readers of one node after it, in the graph's order."""
    frontier = Frontier(Graph([ROOT, RIGHT]))
    taken = []
    while (node := frontier.take()) is not None:
        taken.append(node)
        frontier.advance(node)
    assert taken[0] is SOURCE
    assert set(taken) == {SOURCE, LEFT, RIGHT, ROOT}
    assert taken.index(LEFT) < taken.index(ROOT)


def test_what_waits_is_taken_again():
    """A node that was given back comes at its place; nothing else is ready before its input."""
    frontier = Frontier(Graph([ROOT]))
    assert frontier.take() is SOURCE
    assert frontier.take() is None
    frontier.add([SOURCE])
    assert frontier.take() is SOURCE


def test_tiled_nodes_are_needed_until_their_last_reader():
    """And roots for good."""
    frontier = Frontier(Graph([ROOT, RIGHT]))
    for node, needed in (
        (SOURCE, {SOURCE}),
        (LEFT, {SOURCE, LEFT}),
        (RIGHT, {LEFT, RIGHT}),
        (ROOT, {ROOT, RIGHT}),
    ):
        frontier.advance(node)
        assert set(frontier.needed) == needed
