"""Arrays of repeated elements."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from marsdask.core.arguments import listed
from marsdask.core.collection import Collection
from marsdask.core.grids.blockwise import blockwise, map_blocks
from marsdask.core.grids.grid import Grid
from marsdask.core.grids.parts import MOST_POINTS
from marsdask.core.machine.costs import kernel
from marsdask.core.node import Node, PartOf, SameMeta, Taken
from marsdask.core.sizes import Chunks, Index, Size, Sizes, Unknown, borders, known, numbers, upper

from ..chunks import MOST_CHUNKS, regular, store_limit
from ..chunkwise.rechunk import recut
from ..indexing.advanced import Take
from ..memory_order import in_order_of
from ..operands import as_node
from ..sparse.blocks import is_sparse, to_csr
from ..typing import public
from .deletion import along, as_positions, is_run
from .join import concatenate, length, part
from .reshape import with_axis
from .shape import view


@dataclass(frozen=True, eq=False)
class Repeat(SameMeta):
    """Repeat every element along an axis."""

    repeats: int
    axis: int

    @property
    def chunks(self) -> Chunks:
        return self._longer(self.a.chunks)

    def _longer(self, chunks: Chunks) -> Chunks:
        return tuple(
            tuple(_times(size, self.repeats) for size in sizes) if axis == self.axis else sizes
            for axis, sizes in enumerate(chunks)
        )

    def sliced(self, taken: Taken, part: PartOf) -> Node | None:
        below = tuple(None if axis == self.axis else span for axis, span in enumerate(taken))
        span = taken[self.axis]
        if span is None:
            return self.replaced(a=part(self.a, below))
        if is_sparse(self.meta) or not known(self.a.shape) or not span:
            return None
        low, high = sorted((span[0] // self.repeats, span[-1] // self.repeats))
        if (high - low + 1) * self.repeats < 2 * len(span):
            ranges = (*below[: self.axis], range(low, high + 1), *below[self.axis + 1 :])
            inner = self.replaced(a=part(self.a, ranges))
            first = low * self.repeats
            shifted = range(span.start - first, span.stop - first, span.step)
            own = [shifted if axis == self.axis else None for axis in range(len(taken))]
            return part(inner, tuple(own))
        if len(span) > MOST_POINTS:
            return None
        positions = np.arange(span.start, span.stop, span.step) // self.repeats
        return Take(part(self.a, below), (positions,), (self.axis,), self.axis)

    def tile(self, a: Grid) -> Grid:
        kwargs = {"repeats": self.repeats, "axis": self.axis}
        chunks = self._longer(a.chunks)
        kernel = repeat_stored if is_sparse(self.meta) else np.repeat
        return map_blocks(kernel, a, chunks=chunks, meta=self.meta, kwargs=kwargs)


def repeat_stored(block: Any, repeats: int, axis: int) -> Any:
    """Repeat the elements of a sparse block."""
    positions = np.repeat(np.arange(block.shape[axis]), repeats)
    return to_csr(block[(slice(None),) * axis + (positions,)])


def _times(size: Size, count: int) -> Size:
    if isinstance(size, int):
        return size * count
    bound = None if size.upper is None else size.upper * count
    return Unknown(f"{size.name}*{count}", size.index, bound)


@dataclass(frozen=True, eq=False)
class RepeatEach(SameMeta):
    """Repeat the elements along an axis, each as often as an array says."""

    label: ClassVar[str] = "repeat"

    repeats: Any
    axis: int

    @property
    def chunks(self) -> Chunks:
        return self._longer(self.a.chunks)

    @property
    def _ends(self) -> Any:
        """The begin of each element's repetitions, and the end of the last."""
        return np.append(0, np.cumsum(self.repeats))

    def _longer(self, chunks: Chunks) -> Chunks:
        sizes = np.diff(self._ends[borders(numbers(chunks[self.axis]))])
        return (*chunks[: self.axis], tuple(sizes.tolist()), *chunks[self.axis + 1 :])

    def sliced(self, taken: Taken, part: PartOf) -> Node | None:
        span, axis, ndim = taken[self.axis], self.axis, len(taken)
        a = part(self.a, (*taken[:axis], None, *taken[axis + 1 :]))
        if span is None:
            return self.replaced(a=a)
        if not span:
            return part(a, along(axis, ndim, range(0)))
        low, high = sorted((span[0], span[-1]))
        ends = self._ends
        if not is_run(span, high - low):
            points = ends.searchsorted(as_positions(span), "right") - 1
            return Take(a, (points,), (axis,), axis)
        first, last = (ends.searchsorted([low, high], "right") - 1).tolist()
        bounds = np.clip(ends[first : last + 2], low, high + 1)
        elements = part(a, along(axis, ndim, range(first, last + 1)))
        inner = self.replaced(a=elements, repeats=np.diff(bounds))
        start = span.start - low
        return part(
            inner, along(axis, ndim, range(start, start + len(span) * span.step, span.step))
        )

    def tile(self, a: Grid) -> Grid:
        starts = borders(numbers(a.chunks[self.axis]))
        return blockwise(
            repeat_each,
            [(a, tuple(range(a.ndim)))],
            chunks=self._longer(a.chunks),
            meta=self.meta,
            varying=RepeatsAt(self.name, self.axis, self.repeats, starts),
            kwargs={"axis": self.axis},
        )


