"""Pickles that a client and a supervisor exchange; repeated values compress well."""

from __future__ import annotations

import pickle
import zlib
from typing import Any

from ...inprocess.worker_process import dumps


def packed(value: Any) -> bytes:
    """Pickle a value for a process with another ``__main__``."""
    return zlib.compress(dumps(value), 1)


def unpacked(data: bytes) -> Any:
    """Return the value of a pickle."""
    return pickle.loads(zlib.decompress(data))
