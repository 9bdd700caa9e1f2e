"""Add the halo of neighbouring elements to chunks, and remove it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from marsdask.core.grids.blockwise import blockwise
from marsdask.core.grids.grid import Grid
from marsdask.core.grids.lengths import resolved
from marsdask.core.grids.neighbours import Depth, Edge, Halo, HaloRuns, is_none, merge_sizes
from marsdask.core.grids.rechunk import cut
from marsdask.core.node import SameMeta
from marsdask.core.sizes import Chunks, Index, Sizes, Unknown, known, numbers

from .rechunk import recut


def with_halo(blocks: list[Any], taken: Sequence[Any], filled: Sequence[Any], shape: Any) -> Any:
    """Return a block and its halo as one array, from parts of blocks and constants."""
    whole = zip(shape, blocks[0].shape, strict=True)
    out = np.empty_like(blocks[0], shape=tuple(own if n is None else n for n, own in whole))
    for block, (part, target) in zip(blocks, taken, strict=True):
        out[target] = block[part]
    for value, target in filled:
        out[target] = value
    return out


@dataclass(frozen=True, eq=False)
class Overlap(SameMeta):
    """Every chunk with elements of its neighbours before and after it."""

    pins_grid: ClassVar[bool] = True

    depths: tuple[Depth, ...]
    edges: tuple[Edge, ...]
    least: tuple[int, ...]
    """Chunks smaller than this are joined first."""

    @property
    def chunks(self) -> Chunks:
        return self._grown(self._joined(self.a.chunks))

    def _joined(self, chunks: Chunks) -> Chunks:
        return tuple(merge_sizes(size, own) for size, own in zip(self.least, chunks, strict=True))

    def _grown(self, chunks: Chunks) -> Chunks:
        splits: list[Sizes] = []
        for axis, (sizes, depth, edge) in enumerate(
            zip(chunks, self.depths, self.edges, strict=True)
        ):
            if depth == (0, 0):
                splits.append(sizes)
            elif known(sizes):
                splits.append(HaloRuns(numbers(sizes), depth, edge).lengths)
            else:
                splits.append((Unknown(f"{self.name}@{axis}"),))
        return tuple(splits)

    def tile(self, a: Grid) -> Any:
        pairs = zip(a.chunks, self.depths, strict=True)
        if not all(known(sizes) for sizes, depth in pairs if any(depth)):
            (a,) = yield from resolved(a)
        a = recut(a, self._joined(a.chunks))
        rule = Halo(a, self.depths, self.edges, with_halo)
        return Grid(rule, self._grown(a.chunks), a.meta, a.itemsize)


@dataclass(frozen=True)
class TrimAt:
    """Gives each chunk its part without the halo."""

    numblocks: Index
    depths: tuple[Depth, ...]
    edges: tuple[Edge, ...]

    def __call__(self, index: Index) -> tuple[tuple[slice, ...]]:
        per_axis = zip(index, self.numblocks, self.depths, self.edges, strict=True)
        return (tuple(_inner(i, count, depth, edge) for i, count, depth, edge in per_axis),)


def _inner(i: int, count: int, depth: Depth, edge: Edge) -> slice:
    open_ended = is_none(edge)
    before = 0 if open_ended and i == 0 else depth[0]
    after = 0 if open_ended and i == count - 1 else depth[1]
    return slice(before or None, -after or None)


def _lengths_without(sizes: tuple[int, ...], depth: Depth, edge: Edge) -> Sizes:
    """Return the lengths of chunks without their halo."""
    lengths = np.array(sizes) - sum(depth)
    if is_none(edge):
        lengths[0] += depth[0]
        lengths[-1] += depth[1]
    return tuple(np.maximum(lengths, 0).tolist())


@dataclass(frozen=True, eq=False)
class Trim(SameMeta):
    """Every chunk without its halo."""

    pins_grid: ClassVar[bool] = True

    depths: tuple[Depth, ...]
    edges: tuple[Edge, ...]

    @property
    def chunks(self) -> Chunks:
        return self._trimmed(self.a.chunks)

    def _trimmed(self, chunks: Chunks) -> Chunks:
        splits: list[Sizes] = []
        for axis, (sizes, depth, edge) in enumerate(
            zip(chunks, self.depths, self.edges, strict=True)
        ):
            if depth == (0, 0):
                splits.append(sizes)
                continue
            if known(sizes):
                splits.append(_lengths_without(numbers(sizes), depth, edge))
                continue
            parts = [_inner(i, len(sizes), depth, edge) for i in range(len(sizes))]
            splits.append(
                tuple(
                    Unknown(f"{self.name}@{axis}", i if len(sizes) > 1 else -1)
                    if isinstance(size, Unknown)
                    else len(range(*part.indices(size)))
                    for i, (size, part) in enumerate(zip(sizes, parts, strict=True))
                )
            )
        return tuple(splits)

    def tile(self, a: Grid) -> Grid:
        return blockwise(
            cut,
            [(a, tuple(range(a.ndim)))],
            chunks=self._trimmed(a.chunks),
            meta=a.meta,
            itemsize=a.itemsize,
            varying=TrimAt(a.numblocks, self.depths, self.edges),
            cheap=True,
        )
