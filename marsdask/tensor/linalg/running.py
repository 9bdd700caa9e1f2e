"""Sums of products of matrices: BLAS adds each product to the sum as it multiplies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

#: Multiplications from which on this is worth it: below, NumPy's calls are shorter.
WORTH = 2**24

#: Rows of a triangle that are mirrored at a time, while they are in cache.
BAND = 128


def sum_of_products(lefts: Sequence[Any], rights: Sequence[Any]) -> Any:
    """Return the sum of the products of pairs of matrices, ``None`` where BLAS cannot read them.

    A product of a matrix with its own transpose takes half the work.
    """
    first = lefts[0]
    shape = (first.shape[0], rights[0].shape[1])
    blocks = (*lefts, *rights)
    if len(lefts) < 2 or shape[0] * shape[1] * first.shape[1] < WORTH:
        return None
    if not all(_readable(block) and block.dtype == first.dtype for block in blocks):
        return None
    from scipy.linalg import get_blas_funcs  # heavy, and only large products need it

    total = np.empty(shape, first.dtype)
    same = all(map(_is_transposed, lefts, rights))
    multiply = get_blas_funcs("syrk" if same else "gemm", (first,))
    for left, right, beta in zip(lefts, rights, (0.0, *(1.0 for _ in lefts)), strict=False):
        # BLAS counts by columns: the transposes are what it sees.
        (a, turned_a), (b, turned_b) = _by_columns(right.T), _by_columns(left.T)
        into: dict[str, Any] = {"beta": beta, "c": total.T, "overwrite_c": 1}
        if same:
            multiply(1.0, a, trans=turned_a, **into)
        else:
            multiply(1.0, a, b, trans_a=turned_a, trans_b=turned_b, **into)
    if same:
        _mirror(total)
    return total


def _readable(block: Any) -> bool:
    if type(block) is not np.ndarray or block.dtype.char not in "fd" or not block.size:
        return False
    return bool(block.flags.c_contiguous or block.flags.f_contiguous)


def _is_transposed(left: Any, right: Any) -> bool:
    mirrored = right.T
    alike = left.shape == mirrored.shape and left.strides == mirrored.strides
    return bool(alike and left.ctypes.data == mirrored.ctypes.data)


def _by_columns(matrix: Any) -> tuple[Any, int]:
    """Return a matrix that lies by columns, and whether it is the transpose that does."""
    return (matrix, 0) if matrix.flags.f_contiguous else (matrix.T, 1)


def _mirror(matrix: Any) -> None:
    """Copy what is below the diagonal to above it."""
    for start in range(0, len(matrix), BAND):
        band = matrix[start : start + BAND]
        matrix[:start, start : start + BAND] = band[:, :start].T
        corner = band[:, start : start + BAND]
        np.copyto(corner, corner.T, where=~np.tri(len(corner), dtype=bool))
