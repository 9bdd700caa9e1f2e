"""The tasks of nodes that need no results on the way, as graphs for others have them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..dask.source import DaskKeys
from ..graph import Graph
from ..grids.blockwise import Blockwise, same
from ..grids.grid import Grid, ResultKeys, Rule
from ..grids.logical import as_shown
from ..grids.select import Select
from ..machine.costs import cost_of
from ..machine.plan import Plan
from ..node import Node
from ..results.stored import BlockAt, Stored
from .lowering import Hints, Tasks, lower
from .tiling import Compilation


class _Static(Compilation):
    """A compilation that runs no tasks, so tilings cannot request chunks."""

    blind = True

    def tile_roots(self) -> list[Grid]:
        """Return the grid of each root.

        Raise ``NotImplementedError`` if a tiling depends on data.
        """
        self._begin(self.plan)
        self._tile_all()
        for node in self._paused:
            raise NotImplementedError(
                f"a Dask graph of {node.label}, whose tasks depend on data, is not supported; use "
                "execute() first, or compute() of marsdask"
            )
        return [self._tiled[root] for root in self.graph.roots]


def static_grids(roots: Sequence[Node]) -> list[Grid]:
    """Return the grids of nodes by their static tiling, in their logical chunks."""
    whole = Graph(roots).map(self_contained)
    grids = _Static(whole.roots, plan=Plan(coalesce=False)).tile_roots()
    return [_logical(root, grid) for root, grid in zip(roots, grids, strict=True)]


def check_static(node: Node) -> None:
    """Raise ``NotImplementedError`` if the node has no Dask graph before it has been executed."""
    (grid,) = _Static([node], plan=Plan(coalesce=False)).tile_roots()
    _logical(node, grid)


def is_part(node: Node) -> bool:
    """Tell whether the node only selects parts of results: views of held chunks."""
    try:
        stack = _Static([node], plan=Plan(coalesce=False)).tile_roots()
    except NotImplementedError:
        return False
    has_results = False
    while stack:
        rule = stack.pop().rule
        if isinstance(rule, Select) or (
            isinstance(rule, Blockwise) and (rule.cheap or cost_of(rule.func).view) and rule.sources
        ):
            stack.extend(rule.sources)
        elif isinstance(rule, ResultKeys) or _has_values(rule):
            has_results = True
        else:
            return False
    return has_results


def _has_values(rule: Rule) -> bool:
    """Tell whether a rule gives values that a pickled result has brought, or refers to."""
    if isinstance(rule, Blockwise):
        return isinstance(rule.varying, BlockAt)
    if not isinstance(rule, DaskKeys):
        return False
    futures = rule.graph.futures
    return all(key in futures for key in rule.keys.values())


def self_contained(node: Node) -> Node:
    """Return a result as values in the graph, any other node unchanged."""
    return node.embedded() if isinstance(node, Stored) else node


def _logical(node: Node, grid: Grid) -> Grid:
    grid = as_shown(node, grid)
    if grid.numblocks != tuple(map(len, node.chunks)):
        raise NotImplementedError(
            f"a Dask graph of {node.label}, whose chunks depend on data, is not supported; use "
            "execute() first"
        )
    return grid


def static_tasks(roots: Sequence[Node], names: Sequence[str] | None = None) -> tuple[Tasks, Hints]:
    """Return the tasks for the keys of ``roots``; adopted keys are only referred to.

    ``names`` are the first parts of the keys, by default the nodes' own.
    """
    return tasks_of(static_grids(roots), names or [root.name for root in roots])


def tasks_of(grids: Sequence[Grid], names: Sequence[str]) -> tuple[Tasks, Hints]:
    """Return the tasks of grids, with keys that begin with ``names``."""
    targets = []
    inner = _below(grids)
    for name, grid in zip(names, grids, strict=True):
        renamed_grid = _with_name(grid, name, alias=grid.name in inner)
        inner.add(grid.name)
        targets.extend(renamed_grid.refs())
    tasks, hints, _ = lower(targets, adopt=False)
    return tasks, hints


@dataclass(frozen=True, eq=False)
class NamedGrid(Grid):
    """A grid whose keys have the name of the user's node."""

    known_as: str = ""

    @property
    def name(self) -> str:
        return self.known_as


def _with_name(grid: Grid, name: str, *, alias: bool) -> Grid:
    rule = grid.rule
    if alias or isinstance(rule, ResultKeys | DaskKeys):
        rule = Blockwise(same, (grid,), (tuple(range(grid.ndim)),))
    return NamedGrid(
        rule, grid.chunks, grid.meta, grid.itemsize, grid.node, grid.partitioning, name
    )


def _below(grids: Iterable[Grid]) -> set[str]:
    """Return the names of the grids' ancestors."""
    names: set[str] = set()
    stack = [source for grid in grids for source in grid.rule.inputs]
    while stack:
        grid = stack.pop()
        if grid.name not in names:
            names.add(grid.name)
            stack.extend(grid.rule.inputs)
    return names
