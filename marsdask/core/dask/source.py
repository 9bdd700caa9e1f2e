"""Chunks of a foreign Dask graph."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import dask
import dask.config
from dask.highlevelgraph import HighLevelGraph, MaterializedLayer
from dask.task_spec import DataNode, GraphNode

from marsdask.scheduler.base import Hint, HoldsFutures, Scheduler
from marsdask.scheduler.dask_graph import materialize, to_tasks
from marsdask.scheduler.errors import ResultLost

from ..grids.grid import Grid, Rule
from ..sizes import Chunks, Index
from ..source_node import SourceNode
from .context import active_client


@dataclass(frozen=True)
class KeysOf:
    """The keys of a collection: its name and the chunk's index."""

    name: str

    def __getitem__(self, index: Index) -> Any:
        return (self.name, *index)


Annotations = Mapping[str, Any]


def annotated_layers(source: Any) -> Iterator[Any]:
    """Yield the layers of a graph that a user has annotated."""
    layers = source.layers.values() if isinstance(source, HighLevelGraph) else ()
    return (layer for layer in layers if wishes(layer.annotations))


def wishes(annotations: Annotations | None) -> dict[str, Any]:
    """Return a layer's annotations without those that are made of nodes, which are estimates."""
    return {
        name: value for name, value in (annotations or {}).items() if not name.startswith("mars_")
    }


class DaskGraph:
    """A Dask graph as a source of chunks; expanded when the first of them is needed.

    ``source`` is a mapping, or a collection, which is first optimised by its own rules (these must
    keep its keys). ``annotations`` are those of all its tasks that have none of these names.
    """

    def __init__(self, source: Any, annotations: Annotations | None = None) -> None:
        self.source = source
        self._annotations = dask.get_annotations() if annotations is None else annotations
        self._near: dict[Any, DaskGraph] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return DaskGraph, (self.source, self._annotations)

    @property
    def layers(self) -> Any:
        """The unchanged graph, for graphs of other collections."""
        return self.source if isinstance(self.source, Mapping) else self.source.__dask_graph__()

    @cached_property
    def _optimized(self) -> Any:
        optimize = getattr(self.source, "__dask_optimize__", None)
        if optimize is None:
            return self.layers
        # Dask fuses layers by their annotations, but chains of tasks without regard to them.
        chains = {"optimization.fuse.active": False} if any(annotated_layers(self.layers)) else {}
        with dask.config.set(chains):
            return optimize(self.layers, self.source.__dask_keys__())

    @cached_property
    def _entries(self) -> dict[Any, Any]:
        # Dask's optimisations drop the Futures of persisted collections: they make nothing.
        return _futures_of(self.layers) | materialize(self._optimized)

    @cached_property
    def _annotated(self) -> dict[Any, dict[str, Any]]:
        """The annotations of tasks, by key."""
        annotations: dict[Any, dict[str, Any]] = {}
        has_layers = isinstance(self._optimized, HighLevelGraph)
        for layer in annotated_layers(self._optimized if has_layers else self.layers):
            for name, value in wishes(layer.annotations).items():
                for key in layer:
                    annotations.setdefault(key, {})[name] = value(key) if callable(value) else value
        return annotations

    def hints(self, keys: Iterable[Any]) -> dict[Any, Hint]:
        """Return the annotations of tasks as hints, if they have any."""
        common = Hint(annotations=self._annotations) if self._annotations else None
        hints: dict[Any, Hint] = {}
        for key in keys:
            own = self._annotated.get(key)
            if own:
                hints[key] = Hint(annotations={**self._annotations, **own})
            elif common is not None:
                hints[key] = common
        return hints

    @cached_property
    def _tasks(self) -> dict[Any, GraphNode]:
        return to_tasks(self._entries)

    @cached_property
    def futures(self) -> dict[Any, Any]:
        """The results on a cluster, by key."""
        return {key: entry for key, entry in self._entries.items() if _is_future(key, entry)}

    def needed(self, keys: Iterable[Any]) -> dict[Any, GraphNode]:
        """Return the tasks for ``keys``; results on a cluster need none."""
        tasks: dict[Any, GraphNode] = {}
        stack = list(keys)
        while stack:
            key = stack.pop()
            task = self._tasks.get(key)
            if key not in tasks and task is not None:
                tasks[key] = task
                stack.extend(task.dependencies)
        return tasks

    def within_reach(self, client: Any, home: Any = None) -> DaskGraph:
        """Return the graph with values instead of Futures of clients other than ``client``.

        Futures that were unpickled outside of a cluster have no client; they get ``home``.
        """
        far: dict[Any, list[Any]] = {}
        for future in self.futures.values():
            if future.client is None:
                _bind(future, home)
            if future.client is not client:
                far.setdefault(future.client, []).append(future)
        if not far:
            return self
        entries = dict(self._entries)
        for owner, futures in far.items():
            values = owner.gather(futures)
            entries.update(
                (future.key, DataNode(future.key, value))
                for future, value in zip(futures, values, strict=True)
            )
        annotations = {
            name: {key: own[name] for key, own in self._annotated.items() if name in own}.get
            for name in {name for own in self._annotated.values() for name in own}
        }
        layer_name = f"adopted-{uuid.uuid4().hex}"
        layer = MaterializedLayer(entries, annotations=annotations or None)
        near = HighLevelGraph({layer_name: layer}, {layer_name: set()}) if annotations else entries
        return DaskGraph(near, self._annotations)

    def hold(self, client: Any) -> None:
        """Let a client hold the Futures, if the graph is of nothing else and they have none."""
        if client is None or type(self.source) is not dict:
            return
        pending = []
        for entry in self.source.values():
            if hasattr(entry, "client") and entry.client is None:
                entry.bind_client(client)
                if not entry.done():
                    pending.append(entry.key)
        if pending:  # a client hears only of Futures that it has made, or has asked for
            wish = {"op": "client-desires-keys", "keys": pending, "client": client.id}
            client._send_to_scheduler(wish)

    def near(self, client: Any, home: Any) -> DaskGraph:
        """Return the graph for ``client``, from which ``home`` brings the values of its Futures.

        Only graphs of nothing but Futures change, once for each client. Those of other clients are
        the business of who made them.
        """
        first: Any = next(iter(self.source.values()), None) if type(self.source) is dict else None
        if not hasattr(first, "client") or first.client not in (None, home) or home is client:
            return self
        if client not in self._near:
            self._near[client] = self.within_reach(client, home)
        return self._near[client]


