"""The node of a function call, and how it receives tensors and frames."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Literal

from marsdask.core.dask.source import DaskGraph, FromDask
from marsdask.core.grids.blockwise import blockwise
from marsdask.core.grids.grid import Call, Grid, Rule
from marsdask.core.machine.costs import kernel
from marsdask.core.node import MemoryOrder, Node
from marsdask.core.registry import class_of
from marsdask.core.results.stored import InMemoryBlocks, Resident, Stored
from marsdask.core.sizes import Chunks, Index
from marsdask.core.source_node import SourceNode
from marsdask.scheduler.base import HoldsFutures
from marsdask.scheduler.worker_client import future_of

from .function_call import RemoteCall, RemoteTask, received


class AnyValue:
    """The meta of a value that may be of any type."""

    def __repr__(self) -> str:
        return "AnyValue()"


ANY = AnyValue()


@dataclass(frozen=True, eq=False)
class RemoteFunction(Node):
    """A call of a function; its inputs are the collections among the arguments."""

    label: ClassVar[str] = "spawn"
    settled: ClassVar[bool] = True

    interned: ClassVar[bool] = False
    input_chunks: ClassVar[Literal["matter", "pass", "vanish"]] = "vanish"

    given_name: str
    call: RemoteCall = field(repr=False)
    sources: tuple[Node, ...] = ()
    by_handle: frozenset[int] = frozenset()
    """Positions of the inputs whose chunks stay where they are."""

    @property
    def name(self) -> str:
        return self.given_name

    @property
    def meta(self) -> Any:
        return ANY

    @property
    def chunks(self) -> Chunks:
        return ()

    @property
    def handles(self) -> tuple[Node, ...]:
        return tuple(
            self.sources[position]
            for position in sorted(self.by_handle)
            if not isinstance(self.sources[position], Stored | Resident)
        )

    def tile(self, *inputs: Grid) -> Grid:
        """Define the one task."""
        receivers, arguments = [], []
        for position, (source, grid) in enumerate(zip(self.sources, inputs, strict=True)):
            receive, argument = _receiver(source, grid, handle=position in self.by_handle)
            receivers.append(receive)
            arguments.append(argument)
        task = RemoteTask(self.call, self.name, tuple(receivers))
        return RemoteGrid(RemoteRule(self.name, task, tuple(arguments)), (), ANY)


@dataclass(frozen=True, eq=False)
class RemoteRule(Rule):
    """The one chunk is what the task returns for its arguments."""

    name: str
    task: RemoteTask
    given: tuple[Any, ...]
    """A grid whose chunks are taken, or a constant."""

    @property
    def label(self) -> str:
        return self.task.call.name

    @property
    def token_name(self) -> str:
        return self.name

    def cell(self, index: Index) -> Call:
        del index
        return Call(self.task, tuple(map(_argument, self.given)))


@dataclass(frozen=True, eq=False)
class RemoteGrid(Grid):
    """The grid of one call, whose key has the call's own name."""

    rule: RemoteRule

    @property
    def name(self) -> str:
        return self.rule.name


def _argument(given: Any) -> Any:
    if not isinstance(given, Grid):
        return given
    refs = given.refs()
    return refs if given.chunks else refs[0]


def _receiver(source: Node, grid: Grid, *, handle: bool) -> tuple[Callable[[Any], Any], Any]:
    """Return what a task does with an input, and the task's argument for it."""
    meta = source.meta
    if isinstance(meta, AnyValue):
        return received, grid
    kind = class_of(meta)
    if not handle:
        return AssembledInput(kind, meta, tuple(grid.indices()), source.memory_order), grid
    if isinstance(source, Stored | Resident):
        return opened, HeldCollection(kind, source)
    # A graph of Dask's cannot wait for a handle: the task holds all chunks.
    return HeldBlocks(kind, source.name, meta, source.chunks, grid.chunks), grid


@dataclass(frozen=True)
class AssembledInput:
    """Receives a tensor or a frame as its value: puts the chunks together."""

    kind: Any
    meta: Any
    indices: tuple[Index, ...]
    order: MemoryOrder = None

    def __call__(self, blocks: Any) -> Any:
        several = blocks if self.indices != ((),) else [blocks]
        found = dict(zip(self.indices, several, strict=True))
        how = {} if self.order is None else {"order": self.order}
        return self.kind._assemble(found, self.meta, owned=False, **how)


@dataclass(frozen=True)
class HeldBlocks:
    """Receives a tensor or a frame as a collection over chunks in memory."""

    kind: Any
    name: str
    meta: Any
    chunks: Chunks
    block_chunks: Chunks

    def __call__(self, blocks: Any) -> Any:
        indices = itertools.product(*(range(len(sizes)) for sizes in self.block_chunks))
        several = blocks if self.block_chunks else [blocks]
        held = dict(zip(indices, several, strict=True))
        node = InMemoryBlocks(
            self.name, self.meta, self.chunks, block_chunks=self.block_chunks, blocks=held
        )
        return self.kind(node)


class HeldCollection:
    """A tensor or a frame whose chunks stay where they are held, until the function asks."""

    __slots__ = ("_kind", "_node")

    def __init__(self, kind: Any, node: Stored | Resident) -> None:
        self._kind = kind
        self._node = node

    def open(self) -> Any:
        """Return the collection, in the process that holds the chunks."""
        return self._kind(self._node)

    def __reduce__(self) -> tuple[Any, ...]:
        node = self._node
        if isinstance(node, Stored):
            if not isinstance(node.result.scheduler, HoldsFutures):
                return HeldCollection, (self._kind, node)  # the node embeds its values
            node = node.resident()
        return HeldOnCluster, (self._kind, node)


@dataclass(frozen=True, slots=True)
class HeldOnCluster:
    """Bound results on a worker, whose client refers to the chunks by their keys."""

    kind: Any
    node: Resident

    def open(self) -> Any:
        """Return the collection, whose chunks are Futures of the worker's client."""
        node = self.node
        layout = node.layout
        futures = {key: future_of(key) for key in layout.keys.values()}
        values = {item.name: getattr(node, item.name) for item in fields(SourceNode)}
        graph, keys = DaskGraph(futures), dict(layout.keys)
        return self.kind(FromDask(**values, graph=graph, keys=keys, block_chunks=layout.chunks))


def opened(held: Any) -> Any:
    """Return the collection of a handle."""
    return held.open()


@dataclass(frozen=True, eq=False)
class ResultItem(Node):
    """One of the results of a function that returns several."""

    label: ClassVar[str] = "spawn"

    call: Node
    position: int

    @property
    def meta(self) -> Any:
        return ANY

    @property
    def chunks(self) -> Chunks:
        return ()

    def tile(self, results: Grid) -> Grid:
        """Define the item of the call's one result."""
        how = {"position": self.position}
        return blockwise(item_at, [(results, ())], chunks=(), meta=ANY, kwargs=how, cheap=True)


@kernel(view=True)
def item_at(results: Any, position: int) -> Any:
    """Return one of several results."""
    return results[position]
