"""Blocks of evenly spaced values, from the formula for each element."""

from __future__ import annotations

from typing import Any

import numpy as np

from marsdask.core.machine.costs import kernel

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


def arange_at(places: tuple[Any, ...], dtype: Any, first: Any, second: Any) -> Any:
    """Return the elements of a range at positions, see :func:`arange_block`."""
    (places_along,) = places
    kind = np.dtype(np.float32) if dtype == np.float16 else dtype
    begin = first.astype(kind)
    with np.errstate(over="ignore", invalid="ignore"):
        step = np.subtract(second.astype(kind), begin, dtype=kind)
        values = places_along.astype(kind) * step + begin
    values[places_along == 1] = second
    return values.astype(dtype, copy=False)


@kernel(scratch=0.0, buffer=8 * COUNTED)
def linspace_block(
    shape: Shape, starts: Shape, dtype: Any, ends: tuple[Any, Any, int], last: bool
) -> Any:
    """Return a block of ``num`` values between two ends, with or without the last one."""
    (length,), (begin,) = shape, starts
    start, stop, num = ends
    block = _integer_range(begin, length, np.result_type(start, stop, float(num)))
    _scale(block, ends, last)
    if last and num > 1 and begin <= num - 1 < begin + length:
        block[-1] = stop
    if dtype.kind in "iu":
        np.floor(block, out=block)
    return block.astype(dtype, copy=False)


def linspace_at(places: tuple[Any, ...], dtype: Any, ends: tuple[Any, Any, int], last: bool) -> Any:
    """Return the values at positions between two ends, see :func:`linspace_block`."""
    (places_along,) = places
    start, stop, num = ends
    values = places_along.astype(np.result_type(start, stop, float(num)))
    _scale(values, ends, last)
    if last and num > 1:
        values[places_along == num - 1] = stop
    return (np.floor(values) if dtype.kind in "iu" else values).astype(dtype, copy=False)


def _scale(block: Any, ends: tuple[Any, Any, int], last: bool) -> None:
    """Turn positions into the values between two ends."""
    start, stop, num = ends
    div = num - 1 if last else num
    kind = block.dtype
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
