"""Where each chunk lies in the whole: what kernels are given besides their blocks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ..sizes import Chunks, Index, Sizes, borders

Bounds = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class ChunkAt:
    """Gives each chunk its place among the chunks."""

    def __call__(self, index: Index) -> tuple[int]:
        return (index[0],)


@dataclass(frozen=True)
class _PlaceAlong:
    """A place along one axis."""

    sizes: Sizes
    axis: int = 0

    @cached_property
    def starts(self) -> list[int]:
        """Where each chunk begins, and where the last one ends."""
        return borders(self.sizes)


class StartAt(_PlaceAlong):
    """Gives each chunk the position at which it begins along an axis."""

    def __call__(self, index: Index) -> tuple[int]:
        return (self.starts[index[self.axis]],)


class SpanAt(_PlaceAlong):
    """Gives each chunk the positions between which it lies along an axis."""

    def __call__(self, index: Index) -> tuple[int, int]:
        place = index[self.axis]
        return self.starts[place], self.starts[place + 1]


@dataclass(frozen=True)
class _Among:
    """A place along all axes."""

    chunks: Chunks

    @cached_property
    def starts(self) -> list[list[int]]:
        """Where along each axis each chunk begins, and where the last one ends."""
        return list(map(borders, self.chunks))

    def bounds(self, index: Index) -> Bounds:
        """Return where a chunk begins and ends along each axis."""
        return tuple((cut[i], cut[i + 1]) for cut, i in zip(self.starts, index, strict=True))


class BoundsAt(_Among):
    """Gives each chunk the positions between which it lies along each axis."""

    def __call__(self, index: Index) -> tuple[Bounds]:
        return (self.bounds(index),)


class CornerAt(_Among):
    """Gives each chunk the position of its first element."""

    def __call__(self, index: Index) -> tuple[Index]:
        return (tuple(begin for begin, _ in self.bounds(index)),)


class PlaceAt(_Among):
    """Gives each chunk its shape and the position of its first element."""

    def __call__(self, index: Index) -> tuple[Index, Index]:
        bounds = self.bounds(index)
        return tuple(end - begin for begin, end in bounds), tuple(begin for begin, _ in bounds)


class SlicesAt(_Among):
    """Gives each chunk the slices that it covers."""

    def __call__(self, index: Index) -> tuple[tuple[slice, ...]]:
        return (tuple(slice(begin, end) for begin, end in self.bounds(index)),)
