"""Fill missing values from the rows before or behind them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from marsdask.core.machine.costs import kernel

from ..elementwise.row_functions import no_columns, row_function
from ..elementwise.rowwise import Method, along_rows, rowwise
from ..labels.index_methods import is_sorted
from ..nodes.frame_node import S, axis_number, dtypes_of
from ..ordered.rows_at_once import at_once
from ..ordered.shift import RowStencil
from ..rows import concat
from .recurrence import CarriedRows, Carry


def ffill(
    obj: S,
    *,
    axis: int | str | None = None,
    limit: int | None = None,
    limit_area: str | None = None,
) -> S:
    """Replace missing values by the last one before them. See pandas.DataFrame.ffill."""
    return _filled(obj, "ffill", axis, limit, limit_area)


def bfill(
    obj: S,
    *,
    axis: int | str | None = None,
    limit: int | None = None,
    limit_area: str | None = None,
) -> S:
    """Replace missing values by the next one behind them. See pandas.DataFrame.bfill."""
    return _filled(obj, "bfill", axis, limit, limit_area)


def _filled(obj: S, name: str, axis: Any, limit: Any, area: str | None) -> S:
    if axis is not None and axis_number(obj.node.meta, axis) == 1:
        result: S = along_rows(obj, name, limit=limit, limit_area=area)
        return result
    _check_limit(limit)
    if area not in {None, "inside", "outside"}:
        raise ValueError(f"Invalid limit_area: expecting one of ['inside', 'outside'], got {area}.")
    values: S = type(obj)(_fill_node(obj.node, name, limit))
    if area is None:
        return values
    beyond = type(obj)(_fill_node(obj.node, "bfill" if name == "ffill" else "ffill", None))
    rows: S = rowwise(within, obj, values, beyond, inside=area == "inside")
    return rows


def _check_limit(limit: Any) -> None:
    if limit is not None and not isinstance(limit, int | np.integer):
        raise ValueError("Limit must be an integer")
    if limit is not None and limit < 1:
        raise ValueError("Limit must be greater than 0")


def _fill_node(node: Any, name: str, limit: Any) -> Any:
    backward = name == "bfill"
    if limit is None:
        carry = Carry(nearest_row, nearest_of, fill_rows)
        return CarriedRows(node, name, carry, (("name", name),), backward)
    depth = (0, int(limit)) if backward else (int(limit), 0)
    return RowStencil(node, name, fill_among, depth, (("limit", limit), ("name", name)))


@kernel(scratch=1.0)
def nearest_row(block: Any, name: str) -> Any:
    """Return one row: the value of each column that is next to the rows beyond a chunk."""
    row = slice(0, 1) if name == "bfill" else slice(-1, None)
    return getattr(block, name)().iloc[row].reset_index(drop=True)


def nearest_of(state: Any, found: Any, name: str) -> Any:
    """Return the row of nearest values after one more chunk."""
    return nearest_row(_beside(state, found, name), name)


def _beside(state: Any, rows: Any, name: str) -> Any:
    return concat([rows, state] if name == "bfill" else [state, rows], labels=False)


@kernel(scratch=3.0)
def fill_rows(block: Any, state: Any, name: str) -> Any:
    """Fill the gaps of a chunk, from the values before it on."""
    if state is None or not len(block):
        return getattr(block, name)()
    values = getattr(_beside(state, block, name), name)()
    rows = values.iloc[:-1] if name == "bfill" else values.iloc[1:]
    return rows.set_axis(block.index)


@kernel(scratch=3.0)
def fill_among(parts: list[Any], own: Any, begin: int, *, name: str, limit: int) -> Any:
    """Fill short gaps of a chunk, from the rows around it."""
    rows = getattr(concat(parts, labels=False), name)(limit=limit)
    return rows.iloc[begin : begin + len(own)].set_axis(own.index)


def within(block: Any, filled: Any, beyond: Any, inside: bool) -> Any:
    """Keep what was filled between values, or beyond them."""
    mask = beyond.notna() if inside else beyond.isna()
    return block.where(block.notna() | ~mask, filled)


def pct_change(
    obj: S, periods: int = 1, fill_method: None = None, freq: Any = None, **options: Any
) -> S:
    """Return how much rows differ from earlier ones, as a share. See pandas.DataFrame.pct_change.

    With ``freq`` all rows meet in one task.
    """
    if fill_method is not None:
        raise ValueError(f"fill_method must be None; got fill_method={fill_method!r}.")
    if freq is not None:
        how = {"periods": periods, "freq": freq, **options}
        return at_once(obj, "pct_change", Method("pct_change"), **how)
    changes: S = obj / obj.shift(periods, **options) - 1
    return changes


#: Methods of interpolation that use row labels as places.
BY_LABEL = ("index", "values", "time")


def interpolate(
    obj: S,
    method: str = "linear",
    *,
    axis: int | str = 0,
    limit: int | None = None,
    limit_direction: str | None = None,
    limit_area: str | None = None,
    **options: Any,
) -> S:
    """Fill missing values on lines between the values around them.

    See pandas.DataFrame.interpolate. Methods are ``linear``, and ``index``, ``values`` and ``time``
    of labels that rise: it is computed whether they do, where it is not known.
    """
    _check_interpolation(obj, method, options)
    if axis_number(obj.node.meta, axis) == 1:
        how = {"limit": limit, "limit_direction": limit_direction, "limit_area": limit_area}
        across: S = along_rows(obj, "interpolate", method=method, **how)
        return across
    direction = limit_direction or "forward"
    if direction not in {"forward", "backward", "both"}:
        raise ValueError(
            "Invalid limit_direction: expecting one of ['forward', 'backward', 'both'], got "
            f"'{limit_direction}'."
        )
    if limit_area not in {None, "inside", "outside"}:
        raise ValueError(
            f"Invalid limit_area: expecting one of ['inside', 'outside'], got {limit_area}."
        )
    if isinstance(limit, bool):
        raise ValueError("Limit must be an integer")
    _check_limit(limit)
    if limit is not None and method in BY_LABEL:
        raise NotImplementedError(
            f"interpolate({method!r}, limit=) is not supported; use method='linear'"
        )
    rows = rowwise(row_ones, obj).cumsum() if method == "linear" else rowwise(label_places, obj)
    places = rowwise(places_of_values, obj, rows)
    around = (obj.ffill(), obj.bfill(), places.ffill(), places.bfill())
    how = {"limit": limit, "direction": direction, "area": limit_area}
    result: S = rowwise(interpolated, obj, rows, *around, **how)
    return result


def _check_interpolation(obj: Any, method: Any, options: dict[str, Any]) -> None:
    meta = obj.node.meta
    if not isinstance(method, str):
        raise ValueError("'method' should be a string, not None.")
    if options or method not in {"linear", *BY_LABEL}:
        raise NotImplementedError(
            f"interpolate({method!r}) is not supported; use 'linear', 'time', 'index', or ffill()"
        )
    kinds = {getattr(dtype, "kind", "O") for dtype in dtypes_of(meta)}
    if any(isinstance(dtype, pd.api.extensions.ExtensionDtype) for dtype in dtypes_of(meta)):
        kinds.add("V")
    if "O" in kinds or any(isinstance(dtype, pd.StringDtype) for dtype in dtypes_of(meta)):
        name = "str" if "O" not in kinds else "object"
        raise TypeError(f"{type(meta).__name__} cannot interpolate with {name} dtype")
    if kinds - set("biuf"):
        raise NotImplementedError(
            "interpolate() of other types than NumPy's numbers is not supported; use astype(float)"
        )
    if method == "linear":
        return
    if method == "time" and meta.index.dtype.kind != "M":
        raise ValueError(
            "time-weighted interpolation only works on Series or DataFrames with a DatetimeIndex"
        )
    if not is_sorted(obj):
        raise NotImplementedError(
            f"interpolate({method!r}) of labels that may not rise is not supported; use "
            "sort_index() first"
        )


def row_ones(block: Any) -> Any:
    """Return 1 for each row."""
    return pd.Series(1.0, index=block.index)


@row_function(no_columns)
def label_places(block: Any) -> Any:
    """Return the row labels as numbers."""
    labels = block.index
    if labels.dtype.kind in "mM":
        labels = pd.Index(labels.asi8)
    return pd.Series(labels.to_numpy(dtype=float), index=block.index)


def _by_column(func: Any, block: Any, *others: Any, **kwargs: Any) -> Any:
    """Call a function with each column, and with that of other blocks."""
    if block.ndim == 1:
        return func(block, *others, **kwargs)
    result = block.copy(deep=False)
    for at in range(block.shape[1]):
        beside = [item.iloc[:, at] if item.ndim == 2 else item for item in others]
        result.isetitem(at, func(block.iloc[:, at], *beside, **kwargs))
    return result


@kernel(scratch=2.0)
def places_of_values(block: Any, rows: Any) -> Any:
    """Return the place of each value, and nan where it is missing."""
    return _by_column(_places, block, rows)


def _places(column: Any, rows: Any) -> Any:
    return rows.where(column.notna()).rename(column.name)


@kernel(scratch=4.0)
def interpolated(block: Any, rows: Any, *around: Any, **how: Any) -> Any:
    """Fill gaps on the lines between the values around them; ``rows`` has the places of rows."""
    return _by_column(_interpolated, block, rows, *around, **how)


def _interpolated(
    column: Any,
    rows: Any,
    before: Any,
    behind: Any,
    first: Any,
    last: Any,
    *,
    limit: int | None,
    direction: str,
    area: str | None,
) -> Any:
    if column.dtype.kind != "f":
        return column
    x, x0, x1 = (part.to_numpy() for part in (rows, first, last))
    y, y0, y1 = (part.to_numpy() for part in (column, before, behind))
    with np.errstate(invalid="ignore", divide="ignore"):
        slope = (y1 - y0) / (x1 - x0)
        line = y0 + slope * (x - x0)
        # As numpy.interp: from the other end, where one is infinite.
        line = np.where(np.isnan(line), y1 + slope * (x - x1), line)
        line = np.where(np.isnan(line) & (y0 == y1), y0, line)
    begins, ends = ~np.isnan(x0), ~np.isnan(x1)
    forward, backward = direction != "backward", direction != "forward"
    mask = np.isnan(y) & (begins & ends | begins & forward | ends & backward)
    if area is not None:
        mask &= (begins & ends) == (area == "inside")
    if limit is not None:
        near = (x - x0 <= limit) & forward | (x1 - x <= limit) & backward
        mask &= near
    value = np.where(begins & ends, line, np.where(begins, y0, y1))
    values = np.where(mask, value, y).astype(column.dtype)
    return pd.Series(values, index=column.index, name=column.name)
