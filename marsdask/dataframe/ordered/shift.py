"""Shift rows, or subtract shifted rows."""

from __future__ import annotations

import operator
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from pandas.api.types import is_float, is_integer, is_list_like

from marsdask.core.collection import wrap
from marsdask.core.grids.grid import Grid, Look
from marsdask.core.grids.lengths import resolved
from marsdask.core.grids.neighbours import Depth, reaches_far, stencil
from marsdask.core.machine.costs import kernel
from marsdask.core.sizes import total

from ..elementwise.rowwise import Method, NewLabels, along_rows, rowwise
from ..nodes.dtypes import OneType
from ..nodes.frame_node import S, SameRows, axis_number, dtypes_of
from ..relations.columns import shifted
from ..relations.relation import Table
from ..rows import concat, take
from ..schemas.samples import sample, without_rows


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

    @property
    def rows_behind(self) -> int | None:
        return max(0, self.depth[1])

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


@dataclass(frozen=True, eq=False)
class ShiftedRows(RowStencil):
    """The rows before or behind each row, or what is left of each row without them."""

    @property
    def meta(self) -> Any:
        """The types of some rows, unless there are none: gaps are no integers."""
        options = dict(self.kwargs)
        by_types = options["name"] == "diff" or total(self.a.chunks[0]) == 0
        rows = self.a.meta if by_types else sample(self.a.meta)
        result = self.func([rows], rows, 0, **options)
        return without_rows(result, self.a.meta)

    def relation(self, inputs: Sequence[Any]) -> Table | None:
        options = dict(self.kwargs)
        if options["options"]:
            return None
        return shifted(inputs[0], options["name"], options["periods"], dtypes_of(self.meta))


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
    if abs(periods) < count and _is_plain(own):
        result = getattr(own, name)(periods, **dict(options))
        edge = _edge(parts, own, begin, name=name, periods=periods, options=options)
        if dtypes_of(result) == dtypes_of(edge):
            return _with_edge(result, edge, periods)
    first = begin - periods
    rows = take(concat(parts), slice(max(first, 0), max(first + count, 0)))
    # Shifting by the length of the chunk is right even if some of the other rows do not exist.
    if periods > 0:
        result = getattr(concat([rows, own]), name)(count, **dict(options)).iloc[len(rows) :]
    else:
        result = getattr(concat([own, rows]), name)(-count, **dict(options)).iloc[:count]
    return result.set_axis(own.index)


def _is_plain(own: Any) -> bool:
    """Tell whether values are numbers or times, in which some can be replaced without a copy."""
    return all(getattr(dtype, "kind", "O") in "iufMm" for dtype in dtypes_of(own))


def _edge(
    parts: list[Any],
    own: Any,
    begin: int,
    *,
    name: str,
    periods: int,
    options: tuple[tuple[str, Any], ...],
) -> Any:
    """Return the results of the rows of a chunk that meet rows outside of it."""
    count = abs(periods)
    end = begin + len(own)
    if periods > 0:
        before = _among(parts, slice(max(begin - count, 0), begin))
        rows, span = [*before, take(own, slice(0, count))], slice(-count, None)
    else:
        after = _among(parts, slice(end, end + count))
        rows, span = [take(own, slice(periods, None)), *after], slice(0, count)
    return getattr(concat(rows), name)(periods, **dict(options)).iloc[span]


def _among(parts: list[Any], rows: slice) -> list[Any]:
    """Return the pieces of parts that have some rows, without joining all parts."""
    pieces = []
    for part in parts:
        here = slice(max(rows.start, 0), max(rows.stop, 0))
        if here.start < min(here.stop, len(part)):
            pieces.append(take(part, here))
        rows = slice(rows.start - len(part), rows.stop - len(part))
    return pieces


