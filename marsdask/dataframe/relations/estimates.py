"""How many rows relations have, about, and what they take: by footers and rules of thumb."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dask.utils import format_bytes

from .expression import Column, Expression, FunctionCall, kind_of
from .query import terms_of, width_of
from .relation import (
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

#: The share of rows that meet a condition of which nothing is known (System R's).
SHARES = {"eq": 0.1, "isna": 0.1, "ne": 0.9, "notna": 0.9}
OTHER_SHARE = 1 / 3
#: How many values functions have at most, of times as pandas has them.
VALUES = {"month": 12.0, "day": 31.0}


@dataclass(frozen=True)
class RowEstimate:
    """The estimated number and bytes of a relation's rows."""

    count: float
    widths: Mapping[str, int]
    """The bytes of a value of each column that somebody reads."""
    distinct: Mapping[str, float]
    """How many values a column has at most; those of other columns may all be different."""

    @property
    def nbytes(self) -> float:
        """The bytes of all columns."""
        return self.count * sum(self.widths.values())

    def values_of(self, keys: Sequence[Expression]) -> float:
        """Return how many different keys there are at most."""
        return max(1.0, min(self.count, math.prod(map(self._values, keys))))

    def _values(self, key: Expression) -> float:
        """Return how many values a column or a function of one column has at most."""
        if isinstance(key, Column):
            return self.distinct.get(key.name, math.inf)
        if kind_of(key.dtype) == "b":
            return 2.0
        if not isinstance(key, FunctionCall):
            return 1.0
        below = [self._values(arg) for arg in key.args]
        return min(VALUES.get(key.function, math.inf), math.prod(below) + 1)


class Estimates:
    """The rows of each relation of a table; ``inputs`` are those of frames that are at hand."""

    def __init__(self, table: Table, inputs: Mapping[str, float]) -> None:
        self._outputs = [term for _, term in table.outputs]
        self._wanted = {term.name for term in terms_of(table)}
        self._inputs = inputs
        self.relations = walk([table.relation])
        self._found: dict[str, RowEstimate] = {}
        for relation in self.relations:
            self._found[relation.token_name] = self._rows(relation)

    def of(self, relation: Relation) -> RowEstimate:
        """Return the rows of a relation."""
        return self._found[relation.token_name]

    @property
    def read(self) -> tuple[int, int]:
        """The rows and the bytes that are read."""
        sources = [self.of(leaf) for leaf in self.relations if isinstance(leaf, FileScan | Input)]
        return int(sum(leaf.count for leaf in sources)), int(sum(leaf.nbytes for leaf in sources))

    @property
    def held(self) -> int:
        """The bytes that are read of frames at hand."""
        return int(sum(self.of(leaf).nbytes for leaf in self.relations if isinstance(leaf, Input)))

    @property
    def result(self) -> int:
        """The bytes of the columns and labels that come out, at most."""
        return int(self.of(self.relations[-1]).count * self.width)

    @property
    def width(self) -> int:
        """The bytes of a row that comes out."""
        return max(1, sum(width_of(term.dtype) for term in self._outputs))

    @property
    def is_joined(self) -> bool:
        """Whether rows of several places of a table meet: joins, sorts and distinct rows."""
        return any(isinstance(item, Join | OrderBy | DistinctOn) for item in self.relations)

    @property
    def rows_of_files(self) -> int:
        """The rows that are read of files."""
        return sum(scan.rows for scan in self.relations if isinstance(scan, FileScan))

    @property
    def is_condensed(self) -> bool:
        """Whether few rows are made of many: by groups, reductions or limits of sorted rows."""
        return any(
            isinstance(relation, GroupAggregate | Reduce)
            or (isinstance(relation, FirstRows) and isinstance(relation.a, OrderBy))
            for relation in self.relations
        )

    @property
    def largest_join(self) -> int:
        """The bytes of the largest table that a join makes."""
        joins = [self.of(join) for join in self.relations if isinstance(join, Join)]
        return int(max((join.nbytes for join in joins), default=0))

    def _rows(self, relation: Relation) -> RowEstimate:
        below = [self.of(item) for item in relation.inputs]
        match relation:
            case FileScan():
                distinct = dict.fromkeys((item.name for item in relation.columns), relation.rows)
                for name, count in relation.distinct:
                    distinct[name] = min(count, relation.rows)
                return RowEstimate(relation.rows, self._widths(relation.columns), distinct)
            case Input():
                columns = [item for item in relation.columns if item is not None]
                return RowEstimate(self._inputs.get(relation.name, 0.0), self._widths(columns), {})
            case SelectColumns():
                return self._projected(relation, *below)
            case Selection():
                return _fewer(below[0], below[0].count * _share(relation.condition, below[0]))
            case FirstRows():
                return _fewer(below[0], min(below[0].count, relation.count))
            case DistinctOn():
                return _fewer(below[0], below[0].values_of(relation.subset))
            case Join():
                return _joined(relation, *below)
            case GroupAggregate():
                return self._grouped(relation, *below)
            case Reduce():
                return RowEstimate(1.0, {}, {})
            case _:
                return below[0]

    def _widths(self, columns: Sequence[Column]) -> dict[str, int]:
        return {term.name: width_of(term.dtype) for term in columns if term.name in self._wanted}

    def _projected(self, relation: SelectColumns, below: RowEstimate) -> RowEstimate:
        pairs = [pair for pair in relation.columns if pair[0] in self._wanted]
        distinct = {name: below.values_of([term]) for name, term in pairs}
        return RowEstimate(
            below.count, {name: width_of(term.dtype) for name, term in pairs}, distinct
        )

    def _grouped(self, relation: GroupAggregate, below: RowEstimate) -> RowEstimate:
        count = below.values_of(relation.keys)
        widths = {f"k{i}": width_of(term.dtype) for i, term in enumerate(relation.keys)}
        widths |= {f"v{i}": width_of(term.dtype) for i, term in enumerate(relation.values)}
        distinct = {f"k{i}": below.values_of([term]) for i, term in enumerate(relation.keys)}
        return RowEstimate(count, widths, distinct)


