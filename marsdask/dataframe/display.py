"""Text and HTML of frames, series and indexes, as in pandas; only printed rows are fetched."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import Any

import pandas as pd
from dask.utils import format_bytes

from marsdask.core.display.notebook import card, number, quantity

from .nodes.frame_node import row_bytes

#: The most partitions listed for an object that was not executed.
MOST_PARTITIONS = 6
#: The most columns listed if the option ``display.max_columns`` is not set.
MOST_COLUMNS = 20
#: Stands for omitted items.
MORE = "\N{HORIZONTAL ELLIPSIS}"


def representation(rows: Any) -> str:
    """Return the text of an executed object, as in pandas."""
    block, complete = _shown(rows)
    if complete:
        return repr(block)
    length = rows.shape[0]
    if isinstance(block, pd.DataFrame):
        with pd.option_context("display.max_rows", _few(), "display.min_rows", _few()):
            text = repr(block).rpartition("\n\n[")[0]
        return f"{text}\n\n[{length} rows x {block.shape[1]} columns]"
    if isinstance(block, pd.Series):
        text = block.to_string(max_rows=_few(), dtype=False, name=False, length=False)
        name = "" if block.name is None else f"Name: {block.name}, "
        return f"{text}\n{name}Length: {length}, dtype: {block.dtype}"
    half = len(block) // 2
    first, last = (", ".join(map(repr, part)) for part in (block[:half], block[half:]))
    return f"{type(block).__name__}([{first}, ..., {last}], dtype='{block.dtype}', length={length})"


def html(rows: Any) -> str:
    """Return a table of the first and last rows, or of the columns if not executed."""
    if not rows._is_executed():
        return _outline(rows)
    block, complete = _shown(rows)
    if complete and isinstance(block, pd.DataFrame):
        return str(_html_of(block))
    if isinstance(block, pd.DataFrame):
        with pd.option_context("display.max_rows", _few(), "display.min_rows", _few()):
            table = str(_html_of(block))
        return table.replace(f"<p>{len(block)} rows", f"<p>{rows.shape[0]} rows")
    return f"<pre>{escape(representation(rows))}</pre>"


def _html_of(frame: Any) -> str | None:
    """Return the table that notebooks show of a frame of pandas."""
    table: str | None = frame._repr_html_()
    return table


def _outline(rows: Any) -> str:
    """Return a table of the columns, their types and the partitions."""
    node = rows.node
    columns = _columns_of(node.meta)
    length, count = rows.shape[0], len(node.chunks[0])
    facts = [node.label, quantity(length, "row"), quantity(count, "partition")]
    if isinstance(node.meta, pd.DataFrame):
        facts.insert(2, quantity(len(columns), "column"))
    if not math.isnan(length):
        facts.append(f"about {format_bytes(int(length * row_bytes(node.meta)))}")
    columns = _shortened(columns, pd.get_option("display.max_columns") or MOST_COLUMNS)
    names, dtypes = zip(*columns, strict=True) if columns else ((), ())
    partitions = _shortened([*enumerate(rows.chunks[0])], MOST_PARTITIONS)
    cells = "<td>\N{HORIZONTAL ELLIPSIS}</td>" * len(columns)
    body = [
        f"<tr><th>{i}</th><td>{size if i == MORE else number(size)}</td>{cells}</tr>"
        for i, size in partitions
    ]
    table = (
        '<table class="dataframe" border="1"><thead>'
        f"<tr><th>partition</th><th>rows</th>{_cells('th', names)}</tr>"
        f"<tr><th></th><th></th>{_cells('th', dtypes)}</tr>"
        f"</thead><tbody>{''.join(body)}</tbody></table>"
    )
    return card(type(rows).__name__, facts, table, executed=False)


def _columns_of(meta: Any) -> list[tuple[Any, Any]]:
    """Return the label and the type of each column, or those of a series or an index."""
    if isinstance(meta, pd.DataFrame):
        return list(zip(meta.columns, meta.dtypes, strict=True))
    if isinstance(meta, pd.MultiIndex):
        return list(zip(meta.names, meta.dtypes, strict=True))
    return [("" if meta.name is None else meta.name, meta.dtype)]


def _shortened(items: list[tuple[Any, Any]], most: int) -> list[tuple[Any, Any]]:
    """Omit the middle of a long list."""
    if len(items) <= most:
        return items
    return [*items[: most - most // 2], (MORE, MORE), *items[len(items) - most // 2 :]]


def _cells(tag: str, values: Sequence[Any]) -> str:
    return "".join(f"<{tag}>{escape(str(value))}</{tag}>" for value in values)


def _few() -> int:
    """Return the number of rows that pandas prints of a long object."""
    most: int = pd.get_option("display.max_rows") or 60
    return min(most, pd.get_option("display.min_rows") or most)


def _shown(rows: Any) -> tuple[Any, bool]:
    """Return the printed part of the value, and whether it is all of it."""
    most = pd.get_option("display.max_rows")
    if most is None or rows.shape[0] <= most:
        return rows.fetch(), True
    # One row more than is printed, so that pandas shows an ellipsis.
    half = _few() // 2
    is_index = isinstance(rows.node.meta, pd.Index)
    return rows._corners([(half if is_index else half + 1, half)]), False
