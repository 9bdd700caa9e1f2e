"""Aggregations of columns, of groups and of all rows, and distinct rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .expression import Column, Expression, has_gaps, kind_of
from .relation import Aggregation, DistinctOn, GroupAggregate, Reduce, Table, renamed

#: The kinds of values of which engines make what pandas makes.
KINDS = {
    "sum": "biuf",
    "mean": "iuf",
    "var": "iuf",
    "std": "iuf",
    "median": "iuf",
    "min": "iufM",
    "max": "iufM",
    "first": "iufMs",
    "last": "iufMs",
    "count": "biufMs",
    "nunique": "biufMs",
}
#: What a column whose type depends on its values can be asked.
COUNTED = {"count", "nunique"}


def aggregation(method: Any, of: Expression | None, *, ddof: Any = 1) -> Aggregation | None:
    """Return an aggregation of a column, ``None`` if only pandas knows its values."""
    if method == "size":
        return Aggregation("size", None, np.dtype(np.int64))
    if not isinstance(method, str) or method not in KINDS or of is None:
        return None
    kind = kind_of(of.dtype)
    if kind not in KINDS[method] or (has_gaps(of) and method not in COUNTED):
        return None
    if not isinstance(ddof, int) or (ddof != 1 and method not in {"var", "std"}):
        return None
    return Aggregation(method, of, _dtype(method, of.dtype, kind), ddof)


def _dtype(method: str, dtype: Any, kind: str) -> Any:
    if method in COUNTED:
        return np.dtype(np.int64)
    if method == "sum" and kind in "bi":
        return np.dtype(np.int64)
    if method == "sum" and kind == "u":
        return np.dtype(np.uint64)
    if method in {"mean", "var", "std", "median"} and dtype != np.float32:
        return np.dtype(np.float64)
    return dtype


def group(
    table: Table,
    keys: Sequence[Expression],
    values: Sequence[Aggregation | None],
    *,
    sort: bool,
    dropna: bool,
) -> Table:
    """Return the groups of rows; what only pandas can compute of them is ``None``."""
    aggregates = tuple(agg for agg in values if agg is not None)
    relation = GroupAggregate(table.relation, tuple(keys), aggregates, sort, dropna)
    labels = tuple(
        renamed(key, f"k{place}", full=dropna or key.full) for place, key in enumerate(keys)
    )
    return Table(relation, _columns(values, aggregates), labels)


def reduce(table: Table, values: Sequence[Aggregation | None]) -> Table | None:
    """Return one row of values of all rows, if all can be computed."""
    aggregates = tuple(agg for agg in values if agg is not None)
    if len(aggregates) != len(values):
        return None
    return Table(Reduce(table.relation, aggregates), _columns(values, aggregates))


def _columns(
    values: Sequence[Aggregation | None], known: Sequence[Aggregation]
) -> tuple[Column | None, ...]:
    places = {id(agg): place for place, agg in enumerate(known)}
    return tuple(
        None if agg is None else Column(f"v{places[id(agg)]}", agg.dtype, full=_is_full(agg))
        for agg in values
    )


def _is_full(one: Aggregation) -> bool:
    """Tell whether every group has a value: of floats, none is null."""
    return one.method in COUNTED or one.of is None or (one.of.full or kind_of(one.dtype) in "iuf")


def distinct(table: Table, places: Sequence[int], keep: str) -> Table | None:
    """Return the first or last of the rows that are equal in the columns at some places."""
    table = table.labelled()
    subset = [table.columns[place] for place in places]
    if any(column is None or has_gaps(column) for column in subset):
        return None
    whole = Table(table.relation, (*table.columns, *(table.labels or ())))
    below, columns = whole.projected(f"{table.relation.token_name}:distinct ")
    keys = tuple(column for place in places if (column := columns[place]) is not None)
    count = len(table.columns)
    return Table(DistinctOn(below, keys, keep), columns[:count], columns[count:])
