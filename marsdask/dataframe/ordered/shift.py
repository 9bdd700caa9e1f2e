"""Shift rows, or subtract shifted rows."""

from __future__ import annotations

import operator
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any

from marsdask.core.collection import wrap
from marsdask.core.compilation.costs import kernel
from marsdask.core.grids.grid import Grid, Look
from marsdask.core.grids.lengths import resolved
from marsdask.core.grids.neighbours import Depth, reaches_far, stencil

from ..elementwise.rowwise import Method, NewLabels, rowwise
from ..frame_node import S, SameRows, axis_number
from ..rows import concat, take


@dataclass(frozen=True, eq=False)
class RowStencil(SameRows):
    """A function of each chunk and of the rows around it; the result has the same rows.

    ``func(parts, own, begin, **kwargs)``: see :func:`.stencil`.
    """

    func: Callable[..., Any]
    depth: Depth
    kwargs: tuple[tuple[str, Any], ...] = ()

    @property
    def meta(self) -> Any:
        return self.func([self.a.meta], self.a.meta, 0, **dict(self.kwargs))

    def tile(self, a: Grid) -> Any:
        # The ends of all chunks would be as large as the chunks.
        return self._looked(a) if reaches_far(a.chunks[0], self.depth) else self.tile_blind(a)

    def _looked(self, a: Grid) -> Generator[Look, Any, Grid]:
        (a,) = yield from resolved(a)
        return self.tile_blind(a)

    def tile_blind(self, a: Grid) -> Grid:
        return stencil(
            a,
            self.depth,
            self.func,
            take=take,
            join=concat,
            kwargs=dict(self.kwargs),
            meta=self.meta,
            itemsize=self.itemsize,
        )


@kernel(scratch=4.0)
def shift_chunk(
    parts: list[Any],
    own: Any,
    begin: int,
    *,
    name: str,
    periods: int,
    options: tuple[tuple[str, Any], ...] = (),
) -> Any:
    """Call ``shift`` or ``diff`` on a chunk and on the rows ``periods`` before its own."""
    count = len(own)
    if not periods or not count:
        return getattr(own, name)(periods, **dict(options))
    first = begin - periods
    met = take(concat(parts), slice(max(first, 0), max(first + count, 0)))
    # Shifting by the length of the chunk is right even if some of the other rows do not exist.
    if periods > 0:
        found = getattr(concat([met, own]), name)(count, **dict(options)).iloc[len(met) :]
    else:
        found = getattr(concat([own, met]), name)(-count, **dict(options)).iloc[:count]
    return found.set_axis(own.index)


def shift(obj: S, periods: Any = 1, freq: Any = None, axis: Any = 0, **options: Any) -> S:
    """Shift the rows by ``periods``, or their times by ``freq``. See pandas.DataFrame.shift."""
    if options.get("suffix") is not None:
        raise NotImplementedError("shift(suffix=) is not supported; use add_suffix() of the result")
    if freq is not None:
        return _shift_labels(obj, periods, freq, axis, options)
    return _shift_rows(obj, "shift", periods, axis, options)


def _shift_labels(obj: S, periods: Any, freq: Any, axis: Any, options: dict[str, Any]) -> S:
    if axis_number(obj.node.meta, axis) == 1 or freq == "infer":
        raise NotImplementedError(
            "shift(freq='infer') and shift(freq=, axis=1) are not supported; use shift(freq='D')"
        )
    found: S = rowwise(NewLabels(Method("shift")), obj, periods=periods, freq=freq, **options)
    return found


def diff(obj: S, periods: Any = 1, axis: Any = 0) -> S:
    """Subtract from each row the one ``periods`` before it. See pandas.DataFrame.diff."""
    return _shift_rows(obj, "diff", periods, axis, {})


def _shift_rows(obj: S, name: str, periods: Any, axis: Any, options: dict[str, Any]) -> S:
    if isinstance(periods, list | tuple):
        raise NotImplementedError(
            f"{name}() by several periods is not supported; use one call for each"
        )
    periods = operator.index(int(periods) if isinstance(periods, float) else periods)
    if axis_number(obj.node.meta, axis) == 1:
        columns: S = rowwise(Method(name), obj, periods=periods, axis=1, **options)
        return columns
    kwargs = {"name": name, "options": tuple(sorted(options.items())), "periods": periods}
    depth = (periods, -periods)
    found: S = wrap(RowStencil(obj.node, name, shift_chunk, depth, tuple(kwargs.items())))
    return found
