"""The nodes of reductions: one, or several of the same array that read it once."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from marsdask.core.grids.align import aligned, broadcast_chunks
from marsdask.core.grids.blockwise import blockwise, map_blocks
from marsdask.core.grids.grid import Grid
from marsdask.core.grids.parts import loops_beside
from marsdask.core.grids.tree import Pairwise, tree
from marsdask.core.node import Axes, MemoryOrder, MultiOutput, Node
from marsdask.core.sizes import Chunks, total, upper

from ..chunkwise.rechunk import rechunk_views
from ..elementwise.nodes import joins, output
from ..kernels.block_reduction import (
    Axis,
    BlockReduction,
    BlockReductions,
    Combine,
    Recipe,
    finish_block,
    reduce_block,
)
from ..kernels.boolean_selection import without_filters
from ..kernels.fused_ufuncs import UfuncProgram, join_programs
from ..memory_order import merged, reduced
from ..operands import empty


@dataclass(frozen=True)
class ReductionSpec:
    """A reduction's definition: ``settings`` are for the map, ``options`` for the last step."""

    recipe: Recipe
    axis: Axis
    keepdims: bool
    dtype: np.dtype[Any]
    title: str
    settings: tuple[tuple[str, Any], ...] = ()
    options: tuple[tuple[str, Any], ...] = ()
    initial: Any = None

    @property
    def reduction(self) -> BlockReduction:
        """The reduction of blocks for it."""
        return BlockReduction(self.recipe, self.axis, self.settings)

    def reduced(self, chunks: Chunks) -> Chunks:
        """Return the chunks of the result."""
        if self.keepdims:
            return tuple((1,) if a in self.axis else sizes for a, sizes in enumerate(chunks))
        return tuple(sizes for axis, sizes in enumerate(chunks) if axis not in self.axis)

    def over(self, ndim: int) -> ReductionSpec | None:
        """Return the same reduction along all of so many axes instead of one, if that is valid."""
        if self.axis != (0,) or (self.keepdims and ndim != 1):
            return None
        return replace(self, axis=tuple(range(ndim)))

    def finished(self, partials: Grid, reduction: BlockReduction) -> Grid:
        """Return the result, computed from the partial results of each block."""
        grid = tree(partials, Pairwise(Combine(reduction.recipe.combine)), self.axis)
        axes = [axis for axis in range(grid.ndim) if self.keepdims or axis not in self.axis]
        place = tuple(axes.index(axis) if axis in axes else None for axis in range(grid.ndim))
        return blockwise(
            finish_block,
            [(grid, place)],
            chunks=tuple(grid.chunks[axis] for axis in axes),
            meta=empty(self.dtype, len(axes)),
            kwargs={
                "recipe": self.recipe,
                "axis": self.axis,
                "keepdims": self.keepdims,
                "dtype": self.dtype,
                "options": dict(self.options),
                "initial": self.initial,
            },
        )


class ReductionBase(Node):
    """A reduction of ``program`` of the operands (of the first one, if there is none).

    With ``masked`` the last operand selects elements.
    """

    input_chunks = "vanish"

    operands: Any
    program: Any
    masked: Any

    @property
    def _source(self) -> Chunks:
        return broadcast_chunks(*(node.chunks for node in self.operands))

    def takes(self, node: Node, taken: Sequence[Node]) -> bool:
        shape = tuple(map(total, self._source))
        return not self.masked and joins(node, taken, shape, self.program)

    def taking(self, taken: Sequence[Node]) -> Node:
        parts: list[Any] = [(n, n.leaves, n.program) for n in taken]  # type: ignore[attr-defined]
        if self.program is not None:
            parts.append((self, self.operands, self.program))
        operands, program = join_programs(parts)
        return self.replaced(operands=operands, program=program)

    def absorb(self, alone: Callable[[Node], bool]) -> Node:
        parts = None
        if not self.masked:
            parts = without_filters(self.operands, self.program, alone)
        return self if parts is None else self._over(*parts) or self

    def _over(self, operands: tuple[Node, ...], program: UfuncProgram) -> Node | None:
        """Return the reduction of a program's selection from operands of any number of axes."""
        raise NotImplementedError(f"{type(self).__name__} declares no _over")

    def tile(self, *grids: Grid) -> Any:
        distinct = dict(zip(self.inputs, grids, strict=True))
        sources = tuple(distinct[node] for node in self.operands)
        if len({grid.chunks for grid in sources}) == 1:
            return self._tile(sources, sources[0].chunks)
        return self._aligned(sources)

    def _aligned(self, grids: tuple[Grid, ...]) -> Generator[Any, Any, Any]:
        grids, chunks = yield from aligned(grids, rechunk_views)
        return self._tile(grids, chunks)

    def _tile(self, grids: tuple[Grid, ...], chunks: Chunks) -> Any:
        raise NotImplementedError(f"{type(self).__name__} declares no tiling")

    def _partials(
        self,
        grids: tuple[Grid, ...],
        chunks: Chunks,
        reductions: BlockReductions,
        meta: Any = None,
        itemsize: float | None = None,
    ) -> Grid:
        """Return the partial results of each block."""
        kwargs = {"reductions": reductions, "program": self.program, "masked": self.masked}
        return map_blocks(
            reduce_block, *grids, chunks=chunks, meta=meta, itemsize=itemsize, kwargs=kwargs
        )


