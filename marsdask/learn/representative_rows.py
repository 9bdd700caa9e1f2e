"""A few rows with the statistics of all: scikit-learn learns from them what it would of all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd

from marsdask.core.collection import Collection


def like_columns(X: Any, values: Any) -> Any:
    """Return a few rows of numbers in memory, with the names of the columns of lazy samples."""
    meta = X.node.meta
    return pd.DataFrame(values, columns=meta.columns) if isinstance(meta, pd.DataFrame) else values


def result_of(call: Callable[[Any], Any], X: Any, sample: Any) -> Any:
    """Return what a method gives for ``sample``, made-up rows of the type of lazy samples.

    If it refuses their values, the first row of the samples is computed.
    """
    try:
        return call(sample)
    except ValueError:
        return call(first_row(X))


def first_row(X: Any) -> Any:
    """Return the first row of lazy samples, in memory."""
    row = X.head(1) if isinstance(X.node.meta, pd.DataFrame | pd.Series) else X[:1]
    return row.compute() if isinstance(row, Collection) else row
