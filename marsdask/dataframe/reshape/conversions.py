"""Functions of columns: numbers and times of texts, intervals, indicators of categories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from marsdask.core.public import public_call

from ..elementwise.rowwise import Unsettled, rowwise
from ..frame_node import as_node

if TYPE_CHECKING:
    from ..frame import DataFrame
    from ..series import Series


@dataclass(frozen=True)
class Conversion(Unsettled):
    """Calls a function of pandas whose result has another type for other values."""

    name: str

    @property
    def __name__(self) -> str:
        return self.name

    def __call__(self, block: Any, **kwargs: Any) -> Any:
        return getattr(pd, self.name)(block, **kwargs)


def _column(arg: Any, name: str) -> Any:
    meta = as_node(arg).meta
    if not isinstance(meta, pd.Series):
        raise NotImplementedError(
            f"{name}() of {type(meta).__name__} is not supported; use a Series"
        )
    return meta


@public_call
def to_numeric(arg: Series, errors: str = "raise", downcast: str | None = None) -> Series:
    """Return the numbers that texts tell. See pandas.to_numeric."""
    _column(arg, "to_numeric")
    if downcast is not None:
        raise NotImplementedError(
            "to_numeric(downcast=) is not supported, since it looks at all rows; use astype()"
        )
    numbers: Series = rowwise(Conversion("to_numeric"), arg, errors=errors)
    return numbers


@public_call
def to_datetime(arg: Series, errors: str = "raise", **options: Any) -> Series:
    """Return the times that texts or numbers tell. See pandas.to_datetime.

    Differs from pandas: texts need ``format``, which pandas guesses from the first of them.
    """
    meta = _column(arg, "to_datetime")
    text = isinstance(meta.dtype, pd.StringDtype) or meta.dtype == object
    if text and options.get("format") in {None, "mixed"}:
        raise NotImplementedError(
            "to_datetime() of texts without a format is not supported; use to_datetime(format=)"
        )
    times: Series = rowwise(Conversion("to_datetime"), arg, errors=errors, **options)
    return times


@public_call
def cut(x: Series, bins: Any, **options: Any) -> Series:
    """Return the interval of each value. See pandas.cut.

    Differs from pandas: the edges of the intervals are given, not their number.
    """
    _column(x, "cut")
    if np.ndim(bins) == 0 and not isinstance(bins, pd.IntervalIndex):
        raise NotImplementedError(
            "cut() into a number of intervals is not supported; use the edges, as "
            "np.linspace(x.min().compute(), x.max().compute(), bins + 1)"
        )
    if options.get("retbins"):
        raise NotImplementedError("cut(retbins=True) is not supported; use the edges given")
    intervals: Series = rowwise(Conversion("cut"), x, bins=bins, **options)
    return intervals


@public_call
def get_dummies(data: DataFrame | Series, **options: Any) -> DataFrame:
    """Return an indicator column for each category. See pandas.get_dummies.

    Differs from pandas: the columns are categorical, so that their categories are known.
    """
    meta = as_node(data).meta
    frame = meta.to_frame() if isinstance(meta, pd.Series) else meta
    encoded = frame
    if meta.ndim == 2 and options.get("columns") is None:
        encoded = frame.select_dtypes(include=["object", "str", "category"])
    elif meta.ndim == 2:
        encoded = frame[list(options["columns"])]
    if not all(isinstance(dtype, pd.CategoricalDtype) for dtype in encoded.dtypes):
        raise NotImplementedError(
            "get_dummies() of columns without categories is not supported; use "
            "astype(pd.CategoricalDtype(values)) first"
        )
    indicators: DataFrame = rowwise(Conversion("get_dummies"), data, **options)
    return indicators
