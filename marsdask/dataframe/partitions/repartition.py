"""Other partitions of the same rows: by number, by size, by ranges of labels, by hash."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from marsdask.core.compilation.costs import kernel
from marsdask.core.grids.blockwise import map_blocks
from marsdask.core.grids.grid import Grid
from marsdask.core.grids.lengths import resolved
from marsdask.core.node import Node
from marsdask.core.sizes import Chunks, Sizes, known, numbers, total, unknown_sizes
from marsdask.core.traits import Traits
from marsdask.tensor.chunks import bytes_of

from ..frame_node import FrameNode, S, row_bytes
from ..keyed.chunk_sizing import ChunkRuns
from ..keyed.parts import RowPart, split_at
from ..keyed.shuffle import casts_of, concat_parts, cut_by_hash, shuffle
from ..reduction.reductions import collection_of as lazy
from ..rows import recut_rows


@dataclass(frozen=True, eq=False)
class Repartition(FrameNode):
    """The rows in a number of partitions of about equal lengths."""

    pins_grid = True

    a: Node
    count: int

    @property
    def meta(self) -> Any:
        return self.a.meta

    @property
    def settled(self) -> bool:
        return self.a.settled

    @property
    def traits(self) -> Traits:
        """The rows stay as they are."""
        return self.a.traits

    @property
    def chunks(self) -> Chunks:
        rows = total(self.a.chunks[0])
        if isinstance(rows, int):
            return (even_sizes(rows, self.count),)
        return (unknown_sizes(self.name, [None] * self.count),)

    def tile(self, a: Grid) -> Any:
        (a,) = yield from resolved(a)
        return recut_rows(a, even_sizes(sum(numbers(a.chunks[0])), self.count))

    def tile_blind(self, a: Grid) -> Any:
        if known(a.chunks[0]):
            return recut_rows(a, self.chunks[0])
        if self.count > len(a):
            raise NotImplementedError(
                "repartition() to more partitions of unknown lengths needs execute() first"
            )
        starts = tuple(len(a) * part // self.count for part in range(self.count))
        return self.grid(ChunkRuns(a, starts), self.chunks[0])


def even_sizes(rows: int, count: int) -> Sizes:
    """Return the lengths of partitions that differ by one row at most."""
    borders = [rows * part // count for part in range(count + 1)]
    return tuple(stop - start for start, stop in itertools.pairwise(borders))


@dataclass(frozen=True, eq=False)
class RangePartition(FrameNode):
    """Sorted rows in partitions by ranges of their labels."""

    pins_grid = True

    a: Node
    bounds: tuple[Any, ...]
    force: bool
    """Whether labels outside of the bounds belong to the first and the last partition."""

    @property
    def meta(self) -> Any:
        return self.a.meta

    @property
    def settled(self) -> bool:
        return self.a.settled

    @property
    def traits(self) -> Traits:
        """The rows stay as they are."""
        return self.a.traits

    @property
    def chunks(self) -> Chunks:
        return (unknown_sizes(self.name, [None] * (len(self.bounds) - 1)),)

    def tile(self, a: Grid) -> Grid:
        kwargs = {"bounds": self.bounds, "force": self.force}
        width = None if a.width is None else a.width + 8
        splits = map_blocks(split_by_bounds, a, itemsize=width, kwargs=kwargs)
        how = {"meta": self.meta, "width": splits.width}
        return shuffle(splits, concat_parts, self.chunks[0], {"labels": True}, **how)


@kernel(scratch=2.1)
def split_by_bounds(block: Any, bounds: tuple[Any, ...], force: bool) -> list[RowPart]:
    """Split a chunk by the ranges of its labels."""
    labels = block.index
    if not force and len(labels) and not bounds[0] <= labels.min() <= labels.max() <= bounds[-1]:
        raise ValueError(
            f"labels from {labels.min()} to {labels.max()} are outside of the divisions, which "
            f"are from {bounds[0]} to {bounds[-1]}; use force=True"
        )
    places = pd.Index(list(bounds[1:-1]), dtype=labels.dtype).searchsorted(labels, side="right")
    return split_at(block, np.asarray(places, np.int64), len(bounds) - 1, labels=True)


@dataclass(frozen=True, eq=False)
class HashPartition(FrameNode):
    """The rows in partitions by the hash of keys: equal ones are in one partition."""

    pins_grid = True

    a: Node
    by: tuple[Any, ...] | None
    """Columns; ``()`` for the row labels, ``None`` for the values of a series."""
    count: int

    @property
    def meta(self) -> Any:
        return self.a.meta

    @property
    def settled(self) -> bool:
        return self.a.settled

    @property
    def chunks(self) -> Chunks:
        return (unknown_sizes(self.name, [None] * self.count),)

    def tile(self, a: Grid) -> Grid:
        meta = self.meta
        if self.by is None:
            dtypes: Sequence[Any] = [meta.dtype]
        elif self.by:
            dtypes = [meta[one].dtype for one in self.by]
        else:
            dtypes = [level.dtype for level in _levels_of(meta.index)]
        splits = cut_by_hash(a, self.by, self.count, casts=casts_of(dtypes), keep="rows")
        how = {"meta": meta, "width": splits.width}
        return shuffle(splits, concat_parts, self.chunks[0], {"labels": True}, **how)


def _levels_of(index: pd.Index) -> list[Any]:
    return [index.get_level_values(number) for number in range(index.nlevels)]


def repartition(
    obj: S,
    divisions: Sequence[Any] | None = None,
    npartitions: int | None = None,
    partition_size: int | str | None = None,
    freq: Any = None,
    force: bool = False,
) -> S:
    """Return the rows in other partitions. See dask.dataframe.DataFrame.repartition.

    Rows of ``npartitions`` are evenly spread. ``divisions`` sort the rows by their labels unless
    they are known to be sorted. ``partition_size`` is in bytes, of which text takes 32 each.

    Returns
    -------
    DataFrame or Series
        The same rows.
    """
    given = [one is not None for one in (divisions, npartitions, partition_size, freq)]
    if sum(given) != 1:
        raise ValueError(
            "Please provide exactly one of ``npartitions=``, ``freq=``, ``divisions=``, or "
            "``partition_size=`` keyword arguments"
        )
    if freq is not None:
        raise NotImplementedError("repartition(freq=) is not supported; use divisions=")
    if divisions is not None:
        found: S = _by_divisions(obj, tuple(divisions), force=force)
        return found
    if partition_size is not None:
        size = bytes_of(partition_size) if isinstance(partition_size, str) else partition_size
        rows = len(obj)  # computes an unknown number
        npartitions = max(1, math.ceil(rows * row_bytes(obj.node.meta) / size))
    if not isinstance(npartitions, int | np.integer) or npartitions <= 0:
        raise ValueError(f"npartitions must be a positive integer, got {npartitions!r}")
    even: S = lazy(Repartition(obj.node, int(npartitions)))
    return even


def _by_divisions(obj: Any, bounds: tuple[Any, ...], *, force: bool) -> Any:
    if len(bounds) < 2 or list(bounds) != sorted(bounds):
        raise ValueError("New division must be sorted")
    if len(set(bounds[:-1])) != len(bounds) - 1:
        raise ValueError("New division must be unique, except for the last element")
    return lazy(RangePartition(obj.sort_index().node, bounds, force))


def shuffle_rows(
    obj: S,
    on: Any = None,
    ignore_index: bool = False,
    npartitions: int | None = None,
    shuffle_method: str | None = None,
    on_index: bool = False,
    force: bool = False,
) -> S:
    """Put rows of equal keys in one partition. See dask.dataframe.DataFrame.shuffle.

    ``shuffle_method`` and ``force`` change nothing. With ``ignore_index`` rows are numbered.

    Returns
    -------
    DataFrame or Series
        The same rows in another order.
    """
    del shuffle_method, force
    node = obj.node
    no_default = pd.api.extensions.no_default
    given = None if on is no_default else on
    if (given is None) != on_index:
        raise TypeError("shuffle() needs either `on`, the columns, or `on_index=True`")
    by: tuple[Any, ...] = ()
    if given is not None:
        by = tuple(given) if isinstance(given, list | tuple) else (given,)
        if missing := [one for one in by if one not in node.meta.columns]:
            raise KeyError(f"Cannot shuffle on {missing}, columns not in dataframe to shuffle")
    found = lazy(HashPartition(node, by, int(npartitions or len(node.chunks[0]))))
    rows: S = found.reset_index(drop=True) if ignore_index else found
    return rows
