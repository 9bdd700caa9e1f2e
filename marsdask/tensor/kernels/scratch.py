"""Memory for tiles, which a thread keeps, since new memory costs page faults."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from marsdask.core.machine.costs import Cost, register_cost

register_cost(np.ufunc, Cost(scratch=0.0))
register_cost(np.squeeze, Cost(scratch=0.0, view=True))
register_cost(np.real, Cost(shares=True))
register_cost(np.imag, Cost(shares=True))
register_cost(np.isclose, Cost(scratch=2.0))
register_cost(np.sort, Cost(scratch=0.1))

#: The largest size that a buffer keeps; larger requests get memory of their own.
KEPT = 4 * 2**20

#: Alignment of a buffer: writes across cache lines are half as fast.
LINE = 64

#: Elements that NumPy copies into its own buffer at once. It gathers several short rows, which
#: copies broadcast operands; rows as long as a tile's should be read in place.
GATHERED = 1024


class _Buffers(threading.local):
    def __init__(self) -> None:
        self.held: dict[str, Any] = {}


_buffers = _Buffers()


def lined_up(nbytes: int) -> Any:
    """Return new memory that is aligned to cache lines."""
    buffer = np.empty(nbytes + LINE, np.uint8)
    return buffer[-buffer.ctypes.data % LINE :][:nbytes]


def scratch(purpose: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    """Return an uninitialized array; the memory is the same for each ``purpose`` in a thread."""
    nbytes = math.prod(shape) * dtype.itemsize
    if nbytes > KEPT or dtype.hasobject:
        return np.empty(shape, dtype)
    buffer = _buffers.held.get(purpose)
    if buffer is None or buffer.size < nbytes:
        buffer = _buffers.held[purpose] = lined_up(nbytes)
    return buffer[:nbytes].view(dtype).reshape(shape)


@contextmanager
def in_tiles(width: int) -> Iterator[None]:
    """Let ufuncs read operands that broadcast over the rows of a tile without copying them.

    Rows shorter than :data:`GATHERED` are gathered in any case, preferably many at once.
    """
    with np.errstate():  # NumPy's buffer size is restored together with errstate.
        if width >= GATHERED:
            np.setbufsize(GATHERED)
        yield
