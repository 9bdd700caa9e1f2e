"""The position of each chunk in the whole, as an argument of kernels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ..sizes import Chunks, Index, Sizes, borders

Bounds = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class ChunkAt:
    """Gives each chunk its index among the chunks."""

    def __call__(self, index: Index) -> tuple[int]:
        return (index[0],)


@dataclass(frozen=True)
class _PlaceAlong:
    """A position along one axis."""

    sizes: Sizes
    axis: int = 0

    @cached_property
    def starts(self) -> list[int]:
        """The position at which each chunk begins, and at which the last one ends."""
        return borders(self.sizes)


class StartAt(_PlaceAlong):
    """Gives each chunk the position at which it begins along an axis."""

    def __call__(self, index: Index) -> tuple[int]:
        return (self.starts[index[self.axis]],)


class SpanAt(_PlaceAlong):
    """Gives each chunk its begin and its end along an axis."""

    def __call__(self, index: Index) -> tuple[int, int]:
        place = index[self.axis]
        return self.starts[place], self.starts[place + 1]


@dataclass(frozen=True)
class _Among:
    """A position along all axes."""

    chunks: Chunks

    @cached_property
    def starts(self) -> list[list[int]]:
        """For each axis, the begin of each chunk, and the end of the last one."""
        return list(map(borders, self.chunks))

    def bounds(self, index: Index) -> Bounds:
        """Return the begin and the end of a chunk along each axis."""
        return tuple((edges[i], edges[i + 1]) for edges, i in zip(self.starts, index, strict=True))


class BoundsAt(_Among):
    """Gives each chunk its begin and its end along each axis."""

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
