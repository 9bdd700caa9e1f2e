"""Points and masks of sparse blocks: what is selected stays sparse."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .blocks import dense, from_coords, to_csr


def take_stored(block: Any, points: Sequence[Any], axes: Sequence[int]) -> Any:
    """Take points from a sparse block: along one axis, or single elements of a matrix."""
    if len(axes) == 2:
        elements = block.tocsr()[points[0], points[1]]
        return to_csr(np.asarray(dense(elements)).ravel())
    if block.ndim == 1:
        row = block.tocoo().reshape(1, -1).tocsr()
        return to_csr(row[:, points[0]].tocoo().reshape(-1))
    key = (slice(None),) * axes[0] + (points[0],)
    return to_csr(block.tocsr()[key])


def merge_stored(shares: Sequence[Any], places: Sequence[Any], axis: int) -> Any:
    """Put parts of sparse blocks at their places along an axis."""
    values, coords, length = [], [], 0
    for share, (part, positions) in zip(shares, places, strict=True):
        points = np.arange(share.shape[axis])[part]
        coo = take_stored(share, (points,), (axis,)).tocoo()
        where = [np.asarray(coord, np.intp) for coord in coo.coords]
        where[axis] = np.asarray(positions, np.intp)[where[axis]]
        values.append(coo.data)
        coords.append(np.stack(where))
        length += len(positions)
    shape = (*shares[0].shape[:axis], length, *shares[0].shape[axis + 1 :])
    return from_coords(np.concatenate(values), tuple(np.concatenate(coords, axis=1)), shape)


def choose_stored(block: Any, mask: Any, axis: int) -> Any:
    """Return the part of a sparse block where a mask holds, over one axis or both."""
    if mask.ndim == 1:
        return take_stored(block, (np.flatnonzero(mask),), (axis,))
    coo = block.tocoo()
    hits = mask[coo.coords]
    # The place of each element among those where the mask holds.
    ranks = np.cumsum(mask.reshape(-1)) - 1
    flat = np.ravel_multi_index(tuple(coord[hits] for coord in coo.coords), mask.shape)
    return from_coords(coo.data[hits], (ranks[flat],), (int(np.count_nonzero(mask)),))
