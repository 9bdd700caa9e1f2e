"""Exponentially weighted windows: the weight of a row falls with its distance."""

from __future__ import annotations

from typing import Any, ClassVar, Final, NamedTuple

import numpy as np
import pandas as pd
from pandas.api.typing import ExponentialMovingWindow as PandasWindow

from marsdask.core.collection import Collection
from marsdask.core.machine.costs import kernel
from marsdask.core.node import Node
from marsdask.core.public import public_methods

from ..elementwise.operands import aligned_values
from ..elementwise.rowwise import rowwise
from ..nodes.frame_node import S
from ..ordered.rows_at_once import RowsAtOnce
from ..reduction.reductions import collection_of
from ..whole.fallback import with_fallback
from .expanding import floats
from .recurrence import CarriedRows, Carry
from .window import OF_PAIRS, Options, Windows, check_method, statistic, window_values


class Weighted(NamedTuple):
    """The weighted mean after each row, an array a column; of a chunk: after its last row.

    Without ``adjust``, a mean that came before has the part ``kept`` of the mean after a row, once
    the first value is there.
    """

    count: Any
    """How many values there are."""
    mean: Any
    weight: Any
    """The sum of the weights of values, with ``adjust``."""
    decays: Any
    """How often weights have fallen, with ``adjust``; since the last value, without."""
    first: Any
    """The first value."""
    lead: Any
    """How often weights fall up to the first value."""
    kept: Any


def weighted(block: Any, alpha: float, ignore_na: bool, adjust: bool) -> Weighted:
    """Return the weighted means of the rows of a chunk."""
    values = floats(block)
    mask = values.notna()
    count = mask.cumsum().to_numpy()
    how: dict[str, Any] = {"alpha": alpha, "adjust": adjust, "ignore_na": ignore_na}
    mean = values.ewm(**how).mean().to_numpy()
    rows = np.arange(1, len(values) + 1)[:, None] + np.zeros_like(count)
    places = count if ignore_na else rows
    first = values.bfill().to_numpy()[0] + np.zeros_like(mean)
    lead = np.where(mask & (count == 1), places, 0).sum(axis=0) + np.zeros_like(count)
    if adjust:
        units = mask.astype(float).where(mask) if ignore_na else mask.astype(float)
        weight = units.ewm(**how).sum().ffill().fillna(0.0).to_numpy()
        return Weighted(count, mean, weight, places, first, lead, np.ones_like(mean))
    last = pd.DataFrame(places).where(mask).ffill().fillna(0).to_numpy()
    before = np.vstack([np.zeros_like(last[:1]), last[:-1]])
    old = (1 - alpha) ** (places - before)
    decays = np.where(mask & (count > 1), _share(old, alpha), 1.0).cumprod(axis=0)
    return Weighted(count, mean, np.ones_like(mean), places - last, first, lead, decays)


def _share(old: Any, alpha: float) -> Any:
    """Return the share of the mean so far in the next one, of weights that may not add up to one.

    pandas lets them add up to one if they fall by half (com=1).
    """
    return old if alpha == 0.5 else old / (old + alpha)


def after(
    state: Weighted, found: Weighted, alpha: float, ignore_na: bool, adjust: bool
) -> Weighted:
    """Return the weighted means of rows that follow others."""
    with np.errstate(invalid="ignore", divide="ignore"):
        if adjust:
            old = (1 - alpha) ** found.decays * state.weight
            weight = old + found.weight
            share = old / weight
        else:
            old = (1 - alpha) ** (found.lead + (0 if ignore_na else state.decays))
            weight = found.weight
            share = found.kept * _share(old, alpha)
        base = found.mean if adjust else found.first
        mean = found.mean + share * (state.mean - base)
    mean = np.where(found.count == 0, state.mean, np.where(state.count == 0, found.mean, mean))
    gaps, new = found.count == 0, state.count == 0
    decays = found.decays if adjust else np.where(gaps, state.decays + found.decays, found.decays)
    return Weighted(
        state.count + found.count,
        mean,
        np.where(new, found.weight, weight),
        decays,
        np.where(new, found.first, state.first),
        np.where(new, found.lead + state.lead, state.lead),
        found.kept,
    )


@kernel(scratch=10.0)
def total_weighted(block: Any, how: Options, **rest: Any) -> Weighted:
    """Return the weighted mean of a chunk."""
    del rest
    return Weighted(*(array[-1:] for array in weighted(block, **dict(how))))


def join_weighted(state: Weighted, found: Weighted, how: Options, **rest: Any) -> Weighted:
    """Return the weighted mean after one more chunk."""
    del rest
    return after(state, found, **dict(how))


@kernel(scratch=12.0)
def weigh_from(block: Any, state: Weighted | None, how: Options, name: str, least: int) -> Any:
    """Return the weighted mean, or sum, of each row of a chunk and of all rows before it."""
    if len(block):
        means = weighted(block, **dict(how))
        means = means if state is None else after(state, means, **dict(how))
        values = means.mean * means.weight if name == "sum" else means.mean
        values = np.where(means.count >= max(1, least), values, np.nan)
    else:
        values = np.empty((0, 1 if block.ndim == 1 else block.shape[1]))
    if block.ndim == 1:
        return pd.Series(values[:, 0], index=block.index, name=block.name)
    return pd.DataFrame(values, index=block.index, columns=block.columns)


