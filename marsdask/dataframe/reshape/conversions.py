"""Numbers and times of texts."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, overload
from typing import cast as typed

import numpy as np
import pandas as pd
from pandas.api.extensions import no_default
from pandas.tseries.api import guess_datetime_format

from marsdask.core.arguments import plain_values
from marsdask.core.collection import Collection
from marsdask.core.public import public_call
from marsdask.tensor import tensor

from ..create import in_memory, series_from_tensor
from ..elementwise.rowwise import Unsettled, rowwise
from ..labels.index_methods import as_index, column
from ..tensors import to_tensor
from ..whole.fallback import function_with_fallback

if TYPE_CHECKING:
    from ..frame import DataFrame
    from ..series import Series

#: Texts that are missing times.
NO_TIMES = ["", "NaT", "nat", "NAT", "nan", "NaN", "NAN"]


@dataclass(frozen=True)
class Conversion(Unsettled):
    """Calls a function of pandas whose result has another type for other values."""

    by_rows: ClassVar[bool] = True

    name: str

    @property
    def __name__(self) -> str:
        return self.name

    def __call__(self, block: Any, **kwargs: Any) -> Any:
        if "tz" not in kwargs:
            return getattr(pd, self.name)(block, **kwargs)
        return with_zone(block, **kwargs)

    def general(self, found: Any, *metas: Any, **kwargs: Any) -> Any:
        """Return the types to announce: numbers that texts tell may be floats."""
        if self.name != "to_numeric":
            return in_usual_unit(found, metas[0], kwargs)
        if metas[0].dtype.kind in "iufcb":
            return found
        dtypes = {"Int64": "Float64", "int64[pyarrow]": "double[pyarrow]"}
        if isinstance(found.dtype, np.dtype):
            return found.astype(float)
        return found.astype(dtypes.get(str(found.dtype), found.dtype))


def in_usual_unit(found: Any, meta: Any, options: dict[str, Any]) -> Any:
    """Return times in the unit that most values have, which that of no rows is not."""
    are_times = isinstance(found, pd.Series) and found.dtype.kind in "mM"
    kind = meta.dtype.kind if isinstance(meta, pd.Series) else "M"
    if not are_times or kind in "mM":
        return found
    is_count = kind in "iu" and "format" not in options
    counts = kind == "f" or (is_count and options.get("unit") in {None, "ns"})
    return found.dt.as_unit("ns" if counts else "us")


def with_zone(block: Any, tz: Any, **options: Any) -> Any:
    """Return the times that texts tell: all have one time zone, or none."""
    times: Any = pd.to_datetime(block, **options)
    if times.dtype.kind != "M" or times.dt.tz == tz:
        return times
    if times.notna().any():
        raise ValueError(
            "Mixed timezones detected. Pass utc=True in to_datetime or tz='UTC' in DatetimeIndex "
            "to convert to a common timezone."
        )
    return times.dt.tz_localize(tz)


def is_lazy(arg: Any) -> bool:
    """Tell whether an argument has rows that are not in memory."""
    return isinstance(arg, Collection) and bool(arg.node.chunks)


def of_memory(name: str, arg: Any, *args: Any, **options: Any) -> Any:
    """Return what a function of pandas makes of values in memory.

    Rows, labels and arrays are lazy. Scalars and categories are not.
    """
    values = arg.compute() if isinstance(arg, Collection) else plain_values(arg)
    return as_lazy(getattr(pd, name)(values, *args, **options))


def as_lazy(found: Any) -> Any:
    """Return rows, labels and arrays in memory as lazy ones, and others as they are."""
    if isinstance(found, pd.DataFrame | pd.Series | pd.Index):
        return in_memory(found, None, None, copy=True)
    return tensor(found) if isinstance(found, np.ndarray) else found


def _converted(name: str, arg: Any, options: dict[str, Any]) -> Any:
    """Return what a function of pandas makes of lazy values: labels of labels and of arrays."""
    meta = arg.node.meta
    if isinstance(meta, pd.Series):
        return rowwise(Conversion(name), arg, **options)
    if meta.ndim > 1:
        getattr(pd, name)(meta, **options)  # raises
    rows = column(arg) if isinstance(meta, pd.Index) else series_from_tensor(arg)
    result = rowwise(Conversion(name), rows, **options)
    if name != "to_numeric" or isinstance(meta, pd.Index):
        return as_index(result)
    if meta.dtype.kind not in "iufcb":
        raise NotImplementedError(
            "to_numeric() of a lazy array of texts is not supported; use md.Series(x)"
        )
    return to_tensor(result)


@overload
def to_numeric(
    arg: Series, errors: str = ..., downcast: str | None = ..., dtype_backend: Any = ...
) -> Series: ...
@overload
def to_numeric(
    arg: Any, errors: str = ..., downcast: str | None = ..., dtype_backend: Any = ...
) -> Any: ...
@public_call
@function_with_fallback
def to_numeric(
    arg: Any, errors: str = "raise", downcast: str | None = None, dtype_backend: Any = no_default
) -> Any:
    """Return the numbers that texts tell. See pandas.to_numeric.

    With ``downcast`` it computes, at the call, whether all values fit.
    """
    options: dict[str, Any] = {"errors": errors}
    if dtype_backend is not no_default:
        options["dtype_backend"] = dtype_backend
    if not is_lazy(arg):
        return of_memory("to_numeric", arg, downcast=downcast, **options)
    if downcast not in {None, "integer", "signed", "unsigned", "float"}:
        raise ValueError("invalid downcasting method provided")
    numbers = _converted("to_numeric", arg, options)
    if downcast is None:
        return numbers
    if not isinstance(arg.node.meta, pd.Series):
        raise NotImplementedError(
            "to_numeric(downcast=) of lazy labels and arrays is not supported; use a Series"
        )
    return _downcast(numbers, downcast)


def _downcast(numbers: Any, downcast: str) -> Series:
    """Return numbers in the smallest type that holds all of them."""
    names = rowwise(downcast_names, numbers, downcast=downcast).unique().compute()
    dtypes: list[Any] = [pd.api.types.pandas_dtype(name) for name in names]
    kind = {"unsigned": "u", "float": "f"}.get(downcast, "i")
    if not dtypes:
        empty: Any = numbers.node.meta
        dtypes = [pd.to_numeric(empty, downcast=typed("Any", downcast)).dtype]
    if {dtype.kind for dtype in dtypes} != {kind}:
        rows: Series = numbers
        return rows
    result: Series = numbers.astype(max(dtypes, key=lambda dtype: dtype.itemsize))
    return result


def downcast_names(block: Any, downcast: Any) -> Any:
    """Return, once for each row, the smallest type that holds all numbers of a chunk."""
    numbers: Any = pd.to_numeric(block, downcast=downcast)
    return pd.Series(str(numbers.dtype), block.index, dtype="str")


@overload
def to_datetime(
    arg: DataFrame | Series,
    errors: str = ...,
    dayfirst: bool = ...,
    yearfirst: bool = ...,
    utc: bool = ...,
    format: str | None = ...,
    exact: Any = ...,
    unit: str | None = ...,
    origin: Any = ...,
    cache: bool = ...,
) -> Series: ...
@overload
def to_datetime(
    arg: Any,
    errors: str = ...,
    dayfirst: bool = ...,
    yearfirst: bool = ...,
    utc: bool = ...,
    format: str | None = ...,
    exact: Any = ...,
    unit: str | None = ...,
    origin: Any = ...,
    cache: bool = ...,
) -> Any: ...
@public_call
@function_with_fallback
def to_datetime(
    arg: Any,
    errors: str = "raise",
    dayfirst: bool = False,
    yearfirst: bool = False,
    utc: bool = False,
    format: str | None = None,
    exact: Any = no_default,
    unit: str | None = None,
    origin: Any = "unix",
    cache: bool = True,
) -> Any:
    """Return the times that texts, numbers or columns tell. See pandas.to_datetime.

    It computes the first text at the call, which tells the format, and the time zone. With a
    ``format`` that has no time zone it computes nothing.
    """
    flags = {"dayfirst": dayfirst, "yearfirst": yearfirst, "utc": utc, "cache": cache}
    options: dict[str, Any] = {"errors": errors, **{key: on for key, on in flags.items() if on}}
    options |= {} if format is None else {"format": format}
    options |= {} if exact is no_default else {"exact": exact}
    options |= {} if unit is None else {"unit": unit}
    options |= {} if isinstance(origin, str) and origin == "unix" else {"origin": origin}
    if not is_lazy(arg):
        return of_memory("to_datetime", arg, **options)
    meta = arg.node.meta
    if isinstance(meta, pd.DataFrame):
        of_columns: Series = rowwise(Conversion("to_datetime"), arg, **options)
        return of_columns
    text = isinstance(meta.dtype, pd.StringDtype) or meta.dtype.kind in "OUS"
    zoned = format in {None, "ISO8601", "mixed"} or "%z" in format.lower()
    if text and unit is None and meta.ndim == 1 and zoned:
        first = _first_times(arg)
        if format is None:
            options["format"] = _format_of(first, dayfirst=dayfirst)
        if not utc and first:
            options |= _zone(arg, first, options)
    return _converted("to_datetime", arg, options)


def _first_times(values: Any, options: dict[str, Any] | None = None) -> list[Any]:
    """Return the first two values that are there, or that ``options`` convert."""
    meta = values.node.meta
    texts: Any = series_from_tensor(values) if isinstance(meta, np.ndarray) else values
    texts = column(values) if isinstance(meta, pd.Index) else texts
    if options is None:
        texts = texts[~(texts.isna() | texts.isin(NO_TIMES))]
    else:
        texts = texts[rowwise(Conversion("to_datetime"), texts, **options, utc=True).notna()]
    first: list[Any] = texts.head(2).compute().to_list()
    return first


def _zone(values: Any, first: list[Any], options: dict[str, Any]) -> dict[str, Any]:
    """Return the time zone that all times have to have, the one of the first."""
    first = _first_times(values, options) if options["errors"] == "coerce" else first
    with suppress(ValueError, TypeError):  # these the conversion raises
        times: Any = pd.to_datetime(first[:1], **options)
        return {"tz": times.tz} if len(times) else {}
    return {}


def _format_of(first: list[Any], *, dayfirst: bool) -> str:
    """Return the format of the first time, as pandas guesses it."""
    if not first:
        return "ISO8601"  # of no text the format does not matter
    if type(first[0]) is not str:
        return "mixed"
    if (guess := guess_datetime_format(first[0], dayfirst=dayfirst)) is not None:
        return guess
    pd.to_datetime(first, errors="coerce", dayfirst=dayfirst)  # warns
    return "mixed"


@overload
def to_timedelta(arg: Series, unit: str | None = ..., errors: str = ...) -> Series: ...
@overload
def to_timedelta(arg: Any, unit: str | None = ..., errors: str = ...) -> Any: ...
@public_call
@function_with_fallback
def to_timedelta(arg: Any, unit: str | None = None, errors: str = "raise") -> Any:
    """Return the durations that texts or numbers tell. See pandas.to_timedelta."""
    options = {"unit": unit, "errors": errors}
    if not is_lazy(arg):
        return of_memory("to_timedelta", arg, **options)
    return _converted("to_timedelta", arg, options)
