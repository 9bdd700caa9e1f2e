"""Select rows by position: only the chunks that contain them are computed."""

from __future__ import annotations

import operator
from collections.abc import Generator, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, Generic, overload

import numpy as np
import pandas as pd
from pandas.errors import IndexingError

from marsdask.core.arguments import in_memory, keeps_lazy
from marsdask.core.collection import Collection, wrap
from marsdask.core.compilation.costs import kernel
from marsdask.core.grids.blockwise import Blockwise, Via, blockwise
from marsdask.core.grids.chunk_positions import ChunkAt
from marsdask.core.grids.grid import Grid, Look
from marsdask.core.grids.lengths import first_chunks, resolved
from marsdask.core.grids.select import cut_axis
from marsdask.core.grids.tree import gather
from marsdask.core.node import Columns, Node
from marsdask.core.public import public_methods
from marsdask.core.sizes import Chunks, Index, known, numbers, total, unknown_sizes, upper
from marsdask.core.traits import Traits

from ..elementwise.operands import aligned_values
from ..elementwise.rowwise import column_at, column_of, rowwise
from ..frame_node import FrameNode, S, row_bytes
from ..labels.assignment import assign_iloc
from ..labels.by_position import rows_in_order
from ..reduction.reductions import one_row
from ..relations.relation import FirstRows, Table
from ..rows import concat, take, without_ellipsis
from ..schemas.dtypes import in_one_type
from .row_numbers import ResetIndex, row_counts


def pieces_of(sizes: tuple[int, ...], rows: slice) -> list[tuple[int, slice, int]]:
    """List the chunks that contain some rows, in order: position, slice and number of rows."""
    cut = cut_axis(sizes, range(*rows.indices(sum(sizes))))
    return list(zip(cut.positions, cut.parts, cut.sizes, strict=True))


@dataclass(frozen=True)
class RowSliceAt:
    """Gives each chunk its slice."""

    slices: tuple[slice, ...]

    def __call__(self, index: Index) -> tuple[slice]:
        return (self.slices[index[0]],)