def _with_edge(found: Any, edge: Any, periods: int) -> Any:
    """Put the results of the edge among those of a chunk."""
    rows = slice(0, len(edge)) if periods > 0 else slice(len(found) - len(edge), None)
    if found.ndim == 1:
        found.iloc[rows] = edge.to_numpy()
        return found
    for place in range(len(found.columns)):
        found.iloc[rows, place] = edge.iloc[:, place].to_numpy()
    return found


def shift(obj: S, periods: Any = 1, freq: Any = None, axis: Any = 0, **options: Any) -> S:
    """Shift the rows by ``periods``, or their times by ``freq``. See pandas.DataFrame.shift.

    Several periods give the columns of each, side by side; ``freq`` is not supported with them.
    """
    suffix = options.pop("suffix", None)
    if is_list_like(periods):
        several: S = _shift_each(obj, list(periods), freq, axis, suffix, options)
        return several
    if suffix:
        raise ValueError("Cannot specify `suffix` if `periods` is an int.")
    if freq is not None:
        return _shift_labels(obj, periods, freq, axis, options)
    return _shift_rows(obj, "shift", periods, axis, options)


def _shift_each(
    obj: Any, periods: list[Any], freq: Any, axis: Any, suffix: str | None, options: dict[str, Any]
) -> Any:
    """Return the columns shifted by each of several periods."""
    if axis_number(obj.node.meta, axis) == 1:
        raise ValueError("If `periods` contains more than one shift, `axis` cannot be 1.")
    if not periods:
        raise ValueError("If `periods` is an iterable, it cannot be empty.")
    if freq is not None:
        raise NotImplementedError(
            "shift(freq=) by several periods is not supported; use one call for each"
        )
    if wrong := [period for period in periods if not is_integer(period)]:
        raise TypeError(f"Periods must be integer, but {wrong[0]} is {type(wrong[0])}.")
    frame = obj.to_frame() if obj.ndim == 1 else obj
    parts = [_shift_rows(frame, "shift", period, 0, options) for period in periods]
    titles = [f"{suffix}_{period}" if suffix else f"_{period}" for period in periods]
    return rowwise(columns_with_suffixes, *parts, suffixes=titles)


def columns_with_suffixes(*blocks: Any, suffixes: Sequence[str]) -> Any:
    """Return columns side by side, with a suffix for those of each block."""
    parts = zip(blocks, suffixes, strict=True)
    return pd.concat([block.add_suffix(suffix) for block, suffix in parts], axis=1)


def _shift_labels(obj: S, periods: Any, freq: Any, axis: Any, options: dict[str, Any]) -> S:
    if axis_number(obj.node.meta, axis) == 1 or freq == "infer":
        raise NotImplementedError(
            "shift(freq='infer') and shift(freq=, axis=1) are not supported; use shift(freq='D')"
        )
    result: S = rowwise(NewLabels(Method("shift")), obj, periods=periods, freq=freq, **options)
    return result


def diff(obj: S, periods: Any = 1, axis: Any = 0) -> S:
    """Subtract from each row the one ``periods`` before it. See pandas.DataFrame.diff."""
    if not is_integer(periods) and not (is_float(periods) and periods.is_integer()):
        raise ValueError("periods must be an integer")
    return _shift_rows(obj, "diff", periods, axis, {})


def _shift_rows(obj: S, name: str, periods: Any, axis: Any, options: dict[str, Any]) -> S:
    if is_float(periods) and not periods.is_integer():
        raise TypeError(f"{name}() periods must be an integer, not {periods!r}")
    periods = operator.index(int(periods) if is_float(periods) else periods)
    if axis_number(obj.node.meta, axis) == 1:
        columns: S = along_rows(obj, name, periods=periods, **options)
        return columns
    kwargs = {"name": name, "options": tuple(sorted(options.items())), "periods": periods}
    depth = (periods, -periods)
    node = obj.node if obj.node.settled else OneType(obj.node)
    result: S = wrap(ShiftedRows(node, name, shift_chunk, depth, tuple(kwargs.items())))
    return result