@public_methods
@with_fallback
class ExponentialMovingWindow(Windows[S]):
    """Each row with all rows before it, whose weights fall with their distance.

    Means and sums take two passes over chunks. For the other statistics, and with times, all rows
    meet in one task.
    """

    kind: ClassVar[str] = "ewm"
    _theirs: ClassVar[type] = PandasWindow

    @property
    def _settings(self) -> Options:
        return tuple((key, NO_TIMES if key == "times" else value) for key, value in self._how)

    def _node(self, source: Node, name: str, kwargs: Options) -> Node:
        settings = dict(self._how)
        if "times" in settings:
            column = source.meta.name if isinstance(source.meta, pd.Series) else None
            series = isinstance(source.meta, pd.Series)
            rows = rowwise(with_times, collection_of(source), settings["times"])
            timed = (*kwargs, ("series", series), ("column", column))
            return RowsAtOnce(rows.node, name, values_at_times, timed, all_columns=True)
        if name == "sum" and not settings["adjust"]:
            raise NotImplementedError("sum is not implemented with adjust=False; use adjust=True")
        call = dict(kwargs)
        if name not in {"mean", "sum"} or call["args"] or call["options"]:
            whole = name in OF_PAIRS
            return RowsAtOnce(source, name, window_values, kwargs, all_columns=whole)
        how = {
            "alpha": _alpha(**{key: settings[key] for key in ("com", "span", "halflife", "alpha")}),
            "ignore_na": settings["ignore_na"],
            "adjust": settings["adjust"],
        }
        steps = Carry(total_weighted, join_weighted, weigh_from)
        least = settings["min_periods"] or 0
        options = (("how", tuple(how.items())), ("name", name), ("least", least))
        return CarriedRows(source, name, steps, options)

    mean: Final = statistic("mean", "ExponentialMovingWindow")
    sum: Final = statistic("sum", "ExponentialMovingWindow")
    var: Final = statistic("var", "ExponentialMovingWindow")
    std: Final = statistic("std", "ExponentialMovingWindow")
    corr: Final = statistic("corr", "ExponentialMovingWindow")
    cov: Final = statistic("cov", "ExponentialMovingWindow")


#: The times of no rows.
NO_TIMES = np.empty(0, "M8[ns]")
NO_TIMES.flags.writeable = False


def with_times(block: Any, times: Any) -> Any:
    """Return rows with their times as the last column."""
    frame = block.to_frame() if block.ndim == 1 else block
    label = frame.columns[0] if len(frame.columns) else None  # columns keep their type
    column = pd.Series(times.array, frame.index, name=label)
    return pd.concat([frame, column], axis=1)


@kernel(scratch=3.0)
def values_at_times(block: Any, series: bool, column: Any, how: Options, **kwargs: Any) -> Any:
    """Return a statistic of the windows of rows, whose last column are their times."""
    rows, times = block.iloc[:, :-1], block.iloc[:, -1]
    rows = rows.iloc[:, 0].rename(column) if series else rows
    options = {**dict(how), "times": pd.DatetimeIndex(times) if len(times) else NO_TIMES}
    return window_values(rows, how=tuple(options.items()), **kwargs)


def _alpha(com: Any, span: Any, halflife: Any, alpha: Any) -> float:
    """Return by what share weights fall from row to row."""
    if alpha is not None:
        return float(alpha)
    if com is not None:
        return 1 / (1 + float(com))
    return 2 / (float(span) + 1) if span is not None else 1 - 0.5 ** (1 / float(halflife))


def ewm(
    obj: S,
    com: float | None = None,
    span: float | None = None,
    halflife: float | None = None,
    alpha: float | None = None,
    min_periods: int | None = 0,
    adjust: bool = True,
    ignore_na: bool = False,
    times: Any = None,
    method: str = "single",
) -> ExponentialMovingWindow[S]:
    """Return for each row the window of all rows up to it, with weights that fall.

    See pandas.DataFrame.ewm. ``times`` may be lazy; ``method="table"`` is not supported.
    """
    check_method("ewm", method)
    options = {"com": com, "span": span, "halflife": halflife, "alpha": alpha}
    options |= {"min_periods": min_periods, "adjust": adjust, "ignore_na": ignore_na}
    if times is None:
        obj.node.meta.ewm(**options)  # raises at once, as in pandas
        return ExponentialMovingWindow(obj, tuple(options.items()))
    obj.node.meta.ewm(**options, times=NO_TIMES)
    if not isinstance(times, Collection):
        if getattr(getattr(times, "dtype", None), "kind", "O") != "M":
            raise ValueError("times must be datetime64 dtype.")
        complaint = "times must be the same length as the object."
        first = obj if obj.ndim == 1 else obj[[]]
        rows = aligned_values(first, times, complaint)
        if pd.isna(times).any():
            raise ValueError("Cannot convert NaT values to integer")
        times = rows
    options["times"] = times
    return ExponentialMovingWindow(obj, tuple(options.items()))
