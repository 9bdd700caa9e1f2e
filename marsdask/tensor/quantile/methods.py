"""The position of quantiles between ordered elements, by every method of NumPy's."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


def _continuous(alpha: float, beta: float) -> Callable[[int, float], float]:
    def place(count: int, q: float) -> float:
        return count * q + (alpha + q * (1 - alpha - beta)) - 1

    return place


def _linear(count: int, q: float) -> float:
    return (count - 1) * q


def _midpoint(count: int, q: float) -> float:
    place = _linear(count, q)
    return place if place == math.floor(place) else math.floor(place) + 0.5


def _closest(count: int, q: float) -> float:
    place = count * q - 1.5
    down = math.floor(place)
    return down if place == down and down % 2 == 1 else down + 1


def _averaged(count: int, q: float) -> float:
    place = count * q
    return place - 0.5 if place == math.floor(place) else math.ceil(place) - 1.0


#: The position of a quantile among the ordered elements. The whole part is an element's rank, the
#: fraction the distance to the next; an int is an element itself.
METHODS: dict[str, Callable[[int, float], float]] = {
    "linear": _linear,
    "lower": lambda count, q: math.floor(_linear(count, q)),
    "higher": lambda count, q: math.ceil(_linear(count, q)),
    "nearest": lambda count, q: round(_linear(count, q)),
    "midpoint": _midpoint,
    "weibull": _continuous(0, 0),
    "hazen": _continuous(0.5, 0.5),
    "median_unbiased": _continuous(1 / 3, 1 / 3),
    "normal_unbiased": _continuous(3 / 8, 3 / 8),
    "interpolated_inverted_cdf": _continuous(0, 1),
    "inverted_cdf": lambda count, q: math.ceil(count * q - 1),
    "averaged_inverted_cdf": _averaged,
    "closest_observation": _closest,
}

#: A median is the mean of the elements in the middle. A quantile of a half interpolates between
#: them instead. Small integers cannot hold their difference, and that of infinities is NaN.
MIDDLE = "middle"


class Place(NamedTuple):
    """Two ranks, and the position of a quantile between them."""

    low: int
    high: int
    share: float | None
    """``None`` where the quantile is an element."""


def as_numbers(qs: Any, count: int) -> list[Any]:
    """Return quantiles as numbers to place; NumPy places those of a small type in that type."""
    kind = np.asarray(qs).dtype
    small = kind.kind == "f" and kind.itemsize < np.dtype(np.float64).itemsize
    return list(np.ravel(qs)) if small and count <= np.finfo(kind).max else np.ravel(qs).tolist()


def place_of(method: str, count: int, q: float) -> Place:
    """Return the position of one quantile of ``count`` elements."""
    if method == MIDDLE:
        return Place((count - 1) // 2, count // 2, 0.5 if count % 2 == 0 else None)
    place = METHODS[method](count, q)
    low = min(max(math.floor(place), 0), count - 1)
    high = low if place < 0 else min(low + 1, count - 1)
    return Place(low, high, None if isinstance(place, int) else place - math.floor(place))


def wanted_ranks(qs: Any, method: str, count: int) -> tuple[int, ...]:
    """Return the ranks of the elements around the quantiles."""
    ranks = set()
    for q in as_numbers(qs, count):
        ranks |= set(place_of(method, count, q)[:2])
    return tuple(sorted(ranks))


def between(
    elements: dict[int, Any],
    dtype: np.dtype[Any],
    method: str,
    count: int,
    q: float,
    *,
    weak: bool,
) -> Any:
    """Return a quantile of ``count`` elements from the elements around it, given by rank."""
    place = place_of(method, count, q)
    low, high = elements[place.low], elements[place.high]
    if place.share is None:
        return low
    if method == MIDDLE:
        return np.mean([low, high])
    # Python's numbers do not affect the type.
    share = place.share if weak else dtype.type(place.share)
    # From the nearer side, so that the result is monotonic in q and exact at both ends.
    step = high - low
    return low + step * share if share < 0.5 else high - step * (1 - share)
