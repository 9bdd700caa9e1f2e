"""The type that several columns, or labels, have together."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from .dtypes import common_meta


def type_with_columns(dtype: Any, columns: Sequence[Any]) -> Any:
    """Return the type that holds values of a type and those of columns without rows."""
    kinds = {number_type(column.dtype, dtype) for column in columns} - {dtype}
    if not kinds:
        return dtype
    return common_meta([pd.Series([], dtype=kind) for kind in (dtype, *kinds)]).dtype


def number_type(dtype: Any, like: Any) -> Any:
    """Return the least type of numbers for truth values beside numbers, which frames join so."""
    plain = isinstance(like, np.dtype) and like.kind in "iuf"
    flags = plain and isinstance(dtype, np.dtype) and dtype.kind == "b"
    return np.dtype("u1" if like.kind == "u" else "i1") if flags else dtype


def type_with_gaps(dtype: Any) -> Any:
    """Return the type that holds values of a type and missing ones."""
    if not isinstance(dtype, np.dtype) or dtype.kind not in "iub":
        return dtype
    return np.dtype(object if dtype.kind == "b" else float)


def are_objects(kinds: set[Any]) -> bool:
    """Tell whether labels of these types, of each level, are objects together."""
    are_numbers = all(map(is_numeric_dtype, itertools.chain(*kinds)))
    return len({*map(len, kinds)}) > 1 or (len(kinds) > 1 and not are_numbers)
