"""A pytest plugin: pandas's own tests get frames of ours, in chunks of three rows as they are."""

from __future__ import annotations

from typing import Any

import pandas as pd

import marsdask
import marsdask.dataframe as namespace

__all__ = ["namespace", "of_pandas"]

#: Rows of a chunk, and chunks of a frame at most: a test of a thousand rows is no test of chunks.
ROWS, CHUNKS = 3, 8

marsdask.options.coalesce = False


def of_pandas(value: pd.DataFrame | pd.Series) -> Any:
    """Return a frame or series of ours."""
    rows = max(ROWS, -(-len(value) // CHUNKS))
    return getattr(namespace, type(value).__name__)(value, chunk_size=rows)
