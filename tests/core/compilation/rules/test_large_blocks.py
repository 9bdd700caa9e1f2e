"""Sources are cut where the memory cannot hold several of their blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import marsdask.tensor as mt
from marsdask.core.compilation.rules.large_blocks import cut_large_blocks
from marsdask.core.graph import Graph
from marsdask.core.machine.plan import Plan

MIB = 2**20
PLAN = Plan(workers=2, budget=64 * MIB)


def blocks(graph: Graph, label: str) -> list[Any]:
    """Return the lengths of the largest block of nodes of this label."""
    return [tuple(map(max, node.chunks)) for node in graph.nodes if node.label == label]


def test_blocks_that_fit_stay() -> None:
    """Nothing changes without a budget, or where each worker can hold four blocks."""
    graph = Graph([mt.ones((1000, 1000), chunk_size=1000).node])
    assert cut_large_blocks(graph, Plan()) is graph
    assert cut_large_blocks(graph, PLAN) is graph


def test_large_sources_are_cut() -> None:
    """So that each worker can hold sixteen blocks, in powers of two."""
    graph = Graph([mt.sin(mt.ones((4000, 4000), chunk_size=4000)).node])
    assert blocks(cut_large_blocks(graph, PLAN), "sin") == [(512, 512)]
    finer = Plan(workers=2, budget=64 * MIB, fineness=4)
    assert blocks(cut_large_blocks(graph, finer), "sin") == [(256, 256)]


def test_axes_that_are_needed_whole_stay() -> None:
    """Rows are cut where a transform joins them."""
    rows = mt.ones((4000, 4000), chunk_size=(2000, 1000))
    new = cut_large_blocks(Graph([mt.fft.fft(rows, axis=1).node]), PLAN)
    assert blocks(new, "fft") == [(32, 4000)]
    assert blocks(new, "ones") == [(32, 1000)]


def test_sources_are_not_shredded() -> None:
    """If both axes would be cut for transforms along both, each takes its own way."""
    x = mt.ones((40_000, 30_000), chunk_size=(2000, 1000))
    both = mt.fft.fft(x, axis=0)[:1].sum() + mt.fft.fft(x, axis=1)[:, :1].sum()
    assert min(blocks(cut_large_blocks(Graph([both.node]), PLAN), "ones")[0]) >= 256


def test_what_users_see_is_not_cut() -> None:
    """Their functions are called with the chunks they chose."""
    x = mt.ones((4000, 4000), chunk_size=4000).map_blocks(np.sin, dtype=float)
    graph = Graph([x.node])
    assert cut_large_blocks(graph, PLAN) is graph


@pytest.mark.parametrize("length", [10**12, 10**17])
def test_countless_chunks_are_not_made(length: int) -> None:
    """Such tensors are refused as they are."""
    graph = Graph([mt.ones(length, chunk_size=length // 4).node])
    assert cut_large_blocks(graph, PLAN) is graph
