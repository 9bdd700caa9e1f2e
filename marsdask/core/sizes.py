"""Sizes of axes and chunks, some of which are known only at run time."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from operator import attrgetter

from numpy import nan

from marsdask.scheduler.errors import MarsdaskError


class UnknownShapeError(MarsdaskError, ValueError):
    """The operation needs a length that is known only at run time."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """A length that is known only at run time: equal names and indices mean equal lengths."""

    name: str
    index: int = -1
    """Which block along the axis; -1 is the whole axis."""
    upper: int | None = field(default=None, compare=False)
    """A bound known beforehand, for memory projection only."""

    def __repr__(self) -> str:
        return "nan"


Size = int | Unknown
Sizes = tuple[Size, ...]
Chunks = tuple[Sizes, ...]
Index = tuple[int, ...]


def known(sizes: Iterable[Size]) -> bool:
    """Tell whether every size is a number."""
    # A set of types is built in C: grids may have a million chunks.
    return Unknown not in set(map(type, sizes))


def known_chunks(chunks: Chunks) -> bool:
    """Tell whether every chunk size is a number."""
    return all(map(known, chunks))


def is_single(sizes: Sizes) -> bool:
    """Tell whether an axis is one chunk: one of unknown length may become several."""
    return len(sizes) == 1 and known(sizes)


def numbers(sizes: Iterable[Size]) -> tuple[int, ...]:
    """Return the sizes, all of which must be known.

    Raise :class:`UnknownShapeError` otherwise.
    """
    sizes = tuple(sizes)
    if not known(sizes):
        raise UnknownShapeError("a length is not known before execute(); execute() first")
    return sizes  # type: ignore[return-value]


def shape_of(chunks: Iterable[Sizes]) -> tuple[int, ...]:
    """Return the length of each axis; the sizes must be known."""
    return tuple(sum(numbers(sizes)) for sizes in chunks)


def borders(sizes: Iterable[Size]) -> list[int]:
    """Return the begin of each chunk and, last, the end of the axis; the sizes must be known."""
    return [0, *itertools.accumulate(numbers(sizes))]


def upper(size: Size) -> int | None:
    """Return the largest possible length, ``None`` if it is unbounded."""
    return size.upper if isinstance(size, Unknown) else size


def total(sizes: Sizes) -> Size:
    """Return the length of an axis from the sizes of its chunks."""
    if len(sizes) == 1:
        return sizes[0]
    if known(sizes):
        return sum(sizes)  # type: ignore[arg-type]
    bounds = uppers(sizes)
    upper_bound = None if None in bounds else sum(bounds)  # type: ignore[arg-type]
    if {*map(type, sizes)} == {Unknown}:
        # Fields are read in C: grids may have a million chunks.
        names = {*map(attrgetter("name"), sizes)}
        if len(names) == 1 and [*map(attrgetter("index"), sizes)] == [*range(len(sizes))]:
            return Unknown(names.pop(), -1, upper_bound)
    described = ",".join(
        f"{size.name}@{size.index}" if isinstance(size, Unknown) else str(size) for size in sizes
    )
    return Unknown(f"sum({described})", -1, upper_bound)


def uppers(sizes: Sizes) -> list[int | None]:
    """Return the largest possible length of each chunk."""
    if known(sizes):
        return list(sizes)  # type: ignore[arg-type]
    if {*map(type, sizes)} == {Unknown}:
        return [*map(attrgetter("upper"), sizes)]
    return list(map(upper, sizes))


def unknown_sizes(name: str, uppers: Sequence[int | None]) -> Sizes:
    """Return one unknown size per block, all determined by ``name``."""
    if len(uppers) == 1:
        # One block is the whole axis under every name.
        return (Unknown(name, -1, uppers[0]),)
    return tuple(
        Unknown(name, position, upper_bound) for position, upper_bound in enumerate(uppers)
    )


def known_or_nan(size: Size) -> int | float:
    """Return the size for users: NumPy's nan while unknown, so that equal chunks compare equal."""
    return nan if isinstance(size, Unknown) else size


def shape_text(shape: Iterable[Size]) -> str:
    """Return a shape in the format of NumPy's errors: (6,5), (4,), with nan for unknown lengths."""
    sizes = [str(known_or_nan(size)) for size in shape]
    return f"({','.join(sizes)}{',' if len(sizes) == 1 else ''})"


def merge_sizes(sizes: tuple[int, ...], factor: int) -> tuple[int, ...]:
    """Merge runs of up to ``factor`` neighbouring sizes into nearly equal blocks."""
    factor = -(-len(sizes) // -(-len(sizes) // factor))
    if sizes.count(sizes[0]) == len(sizes):
        whole, remainder = divmod(len(sizes), factor)
        lengths = (sizes[0] * factor,) * whole
        return (*lengths, sizes[0] * remainder) if remainder else lengths
    return tuple(sum(sizes[start : start + factor]) for start in range(0, len(sizes), factor))
