"""Blocks that are arrays of another library, to which NumPy's functions dispatch.

Kernels call NumPy's functions, which dispatch to foreign arrays (NEP 13 and 18), and never convert
them to NumPy arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np

#: NumPy's own arrays and scalars.
NUMPYS = (np.ndarray, np.generic)


def is_foreign(block: Any) -> bool:
    """Tell whether a block is an array that is not NumPy's."""
    return not isinstance(block, NUMPYS) and hasattr(type(block), "__array_function__")


def is_array(block: Any) -> bool:
    """Distinguish arrays and their scalars from plain numbers and other values."""
    return isinstance(block, NUMPYS) or is_foreign(block)


def as_array(block: Any, dtype: Any = None) -> Any:
    """Return a block as an array: NumPy's, unless it is a foreign one."""
    if is_foreign(block):
        return block if dtype is None else block.astype(dtype)
    return np.asarray(block, dtype)
