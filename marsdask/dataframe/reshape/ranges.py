"""Regular dates, durations and periods as row labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from marsdask.core.public import public_call

from ..create import in_memory

if TYPE_CHECKING:
    from ..index import Index


def _lazy(labels: Any, chunk_size: Any) -> Index:
    found: Index = in_memory(labels, chunk_size, None, copy=True)
    return found


@public_call
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
    return _lazy(pd.date_range(start, end, periods, freq, **options), chunk_size)


@public_call
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
    return _lazy(pd.bdate_range(start, end, periods, freq, **options), chunk_size)


@public_call
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
    named: Any = {"start": start, "end": end, "periods": periods, "freq": freq, **options}
    return _lazy(pd.timedelta_range(**named), chunk_size)


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
    return _lazy(pd.period_range(start, end, periods, freq, name), chunk_size)


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
    given: Any = {"start": start, "end": end, "periods": periods, "freq": freq, "name": name}
    given["closed"] = closed
    return _lazy(pd.interval_range(**given), chunk_size)
