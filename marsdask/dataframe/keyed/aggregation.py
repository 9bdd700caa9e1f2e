"""The kernels of group-by: aggregate each chunk, combine the partials, finish.

Partials are flat frames: key columns numbered from 0, then value columns ``"p0"``, ``"p1"``, ...
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeVar, overload

import numpy as np
import pandas as pd

from marsdask.core.compilation.costs import kernel

from ..rows import concat
from .parts import RowPart, split_at, unlabelled

if TYPE_CHECKING:
    from ..frame import DataFrame
    from ..series import Series
    from .groupby import GroupBy

R = TypeVar("R")
"""What an aggregation of groups returns."""
C = TypeVar("C")
"""What an aggregation of one column of the groups returns."""


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
    """What to aggregate: keys and values are positions of columns."""

    keys: tuple[int, ...]
    specs: tuple[tuple[int, str], ...]
    """For each column of the result its source column and its aggregation."""
    dropna: bool
    ddof: int = 1
    together: bool = False
    """Whether columns of one type stay wide if a sum in any of them needs it."""

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
    frame = block[list(plan.keys)].set_axis(range(len(plan.keys)), axis=1)
    for slot, (column, how, _) in enumerate(plan.slots):
        widened = WIDER.get(how)
        frame[f"p{slot}"] = block[column] if widened is None else widened(block[column])
    grouped = _group(frame, plan)
    return _flat(
        {
            f"p{slot}": _partial(grouped, grouped[f"p{slot}"], how)
            for slot, (_, how, _) in enumerate(plan.slots)
        },
        plan,
    )


def _group(frame: pd.DataFrame, plan: AggregationPlan) -> Any:
    keys = list(range(len(plan.keys)))
    return frame.groupby(keys, sort=False, dropna=plan.dropna, observed=True)


def _as_floats(column: pd.Series) -> pd.Series:
    """Return integers and booleans as floats, since their sum may overflow."""
    dtype = column.dtype
    return column.astype(float) if isinstance(dtype, np.dtype) and dtype.kind in "biu" else column


#: The types of 64 bits for integers of fewer.
LONG: dict[str, Any] = {
    f"{kind}{bits}": f"{kind}64" for kind in ("int", "uint", "Int", "UInt") for bits in (8, 16, 32)
}


def _as_long(column: pd.Series) -> pd.Series:
    """Return integers with 64 bits, since pandas casts the sum of a chunk back to fewer."""
    wide = LONG.get(str(column.dtype))
    return column if wide is None else column.astype(wide)


#: What makes columns wide before they are aggregated.
WIDER = {"floatsum": _as_floats, "sum": _as_long, "prod": _as_long}


def _partial(grouped: Any, column: Any, how: str) -> Any:
    if how == "size":
        return grouped.size()
    if how == "floatsum":
        return column.sum()
    if how == "squares":
        count = column.count()
        return column.var(ddof=0).where(count > 0, 0.0) * count
    return getattr(column, how)()


def _flat(values: dict[str, Any], plan: AggregationPlan) -> pd.DataFrame:
    """Return a frame of the keys, which are row labels, and of the values."""
    frame = pd.DataFrame(values)
    frame.index.names = list(range(len(plan.keys)))
    return frame.reset_index()


@kernel(scratch=3.6)
def combine_partials(blocks: list[pd.DataFrame], plan: AggregationPlan) -> pd.DataFrame:
    """Combine the partials of several chunks."""
    frame = concat(blocks)
    return frame if len(blocks) == 1 else combine_by_key(frame, plan)


def combine_by_key(frame: pd.DataFrame, plan: AggregationPlan) -> pd.DataFrame:
    """Combine the partials of each key; keys are in order of first occurrence."""
    grouped = _group(frame, plan)
    values: dict[str, Any] = {}
    for slot, (column, _, combine) in enumerate(plan.slots):
        if combine not in MOMENTS:
            found = getattr(grouped[f"p{slot}"], combine)()
            is_number = combine in {"sum", "prod"}
            values[f"p{slot}"] = _and_nan(found, frame[f"p{slot}"], grouped) if is_number else found
        elif combine == "count":
            labels = [f"p{plan.slots.index((column, item, item))}" for item in MOMENTS]
            values.update(_moments(frame[labels], grouped))
    return _flat({f"p{slot}": values[f"p{slot}"] for slot in range(len(plan.slots))}, plan)


def _and_nan(found: Any, partials: Any, grouped: Any) -> Any:
    """Return sums that are NaN where that of a chunk is: of infinities, not of missing values."""
    if not isinstance(partials.dtype, np.dtype) or partials.dtype.kind not in "fc":
        return found
    unknown = partials.isna().to_numpy()
    if not unknown.any():
        return found
    values = found.to_numpy(copy=True)
    values[grouped.ngroup().to_numpy()[unknown]] = np.nan
    return pd.Series(values, found.index, name=found.name)


def _moments(frame: pd.DataFrame, grouped: Any) -> dict[str, Any]:
    """Combine counts, means and sums of squared deviations (Chan, Golub and LeVeque 1979)."""
    some = frame.iloc[:, 0] > 0
    count, mean, squares = (frame[label].where(some, 0).to_numpy(float) for label in frame)
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
    if sort:
        frame = frame.sort_values(keys)
    # Not by set_index(), which makes int64 of smaller integers.
    levels = [pd.Index(frame[key], name=key) for key in keys]
    index = levels[0] if len(keys) == 1 else pd.MultiIndex.from_arrays(levels, names=keys)
    frame = frame.set_axis(index, axis=0)
    columns = [
        AGGREGATES[name].finish(
            *(frame[label] for label in plan.labels_of(column, name)), ddof=plan.ddof
        )
        for column, name in plan.specs
    ]
    return _frame_like(columns, frame.index, like, together=plan.together)


def _frame_like(columns: Iterable[Any], index: pd.Index, like: Any, *, together: bool) -> Any:
    """Return a frame (or a series) of columns with the names and types of ``like``."""
    index.names = like.index.names
    if isinstance(like, pd.Series):
        (column,) = columns
        return fitted(column, like.dtype).set_axis(index).rename(like.name)
    given, types = list(columns), list(like.dtypes)
    typed = list(map(fitted, given, types))
    # pandas sums all columns of one type of NumPy together.
    long = {
        dtype
        for one, dtype in zip(typed, types, strict=True)
        if together and isinstance(dtype, np.dtype) and one.dtype != dtype
    }
    typed = [given[at] if dtype in long else typed[at] for at, dtype in enumerate(types)]
    frame = pd.DataFrame(dict(enumerate(typed)), index=index)
    frame.columns = like.columns
    return frame


def fitted(column: Any, dtype: Any) -> Any:
    """Cast a column to pandas's type if the two differ in precision only, and its values fit."""
    kinds = getattr(column.dtype, "kind", "O") + getattr(dtype, "kind", "O")
    if column.dtype == dtype or kinds not in {"ff", "ii", "uu", "iu", "ui"}:
        return column
    cast = column.astype(dtype)
    return cast if kinds == "ff" or (cast == column).all() else column


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
    groups = block.groupby(by, sort=False, dropna=call.dropna, observed=True).ngroup()
    # Groups are numbered in order of first occurrence: a new maximum marks a first row.
    first = np.flatnonzero(np.diff(np.maximum.accumulate(np.append(-1, groups.fillna(-1)))))
    chunks = np.repeat(np.arange(len(parts)), [len(part.rows) for part in parts])[first]
    at = np.concatenate([part.at for part in parts])[first]
    found = call(block) if plan is None else combine_by_key(block, plan)
    return split_at(found, chunks, len(parts), at, labels=plan is None)


@kernel(scratch=2.0)
def restore_order(parts: list[RowPart]) -> Any:
    """Join the groups that return to a chunk, in the order of its rows."""
    return concat(parts).take(np.argsort(np.concatenate([part.at for part in parts])))
