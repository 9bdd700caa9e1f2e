"""What native libraries keep of this process: threads of their own, and memory they were given."""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Callable
from typing import Any

from threadpoolctl import ThreadpoolController


def _allocator_trim() -> Callable[[int], int] | None:
    try:
        trim: Callable[[int], int] = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):  # not glibc
        return None
    return trim


_malloc_trim = _allocator_trim()


def trim() -> None:
    """Have the allocator give freed memory back to the system; it keeps what it can reuse."""
    if _malloc_trim is not None:
        _malloc_trim(0)
