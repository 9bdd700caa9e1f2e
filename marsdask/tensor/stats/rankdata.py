"""Ranks: by the parallel sort for many values."""

from __future__ import annotations

from typing import Any

import numpy as np

from marsdask.core.collection import wrap
from marsdask.tensor.elementwise.nodes import Elementwise
from marsdask.tensor.elementwise.ufuncs import add, isnan, subtract
from marsdask.tensor.indexing.boolean import where
from marsdask.tensor.manipulation.shape import normalize_axis
from marsdask.tensor.operands import as_node
from marsdask.tensor.reduction.reductions import any as any_true
from marsdask.tensor.scan.cumulative import cumsum
from marsdask.tensor.sorting.sort import argsort
from marsdask.tensor.sorting.unique import unique

from ..typing import public
from .sample import check_nan

METHODS = ("average", "min", "max", "dense", "ordinal")


@public
def rankdata(
    a: Any, method: str = "average", *, axis: int | None = None, nan_policy: str = "propagate"
) -> Any:
    """Return the ranks of the values, starting at 1. See scipy.stats.rankdata.

    Differs from SciPy: the ranks of floats are floats for every method, since only the values
    determine whether one is nan.
    """
    if method not in METHODS:
        raise ValueError(f'unknown method "{method}"')
    a = check_nan(wrap(as_node(a)), nan_policy)
    if axis is None:
        a, axis = a.ravel(), 0
    axis = normalize_axis(axis, a.ndim)
    if a.ndim == 1 and a.numblocks[0] > 1:
        return _rank(a, method, nan_policy)
    whole = a.rechunk({axis: -1})
    options = {"axis": axis, "method": method, "omit": nan_policy == "omit"}
    return Elementwise(ranks, (whole.node,), tuple(sorted(options.items())))


def _rank(a: Any, method: str, nan_policy: str) -> Any:
    if method == "ordinal":
        ranks = add(argsort.node(argsort.node(a, kind="stable")), 1)
    else:
        _, place, count = unique(a, return_inverse=True, return_counts=True)
        last = cumsum(count)
        table = {
            "dense": lambda: cumsum(count * 0 + 1),
            "max": lambda: last,
            "min": lambda: add(subtract.node(last, count), 1),
            "average": lambda: subtract(last, (count - 1) / 2),
        }
        ranks = table[method]()[place]
    if a.dtype.kind not in "fc":
        return ranks
    is_nan = isnan.node(a) if nan_policy == "omit" else any_true.node(isnan.node(a))
    return where(is_nan, np.nan, ranks)


def ranks(block: Any, axis: int, method: str, omit: bool) -> Any:
    """Return the ranks along a whole axis."""
    from scipy.stats import rankdata as ranked

    inexact = method == "average" or block.dtype.kind in "fc"
    if 0 in block.shape:
        return np.zeros(block.shape, np.float64 if inexact else np.int64)
    result = ranked(block, method, axis=axis, nan_policy="omit" if omit else "propagate")
    return np.asarray(result, np.float64 if inexact else np.int64)
