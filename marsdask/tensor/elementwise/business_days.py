"""Business days, and dates as text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from marsdask.core.node import Node

from ..indexing.assignment import into
from ..typing import TensorFunction, public
from .ufuncs import apply


def _calendar(weekmask: Any, holidays: Any, busdaycal: Any) -> dict[str, Any]:
    """Return the arguments for working days as arrays: NumPy's calendars do not pickle."""
    if busdaycal is None:
        return {
            # NumPy asks a sequence for its length and items: lazy ones it would never end.
            "weekmask": weekmask if isinstance(weekmask, str) else np.array(weekmask),
            "holidays": np.array([] if holidays is None else holidays, "M8[D]"),
        }
    if holidays is not None or not isinstance(weekmask, str) or weekmask != "1111100":
        raise ValueError("Cannot supply both the weekmask/holidays and the busdaycal parameters")
    return {"weekmask": busdaycal.weekmask, "holidays": busdaycal.holidays}


def _days(func: Callable[..., Any], count: int) -> TensorFunction:
    """Return the lazy form of one of NumPy's functions of business days."""

    def lazy(*args: Any, out: Any = None, **kwargs: Any) -> Any:
        settings = ("roll", *_SETTINGS) if func is np.busday_offset else _SETTINGS
        options = {**dict(zip(settings, args[count:], strict=False)), **kwargs}
        roll = {"roll": options.pop("roll")} if "roll" in options else {}
        calendar = _calendar(
            options.pop("weekmask", "1111100"),
            options.pop("holidays", None),
            options.pop("busdaycal", None),
        )
        if options or len(args) < count:
            raise TypeError(f"{func.__name__}() takes {count} arguments, {', '.join(settings)}")
        node = apply(func, *map(_as_days, args[:count]), **roll, **calendar)
        return into(out, node)

    lazy.__name__ = lazy.__qualname__ = func.__name__
    lazy.__doc__ = f"Apply ``{func.__name__}`` to each element. See numpy.{func.__name__}."
    return public(lazy)


_SETTINGS = ("weekmask", "holidays", "busdaycal")


def _as_days(arg: Any) -> Any:
    """Return dates given as text or objects as days."""
    if hasattr(arg, "dtype"):
        return arg
    array = np.asarray(arg)
    return array.astype("M8[D]") if array.dtype.kind in "UOS" else arg


is_busday: Final = _days(np.is_busday, 1)
busday_count: Final = _days(np.busday_count, 2)
busday_offset: Final = _days(np.busday_offset, 2)


@public
def datetime_as_string(
    arr: Any, unit: Any = None, timezone: Any = "naive", casting: Any = "same_kind"
) -> Node:
    """Return dates as text. See numpy.datetime_as_string."""
    how = {"unit": unit, "timezone": timezone, "casting": casting}
    return apply(np.datetime_as_string, arr, **how)