def _futures_of(source: Any) -> dict[Any, Any]:
    """Return the Futures that stand in a graph for their results."""
    layers = source.layers.values() if isinstance(source, HighLevelGraph) else ()
    plain = [layer for layer in layers if isinstance(layer, MaterializedLayer)]
    return {key: entry for layer in plain for key, entry in layer.items() if _is_future(key, entry)}


def _is_future(key: Any, entry: Any) -> bool:
    return hasattr(entry, "client") and getattr(entry, "key", None) == key


def _bind(future: Any, client: Any) -> None:
    if client is None:
        raise ResultLost(future.key, "it is on a cluster: start a session there before it is used")
    future.bind_client(client)


def client_of(scheduler: Scheduler | None) -> Any:
    """Return the client of a scheduler on a cluster, ``None`` of others."""
    return scheduler.client if isinstance(scheduler, HoldsFutures) else None


@dataclass(frozen=True, eq=False)
class DaskKeys(Rule):
    """Each chunk is a key of a Dask graph."""

    name: str
    graph: DaskGraph = field(repr=False)
    keys: Any = field(repr=False)

    @property
    def token_name(self) -> str:
        return self.name


@dataclass(frozen=True, eq=False)
class DaskGrid(Grid):
    """A grid whose chunks have the keys of a Dask graph."""

    rule: DaskKeys

    @property
    def name(self) -> str:
        return f"adopted-{self.rule.name}"

    def key(self, index: Index) -> Any:
        return self.rule.keys[index]


@dataclass(frozen=True, eq=False)
class FromDask(SourceNode):
    """An array or frame computed by a Dask graph; its keys are unchanged."""

    settled: ClassVar[bool] = False

    graph: DaskGraph = field(repr=False)
    keys: Any = field(repr=False)
    """The key of each chunk, by index."""
    block_chunks: Chunks | None = field(default=None, repr=False)
    """How the chunks are cut where that is not what users see."""

    def tile(self, *inputs: Any) -> Grid:
        del inputs
        rule = DaskKeys(self.name, self.graph, self.keys)
        chunks, partitioning = self.block_chunks or self.chunks, self.given_partitioning
        return DaskGrid(rule, chunks, self.meta, partitioning=partitioning)

    def within_reach(self, scheduler: Scheduler) -> FromDask:
        """Return the same node for a scheduler that may not have access to the graph's cluster."""
        client = client_of(scheduler)
        return self._with(self.graph.within_reach(client, client or active_client()))

    def near(self, client: Any, home: Any) -> FromDask:
        """Return the same node for Dask, whose client has no access to results of ``home``."""
        return self._with(self.graph.near(client, home))

    def _with(self, graph: DaskGraph) -> FromDask:
        return self if graph is self.graph else replace(self, graph=graph)