@dataclass(frozen=True)
class RepeatsAt:
    """Gives each chunk the repetitions of its elements."""

    name: str
    axis: int
    repeats: Any
    starts: Sequence[int]

    @property
    def token_name(self) -> str:
        return f"{self.name}-repeats"

    def __call__(self, index: Index) -> tuple[Any]:
        i = index[self.axis]
        return (self.repeats[self.starts[i] : self.starts[i + 1]],)


@kernel(scratch=0.0)
def repeat_each(block: Any, repeats: Any, axis: int) -> Any:
    """Repeat the elements of a block along an axis."""
    return np.repeat(block, repeats, axis)


@public
def repeat(a: Any, repeats: Any, axis: int | None = None) -> Node:
    """Repeat each element ``repeats`` times. See numpy.repeat."""
    node, axis = with_axis(a, axis, sparse=np.size(repeats) == 1)
    counts = np.asarray(repeats)
    if counts.ndim > 1:
        raise ValueError("object too deep for desired array")
    # NumPy cuts numbers that are no array.
    is_array = isinstance(repeats, np.ndarray | Collection)
    counts = counts.astype(np.intp, casting="safe" if is_array else "unsafe")
    if counts.size == 1:
        count = int(counts.reshape(())[()])
        if count < 0:
            raise ValueError("repeats may not contain negative values.")
        return Repeat(node, count, axis)
    size = length(node, axis)
    if len(counts) != size:
        raise ValueError(
            f"operands could not be broadcast together with shape ({size},) ({len(counts)},)"
        )
    if (counts < 0).any():
        raise ValueError("repeats may not contain negative values.")
    return RepeatEach(node, counts, axis)


@dataclass(frozen=True, eq=False)
class Tiled(SameMeta):
    """An array repeated along an axis, of which each chunk has many repetitions."""

    label: ClassVar[str] = "tile"

    count: int
    axis: int

    @property
    def chunks(self) -> Chunks:
        return self._longer(self.a.chunks)

    def _longer(self, chunks: Chunks) -> Chunks:
        length = sum(numbers(chunks[self.axis]))
        splits = (*chunks[: self.axis], *chunks[self.axis + 1 :])
        width = math.prod(
            max((upper(size) or 0 for size in sizes), default=0) or 1 for sizes in splits
        )
        room = int(store_limit()) // max(1, length * width * self.meta.dtype.itemsize)
        step = max(1, room, -(-self.count // MOST_CHUNKS))
        counts = numbers(regular(self.count, min(step, self.count)))
        sizes = tuple(length * count for count in counts)
        return (*chunks[: self.axis], sizes, *chunks[self.axis + 1 :])

    def sliced(self, taken: Taken, part: PartOf) -> Node | None:
        span, (length,) = taken[self.axis], numbers(self.a.shape[self.axis : self.axis + 1])
        below: list[range | None] = [*taken]
        below[self.axis] = None
        a = part(self.a, tuple(below))
        if span is None or not length:
            return self.replaced(a=a)
        if not span:
            return part(a, along(self.axis, len(taken), range(0)))
        low, high = sorted((span[0], span[-1]))
        if not is_run(span, high - low):
            points = as_positions(span) % length
            return Take(a, (points,), (self.axis,), self.axis)
        first = low // length
        fewer = self.replaced(a=a, count=high // length + 1 - first)
        start = span.start - first * length
        own = range(start, start + len(span) * span.step, span.step)
        return part(fewer, along(self.axis, len(taken), own))

    def tile(self, a: Grid) -> Grid:
        chunks = self._longer(a.chunks)
        length = sum(numbers(a.chunks[self.axis]))
        whole = (*a.chunks[: self.axis], (length,), *a.chunks[self.axis + 1 :])
        axes = tuple(None if i == self.axis else i for i in range(a.ndim))
        return blockwise(
            tiled_block,
            [(recut(a, whole), axes)],
            chunks=chunks,
            meta=self.meta,
            varying=SizeAt(self.axis, chunks[self.axis]),
            kwargs={"axis": self.axis},
        )


@dataclass(frozen=True)
class SizeAt:
    """Gives each chunk its length along an axis."""

    axis: int
    sizes: Sizes

    def __call__(self, index: Index) -> tuple[Any]:
        return (self.sizes[index[self.axis]],)


@kernel(scratch=0.0)
def tiled_block(block: Any, size: int, axis: int) -> Any:
    """Repeat a block along an axis up to a length."""
    counts = [1] * block.ndim
    counts[axis] = size // max(1, block.shape[axis])
    return np.tile(block, counts)


#: Of more repetitions chunks are not told apart.
MANY = 1000


@public
def tile(A: Any, reps: Any) -> Node:
    """Repeat a tensor along each axis. See numpy.tile."""
    reps = listed(reps)
    counts = [operator.index(x) for x in (reps if np.ndim(reps) else [reps])]
    node = as_node(A)
    ndim = max(len(counts), len(node.chunks))
    counts = [1] * (ndim - len(counts)) + counts
    result: Node = view(node, [*[None] * (ndim - len(node.chunks)), *range(len(node.chunks))])
    for axis, count in enumerate(counts):
        if count < 0:
            raise ValueError("negative dimensions are not allowed")
        if count == 0:
            result = part(result, axis, range(0))
        elif count > MANY:
            result = Tiled(result, count, axis)
        elif count > 1:
            result = concatenate.node([result] * count, axis, dtype=node.meta.dtype)
    return result if set(counts) == {1} else in_order_of(result, "C")
