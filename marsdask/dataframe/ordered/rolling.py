"""Rolling windows: statistics of the rows around each row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Generic, Protocol
from typing import cast as typed

import numpy as np
import pandas as pd

from marsdask.core.collection import wrap
from marsdask.core.compilation.costs import kernel
from marsdask.core.public import public_methods

from ..frame_node import S, dtypes_of
from ..rows import concat
from .shift import RowStencil


class RollingMethod(Protocol):
    """A statistic of rolling windows as a method."""

    def __get__(self, obj: Rolling[S], owner: Any, /) -> Callable[..., S]: ...


#: Keywords of pandas that are not supported.
ABSENT = ("win_type", "on", "closed", "step")


@kernel(scratch=3.0)
def roll_chunk(
    parts: list[Any],
    own: Any,
    begin: int,
    *,
    name: str,
    how: tuple[tuple[str, Any], ...],
    options: tuple[tuple[str, Any], ...],
) -> Any:
    """Return a statistic of the window of each row of a chunk."""
    windows = concat(parts).rolling(**dict(how))
    found = getattr(windows, name)(**dict(options))
    return found.iloc[begin : begin + len(own)].set_axis(own.index)


def aggregation(name: str) -> RollingMethod:
    """Return the statistic of that name as a method."""

    def call(self: Any, **options: Any) -> Any:
        for keyword in ("engine", "engine_kwargs"):
            if options.pop(keyword, None) is not None:
                raise NotImplementedError(
                    f"rolling().{name}({keyword}=) is not supported; use its default"
                )
        return self._aggregated(name, options)

    call.__name__ = name
    call.__doc__ = f"Return the {name} of each row's window. See pandas Rolling.{name}."
    return typed("RollingMethod", call)


@public_methods
class Rolling(Generic[S]):
    """The windows of rows around each row."""

    def __init__(self, obj: S, window: int, min_periods: int | None, center: bool) -> None:
        self._obj = obj
        self._window = window
        self._how: dict[str, Any] = {"window": window, "min_periods": min_periods, "center": center}
        obj.node.meta.rolling(**self._how)  # raises at once, as in pandas

    def __getitem__(self, key: Any) -> Rolling[Any]:
        """Return the windows of some columns."""
        return Rolling(self._obj[key], **self._how)

    def _aggregated(self, name: str, options: dict[str, Any]) -> Any:
        others = max(0, self._window - 1)
        after = others // 2 if self._how["center"] else 0
        kwargs = {
            "name": name,
            "how": tuple(self._how.items()),
            "options": tuple(sorted(options.items())),
        }
        depth = (others - after, after)
        node = RowStencil(self._obj.node, roll_chunk, depth, name, tuple(kwargs.items()))
        _check_types(self._obj.node.meta, name, options)
        return wrap(node)

    sum: Final = aggregation("sum")
    mean: Final = aggregation("mean")
    min: Final = aggregation("min")
    max: Final = aggregation("max")
    count: Final = aggregation("count")
    var: Final = aggregation("var")
    std: Final = aggregation("std")


def _check_types(meta: Any, name: str, options: dict[str, Any]) -> None:
    """Raise at once for types for which pandas raises if there are rows."""
    if name == "count" or options.get("numeric_only"):
        return
    for dtype in dtypes_of(meta):
        if not pd.api.types.is_numeric_dtype(dtype):
            raise pd.errors.DataError(f"Cannot aggregate non-numeric type: {dtype}")


def rolling(
    obj: S, window: Any, min_periods: Any = None, center: bool = False, **options: Any
) -> Rolling[S]:
    """Return windows of a number of rows. See pandas.DataFrame.rolling."""
    if not isinstance(window, int | np.integer) or isinstance(window, bool):
        raise NotImplementedError(
            "rolling() by time or by an indexer is not supported; use a number of rows"
        )
    for keyword in ABSENT:
        if options.pop(keyword, None) is not None:
            raise NotImplementedError(f"rolling({keyword}=) is not supported; use its default")
    if options.pop("method", "single") != "single":
        raise NotImplementedError(
            "rolling(method='table') is not supported; use one column at a time"
        )
    if options:
        raise TypeError(f"rolling() got an unexpected keyword argument {next(iter(options))!r}")
    return Rolling(obj, int(window), min_periods, center)
