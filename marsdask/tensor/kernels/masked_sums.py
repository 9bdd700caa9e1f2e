"""Sums of masked elements as products with the mask, without moving elements.

Non-finite values make the product NaN; then the selected values are gathered and summed. Warnings
for unselected elements are suppressed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .blas_sums import ROW
from .fused_ufuncs import UfuncProgram, UfuncStep
from .scratch import scratch
from .tile_selection import places, take_elements

#: Functions that are cheaper for all elements than a selection.
CHEAP = (np.add, np.subtract, np.multiply, np.negative, np.positive, np.square, np.absolute)
#: The largest number of them.
FEW = 4


def masked_program(program: UfuncProgram) -> UfuncProgram | None:
    """Return a program for the values of all elements, and the mask.

    ``None`` if the values are not doubles, or are too expensive.
    """
    place: list[Any] = list(range(program.leaves))
    steps: list[UfuncStep] = []
    mask = first = None
    for step in program.steps:
        if step.func is places:
            mask, first = place[step.slots[0]], len(steps)
            place.append(None)
        elif step.func is take_elements:
            place.append(place[step.slots[0]])
        else:
            steps.append(step.moved(place))
            place.append(program.leaves + len(steps) - 1)
    double = program.dtype == np.float64
    if mask is None or not double or len(steps[first:]) > FEW:
        return None
    if any(step.func not in CHEAP or step.dtype != np.float64 for step in steps[first:]):
        return None
    steps.append(UfuncStep(_both, (place[-1], mask), (), (), program.dtype))
    return UfuncProgram(program.leaves, tuple(steps))


def _both(value: Any, mask: Any) -> Any:
    return value, mask


def weighed_sum(value: Any, mask: Any) -> Any:
    """Return the sum of the elements of a tile where a mask holds, ``nan`` if it is unknown."""
    weights = scratch("weights", mask.shape, value.dtype)
    np.copyto(weights, mask)
    if value.ndim == 1:
        # In rows, so that rounding errors stay small.
        whole = len(value) // ROW * ROW
        rows = np.vecdot(value[:whole].reshape(-1, ROW), weights[:whole].reshape(-1, ROW))
        total = np.add.reduce(rows) + np.vecdot(value[whole:], weights[whole:])
    else:
        total = np.add.reduce(np.vecdot(value, weights), axis=None)
    return np.full((1,) * value.ndim, total)


def weighed_total(value: Any, mask: Any) -> Any:
    """Return (sum, count) of the elements of a tile where a mask holds."""
    total = weighed_sum(value, mask)
    return total, np.full(total.shape, np.count_nonzero(mask))
