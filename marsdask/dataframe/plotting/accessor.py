"""The ``plot`` of frames and series: few rows that stand for all are drawn by pandas."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pandas as pd

from .backend import check_matplotlib
from .box import box_rows
from .histogram import counted_rows, density_rows
from .points import all_rows, rows_at_distances, rows_at_random, rows_of_lines

#: Other names of kinds of plots.
ALIASES = {"density": "kde"}
#: The kinds that need two columns.
OF_FRAMES = ("scatter", "hexbin")
#: The kinds of plots, as pandas lists them.
KINDS = ("line", "bar", "barh", "kde", "density", "area", "hist", "box", "pie", *OF_FRAMES)
#: The arguments of a frame's plot that may be given by position.
POSITIONAL = ("x", "y", "kind")
#: Arguments that may name columns besides ``x`` and ``y``.
NAMING = ("c", "C", "s", "xerr", "yerr")

Reduced = tuple[Any, dict[str, Any]]


def reduced(obj: Any, kind: str, options: dict[str, Any], limit: int | None) -> Reduced:
    """Compute the few rows of a plot, and the arguments by which they stand for all."""
    if kind == "hist":
        return counted_rows(obj, options)
    if kind == "kde":
        return density_rows(obj, options)
    if kind == "box":
        if options.get("by") is not None or options.get("column") is not None:
            raise NotImplementedError("plot.box(by=, column=) is not supported; use boxplot(by=)")
        return box_rows(obj, options, limit), {}
    if kind in ("line", "area"):
        return rows_of_lines(obj, limit), {}
    if kind in ("bar", "barh"):
        return rows_at_distances(obj, limit), {}
    if kind == "scatter":
        return rows_at_random(obj, limit), {}
    return all_rows(obj, limit, kind), {}


def _method(kind: str) -> Callable[..., object]:
    def call(self: PlotAccessor, *args: Any, **kwargs: Any) -> object:
        names = POSITIONAL[:2] if self.of_frame else ()
        if len(args) > len(names):
            raise TypeError(f"plot.{kind}() takes {len(names)} positional arguments")
        arguments = dict(zip(names, args, strict=False))
        return self(kind=kind, **arguments, **kwargs)

    call.__name__ = kind
    call.__doc__ = f"Draw a plot of this kind. See pandas.DataFrame.plot.{kind}."
    return call


class PlotAccessor:
    """Plots of a frame or a series, reduced where the rows are. See pandas.DataFrame.plot.

    Rows come to this process only as far as they are drawn:

    * ``hist`` and ``kde`` draw the counts of bins, of 1000 bins for ``kde``;
    * ``box`` draws exact quartiles, and at most 1000 outliers on each side;
    * ``line`` and ``area`` draw the extremes of each run of rows, ``scatter`` rows at random, of
      more than 10,000 rows;
    * ``bar`` and ``barh`` draw evenly spaced rows, with a warning, of more than 1000;
    * ``pie`` and ``hexbin`` draw at most 1000 rows and refuse more.

    ``max_points=`` is another limit. Needs matplotlib: ``pip install "marsdask[plot]"``.
    """

    def __init__(self, obj: Any) -> None:
        self._obj = obj

    @property
    def of_frame(self) -> bool:
        """Whether a frame is plotted, and not a series."""
        return bool(self._obj.ndim == 2)

    def __call__(self, *args: Any, **kwargs: Any) -> object:
        """Draw a plot, lines unless ``kind=`` says otherwise. See pandas.DataFrame.plot."""
        if args and not self.of_frame:
            raise TypeError(
                "`Series.plot()` should not be called with positional arguments, only keyword "
                "arguments."
            )
        if len(args) > len(POSITIONAL):
            raise TypeError(f"plot() takes the positional arguments {', '.join(POSITIONAL)}")
        options = {**dict(zip(POSITIONAL, args, strict=False)), **kwargs}
        kind = options.pop("kind", "line")
        kind = ALIASES.get(kind, kind)
        if kind not in KINDS:
            raise ValueError(f"{kind} is not a valid plot kind Valid plot kinds: {KINDS}")
        if kind in OF_FRAMES and not self.of_frame:
            raise ValueError(f"plot kind {kind} can only be used for data frames")
        check_matplotlib(options.get("backend"), kind)
        limit = options.pop("max_points", None)
        obj = self._chosen(options, kind) if self.of_frame else self._obj
        rows, how = reduced(obj, kind, options, limit)
        axes: object = rows.plot(kind=kind, **options, **how)
        return axes

    def _chosen(self, options: dict[str, Any], kind: str) -> Any:
        """Return the columns that are plotted; name those that the arguments number."""
        columns = self._obj.columns
        for name in ("x", "y", *NAMING):
            if name in options:
                options[name] = _labelled(options[name], columns, strict=name in "xy")
        x, y = options.get("x"), options.get("y")
        if kind in OF_FRAMES and (x is None or y is None):
            raise ValueError(f"{kind} requires an x and y column")
        if kind in ("hist", "kde", "box"):
            options.pop("x", None)
            x = None
        if y is None:
            return self._numeric(x, options, kind)
        extra = [options[name] for name in NAMING if _is_label(options.get(name), columns)]
        labels = [*([] if x is None else [x]), *(y if isinstance(y, list) else [y]), *extra]
        return self._obj[list(dict.fromkeys(labels))]

    def _numeric(self, x: Any, options: dict[str, Any], kind: str) -> Any:
        """Return the columns that pandas draws, and that of the labels."""
        if kind in ("hist", "kde", "box") or not self._obj.columns.is_unique:
            return self._obj
        kinds = ["number", "datetime", "datetimetz", "timedelta"]
        kinds += ["bool"] if options.get("include_bool") else []
        columns = self._obj.node.meta.select_dtypes(include=kinds).columns
        if not len(columns.difference([x])):
            raise TypeError("no numeric data to plot")
        extra = [options[n] for n in NAMING if _is_label(options.get(n), self._obj.columns)]
        labels = {*columns, *([] if x is None else [x]), *extra}
        return self._obj[[label for label in self._obj.columns if label in labels]]

    line: Final = _method("line")
    bar: Final = _method("bar")
    barh: Final = _method("barh")
    area: Final = _method("area")
    hist: Final = _method("hist")
    box: Final = _method("box")
    kde: Final = _method("kde")
    density: Final = kde
    pie: Final = _method("pie")
    scatter: Final = _method("scatter")
    hexbin: Final = _method("hexbin")


class GroupPlots:
    """Plots of each group. See pandas.api.typing.DataFrameGroupBy.plot."""

    def __init__(self, groups: Any) -> None:
        self._groups = groups

    def __call__(self, *args: Any, **kwargs: Any) -> pd.Series[Any]:
        """Draw a plot of each group's rows; return their axes by key."""
        return of_each(self._groups, lambda rows: rows.plot(*args, **kwargs))

    def __getattr__(self, kind: str) -> Callable[..., pd.Series[Any]]:
        if kind not in KINDS:
            raise AttributeError(f"plots have no kind {kind!r}", name=kind, obj=self)

        def call(*args: Any, **kwargs: Any) -> Any:
            return of_each(self._groups, lambda rows: getattr(rows.plot, kind)(*args, **kwargs))

        return call


