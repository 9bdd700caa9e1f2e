"""A random permutation that each chunk computes for its own positions: a Feistel network."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

#: The keys of the rounds, of which four look random.
ROUNDS = 4

_FACTORS = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


def permuted(positions: Any, length: int, keys: Sequence[int]) -> Any:
    """Return where a permutation of ``range(length)`` takes each position.

    What leaves the range is permuted again: the walk ends, since each step is a bijection.
    """
    half = max(1, ((length - 1).bit_length() + 1) // 2)
    result = positions.astype(np.uint64)
    walking = np.arange(len(result))
    while walking.size:
        result[walking] = _steps(result[walking], half, keys)
        walking = walking[result[walking] >= length]
    return result.astype(np.int64)


def _steps(values: Any, half: int, keys: Sequence[int]) -> Any:
    shift, mask = np.uint64(half), np.uint64((1 << half) - 1)
    left, right = values >> shift, values & mask
    for key in keys:
        left, right = right, left ^ (_mixed(right + np.uint64(key)) & mask)
    return left << shift | right


def _mixed(values: Any) -> Any:
    """Return SplitMix64's hash of each number."""
    for factor, shift in zip(_FACTORS, (30, 27), strict=True):
        values = (values ^ (values >> np.uint64(shift))) * factor
    return values ^ (values >> np.uint64(31))