@dataclass(frozen=True, eq=False)
class Reduction(ReductionBase):
    """One reduction."""

    operands: tuple[Node, ...]
    program: UfuncProgram | None
    masked: bool
    spec: ReductionSpec

    @property
    def label(self) -> str:
        return self.spec.title

    def _over(self, operands: tuple[Node, ...], program: UfuncProgram) -> Node | None:
        spec = self.spec.over(max(len(node.chunks) for node in operands))
        if spec is None:
            return None
        return self.replaced(operands=operands, program=program, spec=spec)

    @property
    def reads(self) -> Hashable:
        return self.operands, self.program, self.masked

    def joined(self, nodes: Sequence[Node]) -> MultiOutput:
        several = tuple(node.spec for node in nodes)  # type: ignore[attr-defined]
        return Reductions(self.operands, self.program, self.masked, several)

    @property
    def meta(self) -> Any:
        return empty(self.spec.dtype, len(self.chunks))

    @property
    def chunks(self) -> Chunks:
        return self.spec.reduced(self._source)

    @property
    def loop_axes(self) -> tuple[Axes, ...]:
        ndim = len(self._source)
        loops = loops_beside(self.spec.axis, ndim, kept=self.spec.keepdims)
        return tuple(loops[ndim - len(node.chunks) :] for node in self.inputs)

    @property
    def memory_order(self) -> MemoryOrder:
        order = merged(self.operands, tuple(map(total, self._source)))
        return reduced(order, self.spec.axis, keeps=self.spec.keepdims)

    def _tile(self, grids: tuple[Grid, ...], chunks: Chunks) -> Grid:
        reduction = self.spec.reduction
        partials = self._partials(grids, _left(chunks, reduction), (reduction,), self.meta)
        return self.spec.finished(partials, reduction)


@dataclass(frozen=True, eq=False)
class Reductions(MultiOutput, ReductionBase):
    """Several reductions of the same operands; blocks are read once."""

    operands: tuple[Node, ...]
    program: UfuncProgram | None
    masked: bool
    several: tuple[ReductionSpec, ...]

    @property
    def label(self) -> str:
        return "_".join(dict.fromkeys(spec.title for spec in self.several))

    def _over(self, operands: tuple[Node, ...], program: UfuncProgram) -> Node | None:
        ndim = max(len(node.chunks) for node in operands)
        several = tuple(spec.over(ndim) for spec in self.several)
        if None in several:
            return None
        return self.replaced(operands=operands, program=program, several=several)

    @property
    def meta(self) -> Any:
        pairs = zip(self.several, self.chunks, strict=True)
        return tuple(empty(spec.dtype, len(chunks)) for spec, chunks in pairs)

    @property
    def chunks(self) -> Any:
        return tuple(spec.reduced(self._source) for spec in self.several)

    def _tile(self, grids: tuple[Grid, ...], chunks: Chunks) -> tuple[Grid, ...]:
        sources = shared_reductions(self.several)
        reductions = tuple(dict.fromkeys(sources))
        if len(reductions) == 1:
            partials = [
                self._partials(grids, _left(chunks, reductions[0]), reductions, self.meta[0])
            ]
        else:
            joint = self._partials(
                grids, chunks, reductions, itemsize=_share_left(chunks, reductions)
            )
            partials = [
                map_blocks(
                    output,
                    joint,
                    chunks=_left(chunks, reduction),
                    meta=self.meta[sources.index(reduction)],
                    kwargs={"position": position},
                    cheap=True,
                )
                for position, reduction in enumerate(reductions)
            ]
        return tuple(
            spec.finished(partials[reductions.index(reduction)], reduction)
            for spec, reduction in zip(self.several, sources, strict=True)
        )


def _left(chunks: Chunks, reduction: BlockReduction) -> Chunks:
    """Return the chunks of partial results."""
    return tuple(
        (1,) * len(sizes) if axis in reduction.axis else sizes for axis, sizes in enumerate(chunks)
    )


def _share_left(chunks: Chunks, reductions: BlockReductions) -> float:
    """Return the bytes of all partial results of a block, for each of its elements."""
    largest = [max([1, *(upper(size) or 1 for size in sizes)]) for sizes in chunks]
    return sum(16 / math.prod(largest[axis] for axis in reduction.axis) for reduction in reductions)


def shared_reductions(several: tuple[ReductionSpec, ...]) -> list[BlockReduction]:
    """Return the reduction of blocks for each reduction; several share one if possible."""
    reductions = [spec.reduction for spec in several]
    by_map: dict[object, BlockReduction] = {}
    for reduction in reductions:
        by_map.setdefault((reduction.recipe.map, reduction.axis, reduction.settings), reduction)
    return [
        by_map.get((reduction.recipe.within, reduction.axis, reduction.settings))
        or by_map[reduction.recipe.map, reduction.axis, reduction.settings]
        for reduction in reductions
    ]
