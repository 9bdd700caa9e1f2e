"""Rows that stand for all rows of a plot: extremes of each run, rows at random, or at distances."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from marsdask.core.traits import Level, SortKey

from ..labels.by_position import rows_in_order
from ..reduction.fold import FrameFold
from ..reduction.reductions import collection_of
from ..rows import concat

#: The most rows of a line, an area or a scatter plot, unless ``max_points=`` says otherwise.
POINTS = 10_000
#: The most rows of a plot that has a bar, a wedge or a hexagon for them.
BARS = 1_000


def folded(obj: Any, step: Callable[..., Any], combine: Callable[[Any, Any], Any]) -> Any:
    """Compute what is folded from all chunks, ``None`` without rows."""
    like = np.empty((), dtype=object)
    steps = (step, combine, boxed)
    return collection_of(FrameFold(like, None, False, "plot", obj.node, steps)).compute()


def boxed(found: Any) -> Any:
    """Return what was folded as a scalar of an array."""
    box = np.empty((), dtype=object)
    box[()] = found
    return box


def rows_of_lines(obj: Any, limit: int | None) -> Any:
    """Compute the rows of lines: all, or those of the extremes of each run of rows.

    Runs are as long as the limit demands. The first and the last row of each chunk stay.
    """
    limit = limit or POINTS
    meta = obj.node.meta
    count = len(obj)
    if count <= limit:
        return obj.to_pandas()
    times = meta.index.nlevels == 1 and meta.index.dtype.kind == "M"
    if times and not obj.node.traits.is_sorted([SortKey(Level())]):
        obj = obj.sort_index()  # pandas joins times in their order
    width = len(_numbers(meta))
    step = -(-count * 2 * max(width, 1) // limit)
    thin = Extremes(step)
    node = FrameFold(meta, None, False, "plot", obj.node, (thin, joined, itself))
    return collection_of(node).to_pandas()


def _numbers(block: Any) -> list[Any]:
    """Return the columns that lines are drawn of."""
    columns = [block] if block.ndim == 1 else [block.iloc[:, at] for at in range(block.shape[1])]
    return [
        column
        for column in columns
        if pd.api.types.is_numeric_dtype(column.dtype) or getattr(column.dtype, "kind", "O") in "mM"
    ]


@dataclass(frozen=True)
class Extremes:
    """Returns the rows of the least and the largest values of each run of rows."""

    step: int

    def __call__(self, block: Any) -> Any:
        count = len(block)
        places = [np.array([0, count - 1])]
        for column in _numbers(block):
            values = as_floats(column)
            for fill, find in ((np.inf, np.argmin), (-np.inf, np.argmax)):
                grid = np.full(-(-count // self.step) * self.step, fill)
                grid[:count] = np.where(np.isnan(values), fill, values)
                runs: Any = find(grid.reshape(-1, self.step), axis=1)
                places.append(np.arange(len(runs)) * self.step + runs)
        return block.iloc[np.unique(np.concatenate(places))]


def as_floats(column: Any) -> Any:
    """Return values as floats, missing ones as NaN."""
    if getattr(column.dtype, "kind", "O") in "mM":
        return column.astype("i8").where(column.notna()).to_numpy(float)
    return column.to_numpy(float, na_value=np.nan)


def joined(a: Any, b: Any) -> Any:
    """Join the rows of both."""
    return concat([a, b])


def itself(rows: Any) -> Any:
    """Return the rows."""
    return rows


def rows_at_random(obj: Any, limit: int | None) -> Any:
    """Compute the rows of points: all, or as many as the limit says, the same ones each time."""
    limit, count = limit or POINTS, len(obj)
    if count <= limit:
        return obj.to_pandas()
    places = np.sort(np.random.default_rng(0).choice(count, limit, replace=False))
    return rows_in_order(obj, places.tolist()).to_pandas()


def rows_at_distances(obj: Any, limit: int | None) -> Any:
    """Compute the rows of bars: all, or as many as the limit says, with a warning."""
    limit, count = limit or BARS, len(obj)
    if count <= limit:
        return obj.to_pandas()
    warnings.warn(
        f"{limit} bars stand for {count} rows; use max_points= for more, or plot an aggregation",
        stacklevel=6,
    )
    places = np.linspace(0, count - 1, limit).round().astype(int)
    return rows_in_order(obj, places.tolist()).to_pandas()


def all_rows(obj: Any, limit: int | None, kind: str) -> Any:
    """Compute the rows of a plot that shows them all, or refuse."""
    limit, count = limit or BARS, len(obj)
    if count > limit:
        raise NotImplementedError(
            f"plot.{kind}() of {count} rows is not supported; use max_points= for more than "
            f"{limit}, or plot an aggregation, nlargest() or sample()"
        )
    return obj.to_pandas()
