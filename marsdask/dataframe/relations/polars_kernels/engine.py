"""Relations run by polars, with the values, the order and the labels of pandas.

Columns of floats hold NaN where a value is missing, others null. Polars treats NaN as a number, so
aggregations and sorts see null instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from ..expression import (
    Column,
    Constant,
    Expression,
    Parameter,
    has_gaps,
    kind_of,
)
from ..properties import are_equal, filtered, is_semi, may_meet_nulls, ordered
from ..query import terms_of
from ..relation import (
    Aggregation,
    DistinctOn,
    FileScan,
    FirstRows,
    GroupAggregate,
    Input,
    Join,
    Number,
    OrderBy,
    Reduce,
    Relation,
    SelectColumns,
    Selection,
    Shift,
    Table,
    walk,
)
from ..results.files import files_checked
from ..results.frames import result_of
from .functions import AGGREGATES, FUNCTIONS, literal, polars_type

#: Which order is seen is said by ``ordered``: polars 2.1 forgets that a slice sees it.
OPTIMIZATIONS = pl.QueryOptFlags(check_order_observe=False)

#: What polars raises.
ERRORS = (pl.exceptions.PolarsError, pl.exceptions.PanicException)
#: The place of a row in the order of a join or of groups; columns of files have no such names.
PLACE = "\0place"


def run(table: Table, given: Mapping[str, list[Any]], like: Any) -> Any:
    """Compute a table; ``given`` are the chunks of its inputs and the numbers that it needs.

    ``like`` has the types of the result, or of each of several reductions.
    """
    lowering = PolarsPlan(table, given)
    plan = lowering.relation(table.relation)
    columns = [lowering.expression(term).alias(name) for name, term in table.outputs]
    with files_checked(table, OSError, *ERRORS):
        frame = plan.select(columns).collect(optimizations=OPTIMIZATIONS)
    series = frame.get_columns()
    del frame
    arrays = {}
    while series:
        # Texts are copied, of which the first copy goes here.
        item = series.pop()
        arrays[item.name] = item.to_arrow()
    return result_of(table, arrays, like)


class PolarsPlan:
    """Makes polars's plans of relations."""

    def __init__(self, table: Table, given: Mapping[str, list[Any]]) -> None:
        self._given = given
        self._wanted = {term.name for term in terms_of(table)}
        self._read = {term.name for term in terms_of(table, right_keys=False)}
        self._plans: dict[str, pl.LazyFrame] = {}
        self._below = walk([table.relation])
        self._ordered = ordered(self._below, self._wanted)
        self._filtered = filtered(self._below, self._wanted)

    def _columns(self, scan: FileScan) -> tuple[Column, ...]:
        return tuple(term for term in scan.columns if term.name in self._wanted)

    def relation(self, last: Relation) -> pl.LazyFrame:
        """Return the plan of a relation."""
        for relation in self._below:
            self._plans[relation.token_name] = self._lowered(relation)
        return self._plans[last.token_name]

    def _lowered(self, relation: Relation) -> pl.LazyFrame:
        below = [self._plans[source.token_name] for source in relation.inputs]
        match relation:
            case FileScan():
                return self._scan(relation)
            case Input():
                return self._input(relation)
            case Number():
                return self._number(relation, *below)
            case Shift():
                return self._shift(relation, *below)
            case SelectColumns():
                return self._project(relation, *below)
            case Selection():
                return below[0].filter(self.expression(relation.condition))
            case FirstRows():
                return below[0].head(relation.count)
            case OrderBy():
                return self._sort(relation, *below)
            case DistinctOn():
                return self._distinct(relation, *below)
            case Join():
                return self._join(relation, *below)
            case GroupAggregate():
                return self._group(relation, *below)
            case Reduce():
                return below[0].select(self._aggregates(relation.values))

    def expression(self, term: Expression) -> pl.Expr:
        """Return polars's form of an expression."""
        if isinstance(term, Column):
            return pl.col(term.name)
        if isinstance(term, Constant):
            return literal(term.value)
        if isinstance(term, Parameter):
            (value,) = self._given[term.name]
            return pl.lit(np.asarray(value).item(), dtype=polars_type(term.dtype))
        args = [self.expression(arg) for arg in term.args]
        return FUNCTIONS[term.function](term, *args)

    def _scan(self, relation: FileScan) -> pl.LazyFrame:
        plan = pl.scan_parquet(list(relation.paths), glob=False)
        columns = [_read(term, term.name in relation.casts) for term in self._columns(relation)]
        return plan.select(columns)

    def _input(self, relation: Input) -> pl.LazyFrame:
        columns = [
            term for term in relation.columns if term is not None and term.name in self._wanted
        ]
        places = [int(term.name.rpartition(":")[2]) for term in columns]
        chunks = [_table(chunk, places, columns) for chunk in self._given[relation.name]]
        return pl.concat(chunks).lazy()

    def _number(self, relation: Number, plan: pl.LazyFrame) -> pl.LazyFrame:
        name = relation.column.name
        if name not in self._wanted:
            return plan
        return plan.with_row_index(name).with_columns(pl.col(name).cast(pl.Int64))

    def _shift(self, relation: Shift, plan: pl.LazyFrame) -> pl.LazyFrame:
        name = relation.column.name
        if name not in self._wanted:
            return plan
        values = self.expression(relation.of).cast(polars_type(relation.dtype))
        fill = float("nan") if kind_of(relation.dtype) == "f" else None
        return plan.with_columns(values.shift(relation.periods, fill_value=fill).alias(name))

    def _project(self, relation: SelectColumns, plan: pl.LazyFrame) -> pl.LazyFrame:
        return plan.select(
            [
                self.expression(term).alias(name)
                for name, term in relation.columns
                if name in self._wanted
            ]
        )

    def _is_ordered(self, relation: Relation) -> bool:
        return relation.token_name in self._ordered

    def _sort(self, relation: OrderBy, plan: pl.LazyFrame) -> pl.LazyFrame:
        if not self._is_ordered(relation):
            return plan
        keys = [_nulls(key, self.expression(key)) for key in relation.keys]
        return plan.sort(
            keys,
            descending=[not flag for flag in relation.ascending],
            nulls_last=not relation.na_first,
            maintain_order=True,
        )

    def _distinct(self, relation: DistinctOn, plan: pl.LazyFrame) -> pl.LazyFrame:
        is_ordered = self._is_ordered(relation)
        is_any = not is_ordered and are_equal(relation, self._wanted)
        keep: Any = "any" if is_any else relation.keep
        subset = [column.name for column in relation.subset]
        return plan.unique(subset, keep=keep, maintain_order=is_ordered)

    def _join(self, relation: Join, left: pl.LazyFrame, right: pl.LazyFrame) -> pl.LazyFrame:
        how: Any = relation.how
        if is_semi(relation, self._read):
            how, right = "semi", self._repeated(relation.right, right)
        is_seen = self._is_ordered(relation.right) and how != "semi"
        order: Any = "none"
        rows: list[str] = []
        if not self._is_ordered(relation):
            pass
        elif how == "inner" and relation.token_name not in self._filtered:
            # Sorting by numbers of rows takes half the time of a join that keeps the order.
            left, right, rows = _numbered(left, right, both=is_seen)
        else:
            order = "left_right" if is_seen else "left"
        result = left.join(
            right,
            left_on=[self.expression(key) for key in relation.left_on],
            right_on=[self.expression(key) for key in relation.right_on],
            how=how,
            nulls_equal=may_meet_nulls(relation),
            coalesce=None if how == "semi" else False,
            maintain_order=order,
        )
        if rows:
            first, *second = [pl.col(key).cast(pl.UInt64) for key in rows]
            place = first * 2**32 + second[0] if second else first
            # The numbers themselves do not take part in the sort, which would copy them.
            result = result.with_columns(place.alias(PLACE)).drop(rows).sort(PLACE).drop(PLACE)
        floats = [] if how != "left" else self._floats(relation.right)
        return result.with_columns(floats) if floats else result

    def _floats(self, relation: Relation) -> list[pl.Expr]:
        """Return the floats that are read of a right side, NaN where a row met none."""
        columns = relation.columns if isinstance(relation, SelectColumns) else ()
        return [
            pl.col(name).fill_null(float("nan"))
            for name, column in columns
            if name in self._read and kind_of(column.dtype) == "f"
        ]

    def _repeated(self, relation: Relation, plan: pl.LazyFrame) -> pl.LazyFrame:
        """Return rows that may repeat, where they were made distinct only to be searched."""
        if not (isinstance(relation, SelectColumns) and isinstance(relation.a, DistinctOn)):
            return plan
        return self._project(relation, self._plans[relation.a.a.token_name])

    def _group(self, relation: GroupAggregate, plan: pl.LazyFrame) -> pl.LazyFrame:
        keys = [
            _nulls(key, self.expression(key)).alias(f"k{place}")
            for place, key in enumerate(relation.keys)
        ]
        values = self._aggregates(relation.values)
        if relation.dropna:
            present = [
                _nulls(key, self.expression(key)).is_not_null()
                for key in relation.keys
                if not key.full or kind_of(key.dtype) == "f"
            ]
            plan = plan.filter(*present) if present else plan
        is_ordered = self._is_ordered(relation)
        names = [f"k{place}" for place in range(len(keys))]
        order = names if relation.sort else [PLACE]
        if is_ordered and not relation.sort:
            # To keep groups in order takes polars twice the time and the memory.
            plan, values = plan.with_row_index(PLACE), [*values, pl.col(PLACE).min()]
        groups = plan.group_by(keys).agg(values)
        if is_ordered:
            groups = groups.sort(order, nulls_last=True).drop(PLACE, strict=False)
        floats = [
            pl.col(name).fill_null(float("nan"))
            for name, key in zip(names, relation.keys, strict=True)
            if kind_of(key.dtype) == "f"
        ]
        return groups.with_columns(floats) if floats else groups

    def _aggregates(self, values: Sequence[Aggregation]) -> list[pl.Expr]:
        return [self._aggregate(value).alias(f"v{place}") for place, value in enumerate(values)]

    def _aggregate(self, one: Aggregation) -> pl.Expr:
        if one.of is None:
            return pl.len().cast(pl.Int64)
        values = _nulls(one.of, self.expression(one.of))
        result = AGGREGATES[one.method](values, one)
        if kind_of(one.dtype) == "f":
            return result.cast(polars_type(one.dtype)).fill_null(float("nan"))
        return result if has_gaps(one.of) else result.cast(polars_type(one.dtype))


