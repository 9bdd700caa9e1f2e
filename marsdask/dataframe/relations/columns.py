"""Columns chosen, renamed and added, as expressions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .expression import Expression, has_gaps, kind_of
from .functions import Operation, call
from .relation import Shift, Table


def unchanged(operation: Operation) -> Table | None:
    """Translate what gives columns other labels."""
    (table, *_) = operation.args
    return table if isinstance(table, Table) else None


def choose(operation: Operation) -> Table | None:
    """Translate a choice of a column, or of several."""
    (table,) = operation.args
    labels, key = operation.labels, operation.kwargs["key"]
    if labels is None or labels.nlevels > 1 or not labels.is_unique:
        return None
    names = key if isinstance(key, list) else [key]
    if not names:
        return None  # without a column no engine counts rows
    columns = tuple(table.columns[labels.get_loc(name)] for name in names)
    return Table(table.relation, columns, table.labels)


def assign(operation: Operation) -> Table | None:
    """Translate columns added or replaced."""
    table, *values = operation.args
    labels = operation.labels
    if labels is None or labels.nlevels > 1 or not labels.is_unique:
        return None
    columns: dict[object, Expression | None] = dict(zip(labels, table.columns, strict=True))
    for label, value in zip(operation.kwargs["names"], values, strict=True):
        columns[label] = value.columns[0] if isinstance(value, Table) else None
    return Table(table.relation, tuple(columns.values()), table.labels)


def index(operation: Operation) -> Table | None:
    """Translate columns that become the labels of rows."""
    (table,) = operation.args
    labels, kwargs = operation.labels, operation.kwargs
    key = kwargs["key"]
    if labels is None or labels.nlevels > 1 or not labels.is_unique or kwargs["append"]:
        return None
    keys = key if isinstance(key, list) else [key]
    if any(not isinstance(label, str) or label not in labels for label in keys):
        return None
    columns = dict(zip(labels, table.columns, strict=True))
    if any(_is_widened(columns[label]) for label in keys):
        return None
    values = {label: columns[label] for label in columns if not (kwargs["drop"] and label in keys)}
    return Table(table.relation, tuple(values.values()), tuple(columns[label] for label in keys))


def shifted(table: Table, name: str, periods: int, dtypes: Sequence[Any]) -> Table | None:
    """Return the values of rows before, or what is left of each one without them (``diff``)."""
    relation, columns = table.relation, list[Expression | None]()
    for column, dtype in zip(table.columns, dtypes, strict=True):
        if column is None or has_gaps(column) or not _is_shiftable(column.dtype, dtype, name):
            columns.append(None)
            continue
        relation = Shift(relation, column, dtype, periods)
        before = relation.column
        columns.append(before if name == "shift" else call("sub", [column, before]))
    return Table(relation, tuple(columns), table.labels) if any(columns) and periods else None


def _is_shiftable(before: Any, after: Any, name: str) -> bool:
    """Tell whether pandas says the type of the values: before they are known, not of all frames."""
    if name == "diff":
        return bool(before == after == np.float64)
    is_same = before == after and kind_of(before) in "fsmM"
    return bool(is_same or (kind_of(before) in "iu" and after == np.float64))


def _is_widened(column: Expression | None) -> bool:
    """Tell whether pandas makes int64 of a column that becomes labels: of smaller integers."""
    return column is not None and kind_of(column.dtype) == "i" and column.dtype != np.int64
