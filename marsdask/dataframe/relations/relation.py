"""The closed set of relations, and the tables of the frames that they stand for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from .expression import Column, Expression, Term


@dataclass(frozen=True, eq=False)
class FileScan(Term):
    """The rows of Parquet files; ``casts`` are columns that pandas gives another type."""

    paths: tuple[str, ...]
    stamps: tuple[Any, ...]
    columns: tuple[Column, ...]
    casts: tuple[str, ...]
    rows: int
    distinct: tuple[tuple[str, int], ...] = ()
    """How many values columns of integers and truth values have at most, by the statistics."""
    are_plain: bool = True
    """Whether the names of all columns of the files differ in more than case, as SQL demands."""

    @property
    def inputs(self) -> tuple[Relation, ...]:
        """The relations below."""
        return ()


@dataclass(frozen=True, eq=False)
class Input(Term):
    """The rows of a frame that another operation computes first, by the operation's name."""

    name: str
    columns: tuple[Column | None, ...]

    @property
    def inputs(self) -> tuple[Relation, ...]:
        """The relations below."""
        return ()


@dataclass(frozen=True, eq=False)
class Number(Term):
    """The rows with their numbers, from 0, as a column."""

    a: Relation

    @property
    def column(self) -> Column:
        """The numbers."""
        return Column(f"row of {self.token_name}", np.dtype(np.int64), full=True, numbers_rows=True)

    @property
    def inputs(self) -> tuple[Relation, ...]:
        """The relations below."""
        return (self.a,)


@dataclass(frozen=True, eq=False)
class Shift(Term):
    """The rows with a column of the values ``periods`` rows before them."""

    a: Relation
    of: Expression
    dtype: Any
    periods: int

    @property
    def column(self) -> Column:
        """The values, whose name does not depend on other columns of this kind."""
        name = f"{self.periods} rows before {self.of.token_name} of {unshifted(self).token_name}"
        return Column(name, self.dtype)

    @property
    def inputs(self) -> tuple[Relation, ...]:
        """The relations below."""
        return (self.a,)


@dataclass(frozen=True, eq=False)
class SelectColumns(Term):
    """Expressions as columns of these names."""

    a: Relation
    columns: tuple[tuple[str, Expression], ...]

    @property
    def inputs(self) -> tuple[Relation, ...]:
        """The relations below."""
        return (self.a,)


@dataclass(frozen=True, eq=False)
class Selection(Term):
    """The rows where a condition is true."""

    a: Relation
    condition: Expression

    @property
    def inputs(self) -> tuple[Relation, ...]:
        """The relations below."""
        return (self.a,)


@dataclass(frozen=True, eq=False)
class OrderBy(Term):
    """The rows in the order of keys; equal ones keep theirs."""

    a: Relation
    keys: tuple[Expression, ...]
    ascending: tuple[bool, ...]
    na_first: bool

    @property
    def inputs(self) -> tuple[Relation, ...]:
        """The relations below."""
        return (self.a,)


@dataclass(frozen=True, eq=False)
class FirstRows(Term):
    """The first rows."""

    a: Relation
    count: int

    @property
    def inputs(self) -> tuple[Relation, ...]:
        """The relations below."""
        return (self.a,)


@dataclass(frozen=True, eq=False)
class Aggregation(Term):
    """One value of many: the name of the method, and what of."""

    method: str
    of: Expression | None
    dtype: Any
    ddof: int = 1


@dataclass(frozen=True, eq=False)
class GroupAggregate(Term):
    """One row for each group: keys ``k0``, ``k1``, ... and values ``v0``, ``v1``, ..."""

    a: Relation
    keys: tuple[Expression, ...]
    values: tuple[Aggregation, ...]
    sort: bool
    dropna: bool

    @property
    def inputs(self) -> tuple[Relation, ...]:
        """The relations below."""
        return (self.a,)


@dataclass(frozen=True, eq=False)
class Reduce(Term):
    """One row of values ``v0``, ``v1``, ... of all rows."""

    a: Relation
    values: tuple[Aggregation, ...]

    @property
    def inputs(self) -> tuple[Relation, ...]:
        """The relations below."""
        return (self.a,)


@dataclass(frozen=True, eq=False)
class Join(Term):
    """The rows of both sides that agree in their keys."""

    left: Relation
    right: Relation
    left_on: tuple[Expression, ...]
    right_on: tuple[Expression, ...]
    how: str

    @property
    def inputs(self) -> tuple[Relation, ...]:
        """The relations below."""
        return self.left, self.right


