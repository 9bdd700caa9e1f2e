"""Expanding windows: statistics of each row and of all rows before it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np
import pandas as pd
from pandas.api.typing import Expanding as PandasExpanding

from marsdask.core.machine.costs import kernel
from marsdask.core.node import Node
from marsdask.core.public import public_methods

from ..nodes.frame_node import S
from ..ordered.rows_at_once import RowsAtOnce
from ..whole.fallback import with_fallback
from .recurrence import CarriedRows, Carry
from .window import OF_PAIRS, Options, Windows, check_method, statistic, window_values


class RunningMoments(NamedTuple):
    """What the rows up to each row come to, a column a column; of one row: what a chunk does."""

    rows: Any
    count: Any
    sum: Any
    square: Any
    """The sum of the squares of the distances from the mean."""
    min: Any
    max: Any


def floats(block: Any) -> pd.DataFrame:
    """Return the columns as numbers of pandas's windows: the infinite is missing."""
    frame = block.to_frame() if block.ndim == 1 else block
    try:
        numbers = frame.astype(float)
    except (TypeError, ValueError) as error:
        raise pd.errors.DataError("No numeric types to aggregate") from error
    numbers = numbers.set_axis(range(frame.shape[1]), axis=1).reset_index(drop=True)
    values: pd.DataFrame = numbers.replace([np.inf, -np.inf], np.nan)
    return values


def moments(block: Any) -> RunningMoments:
    """Return what the rows of a chunk come to, up to each row."""
    values = floats(block)
    windows = values.expanding(1)
    count = values.notna().cumsum().to_numpy()
    rows = np.arange(1, len(values) + 1)[:, None] + np.zeros_like(count)
    square = windows.var(ddof=0).fillna(0.0).to_numpy() * count
    return RunningMoments(
        rows,
        count,
        windows.sum().fillna(0.0).to_numpy(),
        square,
        windows.min().to_numpy(),
        windows.max().to_numpy(),
    )


def joined(before: RunningMoments, found: RunningMoments) -> RunningMoments:
    """Return the moments of rows that follow others (Chan et al., 1983)."""
    count = before.count + found.count
    with np.errstate(divide="ignore", invalid="ignore"):
        distance = found.sum / found.count - before.sum / before.count
        between = distance**2 * (before.count * found.count / count)
    between = np.where((before.count == 0) | (found.count == 0), 0.0, between)
    return RunningMoments(
        before.rows + found.rows,
        count,
        before.sum + found.sum,
        before.square + found.square + between,
        np.fmin(before.min, found.min),
        np.fmax(before.max, found.max),
    )


@kernel(scratch=8.0)
def total_moments(block: Any, **rest: Any) -> RunningMoments:
    """Return what the rows of a chunk come to."""
    return RunningMoments(*(array[-1:] for array in moments(_counted(block, rest))))


def join_moments(state: RunningMoments, found: RunningMoments, **rest: Any) -> RunningMoments:
    """Return the moments after one more chunk."""
    del rest
    return joined(state, found)


@kernel(scratch=10.0)
def expand_from(
    block: Any, state: RunningMoments | None, name: str, least: int, options: Options = ()
) -> Any:
    """Return a statistic of each row of a chunk and of all rows before it."""
    totals = moments(_counted(block, {"name": name}))
    totals = totals if state is None else joined(state, totals)
    counts = totals.rows if name == "count" else totals.count
    with np.errstate(divide="ignore", invalid="ignore"):
        values = EXPANSIONS[name](totals, **dict(options))
    values = np.where(counts >= least, values, np.nan)
    if block.ndim == 1:
        return pd.Series(values[:, 0], index=block.index, name=block.name)
    return pd.DataFrame(values, index=block.index, columns=block.columns)


def _counted(block: Any, how: dict[str, Any]) -> Any:
    """Return what is counted in place of values of any types."""
    return block.notna() if how.get("name") == "count" else block


def _count(of: RunningMoments) -> Any:
    return of.sum


def _sum(of: RunningMoments) -> Any:
    return of.sum


def _mean(of: RunningMoments) -> Any:
    return of.sum / of.count


def _min(of: RunningMoments) -> Any:
    return of.min


def _max(of: RunningMoments) -> Any:
    return of.max


def _var(of: RunningMoments, ddof: int = 1) -> Any:
    return np.where(of.count > ddof, of.square / (of.count - ddof), np.nan)


def _std(of: RunningMoments, ddof: int = 1) -> Any:
    return np.sqrt(_var(of, ddof))


def _sem(of: RunningMoments, ddof: int = 1) -> Any:
    return _std(of, ddof) / np.sqrt(of.count)


#: The statistics that follow from moments.
EXPANSIONS: dict[str, Callable[..., Any]] = {
    "count": _count,
    "sum": _sum,
    "mean": _mean,
    "min": _min,
    "max": _max,
    "var": _var,
    "std": _std,
    "sem": _sem,
}


@public_methods
@with_fallback
class Expanding(Windows[S]):
    """Each row with all rows before it.

    Sums, means, counts, extremes and variances take two passes over chunks. For the other
    statistics all rows meet in one task.
    """

    kind: ClassVar[str] = "expanding"
    _theirs: ClassVar[type] = PandasExpanding

    def _node(self, source: Node, name: str, kwargs: Options) -> Node:
        call = dict(kwargs)
        options = dict(call["options"])
        plain = not call["args"] and not options.keys() - {"ddof"}
        if name not in EXPANSIONS or not plain:
            whole = name in OF_PAIRS
            return RowsAtOnce(source, name, window_values, kwargs, all_columns=whole)
        least = dict(self._how)["min_periods"]
        how = {"name": name, "least": least, "options": call["options"]}
        carry = Carry(total_moments, join_moments, expand_from)
        return CarriedRows(source, name, carry, tuple(how.items()))

    sum: Final = statistic("sum", "Expanding")
    mean: Final = statistic("mean", "Expanding")
    min: Final = statistic("min", "Expanding")
    max: Final = statistic("max", "Expanding")
    count: Final = statistic("count", "Expanding")
    var: Final = statistic("var", "Expanding")
    std: Final = statistic("std", "Expanding")
    sem: Final = statistic("sem", "Expanding")
    skew: Final = statistic("skew", "Expanding")
    kurt: Final = statistic("kurt", "Expanding")
    median: Final = statistic("median", "Expanding")
    quantile: Final = statistic("quantile", "Expanding")
    rank: Final = statistic("rank", "Expanding")
    first: Final = statistic("first", "Expanding")
    last: Final = statistic("last", "Expanding")
    nunique: Final = statistic("nunique", "Expanding")
    apply: Final = statistic("apply", "Expanding")
    corr: Final = statistic("corr", "Expanding")
    cov: Final = statistic("cov", "Expanding")


def expanding(obj: S, min_periods: int | None = 1, method: str = "single") -> Expanding[S]:
    """Return for each row the window of all rows up to it. See pandas.DataFrame.expanding.

    ``method="table"`` is not supported.
    """
    check_method("expanding", method)
    obj.node.meta.expanding(min_periods)  # raises at once, as in pandas
    return Expanding(obj, (("min_periods", min_periods or 0),))
