"""Numbers and times of texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from typing import cast as typed

import numpy as np
import pandas as pd
from pandas.tseries.api import guess_datetime_format

from marsdask.core.collection import compute
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

    @property
    def by_rows(self) -> bool:
        return True

    def __call__(self, block: Any, **kwargs: Any) -> Any:
        return getattr(pd, self.name)(block, **kwargs)

    def general(self, found: Any, *metas: Any, **kwargs: Any) -> Any:
        """Return the types to announce: numbers that texts tell may be floats."""
        del kwargs
        text = self.name == "to_numeric" and metas[0].dtype.kind not in "iufcb"
        return found.astype(float) if text and isinstance(found.dtype, np.dtype) else found


def _column(arg: Any, name: str) -> Any:
    meta = as_node(arg).meta
    if not isinstance(meta, pd.Series):
        raise NotImplementedError(
            f"{name}() of {type(meta).__name__} is not supported; use a Series"
        )
    return meta


@public_call
def to_numeric(arg: Series, errors: str = "raise", downcast: str | None = None) -> Series:
    """Return the numbers that texts tell. See pandas.to_numeric.

    With ``downcast`` it computes the extremes of the values at the call.
    """
    _column(arg, "to_numeric")
    kinds = {"integer", "signed", "unsigned", "float"}
    if downcast is not None and downcast not in kinds:
        raise ValueError("invalid downcasting method provided")
    if downcast == "float":
        raise NotImplementedError(
            "to_numeric(downcast='float') is not supported, since it looks at all digits; use "
            "astype('float32')"
        )
    numbers: Series = rowwise(Conversion("to_numeric"), arg, errors=errors)
    return numbers if downcast is None else _downcast(numbers, downcast)


def _downcast(numbers: Any, downcast: str) -> Series:
    """Return whole numbers in the smallest type that holds all of them."""
    low, high, whole, count = compute(
        numbers.min(), numbers.max(), (numbers == numbers.round()).all(), numbers.count()
    )
    fits = count and whole and count == len(numbers)
    # The type of the extremes is that of all values between them.
    small: Any = pd.Series([low, high]) if count else numbers.node.meta
    found: Any = pd.to_numeric(small, downcast=typed("Any", downcast))
    cast: Series = numbers.astype(found.dtype) if fits or not len(numbers) else numbers
    return cast


@public_call
def to_datetime(arg: DataFrame | Series, errors: str = "raise", **options: Any) -> Series:
    """Return the times that texts, numbers or columns tell. See pandas.to_datetime.

    Without ``format`` it computes the first text at the call, which tells the format.
    """
    meta = as_node(arg).meta
    if isinstance(meta, pd.DataFrame):
        of_columns: Series = rowwise(Conversion("to_datetime"), arg, errors=errors, **options)
        return of_columns
    _column(arg, "to_datetime")
    text = isinstance(meta.dtype, pd.StringDtype) or meta.dtype == object
    if text and options.get("format") is None and options.get("unit") is None:
        options["format"] = _format_of(arg, dayfirst=options.get("dayfirst", False))
    times: Series = rowwise(Conversion("to_datetime"), arg, errors=errors, **options)
    return times


def _format_of(texts: Any, *, dayfirst: bool) -> str | None:
    """Return the format of the first text that is there, as pandas guesses it."""
    first = texts.dropna().head(1).compute()
    if not len(first):
        return "ISO8601"  # of no text the format does not matter
    if not isinstance(first.iloc[0], str):
        return None
    found = guess_datetime_format(first.iloc[0], dayfirst=dayfirst)
    if found is None:
        raise NotImplementedError(
            f"to_datetime() of texts like {first.iloc[0]!r} is not supported; use "
            "to_datetime(format=)"
        )
    return found


@public_call
def to_timedelta(arg: Series, unit: str | None = None, errors: str = "raise") -> Series:
    """Return the durations that texts or numbers tell. See pandas.to_timedelta."""
    _column(arg, "to_timedelta")
    lengths: Series = rowwise(Conversion("to_timedelta"), arg, unit=unit, errors=errors)
    return lengths
