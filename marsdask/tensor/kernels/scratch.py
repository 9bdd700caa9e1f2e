"""Working tile by tile: in memory that a thread keeps, since new memory costs page faults."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from marsdask.core.compilation.costs import Cost, register_cost

register_cost(np.ufunc, Cost(scratch=0.0))
register_cost(np.squeeze, Cost(scratch=0.0, view=True))
register_cost(np.real, Cost(shares=True))
register_cost(np.imag, Cost(shares=True))
register_cost(np.isclose, Cost(scratch=2.0))
register_cost(np.sort, Cost(scratch=0.1))

#: What one buffer keeps at most; a larger request gets memory of its own.
KEPT = 4 * 2**20

#: Where a buffer starts: what crosses the lines of the cache is written at half the speed.
LINE = 64

#: Elements that NumPy puts into a buffer of its own at once. It gathers several short rows in one,
#: which copies what broadcasts; rows as long as a tile's are to be read from where they lie.
GATHERED = 1024


class _Buffers(threading.local):
    def __init__(self) -> None:
        self.held: dict[str, Any] = {}


_buffers = _Buffers()


def lined_up(nbytes: int) -> Any:
    """Return new memory that starts where a line of the cache does."""
    buffer = np.empty(nbytes + LINE, np.uint8)
    return buffer[-buffer.ctypes.data % LINE :][:nbytes]


def scratch(purpose: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    """Return an array of any content, the same memory each time ``purpose`` asks in this thread."""
    nbytes = math.prod(shape) * dtype.itemsize
    if nbytes > KEPT:
        return np.empty(shape, dtype)
    buffer = _buffers.held.get(purpose)
    if buffer is None or buffer.size < nbytes:
        buffer = _buffers.held[purpose] = lined_up(nbytes)
    return buffer[:nbytes].view(dtype).reshape(shape)


@contextmanager
def in_tiles(width: int) -> Iterator[None]:
    """Let ufuncs read operands that broadcast over the rows of a tile without copying them.

    Rows shorter than :data:`GATHERED` are put together either way, and the more at once the better.
    """
    with np.errstate():  # NumPy's buffer size is part of what this restores.
        if width >= GATHERED:
            np.setbufsize(GATHERED)
        yield
