"""Windows and bins of time within groups: rolling, expanding, exponential, resampled."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, NoReturn, Protocol
from typing import cast as typed

import pandas as pd
from pandas.api.typing import ExponentialMovingWindow as PandasEwm
from pandas.api.typing import Resampler as PandasResampler
from pandas.api.typing import Rolling as PandasRolling

from marsdask.core.collection import Collection
from marsdask.core.public import public_methods

from ..whole.fallback import missing_attribute, with_fallback
from ..whole.origin import MadeOfRows
from .aggregation import GroupByCall, Pairs, R

if TYPE_CHECKING:
    from .groupby import GroupBy

#: What to use instead of a name of windows of groups.
WINDOW_CONVERSIONS = "apply() of the groups, with a function that makes the windows of one"


@dataclass(frozen=True)
class WindowCall(GroupByCall):
    """A call of a method of windows within groups."""

    window: tuple[str, tuple[tuple[str, Any], ...]] = ("rolling", ())
    """The kind of the windows, and its options."""

    def needs(self, labels: pd.Index) -> frozenset[Any] | None:
        """Return which columns it groups by and aggregates, and that of the times."""
        columns = super().needs(labels)
        return columns if columns is None or self._on is None else columns | {self._on}

    @property
    def _on(self) -> Any:
        """The column of the times, if there is one."""
        return dict(self.window[1]).get("on")

    @property
    def uses_labels(self) -> bool:
        """Whether the result depends on the row labels."""
        return True

    @property
    def one_row(self) -> bool:
        """Whether the result has one row for each group."""
        return False

    @property
    def shows_types_by_rows(self) -> bool:
        """Whether the types of the result are those of groups that have rows, as levels are."""
        return self.window[0] == "resample" or super().shows_types_by_rows

    def sampled(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return the rows that have keys and times: pandas fails with functions of others."""
        rows = rows.dropna(subset=list(self.by))
        if self._on is not None:
            rows[self._on] = rows[self._on].ffill().bfill()
        elif self.window[0] == "resample":
            rows = rows[rows.index.notna()]
        return rows

    def __call__(self, frame: pd.DataFrame) -> Any:
        """Group a frame, make windows and call their method."""
        kind, options = self.window
        selection = self.selection
        if kind == "resample" and self._on is not None and selection is not ...:
            # pandas finds the times of chosen columns by position, whatever the labels are.
            others = tuple(pair for pair in options if pair[0] != "on")
            call = dataclasses.replace(self, window=(kind, others))
            return call(frame.set_index(self._on))
        columns = list(selection) if isinstance(selection, tuple) else [selection]
        if self._on is None or selection is ... or self._on in columns:
            windows = getattr(self.grouped(frame), kind)(**dict(options))
        else:  # the columns are chosen of the windows, which need that of the times
            groups = dataclasses.replace(self, selection=...).grouped(frame)
            windows = getattr(groups, kind)(**dict(options))
            windows = windows[columns if isinstance(selection, tuple) else selection]
        args = (dict(arg) if isinstance(arg, Pairs) else arg for arg in self.args)
        return getattr(windows, self.method)(*args, **dict(self.kwargs))


class WindowMethod(Protocol):
    """An aggregation of the windows of groups as a method."""

    def __get__(self, obj: GroupWindows[R], owner: Any, /) -> Callable[..., R]: ...


def _aggregation(name: str) -> WindowMethod:
    def aggregate(self: Any, *args: Any, **kwargs: Any) -> Any:
        if any(isinstance(value, Collection) for value in (*args, *kwargs.values())):
            raise NotImplementedError(
                f"{name}() of windows of groups with a lazy object is not supported; use "
                f"{name}() of both columns"
            )
        return self._aggregate(name, *args, **kwargs)

    aggregate.__name__ = name
    aggregate.__doc__ = f"""Aggregate each window. See pandas.api.typing.Rolling.{name}.

    All rows of a group meet in one task.

    Parameters
    ----------
    *args, **kwargs : object
        The arguments of the method of pandas.

    Returns
    -------
    DataFrame or Series
        A value for each row, labelled by the key and by the row's label.

    Examples
    --------
    >>> frame = md.DataFrame({{"k": [1, 1, 2], "x": [3, 3, 5]}})
    >>> len(frame.groupby("k").x.rolling(2).{name}().compute())
    3
    """
    return typed("WindowMethod", aggregate)


