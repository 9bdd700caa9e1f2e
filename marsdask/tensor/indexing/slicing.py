"""Basic slices: every chunk of the result is a view of one chunk of the source."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, ClassVar

from marsdask.core.grids.grid import Grid, Look
from marsdask.core.grids.lengths import resolved
from marsdask.core.grids.parts import is_small_part, part_of
from marsdask.core.grids.select import cut_axis, prefix, slice_grid
from marsdask.core.node import DiagonalOf, MemoryOrder, Node, PartOf, SameMeta
from marsdask.core.node import Taken as Cut
from marsdask.core.sizes import Chunks, Sizes, Unknown, known, numbers, uppers

from ..chunkwise.rechunk import recut_as

#: The selection along one axis: a range, or for an unknown length a slice or an element.
Taken = range | slice | int

EVERYTHING = slice(None)


@dataclass(frozen=True, eq=False)
class Slice(SameMeta):
    """Part of every axis: a range, or while the length is unknown a slice or one element.

    Keeps the number of axes: an element is an axis of length one.
    """

    label: ClassVar[str] = "getitem"

    taken: tuple[Taken, ...]

    @property
    def chunks(self) -> Chunks:
        return tuple(
            self._sizes(axis, sizes, part)
            for axis, (sizes, part) in enumerate(zip(self.a.chunks, self.taken, strict=True))
        )

    @property
    def memory_order(self) -> MemoryOrder:
        return self.a.memory_order

    def _sizes(self, axis: int, sizes: Sizes, part: Taken) -> Sizes:
        if part == EVERYTHING:
            return sizes
        if isinstance(part, int):
            return (1,)
        if isinstance(part, range) and known(sizes):
            return cut_axis(numbers(sizes), part).sizes
        return (Unknown(f"{self.name}@{axis}", -1, _bound(sizes, part)),)

    def tile(self, a: Grid) -> Any:
        open_axes = [
            axis
            for axis, part in enumerate(self.taken)
            if part != EVERYTHING and not known(a.chunks[axis])
        ]
        if open_axes:
            return self._look(a, open_axes)
        return slice_grid(a, self._ranges(a))

    def _ranges(self, a: Grid) -> tuple[range | None, ...]:
        return tuple(
            None if part == EVERYTHING or not known(sizes) else settle(part, numbers(sizes), axis)
            for axis, (sizes, part) in enumerate(zip(a.chunks, self.taken, strict=True))
        )

    def sliced(self, taken: Cut, part: PartOf) -> Node | None:
        if not all(own == EVERYTHING or isinstance(own, range) for own in self.taken):
            return None
        pairs = zip(self.taken, taken, strict=True)
        return part(self.a, tuple(_composed(own, places) for own, places in pairs))

    def diagonal(self, rows: range, columns: range, along: DiagonalOf) -> Node | None:
        *lead, _, _ = self.taken
        # A slice of other axes is one of diagonals.
        if any(own != EVERYTHING for own in lead):
            return None
        pair = []
        for own, span in zip(self.taken[-2:], (rows, columns), strict=True):
            if own != EVERYTHING and not isinstance(own, range):
                return None
            pair.append(_composed(own, span) or span)
        return self.a.diagonal(pair[0], pair[1], along)

    @property
    def first_needed(self) -> int | None:
        if not self.taken or known(self.a.chunks[0]) or self.taken[0] == EVERYTHING:
            return None
        return elements_needed(self.taken[0])

    def pushed_down(self) -> Node | None:
        ranges = tuple(_settled_range(part) for part in self.taken)
        if not is_small_part(self.shape, self.a):
            return None
        if any(
            part != EVERYTHING and span is None
            for part, span in zip(self.taken, ranges, strict=True)
        ):
            return None
        inner = self.a.sliced(ranges, part_of)
        return None if inner is None else recut_as(inner, self.chunks)

    def _look(self, a: Grid, open_axes: list[int]) -> Generator[Look, Any, Grid]:
        """Slice the axes of known length, then compute as much of the others as needed."""
        a = slice_grid(a, self._ranges(a))
        needs = [elements_needed(self.taken[axis]) for axis in open_axes]
        if len(open_axes) == 1 and needs[0] is not None:
            a = yield from prefix(a, open_axes[0], needs[0])
        else:
            (a,) = yield from resolved(a)
        ranges = tuple(
            settle(part, numbers(a.chunks[axis]), axis) if axis in open_axes else None
            for axis, part in enumerate(self.taken)
        )
        return slice_grid(a, ranges)


def sliced_tensor(node: Node, taken: Cut) -> Node:
    """Return the node of a part of a tensor."""
    return Slice(
        node,
        tuple(
            EVERYTHING if part is None or part == range(n if isinstance(n, int) else -1) else part
            for part, n in zip(taken, node.shape, strict=True)
        ),
    )


def _settled_range(part: Taken) -> range | None:
    return part if isinstance(part, range) else None


def _composed(own: Taken, part: range | None) -> range | None:
    """Return the part of a part of an axis."""
    if not isinstance(own, range) or part is None:
        return part if part is not None else _settled_range(own)
    # A range may end before its begin, which a slice would count from the end.
    start = own.start + own.step * part.start
    step = own.step * part.step
    return range(start, start + step * len(part), step)


def settle(part: Taken, sizes: tuple[int, ...], axis: int) -> range:
    """Return the selection along an axis whose length is now known."""
    length = sum(sizes)
    if isinstance(part, range):
        return part
    if isinstance(part, slice):
        return range(*part.indices(length))
    if not -length <= part < length:
        raise IndexError(f"index {part} is out of bounds for axis {axis} with size {length}")
    part %= length
    return range(part, part + 1)


def elements_needed(part: Taken) -> int | None:
    """Return how many leading elements determine the result, ``None`` if all do."""
    if isinstance(part, int):
        return part + 1 if part >= 0 else None
    if isinstance(part, range):
        return None
    step = 1 if part.step is None else part.step
    start = 0 if part.start is None else part.start
    if step < 0 or part.stop is None or part.stop < 0 or start < 0:
        return None
    return int(part.stop) if part.stop > start else 0


def _bound(sizes: Sizes, part: range | slice) -> int | None:
    if isinstance(part, range):
        return len(part)
    bounds = uppers(sizes)
    whole = None if None in bounds else sum(bounds)  # type: ignore[arg-type]
    count = elements_needed(part)
    if count is None or whole is None:
        return whole if count is None else count
    return min(whole, count)
