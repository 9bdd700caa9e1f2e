"""Products of tall blocks with small squares, panel by panel: what lies between stays in cache."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from marsdask.tensor.scratch import scratch

#: Bytes of a panel: with its product it fits into the cache of a core.
PANEL_BYTES = 2**19


def panels(block: Any) -> Iterator[slice]:
    """Cut the rows of a block."""
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


def divided(block: Any, inverses: Sequence[Any], last: Any = None) -> Any:
    """Multiply a block by upper triangles one after the other, and by any matrix at the end."""
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
    if type(out) is not np.ndarray or not triangle.flags.c_contiguous:
        return np.matmul(panel, triangle, out=out)
    from scipy.linalg import get_blas_funcs  # heavy, and only factorisations need it

    np.copyto(out, panel)
    # BLAS counts by columns: the transposes are what it sees.
    trmm = get_blas_funcs("trmm", (out,))
    trmm(1.0, triangle.T, out.T, side=0, lower=1, overwrite_b=1)
    return out
