"""Nodes of data: computed and held by a scheduler, or embedded in the graph."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from marsdask.scheduler.base import HoldsFutures, dtypes_of

from ..dask.source import DaskGraph, FromDask
from ..grids.blockwise import Blockwise, same
from ..grids.grid import Grid, HeldGrid, ResultKeys
from ..node import Node
from ..sizes import Chunks, Index, known
from ..source_node import SourceNode
from ..traits import Traits
from .layout import Layout

if TYPE_CHECKING:
    from marsdask.scheduler.base import Scheduler


class Result:
    """The lease of one computed root: dropping the last reference frees its chunks."""

    __slots__ = ("__weakref__", "layout", "scheduler")

    def __init__(self, scheduler: Scheduler, layout: Layout) -> None:
        self.scheduler: Scheduler = scheduler
        self.layout: Layout = layout
        weakref.finalize(self, scheduler.release, tuple(layout.keys.values())).atexit = False


@dataclass(frozen=True, eq=False)
class Resident(SourceNode):
    """The scheduler's form of a computed node, for the scheduler that holds its chunks."""

    layout: Layout = field(repr=False)

    def tile(self, *inputs: Any) -> Grid:
        del inputs
        rule = ResultKeys(self.name, self.layout.keys, self.layout.nbytes)
        return HeldGrid(rule, self.layout.chunks, self.meta, partitioning=self.given_partitioning)


@dataclass(frozen=True, eq=False)
class Stored(SourceNode):
    """A computed node whose chunks a session keeps."""

    result: Result = field(repr=False)

    def tile(self, *inputs: Any) -> Grid:
        return self.resident().tile(*inputs)

    def resident(self) -> Resident:
        """Return the node for the scheduler that holds its chunks."""
        return Resident(**self._shown(), layout=self.result.layout)

    def embedded(self) -> InMemoryBlocks:
        """Return a node that contains the values, usable in any session."""
        layout = self.result.layout
        values = self.result.scheduler.gather(list(layout.keys.values()))
        blocks = dict(zip(layout.keys, map(_readonly, values), strict=True))
        return InMemoryBlocks(**self._shown(), block_chunks=layout.chunks, blocks=blocks)

    def as_futures(self) -> FromDask | None:
        """Return a node that refers to the chunks on their cluster, ``None`` without one."""
        scheduler = self.result.scheduler
        if not isinstance(scheduler, HoldsFutures):
            return None
        layout = self.result.layout
        keys = dict(layout.keys)
        graph = dict(zip(keys.values(), scheduler.futures(list(keys.values())), strict=True))
        fields = self._shown()
        return FromDask(**fields, graph=DaskGraph(graph), keys=keys, block_chunks=layout.chunks)

    def _shown(self) -> dict[str, Any]:
        return {item.name: getattr(self, item.name) for item in fields(SourceNode)}

    def __reduce__(self) -> tuple[Any, ...]:
        return (self.as_futures() or self.embedded()).__reduce__()


def _readonly(value: Any) -> Any:
    """Return an array as a read-only view, anything else unchanged."""
    if not hasattr(value, "setflags"):
        return value
    view = value.view()
    view.setflags(write=False)
    return view


def store(node: Node, result: Result) -> Stored:
    """Return the computed form of ``node``."""
    chunks = tuple(
        sizes if known(sizes) else actual
        for sizes, actual in zip(node.chunks, result.layout.chunks, strict=True)
    )
    meta = result.layout.meta
    result_node = Stored(
        node.name,
        meta,
        chunks,
        result,
        given_traits=node.traits if _has_types_of(meta, node.meta) else Traits(node.alignment),
        given_is_row=node.is_row,
        given_order=node.memory_order,
        given_level_gaps=node.level_gaps,
        given_level_orders=node.level_orders,
        given_partitioning=result.layout.partitioning,
    )
    object.__setattr__(result_node, "origin", node.origin)
    return result_node


def _has_types_of(found: Any, declared: Any) -> bool:
    """Tell whether rows and their labels have the types that were declared.

    Where they do not, chunks may have been cast, and numbers that differed be equal now.
    """
    labels = [getattr(meta, "index", None) for meta in (found, declared)]
    return dtypes_of(found) == dtypes_of(declared) and dtypes_of(labels[0]) == dtypes_of(labels[1])


@dataclass(frozen=True)
class BlockAt:
    """Returns the embedded block of a chunk."""

    name: str
    blocks: Mapping[Index, Any]

    @property
    def token_name(self) -> str:
        return self.name

    def __call__(self, index: Index) -> tuple[Any]:
        return (self.blocks[index],)


@dataclass(frozen=True, eq=False)
class InMemoryBlocks(SourceNode):
    """Blocks in memory that are part of the graph."""

    block_chunks: Chunks = field(repr=False)
    blocks: Mapping[Index, Any] = field(repr=False)

    def runs_inline(self) -> bool:
        return True

    def tile(self, *inputs: Any) -> Grid:
        del inputs
        varying = BlockAt(self.name, self.blocks)
        rule = Blockwise(same, varying=varying, cheap=True)
        partitioning = self.given_partitioning
        return Grid(rule, self.block_chunks, self.meta, partitioning=partitioning)
