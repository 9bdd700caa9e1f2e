"""Nodes in Dask graphs: one lazy layer, serialized as nodes and expanded at the receiver."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import dask.threaded
from dask.highlevelgraph import HighLevelGraph, Layer, MaterializedLayer
from dask.task_spec import GraphNode

from marsdask.scheduler.base import KEPT, HoldsFutures, Scheduler
from marsdask.scheduler.get import get as dask_get

from ..compilation.lowering import Hints, Tasks
from ..compilation.memory import is_kept
from ..compilation.static_graph import self_contained, static_grids, tasks_of
from ..dask.context import active_client, current_client
from ..dask.source import FromDask, KeysOf, client_of
from ..graph import Graph, Packed, pack, unpack
from ..grids.grid import Grid
from ..node import Node
from ..results.stored import Stored
from ..session import get_default_session
from ..sizes import Index


class DefaultGet:
    """Our ``get``, equal to Dask's threaded one, so that Dask mixes collections in one compute."""

    def __call__(self, dsk: Any, keys: Any, **kwargs: Any) -> Any:
        return dask_get(dsk, keys, **kwargs)

    def __eq__(self, other: object) -> bool:
        return other is dask.threaded.get or isinstance(other, DefaultGet)

    def __hash__(self) -> int:
        return hash(dask.threaded.get)


