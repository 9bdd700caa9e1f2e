"""Properties of relations that a result shows: the order of rows, and which of equal ones."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from .expression import Column, Constant, Expression, kind_of
from .relation import (
    DistinctOn,
    FirstRows,
    GroupAggregate,
    Join,
    Number,
    OrderBy,
    Reduce,
    Relation,
    SelectColumns,
    Selection,
    Shift,
)


def ordered(relations: Sequence[Relation], wanted: Collection[str]) -> set[str]:
    """Return the names of relations whose order of rows somebody sees: the last one's, at least."""
    names = {relations[-1].token_name}
    for relation in reversed(relations):
        if _sees_order(relation, wanted):
            names.update(below.token_name for below in relation.inputs)
        elif relation.token_name in names:
            names.update(below.token_name for below in _passed_on(relation))
    return names


def _sees_order(relation: Relation, wanted: Collection[str]) -> bool:
    match relation:
        case Number() | Shift():
            return relation.column.name in wanted
        case GroupAggregate() | Reduce():
            return any(value.method in {"first", "last"} for value in relation.values)
        case DistinctOn():
            return not are_equal(relation, wanted)
        case _:
            return isinstance(relation, FirstRows)


def _passed_on(relation: Relation) -> Sequence[Relation]:
    """Return the inputs whose order is that of the result."""
    match relation:
        case Reduce():
            return ()
        case GroupAggregate():
            return () if relation.sort else (relation.a,)
        case Join() if is_unique(relation.right, relation.right_on):
            return (relation.left,)  # a row of it meets one row, so that no order among these shows
        case _:
            return relation.inputs


def filtered(relations: Sequence[Relation], wanted: Collection[str]) -> set[str]:
    """Return the names of relations into which a condition above them may move."""
    names: set[str] = set()
    for relation in reversed(relations):
        moves = isinstance(relation, SelectColumns | OrderBy | Join)
        moves |= isinstance(relation, Number) and relation.column.name not in wanted
        if isinstance(relation, Selection) or (moves and relation.token_name in names):
            names.update(below.token_name for below in relation.inputs)
    return names


def are_equal(relation: DistinctOn, wanted: Collection[str]) -> bool:
    """Tell whether the rows of which one is kept differ in nothing that somebody reads."""
    keys = {column.name for column in relation.subset}
    return all(name in keys for name, _ in relation.a.columns if name in wanted)


def is_unique(relation: Relation, columns: Sequence[Expression]) -> bool:
    """Tell whether no two rows are equal in some columns."""
    names = {column.name if isinstance(column, Column) else "" for column in columns}
    while True:
        match relation:
            case SelectColumns():
                below = dict(relation.columns)
                terms = [below.get(name) for name in names]
                names = {column.name for column in terms if isinstance(column, Column)}
            case Selection() | OrderBy() | FirstRows() | Number() | Shift():
                pass
            case GroupAggregate():
                return names >= {f"k{place}" for place in range(len(relation.keys))}
            case DistinctOn():
                return names >= {column.name for column in relation.subset}
            case _:
                return False
        relation = relation.a


def is_semi(relation: Join, read: Collection[str]) -> bool:
    """Tell whether a join only keeps rows of the left side: those of which the right has the keys.

    ``read`` are the columns that are read, other than as keys of right sides.
    """
    if relation.how != "inner" or not isinstance(relation.right, SelectColumns):
        return False
    if any(name in read for name, _ in relation.right.columns):
        return False
    return is_unique(relation.right, relation.right_on)


def may_meet_nulls(relation: Join) -> bool:
    """Tell whether keys may be missing on both sides; polars is faster where that is not asked."""
    pairs = zip(relation.left_on, relation.right_on, strict=True)
    return any(not left_key.full and not right_key.full for left_key, right_key in pairs)


def never_null(term: Expression) -> bool:
    """Tell whether no value is null for an engine: missing floats are NaN."""
    return term.full or kind_of(term.dtype) not in "sM"


#: Comparisons of NaN, on the left side or on the right one, where engines agree with pandas.
AS_PANDAS = ({"lt", "le", "eq", "ne"}, {"gt", "ge", "eq", "ne"})


def is_compared_alike(other: Expression, method: str, place: int) -> bool:
    """Tell whether NaN at a place is compared with the other side as pandas does."""
    if isinstance(other, Constant) and other.value != other.value:
        return False
    return method in AS_PANDAS[place] and (
        isinstance(other, Constant) or kind_of(other.dtype) != "f"
    )
