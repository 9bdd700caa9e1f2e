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


def alike(*blocks: Any) -> tuple[Any, ...]:
    """Return arrays of one library: NumPy's, unless any is foreign; a GPU's among NumPy's arrays.

    NumPy's arrays are copied to where the foreign one is, which CuPy does not do by itself.
    """
    foreign = next(filter(is_foreign, blocks), None)
    if foreign is None:
        return blocks
    return tuple(
        np.asarray(block, like=foreign) if isinstance(block, NUMPYS) else block for block in blocks
    )


def in_memory(block: Any) -> Any:
    """Copy a block from a GPU; NumPy's blocks are unchanged."""
    return block.get() if is_foreign(block) else block


def new_array(like: Any, dtype: Any, shape: tuple[int, ...]) -> Any:
    """Return a new array of a block's library, in C's order; not of its subclass."""
    # CuPy knows no subok=.
    plain: dict[str, Any] = {} if is_foreign(like) else {"subok": False}
    return np.empty_like(like, dtype, order="C", shape=shape, **plain)


def as_array(block: Any, dtype: Any = None) -> Any:
    """Return a block as an array: NumPy's, unless it is a foreign one."""
    if is_foreign(block):
        return block if dtype is None else block.astype(dtype)
    return np.asarray(block, dtype)
