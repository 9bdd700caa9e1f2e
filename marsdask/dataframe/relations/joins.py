"""Two tables side by side where their keys agree."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .expression import Column, Expression, has_gaps, kind_of
from .relation import Join, Table


def join(
    left: Table,
    right: Table,
    keys: tuple[Sequence[int], Sequence[int]],
    how: str,
    shared: Collection[int],
) -> Table | None:
    """Return the rows of two tables whose keys agree, in pandas's order.

    ``keys`` are places of columns of each side. ``shared`` are the right ones that the result
    has once.
    """
    left_on, right_on = keys
    first = [left.columns[place] for place in left_on]
    second = [right.columns[place] for place in right_on]
    if not all(map(_comparable, first, second)):
        return None
    below, mine = left.projected(f"{left.relation.token_name}:left ")
    source, theirs = right.projected(f"{right.relation.token_name}:right ")
    relation = Join(
        below,
        source,
        tuple(term for place in left_on if (term := mine[place]) is not None),
        tuple(term for place in right_on if (term := theirs[place]) is not None),
        how,
    )
    theirs = tuple(term if term is None or how == "inner" else _with_gaps(term) for term in theirs)
    columns = [term for place, term in enumerate(theirs) if place not in shared]
    return Table(relation, (*mine, *columns))


def right_join(
    left: Table,
    right: Table,
    keys: tuple[Sequence[int], Sequence[int]],
    shared: Collection[int],
) -> Table | None:
    """Return all rows of the right table beside those of the left one with equal keys.

    Columns that the result has once have the values of the right side.
    """
    left_on, right_on = keys
    once = dict(zip(left_on, right_on, strict=True))
    once = {mine: theirs for mine, theirs in once.items() if theirs in shared}
    table = join(right, left, (right_on, left_on), "left", ())
    if table is None or any(_types(left, item) != _types(right, once[item]) for item in once):
        return None
    count = len(right.columns)
    theirs, mine = table.columns[:count], table.columns[count:]
    first = [theirs[once[at]] if at in once else item for at, item in enumerate(mine)]
    last = [item for at, item in enumerate(theirs) if at not in shared]
    return Table(table.relation, (*first, *last))


def _types(table: Table, place: int) -> Any:
    column = table.columns[place]
    return None if column is None else column.dtype


def _comparable(one: Expression | None, other: Expression | None) -> bool:
    """Tell whether all engines agree on which keys are equal."""
    if one is None or other is None or has_gaps(one) or has_gaps(other):
        return False
    kinds = kind_of(one.dtype) + kind_of(other.dtype)
    return kinds in {"ii", "ss"} or (one.dtype == other.dtype and kinds in {"uu", "ff", "MM", "bb"})


def _with_gaps(column: Column) -> Column:
    """Return a column of which some values may be missing where no row was found."""
    plain = isinstance(column.dtype, np.dtype) and column.dtype.kind in "iub"
    return replace(column, full=False, gaps=column.gaps or plain)
