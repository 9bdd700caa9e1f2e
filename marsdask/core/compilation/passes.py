"""The phases that rewrite a graph of nodes before it is tiled."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from ..graph import Graph
from ..machine.plan import Plan
from .rules.coalescing import coalesce
from .rules.first_chunks import cut_first_chunks
from .rules.large_blocks import cut_large_blocks
from .rules.node_fusion import fuse, join
from .rules.pushdown import project, push_down
from .rules.relations import relate
from .rules.searched_chunks import cut_searched_chunks
from .rules.selections import push_selections
from .rules.simplification import skip_no_ops, skip_rechunks
from .verification import verify_graph, verify_rewriting

Rule: TypeAlias = Callable[[Graph, Plan], Graph]


@dataclass(frozen=True)
class Phase:
    """Rules with one purpose, applied in order: pure functions that keep the meaning."""

    name: str
    rules: tuple[Rule, ...]


#: All phases, in order.
PIPELINE = (
    Phase("simplify", (skip_no_ops, push_selections, skip_rechunks)),
    Phase("project", (project,)),
    Phase("relate", (relate,)),
    Phase("push down", (push_down,)),
    Phase("coalesce", (cut_large_blocks, coalesce, cut_first_chunks, cut_searched_chunks)),
    Phase("fuse", (join, fuse)),
)


def phases_of(
    graph: Graph, plan: Plan, *, check: bool = False, pipeline: tuple[Phase, ...] = PIPELINE
) -> Iterator[tuple[Phase, Graph]]:
    """Yield each phase with its resulting graph; ``verify`` checks it after each rule."""
    if check:
        verify_graph(graph)
    for phase in pipeline:
        for rule in phase.rules:
            new = rule(graph, plan)
            if check:
                verify_rewriting(graph, new, f"{phase.name}: {rule.__name__}")
            graph = new
        yield phase, graph


def run_passes(graph: Graph, plan: Plan, *, check: bool = False) -> Graph:
    """Return the graph after all phases."""
    *_, (_, last) = phases_of(graph, plan, check=check)
    return last
