"""Specifications of nodes, grids and tasks, one for each level of the translation.

They are checked after each rule, each tiling and each stage if the option ``verify`` is set.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from math import isnan
from typing import Any

from marsdask.scheduler.base import dtype_of

from ..dask.source import DaskKeys
from ..graph import Graph
from ..grids.blockwise import Axes, Blockwise, Via
from ..grids.grid import Grid, ResultKeys
from ..grids.select import Select
from ..node import MultiOutput, Node, Part
from ..sizes import Chunks, Index, Size, known, total


class SpecificationError(AssertionError):
    """A graph, a tiling or a stage violates the specification of its level."""


def demand(fact: object, message: str) -> None:
    """Raise :class:`SpecificationError` unless a condition holds."""
    if not fact:
        raise SpecificationError(message)


def verify_graph(graph: Graph, known: Collection[Node] = (), where: str = "as written") -> None:
    """Check the nodes of a graph that were not ``known`` before."""
    for node in graph.nodes:
        if node not in known:
            _verify_node(node, f"{where}, {node.name}")


def verify_rewriting(before: Graph, after: Graph, rule: str) -> None:
    """Check that a rule keeps what users see of the roots, and that its nodes can be tiled."""
    demand(len(before.roots) == len(after.roots), f"{rule} changed the number of roots")
    for old, new in zip(before.roots, after.roots, strict=True):
        if old is not new:
            _verify_root(old, new, f"{rule}, {old.name}")
    verify_graph(after, set(before.nodes), rule)


def _verify_root(old: Node, new: Node, where: str) -> None:
    if not old.incomplete and not _alike(old.meta, new.meta):
        raise SpecificationError(f"{where}: {_form(old.meta)} became {_form(new.meta)}")
    if not isinstance(old, MultiOutput):
        lengths = zip(old.shape, new.shape, strict=True)
        demand(_equal(lengths), f"{where}: {old.shape} became {new.shape}")


def _verify_node(node: Node, where: str) -> None:
    for item in fields(node):
        demand(
            not _hides_nodes(getattr(node, item.name)),
            f"{where}: its field {item.name} holds nodes that are not among its inputs",
        )
    if isinstance(node, Part):
        count = len(node.source.meta)
        demand(node.position in range(count), f"{where} is part {node.position} of {count}")
    types = type(node).meta.compute(node)  # type: ignore[attr-defined]  # a Fact
    demand(_alike(node.meta, types), f"{where} has other types than those of its inputs make")
    for chunks in _several(node.chunks, node):
        sizes = [size for axis in chunks for size in axis if type(size) is int]
        demand(all(size >= 0 for size in sizes), f"{where} has chunks of a negative size")


def _hides_nodes(value: Any) -> bool:
    """Tell whether nodes are nested deeper than in a tuple, where rewriting ignores them."""
    items: Iterable[Any] = ()
    if type(value) is tuple:
        items = [inner for item in value if isinstance(item, Collection) for inner in _items(item)]
    elif isinstance(value, list | set | frozenset | dict):
        items = _items(value)
    return any(isinstance(item, Node) for item in items)


def _items(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list | tuple | set | frozenset) else ()


def _form(meta: Any) -> Any:
    """Return the visible part of a meta: its types, and the labels of columns."""
    if isinstance(meta, tuple):
        return tuple(map(_form, meta))
    if not hasattr(type(meta), "iloc"):
        return type(meta), dtype_of(meta)
    index = meta.index
    labels = [_label(name) for name in index.names], [level.dtype for level in _levels(index)]
    # Most of the time of tests would go into series if each column were taken.
    names, dtypes = (meta.columns, meta.dtypes) if meta.ndim > 1 else ([meta.name], [meta.dtype])
    return type(meta), list(map(_label, names)), list(dtypes), *labels


def _alike(one: Any, other: Any) -> bool:
    return one is other or _form(one) == _form(other)


def _label(label: Any) -> Any:
    """Return a label for comparisons, in which NaN equals NaN."""
    if isinstance(label, tuple):
        return tuple(map(_label, label))
    return ("NaN", float) if isinstance(label, float) and isnan(label) else label


def _levels(index: Any) -> Sequence[Any]:
    return index.levels if index.nlevels > 1 else [index]


def _equal(pairs: Iterable[tuple[Size, Size]]) -> bool:
    return all(first == second for first, second in pairs if known([first, second]))


def _several(value: Any, node: Node) -> tuple[Any, ...]:
    """Return a node's property for each output."""
    return value if isinstance(node, MultiOutput) else (value,)


def verify_tiling(node: Node, tiled: Any, *, shown: bool) -> None:
    """Check that the grids of a node's chunks match its declaration.

    If its chunks are ``shown``, their sizes are visible to users.
    """
    grids = tiled if isinstance(tiled, tuple) else (tiled,)
    forms = list(zip(_several(node.chunks, node), _several(node.meta, node), strict=True))
    demand(len(grids) == len(forms), f"{node.name} has {len(forms)} outputs, not {len(grids)}")
    for grid, (chunks, meta) in zip(grids, forms, strict=True):
        actual = grid.meta if node.incomplete and grid.meta is not None else meta
        _verify_grid(grid, chunks, actual, f"{node.name} as {grid.rule.label}")
        if shown:
            pairs = zip(chunks, grid.chunks, strict=True)
            as_shown = all(a == b for a, b in pairs if known(a) and known(b))
            demand(as_shown, f"{node.name} is shown in chunks {chunks}, not {grid.chunks}")


