"""Regular dates, durations and periods as row labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pandas as pd

from marsdask.core.collection import wrap
from marsdask.core.public import public_call

from ..arguments.positions import in_positions_of
from ..create import in_memory
from .many_labels import many_labels

if TYPE_CHECKING:
    from ..index import Index


def _lazy(
    make: Callable[..., Any],
    start: Any,
    end: Any,
    periods: Any,
    freq: Any,
    chunk_size: Any,
    options: dict[str, Any],
) -> Index:
    """Return the labels of pandas's function ``make``."""
    many = many_labels(make, start, end, periods, freq, chunk_size, dict(options))
    arguments = {"start": start, "end": end, "periods": periods, "freq": freq, **options}
    labels: Index = (
        in_memory(make(**arguments), chunk_size, None, copy=True) if many is None else wrap(many)
    )
    return labels


@public_call
@in_positions_of(pd.date_range)
def date_range(
    start: Any = None,
    end: Any = None,
    periods: int | None = None,
    freq: Any = None,
    *,
    chunk_size: Any = None,
    **options: Any,
) -> Index:
    """Return regular dates. See pandas.date_range."""
    return _lazy(pd.date_range, start, end, periods, freq, chunk_size, options)


@public_call
@in_positions_of(pd.bdate_range)
def bdate_range(
    start: Any = None,
    end: Any = None,
    periods: int | None = None,
    freq: Any = "B",
    *,
    chunk_size: Any = None,
    **options: Any,
) -> Index:
    """Return business days. See pandas.bdate_range."""
    return _lazy(pd.bdate_range, start, end, periods, freq, chunk_size, options)


@public_call
@in_positions_of(pd.timedelta_range)
def timedelta_range(
    start: Any = None,
    end: Any = None,
    periods: int | None = None,
    freq: Any = None,
    *,
    chunk_size: Any = None,
    **options: Any,
) -> Index:
    """Return regular durations. See pandas.timedelta_range."""
    return _lazy(pd.timedelta_range, start, end, periods, freq, chunk_size, options)


@public_call
def period_range(
    start: Any = None,
    end: Any = None,
    periods: int | None = None,
    freq: Any = None,
    name: Any = None,
    *,
    chunk_size: Any = None,
) -> Index:
    """Return regular periods. See pandas.period_range."""
    return _lazy(pd.period_range, start, end, periods, freq, chunk_size, {"name": name})


@public_call
def interval_range(
    start: Any = None,
    end: Any = None,
    periods: int | None = None,
    freq: Any = None,
    name: Any = None,
    closed: str = "right",
    *,
    chunk_size: Any = None,
) -> Index:
    """Return regular intervals. See pandas.interval_range."""
    options = {"name": name, "closed": closed}
    return _lazy(pd.interval_range, start, end, periods, freq, chunk_size, options)
