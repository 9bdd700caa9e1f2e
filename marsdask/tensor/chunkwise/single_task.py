"""Functions of whole arrays: called per chunk of another array, or once."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from marsdask.core.grids.align import aligned
from marsdask.core.grids.blockwise import blockwise
from marsdask.core.grids.grid import Grid, Look
from marsdask.core.grids.lengths import resolved
from marsdask.core.grids.tree import Pairwise, tree
from marsdask.core.node import Node, PartOf, Taken
from marsdask.core.sizes import Chunks, Size, known

from ..kernels.duck_arrays import as_array
from ..manipulation.shape import whole
from ..operands import as_node, empty
from .rechunk import recut

Options = tuple[tuple[str, Any], ...]


def single_chunks(*grids: Grid) -> Generator[Look, Any, list[tuple[Grid, tuple[None, ...]]]]:
    """Return each grid as one chunk, with axes that map every task to it."""
    table = {grid.name: grid for grid in grids if len(grid) > 1}
    if any(not known(sizes) for grid in table.values() for sizes in grid.chunks if len(sizes) > 1):
        table = dict(zip(table, (yield from resolved(*table.values())), strict=True))
    parts = (table.get(grid.name, grid) for grid in grids)
    return [(whole(grid, range(grid.ndim)), (None,) * grid.ndim) for grid in parts]


@dataclass(frozen=True, eq=False)
class BroadcastMap(Node):
    """A function of each element of an array, and of other arrays whole."""

    values_tell: ClassVar[bool] = True

    func: Callable[..., Any]
    a: Node
    others: tuple[Node, ...]
    dtype: np.dtype[Any]
    options: Options = ()

    @property
    def label(self) -> str:
        return self.func.__name__

    @property
    def meta(self) -> Any:
        return empty(self.dtype, len(self.a.chunks))

    @property
    def chunks(self) -> Chunks:
        return self.a.chunks

    def sliced(self, taken: Taken, part: PartOf) -> Node | None:
        return self.replaced(a=part(self.a, taken))

    def tile(self, a: Grid, *others: Grid) -> Generator[Look, Any, Grid]:
        inputs = yield from single_chunks(*others)
        return blockwise(
            self.func,
            [(a, tuple(range(a.ndim))), *inputs],
            chunks=a.chunks,
            meta=self.meta,
            kwargs=dict(self.options),
        )


class OneChunk(Node):
    """A rule for one chunk, of ``lengths``."""

    values_tell: ClassVar[bool] = True

    func: Callable[..., Any]
    lengths: tuple[Size, ...]
    dtype: np.dtype[Any]

    @property
    def label(self) -> str:
        return self.func.__name__

    @property
    def meta(self) -> Any:
        return empty(self.dtype, len(self.lengths))

    @property
    def chunks(self) -> Chunks:
        return tuple((length,) for length in self.lengths)


@dataclass(frozen=True, eq=False)
class SingleTask(OneChunk):
    """One chunk computed by a function of whole arrays."""

    func: Callable[..., Any]
    arrays: tuple[Node, ...]
    lengths: tuple[Size, ...]
    dtype: np.dtype[Any]
    options: Options = ()

    def tile(self, *arrays: Grid) -> Generator[Look, Any, Grid]:
        inputs = yield from single_chunks(*arrays)
        return blockwise(
            self.func, inputs, chunks=self.chunks, meta=self.meta, kwargs=dict(self.options)
        )


@dataclass(frozen=True, eq=False)
class Summary(OneChunk):
    """The counts of ``func`` for each block of aligned arrays, added up.

    ``func(*blocks, *others, **options)`` returns an array of ``lengths``.
    """

    input_chunks = "vanish"

    func: Callable[..., Any]
    combine: Callable[[Any, Any], Any]
    arrays: tuple[Node, ...]
    others: tuple[Node, ...]
    lengths: tuple[Size, ...]
    dtype: np.dtype[Any]
    options: Options = ()

    def tile(self, *grids: Grid) -> Generator[Look, Any, Grid]:
        distinct = dict(zip(self.inputs, grids, strict=True))
        operands = yield from single_chunks(*(distinct[node] for node in self.others))
        arrays, chunks = yield from aligned([distinct[node] for node in self.arrays], recut)
        own = tuple(range(len(chunks)))
        partials = blockwise(
            self.func,
            [*((grid, own) for grid in arrays), *operands],
            chunks=(*((1,) * len(sizes) for sizes in chunks), *self.chunks),
            meta=self.meta,
            kwargs=dict(self.options),
        )
        grid = tree(partials, Pairwise(self.combine), own)
        last = (None,) * len(own) + tuple(range(len(self.lengths)))
        return blockwise(as_array, [(grid, last)], chunks=self.chunks, meta=self.meta)


def broadcast_map(
    func: Callable[..., Any], a: Any, *others: Any, dtype: Any, **options: Any
) -> Node:
    """Return the node of ``func(chunk, *others, **options)``, which keeps a chunk's shape."""
    nodes = tuple(map(as_node, others))
    return BroadcastMap(func, as_node(a), nodes, np.dtype(dtype), tuple(sorted(options.items())))


def once(
    func: Callable[..., Any], *arrays: Any, shape: tuple[Size, ...], dtype: Any, **options: Any
) -> Node:
    """Return the node of ``func(*arrays, **options)``, called once."""
    nodes = tuple(map(as_node, arrays))
    return SingleTask(func, nodes, shape, np.dtype(dtype), tuple(sorted(options.items())))