class MarsLayer(Layer):
    """The tasks of some nodes, expanded at the first access.

    Its keys are ``(node.name, *index)`` over each root's logical grid, and those of intermediate
    chunks. Every task is annotated with its projected bytes (``mars_mem``), and every result of a
    certain size with its bytes (``mars_kept``).
    """

    def __init__(
        self,
        roots: Sequence[Node],
        names: Sequence[str] | None = None,
        annotations: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(annotations=annotations)
        self.roots: tuple[Node, ...] = tuple(roots)
        # Functions without an importable name have new names in every process.
        self.names: tuple[str, ...] = (
            tuple(root.name for root in roots) if names is None else tuple(names)
        )
        self.wishes: dict[str, Any] = {
            name: wish
            for name, wish in (self.annotations or {}).items()
            if not isinstance(wish, MemoryAnnotation | Sizes)
        }
        """The user's annotations."""
        self.annotations = {**self.wishes, "mars_mem": MemoryAnnotation(self), KEPT: Sizes(self)}

    def __repr__(self) -> str:
        state = "expanded" if self.is_materialized() else "lazy"
        return f"<MarsLayer {', '.join(self.names)}, {state}>"

    @cached_property
    def _expanded(self) -> tuple[Tasks, Hints]:
        return tasks_of(self._grids, self.names)

    @cached_property
    def _grids(self) -> list[Grid]:
        return static_grids(self.roots)

    @cached_property
    def kept(self) -> dict[str, Grid]:
        """The grids whose results have a certain size, by the first part of their keys."""
        pairs = zip(self.names, self._grids, strict=True)
        return {name: grid for name, grid in pairs if is_kept(grid)}

    def root(self, name: str) -> Node:
        """Return the node of the keys of ``name``."""
        return self.roots[self.names.index(name)]

    @property
    def hints(self) -> Hints:
        """The projected memory of each task."""
        return self._expanded[1]

    def is_materialized(self) -> bool:
        return "_expanded" in self.__dict__

    def get_output_keys(self) -> set[Any]:
        return {
            (name, *index)
            for root, name in zip(self.roots, self.names, strict=True)
            for index in itertools.product(*(range(len(sizes)) for sizes in root.chunks))
        }

    def __getitem__(self, key: Any) -> GraphNode:
        return self._expanded[0][key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._expanded[0])

    def __len__(self) -> int:
        return len(self._expanded[0])

    def __reduce__(self) -> tuple[Any, ...]:
        # Who reads it may be of another cluster.
        roots = Graph(self.roots).map(self_contained).roots
        return _layer, (pack(roots), self.names, self.wishes)


class MemoryAnnotation:
    """Annotates the key of a task of a layer with its bytes."""

    def __init__(self, layer: MarsLayer) -> None:
        self._layer = layer

    def __call__(self, key: Any) -> int | None:
        hint = self._layer.hints.get(key)
        return None if hint is None else hint.peak


class Sizes:
    """Annotates the key of a result of a layer with its bytes, if they are certain."""

    def __init__(self, layer: MarsLayer) -> None:
        self._layer = layer

    def __call__(self, key: Any) -> int | None:
        name, *index = key if isinstance(key, tuple) else (key,)
        grid = self._layer.kept.get(name)
        return None if grid is None or len(index) != grid.ndim else grid.nbytes(tuple(index))


def _layer(packed: Packed, names: Sequence[str], wishes: dict[str, Any]) -> MarsLayer:
    return MarsLayer(unpack(packed), names, wishes)


def key_of(node: Node, index: Index) -> Any:
    """Return Dask's key of a chunk of ``node``."""
    return node.keys[index] if _speaks_dask(node) else (node.name, *index)  # type: ignore[attr-defined]


def _speaks_dask(node: Node) -> bool:
    return isinstance(node, FromDask) and node.keys == KeysOf(node.name)


def nested_keys(node: Node, prefix: Index = ()) -> list[Any]:
    """Return the keys of a node's chunks in nested lists, one level an axis."""
    counts = [len(sizes) for sizes in node.chunks]
    if len(prefix) >= len(counts) - 1:
        last = range(counts[-1]) if counts else [()]
        return [key_of(node, (*prefix, i) if counts else ()) for i in last]  # type: ignore[arg-type]
    return [nested_keys(node, (*prefix, i)) for i in range(counts[len(prefix)])]


def graph_of(node: Node) -> HighLevelGraph:
    """Return the graph for Dask, without tiling and without running chunks."""
    whole = Graph([node]).map(_as_futures)
    (root,) = whole.roots
    layers: dict[str, Any] = {}
    dependencies: dict[str, set[str]] = {}
    below: set[str] = set()
    for item in whole.nodes:
        if isinstance(item, FromDask):
            below |= _add_layers(item, layers, dependencies)
    if not _speaks_dask(root):
        layers[node.name] = MarsLayer([root], [node.name])
        dependencies[node.name] = below
    return HighLevelGraph(layers, dependencies)


def _add_layers(
    node: FromDask, layers: dict[str, Any], dependencies: dict[str, set[str]]
) -> set[str]:
    """Add the layers of an adopted graph and return those of the node's keys."""
    source = node.graph.layers
    if isinstance(source, HighLevelGraph):
        layers.update(source.layers)
        dependencies.update(source.dependencies)
        return {node.name} if node.name in source.layers else set(source.layers)
    # A node's own name is the name of its own layer.
    name = node.name if _speaks_dask(node) else f"data-{node.name}"
    layers[name] = MaterializedLayer(source)
    dependencies[name] = set()
    return {name}


def _as_futures(node: Node) -> Node:
    """Refer to a result on Dask's current cluster by its Futures.

    Other results become values when the layer expands; existing Futures do so at once.
    """
    client = current_client()
    if isinstance(node, Stored):
        scheduler = node.result.scheduler
        near = isinstance(scheduler, HoldsFutures) and scheduler.client is client
        return (node.as_futures() if near else None) or node
    return node.near(client, client_of(_scheduler())) if isinstance(node, FromDask) else node


def hold_futures(node: Node) -> None:
    """Hold the results on a cluster of an unpickled node, if the cluster is reachable."""
    adopted = [item for item in Graph([node]).nodes if isinstance(item, FromDask)]
    client = (active_client() or client_of(_scheduler())) if adopted else None
    for item in adopted:
        item.graph.hold(client)


def _scheduler() -> Scheduler | None:
    session = get_default_session()
    return None if session is None or session.closed else session.scheduler


class MergeLayers:
    """Merges our layers of one graph, so that shared work is done once.

    This is ``__dask_optimize__``: the rest is optimised when the layer expands. Each collection has
    its own instance. Dask 2026.8 returns the values of collections that share an optimiser out of
    order if others are between them.
    """

    def __call__(self, graph: Any, keys: Any, **_: Any) -> Any:
        del keys
        if not isinstance(graph, HighLevelGraph):
            return graph
        groups: dict[str, list[str]] = {}
        for name, layer in graph.layers.items():
            if isinstance(layer, MarsLayer):
                groups.setdefault(repr(sorted(layer.wishes.items(), key=str)), []).append(name)
        new_names: dict[str, str] = {}
        for names in groups.values():
            if len(names) > 1 and not _feeds_itself(graph, names):
                new_names.update(dict.fromkeys(names, "+".join(names)))
        return _merge_layers(graph, new_names) if new_names else graph


def _merge_layers(graph: HighLevelGraph, names: Mapping[str, str]) -> HighLevelGraph:
    layers: dict[str, Any] = {}
    dependencies: dict[str, set[str]] = {}
    for name, layer in graph.layers.items():
        new = names.get(name, name)
        below = {names.get(source, source) for source in graph.dependencies[name]}
        dependencies.setdefault(new, set()).update(below - {new})
        old = layers.get(new)
        layers[new] = layer if old is None else _join_layers(old, layer)
    return HighLevelGraph(layers, dependencies)


def _join_layers(a: Any, b: Any) -> MarsLayer:
    roots = dict(zip((*a.names, *b.names), (*a.roots, *b.roots), strict=True))
    return MarsLayer(list(roots.values()), list(roots), a.wishes)


def _feeds_itself(graph: HighLevelGraph, names: Sequence[str]) -> bool:
    """Tell whether one of the layers depends on another through foreign layers."""
    stack = [source for name in names for source in graph.dependencies[name]]
    visited = set()
    while stack:
        name = stack.pop()
        if name in names:
            return True
        if name not in visited:
            visited.add(name)
            stack.extend(graph.dependencies[name])
    return False
