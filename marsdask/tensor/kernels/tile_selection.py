"""Steps of a program that select elements of a tile, and continue with fewer."""

from __future__ import annotations

from typing import Any

import numpy as np

from .duck_arrays import is_foreign
from .scratch import scratch


def places(mask: Any) -> Any:
    """Return the positions where a tile of a mask holds, counted in C order."""
    return mask.reshape(-1).nonzero()[0]


def take_elements(block: Any, where: Any, purpose: str) -> Any:
    """Return the elements of a tile at positions counted in C order, along its last axis.

    They are valid until the next call with this purpose.
    """
    flat = block.reshape(-1)
    if is_foreign(block):
        values = flat[where]
    else:
        values = scratch(purpose, where.shape, block.dtype)
        np.take(flat, where, out=values, mode="clip")
    return values.reshape((1,) * (block.ndim - 1) + where.shape)
