"""Rolling windows: statistics of the rows around each row, by number or by time."""

from __future__ import annotations

import datetime as dt
from typing import Any, ClassVar, Final

import numpy as np
import pandas as pd
from pandas.api.indexers import BaseIndexer, FixedForwardWindowIndexer
from pandas.api.typing import Rolling as PandasRolling
from pandas.tseries.frequencies import to_offset

from marsdask.core.machine.costs import kernel
from marsdask.core.node import Node
from marsdask.core.public import public_methods

from ..elementwise.exemplars import is_datetimelike
from ..nodes.frame_node import S
from ..ordered.rows_at_once import RowsAtOnce
from ..ordered.shift import RowStencil
from ..rows import concat
from ..whole.fallback import with_fallback
from ..whole.object_types import with_known_labels, with_known_types
from .recurrence import CarriedRows, Carry
from .window import OF_PAIRS, Options, Windows, check_method, statistic, window_values


@kernel(scratch=3.0)
def roll_chunk(parts: list[Any], own: Any, begin: int, **kwargs: Any) -> Any:
    """Return a statistic of the window of each row of a chunk."""
    values = window_values(concat(parts), **kwargs)
    return values.iloc[begin : begin + len(own)].set_axis(own.index)


@kernel(scratch=3.0)
def roll_from(block: Any, state: Any, **kwargs: Any) -> Any:
    """Return a statistic of the window of each row of a chunk; the state has earlier rows."""
    if state is None or not len(block):
        return window_values(block, **kwargs)
    return roll_chunk([state, block], block, len(state), **kwargs)


def last_rows(block: Any, how: Options, **rest: Any) -> Any:
    """Return the rows that windows of later rows may contain, and one of another time."""
    del rest
    options = dict(how)
    times = block.index if options["on"] is None else pd.Index(block[options["on"]])
    if isinstance(times, pd.PeriodIndex):
        times = times.to_timestamp()
    width = pd.Timedelta(to_offset(options["window"]))
    near = abs(times - times[-1]) <= width
    places = np.flatnonzero(times != times[-1])
    near[places[-1:]] = True  # it tells in which direction the times go
    return block[near]


def more_rows(state: Any, found: Any, how: Options, **rest: Any) -> Any:
    """Return the rows that windows may contain after one more chunk."""
    return last_rows(concat([state, found]), how, **rest)


@public_methods
@with_fallback
class Rolling(Windows[S]):
    """The windows of rows around each row."""

    kind: ClassVar[str] = "rolling"
    _theirs: ClassVar[type] = PandasRolling
    narrows: ClassVar[bool] = False

    @property
    def _settings(self) -> Options:
        return tuple((key, value) for key, value in self._how if key != "step")

    def _stepped(self, values: Any) -> Any:
        step = dict(self._how)["step"]
        return values if step is None else values.iloc[::step]

    def _node(self, source: Node, name: str, kwargs: Options) -> Node:
        options = dict(self._how)
        whole = options["on"] is not None or name in OF_PAIRS
        if isinstance(options["window"], int):
            depth = _depth(options["window"], center=options["center"])
        elif isinstance(options["window"], FixedForwardWindowIndexer):
            size: int = vars(options["window"])["window_size"]
            depth = (0, max(0, size - 1))
        elif options["center"] or isinstance(options["window"], BaseIndexer):
            return RowsAtOnce(source, name, window_values, kwargs, all_columns=whole)
        else:
            carry = Carry(last_rows, more_rows, roll_from)
            return CarriedRows(source, name, carry, kwargs, all_columns=whole)
        return RowStencil(source, name, roll_chunk, depth, kwargs, all_columns=whole)

    sum: Final = statistic("sum")
    mean: Final = statistic("mean")
    min: Final = statistic("min")
    max: Final = statistic("max")
    count: Final = statistic("count")
    var: Final = statistic("var")
    std: Final = statistic("std")
    sem: Final = statistic("sem")
    skew: Final = statistic("skew")
    kurt: Final = statistic("kurt")
    median: Final = statistic("median")
    quantile: Final = statistic("quantile")
    rank: Final = statistic("rank")
    first: Final = statistic("first")
    last: Final = statistic("last")
    nunique: Final = statistic("nunique")
    apply: Final = statistic("apply")
    corr: Final = statistic("corr")
    cov: Final = statistic("cov")


def _depth(window: int, *, center: bool) -> tuple[int, int]:
    """Return how many rows before and behind a chunk its windows may contain."""
    after = max(0, window - 1) // 2 if center else 0
    return window - after, after


def rolling(
    obj: S,
    window: Any,
    min_periods: int | None = None,
    center: bool = False,
    win_type: str | None = None,
    on: Any = None,
    closed: str | None = None,
    step: int | None = None,
    method: str = "single",
) -> Rolling[S]:
    """Return windows of a number of rows, or of a span of time. See pandas.DataFrame.rolling.

    The rows of a span before each chunk meet in one task. All rows do for windows of time around
    rows, and for those of an indexer. ``method="table"`` is not supported.
    """
    check_method("rolling", method)
    by_rows = isinstance(window, int | np.integer) and not isinstance(window, bool)
    by_time = isinstance(window, str | dt.timedelta | np.timedelta64 | pd.offsets.BaseOffset)
    if isinstance(window, np.timedelta64):
        window = pd.Timedelta(window)
    options = {"window": int(window) if by_rows else window, "min_periods": min_periods}
    options |= {"center": center, "win_type": win_type, "on": on, "closed": closed, "step": step}
    if by_time:
        obj = with_known_labels(obj) if on is None else with_known_types(obj)
    meta = obj.node.meta
    meta.rolling(**options)  # raises at once, as in pandas
    dtype = (meta.index if on is None else meta[on]).dtype
    if by_time and not is_datetimelike(dtype):
        raise ValueError("window must be an integer 0 or greater")
    return Rolling(obj, tuple(options.items()))
