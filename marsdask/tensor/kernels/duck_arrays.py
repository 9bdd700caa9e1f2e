"""Blocks that are arrays of another library, on a device perhaps: NumPy's functions hand them on.

Kernels call NumPy's functions, which a foreign array answers itself (NEP 13 and 18), and never
make a NumPy array of one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

#: NumPy's own arrays, and what they are made of.
NUMPYS = (np.ndarray, np.generic)


def is_foreign(block: Any) -> bool:
    """Tell whether a block is an array that is not NumPy's."""
    return not isinstance(block, NUMPYS) and hasattr(type(block), "__array_function__")


def is_array(block: Any) -> bool:
    """Tell arrays and their scalars from plain numbers and other values."""
    return isinstance(block, NUMPYS) or is_foreign(block)


def as_array(block: Any, dtype: Any = None) -> Any:
    """Return a block as an array: NumPy's, unless it is a foreign one."""
    if is_foreign(block):
        return block if dtype is None else block.astype(dtype)
    return np.asarray(block, dtype)
