"""Choose columns by their types, each once though several may have one label."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype


def columns_where(frame: Any, holds: Callable[[Any], bool]) -> Any:
    """Return the columns for whose types a function holds."""
    dtypes = list(frame.node.meta.dtypes)
    places = [at for at, dtype in enumerate(dtypes) if holds(dtype)]
    return frame if len(places) == len(dtypes) else frame.iloc[:, places]


def numeric_part(frame: Any) -> Any:
    """Return the columns of numbers and truth values: what pandas leaves if ``numeric_only``."""
    return columns_where(frame, is_numeric_dtype)


def columns_labelled(frame: Any, labels: pd.Index) -> Any:
    """Return the columns of some labels; in the labels' order, if no column has that of another."""
    own = frame.node.meta.columns
    if own.is_unique:
        return frame[list(labels)]
    return frame.iloc[:, np.flatnonzero(own.isin(labels)).tolist()]
