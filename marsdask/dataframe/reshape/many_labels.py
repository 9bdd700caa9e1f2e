"""Regular labels that are too many to be listed: each chunk makes its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from marsdask.core.grids.blockwise import Blockwise
from marsdask.core.grids.grid import Grid
from marsdask.core.grids.select import cut_axis
from marsdask.core.node import Node, PartOf, Taken
from marsdask.core.sizes import Chunks, Index, Sizes, borders, numbers

from ..create import MOST_LISTED, row_sizes
from ..nodes.frame_node import FrameNode
from ..ordered.row_numbers import part_of_labels


@dataclass(frozen=True)
class RunAt:
    """Gives each chunk the numbers of its labels."""

    rows: range
    sizes: Sizes

    def __call__(self, index: Index) -> tuple[range]:
        starts = borders(self.sizes)
        return (self.rows[starts[index[0]] : starts[index[0] + 1]],)


@dataclass(frozen=True, eq=False)
class ManyLabels(FrameNode):
    """Labels that follow each other by one step."""

    make: Callable[..., Any]
    first: Any
    step: Any
    rows: range
    """The numbers of the labels, counted from the first one."""
    sizes: Sizes
    options: tuple[tuple[str, Any], ...] = field(default=())

    @property
    def label(self) -> str:
        return self.make.__name__

    @property
    def meta(self) -> Any:
        return self._call(range(1))[:0]

    def _call(self, rows: range) -> Any:
        return labels_at(rows, self.make, self.first, self.step, self.options)

    @property
    def chunks(self) -> Chunks:
        return (self.sizes,)

    def sliced(self, taken: Taken, part: PartOf) -> Node | None:
        del part
        (rows,) = taken
        if rows is None:
            return None
        sizes = cut_axis(numbers(self.sizes), rows).sizes
        return self.replaced(rows=part_of_labels(self.rows, rows), sizes=sizes)

    def tile(self, *inputs: Any) -> Grid:
        del inputs
        fields = {name: getattr(self, name) for name in ("make", "first", "step", "options")}
        rule = Blockwise(labels_at, (), (), fields, RunAt(self.rows, self.sizes), cheap=True)
        return self.grid(rule, self.sizes)


def labels_at(
    rows: range,
    make: Callable[..., Any],
    first: Any,
    step: Any,
    options: tuple[tuple[str, Any], ...],
) -> Any:
    """Return the labels of some numbers, ``first`` being that of 0."""
    if isinstance(first, pd.Period):
        ordinals = first.ordinal + step.n * np.arange(rows.start, rows.stop, rows.step)
        periods: Any = pd.PeriodIndex
        return periods.from_ordinals(ordinals, freq=step, **dict(options))
    start = first + rows.start * step
    return make(start=start, periods=len(rows), freq=rows.step * step, **dict(options))


def many_labels(
    make: Callable[..., Any],
    start: Any,
    end: Any,
    periods: Any,
    freq: Any,
    chunk_size: Any,
    options: dict[str, Any],
) -> ManyLabels | None:
    """Return the labels of pandas's function ``make``; ``None`` if they may be listed."""
    whole = isinstance(periods, int | np.integer)
    if periods is not None and not (whole and periods > MOST_LISTED):
        return None
    step = _step(make, start, end, freq)
    whole = options.pop("inclusive", "both") == "both"
    if step is None or not whole or (step.n <= 0 and periods is None):
        _check_count(make, periods)
        return None
    ends: list[Any] = [
        None if edge is None else make(start=edge, periods=1, freq=step, **options)[0]
        for edge in (start, end)
    ]
    if periods is not None and (None in ends) == (ends == [None, None]):
        return None  # pandas says which argument is missing, or one too many
    if periods is None:
        if None in ends:
            return None
        periods = _count(ends[1] - ends[0], step) + 1
        if periods <= MOST_LISTED:
            return None
    options.pop("normalize", None)
    first = ends[0] if ends[0] is not None else ends[1] - (periods - 1) * step
    _ = first + (periods - 1) * step  # raises if it is out of bounds
    rows = range(int(periods))
    arguments = tuple(sorted(options.items()))
    meta = labels_at(range(1), make, first, step, arguments)
    sizes = row_sizes(len(rows), meta[:0], chunk_size, None)
    return ManyLabels(make, first, step, rows, sizes, arguments)


def _step(make: Callable[..., Any], start: Any, end: Any, freq: Any) -> Any:
    """Return what equal steps add, ``None`` if steps may differ or nobody tells them."""
    if make is pd.period_range:
        own = next((edge.freq for edge in (start, end) if isinstance(edge, pd.Period)), None)
        return own if freq is None else pd.PeriodDtype(freq).freq
    if make not in {pd.date_range, pd.timedelta_range} or freq is None:
        return None
    step = pd.tseries.frequencies.to_offset(freq)
    return step if isinstance(step, pd.offsets.Tick) else None


def _count(difference: Any, step: Any) -> int:
    """Return how many steps make a difference: of periods it is an offset."""
    of_periods = isinstance(difference, pd.offsets.BaseOffset)
    return int(difference.n // step.n if of_periods else difference // step)


def _check_count(make: Callable[..., Any], periods: Any) -> None:
    """Raise for more labels than may be listed: nobody makes them by chunks."""
    if periods is not None:
        raise NotImplementedError(
            f"{make.__name__}() of {periods} labels is supported for date_range, timedelta_range "
            "and period_range with freq= of hours or less, since each chunk makes its own"
        )
