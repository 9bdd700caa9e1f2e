"""The kernels of group-by: aggregate each chunk, combine the partials, finish.

Partials are flat frames: key columns numbered from 0, then value columns ``"p0"``, ``"p1"``, ...
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeVar, overload

import numpy as np
import pandas as pd
from pandas.api.types import is_object_dtype

from marsdask.core.machine.costs import kernel
from marsdask.core.snapshots.tokens import token

from ..elementwise.rowwise import column_of
from ..nodes.traits import dtype_of_key, full_labels
from ..row_parts import RowPart, split_at, unlabelled
from ..rows import concat
from ..schemas.precision import in_precision
from .key_types import by_keys, first_objects, rows_for_types, types_of_objects

if TYPE_CHECKING:
    from ..frame import DataFrame
    from ..series import Series
    from .groupby import GroupBy

R = TypeVar("R")
"""The result of an aggregation of groups."""
C = TypeVar("C")
"""The result of an aggregation of one column of the groups."""


class AggregationMethod(Protocol):
    """An aggregation of groups as a method."""

    def __get__(self, obj: GroupBy[R, Any], owner: Any, /) -> Callable[..., R]: ...


class SizeMethod(Protocol):
    """The sizes of groups as a method."""

    def __get__(self, obj: GroupBy[Any, C], owner: Any, /) -> Callable[..., C]: ...


class GroupsOfFrame(Protocol):
    """``groupby`` of a DataFrame; with ``as_index=False`` results have the keys as columns."""

    @overload
    def __call__(
        self, by: Any = None, *, as_index: Literal[True] = True, **kwargs: Any
    ) -> GroupBy[DataFrame, Series]: ...
    @overload
    def __call__(
        self, by: Any = None, *, as_index: bool, **kwargs: Any
    ) -> GroupBy[DataFrame, DataFrame]: ...


class GroupsOfSeries(Protocol):
    """``groupby`` of a Series."""

    @overload
    def __call__(
        self, by: Any = None, *, as_index: Literal[True] = True, **kwargs: Any
    ) -> GroupBy[Series, Series]: ...
    @overload
    def __call__(
        self, by: Any = None, *, as_index: bool, **kwargs: Any
    ) -> GroupBy[DataFrame, DataFrame]: ...


class GroupByMethod(Protocol):
    """``groupby`` as a method."""

    @overload
    def __get__(self, obj: DataFrame, owner: Any, /) -> GroupsOfFrame: ...
    @overload
    def __get__(self, obj: Series, owner: Any, /) -> GroupsOfSeries: ...
    @overload
    def __get__(self, obj: object, owner: Any, /) -> Callable[..., Any]: ...


#: Methods whose results contain row labels.
OF_LABELS = {"apply", "idxmax", "idxmin", "nlargest", "nsmallest", "take"}
#: Methods whose types only rows tell.
BY_SAMPLE = {*("describe", "kurt", "nlargest", "nsmallest", "skew"), "shift", "diff", "pct_change"}
BY_SAMPLE |= {"corr", "cov", "ohlc", "take", "unique"}
#: Methods that take objects for numbers.
OF_NUMBERS = {"kurt", "skew"}
#: Methods that may return several rows for a group, labelled by more than its key.
SEVERAL_ROWS = {"apply", "corr", "cov", "nlargest", "nsmallest", "quantile", "take", "value_counts"}
#: Methods that return several columns for a column.
SEVERAL_COLUMNS = {"describe", "ohlc"}


@dataclass(frozen=True)
class GroupByCall:
    """A call of pandas's group-by as data, for any frame with these columns."""

    by: tuple[Any, ...]
    selection: Any
    """The columns to aggregate: a label, a tuple of several, or an ellipsis for all."""
    method: str
    args: tuple[Any, ...]
    kwargs: tuple[tuple[str, Any], ...]
    sort: bool
    dropna: bool
    like: Any = None
    """An empty result, that the user's function must fit; ``None`` for pandas's own methods."""
    observed: bool = True
    """Whether only categories that occur are groups."""
    group_keys: bool = True
    """Whether the keys label what the user's function returns of rows."""
    series: tuple[Any, ...] = ()
    """The name of the series that the column is, if it is no label of a column."""

    @property
    def is_whole(self) -> bool:
        """Whether pandas has to see all rows: what it returns depends on all groups."""
        return not (self.observed and self.group_keys)

    @property
    def uses_labels(self) -> bool:
        """Whether the result depends on the row labels."""
        return self.like is not None or not OF_LABELS.isdisjoint(self.names) or calls_user(self)

    @property
    def names(self) -> set[str]:
        """The texts in the call: its method, and those that its arguments name."""
        words = _words(self.method, self.args, [value for _, value in self.kwargs])
        return {value for value in words if isinstance(value, str)}

    def needs(self, labels: pd.Index) -> frozenset[Any] | None:
        """Return which columns, of some labels, it groups by and aggregates; ``None`` for all."""
        if self.selection is not ...:
            columns = self.selection if isinstance(self.selection, tuple) else [self.selection]
        elif self.args and isinstance(self.args[0], Pairs):
            columns = [column for column, _ in self.args[0]]
        elif self.method == "agg" and self.kwargs and not self.args:
            columns = [pair[0] for _, pair in self.kwargs]
        elif self.method == "size":
            columns = []
        else:
            return None
        return full_labels(labels, [*self.by, *columns])

    @property
    def one_row(self) -> bool:
        """Whether the result has one row for each group."""
        return self.method not in SEVERAL_ROWS

    @property
    def shows_types_by_rows(self) -> bool:
        """Whether the types of the result are those of groups that have rows."""
        return not BY_SAMPLE.isdisjoint(self.names) or self.needs_rows

    @property
    def needs_rows(self) -> bool:
        """Whether a group of one row has no value, which integers and truth values cannot have."""
        count = dict(self.kwargs).get("min_count", 0)
        return isinstance(count, int) and count > 1

    @property
    def transformed(self) -> GroupByCall:
        """The call that aggregates what ``transform`` gives each row, or the call itself."""
        if self.method != "transform" or len(self.args) != 1 or not isinstance(self.args[0], str):
            return self
        return replace(self, method=self.args[0], args=())

    @property
    def is_one_sum(self) -> bool:
        """Whether pandas aggregates columns of one type together, in the bits that any needs."""
        return self.method != "agg" or (len(self.args) == 1 and isinstance(self.args[0], str))

    @property
    def by_column(self) -> bool:
        """Whether each column of the result is an aggregation of one column."""
        return self.one_row and self.method not in SEVERAL_COLUMNS

    def __call__(self, frame: pd.DataFrame) -> Any:
        """Group a frame and call the method of pandas."""
        if self.like is not None and not self.has_groups(frame):
            return self.like
        groups = self.grouped(frame)
        args = tuple(dict(arg) if _is_pairs(arg) else arg for arg in self.args)
        result = getattr(groups, self.method)(*args, **dict(self.kwargs))
        if self.like is not None:
            check_form(result, self.like, self.method)
        return result

    def sampled(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return the rows of a sample that show types: in several groups of each key."""
        for key in self.by:
            dtype = dtype_of_key(rows, key)
            if isinstance(dtype, pd.CategoricalDtype) and len(dtype.categories):
                codes = np.arange(len(rows)) % len(dtype.categories)
                rows[key] = pd.Categorical.from_codes(codes, dtype=dtype)
        if not OF_NUMBERS.isdisjoint(self.names):
            for at, (label, dtype) in enumerate(rows.dtypes.items()):
                if is_object_dtype(dtype) and label not in self.by:
                    rows.isetitem(at, np.arange(len(rows)).astype(object))
        return rows

    def has_groups(self, frame: pd.DataFrame) -> bool:
        """Tell whether any row is in a group."""
        if not self.observed:
            return True  # those without rows
        if not self.dropna:
            return bool(len(frame))
        return bool(column_of(frame, list(self.by)).notna().all(axis=1).any())

    def grouped(self, frame: pd.DataFrame) -> Any:
        """Return pandas's groups of a frame."""
        # A single ``None`` is no key; in a list it is the label of a column.
        by: Any = self.by[0] if len(self.by) == 1 and self.by[0] is not None else list(self.by)
        rows: Any = frame
        if self.series:
            rows = frame[self.selection].rename(self.series[0])
            by = [frame[label] for label in self.by]
        grouped = rows.groupby(
            by if len(self.by) > 1 or not self.series else by[0],
            sort=self.sort,
            dropna=self.dropna,
            observed=self.observed,
            group_keys=self.group_keys,
        )
        if self.selection is not ... and not self.series:
            selection = self.selection
            grouped = grouped[list(selection) if isinstance(selection, tuple) else selection]
        return grouped


def _is_pairs(arg: Any) -> bool:
    return isinstance(arg, Pairs)


def calls_user(call: GroupByCall) -> bool:
    """Tell whether a function of the user is called."""
    return any(map(callable, _words(call.args, call.kwargs)))


def _words(*args: Any) -> Iterator[Any]:
    """Yield what is in arguments, and in lists and tuples among them."""
    for arg in args:
        if isinstance(arg, list | tuple):
            yield from _words(*arg)
        else:
            yield arg


def check_form(found: Any, like: Any, method: str) -> None:
    """Raise if the result for some groups has another form than the declared one."""
    if _form(found) != _form(like):
        raise ValueError(
            f"{method}() returned {_form(found)} for some groups, but {_form(like)} is declared; "
            "use meta= to declare what the function returns"
        )


def _form(obj: Any) -> str:
    if isinstance(obj, pd.DataFrame):
        return f"a DataFrame of columns {list(obj.columns)} and {obj.index.nlevels} index levels"
    return f"a Series named {obj.name!r} of {obj.index.nlevels} index levels"


class Pairs(tuple[Any, ...]):
    """The items of a dict: their order is that of the result's columns."""

    __slots__ = ()

    @property
    def token_name(self) -> str:
        return token(tuple(self))


class Aggregate(NamedTuple):
    """One aggregation: the partials of a chunk, how these combine, and the last step."""

    partial: tuple[str, ...]
    combine: tuple[str, ...]
    finish: Callable[..., Any]


def _only(value: Any, ddof: int) -> Any:
    return value


def _mean(total: Any, count: Any, ddof: int) -> Any:
    return total / count


def _var(count: Any, mean: Any, squares: Any, ddof: int) -> Any:
    return (squares / (count - ddof)).where(count > ddof)


def _std(count: Any, mean: Any, squares: Any, ddof: int) -> Any:
    return np.sqrt(_var(count, mean, squares, ddof))


MOMENTS = ("count", "mean", "squares")

#: Aggregations that combine partials; all others need all rows of a group in one chunk.
AGGREGATES = {
    "sum": Aggregate(("sum",), ("sum",), _only),
    "prod": Aggregate(("prod",), ("prod",), _only),
    "count": Aggregate(("count",), ("sum",), _only),
    "size": Aggregate(("size",), ("sum",), _only),
    "min": Aggregate(("min",), ("min",), _only),
    "max": Aggregate(("max",), ("max",), _only),
    "first": Aggregate(("first",), ("first",), _only),
    "last": Aggregate(("last",), ("last",), _only),
    "any": Aggregate(("any",), ("any",), _only),
    "all": Aggregate(("all",), ("all",), _only),
    "mean": Aggregate(("floatsum", "count"), ("sum", "sum"), _mean),
    "var": Aggregate(MOMENTS, MOMENTS, _var),
    "std": Aggregate(MOMENTS, MOMENTS, _std),
}


@dataclass(frozen=True)
class AggregationPlan:
    """A plan of an aggregation: keys and values are positions of columns."""

    keys: tuple[int, ...]
    specs: tuple[tuple[int, str], ...]
    """For each column of the result its source column and its aggregation."""
    dropna: bool
    ddof: int = 1
    together: bool = False
    """Whether columns of one type stay wide if a sum in any of them needs it."""
    counts_all: bool = False
    """Whether rows without a key, which are in no group, count for the types of the result."""
    objects: tuple[int, ...] = ()
    """The keys, by their numbers, that are objects: all values together tell their types."""

    @property
    def counts_keys(self) -> bool:
        """Whether rows without a key count for the types of their other keys."""
        return self.dropna and len(self.keys) > 1 and bool(self.objects)

    @property
    def drops_partials(self) -> bool:
        """Whether partials without a key are dropped, before the last step."""
        return self.dropna and not (self.counts_all or self.counts_keys)

    @cached_property
    def slots(self) -> list[tuple[int, str, str]]:
        """The distinct partials: column, aggregation of a chunk, combination."""
        return list(
            dict.fromkeys(
                (column, partial, combine)
                for column, name in self.specs
                for partial, combine in zip(*AGGREGATES[name][:2], strict=True)
            )
        )

    def labels_of(self, column: int, name: str) -> list[str]:
        """Return the names of the partials that one aggregation needs."""
        aggregate = AGGREGATES[name]
        return [
            f"p{self.slots.index((column, partial, combine))}"
            for partial, combine in zip(aggregate.partial, aggregate.combine, strict=True)
        ]


@kernel(scratch=3.5)
def partials(block: pd.DataFrame, plan: AggregationPlan) -> pd.DataFrame:
    """Aggregate one chunk to partials."""
    # Names of levels may be those of columns.
    block = unlabelled(block.set_axis(range(block.shape[1]), axis=1))
    keys = block.iloc[:, list(plan.keys)]
    if plan.counts_all and len(block) and not keys.notna().all(axis=1).any():
        block, plan = block[:1], replace(plan, dropna=False)
    elif plan.counts_keys:
        block, plan = block[rows_for_types(keys, plan.objects)], replace(plan, dropna=False)
    columns: dict[Any, Any] = {at: block[key] for at, key in enumerate(plan.keys)}
    for slot, (column, how, _) in enumerate(plan.slots):
        widened = WIDER.get(how)
        columns[f"p{slot}"] = block[column] if widened is None else widened(block[column])
    frame = pd.DataFrame(columns, copy=False)
    groups = _group(frame, plan, dropna=plan.dropna)
    return _flat(
        {
            f"p{slot}": _still_objects(
                _partial(groups, groups[f"p{slot}"], how), frame[f"p{slot}"], how
            )
            for slot, (_, how, _) in enumerate(plan.slots)
        },
        plan,
        groups,
    )


def _group(frame: pd.DataFrame, plan: AggregationPlan, *, dropna: bool) -> Any:
    keys = list(range(len(plan.keys)))
    return frame.groupby(keys, sort=False, dropna=dropna, observed=True)


def _as_floats(column: pd.Series) -> pd.Series:
    """Return integers and booleans as floats, since their sum may overflow."""
    dtype = column.dtype
    return column.astype(float) if isinstance(dtype, np.dtype) and dtype.kind in "biu" else column


ARROW = (("int", "[pyarrow]"), ("uint", "[pyarrow]"))
#: The types of 64 bits for integers of fewer.
LONG: dict[str, Any] = {
    f"{kind}{bits}{of}": f"{kind}64{of}"
    for kind, of in (*((kind, "") for kind in ("int", "uint", "Int", "UInt")), *ARROW)
    for bits in (8, 16, 32)
}


def _as_long(column: pd.Series) -> pd.Series:
    """Return integers with 64 bits, since pandas casts the sum of a chunk back to fewer."""
    wide = LONG.get(str(column.dtype))
    return column if wide is None else column.astype(wide)


#: What makes columns wide before they are aggregated.
WIDER = {"floatsum": _as_floats, "sum": _as_long, "prod": _as_long}


#: What gives one of the values, or a value of their type.
OF_VALUES = {"min", "max", "first", "last", "sum", "prod"}


def _still_objects(found: Any, values: Any, how: str) -> Any:
    """Return what is made of objects as objects: the rows of a group decide no type."""
    return found.astype(object) if values.dtype == object and how in OF_VALUES else found


def _partial(grouped: Any, column: Any, how: str) -> Any:
    if how == "size":
        return grouped.size()
    if how == "floatsum":
        return column.sum()
    if how == "squares":
        count = column.count()
        return column.var(ddof=0).where(count > 0, 0.0) * count
    return getattr(column, how)()


def _flat(values: dict[str, Any], plan: AggregationPlan, grouped: Any) -> pd.DataFrame:
    """Return a frame of the keys, which are row labels, and of the values, if there are any."""
    frame = pd.DataFrame(values, index=None if values else grouped.size().index)
    frame.index.names = list(range(len(plan.keys)))
    frame = frame.reset_index()
    for at, objects in first_objects(grouped, plan.objects).items():
        frame[at] = objects
    return frame


@kernel(scratch=3.6)
def combine_partials(blocks: list[pd.DataFrame], plan: AggregationPlan) -> pd.DataFrame:
    """Combine the partials of several chunks."""
    frame = concat(blocks)
    return frame if len(blocks) == 1 else combine_by_key(frame, plan)


def combine_by_key(frame: pd.DataFrame, plan: AggregationPlan) -> pd.DataFrame:
    """Combine the partials of each key; keys are in order of first occurrence."""
    groups = _group(frame, plan, dropna=plan.drops_partials)
    values: dict[str, Any] = {}
    for slot, (column, _, combine) in enumerate(plan.slots):
        if combine not in MOMENTS:
            partial = frame[f"p{slot}"]
            total = getattr(groups[f"p{slot}"], combine)()
            total = _still_objects(total, partial, combine)
            is_number = combine in {"sum", "prod"}
            values[f"p{slot}"] = _and_nan(total, partial, groups) if is_number else total
        elif combine == "count":
            labels = [f"p{plan.slots.index((column, item, item))}" for item in MOMENTS]
            values.update(_moments(frame[labels], groups))
    return _flat({f"p{slot}": values[f"p{slot}"] for slot in range(len(plan.slots))}, plan, groups)


def _and_nan(found: Any, partials: Any, grouped: Any) -> Any:
    """Return sums that are NaN where that of a chunk is: of infinities, not of missing values."""
    if not isinstance(partials.dtype, np.dtype) or partials.dtype.kind not in "fc":
        return found
    is_nan = partials.isna().to_numpy()
    if not is_nan.any():
        return found
    values = found.to_numpy(copy=True)
    values[grouped.ngroup().to_numpy()[is_nan]] = np.nan
    return pd.Series(values, found.index, name=found.name)


def _moments(frame: pd.DataFrame, grouped: Any) -> dict[str, Any]:
    """Combine counts, means and sums of squared deviations (Chan, Golub and LeVeque 1979)."""
    has_rows = frame.iloc[:, 0] > 0
    count, mean, squares = (frame[label].where(has_rows, 0).to_numpy(float) for label in frame)
    groups = grouped.ngroup().to_numpy()
    index = grouped.size().index
    total = np.bincount(groups, count)
    with np.errstate(invalid="ignore"):
        means = np.bincount(groups, count * mean) / total
        shift = mean - np.where(total > 0, means, 0.0)[groups]
        spread = np.bincount(groups, squares + count * shift**2)
    columns = zip(frame, (total.astype(np.int64), means, spread), strict=True)
    return {str(label): pd.Series(values, index) for label, values in columns}


@kernel(scratch=3.4)
def finished_parts(parts: list[RowPart], plan: AggregationPlan, sort: bool, like: Any) -> Any:
    """Combine the parts of some groups, and label the result."""
    return _finish_frame(combine_by_key(concat(parts, labels=False), plan), plan, sort, like)


@kernel(scratch=2.0)
def finished_rows(block: pd.DataFrame, plan: AggregationPlan, sort: bool, like: Any) -> Any:
    """Label the groups of a chunk, which are complete."""
    return _finish_frame(block, plan, sort, like)


def _finish_frame(frame: Any, plan: AggregationPlan, sort: bool, like: Any) -> Any:
    keys = list(range(len(plan.keys)))
    types = types_of_objects(frame, plan.objects, dropna=plan.dropna)
    if plan.dropna and not plan.drops_partials:
        frame = frame.dropna(subset=keys)
    if types:
        frame = frame.astype(types)
    if sort:
        frame = by_keys(frame, keys)
    # Not by set_index(), which makes int64 of smaller integers.
    levels = [pd.Index(frame[key], name=key) for key in keys]
    index = levels[0] if len(keys) == 1 else pd.MultiIndex.from_arrays(levels, names=keys)
    frame = frame.set_axis(index, axis=0)
    columns, one_by_one = [], like.ndim == 1 or not plan.together
    for column, name in plan.specs:
        parts = (frame[label] for label in plan.labels_of(column, name))
        values = AGGREGATES[name].finish(*parts, ddof=plan.ddof)
        if one_by_one and values.dtype == object and name in {"min", "max"}:
            values = pd.Series(values.to_numpy(), values.index)  # texts are str again
        columns.append(values)
    return _frame_like(columns, frame.index, like, together=plan.together)


def _frame_like(columns: Iterable[Any], index: pd.Index, like: Any, *, together: bool) -> Any:
    """Return a frame (or a series) of columns with the names and types of ``like``."""
    index.names = like.index.names
    if isinstance(like, pd.Series):
        (column,) = columns
        return in_precision(column, like.dtype).set_axis(index).rename(like.name)
    values, types = list(columns), list(like.dtypes)
    results = list(map(in_precision, values, types))
    # pandas sums all columns of one type of NumPy together.
    long = {
        dtype
        for series, dtype in zip(results, types, strict=True)
        if together and isinstance(dtype, np.dtype) and series.dtype != dtype
    }
    results = [values[at] if dtype in long else results[at] for at, dtype in enumerate(types)]
    frame = pd.DataFrame(dict(enumerate(results)), index=index)
    frame.columns = like.columns
    return frame


@kernel(scratch=4.5)
def aggregate_groups(blocks: list[Any], call: Any) -> Any:
    """Aggregate the rows of complete groups with pandas."""
    return call(concat(blocks))


@kernel(scratch=3.6)
def groups_of(block: Any, call: Any) -> Any:
    """Aggregate the groups of a chunk, which are complete, with pandas."""
    return call(block)


@kernel(scratch=6.5)
def count_distinct(blocks: list[Any], call: Any) -> Any:
    """Count the distinct values of complete groups, which takes tables of values."""
    return aggregate_groups(blocks, call)


@kernel(scratch=5.3)
def count_distinct_in_chunk(block: Any, call: Any) -> Any:
    """Count the distinct values of the groups of a chunk."""
    return groups_of(block, call)


@kernel(scratch=4.4)
def first_met(parts: list[RowPart], call: Any, plan: AggregationPlan | None) -> list[RowPart]:
    """Aggregate each group; return for each chunk the groups that occur first there."""
    block = concat(parts, labels=plan is None and call.uses_labels)
    by = list(call.by) if plan is None else list(range(len(plan.keys)))
    dropna = call.dropna if plan is None else plan.drops_partials
    groups = block.groupby(by, sort=False, dropna=dropna, observed=True).ngroup()
    # Groups are numbered in order of first occurrence: a new maximum marks a first row.
    first = np.flatnonzero(np.diff(np.maximum.accumulate(np.append(-1, groups.fillna(-1)))))
    chunks = np.repeat(np.arange(len(parts)), [len(part.rows) for part in parts])[first]
    at = np.concatenate([part.at for part in parts])[first]
    rows = call(block) if plan is None else combine_by_key(block, plan)
    return split_at(rows, chunks, len(parts), at, labels=plan is None)


@kernel(scratch=2.0)
def restore_order(parts: list[RowPart]) -> Any:
    """Join the groups that return to a chunk, in the order of its rows."""
    return concat(parts).take(np.argsort(np.concatenate([part.at for part in parts])))
