"""Lengths that are known only at run time: grids are computed, and keep their keys."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..sizes import Index, known_chunks
from .grid import Grid, Look


def resolved(*grids: Grid) -> Generator[Look, Any, tuple[Grid, ...]]:
    """Compute the grids whose sizes are unknown; return all of them with known sizes."""
    pending = tuple(grid for grid in grids if not known_chunks(grid.chunks))
    if not pending:
        return grids
    infos = iter((yield Look(pending)))
    sized_grids = {}
    for grid in pending:
        shapes = {index: next(infos).shape for index in grid.indices()}
        sized_grids[grid.name] = with_sizes(grid, shapes)
    return tuple(sized_grids.get(grid.name, grid) for grid in grids)


@dataclass(frozen=True, eq=False)
class SizedGrid(Grid):
    """A grid that ran with unknown sizes: it keeps its name and its keys."""

    ran_as: str = ""

    @property
    def name(self) -> str:
        return self.ran_as


def with_sizes(grid: Grid, shapes: Mapping[Index, tuple[int, ...]]) -> Grid:
    """Return the grid with the sizes of the computed chunks."""
    chunks = tuple(
        tuple(
            shapes[tuple(i if a == axis else 0 for a in range(grid.ndim))][axis]
            for i in range(count)
        )
        for axis, count in enumerate(grid.numblocks)
    )
    if type(grid) is not Grid:  # its keys are its own
        return replace(grid, chunks=chunks)
    attributes = (grid.meta, grid.itemsize, grid.node, grid.partitioning, grid.name)
    return SizedGrid(grid.rule, chunks, *attributes)


def first_chunks(grid: Grid, lengths: Sequence[int]) -> Grid:
    """Return the first chunks of a grid of one axis, which has these lengths."""
    chunks = (tuple(lengths),)
    return SizedGrid(grid.rule, chunks, grid.meta, grid.itemsize, grid.node, ran_as=grid.name)
