"""Find elements of given ranks without a sort: brackets around them, and the elements inside."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from marsdask.core.machine.costs import kernel

from ..sorting.sort import sample_positions
from .methods import as_numbers, between

#: Elements compared at a time: they stay in cache, and a comparison is long enough for threads not
#: to wait for the interpreter's lock.
STEP = 2**17


class QuantileBracket(NamedTuple):
    """The elements lie from ``low`` to ``high``, both included."""

    low: Any
    high: Any


def bracket(
    ranks: Sequence[int], samples: Any, count: int, width: float
) -> tuple[QuantileBracket, ...]:
    """Return value ranges that contain the ranks almost surely; overlapping ones are merged."""
    size = len(samples)
    bounds: list[tuple[int, int]] = []
    for rank in ranks:
        share = (rank + 0.5) / count
        slack = width * math.sqrt(size * share * (1 - share)) + 2 * width
        low, high = math.floor(share * size - slack), math.ceil(share * size + slack)
        if bounds and low <= bounds[-1][1]:
            low = bounds.pop()[0]
        bounds.append((low, high))
    return tuple(
        QuantileBracket(
            samples[low] if low >= 0 else _bound(samples.dtype, -1),
            samples[high] if high < size else _bound(samples.dtype, 1),
        )
        for low, high in bounds
    )


def _bound(dtype: np.dtype[Any], sign: int) -> Any:
    """Return the smallest or the largest value of a dtype."""
    if dtype.kind == "f":
        return dtype.type(sign * np.inf)
    info = np.iinfo(dtype)
    return dtype.type(info.max if sign > 0 else info.min)


@kernel(scratch=0.1)
def sample(block: Any, rate: float) -> tuple[int, Any]:
    """Return the number of NaNs, and the sampled elements except NaN."""
    flat = block.reshape(-1)
    values = flat[sample_positions(len(flat), rate)]
    if block.dtype.kind != "f":
        return 0, values
    parts = (flat[start : start + STEP] for start in range(0, len(flat), STEP))
    nans = sum(int(np.count_nonzero(np.isnan(part))) for part in parts)
    return nans, values[~np.isnan(values)]


class BracketElements(NamedTuple):
    """The counts and elements of one chunk for one bracket."""

    below: int
    at_low: int
    inside: Any
    at_high: int


@kernel(scratch=0.1)
def collect(block: Any, brackets: tuple[QuantileBracket, ...]) -> list[BracketElements]:
    """Count the elements below and on each bracket, and collect those inside."""
    flat = block.reshape(-1)
    inside: list[list[Any]] = [[] for _ in brackets]
    counts = np.zeros((len(brackets), 3), np.intp)
    for start in range(0, len(flat), STEP):
        part = flat[start : start + STEP]
        for number, (low, high) in enumerate(brackets):
            below = np.count_nonzero(part < low)
            from_low = part >= low
            near = part[np.logical_and(from_low, part <= high, out=from_low)]
            strict = near[(near > low) & (near < high)]
            at_low = np.count_nonzero(near == low)
            at_high = np.count_nonzero(near == high) if low != high else 0
            counts[number] += (below, at_low, at_high)
            inside[number].append(strict)
    return [
        BracketElements(int(below), int(at_low), np.concatenate(pieces or [flat[:0]]), int(at_high))
        for (below, at_low, at_high), pieces in zip(counts, inside, strict=True)
    ]


def bracket_counts(found: list[BracketElements]) -> Any:
    """Return for each bracket the number of elements before it, and up to its end."""
    rows = [
        (item.below, item.below + item.at_low + len(item.inside) + item.at_high) for item in found
    ]
    return np.array(rows, np.intp)


@kernel(scratch=2.0)
def interpolated(
    chunks: list[list[BracketElements]],
    q: Any,
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    method: str,
    count: int,
    ranks: Sequence[int],
    brackets: Sequence[QuantileBracket],
) -> Any:
    """Find the elements of the wanted ranks and interpolate between them."""
    elements: dict[int, Any] = {}
    for limits, parts in zip(brackets, zip(*chunks, strict=True), strict=True):
        start = sum(part.below for part in parts)
        lows = start + sum(part.at_low for part in parts)
        inside = np.sort(np.concatenate([part.inside for part in parts]))
        stop = lows + len(inside) + sum(part.at_high for part in parts)
        for rank in ranks:
            if start <= rank < lows:
                elements[rank] = limits.low
            elif lows <= rank < lows + len(inside):
                elements[rank] = inside[rank - lows]
            elif lows <= rank < stop:
                elements[rank] = limits.high
    with np.errstate(invalid="ignore", over="ignore"):
        values = [
            between(elements, dtype, method, count, item, weak=type(q) in (int, float))
            for item in as_numbers(q, count)
        ]
    return np.array(values, dtype).reshape(shape)
