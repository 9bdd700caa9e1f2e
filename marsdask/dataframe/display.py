"""What executed frames, series and indexes show: as pandas prints them, moving a few rows only."""

from __future__ import annotations

from html import escape
from typing import Any

import pandas as pd


def representation(rows: Any) -> str:
    """Return what pandas would say of an executed object's value."""
    shown, complete = _shown(rows)
    if complete:
        return repr(shown)
    length = rows.shape[0]
    if isinstance(shown, pd.DataFrame):
        columns = pd.get_option("display.max_columns")
        text = shown.to_string(max_rows=_few(), max_cols=columns, show_dimensions=False)
        return f"{text}\n\n[{length} rows x {shown.shape[1]} columns]"
    if isinstance(shown, pd.Series):
        text = shown.to_string(max_rows=_few(), dtype=False, name=False, length=False)
        name = "" if shown.name is None else f"Name: {shown.name}, "
        return f"{text}\n{name}Length: {length}, dtype: {shown.dtype}"
    half = len(shown) // 2
    first, last = (", ".join(map(repr, part)) for part in (shown[:half], shown[half:]))
    return f"{type(shown).__name__}([{first}, ..., {last}], dtype='{shown.dtype}', length={length})"


def html(rows: Any) -> str:
    """Return a table of an executed object's first and last rows, or the line that describes it."""
    if not rows._is_executed():
        return f"<pre>{escape(rows._describe())}</pre>"
    shown, complete = _shown(rows)
    if complete and hasattr(shown, "_repr_html_"):
        return str(shown._repr_html_())
    if isinstance(shown, pd.DataFrame):
        table = shown.to_html(max_rows=_few(), max_cols=pd.get_option("display.max_columns"))
        return f"{table}<p>{rows.shape[0]} rows x {shown.shape[1]} columns</p>"
    return f"<pre>{escape(representation(rows))}</pre>"


def _few() -> int:
    """Return how many rows pandas prints of a long object."""
    most: int = pd.get_option("display.max_rows") or 60
    return min(most, pd.get_option("display.min_rows") or most)


def _shown(rows: Any) -> tuple[Any, bool]:
    """Return as much of the value as is printed, and whether that is all of it."""
    most = pd.get_option("display.max_rows")
    if most is None or rows.shape[0] <= most:
        return rows.fetch(), True
    # A row more than is printed, so that pandas sees there is something to leave out.
    half = _few() // 2
    is_index = isinstance(rows.node.meta, pd.Index)
    return rows._corners([(half if is_index else half + 1, half)]), False
