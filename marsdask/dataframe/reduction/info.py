"""``info``: a summary of columns as text."""

from __future__ import annotations

import io
import sys
from collections import Counter
from typing import Any, TextIO

import numpy as np
import pandas as pd

from marsdask.core.collection import execute

from ..nodes.frame_node import dtypes_of
from .fold import FrameFold
from .properties import memory_usage as bytes_of
from .reductions import collection_of


def ends_of(block: Any) -> Any:
    """Return the number of rows of a chunk, the first label and the last one."""
    return len(block), block.index[0], block.index[-1]


def join_ends(a: Any, b: Any) -> Any:
    """Join the ends of two runs of rows."""
    return a[0] + b[0], a[1], b[2]


def finish_ends(found: Any) -> Any:
    """Return the number of rows and the ends as a series."""
    values = np.empty(3, object)
    values[:] = found or (0, None, None)
    return pd.Series(values)


def info(
    obj: Any,
    verbose: bool | None = None,
    buf: TextIO | None = None,
    max_cols: int | None = None,
    memory_usage: bool | str | None = None,
    show_counts: bool | None = None,
) -> None:
    """Write a summary: labels, types, values that are there, and bytes. See pandas.DataFrame.info.

    Computes the counts, the ends of the labels and the bytes, in one run.
    """
    meta = obj.node.meta
    if max_cols is not None and meta.ndim == 1:
        raise ValueError(
            "Argument `max_cols` can only be passed in DataFrame.info, not Series.info"
        )
    steps = (ends_of, join_ends, finish_ends)
    ends: Any = collection_of(
        FrameFold(pd.Series([], dtype=object), 3, False, "info", obj.node, steps)
    )
    parts = [ends, obj.count(), bytes_of(obj, deep=memory_usage == "deep")]
    execute(*parts)
    (rows, first, last), counts, sizes = (part.fetch() for part in parts)
    lines = [str(type(obj)), _index_line(meta.index, rows, first, last)]
    columns = len(dtypes_of(meta))
    most = pd.get_option("display.max_info_columns") if max_cols is None else max_cols
    if show_counts is None:
        show_counts = columns <= most and rows < pd.get_option("display.max_info_rows")
    if not columns:
        lines.append("Empty DataFrame")
    elif verbose is False or (verbose is None and columns > most):
        first_label, last_label = _text(meta.columns[0]), _text(meta.columns[-1])
        lines.append(f"Columns: {columns} entries, {first_label} to {last_label}")
    else:
        lines += _table(meta, np.atleast_1d(counts) if show_counts else None)
    if columns:
        lines += _totals(meta, int(np.sum(sizes)), memory_usage)
    (buf or sys.stdout).write("\n".join(lines) + ("\n" if memory_usage is not False else ""))


def _text(label: Any) -> str:
    return str(label)


def _index_line(index: Any, rows: int, first: Any, last: Any) -> str:
    kind = type(index).__name__
    if not rows:
        return f"{kind}: 0 entries"
    ends = [first, last]
    labels = pd.MultiIndex.from_tuples(ends) if index.nlevels > 1 else pd.Index(ends, index.dtype)
    text = io.StringIO()
    pd.DataFrame(index=labels).info(buf=text)
    return f"{kind}: {rows} entries, {text.getvalue().splitlines()[1].partition(', ')[2]}"


def _table(meta: Any, counts: Any) -> list[str]:
    """Return the lines of a table of the columns."""
    dtypes = [str(dtype) for dtype in map(_name, dtypes_of(meta))]
    columns = {"Dtype": dtypes}
    if counts is not None:
        columns = {"Non-Null Count": [f"{count} non-null" for count in counts], **columns}
    if meta.ndim == 1:
        head = [f"Series name: {meta.name}"]
    else:
        head = [f"Data columns (total {len(dtypes)} columns):"]
        numbers = [f" {at}" for at in range(len(dtypes))]
        columns = {" # ": numbers, "Column": list(map(_text, meta.columns)), **columns}
    widths = {title: max(map(len, [title, *cells])) for title, cells in columns.items()}
    table = [
        [*columns],
        ["-" * len(title) for title in columns],
        *map(list, zip(*columns.values(), strict=True)),
    ]
    return head + [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths.values(), strict=True))
        for row in table
    ]


def _name(dtype: Any) -> str:
    return "category" if isinstance(dtype, pd.CategoricalDtype) else str(dtype)


def _totals(meta: Any, size: int, memory_usage: bool | str | None) -> list[str]:
    """Return the lines of how often each type occurs, and of the bytes."""
    names = Counter(map(_name, dtypes_of(meta)))
    lines = ["dtypes: " + ", ".join(f"{name}({count})" for name, count in sorted(names.items()))]
    if memory_usage is False:
        return lines
    objects = "object" in names or meta.index.dtype == object
    more = "+" if objects and memory_usage != "deep" else ""
    value, units = float(size), iter(["bytes", "KB", "MB", "GB", "TB", "PB"])
    unit = next(units)
    while value >= 1024:
        value, unit = value / 1024, next(units)
    return [*lines, f"memory usage: {value:3.1f}{more} {unit}"]
