"""What was computed takes the place of its expression; cuts that nobody sees are not made."""

from __future__ import annotations

import marsdask.tensor as mt
from marsdask.core.compilation.passes import run_passes
from marsdask.core.compilation.rules.simplification import substitute
from marsdask.core.graph import Graph
from marsdask.core.machine.plan import Plan
from tests.core.toys import Numbers, Scaled, Total


def test_substitute_cuts_the_graph_at_what_is_computed():
    """A computed node replaces its whole ancestry."""
    inner = Scaled(Numbers((2, 2)), 2)
    root = Total(inner)
    stand_in = Numbers((9,))
    assert substitute(Graph([root]), {inner.name: stand_in}).nodes == (stand_in, Total(stand_in))


def kinds(collection):
    """Return the names of the operations that run."""
    return {node.label for node in run_passes(Graph([collection.node]), Plan(workers=2))}


def test_a_rechunk_under_a_reduction_is_not_done():
    """Nobody sees how the numbers of a sum were cut."""
    x = mt.sort(mt.ones((400, 400), chunk_size=100), axis=0).rechunk(30)
    assert "rechunk" not in kinds(mt.sum(x))
    assert "rechunk" not in kinds(mt.sum(mt.sin(x) + 1, axis=0))


def test_a_rechunk_that_matters_is_done():
    """A result keeps its grid, and algorithms get the chunks that were asked for."""
    x = mt.sort(mt.ones((400, 400), chunk_size=100), axis=0).rechunk(30)
    assert "rechunk" in kinds(x)
    assert "rechunk" in kinds(mt.sin(x) + 1)
    assert "rechunk" in kinds(mt.sum(mt.cumsum(x, axis=0)))
