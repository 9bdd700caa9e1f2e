"""Properties of all values of a column, and the memory that columns take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from marsdask.core.node import Node

from ..keyed.unique import distinct_values
from .fold import FrameFold
from .reductions import collection_of

if TYPE_CHECKING:
    from marsdask.tensor import Tensor

    from ..series import Series


def is_unique(series: Any) -> Tensor:
    """Return whether no value occurs twice."""
    distinct: Tensor = distinct_values(series).isna().count() == series.isna().count()
    return distinct


def hasnans(series: Any) -> Tensor:
    """Return whether any value is missing."""
    result: Tensor = series.isna().any()
    return result


@dataclass(frozen=True)
class Direction:
    """Tells whether values never fall (or never rise), and which are the first and the last."""

    rising: bool

    def __call__(self, block: Any) -> Any:
        name = "is_monotonic_increasing" if self.rising else "is_monotonic_decreasing"
        return getattr(block, name), block.iloc[0], block.iloc[-1]

    def both(self, a: Any, b: Any) -> Any:
        """Join two runs of rows."""
        low, high = (a[2], b[1]) if self.rising else (b[1], a[2])
        return bool(a[0] and b[0] and _is_at_most(low, high)), a[1], b[2]


def _is_at_most(low: Any, high: Any) -> bool:
    try:
        return bool(low <= high)
    except TypeError:  # as in pandas, what has no order is not in order
        return False


@dataclass(frozen=True)
class BothRuns:
    """Joins what is known of two runs of rows."""

    direction: Direction

    def __call__(self, a: Any, b: Any) -> Any:
        return self.direction.both(a, b)


def finish_monotonic(found: Any) -> Any:
    """Return whether the values are monotonic: none are."""
    return np.bool_(found is None or found[0])


def monotonic(series: Series, *, rising: bool) -> Tensor:
    """Return whether values never fall, or never rise."""
    if isinstance(series.node.meta.dtype, pd.CategoricalDtype):
        raise NotImplementedError(
            "is_monotonic of categories is not supported; use cat.codes, or astype() of their type"
        )
    direction = Direction(rising)
    steps = (direction, BothRuns(direction), finish_monotonic)
    result: Tensor = _scalar("is_monotonic", series.node, steps, np.bool_)
    return result


def _scalar(title: str, node: Node, steps: Any, dtype: Any, **options: Any) -> Any:
    like = np.empty((), dtype)
    fold = FrameFold(like, None, False, title, node, steps, tuple(options.items()))
    return collection_of(fold)


@dataclass(frozen=True)
class MemoryUsage:
    """Measures the columns and the labels of a chunk."""

    deep: bool

    def __call__(self, block: Any) -> Any:
        frame = block if block.ndim == 2 else block.to_frame(0)
        columns = frame.memory_usage(index=False, deep=self.deep).to_numpy()
        ranged = isinstance(block.index, pd.RangeIndex)
        return np.array([0 if ranged else block.index.memory_usage(self.deep), *columns])


def add_sizes(a: Any, b: Any) -> Any:
    """Add the sizes of two runs of rows."""
    return a + b


def finish_sizes(found: Any, *, none: Any, index: bool) -> Any:
    """Label the sizes of columns; a range of labels takes as much wherever it ends."""
    if found is None:
        found = np.zeros(1 + (none.shape[1] if none.ndim == 2 else 1), np.intp)
    ranged = isinstance(none.index, pd.RangeIndex)
    found[0] += none.index.memory_usage() if ranged else 0
    if none.ndim == 1:
        return np.intp(found.sum() if index else found[1:].sum())
    labels = pd.Index(["Index"]).append(none.columns) if index else none.columns
    return pd.Series(found if index else found[1:], labels, np.intp)


def memory_usage(obj: Any, index: bool = True, deep: bool = False) -> Series | Tensor:
    """Return the bytes of each column, summed over chunks. See pandas.DataFrame.memory_usage.

    Differs from pandas: each chunk holds its categories, and buffers of text of its own.
    """
    meta = obj.node.meta
    steps = (MemoryUsage(deep), add_sizes, finish_sizes)
    how: dict[str, Any] = {"none": meta, "index": index}
    if meta.ndim == 1:
        size: Tensor = _scalar("memory_usage", obj.node, steps, np.intp, **how)
        return size
    like = finish_sizes(None, none=meta, index=index)
    fold = FrameFold(
        like.iloc[:0], len(like), False, "memory_usage", obj.node, steps, tuple(how.items())
    )
    result: Series = collection_of(fold)
    return result