@dataclass(frozen=True, eq=False)
class Positions(FrameNode):
    """Some rows by position."""

    a: Node
    rows: slice

    def runs_inline(self) -> bool:
        return True

    @property
    def label(self) -> str:
        return "iloc"

    @property
    def meta(self) -> Any:
        return self.a.meta

    @property
    def keeps_types(self) -> bool:
        return True

    @property
    def traits(self) -> Traits:
        """Aligned objects stay aligned if the same positions are selected."""
        below = self.a.traits
        found = below.of(f"{below.rows}[{self.rows}]")
        return found if (self.rows.step or 1) > 0 else found.unordered()

    @property
    def chunks(self) -> Chunks:
        sizes = self.a.chunks[0]
        if known(sizes):
            return (tuple(count for *_, count in pieces_of(numbers(sizes), self.rows)),)
        return (unknown_sizes(self.alignment, [self._bound]),)

    @property
    def _bound(self) -> int | None:
        bound = upper(total(self.a.chunks[0]))
        prefix = self._prefix
        return prefix if bound is None or (prefix is not None and prefix < bound) else bound

    @property
    def _prefix(self) -> int | None:
        """The number of first rows that contain the selected ones, if it is known."""
        start, stop, step = self.rows.start or 0, self.rows.stop, self.rows.step or 1
        rising = step > 0 and start >= 0 and stop is not None and stop >= 0
        return stop if rising else None

    @property
    def from_start(self) -> bool:
        """Whether these are all rows before a position."""
        return self._prefix is not None and not self.rows.start and (self.rows.step or 1) == 1

    def requires(self, wanted: Columns) -> tuple[Columns, ...]:
        return (wanted,)

    def relation(self, inputs: Sequence[Any]) -> Table | None:
        (table,) = inputs
        if not self.from_start:
            return None
        found: Table = table.over(FirstRows(table.relation, self.rows.stop))
        return found

    def tile(self, a: Grid) -> Any:
        if not known(a.chunks[0]):
            return self._searched(a)
        return self._cut(a)

    def _searched(self, a: Grid) -> Generator[Look, Any, Grid]:
        prefix = self._prefix
        if prefix is None:
            (a,) = yield from resolved(a)
            return self._cut(a)
        rule = Blockwise(first_rows, (a,), ((0,),), {"count": prefix})
        if self.from_start and len(a) == 1:
            return self.grid(rule, self.chunks[0])
        # The look is for the first rows of each chunk, so that whole chunks are not held.
        heads = self.grid(rule, unknown_sizes(f"{self.name}:heads", [prefix] * len(a)))
        count = 1
        while True:
            infos = yield Look(tuple(heads.refs()[:count]))
            lengths = [info.shape[0] for info in infos]
            if count == len(a) or sum(lengths) >= prefix:
                return self._cut(first_chunks(heads, lengths))
            count = min(len(a), 2 * count)

    def tile_blind(self, a: Grid) -> Grid:
        if known(a.chunks[0]):
            return self._cut(a)
        kwargs = {"rows": self.rows}
        rule = Blockwise(rows_among, (a, row_counts(a)), ((0,), (None,)), kwargs, ChunkAt())
        parts = self.grid(
            rule, unknown_sizes(f"{self.name}:parts", [upper(size) for size in a.chunks[0]])
        )
        options = {"meta": self.meta, "itemsize": row_bytes(self.meta), "kwargs": kwargs}
        return gather(joined_rows, parts, chunks=self.chunks, **options)

    def _cut(self, a: Grid) -> Grid:
        pieces = pieces_of(numbers(a.chunks[0]), self.rows)
        axes = ((Via(0, tuple(position for position, *_ in pieces)),),)
        parts = RowSliceAt(tuple(part for _, part, _ in pieces))
        rule = Blockwise(take, (a,), axes, varying=parts, cheap=True)
        return self.grid(rule, tuple(count for *_, count in pieces))


def first_rows(block: Any, count: int) -> Any:
    """Return the first rows of a chunk."""
    return take(block, slice(0, count))


@kernel(view=True)
def rows_among(block: Any, counts: list[int], position: int, rows: slice) -> Any:
    """Return the selected rows of a chunk; ``counts`` has the rows of all chunks."""
    pieces = {place: part for place, part, _ in pieces_of(tuple(counts), rows)}
    return take(block, pieces.get(position, slice(0, 0)))


def joined_rows(parts: list[Any], rows: slice) -> Any:
    """Join the selected rows of all chunks."""
    return concat(parts if (rows.step or 1) > 0 else parts[::-1])


def positions(obj: S, rows: slice) -> S:
    """Return some rows by position."""
    if rows.step == 0:
        raise ValueError("slice step cannot be zero")
    node, chosen = obj.node, Positions(in_one_type(obj.node), rows)
    if isinstance(node, ResetIndex) and chosen.from_start and not known(node.chunks[0]):
        # The first rows have the first numbers, so the others need not be counted.
        found: S = wrap(node.replaced(a=Positions(in_one_type(node.a), rows)))
    else:
        found = wrap(chosen)
    return found


def head(obj: S, n: int = 5) -> S:
    """Return the first ``n`` rows; all but the last ``-n`` if negative."""
    if isinstance(n, bool | np.bool_):
        raise TypeError(f"slice(None, {n}, None): boolean values can not be used in a slice")
    n = operator.index(n)
    return positions(obj, slice(None, n))


def tail(obj: S, n: int = 5) -> S:
    """Return the last ``n`` rows; all but the first ``-n`` if negative."""
    n = operator.index(n)
    if n == 0:
        return positions(obj, slice(0, 0))
    return positions(obj, slice(-n, None))


