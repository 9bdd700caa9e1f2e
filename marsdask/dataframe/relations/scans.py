"""Parquet files as relations."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from .expression import Column, is_supported, kind_of
from .relation import FileScan, Table

#: Names that mean something else in SQL over files.
RESERVED = frozenset({"", "file_index", "file_row_number", "filename"})
#: The units of times that files and engines have in common with pandas.
UNITS = {"ms", "us", "ns"}


def scan(
    paths: tuple[str, ...],
    stamps: tuple[Any, ...],
    footers: Sequence[Any],
    dtypes: pd.Series[Any],
    unclear: Sequence[Hashable],
) -> Table | None:
    """Return the rows of files, ``None`` if they are not all alike.

    ``dtypes`` are pandas's of the columns; those of ``unclear`` ones depend on values.
    """
    first = footers[0].schema.to_arrow_schema()
    if footers[0].num_columns != len(first.names):
        return None
    if any(not item.schema.to_arrow_schema().equals(first) for item in footers[1:]):
        return None
    gaps, spans = _statistics(paths, stamps, tuple(footers))
    columns: list[Column | None] = []
    casts = []
    for label, dtype in dtypes.items():
        name = str(label)
        kind = _kind(first.field(name).type) if name in first.names else None
        if kind is None or name in unclear or not is_supported(dtype) or name != label:
            columns.append(None)
            continue
        columns.append(Column(name, dtype, full=name not in gaps))
        if kind != kind_of(dtype):
            casts.append(name)
    fields = tuple(item for item in columns if item is not None)
    rows = sum(item.num_rows for item in footers)
    distinct = tuple((item.name, spans[item.name]) for item in fields if item.name in spans)
    plain = _are_plain(first.names)
    relation = FileScan(paths, stamps, fields, tuple(casts), rows, distinct, plain)
    return Table(relation, tuple(columns))


def _are_plain(names: Sequence[str]) -> bool:
    """Tell whether SQL can tell columns apart by their names, also from those of rows of files."""
    plain = {name.casefold() for name in names}
    return len(plain) == len(names) and plain.isdisjoint(RESERVED) and "\0" not in "".join(names)


def _kind(kind: Any) -> str | None:
    """Return the kind of an arrow type as a letter; ``None`` for types that pandas changes."""
    import pyarrow as pa

    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return "s"
    if pa.types.is_timestamp(kind):
        return "M" if kind.tz is None and kind.unit in UNITS else None
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind):
        return str(np.dtype(kind.to_pandas_dtype()).kind)
    return None


@lru_cache(maxsize=64)
def _statistics(
    paths: tuple[str, ...], stamps: tuple[Any, ...], footers: tuple[Any, ...]
) -> tuple[frozenset[str], dict[str, int]]:
    """Return the columns that have nulls, or may have some for all that statistics say.

    And how many values each column of integers and truth values has at most.
    """
    del paths, stamps
    gaps = set()
    bounds: dict[str, tuple[int, int] | None] = {}
    for footer in footers:
        names = footer.schema.to_arrow_schema().names
        for number in range(footer.num_row_groups):
            group = footer.row_group(number)
            for place, name in enumerate(names):
                statistics = group.column(place).statistics
                has_count = statistics is not None and statistics.has_null_count
                if not has_count or statistics.null_count:
                    gaps.add(name)
                bounds[name] = _wider(bounds.get(name, ()), statistics)
    spans = {name: limits[1] - limits[0] + 1 for name, limits in bounds.items() if limits}
    return frozenset(gaps), spans


def _wider(bounds: Any, statistics: Any) -> Any:
    """Return bounds that hold a row group's values too; ``None`` where these are not told."""
    if bounds is None or statistics is None or not statistics.has_min_max:
        return None
    limits = statistics.min, statistics.max
    if not all(isinstance(limit, int) for limit in limits):
        return None
    return (min(*limits, *bounds[:1]), max(*limits, *bounds[1:])) if bounds else limits
