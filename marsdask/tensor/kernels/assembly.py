"""Join parts of several blocks in one block."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from marsdask.core.sizes import borders

from ..sparse.blocks import is_sparse, join_blocks
from .duck_arrays import alike


def assemble(blocks: list[Any], parts: tuple[tuple[slice, ...], ...]) -> Any:
    """Join parts of blocks (last axis fastest) into one array."""
    if is_sparse(blocks[0]):
        pieces = [
            block[place] for block, place in zip(blocks, itertools.product(*parts), strict=True)
        ]
        return join_blocks(pieces, tuple(map(len, parts)))
    blocks = list(alike(*blocks))
    # An axis with unchanged chunks has one part, whose length only the block determines.
    lengths = [
        [n if part.stop is None else part.stop - part.start for part in axis]
        for axis, n in zip(parts, blocks[0].shape, strict=True)
    ]
    out = np.empty_like(blocks[0], shape=tuple(map(sum, lengths)))
    offsets = list(map(borders, lengths))
    for block, positions in zip(
        blocks, itertools.product(*(range(len(axis)) for axis in parts)), strict=True
    ):
        here = tuple(
            slice(starts[i], starts[i + 1]) for starts, i in zip(offsets, positions, strict=True)
        )
        out[here] = block[tuple(axis[i] for axis, i in zip(parts, positions, strict=True))]
    return out
