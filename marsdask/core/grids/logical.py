"""The logical grid of computed or stored values: the chunks that users see."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..node import Node
from ..registry import class_of
from ..sizes import Chunks, known_chunks
from .grid import Grid


def as_shown(node: Node, tiled: Any) -> Any:
    """Return the grid of a node (or several) in its logical chunks, if sizes are known."""
    if isinstance(tiled, tuple):
        several: Sequence[Any] = node.chunks
        return tuple(map(in_chunks, tiled, several, node.meta))
    return in_chunks(tiled, node.chunks, node.meta)


def in_chunks(grid: Grid, chunks: Chunks, meta: Any) -> Grid:
    """Return the grid in the given chunks, or itself if sizes are unknown."""
    if grid.chunks == chunks or not (known_chunks(grid.chunks) and known_chunks(chunks)):
        return grid
    return class_of(meta)._recut(grid, chunks)
