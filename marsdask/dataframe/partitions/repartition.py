"""Other partitions of the same rows: by number, by size, by ranges of labels, by hash."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from marsdask.core.grids.blockwise import map_blocks
from marsdask.core.grids.grid import Grid
from marsdask.core.grids.lengths import resolved
from marsdask.core.machine.costs import kernel
from marsdask.core.node import SameMeta
from marsdask.core.sizes import Chunks, Sizes, known, numbers, total, unknown_sizes
from marsdask.core.traits import Traits
from marsdask.tensor.chunks import bytes_of, normalize_chunks

from ..keyed.chunk_sizing import ChunkRuns
from ..keyed.shuffle import casts_of, concat_parts, cut_by_hash, shuffle
from ..nodes.frame_node import FrameNode, S, row_bytes
from ..reduction.reductions import collection_of as lazy
from ..row_parts import RowPart, split_at
from ..rows import levels_in, recut_rows


@dataclass(frozen=True, eq=False)
class Repartitioned(SameMeta, FrameNode):
    """The same rows in other partitions."""

    keeps_types: ClassVar[bool] = True

    @property
    def settled(self) -> bool:
        return self.a.settled

    @property
    def traits(self) -> Traits:
        """The rows stay as they are."""
        return self.a.traits


@dataclass(frozen=True, eq=False)
class RowChunks(Repartitioned):
    """The rows in partitions of given lengths."""

    pins_grid = True

    sizes: tuple[int, ...]

    @property
    def chunks(self) -> Chunks:
        return (self.sizes,)

    def tile(self, a: Grid) -> Any:
        (a,) = yield from resolved(a)
        return recut_rows(a, self.sizes)


@dataclass(frozen=True, eq=False)
class Repartition(Repartitioned):
    """The rows in a number of partitions of about equal lengths."""

    pins_grid = True

    count: int

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
class RangePartition(Repartitioned):
    """Sorted rows in partitions by ranges of their labels."""

    pins_grid = True

    bounds: tuple[Any, ...]
    force: bool
    """Whether labels outside of the bounds belong to the first and the last partition."""

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
class HashPartition(SameMeta, FrameNode):
    """The rows in partitions by the hash of keys: equal ones are in one partition."""

    pins_grid = True

    by: tuple[Any, ...] | None
    """Columns; ``()`` for the row labels, ``None`` for the values of a series."""
    count: int

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
            dtypes = [meta[label].dtype for label in self.by]
        else:
            dtypes = [level.dtype for level in levels_in(meta.index)]
        splits = cut_by_hash(a, self.by, self.count, casts=casts_of(dtypes), keep="rows")
        how = {"meta": meta, "width": splits.width}
        return shuffle(splits, concat_parts, self.chunks[0], {"labels": True}, **how)


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
    flags = [option is not None for option in (divisions, npartitions, partition_size, freq)]
    if sum(flags) != 1:
        raise ValueError(
            "Please provide exactly one of ``npartitions=``, ``freq=``, ``divisions=``, or "
            "``partition_size=`` keyword arguments"
        )
    if freq is not None:
        raise NotImplementedError("repartition(freq=) is not supported; use divisions=")
    if divisions is not None:
        result: S = _by_divisions(obj, tuple(divisions), force=force)
        return result
    if partition_size is not None:
        size = bytes_of(partition_size) if isinstance(partition_size, str) else partition_size
        rows = len(obj)  # computes an unknown number
        npartitions = max(1, math.ceil(rows * row_bytes(obj.node.meta) / size))
    if not isinstance(npartitions, int | np.integer) or npartitions <= 0:
        raise ValueError(f"npartitions must be a positive integer, got {npartitions!r}")
    even: S = lazy(Repartition(obj.node, int(npartitions)))
    return even


def rechunk(obj: S, chunk_size: Any, reassign_worker: bool = False) -> S:
    """Return the rows in chunks of a number of rows, as Mars does.

    Computes an unknown number of rows. Columns stay together, whatever a second size says.

    Parameters
    ----------
    chunk_size : int, tuple or dict
        The number of rows of a chunk, or those of each; of a dict, what belongs to axis 0.
    reassign_worker : bool
        Mars's argument, which changes nothing.

    Returns
    -------
    DataFrame, Series or Index
        The same rows.

    Raises
    ------
    ValueError
        If the chunks do not have as many rows as there are.

    Examples
    --------
    >>> md.DataFrame({"a": range(5)}).rechunk(2).chunks
    ((2, 2, 1),)
    """
    del reassign_worker
    size = chunk_size.get(0) if isinstance(chunk_size, dict) else chunk_size
    if size is None:
        return obj
    if isinstance(size, tuple | list) and obj.node.meta.ndim == 2 and len(size) == 2:
        size = size[0]  # the other one is of columns
    elif isinstance(size, tuple | list) and len(size) == 1:
        size = size[0]
    (sizes,) = normalize_chunks((size,), (len(obj),), np.dtype(float))
    rows: S = lazy(RowChunks(obj.node, tuple(numbers(sizes))))
    return rows


def rebalance(
    obj: S,
    factor: float | None = None,
    axis: int = 0,
    num_partitions: int | None = None,
    reassign_worker: bool = True,
) -> S:
    """Return the rows in chunks of about equal lengths, as Mars does.

    Parameters
    ----------
    factor : float, optional
        Not supported.
    axis : int
        0, since chunks are runs of rows.
    num_partitions : int, optional
        The number of chunks; by default, as many as there are.
    reassign_worker : bool
        Mars's argument, which changes nothing.

    Returns
    -------
    DataFrame, Series or Index
        The same rows.

    Raises
    ------
    NotImplementedError
        For a factor or another axis.

    Examples
    --------
    >>> md.DataFrame({"a": range(5)}, chunk_size=4).rebalance().chunks
    ((2, 3),)
    """
    del reassign_worker
    if factor is not None or axis != 0:
        raise NotImplementedError(
            "rebalance(factor=) and rebalance(axis=1) are not supported; use num_partitions="
        )
    count = len(obj.node.chunks[0]) if num_partitions is None else num_partitions
    return repartition(obj, npartitions=count)


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
    columns = None if on is no_default else on
    if (columns is None) != on_index:
        raise TypeError("shuffle() needs either `on`, the columns, or `on_index=True`")
    by: tuple[Any, ...] = ()
    if columns is not None:
        by = tuple(columns) if isinstance(columns, list | tuple) else (columns,)
        if missing := [label for label in by if label not in node.meta.columns]:
            raise KeyError(f"Cannot shuffle on {missing}, columns not in dataframe to shuffle")
    partitions = lazy(HashPartition(node, by, int(npartitions or len(node.chunks[0]))))
    rows: S = partitions.reset_index(drop=True) if ignore_index else partitions
    return rows
