"""Rows without those that repeat others."""

from __future__ import annotations

from collections.abc import Sequence

from .expression import has_gaps
from .relation import DistinctOn, Table


def distinct(table: Table, places: Sequence[int], keep: str) -> Table | None:
    """Return the first or last of the rows that are equal in the columns at some places."""
    table = table.labelled()
    subset = [table.columns[place] for place in places]
    if any(one is None or has_gaps(one) for one in subset):
        return None
    whole = Table(table.relation, (*table.columns, *(table.labels or ())))
    below, columns = whole.projected(f"{table.relation.token_name}:distinct ")
    keys = tuple(one for place in places if (one := columns[place]) is not None)
    count = len(table.columns)
    return Table(DistinctOn(below, keys, keep), columns[:count], columns[count:])
