"""Parts of a reshaped axis, as positions at regular distances in the axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from marsdask.core.grids.parts import MOST_RUNS
from marsdask.core.node import Node, PartOf

from .concatenation import Concatenate
from .shape import View


class Stride(NamedTuple):
    """So many positions, each the same distance behind the last."""

    length: int
    step: int


class Strided(NamedTuple):
    """Positions in an axis: a first one, and steps from it along axes, the last of them first."""

    start: int
    axes: list[Stride]

    @property
    def as_range(self) -> range | None:
        """The positions as one range, ``None`` if they are none."""
        if not self.axes:
            return range(self.start, self.start + 1)
        (count, step), *outer = self.axes
        return None if outer else range(self.start, self.start + count * step, step)


def strided(shape: Sequence[int], ranges: Sequence[range]) -> Strided:
    """Return where a part of an array of a shape lies in C order; axes that go on become one."""
    axes: list[Stride] = []
    start = 0
    for place, span in reversed([*enumerate(ranges)]):
        weight = math.prod(shape[place + 1 :])
        start += span.start * weight
        step = span.step * weight
        if len(span) > 1 and axes and step == axes[-1].length * axes[-1].step:
            axes[-1] = Stride(axes[-1].length * len(span), axes[-1].step)
        elif len(span) > 1:
            axes.append(Stride(len(span), step))
    return Strided(start, axes)


def runs_of(a: Node, where: Strided, part: PartOf) -> Node | None:
    """Return elements of a vector as a matrix of few rows or of few columns, ``None`` for more."""
    if len(where.axes) != 2:
        return None
    inner, outer = where.axes
    few, long, axis = (outer, inner, 0) if outer.length <= inner.length else (inner, outer, 1)
    if few.length > MOST_RUNS:
        return None
    starts = (where.start + i * few.step for i in range(few.length))
    runs = (part(a, (range(i, i + long.length * long.step, long.step),)) for i in starts)
    rows = tuple(View(run, (0, None) if axis else (None, 0)) for run in runs)
    return Concatenate(rows, axis, a.meta.dtype)