def _verify_grid(grid: Grid, chunks: Chunks, meta: Any, where: str) -> None:
    demand(grid.ndim == len(chunks), f"{where} has {grid.ndim} axes, not {len(chunks)}")
    lengths = [(total(a), total(b)) for a, b in zip(chunks, grid.chunks, strict=True)]
    demand(_equal(lengths), f"{where} has other lengths than {chunks}: {grid.chunks}")
    if grid.meta is not None and not _alike(grid.meta, meta):
        raise SpecificationError(f"{where}: {_form(meta)} became {_form(grid.meta)}")
    if isinstance(grid.rule, Blockwise | Select):
        for source, axes, counts in _edges(grid.rule, grid):
            pairs = zip(source.numblocks, axes, strict=True)
            inside = all(_last(axis, counts) < count for count, axis in pairs)
            demand(inside, f"{where} reads chunks that {source.rule.label} does not have")


def _edges(rule: Blockwise | Select, grid: Grid) -> Iterator[tuple[Grid, Axes, Index]]:
    """Yield each source, the axes to it, and the end of its range along each axis of the grid."""
    if isinstance(rule, Blockwise):
        yield from ((*pair, grid.numblocks) for pair in zip(rule.sources, rule.axes, strict=True))
        return
    before, after = grid.numblocks[: rule.axis], grid.numblocks[rule.axis + 1 :]
    stops = (*rule.starts[1:], *grid.numblocks[rule.axis : rule.axis + 1])
    for source, axes, stop in zip(rule.sources, rule.axes, stops, strict=True):
        yield source, axes, (*before, stop, *after)


def _last(axis: int | Via | None, counts: Index) -> int:
    """Return the last position that is read along an axis of a source."""
    if isinstance(axis, Via) and axis.axis is not None:
        return max(axis.positions[: counts[axis.axis]], default=-1)
    if isinstance(axis, Via):
        return axis.positions[0]
    return 0 if axis is None else counts[axis] - 1


class StageSpecification:
    """Checks the batches of one stage in turn: each key in a task is available by then."""

    def __init__(self, held: Iterable[Any], targets: Iterable[Grid]) -> None:
        self._held = {*held, *held_below(targets)}

    def verify(
        self,
        tasks: Mapping[Any, Any],
        hints: Collection[Any],
        grids: Mapping[str, Grid],
        *,
        wanted: Collection[Any],
        kept: Collection[Any] = (),
        dropped: Collection[Any] = (),
    ) -> None:
        """Check the next tasks, and the keys that are wanted, kept and dropped with them."""
        for key, task in tasks.items():
            for source in task.dependencies:
                demand(source in tasks or source in self._held, f"{key} needs {source}: no task")
            grid = grids.get(key[0]) if isinstance(key, tuple) else None
            if grid is not None:
                demand(key in hints, f"{key} has no hint")
                _verify_index(grid, key[1:])
        for key in (*wanted, *kept):
            demand(key in tasks or key in self._held, f"{key} is to be had: no task")
        demand(all(key in self._held for key in dropped), "what is dropped was not kept")
        unneeded = tasks.keys() - _reached(tasks, (*wanted, *kept))
        demand(not unneeded, f"nothing needs {unneeded}")
        self._held.update(wanted, kept)
        self._held.difference_update(dropped)


def _verify_index(grid: Grid, index: Sequence[Any]) -> None:
    places = zip(index, grid.numblocks, strict=True)
    inside = all(type(i) is int and 0 <= i < count for i, count in places)
    demand(inside, f"{grid.name} has no chunk {tuple(index)}, only {grid.numblocks}")


def _reached(tasks: Mapping[Any, Any], keys: Iterable[Any]) -> set[Any]:
    """Return the tasks that some keys need, including their own."""
    keys_below: set[Any] = set()
    stack = list(keys)
    while stack:
        key = stack.pop()
        if key in tasks and key not in keys_below:
            keys_below.add(key)
            stack.extend(tasks[key].dependencies)
    return keys_below


def held_below(grids: Iterable[Grid]) -> set[Any]:
    """Return the held keys below some grids."""
    stack = list(grids)
    visited: set[str] = set()
    keys: set[Any] = set()
    while stack:
        grid = stack.pop()
        if grid.name in visited:
            continue
        visited.add(grid.name)
        stack.extend(grid.rule.inputs)
        if isinstance(grid.rule, ResultKeys):
            keys.update(grid.rule.keys.values())
        elif isinstance(grid.rule, DaskKeys):
            keys.update(grid.rule.graph.futures)
    return keys
