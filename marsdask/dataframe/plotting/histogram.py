"""Histograms and densities: values are counted where they are, bins are drawn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from .backend import check_matplotlib
from .points import as_floats, folded

#: The points at which the values of a density are counted.
DENSITY_BINS = 1_000


def numbers(obj: Any, *, booleans: bool = False) -> Any:
    """Return the columns of numbers as floats, as a frame; raise pandas's error if none is."""
    frame = obj.to_frame() if obj.ndim == 1 else obj
    meta = frame.node.meta
    if any(getattr(dtype, "kind", "O") in "mM" for dtype in meta.dtypes):
        raise NotImplementedError(
            "counts of times are not supported; choose the columns of numbers, or use to_pandas()"
        )
    kinds = ["number", "bool"] if booleans else ["number"]
    table = meta.select_dtypes(include=kinds)
    if not len(table.columns):
        raise TypeError("no numeric data to plot")
    if len(table.columns) < len(meta.columns):
        frame = frame[list(table.columns)]
    return frame if set(table.dtypes) == {np.dtype(float)} else frame.astype(float)


def ranges_of(block: Any) -> Any:
    """Return the least and the largest value of each column, infinite ones if there is none."""
    columns = [as_floats(block.iloc[:, at]) for at in range(block.shape[1])]
    values = [array[~np.isnan(array)] for array in columns]
    return np.array([[array.min(initial=np.inf), array.max(initial=-np.inf)] for array in values])


def join_ranges(a: Any, b: Any) -> Any:
    """Return the ranges of both."""
    return np.stack([np.minimum(a[:, 0], b[:, 0]), np.maximum(a[:, 1], b[:, 1])], axis=1)


@dataclass(frozen=True)
class Counted:
    """Returns the counts of the values of each column between the edges of its bins."""

    edges: tuple[tuple[float, ...], ...] = field(repr=False)

    def __call__(self, block: Any) -> list[Any]:
        values = (as_floats(block.iloc[:, at]) for at in range(block.shape[1]))
        pairs = zip(values, self.edges, strict=True)
        return [np.histogram(data[~np.isnan(data)], np.array(edges))[0] for data, edges in pairs]


def add_counts(a: list[Any], b: list[Any]) -> list[Any]:
    """Add counts, column by column."""
    return [x + y for x, y in zip(a, b, strict=True)]


def counts_of(frame: Any, edges: list[Any]) -> list[Any]:
    """Compute the counts of the values of each column between the edges of its bins."""
    counts: list[Any] = folded(
        frame, Counted(tuple(tuple(map(float, e)) for e in edges)), add_counts
    )
    return counts or [np.zeros(len(bins) - 1, int) for bins in edges]


def edges_of(frame: Any, bins: Any, range: Any, *, together: bool) -> list[Any]:
    """Return the edges of the bins of each column, those of all values ``together`` or not."""
    width = len(frame.columns)
    if isinstance(bins, str):
        raise NotImplementedError(
            f"bins={bins!r} is not supported; use a number of bins, or their edges"
        )
    if np.ndim(bins):
        return [np.asarray(bins, float)] * width
    spans = [np.array(range, float)] * width if range is not None else _spans(frame)
    if together:
        spans = [np.concatenate(spans)] * width
    return [np.histogram_bin_edges(span, bins, range) for span in spans]


def _spans(frame: Any) -> list[Any]:
    spans = folded(frame, ranges_of, join_ranges)
    empty = np.empty(0)
    if spans is None:
        return [empty] * len(frame.columns)
    return [span if span[0] <= span[1] else empty for span in spans]


def middles(edges: Any) -> Any:
    """Return a value in each bin."""
    return (edges[:-1] + edges[1:]) / 2


def check_unweighted(kind: str, options: dict[str, Any]) -> None:
    """Raise for weights, which say here how many rows a value stands for."""
    if options.pop("weights", None) is not None:
        raise NotImplementedError(
            f"plot.{kind}(weights=) is not supported; use to_pandas(), or groupby().sum() of the "
            "weights and plot.bar()"
        )
    if options.pop("by", None) is not None or options.pop("column", None) is not None:
        raise NotImplementedError(
            f"plot.{kind}(by=, column=) is not supported; choose the columns, and the rows of each "
            "group"
        )


def counted_rows(obj: Any, options: dict[str, Any]) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Compute the rows of a histogram, one for each bin, and how they are to be drawn."""
    check_unweighted("hist", options)
    frame = numbers(obj, booleans=options.get("include_bool", False))
    bins, span = options.pop("bins", 10), options.pop("range", None)
    edges = edges_of(frame, bins, span, together=True)
    counts = counts_of(frame, edges)
    rows = pd.DataFrame({at: middles(borders) for at, borders in enumerate(edges)})
    how = {"bins": edges[0], "weights": as_weights(counts)}
    return rows.set_axis(frame.columns, axis=1), how


def as_weights(counts: list[Any]) -> Any:
    """Return counts as pandas takes weights: a column for each column."""
    return np.stack(counts, axis=1) if len(counts) > 1 else counts[0]


def density_rows(obj: Any, options: dict[str, Any]) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Compute the rows of a density, counts at even distances, and how they are to be drawn."""
    check_unweighted("kde", options)
    method = options.pop("bw_method", None)
    frame = numbers(obj, booleans=options.get("include_bool", False))
    spans = [span if len(span) else np.zeros(2) for span in _spans(frame)]
    points = [np.linspace(span[0], span[1], DENSITY_BINS) for span in spans]
    edges = [_around(item) for item in points]
    variances = frame.var().to_numpy(float)
    weights = counts_of(frame, edges)
    factors = [
        _bandwidth(*item, method=method) for item in zip(points, weights, variances, strict=True)
    ]
    rows = pd.DataFrame(dict(enumerate(points))).set_axis(frame.columns, axis=1)
    return rows, {"weights": as_weights(weights), "bw_method": InTurn(iter(factors))}


