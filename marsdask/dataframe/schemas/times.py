"""Types of points of time: their zones and units."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
import pandas as pd


def in_one_zone(mine: Any, theirs: Any) -> bool:
    """Tell whether the times of two types have one zone, or both none."""
    return bool(zone_of(mine) == zone_of(theirs))


def zone_of(dtype: Any) -> Any:
    """Return the zone of a type of times, ``None`` without one."""
    return dtype.tz if isinstance(dtype, pd.DatetimeTZDtype) else None


def type_of_times(mine: Any, theirs: Any) -> Any:
    """Return the type of merged times: of two zones the left one, else that of the finer unit."""
    is_finer = np.promote_types(mine.base, theirs.base) != mine.base
    return theirs if is_finer and in_one_zone(mine, theirs) else mine


def in_type(frame: Any, key: Hashable, dtype: Any) -> Any:
    """Return rows with the times of a column in a type, if its unit holds all of them."""
    times = frame[key].astype(dtype)
    if len(frame) and not (times.isna() | (times == frame[key])).all():
        return frame
    result = frame.copy(deep=False)
    result[key] = times
    return result
