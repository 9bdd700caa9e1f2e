"""Labels of small integers, which pandas makes a range if all rows are a progression."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from marsdask.core.machine.costs import kernel

from ..elementwise.exemplars import as_scalar
from ..elementwise.rowwise import NewLabels, Unsettled, rowwise
from ..nodes.dtypes import is_small
from ..reduction.fold import FrameFold
from ..reduction.reductions import collection_of


class Progression(NamedTuple):
    """The first number, the last and the step of a run of numbers."""

    first: int
    last: int
    step: int | None
    """The difference of neighbours, ``None`` of one number, 0 if they differ."""


def as_ranges(rows: Any) -> Any:
    """Return rows labelled by integers of 64 bits, if their small integers are a progression.

    All rows are read before the first one is known, so labels of large sources stay as they are.
    """
    labels = rows.node.meta.index
    dtype = labels.dtype if labels.nlevels == 1 else None
    is_integer = isinstance(dtype, np.dtype) and dtype.kind == "i" and dtype.itemsize < 8
    if not is_integer or not is_small(rows.node):
        return rows
    steps = (progression, join_progressions, is_progression)
    node = FrameFold(np.empty((), object), None, False, "progression", rows.index.node, steps)
    return rowwise(LabelsOfRanges(cast_if), rows, collection_of(node))


@kernel(scratch=1.0)
def progression(labels: pd.Index) -> Progression:
    """Return the progression of the labels of a chunk."""
    values = labels.to_numpy().astype(np.int64)
    steps = set(np.diff(values).tolist())
    step = None if not steps else steps.pop() if len(steps) == 1 else 0
    return Progression(int(values[0]), int(values[-1]), step)


@kernel(scratch=0.0)
def join_progressions(a: Progression, b: Progression) -> Progression:
    """Return the progression of two chunks, one behind the other."""
    steps = {a.step, b.step, b.first - a.last} - {None}
    return Progression(a.first, b.last, steps.pop() if len(steps) == 1 else 0)


@kernel(scratch=0.0)
def is_progression(run: Progression | None) -> Any:
    """Tell whether pandas makes a range of the labels: no row is one, a single one is none."""
    return as_scalar(run is None or bool(run.step))


class LabelsOfRanges(NewLabels, Unsettled):
    """A function that gives rows labels whose type all of them tell."""


@kernel(view=True)
def cast_if(block: Any, flag: Any) -> Any:
    """Return rows with labels of 64 bits if a flag is set."""
    return block.set_axis(block.index.astype("int64")) if flag.item() else block
