"""Sums of sparse samples, whose zeros take no time."""

from __future__ import annotations

from typing import Any

import numpy as np

from marsdask.core.machine.costs import kernel
from marsdask.core.node import Node
from marsdask.core.sizes import numbers
from marsdask.tensor.sparse.blocks import is_sparse

from .moments import Moments, merge_squares, refuse, squares
from .rows import fold


def narrow(block: Any) -> Any:
    """Return compressed rows with the 32-bit indices that scikit-learn's functions take."""
    if block.indices.dtype == np.int32 or max(block.nnz, *block.shape) >= 2**31:
        return block
    parts = (block.data, block.indices.astype(np.int32), block.indptr.astype(np.int32))
    return type(block)(parts, shape=block.shape)


def column_moments(rows: Node, weight: Node | None = None, *, allow_nan: bool = False) -> Moments:
    """Compute the moments of each column, of sparse samples or others."""
    func = sparse_squares if is_sparse(rows.meta) else squares
    nbytes = 24 * numbers(rows.shape[1:])[0]
    moments: Moments = fold(func, merge_squares, rows, weight, nbytes=nbytes, allow_nan=allow_nan)
    return moments


@kernel(scratch=1.0)
def sparse_squares(block: Any, weight: Any = None, *, allow_nan: bool) -> Moments:
    """Return the moments of each column; ``weight`` is that of each row, nan is ignored."""
    refuse(block.data, allow_nan=allow_nan)
    width = block.shape[1]
    w = np.ones(block.shape[0]) if weight is None else weight
    data = block.data.astype(np.float64, copy=False)
    of_stored = np.repeat(w, np.diff(block.indptr))
    there = ~np.isnan(data)
    nans = np.bincount(block.indices, of_stored * ~there, width)
    count = w.sum() - nans
    sums = np.bincount(block.indices, np.where(there, data * of_stored, 0.0), width)
    mean = np.divide(sums, count, out=np.zeros(width), where=count != 0)
    away = np.where(there, data - mean[block.indices], 0.0)
    about_mean = np.bincount(block.indices, of_stored * away * away, width)
    zeros = w.sum() - np.bincount(block.indices, of_stored, width)
    return Moments(count, mean, about_mean + zeros * mean * mean)


@kernel(scratch=1.0)
def sparse_products(block: Any) -> Moments:
    """Return the moments with the products of every two columns."""
    refuse(block.data, allow_nan=False)
    rows = block.shape[0]
    values = block.astype(np.float64, copy=False)
    mean = np.asarray(values.sum(axis=0)).ravel() / max(1, rows)
    inner = (values.T @ values).toarray()
    return Moments(rows, mean, inner - rows * np.outer(mean, mean))