@dataclass(frozen=True, eq=False)
class DistinctOn(Term):
    """The first (or last) of rows that are equal in some columns, in the order of the rows."""

    a: SelectColumns
    subset: tuple[Column, ...]
    keep: str

    @property
    def inputs(self) -> tuple[Relation, ...]:
        """The relations below."""
        return (self.a,)


#: Names of the labels in a result.
LABEL = "label "

Rows: TypeAlias = FileScan | Input | Number | Shift | SelectColumns | Selection | OrderBy
Relation: TypeAlias = Rows | FirstRows | GroupAggregate | Reduce | Join | DistinctOn


@dataclass(frozen=True)
class Table:
    """A frame, a series or an index as expressions over a relation.

    ``None`` stands for a column or a label that only pandas can compute.
    """

    relation: Relation
    columns: tuple[Expression | None, ...]
    labels: tuple[Expression | None, ...] | None = None
    """The row labels; ``None`` if the rows are numbered from 0."""

    @property
    def outputs(self) -> list[tuple[str, Expression]]:
        """The columns and the labels, as far as they are known, by their names in a result."""
        columns = [(f"{place}", term) for place, term in enumerate(self.columns)]
        labels = [(f"{LABEL}{place}", term) for place, term in enumerate(self.labels or ())]
        return [(name, term) for name, term in columns + labels if term is not None]

    @property
    def is_whole(self) -> bool:
        """Whether all columns and labels are known."""
        return None not in self.columns and None not in (self.labels or ())

    def over(self, relation: Relation) -> Table:
        """Return the same expressions over a relation that has the columns of this one."""
        return replace(self, relation=relation)

    def labelled(self) -> Table:
        """Return the table with its labels as expressions, which stay when rows go."""
        if self.labels is not None:
            return self
        relation = Number(self.relation)
        return replace(self, relation=relation, labels=(relation.column,))

    def filtered(self, condition: Expression) -> Table:
        """Return the rows where a condition is true."""
        table = self.labelled()
        return table.over(Selection(table.relation, condition))

    def sorted(
        self, keys: tuple[Expression, ...], ascending: tuple[bool, ...], *, na_first: bool
    ) -> Table:
        """Return the rows in the order of keys."""
        table = self.labelled()
        return table.over(OrderBy(table.relation, keys, ascending, na_first))

    def projected(self, prefix: str) -> tuple[SelectColumns, tuple[Column | None, ...]]:
        """Return a relation of the columns under new names, and those columns."""
        names = [f"{prefix}{position}" for position in range(len(self.columns))]
        pairs = tuple(
            (name, term) for name, term in zip(names, self.columns, strict=True) if term is not None
        )
        columns = tuple(
            term if term is None else renamed(term, name)
            for name, term in zip(names, self.columns, strict=True)
        )
        return SelectColumns(self.relation, pairs), columns


def unshifted(relation: Relation) -> Relation:
    """Return the relation to which columns of rows before were added."""
    while isinstance(relation, Shift):
        relation = relation.a
    return relation


def together(tables: Sequence[Table]) -> list[Table] | None:
    """Return tables of the same rows over one relation, ``None`` if the rows may differ."""
    relations = {item.relation for item in tables}
    if len(relations) == 1:
        return list(tables)
    if len({unshifted(item) for item in relations}) != 1:
        return None
    whole = unshifted(tables[0].relation)
    columns = set()
    for relation in walk([item.relation for item in tables]):
        if isinstance(relation, Shift) and relation.column not in columns:
            columns.add(relation.column)
            whole = replace(relation, a=whole)
    return [item.over(whole) for item in tables]


def renamed(expression: Any, name: str, *, full: bool = False) -> Column:
    """Return the column of that name that holds the values of an expression."""
    is_column = isinstance(expression, Column)
    return Column(
        name,
        expression.dtype,
        full=full or expression.full,
        gaps=is_column and expression.gaps,
        numbers_rows=is_column and expression.numbers_rows,
    )


def walk(relations: Sequence[Relation]) -> list[Relation]:
    """Return each relation once, inputs first."""
    order: dict[str, Relation] = {}
    stack = [(relation, False) for relation in relations]
    while stack:
        relation, expanded = stack.pop()
        if relation.token_name in order:
            continue
        if expanded:
            order[relation.token_name] = relation
            continue
        stack.append((relation, True))
        stack.extend((below, False) for below in relation.inputs)
    return list(order.values())
