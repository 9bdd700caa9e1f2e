"""Blocks of evenly spaced values, from the formula for each element."""

from __future__ import annotations

from typing import Any

import numpy as np

from marsdask.core.compilation.costs import kernel

Shape = tuple[int, ...]

#: The number of integers counted at a time.
COUNTED = 2**16


def _integer_range(start: int, length: int, dtype: Any) -> Any:
    """Return whole numbers in a type: counted in integers, since steps of one would be rounded."""
    out = np.empty(length, dtype)
    for begin in range(0, length, COUNTED):
        end = min(begin + COUNTED, length)
        out[begin:end] = np.arange(start + begin, start + end)
    return out


@kernel(scratch=0.0, buffer=8 * COUNTED)
def arange_block(shape: Shape, starts: Shape, dtype: Any, first: Any, second: Any) -> Any:
    """Make a block of a range from the formula for each element, as NumPy does.

    NumPy rounds the first two values to the type and continues with their difference.
    """
    (length,), (start,) = shape, starts
    kind = np.dtype(np.float32) if dtype == np.float16 else dtype
    begin = first.astype(kind)
    with np.errstate(over="ignore", invalid="ignore"):
        step = np.subtract(second.astype(kind), begin, dtype=kind)
        block = _integer_range(start, length, kind)
        np.multiply(block, step, out=block)
        np.add(block, begin, out=block)
    if start <= 1 < start + length:
        block[1 - start] = second
    return block.astype(dtype, copy=False)


@kernel(scratch=0.0, buffer=8 * COUNTED)
def linspace_block(
    shape: Shape, starts: Shape, dtype: Any, ends: tuple[Any, Any, int], last: bool
) -> Any:
    """Return a block of ``num`` values between two ends, with or without the last one."""
    (length,), (begin,) = shape, starts
    start, stop, num = ends
    div = num - 1 if last else num
    kind = np.result_type(start, stop, float(num))
    block = _integer_range(begin, length, kind)
    delta = np.subtract(stop, start, dtype=kind)
    if div > 0:
        step = delta / div
        # A step may be too small for the type.
        if step == 0:
            np.divide(block, div, out=block)
        np.multiply(block, delta if step == 0 else step, out=block)
    else:
        np.multiply(block, delta, out=block)
    block += start
    if last and num > 1 and begin <= num - 1 < begin + length:
        block[-1] = stop
    if dtype.kind in "iu":
        np.floor(block, out=block)
    return block.astype(dtype, copy=False)
