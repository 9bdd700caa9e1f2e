"""Tensors as blocks: putting fetched ones together, and showing their corners."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np

from marsdask.core.types import Index


def assemble(blocks: Mapping[Index, Any], meta: Any, *, owned: bool) -> Any:
    """Return one array from all blocks, a scalar from the block of a 0-d tensor.

    A single block that others keep too is copied, so that nobody writes into what they hold.
    """
    if len(blocks) == 1:
        (block,) = blocks.values()
        if np.ndim(block) == 0:
            return np.asarray(block)[()]
        return block if owned and _is_alone(block) else block.copy()
    starts = [
        [0, *itertools.accumulate(sizes)] for sizes in _sizes(blocks, ndim=len(next(iter(blocks))))
    ]
    out = np.empty(tuple(start[-1] for start in starts), dtype=meta.dtype)
    for index, block in blocks.items():
        out[
            tuple(
                slice(start[position], start[position + 1])
                for start, position in zip(starts, index, strict=True)
            )
        ] = block
    return out


def _is_alone(block: Any) -> bool:
    """Tell whether an array is writeable and shares its memory with no other array."""
    return bool(block.flags.writeable) and not isinstance(block.base, np.ndarray)


def _sizes(blocks: Mapping[Index, Any], ndim: int) -> list[list[int]]:
    """Return the lengths of the blocks along each axis, read off those at its edge."""
    counts = [1 + max(index[axis] for index in blocks) for axis in range(ndim)]
    return [
        [
            blocks[tuple(i if other == axis else 0 for other in range(ndim))].shape[axis]
            for i in range(counts[axis])
        ]
        for axis in range(ndim)
    ]
