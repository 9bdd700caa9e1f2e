"""Parts of values: which are worth a node of their own, and the ranges that points need."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..node import Axes, Node, Taken
from ..registry import class_of
from ..sizes import Size, upper

#: Of more points no parts are made.
MOST_POINTS = 2**20

#: The most runs of neighbours among points of which parts are made.
MOST_RUNS = 64


class OuterCut(NamedTuple):
    """The elements of an axis that points need."""

    runs: list[range]
    """Their positions, ascending."""
    local: Any
    """For each point its position among them."""

    @property
    def length(self) -> int:
        """How many elements there are."""
        return sum(map(len, self.runs))


def outer_cut(positions: Any) -> OuterCut | None:
    """Return the elements of an axis that points need, ``None`` if they are too many runs."""
    if isinstance(positions, range) and positions:
        places = range(len(positions))
        descending = positions.step < 0
        direction = slice(None, None, -1 if descending else 1)
        return OuterCut([positions[direction]], places[direction])
    points, local = np.unique(positions, return_inverse=True)
    if not len(points):
        return OuterCut([range(1)], positions)
    gaps = np.diff(points)
    step = int(np.gcd.reduce(gaps)) if len(gaps) else 1
    first, last = int(points[0]), int(points[-1])
    whole = range(first, last + 1, step)
    if len(whole) <= 4 * len(points):
        return OuterCut([whole], (positions - first) // step)
    breaks = [0, *(np.flatnonzero(gaps > 1) + 1).tolist(), len(points)]
    if len(breaks) > MOST_RUNS:
        return None
    runs = [range(int(points[i]), int(points[j - 1]) + 1) for i, j in itertools.pairwise(breaks)]
    return OuterCut(runs, local.reshape(-1))


#: Positions further apart, as a multiple of their number, are not taken from a run of all.
MOST_APART = 16


def run_of(own: range | None) -> tuple[range | None, range | None] | None:
    """Return the run that holds a range, and the range within it.

    ``None`` if there is nothing in the range, or too much beside it.
    """
    if own is None:
        return None, None
    if not own:
        return None
    low, high = min(own[0], own[-1]), max(own[0], own[-1])
    if high - low >= MOST_APART * len(own):
        return None
    step = own.step if len(own) > 1 else 1
    rest = range(own[0] - low, own[-1] - low + (1 if step > 0 else -1), step)
    return range(low, high + 1), rest


#: Values of at most so many bytes, made of no more elements, are made whole: planning takes longer.
SMALL = 2**20


def is_small_part(shape: Sequence[Size], source: Node) -> bool:
    """Tell whether a selection is at most half of a source that is not small."""
    bounds = [upper(size) for size in source.shape]
    if None in bounds:
        return True
    count = math.prod(bounds)  # type: ignore[arg-type]
    size_of_part = math.prod(upper(size) or 0 for size in shape)
    is_small = count * (source.itemsize or 8) <= SMALL and source.most_elements <= SMALL
    return not is_small and size_of_part * 2 <= count


def loops_beside(core: Collection[int], ndim: int, *, kept: bool = True, first: int = 0) -> Axes:
    """Return the axes of the result that an input's axes go along with, but for its core axes.

    Those are kept in their places, or vanish. ``first`` is where the result's axes begin.
    """
    places = iter(range(first, first + ndim))
    axes: list[int | None] = []
    for axis in range(ndim):
        is_core = axis in core
        place = next(places) if kept or not is_core else None
        axes.append(None if is_core else place)
    return tuple(axes)


def part_of(node: Node, taken: Taken) -> Node:
    """Return the node of a part of another, itself if that is all of it."""
    lengths = node.shape
    if all(
        part is None or part == range(n if isinstance(n, int) else -1)
        for part, n in zip(taken, lengths, strict=True)
    ):
        return node
    return class_of(node.meta)._part_of(node, taken)
