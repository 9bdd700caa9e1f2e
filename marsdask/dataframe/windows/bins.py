"""Results over bins of time: rows of equal bins are aligned, and functions see whole bins."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.typing import TimeGrouper
from pandas.tseries.frequencies import to_offset
from pandas.tseries.offsets import Tick

from marsdask.core.machine.costs import kernel
from marsdask.core.node import Node
from marsdask.core.sizes import Chunks, unknown_sizes
from marsdask.core.snapshots.tokens import token
from marsdask.core.traits import Traits

from ..elementwise.row_functions import among_columns, row_function
from ..elementwise.rowwise import rowwise
from ..keyed.aggregation import Pairs
from ..reduction.fold import Assembly, FrameFold, WithFills
from ..reduction.reductions import collection_of
from ..schemas.samples import ROWS, column, sample
from ..whole.calls import refuse_sample

Options = tuple[tuple[str, Any], ...]
#: The first and the last time, ``None`` if there is none.
Bounds = tuple[Any, Any] | None


def time_bounds(block: Any) -> Bounds:
    """Return the first and the last time of a chunk."""
    times = block.dropna()
    return (times.min(), times.max()) if len(times) else None


def join_bounds(a: Bounds, b: Bounds) -> Bounds:
    """Return the bounds of two chunks."""
    if a is None or b is None:
        return a or b
    return min(a[0], b[0]), max(a[1], b[1])


def as_bounds(bounds: Bounds) -> Any:
    """Return bounds as they are passed to every chunk."""
    array = np.empty((), dtype=object)
    array[()] = bounds
    return array


def has_origin(rule: Any, tz: Any) -> bool:
    """Tell whether bins are counted from an origin, and not by the calendar."""
    freq = to_offset(rule)
    return isinstance(freq, Tick) or (isinstance(freq, pd.offsets.Day) and tz is None)


def ends_of_bins(given: dict[str, Any]) -> dict[str, Any]:
    """Return which ends of bins are closed and which are labels, as the rule and origin decide."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of the origin were raised before
        bins: Any = pd.Grouper(**{"freq" if key == "rule" else key: given[key] for key in given})
    return {"closed": bins.closed, "label": bins.label}


def anchored(how: Options, bounds: tuple[Any, Any]) -> dict[str, Any]:
    """Return the arguments of ``resample`` with an origin that does not depend on the rows."""
    options = dict(how)
    first, last = bounds
    origins = {"start_day": first.normalize(), "start": first}
    origins |= {"end_day": last.ceil("D"), "end": last}
    if isinstance(options["origin"], str):
        options["origin"] = origins.get(options["origin"], options["origin"])
    return options


def all_bins(bounds: Bounds, how: Options, like: pd.Index) -> Any:
    """Return the labels of all bins, those of groups ``like`` among them."""
    if bounds is None:
        return pd.Series(0, index=like[:0]).resample(**dict(how)).size().index
    ends = pd.DatetimeIndex(bounds).astype(like.dtype)
    labels = pd.Series(0, index=ends).resample(**dict(how)).size().index
    if not like.isin(labels).all():  # their rows would be lost
        raise RuntimeError(f"bins of {dict(how)} differ between chunks: {like.difference(labels)}")
    return labels


@kernel(scratch=4.0)
def bin_labels(times: Any, bounds: Any, how: Options) -> Any:
    """Return the label of the bin of each time, among the bins of all rows."""
    mask = times.notna().to_numpy()
    if not mask.any():
        return times.copy()
    values = pd.DatetimeIndex(times[mask])
    order = np.argsort(values.asi8, kind="stable")
    counts = _counted(values[order], bounds.item(), how)
    labels = np.empty(len(order), dtype=np.intp)
    labels[order] = np.repeat(np.arange(len(counts)), counts)
    result = times.copy()
    result[mask] = counts.index.take(labels)
    return result


def _counted(times: Any, bounds: tuple[Any, Any], how: Options) -> Any:
    """Return the number of sorted times in each bin.

    Bins of a fixed length are counted from an origin, so that those around the times are enough;
    others begin at the first of all rows, where pandas begins to count units of the calendar.
    """
    if has_origin(dict(how)["rule"], times.tz):
        return pd.Series(0, index=times).resample(**anchored(how, bounds)).size()
    ends = pd.DatetimeIndex(bounds).astype(times.dtype)
    rows = pd.Series(0, index=ends[:1].append([times, ends[1:]]))
    counts = rows.resample(**dict(how)).size()
    places = np.flatnonzero(counts)
    for end in (places[0], places[-1]):
        counts.iloc[end] -= 1  # the two ends are no rows
    return counts


