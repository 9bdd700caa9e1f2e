"""The node of arrays one after the other along an axis."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np

from marsdask.core.grids.align import aligned_axes, common_sizes
from marsdask.core.grids.blockwise import map_blocks
from marsdask.core.grids.grid import Grid
from marsdask.core.grids.select import concatenate_grids, cut_axis
from marsdask.core.node import MemoryOrder, Node, PartOf, Taken
from marsdask.core.sizes import Chunks, Sizes, known, numbers

from ..chunkwise.rechunk import recut
from ..elementwise.nodes import cast
from ..memory_order import joined
from ..operands import empty_like_kind


@dataclass(frozen=True, eq=False)
class Concatenate(Node):
    """Arrays one after the other along an axis."""

    arrays: tuple[Node, ...]
    axis: int
    dtype: np.dtype[Any]

    @property
    def meta(self) -> Any:
        return empty_like_kind(self.arrays[0].meta, self.dtype, len(self.arrays[0].chunks))

    @property
    def chunks(self) -> Chunks:
        sizes = tuple(itertools.chain.from_iterable(node.chunks[self.axis] for node in self.arrays))
        cuts = [node.chunks for node in self.arrays]
        return tuple(
            sizes if axis == self.axis else _common([chunks[axis] for chunks in cuts])
            for axis in range(len(cuts[0]))
        )

    @property
    def memory_order(self) -> MemoryOrder:
        return joined(self.arrays)

    def sliced(self, taken: Taken, part: PartOf) -> Node | None:
        along = taken[self.axis]
        lengths = [node.shape[self.axis] for node in self.arrays]
        if along is None:
            return self.replaced(arrays=tuple(part(node, taken) for node in self.arrays))
        if not known(lengths):
            return None
        cut = cut_axis(numbers(lengths), along)
        arrays = []
        for position, own in zip(cut.positions, cut.parts, strict=True):
            inside = range(lengths[position])[own]  # type: ignore[arg-type]
            ranges = (*taken[: self.axis], inside, *taken[self.axis + 1 :])
            arrays.append(part(self.arrays[position], ranges))
        alone = len(arrays) == 1 and arrays[0].meta.dtype == self.dtype
        return arrays[0] if alone else self.replaced(arrays=tuple(arrays))

    def tile(self, *grids: Grid) -> Any:
        grids = yield from aligned_axes(grids, skip=self.axis, recut=recut)
        return concatenate_grids([_cast(grid, self.dtype) for grid in grids], self.axis, self.meta)


def _common(cuts: list[Sizes]) -> Sizes:
    """Return chunks for an axis of one length; unknown sizes are computed later."""
    if len(set(cuts)) > 1 and not all(map(known, cuts)):
        return next(sizes for sizes in cuts if not known(sizes))
    return common_sizes(cuts)


def _cast(grid: Grid, dtype: np.dtype[Any]) -> Grid:
    if grid.meta.dtype == dtype:
        return grid
    meta = empty_like_kind(grid.meta, dtype, grid.ndim)
    return map_blocks(cast, grid, chunks=grid.chunks, meta=meta, kwargs={"dtype": dtype})
