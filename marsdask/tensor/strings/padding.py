"""Kernels that make texts longer."""

from __future__ import annotations

from typing import Any

import numpy as np


def zfill(a: Any, width: Any) -> Any:
    """Fill texts with zeros, behind their sign. Source: numpy.strings.zfill.

    NumPy 2.4 reads the sign of an empty text from the memory behind it, so that it may get one.
    """
    filled = np.strings.zfill(a, width)
    empty = np.strings.str_len(a) == 0
    if not np.any(empty):
        return filled
    return np.where(empty, np.strings.rjust(a, width, "0"), filled)