@dataclass(frozen=True, eq=False)
class Row(FrameNode):
    """One row of a frame as a series over the columns, or one value of a series."""

    a: Node
    at: int

    @property
    def label(self) -> str:
        return "iloc"

    @property
    def is_row(self) -> bool:
        return True

    @property
    def meta(self) -> Any:
        sample = one_row(self.a.meta)
        if isinstance(sample, pd.DataFrame):
            return sample.iloc[0].iloc[:0].rename(None)
        return np.empty((), sample.dtype if isinstance(sample.dtype, np.dtype) else object)

    @property
    def chunks(self) -> Chunks:
        frame = isinstance(self.a.meta, pd.DataFrame)
        return ((len(self.a.meta.columns),),) if frame else ()

    def tile(self, a: Grid) -> Grid:
        return blockwise(
            row_at,
            [(a, (None,))],
            chunks=self.chunks,
            meta=self.meta,
            itemsize=row_bytes(self.meta) if self.chunks else None,
            kwargs={"at": self.at},
        )


def row_at(block: Any, at: int) -> Any:
    """Return the only row of a chunk."""
    if not len(block):
        raise IndexError(f"single positional indexer is out-of-bounds: {at}")
    return block.iloc[0]


#: Pandas's message for masks of a wrong length, a template for the two lengths.
BOOLEAN = "Boolean index has wrong length: {} instead of {}"


@public_methods
class ILoc(Generic[S]):
    """``iloc``: rows (and columns) by position."""

    def __init__(self, obj: S) -> None:
        self._obj = obj

    @overload
    def __getitem__(self, key: slice) -> S: ...
    @overload
    def __getitem__(self, key: Any) -> Any: ...
    def __getitem__(self, key: Any) -> Any:
        obj: Any = self._obj
        key = without_ellipsis(key, obj.node.meta.ndim)
        if isinstance(key, tuple):
            rows, columns = _two_parts(obj, key)
            obj, key = _columns_at(obj, in_memory(columns)), rows
        if isinstance(key, Collection) and not key.node.chunks:
            key = key.compute()
        if isinstance(key, slice):
            return copy(obj) if key == slice(None) else positions(obj, key)
        if isinstance(key, int | np.integer) and not isinstance(key, bool):
            return _row(obj, int(key))
        if isinstance(key, str | float):
            raise TypeError(f"Cannot index by location index with a non-integer key: {key!r}")
        if isinstance(key, list | np.ndarray | pd.Index):
            if len(key) and all(isinstance(one, bool | np.bool_) for one in key):
                return obj[aligned_values(obj, list(key), BOOLEAN)]
            return rows_in_order(obj, list(key))
        raise NotImplementedError(
            f"iloc by {type(key).__name__} is not supported; use an int, a slice, or df[mask]"
        )

    @keeps_lazy("arguments")
    def __setitem__(self, key: Any, value: Any) -> None:
        assign_iloc(self._obj, without_ellipsis(key, self._obj.node.meta.ndim), value)


def _two_parts(obj: Any, key: tuple[Any, ...]) -> tuple[Any, Any]:
    """Return the indexers of rows and of columns in a key."""
    if len(key) > obj.node.meta.ndim:
        raise IndexingError("Too many indexers")
    return key[0], key[1] if len(key) > 1 else slice(None)


def _columns_at(frame: Any, places: Any) -> Any:
    """Return the column at a position, or a frame of several; many may have one label."""
    labels = frame.node.meta.columns
    single = isinstance(places, int | np.integer)
    if labels.is_unique:
        return rowwise(column_of, frame, key=labels[places] if single else list(labels[places]))
    position = np.arange(len(labels))[places]
    return rowwise(column_at, frame, position=int(position) if single else position.tolist())


def _row(obj: Any, at: int) -> Any:
    sizes = obj.node.chunks[0]
    if known(sizes) and not -sum(numbers(sizes)) <= at < sum(numbers(sizes)):
        raise IndexError("single positional indexer is out-of-bounds")
    rows = slice(at, at + 1 if at != -1 else None)
    return wrap(Row(Positions(in_one_type(obj.node), rows), at))
