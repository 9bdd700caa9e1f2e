# ruff: noqa: S608 - names and values are quoted where they are made
"""Relations run by duckdb within a memory limit, with the values, order and labels of pandas.

Rows of a relation have no order in SQL: what somebody sees in order carries columns that tell it,
from the number of a row of files on.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from marsdask.scheduler.base import stopped_by
from marsdask.scheduler.errors import MemoryBudgetError
from marsdask.scheduler.storage.scratch import scratch_folder

from ..expression import Column, Constant, Expression, Parameter, kind_of
from ..properties import are_equal, is_semi, may_meet_nulls, ordered
from ..query import QueryResources, terms_of
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
    Table,
    walk,
)
from ..results.files import files_checked
from ..results.frames import result_of
from ..results.rows import ResultRows, collect
from .functions import AGGREGATES, FUNCTIONS, NAN, cast, literal, quoted

#: Nothing is fetched or loaded at run time, and rows are in order only where that is asked.
CONFIG: dict[str, Any] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "preserve_insertion_order": "false",
}
#: The rows of a batch of a result.
BATCH = 2**17


@dataclass(frozen=True)
class Ordering:
    """A column by which rows are in order."""

    column: str
    ascending: bool = True
    nulls_first: bool = False

    def __str__(self) -> str:
        direction = "ASC" if self.ascending else "DESC"
        return f"{name(self.column)} {direction} NULLS {'FIRST' if self.nulls_first else 'LAST'}"


Order: TypeAlias = tuple[Ordering, ...]


def name(text: str) -> str:
    """Return the name of a column or a table as SQL writes it."""
    return '"' + text.replace('"', '""') + '"'


def order_by(order: Order) -> str:
    """Return a clause, which is empty of no order."""
    return f"ORDER BY {', '.join(map(str, order))}" if order else ""


def run(table: Table, given: Mapping[str, list[Any]], like: Any, resources: QueryResources) -> Any:
    """Compute a table; ``given`` are the chunks of its inputs and the numbers that it needs.

    Returns `ResultRows` of a result in parts. Raises `MemoryBudgetError` if it does not fit in the
    memory and the folder.
    """
    plan = DuckdbPlan(table, given)
    query = plan.query()
    try:
        result = _fetch(plan, query, table, resources)
    except MemoryBudgetError:
        # Each thread has buffers of its own.
        if resources.threads == 1:
            raise
        return run(table, given, like, replace(resources, threads=1))
    if isinstance(result, ResultRows):
        return result
    columns = dict(zip(result.column_names, result.columns, strict=True))
    del result
    return result_of(table, columns, like)


def _fetch(
    plan: DuckdbPlan, query: str, table: Table, resources: QueryResources
) -> pa.Table | ResultRows:
    """Return what a query gives: in parts in memory or in a file, else as it is."""
    config = CONFIG | {"memory_limit": f"{resources.memory}B", "threads": resources.threads}
    if resources.spill is not None:
        config["max_temp_directory_size"] = f"{resources.spill}B"
    with (
        scratch_folder(resources.folders) as folder,
        duckdb.connect(config=config) as connection,
        files_checked(table, OSError, duckdb.Error),
        _interruptible(connection),
    ):
        place = "" if folder is None else folder.path
        connection.execute(f"SET temp_directory = {quoted(place)}")
        for label, rows in plan.inputs.items():
            connection.register(label, rows)
        try:
            result = connection.sql(query)
            if resources.parts == 1:
                return result.to_arrow_table()
            with result.to_arrow_reader(BATCH) as reader:
                return collect(reader, reader.schema, resources.kept, folder)
        except duckdb.OutOfMemoryException as error:
            raise _too_large(resources) from error  # which is no reason to read files again


@contextmanager
def _interruptible(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """End the queries of a block when the task that runs it is cancelled."""
    ended = threading.Event()

    def interrupt() -> None:
        while not ended.wait(0.01):  # an interrupt before a query begins is lost
            with suppress(duckdb.ConnectionException):
                connection.interrupt()

    def stop() -> None:
        threading.Thread(target=interrupt, daemon=True).start()

    try:
        with stopped_by(stop):
            yield
    finally:
        ended.set()


def _too_large(resources: QueryResources) -> MemoryBudgetError:
    advice = "set options.dataframe.kernels = 'pandas', which works chunk by chunk"
    return MemoryBudgetError("query", 0, resources.memory, resources.memory, advice)


class DuckdbPlan:
    """Makes SQL of relations: each is a common table expression."""

    def __init__(self, table: Table, given: Mapping[str, list[Any]]) -> None:
        self.inputs: dict[str, pa.Table] = {}
        """The rows at hand, by the names that the query has for them."""
        self._table = table
        self._given = given
        self._wanted = {term.name for term in terms_of(table)}
        self._read = {term.name for term in terms_of(table, right_keys=False)}
        self._below = walk([table.relation])
        self._ordered = ordered(self._below, self._wanted)
        self._labels = {item.token_name: f"r{at}" for at, item in enumerate(self._below)}
        self._orders: dict[str, Order] = {}

    def query(self) -> str:
        """Return the query for the table."""
        uses = [source.token_name for item in self._below for source in item.inputs]
        parts = []
        for relation in self._below:
            body = self._lowered(relation)
            # What several read is computed once if it is dear, and read again if it is a scan.
            is_kept = uses.count(relation.token_name) > 1 and isinstance(
                relation, GroupAggregate | Join | DistinctOn
            )
            kept = "MATERIALIZED" if is_kept else "NOT MATERIALIZED"
            parts.append(f"{self._label(relation)} AS {kept} ({body})")
        columns = [
            f"{cast(self.expression(term), term.dtype)} AS {name(label)}"
            for label, term in self._table.outputs
        ]
        last = self._table.relation
        order = order_by(self._orders.get(last.token_name, ()))
        return (
            f"WITH {', '.join(parts)} SELECT {', '.join(columns)} FROM {self._label(last)} {order}"
        )

    def _label(self, relation: Relation) -> str:
        return self._labels[relation.token_name]

    def _lowered(self, relation: Relation) -> str:
        sources = [self._label(source) for source in relation.inputs]
        match relation:
            case FileScan():
                return self._scan(relation)
            case Input():
                return self._input(relation)
            case Number():
                return self._number(relation, *sources)
            case SelectColumns():
                return self._project(relation, *sources)
            case Selection():
                self._keep_order(relation)
                return f"SELECT * FROM {sources[0]} WHERE {self.expression(relation.condition)}"
            case FirstRows():
                self._keep_order(relation)
                order = order_by(self._orders[relation.a.token_name])
                return f"SELECT * FROM {sources[0]} {order} LIMIT {relation.count}"
            case OrderBy():
                return self._sort(relation, *sources)
            case DistinctOn():
                return self._distinct(relation, *sources)
            case Join():
                return self._join(relation, *sources)
            case GroupAggregate():
                return self._group(relation, *sources)
            case Reduce():
                values = ", ".join(self._aggregates(relation))
                source = self._ranked(relation, self._numbered(relation, sources[0]))
                return f"SELECT {values} FROM {source}"
            case _:
                raise NotImplementedError(type(relation).__name__)

    def expression(self, term: Expression) -> str:
        """Return SQL for an expression."""
        if isinstance(term, Column):
            return name(term.name)
        if isinstance(term, Constant):
            return literal(term.value)
        if isinstance(term, Parameter):
            (value,) = self._given[term.name]
            return cast(literal(np.asarray(value).item()), term.dtype)
        args = [self.expression(arg) for arg in term.args]
        return FUNCTIONS[term.function](term, *args)

    def _is_ordered(self, relation: Relation) -> bool:
        return relation.token_name in self._ordered

    def _keep_order(self, relation: Any) -> Order:
        """Give a relation the order of the one below, if somebody sees it."""
        order = self._orders.get(relation.a.token_name, ())
        return self._set_order(relation, order)

    def _set_order(self, relation: Relation, order: Order) -> Order:
        self._orders[relation.token_name] = order if self._is_ordered(relation) else ()
        return self._orders[relation.token_name]

    def _hidden(self, relation: Relation) -> list[str]:
        """Return the columns that carry the order of a relation."""
        return [name(item.column) for item in self._orders.get(relation.token_name, ())]

    def _place(self, relation: Relation) -> Order:
        return (Ordering(f"place of {self._label(relation)}"),)

    def _scan(self, relation: FileScan) -> str:
        columns = [
            f"{_read(term, term.name in relation.casts)} AS {name(term.name)}"
            for term in relation.columns
            if term.name in self._wanted
        ]
        if order := self._set_order(relation, self._place(relation)):
            columns.append(f"{_row_number(relation.paths)} AS {name(order[0].column)}")
        paths = ", ".join(map(quoted, relation.paths))
        return f"SELECT {', '.join(columns) or '1'} FROM read_parquet([{paths}])"

    def _input(self, relation: Input) -> str:
        label = f"input of {self._label(relation)}"
        columns = [
            term for term in relation.columns if term is not None and term.name in self._wanted
        ]
        rows = pa.concat_tables([_arrow(chunk, columns) for chunk in self._given[relation.name]])
        for item in self._set_order(relation, self._place(relation)):
            rows = rows.append_column(item.column, pa.array(np.arange(rows.num_rows)))
        self.inputs[label] = rows
        return f"SELECT * FROM {name(label)}"

    def _number(self, relation: Number, source: str) -> str:
        self._keep_order(relation)
        column = relation.column.name
        if column not in self._wanted:
            return f"SELECT * FROM {source}"
        below = self._orders[relation.a.token_name]
        if isinstance(relation.a, FileScan | Input):
            number = name(below[0].column)
        else:
            number = f"row_number() OVER ({order_by(below)}) - 1"
        return f"SELECT *, {number} AS {name(column)} FROM {source}"

    def _project(self, relation: SelectColumns, source: str) -> str:
        self._keep_order(relation)
        columns = [
            f"{self.expression(term)} AS {name(column)}"
            for column, term in relation.columns
            if column in self._wanted
        ]
        columns += self._hidden(relation)
        return f"SELECT {', '.join(columns) or '1'} FROM {source}"

    def _sort(self, relation: OrderBy, source: str) -> str:
        if not self._is_ordered(relation):
            return f"SELECT * FROM {source}"
        label = self._label(relation)
        order = tuple(
            Ordering(f"key {place} of {label}", ascending, relation.na_first)
            for place, ascending in enumerate(relation.ascending)
        )
        keys = [
            f"{_nulls(key, self.expression(key))} AS {name(item.column)}"
            for key, item in zip(relation.keys, order, strict=True)
        ]
        self._set_order(relation, (*order, *self._orders[relation.a.token_name]))
        return f"SELECT *, {', '.join(keys)} FROM {source}"

    def _numbered(self, relation: Any, source: str) -> str:
        """Return the source with one column that tells the order, where it is seen."""
        order = self._orders.get(relation.a.token_name, ())
        if len(order) < 2:
            return source
        column = name(self._place(relation)[0].column)
        return f"(SELECT *, row_number() OVER ({order_by(order)}) AS {column} FROM {source})"

    def _place_below(self, relation: Any) -> str:
        """Return the one column that tells the order of the relation below."""
        order = self._orders.get(relation.a.token_name, ())
        return name(order[0].column if len(order) == 1 else self._place(relation)[0].column)

    def _distinct(self, relation: DistinctOn, source: str) -> str:
        keys = [name(column.name) for column in relation.subset]
        if not self._is_ordered(relation) and are_equal(relation, self._wanted):
            self._set_order(relation, ())
            return f"SELECT DISTINCT {', '.join(keys)} FROM {source}"
        place, source = self._place_below(relation), self._numbered(relation, source)
        first = relation.keep == "first"
        least = f"{'min' if first else 'max'}({place})"
        columns = [name(label) for label, _ in relation.a.columns if label in self._wanted]
        others = [column for column in columns if column not in keys]
        (order,) = self._place(relation)
        is_seen = self._set_order(relation, (order,))
        if len(others) > 1 and not self._is_dear(relation.a):
            # The rows are read twice, of which the first time only keys.
            places = f"SELECT {least} FROM {source} GROUP BY {', '.join(keys)}"
            rows = ", ".join([*columns, f"{place} AS {name(order.column)}"])
            return f"SELECT {rows} FROM {source} WHERE {place} IN ({places})"
        function = "arg_min_null" if first else "arg_max_null"
        kept = [*keys, *(f"{function}({column}, {place}) AS {column}" for column in others)]
        kept += [f"{least} AS {name(order.column)}"] * bool(is_seen)
        numbers = ", ".join(str(number + 1) for number in range(len(keys)))
        return f"SELECT {', '.join(kept)} FROM {source} GROUP BY {numbers}"

    def _is_dear(self, relation: Relation) -> bool:
        """Tell whether a relation is more than rows of files and functions of them."""
        below = walk([relation])
        return any(isinstance(item, GroupAggregate | Join | DistinctOn | Input) for item in below)

    def _join(self, relation: Join, left: str, right: str) -> str:
        is_kept = is_semi(relation, self._read)
        equal = "IS NOT DISTINCT FROM" if may_meet_nulls(relation) else "="
        pairs = zip(relation.left_on, relation.right_on, strict=True)
        condition = " AND ".join(
            f"{left}.{self.expression(mine)} {equal} {right}.{self.expression(theirs)}"
            for mine, theirs in pairs
        )
        order = self._orders.get(relation.left.token_name, ())
        if is_kept:
            self._set_order(relation, order)
            return f"SELECT {left}.* FROM {left} SEMI JOIN {right} ON {condition}"
        right = self._right(relation, right, order)
        how = "LEFT" if relation.how == "left" else "INNER"
        floats = self._floats(relation) if how == "LEFT" else []
        columns = f"* REPLACE ({', '.join(floats)})" if floats else "*"
        return f"SELECT {columns} FROM {left} {how} JOIN {right} ON {condition}"

    def _right(self, relation: Join, right: str, order: Order) -> str:
        """Return the right side, whose order is carried by columns that the left one lacks."""
        below = self._orders.get(relation.right.token_name, ())
        label = self._label(relation)
        own = [f"right {at} of {label}" for at in range(len(below))]
        moved = [replace(item, column=column) for item, column in zip(below, own, strict=True)]
        if not self._set_order(relation, (*order, *moved)) or not below:
            return right
        pairs = zip(below, own, strict=True)
        columns = ", ".join(f"{name(item.column)} AS {name(column)}" for item, column in pairs)
        return f"(SELECT * RENAME ({columns}) FROM {right}) AS {right}"

    def _floats(self, relation: Join) -> list[str]:
        """Return the floats that are read of a right side, NaN where a row met none."""
        columns = relation.right.columns if isinstance(relation.right, SelectColumns) else ()
        return [
            f"coalesce({name(column)}, {NAN}) AS {name(column)}"
            for column, term in columns
            if column in self._wanted and kind_of(term.dtype) == "f"
        ]

    def _group(self, relation: GroupAggregate, source: str) -> str:
        keys = [_nulls(key, self.expression(key)) for key in relation.keys]
        source = self._ranked(relation, source, keys)
        columns = [f"{key} AS k{place}" for place, key in enumerate(keys)]
        columns += self._aggregates(relation)
        place, source = self._place_below(relation), self._numbered(relation, source)
        order: Order = tuple(Ordering(f"k{at}") for at in range(len(keys)))
        if not relation.sort:
            order = self._place(relation)
            if self._is_ordered(relation):
                columns.append(f"min({place}) AS {name(order[0].column)}")
        present = [
            f"{value} IS NOT NULL"
            for key, value in zip(relation.keys, keys, strict=True)
            if not key.full or kind_of(key.dtype) == "f"
        ]
        where = f"WHERE {' AND '.join(present)}" if relation.dropna and present else ""
        self._set_order(relation, order)
        places = ", ".join(str(place + 1) for place in range(len(keys)))
        groups = f"SELECT {', '.join(columns)} FROM {source} {where} GROUP BY {places}"
        floats = [at for at, key in enumerate(relation.keys) if kind_of(key.dtype) == "f"]
        if not floats or relation.dropna:
            return groups
        # Keys come back as NaN, but in order they stand as null.
        again = ", ".join(f"coalesce(k{at}, {NAN}) AS k{at}" for at in floats)
        if relation.sort and self._is_ordered(relation):
            label = self._label(relation)
            hidden = tuple(Ordering(f"key {at} of {label}") for at in range(len(keys)))
            self._set_order(relation, hidden)
            copies = ", ".join(f"k{at} AS {name(item.column)}" for at, item in enumerate(hidden))
            groups = f"SELECT *, {copies} FROM ({groups})"
        return f"SELECT * REPLACE ({again}) FROM ({groups})"

    def _ranked(
        self, relation: GroupAggregate | Reduce, source: str, keys: Sequence[str] = ()
    ) -> str:
        """Return the source with ranks among the rows of a group, where medians are wanted.

        A sort by windows exceeds memory; duckdb's own medians hold all values.
        """
        groups = f"PARTITION BY {', '.join(keys)}" if keys else ""
        columns = []
        for place, value in enumerate(relation.values):
            if value.method != "median" or value.of is None:
                continue
            values = _nulls(value.of, self.expression(value.of))
            rank, count = self._rank(relation, place)
            columns.append(f"row_number() OVER ({groups} ORDER BY {values} NULLS LAST) AS {rank}")
            columns.append(f"count({values}) OVER ({groups}) AS {count}")
        return f"(SELECT *, {', '.join(columns)} FROM {source})" if columns else source

    def _rank(self, relation: Relation, place: int) -> tuple[str, str]:
        """Return the names of the columns of ranks and of counts for a median."""
        label = self._label(relation)
        return name(f"rank {place} of {label}"), name(f"count {place} of {label}")

    def _aggregates(self, relation: GroupAggregate | Reduce) -> list[str]:
        place = self._place_below(relation)
        return [
            f"{self._aggregate(value, place, self._rank(relation, at))} AS v{at}"
            for at, value in enumerate(relation.values)
        ]

    def _aggregate(self, value: Aggregation, place: str, ranks: tuple[str, str]) -> str:
        if value.of is None:
            return "count(*)"
        values = _nulls(value.of, self.expression(value.of))
        if value.method == "median":
            rank, count = ranks
            middle = f"{rank} IN (({count} + 1) // 2, ({count} + 2) // 2)"
            result = f"avg(CASE WHEN {middle} THEN ({values})::DOUBLE END)"
        elif value.method in {"first", "last"}:
            result = f"{'arg_min' if value.method == 'first' else 'arg_max'}({values}, {place})"
        else:
            result = AGGREGATES[value.method](values, value)
        if kind_of(value.dtype) == "f":
            return f"coalesce({cast(result, value.dtype)}, {NAN})"
        return cast(result, value.dtype)


def _row_number(paths: Sequence[str]) -> str:
    """Return the number of a row of files, from 0 over all of them."""
    rows = [pq.read_metadata(path).num_rows for path in paths]
    starts = np.cumsum([0, *rows[:-1]])
    start = f"([{', '.join(map(str, starts))}]::BIGINT[])[file_index::BIGINT + 1]"
    return f"{start} + file_row_number"


def _nulls(term: Expression, values: str) -> str:
    """Return floats with null where they are NaN."""
    is_float = kind_of(term.dtype) == "f"
    return f"(CASE WHEN NOT isnan({values}) THEN {values} END)" if is_float else values


def _read(column: Column, is_cast: bool) -> str:
    """Return a column of a file in pandas's type."""
    values = name(column.name)
    if is_cast:
        values = cast(values, column.dtype)
    has_nan = kind_of(column.dtype) == "f" and not column.full
    return f"coalesce({values}, {NAN})" if has_nan else values


def _arrow(chunk: Any, columns: Sequence[Column]) -> pa.Table:
    """Return columns of a pandas object, without copying numbers."""
    arrays = []
    for column in columns:
        place = int(column.name.rpartition(":")[2])
        values = chunk if isinstance(chunk, pd.Series) else chunk.iloc[:, place]
        is_text = kind_of(column.dtype) == "s"
        is_time = kind_of(column.dtype) == "M"
        # NaN of floats is a value, NaT is none.
        array = pa.array(values if is_text else values.to_numpy(), from_pandas=is_text or is_time)
        arrays.append(array)
    return pa.Table.from_arrays(arrays, names=[column.name for column in columns])