@with_fallback
class GroupWindows(MadeOfRows, Generic[R]):
    """Windows within groups: methods aggregate each of them."""

    theirs: ClassVar[type] = PandasRolling

    def __init__(self, groups: GroupBy[R, Any], kind: str, options: dict[str, Any]) -> None:
        self._groups = groups
        self._window = (kind, tuple(options.items()))
        self._check_times(options.get("on"))

    def _check_times(self, on: Any) -> None:
        """Raise pandas's error for groups of columns that lack the times."""
        selection = self._groups._selection
        if on is None or selection is ... or (isinstance(selection, tuple) and on in selection):
            return
        if self._window[0] == "resample":
            raise KeyError(f"The grouper name {on} is not found")
        raise ValueError(
            f"invalid on specified as {on}, must be a column (of DataFrame), an Index or None"
        )

    def __iter__(self) -> NoReturn:
        kind, _ = self._window
        raise NotImplementedError(
            f"iteration over {kind}() of groups is not supported; use to_pandas() before groupby()"
        )

    def __getitem__(self, key: Any) -> Any:
        """Return the windows of some columns."""
        windows = type(self).__new__(type(self))
        windows._groups, windows._window = self._groups[key], self._window
        return windows

    def __getattr__(self, name: str) -> Any:
        options = dict(self._window[1])
        if name in options:
            return options[name]
        meta = self._groups._node.meta
        if not name.startswith("_") and name in meta.columns:
            return self[name]
        return missing_attribute(self, name, self.theirs, WINDOW_CONVERSIONS)

    def _aggregate(self, method: str, /, *args: Any, **kwargs: Any) -> Any:
        groups = self._groups
        call: Any = groups._call(WindowCall, method, args, kwargs)
        selection, meta = call.selection, groups._source.node.meta
        if self._window[0] != "resample" and isinstance(meta, pd.DataFrame):
            # pandas drops columns that have the names of keys, also of keys beside them.
            names = {*groups._names} - {*groups._by}
            others = tuple(label for label in meta.columns if label not in names)
            selection = others if len(others) < len(meta.columns) else selection
        return groups._result(dataclasses.replace(call, window=self._window, selection=selection))

    def pipe(self, func: Any, *args: Any, **kwargs: Any) -> object:
        """Call a function with the windows. See pandas.api.typing.Rolling.pipe."""
        return type(self._groups).pipe(typed("Any", self), func, *args, **kwargs)

    @property
    def ndim(self) -> int:
        """The number of axes of what is in a window."""
        return self._groups.ndim


@public_methods
@with_fallback
class GroupRolling(GroupWindows[R]):
    """The result of ``rolling`` or ``expanding`` of groups: methods aggregate each window."""

    agg: Final = _aggregation("agg")
    aggregate: Final = _aggregation("aggregate")
    apply: Final = _aggregation("apply")
    corr: Final = _aggregation("corr")
    cov: Final = _aggregation("cov")
    first: Final = _aggregation("first")
    last: Final = _aggregation("last")
    nunique: Final = _aggregation("nunique")
    count: Final = _aggregation("count")
    kurt: Final = _aggregation("kurt")
    max: Final = _aggregation("max")
    mean: Final = _aggregation("mean")
    median: Final = _aggregation("median")
    min: Final = _aggregation("min")
    quantile: Final = _aggregation("quantile")
    rank: Final = _aggregation("rank")
    sem: Final = _aggregation("sem")
    skew: Final = _aggregation("skew")
    std: Final = _aggregation("std")
    sum: Final = _aggregation("sum")
    var: Final = _aggregation("var")


@public_methods
@with_fallback
class GroupEwm(GroupWindows[R]):
    """The result of ``ewm`` of groups: exponentially weighted aggregations."""

    theirs = PandasEwm

    agg: Final = _aggregation("agg")
    aggregate: Final = _aggregation("aggregate")
    corr: Final = _aggregation("corr")
    cov: Final = _aggregation("cov")
    mean: Final = _aggregation("mean")
    std: Final = _aggregation("std")
    sum: Final = _aggregation("sum")
    var: Final = _aggregation("var")


@public_methods
@with_fallback
class GroupBins(GroupWindows[R]):
    """The result of ``resample`` of groups: methods aggregate each bin of each group."""

    theirs = PandasResampler

    agg: Final = _aggregation("agg")
    aggregate: Final = _aggregation("aggregate")
    apply: Final = _aggregation("apply")
    interpolate: Final = _aggregation("interpolate")
    nearest: Final = _aggregation("nearest")
    size: Final = _aggregation("size")
    transform: Final = _aggregation("transform")
    count: Final = _aggregation("count")
    first: Final = _aggregation("first")
    last: Final = _aggregation("last")
    max: Final = _aggregation("max")
    mean: Final = _aggregation("mean")
    median: Final = _aggregation("median")
    min: Final = _aggregation("min")
    nunique: Final = _aggregation("nunique")
    ohlc: Final = _aggregation("ohlc")
    prod: Final = _aggregation("prod")
    quantile: Final = _aggregation("quantile")
    sem: Final = _aggregation("sem")
    std: Final = _aggregation("std")
    sum: Final = _aggregation("sum")
    var: Final = _aggregation("var")
    asfreq: Final = _aggregation("asfreq")
    bfill: Final = _aggregation("bfill")
    ffill: Final = _aggregation("ffill")
