"""Arrays without some of their elements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np

from marsdask.core.collection import Collection
from marsdask.core.grids.blockwise import blockwise
from marsdask.core.grids.grid import Grid
from marsdask.core.grids.parts import MOST_POINTS
from marsdask.core.machine.costs import kernel
from marsdask.core.node import MemoryOrder, Node, PartOf, SameMeta, Taken
from marsdask.core.sizes import Chunks, Index, borders, numbers

from ..indexing.advanced import Take
from ..memory_order import as_new, indexed
from ..operands import as_node
from ..typing import public
from ..unknown_lengths import resized, waits_for_lengths
from .join import length
from .reshape import ravel
from .shape import normalize_axis

#: Ascending positions along an axis: a range takes little memory, whatever its length.
Positions: TypeAlias = "range | np.ndarray[Any, Any]"

#: Elements are taken one by one if a run of so many times as many has them.
SPARSE_RUN = 16


def count_before(positions: Positions, places: Any) -> Any:
    """Return how many of the positions lie before each of some places."""
    if isinstance(positions, range):
        return np.clip(-((positions.start - places) // positions.step), 0, len(positions))
    return positions.searchsorted(places)


def shifted(positions: Positions, by: int) -> Positions:
    """Return positions that are counted from another place."""
    if isinstance(positions, range):
        return range(positions.start - by, positions.stop - by, positions.step)
    return positions - by


def as_positions(positions: Positions) -> Any:
    """Return positions as an array."""
    if isinstance(positions, range):
        return np.arange(positions.start, positions.stop, positions.step)
    return positions


def is_run(cut: range, elements: int) -> bool:
    """Tell whether a selection is cheaper cut from a run of elements than taken one by one."""
    return elements <= SPARSE_RUN * len(cut) or len(cut) > MOST_POINTS


def along(axis: int, ndim: int, cut: range) -> tuple[range | None, ...]:
    """Return the selection of a part of one axis."""
    return tuple(cut if i == axis else None for i in range(ndim))


@dataclass(frozen=True)
class InsertedPositions:
    """Gives each chunk the positions within it."""

    name: str
    axis: int
    positions: Positions
    starts: Sequence[int]
    """The begin of each chunk."""
    bounds: Sequence[int]
    """How many of the positions lie before each chunk, and how many there are."""

    @property
    def token_name(self) -> str:
        return f"{self.name}-positions"

    def __call__(self, index: Index) -> tuple[Positions]:
        i = index[self.axis]
        inside = self.positions[self.bounds[i] : self.bounds[i + 1]]
        return (shifted(inside, self.starts[i]),)


@dataclass(frozen=True, eq=False)
class Deletion(SameMeta):
    """An array without some elements along an axis."""

    label: ClassVar[str] = "delete"

    gone: Positions
    axis: int

    @property
    def chunks(self) -> Chunks:
        return self._shorter(self.a.chunks)

    @property
    def memory_order(self) -> MemoryOrder:
        return indexed(self.a.memory_order, (self.axis,), self.axis, self.shape)

    def _shorter(self, chunks: Chunks) -> Chunks:
        sizes = numbers(chunks[self.axis])
        fewer = np.diff(count_before(self.gone, np.array(borders(sizes))))
        lengths = tuple((np.array(sizes) - fewer).tolist())
        return (*chunks[: self.axis], lengths, *chunks[self.axis + 1 :])

    def _sources(self, places: Any) -> Any:
        """Return the positions in the source of elements of the result."""
        count = len(self.gone)
        if not isinstance(self.gone, range):
            return places + (self.gone - np.arange(count)).searchsorted(places, "right")
        past = places - self.gone.start
        step = self.gone.step - 1
        before = past // step + 1 if step else (past >= 0) * count
        return places + np.clip(before, 0, count)

    def sliced(self, taken: Taken, part: PartOf) -> Node | None:
        span, ndim = taken[self.axis], len(taken)
        below = (*taken[: self.axis], None, *taken[self.axis + 1 :])
        a = part(self.a, below)
        if span is None:
            return self.replaced(a=a)
        if not span:
            return part(a, along(self.axis, ndim, range(0)))
        low, high = sorted((span[0], span[-1]))
        first, last = self._sources(np.array([low, high])).tolist()
        if not is_run(span, last - first):
            points = self._sources(as_positions(span))
            return Take(a, (points,), (self.axis,), self.axis)
        bounds = count_before(self.gone, np.array([first, last])).tolist()
        inner = self.replaced(
            a=part(a, along(self.axis, ndim, range(first, last + 1))),
            gone=shifted(self.gone[slice(*bounds)], first),
        )
        return part(inner, along(self.axis, ndim, range(*_moved(span, low))))

    def tile(self, a: Grid) -> Grid:
        starts = borders(numbers(a.chunks[self.axis]))
        bounds = count_before(self.gone, np.array(starts)).tolist()
        return blockwise(
            without,
            [(a, tuple(range(a.ndim)))],
            chunks=self._shorter(a.chunks),
            meta=self.meta,
            varying=InsertedPositions(self.name, self.axis, self.gone, starts, bounds),
            kwargs={"axis": self.axis},
        )


def _moved(cut: range, by: int) -> tuple[int, int, int]:
    """Return a range that begins ``by`` earlier; what it ends before may be negative."""
    start = cut.start - by
    return start, start + len(cut) * cut.step, cut.step


@kernel(scratch=0.2)
def without(block: Any, gone: Positions, axis: int) -> Any:
    """Return a block without some of its elements along an axis."""
    return np.delete(block, as_positions(gone), axis) if len(gone) else block


@public
@waits_for_lengths(lambda arr, axis, **_: resized(arr, axis))
def delete(arr: Any, obj: Any, axis: int | None = None) -> Node:
    """Leave out elements along an axis. See numpy.delete.

    Positions that are a tensor are computed immediately.
    """
    node = as_node(ravel.node(arr) if axis is None else arr)
    axis = normalize_axis(0 if axis is None else axis, len(node.chunks))
    places = obj.compute() if isinstance(obj, Collection) else obj
    deletions = _gone(places, length(node, axis), axis)
    remainder = Deletion(node, deletions, axis)
    is_single = isinstance(places, slice) or (
        np.size(places) == 1 and np.asarray(places).dtype != np.bool_
    )
    return as_new(remainder, node) if is_single else remainder


def _gone(places: Any, size: int, axis: int) -> Positions:
    """Return the elements of an axis to leave out, each once; invalid ones raise NumPy's errors."""
    if isinstance(places, slice):
        span = range(*places.indices(size))
        return span if span.step > 0 else span[::-1]
    array = np.asarray(places)
    if not array.size and not isinstance(places, np.ndarray):
        return range(0)
    if array.dtype == np.bool_:
        if array.shape != (size,):
            raise ValueError(
                "boolean array argument obj to delete must be one dimensional and match the axis "
                f"length of {size}"
            )
        return array.nonzero()[0]
    if array.dtype.kind not in "iu":
        raise IndexError("arrays used as indices must be of integer (or boolean) type")
    if array.size > 1:
        axis = 0  # as NumPy says of several
    if array.size and not -size <= (low := array.min()) <= (high := array.max()) < size:
        bad = low if low < -size else high
        raise IndexError(f"index {bad} is out of bounds for axis {axis} with size {size}")
    signed = array.astype(np.intp)
    return np.unique(np.where(signed < 0, signed + size, signed))
