"""Which values of two columns meet, and how often: all that many metrics need of the samples."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from marsdask.core.machine.costs import kernel

#: The most pairs that are counted by position; more are sorted.
COUNTED = 2**16


class Contingency(NamedTuple):
    """The distinct pairs of two columns' rows, and the weight of each pair."""

    first: Any
    second: Any
    weights: Any


@kernel(scratch=3.0)
def pairs(first: Any, second: Any, weight: Any = None) -> Contingency:
    """Return the distinct pairs of a run of rows; without ``weight`` they are counted."""
    (values, code), (values2, code2) = _coded(first), _coded(second)
    code = code * len(values2)
    code += code2
    if len(values) * len(values2) > max(COUNTED, 4 * len(code)):
        cells, code = np.unique(code, return_inverse=True)
    else:
        cells = np.arange(len(values) * len(values2))
    counts = np.bincount(code, minlength=len(cells))
    there = np.flatnonzero(counts)
    weights = counts if weight is None else np.bincount(code, weight, minlength=len(cells))
    row, column = np.divmod(cells[there], max(1, len(values2)))
    return Contingency(values[row], values2[column], weights[there])


def merge_pairs(a: Contingency, b: Contingency) -> Contingency:
    """Return the pairs of both."""
    if not len(a.weights) or not len(b.weights):
        return a if len(a.weights) else b
    first, second, weights = (np.concatenate(pair) for pair in zip(a, b, strict=True))
    table: Contingency = pairs(first, second, weights)
    return table._replace(weights=table.weights.astype(weights.dtype))


def _coded(block: Any) -> tuple[Any, Any]:
    """Return values of a column, and the position of each row's value among them."""
    if block.ndim == 2 and block.shape[1] == 1:
        block = block[:, 0]
    if block.ndim > 1:
        values, code = np.unique(block, axis=0, return_inverse=True)
        return values, code.ravel()
    if block.dtype.kind in "biu" and len(block):
        least, most = int(block.min()), int(block.max())
        if most - least < max(COUNTED, len(block)):
            values = np.array(range(least, most + 1), dtype=block.dtype)
            return values, block.astype(np.int64) - least
    if block.dtype.kind in "OUST":
        code, values = pd.factorize(np.asarray(block, dtype=object), use_na_sentinel=False)
        return values, code
    values, code = np.unique(block, return_inverse=True)
    return values, code
