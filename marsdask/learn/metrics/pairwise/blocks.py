"""Functions of each row of one matrix and each of another: one task a block of pairs."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from marsdask.core.grids.blockwise import blockwise
from marsdask.core.grids.chunk_positions import CornerAt
from marsdask.core.grids.grid import Grid
from marsdask.core.grids.lengths import resolved
from marsdask.core.grids.rechunk import recut
from marsdask.core.machine.costs import kernel
from marsdask.core.node import Node
from marsdask.core.sizes import Chunks, Sizes, known, numbers
from marsdask.core.snapshots.functions import function_name
from marsdask.tensor.kernels.assembly import assemble
from marsdask.tensor.operands import empty
from marsdask.tensor.spatial.distance import small_blocks


@dataclass(frozen=True, eq=False)
class MatrixOfRows(Node):
    """A matrix made by ``func`` of rows of matrices."""

    func: Callable[..., Any]
    dtype: np.dtype[Any]
    kwargs: Mapping[str, Any] = field(repr=False)

    @property
    def label(self) -> str:
        return function_name(self.func)

    @property
    def meta(self) -> Any:
        return empty(self.dtype, 2)


@dataclass(frozen=True, eq=False)
class PairwiseBlocks(MatrixOfRows):
    """``func`` of the rows of two matrices; equal rows of one matrix have distance zero if asked.

    Blocks are cut so that each has at most ``options.chunk_store_limit`` bytes.
    """

    a: Node
    b: Node
    zeros: bool

    @property
    def chunks(self) -> Chunks:
        rows = (self.a.chunks[0], self.b.chunks[0])
        return small_blocks(rows) if all(map(known, rows)) else rows

    def tile(self, *grids: Grid) -> Generator[Any, Any, Grid]:
        by_node = dict(zip(self.inputs, grids, strict=True))
        a, b = yield from resolved(by_node[self.a], by_node[self.b])
        chunks = small_blocks((a.chunks[0], b.chunks[0]))
        return blockwise(
            of_pairs,
            [(whole_rows(a, chunks[0]), (0, None)), (whole_rows(b, chunks[1]), (1, None))],
            chunks=chunks,
            meta=self.meta,
            varying=CornerAt(chunks),
            kwargs={
                "func": self.func,
                "dtype": self.dtype,
                "zeros": self.zeros,
                "options": self.kwargs,
            },
        )


def whole_rows(grid: Grid, sizes: Sizes) -> Grid:
    """Return a matrix in chunks of whole rows."""
    return recut(grid, (sizes, (sum(numbers(grid.chunks[1])),)), assemble)


@kernel(scratch=1.0)
def of_pairs(
    a: Any,
    b: Any,
    corner: tuple[int, int],
    *,
    func: Callable[..., Any],
    dtype: np.dtype[Any],
    zeros: bool,
    options: Mapping[str, Any],
) -> Any:
    """Return a block of pairs, whose first pair is at ``corner``."""
    rows, columns = a.shape[0], b.shape[0]
    if not rows or not columns:
        return np.empty((rows, columns), dtype)
    result = func(a, b, **options)
    if zeros:
        first, last = max(corner), min(corner[0] + rows, corner[1] + columns)
        diagonal = np.arange(first, last)
        result[diagonal - corner[0], diagonal - corner[1]] = 0
    return result