def _around(points: Any) -> Any:
    """Return the edges of bins around points, which hold the first and the last one too."""
    half = (points[1] - points[0]) / 2
    outer = np.array([points[0] - half, points[-1] + half])
    return np.concatenate([outer[:1], middles(points), np.nextafter(outer[1:], np.inf)])


def _bandwidth(points: Any, weights: Any, variance: float, *, method: Any) -> float:
    """Return the factor with which binned values have the bandwidth of all values."""
    count = max(weights.sum(), 1)
    rules = {None: count**-0.2, "scott": count**-0.2, "silverman": (count * 0.75) ** -0.2}
    if callable(method):
        raise NotImplementedError(
            "plot.kde(bw_method=function) is not supported; use 'scott', 'silverman' or a number"
        )
    if isinstance(method, str) and method not in rules:
        raise ValueError("`bw_method` should be 'scott', 'silverman', a scalar or a callable.")
    factor = float(rules.get(method, method))
    if np.count_nonzero(weights) < 2:
        return factor  # gaussian_kde raises
    spread = float(np.cov(points, aweights=weights / weights.sum()))
    return factor * float(np.sqrt(variance / spread))


@dataclass(frozen=True)
class InTurn:
    """Gives the estimate of each column its bandwidth: one is made after the other."""

    factors: Iterator[float]

    def __call__(self, estimate: Any) -> float:
        del estimate
        return next(self.factors)


def hist_values(
    series: Any,
    by: Any = None,
    ax: Any = None,
    grid: bool = True,
    xlabelsize: int | None = None,
    xrot: float | None = None,
    ylabelsize: int | None = None,
    yrot: float | None = None,
    figsize: tuple[int, int] | None = None,
    bins: Any = 10,
    backend: str | None = None,
    legend: bool = False,
    **kwargs: Any,
) -> object:
    """Draw a histogram of the values. See pandas.Series.hist.

    Values are counted where they are; ``by``, ``weights`` and named rules for ``bins`` are not
    supported. Needs matplotlib: ``pip install "marsdask[plot]"``.
    """
    check_matplotlib(backend, "hist")
    check_unweighted("hist", {"by": by, "weights": kwargs.pop("weights", None)})
    frame = numbers(series, booleans=True)
    edges = edges_of(frame, bins, kwargs.pop("range", None), together=False)
    counts = counts_of(frame, edges)
    look: dict[str, Any] = {"ax": ax, "xlabelsize": xlabelsize, "xrot": xrot, "figsize": figsize}
    look |= {"grid": grid, "ylabelsize": ylabelsize, "yrot": yrot, "legend": legend, **kwargs}
    rows: Any = pd.Series(middles(edges[0]), name=series.name)
    axes: object = rows.hist(bins=edges[0], weights=counts[0], **look)
    return axes


def hist_columns(
    frame: Any,
    column: Any = None,
    by: Any = None,
    grid: bool = True,
    xlabelsize: int | None = None,
    xrot: float | None = None,
    ylabelsize: int | None = None,
    yrot: float | None = None,
    ax: Any = None,
    sharex: bool = False,
    sharey: bool = False,
    figsize: tuple[int, int] | None = None,
    layout: tuple[int, int] | None = None,
    bins: Any = 10,
    backend: str | None = None,
    legend: bool = False,
    **kwargs: Any,
) -> object:
    """Draw a histogram of each column. See pandas.DataFrame.hist.

    Values are counted where they are; ``by``, ``weights`` and named rules for ``bins`` are not
    supported. Needs matplotlib: ``pip install "marsdask[plot]"``.
    """
    check_matplotlib(backend, "hist")
    check_unweighted("hist", {"by": by, "weights": kwargs.pop("weights", None)})
    if column is not None:
        frame = frame[
            list(column) if isinstance(column, list | np.ndarray | pd.Index) else [column]
        ]
    if not any(pd.api.types.is_any_real_numeric_dtype(item) for item in frame.dtypes):
        raise ValueError("hist method requires numerical or datetime columns, nothing to plot.")
    frame = numbers(frame)
    edges = edges_of(frame, bins, kwargs.pop("range", None), together=False)
    counts = counts_of(frame, edges)
    # pandas draws the axes of the bins, on which the counts are drawn.
    rows = pd.DataFrame({at: pd.Series(middles(item)) for at, item in enumerate(edges)})
    look: dict[str, Any] = {"xlabelsize": xlabelsize, "xrot": xrot, "ax": ax, "sharex": sharex}
    look |= {"ylabelsize": ylabelsize, "yrot": yrot, "sharey": sharey, "figsize": figsize}
    axes = rows.set_axis(frame.columns, axis=1).hist(grid=grid, layout=layout, bins=1, **look)
    for at, item in enumerate(np.ravel(axes)[: len(edges)]):
        label = frame.columns[at] if legend else None
        _draw_counts(item, edges[at], counts[at], label, kwargs)
    result: object = axes
    return result


def _draw_counts(axis: Any, edges: Any, counts: Any, label: Any, how: dict[str, Any]) -> None:
    """Draw counts on an axis, in place of what was drawn to make it."""
    for patch in list(axis.patches):
        patch.remove()
    axis.set_prop_cycle(None)
    axis.relim()
    options = how if label is None else {**how, "label": label}
    axis.hist(middles(edges), bins=edges, weights=counts, **options)
    if label is not None:
        axis.legend()
