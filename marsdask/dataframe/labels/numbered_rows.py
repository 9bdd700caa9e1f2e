"""Rows of labels that number the rows, below filters too: labels tell positions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_integer

from marsdask.core.grids.parts import MOST_APART
from marsdask.core.node import Node
from marsdask.core.sizes import total

from ..elementwise.filter import Filter
from ..elementwise.rowwise import Rowwise
from ..nodes.frame_node import S
from ..ordered.positions import sliced_rows

#: From how many numbered rows on no mask of all is made to choose a few by their labels.
MANY_ROWS = 2**20


def numbers_of(node: Node) -> pd.RangeIndex | None:
    """Return the labels of rows that are known to be numbered from 0."""
    rows = total(node.chunks[0]) if node.chunks else None
    if not isinstance(rows, int) or not isinstance(node.meta.index, pd.RangeIndex):
        return None
    return pd.RangeIndex(rows) if node.alignment == f"range:{rows}" else None


def near_labels(obj: S, labels: Any) -> S:
    """Return the rows from the first to the last of some integers, if they are filtered numbers.

    Other rows, and all of other labels, may remain.
    """
    index = pd.Index(labels)
    if isinstance(index.dtype, np.dtype) and index.dtype.kind == "f":
        index = index[index % 1 == 0].astype(np.int64)
    elif all(isinstance(label, str) for label in index):
        index = index[:0]
    if len(labels) and not len(index):  # fractions and texts are no numbers
        return between_labels(obj, 0, -1)
    if index.dtype.kind not in "iu" or not len(index) or index.nlevels > 1:
        return obj
    first, last = int(index.min()), int(index.max())
    if last - first >= MOST_APART * len(index):
        return obj
    return between_labels(obj, first, last)


def between_labels(obj: S, first: Any, last: Any) -> S:
    """Return the rows of labels between two integers, both included, as :func:`near_labels`."""
    if not all(bound is None or _is_integer(bound) for bound in (first, last)):
        return obj
    node = _between(obj.node, first, last)
    if node is None:
        return obj
    near: S = type(obj)(node)
    return near


def _is_integer(label: Any) -> bool:
    return isinstance(label, int | np.integer) and not isinstance(label, bool)


def _between(node: Node, first: int | None, last: int | None) -> Node | None:
    numbers = numbers_of(node)
    if numbers is not None:
        start = 0 if first is None else min(max(0, first), len(numbers))
        stop = len(numbers) if last is None else min(max(start, last + 1), len(numbers))
        return sliced_rows(node, (range(start, stop),))
    sources: tuple[Node, ...] = ()
    if isinstance(node, Filter):
        sources = (node.a, node.mask)
    elif isinstance(node, Rowwise) and node.settled and not node.relabels:
        sources = node.row_operands
    parts = {source: _between(source, first, last) for source in sources}
    if not parts or None in parts.values():
        return None
    return node.with_inputs(parts)  # type: ignore[arg-type]


def takes_no_row(obj: Any, rows: Any) -> bool:
    """Tell whether labels are none, or a slice lies outside of the numbers of all rows."""
    if isinstance(rows, list | np.ndarray | pd.Index):
        return not len(rows) and (isinstance(rows, list) or rows.dtype != bool)
    numbers = numbers_of(obj.node)
    if numbers is None or not isinstance(rows, slice):
        return False
    ends = (rows.start, rows.stop)
    plain = all(end is None or is_integer(end) for end in ends)
    return plain and is_empty_slice(numbers.slice_indexer(*ends))


def is_empty_slice(rows: Any) -> bool:
    """Tell whether rows are a slice that pandas takes for one of no rows: it ends where it starts.

    pandas asks the types of the columns about values for other slices, also if they have no rows.
    """
    return isinstance(rows, slice) and rows.start is not None and rows.start == rows.stop


def has_rows(positions: Any, length: int) -> bool:
    """Tell whether there are rows at positions, of which a list of them may be too long."""
    if isinstance(positions, slice):
        return bool(range(length)[positions])
    return bool(positions.size)
