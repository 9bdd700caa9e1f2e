"""P01 to P04: sparse matrices of 1e8 nominal elements; `np` is SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.rows import Workload
from benchmarks.systems import System

Data = tuple[Any, ...]

#: How many elements of each row are stored.
STORED = 50


def matrix(n: int, seed: int) -> Any:
    """Return n x n elements of which STORED of each row are drawn, in SciPy's rows."""
    from scipy import sparse

    draw = np.random.default_rng(seed)
    rows = np.repeat(np.arange(n), STORED)
    columns = draw.integers(0, n, n * STORED)
    made = sparse.csr_matrix((draw.random(n * STORED), (rows, columns)), (n, n))
    return getattr(sparse, "csr_array", sparse.csr_matrix)(made)


def two_data(s: System) -> Data:
    """Hold two matrices."""
    n, chunk = s.size.side(10000), s.size.side(2500)
    return tuple(s.sparse(matrix(n, seed), (chunk, chunk)) for seed in (0, 1))


def p01(s: System, a: Any, b: Any) -> Data:
    """Multiply them, and add up the product."""
    return ((a @ b).sum(),)


def p02(s: System, a: Any, b: Any) -> Data:
    """Add up along both axes."""
    return a.sum(axis=0), a.sum(axis=1)


def p03(s: System, a: Any, b: Any) -> Data:
    """Evaluate a chain of operations of both."""
    return ((a * 2 + b - a / 4).sum(),)


def p04_data(s: System) -> Data:
    """Hold one matrix, and a vector."""
    n, chunk = s.size.side(10000), s.size.side(2500)
    vector = s.array((n,), (chunk,))
    return s.sparse(matrix(n, 0), (chunk, chunk)), vector


def p04(s: System, a: Any, v: Any) -> Data:
    """Multiply a matrix and a vector."""
    return (a @ v,)


ROWS = (
    Workload("P01_sparse_matmul", two_data, p01),
    Workload("P02_sparse_sums", two_data, p02),
    Workload("P03_sparse_chain", two_data, p03),
    Workload("P04_sparse_vector", p04_data, p04),
)
