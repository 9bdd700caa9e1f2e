"""Pickles on their way between a client and a supervisor; a million equal sizes pack to nothing."""

from __future__ import annotations

import pickle
import zlib
from typing import Any

from ..inprocess.child import dumps


def packed(value: Any) -> bytes:
    """Pickle a value for a process with another ``__main__``."""
    return zlib.compress(dumps(value), 1)


def unpacked(data: bytes) -> Any:
    """Return a packed value."""
    return pickle.loads(zlib.decompress(data))
