"""Blocks of some elements of an array that a function tells block by block."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from marsdask.core.compilation.costs import kernel

Shape = tuple[int, ...]


def subrange(whole: range, part: range) -> range:
    """Return a part of a range: the elements at the positions ``part``, which may be none."""
    start, step = whole.start + whole.step * part.start, whole.step * part.step
    return range(start, start + step * len(part), step)


#: The most elements along an axis that are made to take some of them.
SPAN = 2**16


@kernel(scratch=1.0)
def part_block(
    shape: Shape, starts: Shape, func: Callable[..., Any], whole: tuple[range, ...], **kwargs: Any
) -> Any:
    """Make a block of the elements at some positions of an array that a function tells."""
    ranges = [
        subrange(own, range(start, start + length))
        for own, start, length in zip(whole, starts, shape, strict=True)
    ]
    return _elements(func, ranges, kwargs)


def _elements(func: Callable[..., Any], wanted: Sequence[range], kwargs: dict[str, Any]) -> Any:
    """Return the elements at positions: long steps are taken one by one, others from a run."""
    # The step of one element is none.
    wanted = [
        part if len(part) > 1 else range(part.start, part.start + len(part)) for part in wanted
    ]
    ascending = [part if part.step > 0 else part[::-1] for part in wanted]
    flips = tuple(slice(None, None, 1 if part.step > 0 else -1) for part in wanted)
    return _ascending(func, ascending, kwargs)[flips]


def _ascending(func: Callable[..., Any], wanted: list[range], kwargs: dict[str, Any]) -> Any:
    shape = tuple(part[-1] - part[0] + 1 if part else 0 for part in wanted)
    spanned = math.prod(shape)
    axis = max(
        range(len(wanted)), key=lambda axis: (len(wanted[axis]) > 1) * wanted[axis].step, default=0
    )
    if spanned > max(SPAN, 2 * math.prod(map(len, wanted))):
        part = wanted[axis]
        count = max(1, len(part) * SPAN // spanned)
        pieces = [
            _ascending(func, [*wanted[:axis], part[i : i + count], *wanted[axis + 1 :]], kwargs)
            for i in range(0, len(part), count)
        ]
        return np.concatenate(pieces, axis)
    steps = tuple(slice(None, None, part.step) for part in wanted)
    return func(shape, tuple(part.start for part in wanted), **kwargs)[steps]
