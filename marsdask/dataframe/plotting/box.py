"""Boxes: quartiles, whiskers and outliers of columns, as few values that have the same ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ..rows import levels_in
from .backend import check_matplotlib
from .histogram import numbers
from .points import as_floats, folded

#: The most outliers that are drawn on each side of a box, unless ``max_points=`` says otherwise.
OUTLIERS = 1_000
#: Arguments that need more of the values than a box has.
REFUSED = {"showmeans": "mean()", "notch": "to_pandas()", "bootstrap": "to_pandas()"}


@dataclass(frozen=True)
class BoxEnds:
    """Returns the least and the largest value within bounds, and the values outside of them."""

    lows: tuple[float, ...]
    highs: tuple[float, ...]
    limit: int

    def __call__(self, block: Any) -> list[Any]:
        columns = (as_floats(block.iloc[:, at]) for at in range(block.shape[1]))
        bounds = zip(columns, self.lows, self.highs, strict=True)
        return [ends_of(values, low, high, self.limit) for values, low, high in bounds]


def ends_of(values: Any, low: float, high: float, limit: int) -> tuple[float, float, Any, Any]:
    """Return the least and the largest value within bounds, and those below and above."""
    inside = values[(values >= low) & (values <= high)]
    below, above = values[values < low], values[values > high]
    least, largest = inside.min(initial=np.inf), inside.max(initial=-np.inf)
    return least, largest, thinned(below, limit), thinned(above, limit)


def thinned(values: Any, limit: int) -> Any:
    """Return values, or as many of them as there may be, the least and the largest among them."""
    if len(values) <= limit:
        return values
    distinct = np.unique(values)
    places = np.linspace(0, len(distinct) - 1, min(limit, len(distinct))).round().astype(int)
    return distinct[places]


@dataclass(frozen=True)
class JoinedEnds:
    """Returns the ends of both."""

    limit: int

    def __call__(self, a: list[Any], b: list[Any]) -> list[Any]:
        return [
            (
                min(x[0], y[0]),
                max(x[1], y[1]),
                *(thinned(np.concatenate([x[at], y[at]]), self.limit) for at in (2, 3)),
            )
            for x, y in zip(a, b, strict=True)
        ]


def like_all(quartiles: Any, ends: tuple[float, float, Any, Any]) -> Any:
    """Return few values that have the quartiles, the ends and the outliers of all values.

    Of 4k + 1 values, those at k, 2k and 3k are the quartiles.
    """
    first, middle, third = quartiles
    least, largest, below, above = ends
    count = max(len(below), len(above)) + 1
    parts = (
        [*np.sort(below), min(least, first)],
        np.full(count - len(below), first),
        np.full(2 * count - 1, middle),
        np.full(count - len(above), third),
        [max(largest, third), *np.sort(above)],
    )
    return np.concatenate(parts)


def _reach(options: dict[str, Any]) -> float:
    """Return how far whiskers reach, in units of the box."""
    for name, way in REFUSED.items():
        if options.get(name):
            raise NotImplementedError(f"box plots with {name}= are not supported; use {way}")
    reach = options.get("whis", 1.5)
    if not isinstance(reach, int | float):
        raise NotImplementedError("box plots with whis=(low, high) are not supported; use a number")
    return float(reach)


def box_rows(obj: Any, options: dict[str, Any], limit: int | None = None) -> pd.DataFrame:
    """Compute rows that have the boxes of all rows."""
    reach = _reach(options)
    frame = numbers(obj, booleans=options.get("include_bool", False))
    quartiles = frame.quantile([0.25, 0.5, 0.75]).to_pandas().to_numpy(float)
    length = (quartiles[2] - quartiles[0]) * reach
    lows, highs = quartiles[0] - length, quartiles[2] + length
    limit = limit or OUTLIERS
    ends = folded(frame, BoxEnds(tuple(lows), tuple(highs), limit), JoinedEnds(limit))
    if ends is None:
        meta: pd.DataFrame = frame.node.meta
        return meta
    columns = [
        like_all(values, limits) if not np.isnan(values[0]) else values[:1]
        for values, limits in zip(quartiles.T, ends, strict=True)
    ]
    return _padded(columns, frame.columns)


def _padded(columns: list[Any], labels: Any) -> pd.DataFrame:
    rows = pd.DataFrame({at: pd.Series(values) for at, values in enumerate(columns)})
    return rows.set_axis(labels, axis=1)


@dataclass(frozen=True)
class BoxOfGroup:
    """Returns rows of a group that have the boxes of all its rows."""

    columns: tuple[Any, ...]
    reach: float
    limit: int

    def __call__(self, group: pd.DataFrame) -> pd.DataFrame:
        boxes = []
        for label in self.columns:
            values = as_floats(group[label])
            values = values[~np.isnan(values)]
            if not len(values):
                boxes.append(np.array([np.nan]))
                continue
            quartiles = np.percentile(values, [25, 50, 75])
            length = (quartiles[2] - quartiles[0]) * self.reach
            low, high = quartiles[0] - length, quartiles[2] + length
            boxes.append(like_all(quartiles, ends_of(values, low, high, self.limit)))
        return _padded(boxes, pd.Index(self.columns))


def grouped_box_rows(groups: Any, keys: list[Any], columns: list[Any], how: dict[str, Any]) -> Any:
    """Compute rows of each group that have the boxes of its rows, with the keys as columns."""
    func = BoxOfGroup(tuple(columns), _reach(how), OUTLIERS)
    empty = groups.size().node.meta.index
    levels = pd.MultiIndex.from_arrays(
        [*levels_in(empty), pd.RangeIndex(0)], names=[*empty.names, None]
    )
    like = pd.DataFrame({label: np.empty(0) for label in columns}, levels)
    rows = groups.apply(func, meta=like).to_pandas()
    return rows.reset_index(level=list(range(len(keys))), names=keys)


def boxplot(
    frame: Any,
    column: Any = None,
    by: Any = None,
    ax: Any = None,
    fontsize: int | None = None,
    rot: int = 0,
    grid: bool = True,
    figsize: tuple[float, float] | None = None,
    layout: tuple[int, int] | None = None,
    return_type: str | None = None,
    backend: str | None = None,
    **kwargs: Any,
) -> object:
    """Draw the quartiles of columns as boxes. See pandas.DataFrame.boxplot.

    They are exact; at most 1000 outliers are drawn on each side of a box. All rows of a group of
    ``by`` meet in one task. Means and notches are not supported. Needs matplotlib:
    ``pip install "marsdask[plot]"``.
    """
    check_matplotlib(backend, "box")
    how: dict[str, Any] = {"ax": ax, "fontsize": fontsize, "rot": rot, "grid": grid}
    how |= {"figsize": figsize, "layout": layout, "return_type": return_type, **kwargs}
    if backend is not None:
        how["backend"] = backend
    names = None if column is None else _listed(column)
    if by is None:
        rows = box_rows(frame if names is None else frame[names], kwargs)
        axes: object = rows.boxplot(**how)
        return axes
    keys = _listed(by)
    numeric = frame.node.meta.select_dtypes(include=["number", "bool"]).columns
    columns = list(numeric.difference(keys)) if names is None else names
    rows = grouped_box_rows(frame.groupby(keys), keys, columns, kwargs)
    result: object = rows.boxplot(column=columns, by=by, **how)
    return result


def boxplot_groups(groups: Any, subplots: bool = True, column: Any = None, **kwargs: Any) -> object:
    """Draw the boxes of each group. See pandas.api.typing.DataFrameGroupBy.boxplot.

    All rows of a group meet in one task. Needs matplotlib: ``pip install "marsdask[plot]"``.
    """
    check_matplotlib(kwargs.get("backend"), "box")
    by, meta = list(groups._by), groups._node.meta
    numeric = meta.select_dtypes(include=["number", "bool"]).columns
    columns = [label for label in numeric if label not in by] if column is None else _listed(column)
    keys = [name if name is not None else f"by {at}" for at, name in enumerate(groups._names)]
    rows = grouped_box_rows(groups, keys, columns, kwargs)
    axes: object = rows.groupby(keys[0] if len(keys) == 1 else keys).boxplot(
        subplots=subplots, column=columns, **kwargs
    )
    return axes


def _listed(labels: Any) -> list[Any]:
    return list(labels) if isinstance(labels, list | tuple | np.ndarray | pd.Index) else [labels]
