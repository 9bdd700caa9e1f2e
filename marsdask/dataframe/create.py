"""Frames from pandas objects, dicts and tensors."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, overload

import numpy as np
import pandas as pd

from marsdask.core.arguments import plain_values
from marsdask.core.collection import Collection, wrap
from marsdask.core.config import options
from marsdask.core.grids.blockwise import Axes, Blockwise
from marsdask.core.grids.chunk_positions import ChunkAt, StartAt
from marsdask.core.grids.grid import Grid
from marsdask.core.grids.lengths import resolved
from marsdask.core.node import Node, PartOf, Taken
from marsdask.core.public import public_call
from marsdask.core.sizes import Chunks, Sizes, known, numbers, total
from marsdask.core.snapshots.snapshot import with_own_cells
from marsdask.core.traits import Traits
from marsdask.tensor.chunks import MOST_CHUNKS, bytes_of, normalize_chunks
from marsdask.tensor.creation.from_shape import arange
from marsdask.tensor.manipulation.shape import whole

from .nodes.frame_node import FrameNode, FromPandas, row_bytes
from .nodes.traits import numbered_rows
from .ordered.row_numbers import numbers_of, part_of_labels, row_counts

if TYPE_CHECKING:
    from .frame import DataFrame
    from .index import Index
    from .series import Series


#: Of longer ranges each chunk makes its own numbers.
MOST_LISTED: Final = 2**24


def row_sizes(rows: int, meta: Any, chunk_size: Any, num_partitions: int | None) -> Sizes:
    """Return the number of rows of each chunk; options decide what the user left open."""
    if num_partitions is not None:
        if num_partitions <= 0:
            raise ValueError(f"num_partitions must be positive, got {num_partitions}")
        chunk_size = max(1, -(-rows // num_partitions))
    two = isinstance(chunk_size, tuple | list) and len(chunk_size) == 2
    if two and isinstance(meta, pd.DataFrame) and sum(chunk_size) != rows:
        # Mars also takes the number of columns of a chunk; our chunks have all columns.
        chunk_size = chunk_size[0]
    if chunk_size is None:
        chunk_size = options.chunk_size
    if chunk_size is None or isinstance(chunk_size, str):
        limit = options.chunk_store_limit
        if chunk_size is not None and chunk_size != "auto":
            limit = bytes_of(chunk_size)
        chunk_size = max(1, int(limit / max(1.0, row_bytes(meta))), -(-rows // MOST_CHUNKS))
    (sizes,) = normalize_chunks(chunk_size, (rows,), np.dtype("i1"))
    return numbers(sizes)


@overload
def from_pandas(data: pd.DataFrame, *args: Any, **kwargs: Any) -> DataFrame: ...
@overload
def from_pandas(data: pd.Series, *args: Any, **kwargs: Any) -> Series: ...
@overload
def from_pandas(data: pd.Index, *args: Any, **kwargs: Any) -> Index: ...
@public_call
def from_pandas(
    data: Any,
    chunk_size: Any = None,
    num_partitions: int | None = None,
    *,
    npartitions: int | None = None,
    chunksize: int | None = None,
    copy: bool = True,
) -> Any:
    """Return a lazy copy of a pandas object.

    Later changes of ``data`` do not affect the copy. With ``copy=False`` the memory is shared: do
    not change the arrays while the object is in use. Differs from Dask: rows keep their order.

    Parameters
    ----------
    data : pandas.DataFrame, Series or Index
        The values.
    chunk_size : int, optional
        The number of rows of a partition; chosen by default.
    num_partitions : int, optional
        The number of partitions.
    npartitions, chunksize : int, optional
        Dask's names of ``num_partitions`` and ``chunk_size``.
    copy : bool
        Whether to copy the data.

    Returns
    -------
    DataFrame, Series or Index
        A lazy object.

    Examples
    --------
    >>> import pandas as pd
    >>> md.from_pandas(pd.Series([1, 2, 3]), chunk_size=2).npartitions
    2
    """
    chunk_size = chunk_size if chunksize is None else chunksize
    num_partitions = num_partitions if npartitions is None else npartitions
    data = data.copy(deep=copy)
    return in_memory(data, chunk_size, num_partitions, copy=copy)


def as_lazy(data: Any) -> Any:
    """Return a lazy copy of a frame or series in memory; other objects as they are."""
    return from_pandas(data) if isinstance(data, pd.Series | pd.DataFrame) else data


def in_memory(data: Any, chunk_size: Any, num_partitions: int | None, *, copy: bool) -> Any:
    """Return a lazy object of a pandas object, which was copied or is shared."""
    sizes = row_sizes(len(data), data, chunk_size, num_partitions)
    data, shares = _with_own_cells(_with_own_labels(data)) if copy else (data, True)
    content = uuid.uuid4().hex if shares else ""
    return wrap(FromPandas(data, sizes, content=content, lent=not copy))


def _with_own_labels(data: Any) -> Any:
    """Return an object with its own labels: pandas holds arrays that are given as labels."""
    if isinstance(data, pd.Index):
        return data
    data = data.set_axis(data.index.copy(deep=True), axis=0)
    return data if data.ndim == 1 else data.set_axis(data.columns.copy(deep=True), axis=1)


def _with_own_cells(data: Any) -> tuple[Any, bool]:
    """Return a copy with its own containers in cells, and whether it shares other objects.

    pandas's copies share them.
    """
    if isinstance(data, pd.Index):
        return data, False
    several, shares = isinstance(data, pd.DataFrame), False
    for place, dtype in enumerate(data.dtypes if several else [data.dtype]):
        if getattr(dtype, "kind", "") != "O" or not isinstance(dtype, np.dtype):
            continue
        old = data.iloc[:, place] if several else data
        values = old.to_numpy()
        cells, is_foreign = with_own_cells(values)
        shares |= is_foreign
        if cells is values:
            continue
        new = pd.Series(cells, old.index, dtype=object, name=old.name, copy=True)
        if several:
            data.isetitem(place, new)
        else:
            data = new
    return data, shares


@dataclass(frozen=True, eq=False)
class FromTensor(FrameNode):
    """The rows of a tensor of one or two axes, labelled from 0."""

    a: Node
    columns: Any
    """Column labels; for a series its name."""
    kind: type
    labels: range | None = field(default=None, kw_only=True)
    """The row labels, if they are not those from 0 on."""

    @property
    def meta(self) -> Any:
        # A tensor's meta is empty along all axes; the labels give the number of columns.
        width = (len(self.columns),) if self.a.meta.ndim == 2 else ()
        rows = np.empty((0, *width), self.a.meta.dtype)
        return to_pandas_rows(rows, 0, columns=self.columns, kind=self.kind)

    @property
    def chunks(self) -> Chunks:
        return (self.a.chunks[0],)

    @property
    def traits(self) -> Traits:
        """Rows labelled from 0 are aligned if their numbers are equal."""
        rows = total(self.a.chunks[0]) if self.labels is None else self.labels
        return numbered_rows(f"range:{rows}")

    def sliced(self, taken: Taken, part: PartOf) -> Node | None:
        (rows,) = taken
        if rows is None:
            return None
        columns = (None,) * (len(self.a.chunks) - 1)
        return self.replaced(
            a=part(self.a, (rows, *columns)), labels=part_of_labels(self.labels, rows)
        )

    def tile(self, a: Grid) -> Any:
        (a,) = yield from resolved(a)
        a, axes = self._whole_rows(a)
        kwargs = {**self._kwargs, "labels": self.labels}
        rule = Blockwise(to_pandas_rows, (a,), axes, kwargs, StartAt(a.chunks[0]))
        return self.grid(rule, a.chunks[0])

    def tile_blind(self, a: Grid) -> Any:
        if known(a.chunks[0]):
            return self.tile(a)
        a, axes = self._whole_rows(a)
        axes = (*axes, (None,))
        rule = Blockwise(to_rows_among, (a, row_counts(a)), axes, self._kwargs, ChunkAt())
        return self.grid(rule, a.chunks[0])

    def _whole_rows(self, a: Grid) -> tuple[Grid, tuple[Axes, ...]]:
        return whole(a, range(1, a.ndim)), ((0, *(None,) * (a.ndim - 1)),)

    @property
    def _kwargs(self) -> dict[str, Any]:
        return {"columns": self.columns, "kind": self.kind}


def to_rows_among(block: Any, counts: list[int], position: int, **kwargs: Any) -> Any:
    """Label the rows of a block by their numbers; ``counts`` has the rows of all blocks."""
    return to_pandas_rows(block, sum(counts[:position]), **kwargs)


def to_pandas_rows(
    block: Any, first: int, *, columns: Any, kind: type, labels: range | None = None
) -> Any:
    """Return a block as a frame or a series; its labels are those from position ``first`` on."""
    index = numbers_of(labels, first, len(block))
    if kind is pd.DataFrame:
        return pd.DataFrame(block, index=index, columns=columns)
    return pd.Series(block, index=index, name=columns)


def frame_from_tensor(tensor: Any, columns: Any = None) -> DataFrame:
    """Return a DataFrame of a tensor of one or two axes."""
    node = _with_unit(tensor).node
    if len(node.chunks) not in {1, 2}:
        raise ValueError(f"Must pass 2-d input. shape={tensor.shape}")
    width = numbers(node.shape[1:])[0] if len(node.chunks) == 2 else 1
    labels = pd.RangeIndex(width) if columns is None else pd.Index(columns)
    if len(labels) != width:
        raise ValueError(f"{len(labels)} columns passed, passed data had {width} columns")
    frame: DataFrame = wrap(FromTensor(node, labels, pd.DataFrame))
    return frame


def _with_unit(tensor: Any) -> Any:
    """Return a tensor; times whose unit only values tell are computed, since pandas's have one."""
    return tensor.execute() if tensor.node.meta.dtype in ("M8", "m8") else tensor


