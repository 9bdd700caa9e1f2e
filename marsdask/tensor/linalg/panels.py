"""Products of tall blocks with small squares, panel by panel, so that results stay in cache."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from marsdask.tensor.kernels.scratch import scratch

#: Bytes of a panel: with its product it fits into the cache of a core.
PANEL_BYTES = 2**19


def panels(block: Any) -> Iterator[slice]:
    """Iterate over panels of the rows of a block."""
    rows, columns = block.shape
    step = max(1, columns, PANEL_BYTES // max(1, columns * block.itemsize))
    return (slice(start, min(start + step, rows)) for start in range(0, rows, step))


def gram(block: Any, dtype: np.dtype[Any], inverses: Sequence[Any] = ()) -> Any:
    """Return the products of all pairs of columns, after the block is multiplied by triangles."""
    if not inverses and block.dtype == dtype and dtype.kind == "f":
        return np.matmul(block.T, block)
    columns = block.shape[1]
    total = np.zeros((columns, columns), dtype)
    for rows in panels(block):
        panel = block[rows].astype(dtype, copy=False)
        for number, inverse in enumerate(inverses):
            into = scratch(f"panel {number % 2}", panel.shape, dtype)
            panel = times_triangle(panel, inverse, into)
        total += np.matmul(panel.conj().T if dtype.kind == "c" else panel.T, panel)
    return total


def apply_inverses(block: Any, inverses: Sequence[Any], last: Any = None) -> Any:
    """Multiply a block by upper triangles successively, and finally by any matrix."""
    dtype = inverses[0].dtype
    out = np.empty(block.shape, dtype)
    for rows in panels(block):
        panel = block[rows].astype(dtype, copy=False)
        for number, inverse in enumerate(inverses):
            final = last is None and number == len(inverses) - 1
            into = out[rows] if final else scratch(f"panel {number % 2}", panel.shape, dtype)
            panel = times_triangle(panel, inverse, into)
        if last is not None:
            np.matmul(panel, last, out=out[rows])
    return out


def times_triangle(panel: Any, triangle: Any, out: Any) -> Any:
    """Multiply by an upper triangle from the right, which takes half the work of a product."""
    doubles = type(out) is np.ndarray and out.dtype == triangle.dtype == np.float64
    if not (doubles and out.flags.c_contiguous and triangle.flags.c_contiguous and out.size):
        return np.matmul(panel, triangle, out=out)
    np.copyto(out, panel)
    rows, columns = map(ctypes.c_int, out.shape)
    # BLAS uses column order: it sees the transposes, with a lower triangle on the left.
    how = [ctypes.c_char(letter) for letter in (b"L", b"L", b"N", b"N")]
    sizes: list[Any] = [*how, columns, rows, ctypes.c_double(1.0)]
    width = ctypes.byref(columns)
    multiply = native("dtrmm", 11)
    multiply(
        *[ctypes.byref(size) for size in sizes], triangle.ctypes.data, width, out.ctypes.data, width
    )
    return out


@lru_cache
def native(name: str, arguments: int) -> Any:
    """Return a function of BLAS by its C interface, which releases the interpreter's lock.

    SciPy's own functions do not release it. Every argument is a pointer.
    """
    from scipy.linalg import cython_blas  # heavy, and only factorisations need it

    capsule = cython_blas.__pyx_capi__[name]
    describe, point = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    describe.restype, describe.argtypes = ctypes.c_char_p, [ctypes.py_object]
    point.restype, point.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    address = point(capsule, describe(capsule))
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * arguments)(address)