def of_each(groups: Any, draw: Callable[[Any], Any]) -> pd.Series[Any]:
    """Draw the rows of one group after the other; return what was drawn by key."""
    plots = [draw(rows) for _, rows in groups]
    result: pd.Series[Any] = pd.Series(plots, groups._keys(), dtype=object)
    return result


def hist_groups(groups: Any, **kwargs: Any) -> pd.Series[Any]:
    """Draw histograms of each group. See pandas.api.typing.DataFrameGroupBy.hist.

    Needs matplotlib: ``pip install "marsdask[plot]"``.
    """
    return of_each(groups, lambda rows: rows.hist(**kwargs))


def _is_label(value: Any, columns: pd.Index[Any]) -> bool:
    return isinstance(value, str | int) and value in columns


def _labelled(value: Any, columns: pd.Index[Any], *, strict: bool) -> Any:
    """Return the label of a column that is given by its number, as pandas does."""
    if isinstance(value, list | tuple | np.ndarray | pd.Index) and strict:
        return [_labelled(item, columns, strict=True) for item in value]
    is_int = columns.dtype.kind in "iu" or columns.inferred_type in ("integer", "mixed-integer")
    if isinstance(value, int) and not isinstance(value, bool) and not is_int:
        return columns[value] if strict or value < len(columns) else value
    if strict and value is not None and value not in columns:
        raise KeyError(value)
    return value
