"""The categories of all rows, where only computing the chunks tells them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from marsdask.core.grids.blockwise import map_blocks
from marsdask.core.grids.grid import Grid
from marsdask.core.grids.tree import gather
from marsdask.core.node import Columns, Node, SameChunks, SameMeta
from marsdask.core.registry import class_of
from marsdask.core.sizes import Chunks
from marsdask.core.traits import Traits

from ..rows import empty_rows
from .dtypes import cast, concat_chunks
from .frame_node import FrameNode, S


@dataclass(frozen=True, eq=False)
class TypesOnly(SameMeta, FrameNode):
    """No rows, of the types that all chunks have together."""

    keeps_types: ClassVar[bool] = True

    @property
    def chunks(self) -> Chunks:
        return ((0,),)

    def tile(self, a: Grid) -> Grid:
        empty = map_blocks(empty_rows, a, chunks=((0,) * len(a),), meta=self.meta, itemsize=0.0)
        return gather(concat_chunks, empty, chunks=self.chunks, meta=self.meta, itemsize=0.0)


@dataclass(frozen=True, eq=False)
class KnownTypes(SameChunks, FrameNode):
    """The same rows; each chunk has the types that were found of all."""

    keeps_types: ClassVar[bool] = True
    types_by_rows: ClassVar[bool] = False
    may_narrow: ClassVar[bool] = False

    like: Any = field(repr=False)

    @property
    def meta(self) -> Any:
        return self.like

    @property
    def incomplete(self) -> bool:
        return False

    @property
    def traits(self) -> Traits:
        return Traits(self.a.alignment)

    def requires(self, wanted: Columns) -> tuple[Columns, ...]:
        del wanted
        return (None,)

    def tile(self, a: Grid) -> Grid:
        return self.mapped(cast, a, chunks=a.chunks, kwargs={"meta": self.meta})


def over_all_categories(node: Node) -> Node:
    """Return a node whose type tells the categories of all rows; computes them if need be."""
    if not node.incomplete:
        return node
    return KnownTypes(node, class_of(node.meta)(TypesOnly(node)).compute())


def with_all_categories(obj: S) -> S:
    """Return an object whose type tells the categories of all rows; computes them if need be."""
    node = over_all_categories(obj.node)
    result: S = obj if node is obj.node else type(obj)(node)
    return result
