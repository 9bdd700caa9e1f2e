"""Row groups without a row that meets conditions, by their statistics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from marsdask.core.node import Condition

from .footers import footer
from .layout import ParquetLayout


class GroupOfFile(Protocol):
    """A row group of one of several files."""

    @property
    def file(self) -> int:
        """The number of its file."""

    @property
    def group(self) -> int:
        """Its number in the file."""


def excluded(layout: ParquetLayout, group: GroupOfFile, conditions: Sequence[Condition]) -> bool:
    """Tell whether no row of a row group meets all conditions."""
    file = footer(layout.files, group.file)
    schema, keys = file.schema.to_arrow_schema(), layout.keys
    for label, operator, value in conditions:
        name = layout.names.get(label, label)
        if name in keys.labels:
            only = keys.value(str(name), group.file)
            bounds = None if only is None else (only, only)
        elif name in schema.names and file.num_columns == len(schema.names):
            if not _is_comparable(schema.field(name).type, layout.schema, name, operator):
                continue
            data = file.row_group(group.group).column(schema.names.index(name))
            stats = data.statistics
            bounds = (stats.min, stats.max) if stats is not None and stats.has_min_max else None
        else:
            continue
        if bounds is not None and _excludes(*bounds, operator, value):
            return True
    return False


def _is_comparable(kind: Any, schema: Any, name: Any, operator: str) -> bool:
    """Tell whether statistics compare as the values do which are read.

    The order of categories is not that of their texts, and values of another type may change.
    """
    import pyarrow as pa

    target = schema.field(name).type if name in schema.names else kind
    if pa.types.is_dictionary(kind) and pa.types.is_dictionary(target):
        return operator == "=="
    return bool(kind == target)


def _excludes(least: Any, largest: Any, operator: str, value: Any) -> bool:
    """Tell whether no value between the least and the largest meets a condition."""
    try:
        excludes: bool = {
            "==": least > value or largest < value,
            "<": least >= value,
            "<=": least > value,
            ">": largest <= value,
            ">=": largest < value,
        }.get(operator, False)
    except TypeError:
        return False
    return excludes
