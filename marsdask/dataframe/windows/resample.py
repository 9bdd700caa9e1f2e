"""Bins of time: groups of the rows of each hour, day or month, the empty ones included."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import TYPE_CHECKING, Any, Final, Generic, NoReturn, Protocol, Self
from typing import cast as typed

import pandas as pd
from pandas.api.typing import Resampler as PandasResampler

from marsdask.core.machine.costs import kernel
from marsdask.core.public import public_methods
from marsdask.core.traits import Level, SortKey

from ..elementwise.rowwise import rowwise
from ..keyed.groupby import GroupBy, groupby
from ..labels.group_labels import put
from ..nodes.frame_node import S, dtypes_of
from ..reduction.fold import Assembly
from ..rows import alignment, levels_in
from ..schemas.samples import column
from ..whole.fallback import missing_attribute, with_fallback
from ..whole.object_types import with_known_labels, with_known_types
from ..whole.origin import MadeOfRows
from .bins import (
    Bins,
    all_bins,
    call_of_bins,
    ends_of_bins,
    has_origin,
    labels_of_bins,
    times_of,
)

if TYPE_CHECKING:
    from ..frame import DataFrame
    from ..series import Series

Options = tuple[tuple[str, Any], ...]


class ResampleMethod(Protocol):
    """An aggregation of bins as a method."""

    def __get__(self, obj: Resampler[S], owner: Any, /) -> Callable[..., S]: ...


#: What a bin without rows has, by aggregation: others have missing values.
EMPTY = {"sum": 0, "prod": 1, "count": 0, "size": 0, "nunique": 0}

#: Aggregations that depend on the order of times.
BY_ORDER = {"first", "last", "ohlc"}

#: The columns of ``ohlc`` and the aggregations that they are.
PRICES = {"open": "first", "high": "max", "low": "min", "close": "last"}


def fill_bins(groups: Any, bounds: Any, how: Options, fills: tuple[Any, ...]) -> Any:
    """Return the aggregated groups with the bins that have no rows."""
    labels = all_bins(bounds.item(), how, groups.index).rename(groups.index.name)
    if labels.isin(groups.index).all():
        return groups.set_axis(labels)
    kinds = zip(dtypes_of(groups), fills, strict=True)
    texts = pd.StringDtype
    values = ["" if fill == 0 and isinstance(kind, texts) else fill for kind, fill in kinds]
    return put(groups, labels, tuple(values))


def aggregation(name: str) -> ResampleMethod:
    """Return the aggregation of that name as a method."""

    def call(self: Any, *args: Any, **options: Any) -> Any:
        return self._aggregate(name, *args, **options)

    call.__name__ = name
    call.__doc__ = f"Return the {name} of each bin. See pandas.api.typing.Resampler.{name}."
    return typed("ResampleMethod", call)


def upsampling(name: str) -> ResampleMethod:
    """Return a method that gives a row for each bin, from rows around its label."""

    def call(self: Any, *args: Any, **options: Any) -> Any:
        return self._upsampled(name, args, options)

    call.__name__ = name
    call.__doc__ = (
        f"Return a row for each bin. See pandas.api.typing.Resampler.{name}.\n\n"
        "All rows meet in one task."
    )
    return typed("ResampleMethod", call)


@public_methods
@with_fallback
class Resampler(MadeOfRows, Generic[S]):
    """Bins of time; methods are aggregations, whose results are one chunk."""

    def __init__(self, obj: S, how: Options, on: Any, selection: Any = None) -> None:
        self._obj = obj
        self._how = how
        self._on = on
        self._selection = selection

    def __getitem__(self, key: Hashable | list[Any]) -> Self:
        """Return the bins of some columns."""
        is_list = isinstance(key, list | pd.Index)
        columns = list(key) if is_list else [key]  # type: ignore[arg-type]
        if missing := [label for label in columns if label not in self._obj.node.meta.columns]:
            raise KeyError(f"Columns not found: {', '.join(map(repr, missing))}")
        return type(self)(self._obj, self._how, self._on, columns if is_list else key)

    def __iter__(self) -> NoReturn:
        raise NotImplementedError(
            "iteration over the bins of resample() is not supported; use to_pandas() before "
            "resample()"
        )

    def __getattr__(self, name: str) -> Self:
        meta = self._obj.node.meta
        if isinstance(meta, pd.DataFrame) and name in meta.columns:
            return self[name]
        bins: Self = missing_attribute(
            self, name, PandasResampler, "a named aggregation, or groupby() by a column of times"
        )
        return bins

    def _in_order(self) -> Any:
        """Return the rows in the order of time."""
        obj: Any = self._obj
        if self._on is not None:
            return obj.sort_values(self._on, kind="stable", na_position="first")
        rises = obj.node.traits.is_sorted([SortKey(Level())])
        return obj if rises else obj.sort_index(kind="stable", na_position="first")

    def _rows(self, *, in_order: bool) -> tuple[Any, Any]:
        """Return the chosen columns and the times of their rows."""
        obj: Any = self._in_order() if in_order else self._obj
        times = rowwise(times_of, obj, on=self._on)
        if self._selection is not None:
            return obj[self._selection], times
        return (obj if self._on is None else obj.drop(columns=self._on)), times

    def _labelled(self, *, in_order: bool) -> tuple[Any, Any, Any]:
        """Return the chosen columns, the label of each row's bin, and the bounds of all times."""
        rows, times = self._rows(in_order=in_order)
        return rows, *labels_of_bins(times, self._how)

    def _aggregate(self, name: str, *args: Any, **options: Any) -> Any:
        if name == "ohlc":
            return self._prices()
        functions = args[:1] or tuple(options.values()) if name == "agg" else ()
        in_order = name in BY_ORDER or any(method in str(functions) for method in BY_ORDER)
        rows, labels, bounds = self._labelled(in_order=in_order)
        groups = groups_of_bins(rows, labels)
        result: Any = getattr(groups, name)(*args, **options)
        fill = EMPTY.get(name)
        fill = None if options.get("min_count", 0) > 0 else fill
        width = len(dtypes_of(result.node.meta))
        fills = _fills(args[0], result.node.meta) if name == "agg" and args else (fill,) * width
        if name == "agg" and not args:
            fills = tuple(EMPTY.get(how[1]) for how in options.values())
        how = (("how", self._how), ("fills", fills))
        like = fill_like(result.node.meta, fills)
        # Equal rows have equal bins, whatever columns are aggregated.
        source = self._obj if self._on is None else self._obj[self._on]
        source = alignment(source.node) if self._on is None else source.node.name
        parts = (result.node, bounds)
        node = Bins(like, None, False, "resample", parts, fill_bins, how, rows_name=source)
        return type(result)(node)

    def _prices(self) -> Any:
        prices = self._aggregate("agg", list(PRICES.values()))
        labels = prices.columns
        if labels.nlevels == 1:
            return prices.set_axis(pd.Index(list(PRICES)), axis=1)
        names = list(PRICES) * (len(labels) // len(PRICES))
        levels = [*levels_in(labels)[:-1], names]
        return prices.set_axis(pd.MultiIndex.from_arrays(levels, names=labels.names), axis=1)

    def _upsampled(self, name: str, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        obj: Any = self._obj
        if self._on is not None:
            raise ValueError(
                "Upsampling from level= or on= selection is not supported, use .set_index(...) to "
                "explicitly set index to datetime-like"
            )
        if self._selection is not None:
            obj = obj[self._selection]
        call = {"how": self._how, "name": name, "args": args}
        kwargs = (*call.items(), ("options", tuple(sorted(options.items()))))
        like = resampled(obj.node.meta, **dict(kwargs))
        return type(obj)(Assembly(like, None, False, name, (obj.node,), resampled, kwargs))

    def agg(self, func: Any = None, *args: Any, **named: Any) -> S | DataFrame:
        """Return one or several aggregations of each bin, by their names or by functions.

        See pandas.api.typing.Resampler.agg. For functions of the user all rows meet in one task,
        and a sample of rows shows what they return.

        Parameters
        ----------
        func : str, callable, list or dict
            The aggregations.
        *args : object
            Further arguments of a function.
        **named : object
            Pairs of a column and its aggregation by the name of the result, or arguments of
            ``func``.

        Returns
        -------
        DataFrame or Series
            A row for each bin.

        Raises
        ------
        ValueError
            If a function fails on the sample.

        Examples
        --------
        >>> days = pd.date_range("2026-01-01", periods=4, freq="12h")
        >>> md.Series([1, 2, 3, 5], index=days).resample("D").agg(np.ptp).compute().tolist()
        [1, 2]
        """
        return self._called("agg", func, args, named)

    aggregate = agg

    def apply(self, func: Any = None, *args: Any, **kwargs: Any) -> S | DataFrame:
        """Return what a function, or an aggregation by its name, makes of each bin.

        See pandas.api.typing.Resampler.apply. All rows meet in one task, and a sample of rows shows
        what the function returns.

        Parameters
        ----------
        func : str or callable
            The function.
        *args, **kwargs : object
            Its further arguments.

        Returns
        -------
        DataFrame or Series
            What it returns of each bin.

        Raises
        ------
        ValueError
            If the function fails on the sample.

        Examples
        --------
        >>> days = pd.date_range("2026-01-01", periods=4, freq="12h")
        >>> md.Series([1, 2, 3, 5], index=days).resample("D").apply(len).compute().tolist()
        [2, 2]
        """
        return self._called("apply", func, args, kwargs)

    def _called(
        self, method: str, func: Any, args: tuple[Any, ...], named: dict[str, Any]
    ) -> S | DataFrame:
        func = [] if func == {} and self.ndim == 1 else func
        functions = [func] if func is not None else [how[1] for how in named.values()]
        plain = func is None or not (args or named)
        if plain and all(isinstance(item, str) for how in functions for item in _flat(how)):
            if isinstance(func, str):
                result: S = getattr(self, func)()
                return result
            arguments = () if func is None else (func,)
            return typed("DataFrame", self._aggregate("agg", *arguments, **named))
        how = {"method": method, "how": self._how, "on": self._on}
        several: DataFrame = call_of_bins(self._obj, how, self._selection, (func, *args), named)
        return several

    def transform(self, func: Any, *args: Any, **kwargs: Any) -> S:
        """Return a value for each row, from all rows of its bin; rows are in the order of time.

        See pandas.api.typing.Resampler.transform. Rows of a bin meet in one task.
        """
        rows, labels, _ = self._labelled(in_order=True)
        result: S = groupby(rows, labels).transform(func, *args, **kwargs)
        return result

    def pipe(
        self, func: Callable[..., Any] | tuple[Callable[..., Any], str], *args: Any, **kwargs: Any
    ) -> object:
        """Call a function with the bins. See pandas.api.typing.Resampler.pipe."""
        return GroupBy.pipe(typed("Any", self), func, *args, **kwargs)

    def _computed(self) -> Any:
        """Compute the times, and return pandas's bins of them."""
        times = rowwise(times_of, self._obj, on=self._on).compute()
        return pd.Series(0, index=pd.DatetimeIndex(times)).resample(**dict(self._how))

    @property
    def groups(self) -> Mapping[Hashable, int]:
        """The end of each bin's rows in the order of time; computes the times."""
        groups: Mapping[Hashable, int] = self._computed().groups
        return groups

    @property
    def indices(self) -> Mapping[Hashable, list[int]]:
        """The positions of the rows of each bin, in the order of time; computes the times."""
        indices: Mapping[Hashable, list[int]] = self._computed().indices
        return indices

    def get_group(self, name: Any) -> S:
        """Return the rows of one bin, in the order of time; computes whether there are any.

        See pandas.api.typing.Resampler.get_group.

        Parameters
        ----------
        name : datetime or str
            The label of the bin.

        Returns
        -------
        DataFrame or Series
            Its rows.

        Raises
        ------
        KeyError
            If there are none.

        Examples
        --------
        >>> days = pd.date_range("2026-01-01", periods=4, freq="12h")
        >>> bins = md.Series([1, 2, 3, 5], index=days).resample("D")
        >>> bins.get_group("2026-01-02").compute().tolist()
        [3, 5]
        """
        label = pd.Timestamp(name)
        rows, labels, _ = self._labelled(in_order=True)
        rows = rows if self._on is None or self._selection is not None else self._in_order()
        result: Any = rows[labels == label]
        if not len(result):
            raise KeyError(name)
        return typed("S", result)

    @property
    def ngroups(self) -> int:
        """The number of bins; computes it."""
        return len(self.size())

    @property
    def ndim(self) -> int:
        """The number of axes of what a bin has."""
        is_series = self._selection is not None and not isinstance(self._selection, list)
        return 1 if is_series else int(self._obj.node.meta.ndim)

    def size(self) -> Series:
        """Return the number of rows of each bin. See pandas.api.typing.Resampler.size."""
        sizes: Series = self._aggregate("size")
        return sizes

    def ohlc(self) -> DataFrame:
        """Return the first, largest, least and last value of each bin.

        See pandas.api.typing.Resampler.ohlc.
        """
        prices: DataFrame = self._prices()
        return prices

    sum: Final = aggregation("sum")
    prod: Final = aggregation("prod")
    mean: Final = aggregation("mean")
    count: Final = aggregation("count")
    min: Final = aggregation("min")
    max: Final = aggregation("max")
    var: Final = aggregation("var")
    std: Final = aggregation("std")
    sem: Final = aggregation("sem")
    first: Final = aggregation("first")
    last: Final = aggregation("last")
    median: Final = aggregation("median")
    nunique: Final = aggregation("nunique")
    quantile: Final = aggregation("quantile")

    asfreq: Final = upsampling("asfreq")
    ffill: Final = upsampling("ffill")
    bfill: Final = upsampling("bfill")
    nearest: Final = upsampling("nearest")
    interpolate: Final = upsampling("interpolate")


def _flat(func: Any) -> list[Any]:
    if func is None:
        return []
    several = func.values() if isinstance(func, dict) else func
    if isinstance(func, list | tuple | dict):
        return [inner for item in several for inner in _flat(item)]
    return [func]


def groups_of_bins(obj: Any, labels: Any) -> GroupBy[Any, Any]:
    """Group rows by the labels of their bins of time."""
    groups = groupby(obj, labels)
    groups._flags["bins"] = True
    return groups


def _fills(func: Any, meta: Any) -> tuple[Any, ...]:
    """Return what each column of several aggregations has in a bin without rows."""
    if isinstance(func, list):
        fills = [EMPTY.get(name) for name in func]
        return tuple(fills) * (len(meta.columns) // max(len(func), 1))
    return tuple(EMPTY.get(name) for how in func.values() for name in _flat(how))


def fill_like(meta: Any, fills: tuple[Any, ...]) -> Any:
    """Return the types of aggregations if there are bins without rows."""
    if meta.ndim == 1:
        return meta if fills[0] is not None else _gapped(meta)
    result = meta.copy(deep=False)
    for at, fill in enumerate(fills):
        if fill is None:
            result.isetitem(at, _gapped(meta.iloc[:, at]))
    return result


def _gapped(values: Any) -> Any:
    if values.dtype == bool:
        return values.astype(float)
    return values.astype(pd.Series(column(values.dtype).array).reindex([0, 99]).dtype)


@kernel(scratch=3.0)
def resampled(rows: Any, how: Options, name: str, args: Any, options: Options) -> Any:
    """Return a row for each bin, from rows around its label."""
    return getattr(rows.resample(**dict(how)), name)(*args, **dict(options))


def resample(
    obj: S,
    rule: Any,
    closed: str | None = None,
    label: str | None = None,
    convention: str = "start",
    on: Hashable = None,
    level: Any = None,
    origin: Any = "start_day",
    offset: Any = None,
    group_keys: bool = False,
) -> Resampler[S]:
    """Return bins of time, by the row labels or by a column. See pandas.DataFrame.resample.

    ``level=`` is not supported, nor are periods.
    """
    meta = obj.node.meta
    if level is not None:
        raise NotImplementedError("resample(level=) is not supported; use reset_index() and on=")
    if on is not None and not (meta.ndim == 2 and on in meta.columns):
        raise KeyError(f"The grouper name {on} is not found")
    labels = meta.index if on is None else pd.Index(meta[on])
    if labels.dtype.kind != "M":
        obj = with_known_labels(obj) if on is None else with_known_types(obj)
        labels = obj.node.meta.index if on is None else pd.Index(obj.node.meta[on])
    if labels.dtype.kind != "M":
        if labels.dtype.kind == "m" or isinstance(labels, pd.PeriodIndex):
            raise NotImplementedError(
                f"resample() of {labels.dtype} is not supported; use times, as to_timestamp()"
            )
        raise TypeError(
            "Only valid with DatetimeIndex, TimedeltaIndex or PeriodIndex, but got an instance of "
            f"'{type(labels).__name__}'"
        )
    options = {"rule": rule, "closed": closed, "label": label, "origin": origin, "offset": offset}
    # Raises and warns at once, as in pandas; the convention is of periods alone.
    pd.Series(0, index=labels[:0]).resample(**{**options, "convention": convention})
    options |= ends_of_bins(options)
    if not has_origin(rule, labels.tz if isinstance(labels, pd.DatetimeIndex) else None):
        options |= {"origin": "start_day", "offset": None}  # they take no effect
    options |= {"group_keys": True} if group_keys else {}
    return Resampler(obj, tuple(options.items()), on)