def _fewer(rows: RowEstimate, count: float) -> RowEstimate:
    return RowEstimate(count, rows.widths, rows.distinct)


def _joined(relation: Join, left: RowEstimate, right: RowEstimate) -> RowEstimate:
    values = max(left.values_of(relation.left_on), right.values_of(relation.right_on))
    count = left.count * right.count / values
    if relation.how == "left":
        count = max(count, left.count)
    return RowEstimate(count, {**left.widths, **right.widths}, {**left.distinct, **right.distinct})


def _share(condition: Expression, rows: RowEstimate) -> float:
    """Return the share of rows that meet a condition."""
    if not isinstance(condition, FunctionCall):
        return OTHER_SHARE
    parts = [arg for arg in condition.args if kind_of(arg.dtype) == "b"]
    match condition.function:
        case "and_":
            return math.prod(_share(arg, rows) for arg in parts)
        case "or_":
            return min(1.0, sum(_share(arg, rows) for arg in parts))
        case "invert":
            return 1.0 - _share(parts[0], rows)
        case "eq" | "isin":
            values = max(
                (rows.values_of([arg]) for arg in condition.args if isinstance(arg, Column)),
                default=1.0,
            )
            share = 1 / values if values < rows.count else SHARES["eq"]
            return min(1.0, share * max(1, len(condition.options)))
    return SHARES.get(condition.function, OTHER_SHARE)


def described(estimates: Estimates) -> list[str]:
    """Return a line for each relation that changes rows, each above its inputs."""
    lines = []
    stack: list[tuple[Relation, int]] = [(estimates.relations[-1], 0)]
    names: set[str] = set()
    while stack:
        relation, depth = stack.pop()
        while isinstance(relation, SelectColumns | Number | Shift):  # as many rows
            relation = relation.a
        rows = estimates.of(relation)
        again = relation.token_name in names
        note = (
            " again"
            if again
            else f", about {rows.count:,.0f} rows, {format_bytes(int(rows.nbytes))}"
        )
        lines.append(f"{'  ' * depth}{type(relation).__name__}{_detail(relation)}{note}")
        if not again:
            names.add(relation.token_name)
            stack.extend((below, depth + 1) for below in reversed(relation.inputs))
    return lines


def _detail(relation: Relation) -> str:
    """Return what tells a relation from others of its kind."""
    match relation:
        case FileScan():
            name = os.path.basename(relation.paths[0])
            return f" {name}" + (f" and {len(relation.paths) - 1} more" * (len(relation.paths) > 1))
        case Join():
            return f" {relation.how}"
        case FirstRows():
            return f" {relation.count}"
        case GroupAggregate() | Reduce():
            return f" {', '.join(dict.fromkeys(value.method for value in relation.values))}"
    return ""
