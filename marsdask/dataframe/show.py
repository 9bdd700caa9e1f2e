"""Texts of executed frames, from their first and last rows alone."""

from __future__ import annotations

from typing import Any

import pandas as pd


def _ends(obj: Any) -> tuple[Any, int, int]:
    """Return the rows at both ends, how many rows a text shows, and how many there are."""
    length = int(obj.shape[0])
    most = pd.get_option("display.max_rows")
    shown = length if most is None or length <= most else pd.get_option("display.min_rows") or most
    # One more row than is shown on either side, so that pandas writes the dots between.
    edge = shown if shown == length else shown // 2 + 1
    return obj._corners([(edge, 0 if shown == length else edge)]), shown, length


def text(obj: Any) -> str:
    """Return what pandas would print."""
    rows, shown, length = _ends(obj)
    if shown == length:
        return repr(rows)
    if isinstance(rows, pd.DataFrame):
        body = rows.to_string(max_rows=shown, show_dimensions=False)
        return f"{body}\n\n[{length} rows x {rows.shape[1]} columns]"
    if isinstance(rows, pd.Series):
        body = rows.to_string(max_rows=shown)
        name = "" if rows.name is None else f"Name: {rows.name}, "
        return f"{body}\n{name}Length: {length}, dtype: {rows.dtype}"
    return f"{rows!r}\n({length} labels, of which the first and last are shown)"


def html(frame: Any) -> str:
    """Return what pandas would show in a notebook."""
    rows, shown, length = _ends(frame)
    body: str = rows.to_html(max_rows=shown, show_dimensions=False, notebook=True)
    return f"<div>{body}<p>{length} rows × {rows.shape[1]} columns</p></div>"  # noqa: RUF001
