"""Rows chosen by a mask: how many, only running tells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from marsdask.core.compilation.costs import kernel
from marsdask.core.grids.grid import Grid
from marsdask.core.node import Node
from marsdask.core.sizes import Chunks, Sizes, unknown_sizes, upper
from marsdask.core.tokens import token

from .frame_node import Columns, FrameNode
from .rows import aligned_rows, alignment


@dataclass(frozen=True, eq=False)
class Filter(FrameNode):
    """The rows of ``a`` where ``mask`` is true."""

    a: Node
    mask: Node

    @property
    def meta(self) -> Any:
        return self.a.meta

    @property
    def alignment(self) -> str:
        """Two objects filtered by one mask have equal rows."""
        return f"{alignment(self.a)}[{self.mask.name}]"

    @property
    def chunks(self) -> Chunks:
        return (self._sizes(self.a.chunks[0]),)

    def requires(self, wanted: Columns) -> tuple[Columns, ...]:
        return wanted, None

    def _sizes(self, sizes: Sizes) -> Sizes:
        # The name says how the rows were cut before: the same mask over other runs of rows leaves
        # other numbers of rows in each.
        return unknown_sizes(f"{self.mask.name}:{token(sizes)}", [upper(size) for size in sizes])

    def tile(self, a: Grid, mask: Grid) -> Any:
        (a, mask), sizes = yield from aligned_rows([a, mask])
        return self.mapped(keep_true, a, mask, chunks=(self._sizes(sizes),))


@kernel(scratch=0.3)
def keep_true(block: Any, mask: Any) -> Any:
    """Keep the rows where the mask is true."""
    return block[mask.to_numpy(dtype=bool, na_value=False)] if mask.dtype != bool else block[mask]
