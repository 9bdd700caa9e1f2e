"""The node of given data, wherever it is held."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from .node import MemoryOrder, Node
from .sizes import Chunks
from .traits import Partitioning, Traits


@dataclass(frozen=True, eq=False)
class SourceNode(Node):
    """A source node with a given name, meta and chunks."""

    interned: ClassVar[bool] = False

    given_name: str
    given_meta: Any = field(repr=False)
    given_chunks: Chunks = field(repr=False)
    given_traits: Traits | None = field(default=None, repr=False, kw_only=True)
    given_partitioning: Partitioning | None = field(default=None, repr=False, kw_only=True)
    """Which rows lie in which of the chunks that there are, whatever chunks are shown."""
    given_is_row: bool = field(default=False, repr=False, kw_only=True)
    given_order: MemoryOrder = field(default=None, repr=False, kw_only=True)
    given_level_gaps: frozenset[int] = field(default=frozenset(), repr=False, kw_only=True)
    given_level_orders: tuple[Any, ...] = field(default=(), repr=False, kw_only=True)

    @property
    def name(self) -> str:
        return self.given_name

    @property
    def label(self) -> str:
        return self.given_name.rpartition("-")[0] or self.given_name

    @property
    def meta(self) -> Any:
        return self.given_meta

    @property
    def memory_order(self) -> MemoryOrder:
        return self.given_order

    @property
    def traits(self) -> Traits:
        return self.given_traits or Traits(self.given_name)

    @property
    def is_row(self) -> bool:
        return self.given_is_row

    @property
    def level_gaps(self) -> frozenset[int]:
        return self.given_level_gaps

    @property
    def level_orders(self) -> tuple[Any, ...]:
        return self.given_level_orders

    @property
    def chunks(self) -> Chunks:
        return self.given_chunks
