"""Divisions: the labels at which partitions begin; and partitions by their number."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Generic

import numpy as np
import pandas as pd

from marsdask.core.grids.grid import Grid
from marsdask.core.grids.select import chosen
from marsdask.core.node import SameMeta
from marsdask.core.sizes import Chunks, borders, known, numbers

from ..nodes.frame_node import FrameNode, FromPandas, S
from ..reduction.reductions import collection_of as lazy
from .repartition import RangePartition


def divisions(obj: Any) -> tuple[Any, ...]:
    """Return the labels at which partitions begin, and the last one; ``None`` where unknown."""
    node = obj.node
    count = len(node.chunks[0])
    placeholders = (None,) * (count + 1)
    if isinstance(node, RangePartition):
        return node.bounds
    if isinstance(node.meta, pd.Index) or not known(node.chunks[0]):
        return placeholders
    starts = borders(numbers(node.chunks[0]))
    if not starts[-1] or any(stop == start for start, stop in itertools.pairwise(starts)):
        return placeholders
    # The alignment of chosen rows ends with the choice, in brackets.
    if node.alignment.startswith("range:") and not node.alignment.endswith("]"):
        return (*starts[:-1], starts[-1] - 1)
    if isinstance(node, FromPandas):
        labels = node.data.index
        if labels.nlevels == 1 and labels.is_monotonic_increasing and not labels.hasnans:
            return tuple(labels[[*starts[:-1], starts[-1] - 1]])
    return placeholders


def known_divisions(obj: Any) -> bool:
    """Tell whether the labels are known at which partitions begin."""
    return divisions(obj)[0] is not None


@dataclass(frozen=True, eq=False)
class PartitionSelection(SameMeta, FrameNode):
    """Some partitions of an object."""

    keeps_types: ClassVar[bool] = True

    pins_grid = True

    positions: tuple[int, ...]

    @property
    def settled(self) -> bool:
        return self.a.settled

    @property
    def chunks(self) -> Chunks:
        sizes = self.a.chunks[0]
        # Coalescing asks what if the input were one chunk.
        return (tuple(sizes[min(position, len(sizes) - 1)] for position in self.positions),)

    def tile(self, a: Grid) -> Grid:
        return chosen(a, (self.positions,), "partitions")


class PartitionView(Generic[S]):
    """The partitions of an object, indexed like items."""

    def __init__(self, obj: S) -> None:
        self._obj = obj

    def __len__(self) -> int:
        return len(self._obj.node.chunks[0])

    def __iter__(self) -> Iterator[S]:
        return (self[position] for position in range(len(self)))

    def __getitem__(self, key: Any) -> S:
        places = np.atleast_1d(np.arange(len(self))[key])
        rows: S = lazy(PartitionSelection(self._obj.node, tuple(map(int, places))))
        return rows


def get_partition(obj: S, n: int) -> S:
    """Return a partition. See dask.dataframe.DataFrame.get_partition."""
    count = len(obj.node.chunks[0])
    if not 0 <= n < count:
        raise ValueError(f"n must be 0 <= n < {count}")
    return PartitionView(obj)[n]


def clear_divisions(obj: S) -> S:
    """Return the object: divisions are never assumed. See dask.dataframe.DataFrame.clear_divisions.

    Returns
    -------
    DataFrame or Series
        Another object of the same rows.
    """
    result: S = type(obj)(obj.node)
    return result
