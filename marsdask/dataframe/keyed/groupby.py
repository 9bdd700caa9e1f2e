"""Group-by: what users call."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, Generic, overload
from typing import cast as typed

import numpy as np
import pandas as pd
from pandas.api.typing import DataFrameGroupBy, SeriesGroupBy, TimeGrouper

from marsdask.core.arguments import in_memory, listed_names
from marsdask.core.display.suggestions import suggesting_methods
from marsdask.core.node import Node
from marsdask.core.public import public_methods
from marsdask.tensor.tensor import method

from ..arguments.dask_arguments import IGNORED_OF_GROUPS, ignore_arguments
from ..arguments.pandas_arguments import check_names, checked_arguments, named_pairs
from ..elementwise.exemplars import keys_in_one_type
from ..elementwise.filter import Filter
from ..elementwise.rowwise import column_of, rowwise, with_columns
from ..labels.by_position import rows_in_order
from ..labels.group_labels import (
    TimeBins,
    beside_times,
    column_of_series,
    keys_of,
    labelled_as,
    named_levels,
    needs_order,
    result_of_call,
    with_empty_groups,
    with_key_columns,
    with_keys,
)
from ..nodes.dtypes import in_one_type
from ..ordered.rank import GroupNumbers, number_rows_by, positions_of
from ..ordered.row_numbers import reset_index
from ..plotting.accessor import GroupPlots, hist_groups
from ..plotting.box import boxplot_groups
from ..reduction.floats import narrow_floats
from ..reduction.reductions import collection_of as _lazy
from ..whole.fallback import missing_attribute, with_fallback
from ..whole.missing_names import GROUP_CONVERSIONS
from ..whole.object_types import with_known_labels, with_known_types
from ..whole.origin import MadeOfRows
from .aggregation import AggregationMethod, C, GroupByCall, Pairs, R, SizeMethod
from .group_aggregation import GroupByAggregation, empty_result, in_doubles, meta_of_groups
from .group_corrwith import corrwith
from .group_rows import (
    GroupedRows,
    Nth,
    RowMask,
    check_no_lazy,
    extreme_values,
    falls,
    numbered_down,
    rises,
    row_method,
)
from .group_windows import GroupBins, GroupEwm, GroupRolling, WindowCall

if TYPE_CHECKING:
    from ..frame import DataFrame
    from ..series import Series


def _aggregation(name: str) -> AggregationMethod:
    def aggregate(self: Any, *args: Any, **kwargs: Any) -> Any:
        check_no_lazy(name, *args, *kwargs.values())
        return self._aggregate(name, *args, **kwargs)

    aggregate.__name__ = name
    aggregate.__doc__ = f"Aggregate each group. See pandas.api.typing.DataFrameGroupBy.{name}."
    return typed("AggregationMethod", aggregate)


#: Methods whose way depends on whether columns are numbers, times or other objects.
BY_TYPES = {
    *("corr", "cov", "cummax", "cummin", "cumprod", "cumsum"),
    *("nlargest", "nsmallest", "quantile", "transform"),
}


@ignore_arguments(IGNORED_OF_GROUPS)
@checked_arguments(DataFrameGroupBy, SeriesGroupBy)
@suggesting_methods
@public_methods
@with_fallback
class GroupBy(MadeOfRows, Generic[R, C]):
    """The result of ``groupby``: methods are aggregations, ``[]`` selects columns."""

    def __init__(
        self,
        node: Node,
        by: tuple[Any, ...],
        names: tuple[Any, ...],
        selection: Any,
        source: Any,
        **flags: Any,
    ) -> None:
        self._node = node
        self._by = by
        self._names = names
        self._selection = selection
        self._source = source
        self._flags = flags

    @overload
    def __getitem__(self, key: list[Any] | pd.Index[Any]) -> GroupBy[R, C]: ...
    @overload
    def __getitem__(self, key: Hashable) -> GroupBy[C, C]: ...
    def __getitem__(self, key: Any) -> GroupBy[Any, Any]:
        key = listed_names(in_memory(key))
        if self._flags["selected"]:
            raise IndexError(f"Column(s) {self._selection} already selected")
        if isinstance(key, tuple) and len(key) > 1:
            raise ValueError(
                "Cannot subset columns with a tuple with more than one element. Use a list instead."
            )
        selection = tuple(key) if isinstance(key, list | pd.Index) else key
        labels = key if isinstance(key, list) else [key]
        if isinstance(key, list) and key and all(isinstance(label, bool) for label in key):
            _ = self._source[key]  # pandas takes a mask, of another length
            raise NotImplementedError(
                "groupby()[[...]] of a mask is not supported; choose the rows before"
            )
        missing = [label for label in labels if label not in self._node.meta.columns]
        if missing:
            raise KeyError(f"Columns not found: {', '.join(map(repr, missing))}")
        key = list(key) if isinstance(key, pd.Index) else key
        source = rowwise(column_of, self._source, key=key)
        flags = {**self._flags, "selected": True}
        return GroupBy(self._node, self._by, self._names, selection, source, **flags)

    def __getattr__(self, name: str) -> GroupBy[C, C]:
        if not name.startswith("_") and name in self._node.meta.columns:
            return self[name]
        groups: GroupBy[C, C] = missing_attribute(self, name, DataFrameGroupBy, GROUP_CONVERSIONS)
        return groups

    def _over(self, obj: Any) -> GroupBy[Any, Any]:
        """Return the groups of the same rows with other columns."""
        return GroupBy(obj.node, self._by, self._names, ..., obj, **self._flags)

    def _call(
        self, kind: type[GroupByCall], method: str, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> GroupByCall:
        flags = self._flags
        selection = self._selection
        if selection is ... and not (method == "agg" and (kwargs or isinstance(args[0], dict))):
            selection = flags["columns"]
        return kind(
            self._by,
            selection,
            method,
            tuple(Pairs(arg.items()) if isinstance(arg, dict) else arg for arg in args),
            tuple(kwargs.items()),
            flags["sort"],
            flags["dropna"],
            series=flags["series"],
        )

    def _aggregate(self, method: str, /, *args: Any, **kwargs: Any) -> Any:
        return self._result(self._call(GroupByCall, method, args, kwargs))

    def _result(self, call: GroupByCall) -> Any:
        groups = self._typed(call)
        result = labelled_as(groups._of_all_groups(call), groups._source, call)
        if self._names != self._by:
            result = rowwise(named_levels, result, by=self._by, names=self._names)
        if self._flags["as_index"]:
            return result
        if call.method == "value_counts":
            if result.name in result.node.meta.index.names:
                raise ValueError(f"Column label '{result.name}' is duplicate of result column")
            return reset_index(result, allow_duplicates=True)
        if not call.one_row:
            raise NotImplementedError(
                f"groupby(as_index=False).{call.method}() is not supported; use as_index=True, and "
                "reset_index() of the result"
            )
        return reset_index(result, name="size") if call.method == "size" else with_keys(result)

    def _of_all_groups(self, call: GroupByCall) -> Any:
        node = self._in_order()._node if needs_order(call, self._node.meta) else self._node

        empty, *bounds = self._flags["empty"]

        def aggregate(call: GroupByCall) -> Any:
            wide, narrowing = in_doubles(node, call, bins=self._flags.get("bins", bool(bounds)))
            result = GroupByAggregation(wide, call)
            return _lazy(narrow_floats(result, wide, narrowing))

        if empty is None or isinstance(call, WindowCall):
            return aggregate(call)
        return result_of_call(self._node, call, empty, bounds, aggregate)

    def _in_order(self) -> GroupBy[Any, Any]:
        """Return the groups of the rows in the order of time, if they are bins of time."""
        empty = self._flags["empty"][0]
        if not isinstance(empty, TimeBins):
            return self
        times = _lazy(self._node).sort_values(empty.times, kind="stable", na_position="first")
        return self._of_rows(times)

    def _typed(self, call: GroupByCall) -> GroupBy[Any, Any]:
        """Return the groups of rows that tell the types on which the way of a method depends."""
        by_types = call.method in BY_TYPES or dict(call.kwargs).get("numeric_only")
        return self._of_rows(with_known_types(_lazy(self._node))) if by_types else self

    def _of_rows(self, rows: Any) -> GroupBy[Any, Any]:
        """Return the same groups of rows that also have the keys."""
        if rows.node is self._node:
            return self
        meta = self._source.node.meta
        if isinstance(meta, pd.DataFrame):
            source = rowwise(column_of, rows, key=list(meta.columns))
        else:
            source = rows[self._selection].rename(meta.name)
        return GroupBy(rows.node, self._by, self._names, self._selection, source, **self._flags)

    def _row_values(self, method: str, /, *args: Any, **kwargs: Any) -> Any:
        if kwargs.get("freq") is not None:
            raise NotImplementedError(
                f"{method}(freq=) is not supported, since it changes the labels; use periods="
            )
        return self._rows(self._call(GroupByCall, method, args, kwargs))

    def _rows(self, call: GroupByCall) -> Any:
        groups = self._typed(call)
        wide, narrowing = in_doubles(groups._in_order()._node, call)
        node: Node = GroupedRows(wide, call)
        _ = node.meta  # raises pandas's errors at the call
        return labelled_as(_lazy(narrow_floats(node, wide, narrowing)), groups._source, call)

    def _selected(self, method: str, /, *args: Any, **kwargs: Any) -> Any:
        """Return the rows of the source that a method of pandas selects."""
        call = RowMask.of_columns(self._call(RowMask, method, args, kwargs), self._source.node.meta)
        return _lazy(Filter(in_one_type(self._in_order()._source.node), self._rows(call).node))

    @overload
    def agg(self, func: str) -> R: ...
    @overload
    def agg(self, func: Any = None, *args: Any, **named: Any) -> DataFrame: ...
    def agg(self, func: Any = None, *args: Any, **named: Any) -> Any:
        """Aggregate with one, several or named functions.

        See pandas.api.typing.DataFrameGroupBy.agg. All rows of a group meet in one task for a
        function of the user.
        """
        if isinstance(func, str) and func == "size":
            if named.get("axis") == 1:
                raise ValueError("Operation size does not support axis=1")
            return self.size()
        if func is None:
            return self._aggregate("agg", **named_pairs(named))
        return self._aggregate("agg", func, *args, **named)

    aggregate: Final = agg

    def apply(
        self, func: Callable[..., Any] | str, *args: Any, meta: Any = None, **kwargs: Any
    ) -> DataFrame | Series:
        """Call a function with the rows of each group, without the keys, and join the results.

        See pandas.api.typing.DataFrameGroupBy.apply. All rows of a group meet in one task. A sample
        of rows shows what the function returns, unless ``meta`` declares it: an empty pandas object
        with the result's columns, types and index levels. All rows meet in one task with
        ``group_keys=False``, for categories that do not occur, and for bins of time.
        """
        if isinstance(func, str) and callable(method := getattr(type(self), func, None)):
            values: DataFrame | Series = method(self, *args, **kwargs)
            return values
        if not callable(func):
            raise TypeError(f"apply func should be callable, not {func!r}")
        call = self._call(GroupByCall, "apply", (func, *args), kwargs)
        call = dataclasses.replace(call, group_keys=self._flags["group_keys"])
        like = meta_of_groups(call, self._node.meta) if meta is None else empty_result(meta)
        if not isinstance(like, pd.DataFrame | pd.Series):
            raise TypeError(f"meta must be a pandas object, got {type(like).__name__}")
        result: DataFrame | Series = self._result(dataclasses.replace(call, like=like))
        return result

    def transform(self, func: Any = None, *args: Any, **kwargs: Any) -> R:
        """Return a value for each row, from all rows of its group.

        See pandas.api.typing.DataFrameGroupBy.transform. Rows of equal keys meet in one task; the
        values return to the chunks of their rows.
        """
        if "engine" in kwargs or "engine_kwargs" in kwargs:
            raise NotImplementedError("transform(engine=) is not supported; use a Python function")
        if func is None and self.ndim == 1:
            raise TypeError("transform() missing 1 required positional argument: 'func'")
        kwargs = named_pairs(kwargs) if func is None else kwargs
        return typed("R", self._rows(self._call(GroupByCall, "transform", (func, *args), kwargs)))

    def filter(self, func: Callable[..., Any], dropna: bool = True, *args: Any, **kwargs: Any) -> R:
        """Return the rows of the groups for which a function is true.

        See pandas.api.typing.DataFrameGroupBy.filter.
        """
        if not dropna:
            raise NotImplementedError(
                "filter(dropna=False) is not supported; use transform() and where()"
            )
        rows: R = self._selected("filter", func, *args, **kwargs)
        return rows

    def head(self, n: int = 5) -> R:
        """Return the first rows of each group. See pandas.api.typing.DataFrameGroupBy.head."""
        rows: R = self._selected("head", n)
        return rows

    def tail(self, n: int = 5) -> R:
        """Return the last rows of each group. See pandas.api.typing.DataFrameGroupBy.tail."""
        rows: R = self._selected("tail", n)
        return rows

    @property
    def nth(self) -> Nth[R]:
        """Return the rows of each group at some positions, where it is called."""
        return Nth(self)

    @property
    def obj(self) -> DataFrame | Series:
        """What is grouped: all columns, unless one alone is selected."""
        is_column = self._flags["selected"] and not isinstance(self._selection, tuple)
        obj: DataFrame | Series = self._source if is_column else self._flags["rows"]
        return obj

    def pipe(
        self, func: Callable[..., Any] | tuple[Callable[..., Any], str], *args: Any, **kwargs: Any
    ) -> object:
        """Call a function with the groups. See pandas.api.typing.DataFrameGroupBy.pipe."""
        if not isinstance(func, tuple):
            return func(self, *args, **kwargs)
        func, name = func
        if name in kwargs:
            raise ValueError(f"{name} is both the pipe target and a keyword argument")
        return func(*args, **{name: self}, **kwargs)

    def quantile(self, q: Any = 0.5, interpolation: str = "linear", **options: Any) -> R:
        """Return quantiles of each group. See pandas.api.typing.DataFrameGroupBy.quantile.

        All rows of a group meet in one task.
        """
        quantiles: R = self._aggregate("quantile", q, interpolation, **options)
        return quantiles

    def _keys(self) -> Any:
        """Compute the distinct keys, in the order of the groups."""
        return self._labelled_size().compute().index

    def _labelled_size(self) -> Any:
        flags = {**self._flags, "as_index": True}
        selection = self._selection if flags["series"] else ...
        return GroupBy(self._node, self._by, self._names, selection, self._source, **flags).size()

    @property
    def ngroups(self) -> int:
        """The number of groups; computes the keys."""
        return len(self._keys())

    @property
    def groups(self) -> Mapping[Hashable, pd.Index[Any]]:
        """The row labels of each group; computes the labels and the keys of all rows."""
        self._check_observed("groups")
        groups: Mapping[Hashable, pd.Index[Any]] = self._computed_keys().groups
        return groups

    @property
    def indices(self) -> Mapping[Hashable, np.ndarray[Any, Any]]:
        """The positions of the rows of each group; computes the keys of all rows."""
        self._check_observed("indices")
        indices: Mapping[Hashable, np.ndarray[Any, Any]] = self._computed_keys().indices
        return indices

    def _computed_keys(self, *, numbered: bool = False) -> Any:
        keys = _lazy(self._node)[list(self._by)].compute()
        keys = keys.reset_index(drop=True) if numbered else keys
        by = self._by if self._flags["listed"] else self._by[0]
        return keys.groupby(list(by) if isinstance(by, tuple) else by, **self._options())

    def _check_observed(self, name: str) -> None:
        if self._flags["empty"][0] is not None:
            raise NotImplementedError(
                f"{name} of groups without rows is not supported; use groupby(observed=True), or "
                "resample() for bins of time"
            )

    def _options(self) -> dict[str, Any]:
        return {name: self._flags[name] for name in ("sort", "dropna")} | {"observed": True}

    def ngroup(self, ascending: bool = True) -> Series:
        """Return the number of each row's group. See pandas.api.typing.DataFrameGroupBy.ngroup.

        The keys are sorted, and the numbers return to the rows.
        """
        self._check_observed("ngroup()")
        places = list(range(len(self._by)))
        keys = rowwise(column_of, _lazy(self._node), key=list(self._by)).set_axis(places, axis=1)
        dropna = self._flags["dropna"]
        if not self._flags["sort"]:
            first = rowwise(with_columns, keys, positions_of(keys), names=("at",))
            keys = groupby(first, places, dropna=dropna)["at"].transform("min").to_frame(0)
            dropna = True
        numbers: Series = number_rows_by(keys, GroupNumbers(dropna))
        return numbers if ascending else rowwise(numbered_down, numbers, numbers.max())

    def sample(
        self,
        n: int | None = None,
        frac: float | None = None,
        replace: bool = False,
        weights: Any = None,
        random_state: Any = None,
    ) -> R:
        """Return some rows of each group at random, those that pandas draws.

        See pandas.api.typing.DataFrameGroupBy.sample. Computes the keys of all rows; the rows are
        one chunk.
        """
        if weights is not None:
            raise NotImplementedError("sample(weights=) is not supported; use take() of positions")
        sample = self._computed_keys(numbered=True).sample(n, frac, replace, None, random_state)
        rows: R = rows_in_order(typed("Any", self._source), sample.index.tolist())
        return rows

    def unique(self) -> Series:
        """Return the distinct values of each group. See pandas.api.typing.SeriesGroupBy.unique.

        All rows of a group meet in one task.

        Returns
        -------
        Series
            An array for each group.

        Examples
        --------
        >>> frame = md.DataFrame({"k": [1, 1, 2], "x": [3, 3, 5]})
        >>> len(frame.groupby("k").x.unique().compute())
        2
        """
        values: Series = self._aggregate("unique")
        return values

    def rolling(
        self, window: int, min_periods: int | None = None, **options: Any
    ) -> GroupRolling[R]:
        """Return windows of rows within each group.

        See pandas.api.typing.DataFrameGroupBy.rolling. All rows of a group meet in one task.
        """
        check_names("rolling", options, pd.api.typing.DataFrameGroupBy.rolling)
        how = {"window": window, "min_periods": min_periods, **options}
        return GroupRolling(self, "rolling", how)

    def expanding(self, min_periods: int = 1) -> GroupRolling[R]:
        """Return for each row the rows of its group up to it.

        See pandas.api.typing.DataFrameGroupBy.expanding. All rows of a group meet in one task.
        """
        return GroupRolling(self, "expanding", {"min_periods": min_periods})

    def ewm(self, com: Any = None, **options: Any) -> GroupEwm[R]:
        """Return exponential weights of the rows within each group.

        See pandas.api.typing.DataFrameGroupBy.ewm. All rows of a group meet in one task.

        Parameters
        ----------
        com : float, optional
            The center of mass.
        **options
            Arguments of pandas's ``ewm``; ``times`` is not supported.
        """
        check_names("ewm", options, pd.api.typing.DataFrameGroupBy.ewm)
        if options.get("times") is not None:
            raise NotImplementedError("ewm(times=) is not supported; use apply() of the groups")
        pd.Series(dtype=float).ewm(com, **options)  # raises at once
        return GroupEwm(self, "ewm", {"com": com, **options})

    def resample(self, rule: Any, **options: Any) -> GroupBins[R]:
        """Return bins of time of the rows within each group, by the row labels.

        See pandas.api.typing.DataFrameGroupBy.resample. All rows of a group meet in one task.

        Parameters
        ----------
        rule : offset or str
            How long a bin is.
        **options
            Arguments of pandas's ``resample``.
        """
        check_names("resample", options, pd.DataFrame.resample)
        by_labels = options.get("on") is None
        known = with_known_labels if by_labels else with_known_types
        groups = self._of_rows(known(_lazy(self._node)))
        labels = groups._node.meta.index
        if by_labels and labels.dtype.kind not in "mM":
            raise TypeError(
                "Only valid with DatetimeIndex, TimedeltaIndex or PeriodIndex, but got an "
                f"instance of '{type(labels).__name__}'"
            )
        return GroupBins(groups, "resample", {"rule": rule, **options})

    @property
    def ndim(self) -> int:
        """The number of axes of what is grouped."""
        return int(self._source.node.meta.ndim)

    @property
    def is_monotonic_increasing(self) -> Series:
        """Whether values never fall in each group of a series."""
        flags: Series = self._aggregate("agg", rises)
        return flags

    @property
    def is_monotonic_decreasing(self) -> Series:
        """Whether values never rise in each group of a series."""
        flags: Series = self._aggregate("agg", falls)
        return flags

    def get_group(self, name: Any) -> R:
        """Return the rows of one group; computes whether there are any.

        See pandas.api.typing.DataFrameGroupBy.get_group.
        """
        fits = isinstance(name, tuple) and len(name) == len(self._by)
        if self._flags["listed"] and len(self._by) > 1 and not fits:
            kind = "same-length tuple" if isinstance(name, tuple) else "tuple"
            raise ValueError(f"must supply a {kind} to get_group with multiple grouping keys")
        if self._flags["listed"] and not fits:
            raise KeyError(name)
        key = name if self._flags["listed"] else (name,)
        rows: R = self._in_order()._group(key)
        is_dropped = self._flags["dropna"] and pd.Series(list(key), dtype=object).isna().any()
        if is_dropped or not len(typed("Any", rows)):
            raise KeyError(name)
        return rows

    def _group(self, name: tuple[Any, ...]) -> Any:
        frame, mask = _lazy(self._node), typed("Any", None)
        for label, value in zip(self._by, name, strict=True):
            column = frame[label]
            if isinstance(value, tuple):
                matches = column.isin([value])
            else:
                matches = column.isna() if pd.isna(value) else column == value
            mask = matches if mask is None else mask & matches
        return _lazy(Filter(in_one_type(self._source.node), mask.node))

    def __iter__(self) -> Iterator[tuple[Any, R]]:
        is_list = self._flags["listed"]
        for key in self._keys():
            name = key if len(self._by) > 1 else (key,)
            yield (name if is_list else key), self._group(name)

    def __len__(self) -> int:
        return self.ngroups

    boxplot: Final = method(boxplot_groups)
    hist: Final = method(hist_groups)

    @property
    def plot(self) -> GroupPlots:
        """Plots of each group. See pandas.api.typing.DataFrameGroupBy.plot."""
        return GroupPlots(self)

    sum: Final = _aggregation("sum")
    prod: Final = _aggregation("prod")
    count: Final = _aggregation("count")
    size: Final = typed("SizeMethod", _aggregation("size"))
    min: Final = _aggregation("min")
    max: Final = _aggregation("max")
    first: Final = _aggregation("first")
    last: Final = _aggregation("last")
    any: Final = _aggregation("any")
    all: Final = _aggregation("all")
    mean: Final = _aggregation("mean")
    var: Final = _aggregation("var")
    std: Final = _aggregation("std")
    sem: Final = _aggregation("sem")
    skew: Final = _aggregation("skew")
    kurt: Final = _aggregation("kurt")
    nunique: Final = _aggregation("nunique")
    corr: Final = _aggregation("corr")
    cov: Final = _aggregation("cov")
    median: Final = _aggregation("median")
    idxmax: Final = _aggregation("idxmax")
    idxmin: Final = _aggregation("idxmin")
    corrwith: Final = method(corrwith)
    describe: Final = _aggregation("describe")
    ohlc: Final = _aggregation("ohlc")
    take: Final = _aggregation("take")
    value_counts: Final = typed("SizeMethod", _aggregation("value_counts"))
    nlargest: Final = extreme_values("nlargest", "largest")
    nsmallest: Final = extreme_values("nsmallest", "smallest")

    cumsum: Final = row_method("cumsum")
    cumprod: Final = row_method("cumprod")
    cummin: Final = row_method("cummin")
    cummax: Final = row_method("cummax")
    cumcount: Final = typed("SizeMethod", row_method("cumcount"))
    rank: Final = row_method("rank")
    shift: Final = row_method("shift")
    diff: Final = row_method("diff")
    pct_change: Final = row_method("pct_change")
    ffill: Final = row_method("ffill")
    bfill: Final = row_method("bfill")


def groupby(
    obj: Any,
    by: Any = None,
    level: Any = None,
    *,
    as_index: bool = True,
    sort: bool = True,
    group_keys: bool = True,
    observed: bool = True,
    dropna: bool = True,
) -> GroupBy[Any, Any]:
    """Group rows by columns, by their labels or by a lazy Series of the same rows.

    Groups are sorted; with ``sort=False`` they are in order of first occurrence. Of categories with
    ``observed=False``, and of a ``pd.Grouper`` of times alone, those without rows are groups, too.
    """
    if level is None and by is None:
        raise TypeError("You have to supply one of 'by' and 'level'")
    if level is not None and by is not None:
        raise NotImplementedError(
            "groupby(by=, level=) is not supported; use one of them, after rename(index=by)"
        )
    if any(isinstance(key, TimeGrouper) for key in (by if isinstance(by, list) else [by])):
        obj = with_known_labels(with_known_types(obj))
    source, node = obj, obj.node
    selection: Any = ...
    series: tuple[Any, ...] = ()
    keys, is_list = keys_of(obj, by, level)
    if isinstance(node.meta, pd.Series):
        if not as_index:
            raise TypeError("as_index=False only valid with DataFrame")
        selection, series = column_of_series(node.meta.name)
        obj = obj.to_frame(name=selection)
    obj, labels, names = with_key_columns(source, obj, keys)
    columns = ... if selection is not ... else beside_times(source, keys, labels)
    obj, *empty = with_empty_groups(source, obj, keys, labels, observed=observed)
    if isinstance(by, pd.Grouper) and not isinstance(by, TimeGrouper):
        sort, dropna = by.sort, by.dropna
    flags: dict[str, Any] = {"sort": sort, "dropna": dropna, "as_index": as_index, "series": series}
    flags |= {"empty": empty, "columns": columns, "group_keys": group_keys, "listed": is_list}
    flags |= {"selected": selection is not ..., "rows": source}
    rows = keys_in_one_type(obj.node, labels)
    return GroupBy(rows, tuple(labels), tuple(names), selection, source, **flags)