def _numbered(
    left: pl.LazyFrame, right: pl.LazyFrame, *, both: bool
) -> tuple[pl.LazyFrame, pl.LazyFrame, list[str]]:
    """Return two tables with the numbers of their rows, of the left one only unless ``both``."""
    rows = ["left row", "right row"] if both else ["left row"]
    left = left.with_row_index(rows[0])
    return left, right.with_row_index(rows[1]) if both else right, rows


def _nulls(term: Expression, values: pl.Expr) -> pl.Expr:
    """Return floats with null where they are NaN."""
    return values.fill_nan(None) if kind_of(term.dtype) == "f" else values


def _read(column: Column, cast: bool) -> pl.Expr:
    """Return a column of a file in pandas's type."""
    plain = pl.col(column.name)
    values = plain.cast(polars_type(column.dtype)) if cast else plain
    has_nan = kind_of(column.dtype) == "f" and not column.full
    return values.fill_null(float("nan")) if has_nan else values


def _table(chunk: Any, places: Sequence[int], columns: Sequence[Column]) -> pl.DataFrame:
    """Return columns of a pandas object, without copying numbers."""
    series = {}
    for place, column in zip(places, columns, strict=True):
        values = chunk if isinstance(chunk, pd.Series) else chunk.iloc[:, place]
        if kind_of(column.dtype) == "s":
            import pyarrow as pa

            series[column.name] = pl.from_arrow(pa.array(values, from_pandas=True))
        else:
            series[column.name] = pl.Series(
                values.to_numpy(), dtype=polars_type(column.dtype), nan_to_null=False
            )
    return pl.DataFrame(series)