def series_from_tensor(tensor: Any, name: Any = None) -> Series:
    """Return a Series of a tensor of one axis."""
    if len(tensor.node.chunks) != 1:
        raise ValueError(f"Data must be 1-dimensional, got Tensor of shape {tensor.shape} instead")
    series: Series = wrap(FromTensor(_with_unit(tensor).node, name, pd.Series))
    return series


def make_frame(
    data: Any,
    index: Any,
    columns: Any,
    dtype: Any,
    chunk_size: Any,
    num_partitions: int | None,
    *,
    copy: bool = True,
) -> DataFrame:
    """Return the DataFrame of ``md.DataFrame(data, ...)``."""
    data, index, columns = plain_values(data), _labels(index), _labels(columns)
    frame = pd.DataFrame(data, index=index, columns=columns, dtype=dtype, copy=copy)
    lazy: DataFrame = in_memory(frame, chunk_size, num_partitions, copy=copy)
    return lazy


def _labels(labels: Any) -> Any:
    """Return labels in memory: what reads lazy ones as an array loses their name and their type."""
    return labels.compute() if isinstance(labels, Collection) else plain_values(labels)


def make_series(
    data: Any,
    index: Any,
    dtype: Any,
    name: Any,
    chunk_size: Any,
    num_partitions: int | None,
    *,
    copy: bool = True,
) -> Series:
    """Return the Series of ``md.Series(data, ...)``."""
    data, index = plain_values(data), _labels(index)
    if isinstance(data, range) and len(data) > MOST_LISTED and index is None:
        like = pd.Series(data[:0], dtype=dtype or np.int64)
        sizes = row_sizes(len(data), like, chunk_size, num_partitions)
        tensor = arange(data.start, data.stop, data.step, dtype=like.dtype, chunk_size=(sizes,))
        return series_from_tensor(tensor, name)
    values = pd.Series(data, index=index, dtype=dtype, name=name, copy=copy)
    lazy: Series = in_memory(values, chunk_size, num_partitions, copy=copy)
    return lazy
