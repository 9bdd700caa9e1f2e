"""Functions of whole rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import extmath

from marsdask.core.collection import collect
from marsdask.core.machine.costs import kernel
from marsdask.core.public import public_call
from marsdask.learn.fitted_values import as_mars
from marsdask.learn.lazy import adopted, is_lazy
from marsdask.learn.rows import RowMap, as_rows

from .checks import mapped

__all__ = ["row_norms", "softmax"]


@as_mars
@public_call
def row_norms(X: Any, squared: bool = False) -> Any:
    """Return the length of each row. See sklearn.utils.extmath.row_norms.

    Examples
    --------
    >>> from marsdask.learn.utils.extmath import row_norms
    >>> row_norms(mt.tensor([[3.0, 4.0]])).compute()
    array([5.])
    """
    X = adopted(X)
    if not is_lazy(X):
        return extmath.row_norms(X, squared)
    rows = as_rows(X, sparse=True)
    return collect(RowMap(norms_of, (rows,), rows.meta.dtype, None, {"squared": squared}))


@kernel(scratch=1.0)
def norms_of(block: Any, *, squared: bool) -> Any:
    """Return the length of each row of a run."""
    return extmath.row_norms(block, squared)


@as_mars
@public_call
def softmax(X: Any, copy: bool = True) -> Any:
    """Return the exponentials of each row as shares of their sum.

    See sklearn.utils.extmath.softmax. Lazy rows are never changed in place.

    Examples
    --------
    >>> from marsdask.learn.utils.extmath import softmax
    >>> softmax(mt.zeros((1, 2))).compute()
    array([[0.5, 0.5]])
    """
    X = adopted(X)
    if is_lazy(X):
        return collect(mapped(shares, as_rows(X)))
    rows = np.asarray(X)
    return extmath.softmax(rows.astype(np.float64) if rows.dtype.kind in "biu" else rows, copy)


@kernel(scratch=2.0)
def shares(block: Any) -> Any:
    """Return the shares of a run of rows."""
    return extmath.softmax(block, copy=True) if len(block) else block
