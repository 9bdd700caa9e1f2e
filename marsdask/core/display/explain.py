"""Explain a plan at each level (nodes, grids and tasks), as text and as a drawing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dask.utils import format_bytes

from marsdask.scheduler.base import Stage

from ..compilation.passes import phases_of
from ..compilation.rules.relations import choices_of, relate
from ..compilation.static_graph import static_grids, static_tasks
from ..graph import Graph
from ..grids.grid import Grid
from ..node import MultiOutput, Node
from ..sizes import Chunks, known_or_nan

if TYPE_CHECKING:
    from ..session import Session

#: At most this many removed nodes, and added nodes, are listed for each phase.
TOLD = 8


def explain(nodes: Sequence[Node], session: Session) -> str:
    """Describe each level of the translation of ``nodes`` for ``session``.

    For each phase that changes the graph it lists the nodes that differ. Stages after the first
    look are not shown.
    """
    compilation = session.compilation(nodes)
    graph = compilation.logical
    phases: list[str] = []
    for phase, after in phases_of(graph, compilation.plan):
        phases += _phase_lines(phase.name, graph, after)
        if relate in phase.rules and (choices := choices_of(graph, compilation.plan)):
            phases += ["Runs of relations, and who runs each", *(f"  {line}" for line in choices)]
        graph = after
    stage = compilation.advance({})
    assert isinstance(stage, Stage)  # no results exist before its first stage
    peak = max((hint.peak or 0 for hint in stage.hints.values()), default=0)
    work = f"{len(stage.graph)} tasks for {len(stage.keys)} results, on {session.scheduler.name}"
    lines = [
        "Nodes as written",
        *_node_lines(compilation.logical),
        *(phases or ["No phase changes them"]),
        "Nodes that are tiled",
        *_node_lines(graph),
        "Grids of the first stage",
        *_grid_lines(compilation.grids.values()),
        "Tasks of the first stage",
        f"  {work}; the largest needs {format_bytes(peak)}",
    ]
    return "\n".join(lines)


def _node_lines(graph: Graph) -> list[str]:
    numbers = {node: position for position, node in enumerate(graph.nodes)}
    return [
        f"  {position}: {type(node).__name__} {node.label}"
        f"({', '.join(str(numbers[child]) for child in node.inputs)})  {_chunks_text(node)}"
        for node, position in numbers.items()
    ]


def _phase_lines(name: str, before: Graph, after: Graph) -> Iterator[str]:
    """Yield the nodes that a phase changed."""
    if before.roots == after.roots:
        return
    old, new = (Counter(map(_summary, graph.nodes)) for graph in (before, after))
    yield f"Phase {name!r}: {len(before)} nodes before, {len(after)} after"
    for sign, names in (("-", list((old - new).elements())), ("+", list((new - old).elements()))):
        yield from (f"  {sign} {line}" for line in names[:TOLD])
        if len(names) > TOLD:
            yield f"  {sign} and {len(names) - TOLD} more"


def _summary(node: Node) -> str:
    return f"{type(node).__name__} {node.label}  {_chunks_text(node)}"


def _chunks_text(node: Node) -> str:
    if isinstance(node, MultiOutput):
        return f"{len(node.meta)} outputs"
    # A frame's chunks are runs of rows: the meta determines the number of columns.
    across = node.meta.shape[len(node.chunks) :] if hasattr(type(node.meta), "shape") else ()
    shape = "x".join(str(known_or_nan(size)) for size in (*node.shape, *across)) or "scalar"
    return f"{shape} in {_counts(node.chunks)} chunks"


def _counts(chunks: Chunks) -> str:
    return "x".join(str(len(sizes)) for sizes in chunks) or "1"


def _grid_lines(grids: Iterable[Grid]) -> list[str]:
    return [
        f"  {grid.rule.label}: {_counts(grid.chunks)} chunks of up to {_largest(grid)}"
        for grid in grids
    ]


def _largest(grid: Grid) -> str:
    nbytes = grid.nbytes((0,) * grid.ndim)
    return "unknown size" if nbytes is None else format_bytes(nbytes)


def dot(nodes: Sequence[Node], level: str) -> str:
    """Return the graph of a level in the language of graphviz."""
    makers = {"nodes": _node_edges, "chunks": _grid_edges, "tasks": _task_edges}
    if level not in makers:
        raise ValueError(f"invalid level: {level!r}; choose from {', '.join(map(repr, makers))}")
    labels, edges = makers[level](nodes)
    places = {name: f"n{position}" for position, name in enumerate(labels)}
    lines = ["digraph {", "  rankdir=BT; node [shape=box];"]
    lines += [f'  {places[name]} [label="{label}"];' for name, label in labels.items()]
    lines += [
        f"  {places[source]} -> {places[target]};"
        for source, target in edges
        if source in places and target in places
    ]
    return "\n".join([*lines, "}"])


_Drawn = tuple[dict[Any, str], list[tuple[Any, Any]]]


def _node_edges(nodes: Sequence[Node]) -> _Drawn:
    graph = Graph(nodes)
    labels = {node.name: f"{node.label}\\n{_chunks_text(node)}" for node in graph.nodes}
    return labels, [(child.name, node.name) for node in graph.nodes for child in node.inputs]


def _grid_edges(nodes: Sequence[Node]) -> _Drawn:
    labels: dict[Any, str] = {}
    edges = []
    stack = static_grids(nodes)
    while stack:
        grid = stack.pop()
        if grid.name not in labels:
            labels[grid.name] = f"{grid.rule.label}\\n{_counts(grid.chunks)} chunks"
            edges += [(source.name, grid.name) for source in grid.rule.inputs]
            stack.extend(grid.rule.inputs)
    return labels, edges


def _task_edges(nodes: Sequence[Node]) -> _Drawn:
    tasks, _ = static_tasks(nodes)
    labels = {key: _task_label(key) for key in tasks}
    edges = [(source, key) for key, task in tasks.items() for source in task.dependencies]
    for source, _ in edges:
        labels.setdefault(source, _task_label(source))
    return labels, edges


def _task_label(key: Any) -> str:
    name, *index = key if isinstance(key, tuple) else (key,)
    short = str(name).rpartition("-")[0] or str(name)
    return f"{short}{tuple(index) if index else ''}".replace('"', "'")


def visualize(nodes: Sequence[Node], filename: str | None = None, *, level: str = "tasks") -> Any:
    """Draw the graph of a level.

    A ``filename`` ending in ``.dot`` gets the text; other formats, and a drawing without a
    filename, need graphviz.
    """
    text = dot(nodes, level)
    if filename is not None and filename.endswith(".dot"):
        Path(filename).write_text(text, encoding="utf-8")
        return filename
    try:
        import graphviz  # optional: only drawings need it
    except ImportError as error:
        raise ImportError(
            "drawing needs graphviz: pip install graphviz, and the program dot of your system; "
            "or name a file ending in .dot to get the text"
        ) from error
    source = graphviz.Source(text)
    if filename is None:
        return source
    stem, _, kind = filename.rpartition(".")
    return source.render(outfile=filename, format=kind or "svg", cleanup=True) if stem else source
