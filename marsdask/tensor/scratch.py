"""Working memory that a thread keeps from one tile to the next: new memory costs page faults."""

from __future__ import annotations

import math
import threading
from typing import Any

import numpy as np

from marsdask.core.shapes import Cost, register_cost

register_cost(np.ufunc, Cost(scratch=0.0))
register_cost(np.squeeze, Cost(scratch=0.0, view=True))
register_cost(np.isclose, Cost(scratch=2.0))
register_cost(np.sort, Cost(scratch=0.1))

#: What one buffer keeps at most; a larger request gets memory of its own.
KEPT = 4 * 2**20


class _Buffers(threading.local):
    def __init__(self) -> None:
        self.held: dict[str, Any] = {}


_buffers = _Buffers()


def scratch(purpose: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    """Return an array of any content, the same memory each time ``purpose`` asks in this thread."""
    nbytes = math.prod(shape) * dtype.itemsize
    if nbytes > KEPT:
        return np.empty(shape, dtype)
    buffer = _buffers.held.get(purpose)
    if buffer is None or buffer.size < nbytes:
        buffer = _buffers.held[purpose] = np.empty(nbytes, np.uint8)
    return buffer[:nbytes].view(dtype).reshape(shape)