@row_function(among_columns("on"))
@kernel(scratch=3.0)
def times_of(block: Any, on: Any) -> Any:
    """Return the times of rows."""
    if on is not None:
        return block[on]
    return pd.Series(block.index, index=block.index, name=block.index.name)


def labels_of_bins(times: Any, how: Options) -> tuple[Any, Node]:
    """Return the label of the bin of each time, and the bounds of all times."""
    steps = (time_bounds, join_bounds, as_bounds)
    initial = np.empty((), dtype=object)
    bounds = FrameFold(initial, None, False, "resample", times.node, steps)
    return rowwise(bin_labels, times, collection_of(bounds), how=how), bounds


@dataclass(frozen=True, eq=False)
class Bins(WithFills):
    """Aggregated groups and the bins without rows: the bins do not depend on the aggregation."""

    rows_name: str = field(kw_only=True)
    """A name of the rows' times: equal names are equal bins."""

    @property
    def traits(self) -> Traits:
        how = dict(self.kwargs)["how"]
        return Traits(f"bins:{self.rows_name}:{token(how)}")

    @property
    def chunks(self) -> Chunks:
        return (unknown_sizes(self.alignment, [None]),)


def bins_among(obj: Any, key: TimeGrouper) -> tuple[Any, Any, Options]:
    """Return the labels of bins of time, their times, and how they are made."""
    level = key.level
    if level is not None and (obj.node.meta.index.nlevels > 1 or level not in (0, obj.index.name)):
        raise NotImplementedError(
            "pd.Grouper(level=, freq=) of several levels is not supported; use reset_index() and "
            "key="
        )
    times = rowwise(times_of, obj, on=key.key)
    if times.dtype.kind != "M":
        raise TypeError(
            "Only valid with DatetimeIndex, TimedeltaIndex or PeriodIndex, but got an instance of "
            f"'{type(obj.node.meta.index).__name__}'"
        )
    how: dict[str, Any] = {"rule": key.freq, "closed": key.closed, "label": key.label}
    tz = times.dtype.tz if isinstance(times.dtype, pd.DatetimeTZDtype) else None
    if has_origin(key.freq, tz):
        how |= {"origin": key.origin, "offset": key.offset}
    else:
        how |= {"origin": "start_day", "offset": None}  # they take no effect
    return labels_of_bins(times, tuple(how.items()))[0], times, tuple(how.items())


def call_of_bins(
    obj: Any,
    how: Mapping[str, Any],
    selection: Any,
    args: Sequence[Any],
    options: Mapping[str, Any],
) -> Any:
    """Return what pandas's ``agg`` or ``apply`` of bins returns for functions of the user.

    ``how`` has the method, the options of the bins, and the column of times.
    """
    on = how["on"]
    if selection is not None:
        several = selection if isinstance(selection, list) else [selection]
        obj = obj[list(dict.fromkeys([*several, *(() if on is None else (on,))]))]
    pairs = tuple((name, _frozen(value)) for name, value in options.items())
    call = {"selection": selection, "args": tuple(map(_frozen, args)), "options": pairs, **how}
    like = _of_sample(obj.node.meta, on, call)
    kwargs = tuple(call.items())
    return collection_of(Assembly(like, None, False, "resample", (obj.node,), bins_called, kwargs))


def _frozen(arg: Any) -> Any:
    return Pairs(arg.items()) if isinstance(arg, dict) else arg


def _thawed(arg: Any) -> Any:
    return dict(arg) if isinstance(arg, Pairs) else arg


@kernel(scratch=4.0)
def bins_called(
    rows: Any,
    method: str,
    how: Options,
    on: Any,
    selection: Any,
    args: tuple[Any, ...],
    options: Options,
) -> Any:
    """Return the aggregation of bins by functions of the user."""
    bins = rows.resample(**dict(how), **({} if on is None else {"on": on}))
    if selection is not None:
        bins = bins[selection]
    kwargs = {name: _thawed(value) for name, value in options}
    return getattr(bins, method)(*map(_thawed, args), **kwargs)


def _of_sample(meta: Any, on: Any, kwargs: dict[str, Any]) -> Any:
    """Return the types of the result: those of a few rows of one time."""
    rows = sample(meta)
    times = column(meta.index.dtype if on is None else meta[on].dtype)
    times = pd.DatetimeIndex(times.iloc[[0] * ROWS], name=meta.index.name)
    if on is None:
        rows = rows.set_axis(times, axis=0)
    else:
        rows[on] = np.asarray(times) if times.tz is None else times
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return bins_called(rows, **kwargs).iloc[:0]
    except Exception as error:  # noqa: BLE001 - whatever the function raises
        error.add_note(
            f"{kwargs['method']}() was tried with a sample of rows; use groupby().apply(meta=) by "
            "a column of times, which declares what the function returns"
        )
        refuse_sample(error)
