"""Number the rows: labels from 0."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, overload

import pandas as pd

from marsdask.core.collection import wrap
from marsdask.core.grids.blockwise import Blockwise, blockwise
from marsdask.core.grids.chunk_positions import ChunkAt, StartAt
from marsdask.core.grids.grid import Grid
from marsdask.core.grids.lengths import resolved
from marsdask.core.grids.tree import gather
from marsdask.core.machine.costs import kernel
from marsdask.core.node import Columns, Node, PartOf, SameChunks, Taken
from marsdask.core.sizes import Unknown, known, total
from marsdask.core.traits import VALUES, Level, Traits, kept

from ..elementwise.rowwise import NewLabels, rowwise
from ..nodes.frame_node import FrameNode, S
from ..nodes.traits import comparable, numbered_rows
from ..relations.relation import Table
from ..rows import level_at
from ..schemas.samples import with_gaps
from ..schemas.schema import types_of

if TYPE_CHECKING:
    from ..frame import DataFrame
    from ..series import Series


class OfReset(Protocol):
    """``reset_index`` of a Series: the labels become a column, unless they are dropped."""

    @overload
    def __call__(self, *, drop: Literal[False] = False, **options: Any) -> DataFrame: ...
    @overload
    def __call__(self, *, drop: Literal[True], **options: Any) -> Series: ...
    @overload
    def __call__(self, *, drop: bool, **options: Any) -> DataFrame | Series: ...


class ResetMethod(Protocol):
    """``reset_index`` as a method."""

    @overload
    def __get__(self, obj: DataFrame, owner: Any, /) -> Callable[..., DataFrame]: ...
    @overload
    def __get__(self, obj: Series, owner: Any, /) -> OfReset: ...
    @overload
    def __get__(self, obj: object, owner: Any, /) -> Callable[..., Any]: ...


@dataclass(frozen=True, eq=False)
class ResetIndex(SameChunks, FrameNode):
    """The rows labelled from 0; the old labels are dropped or become columns."""

    keeps_types: ClassVar[bool] = True

    drop: bool
    options: tuple[tuple[str, Any], ...] = ()
    labels: range | None = field(default=None, kw_only=True)
    """The row labels, if they are not those from 0 on."""

    def runs_inline(self) -> bool:
        return True

    @property
    def label(self) -> str:
        # New numbers are part of the operation that made the rows: a merge, a sort.
        return self.a.label if self.drop else "reset_index"

    @property
    def meta(self) -> Any:
        rows = with_gaps(self.a.meta, self.a.level_gaps)
        return types_of(self, lambda: number_rows(rows, 0, self.drop, self.options).iloc[:0])

    @property
    def settled(self) -> bool:
        return self.a.settled and not self._reads_gaps

    @property
    def types_by_rows(self) -> bool:
        return self._reads_gaps or super().types_by_rows

    @property
    def _reads_gaps(self) -> bool:
        return bool(self.a.level_gaps) and not self.drop

    @property
    def common_keys(self) -> frozenset[Any]:
        return self.a.common_keys if isinstance(self.a, FrameNode) else frozenset()

    @property
    def traits(self) -> Traits:
        """Rows labelled from 0 are aligned if their numbers are equal."""
        rows = f"range:{total(self.a.chunks[0])!r}" if self._counted else f"number:{self._rows}"
        if self.labels is not None:
            rows = f"range:{self.labels}"
        return numbered_rows(rows).and_those(self.a.traits.carried(self.carry))

    def carry(self, key: Hashable) -> Hashable | None:
        """Return the new key for a key of the input: labels become columns."""
        return comparable(self.meta, self._key)(key)

    def _key(self, key: Hashable) -> Hashable | None:
        if isinstance(key, Level):
            label: Hashable = None if self.drop else self.meta.columns[key.number]
            return label
        series = isinstance(self.meta, pd.DataFrame) and key == VALUES
        return self.meta.columns[-1] if series else key

    @property
    def _counted(self) -> bool:
        return isinstance(total(self.a.chunks[0]), int)

    @property
    def _rows(self) -> str:
        size = total(self.a.chunks[0])
        return size.name if isinstance(size, Unknown) else str(size)

    def requires(self, wanted: Columns) -> tuple[Columns, ...]:
        if self.drop or wanted is None or not isinstance(self.a.meta, pd.DataFrame):
            return (wanted if self.drop else None,)
        if self.options or not self.a.meta.columns.is_unique or self.a.meta.columns.nlevels > 1:
            return (None,)
        # Labels without a name become "index" unless there is such a column.
        return (wanted | {"index"},)

    def relation(self, inputs: Sequence[Any]) -> Table | None:
        (table,) = inputs
        if self.drop:
            return Table(table.relation, table.columns)
        if self.options:
            return None
        table = table.labelled()
        return Table(table.relation, (*table.labels, *table.columns))

    def sliced(self, taken: Taken, part: PartOf) -> Node | None:
        (rows,) = taken
        if rows is None or not self._counted:
            return None
        return self.replaced(a=part(self.a, (rows,)), labels=part_of_labels(self.labels, rows))

    def tile(self, a: Grid) -> Any:
        if len(a) > 1:
            (a,) = yield from resolved(a)
        starts = StartAt(a.chunks[0] if len(a) > 1 else (0,))
        rule = Blockwise(number_rows, (a,), ((0,),), self._kwargs, starts)
        partitioning = kept(a.partitioning, self.carry)
        return self.grid(rule, a.chunks[0], partitioning=partitioning)

    def tile_blind(self, a: Grid) -> Any:
        if len(a) == 1 or known(a.chunks[0]):
            return self.tile(a)
        axes = ((0,), (None,))
        rule = Blockwise(number_chunk, (a, row_counts(a)), axes, self._kwargs, ChunkAt())
        return self.grid(rule, a.chunks[0])

    @property
    def _kwargs(self) -> dict[str, Any]:
        return {"drop": self.drop, "options": self.options, "labels": self.labels}


def part_of_labels(labels: range | None, rows: range) -> range:
    """Return the labels of some rows of those that have ``labels``, or their numbers."""
    if labels is None:
        return rows
    start, step = labels.start + labels.step * rows.start, labels.step * rows.step
    return range(start, start + step * len(rows), step)


def numbers_of(labels: range | None, first: int, count: int) -> pd.RangeIndex:
    """Return the labels of a run of rows that begins at position ``first``."""
    run = range(first, first + count)
    return pd.RangeIndex(run if labels is None else part_of_labels(labels, run))


def row_counts(grid: Grid) -> Grid:
    """Return one chunk: the list of all chunks' computed numbers of rows."""
    rows = (0, *(None,) * (grid.ndim - 1))
    counts = blockwise(len, [(grid, rows)], chunks=((1,) * len(grid),), itemsize=32.0)
    return gather(list, counts, chunks=((len(grid),),), itemsize=32.0)


@kernel(scratch=0.0)
def number_chunk(block: Any, counts: list[int], position: int, **kwargs: Any) -> Any:
    """Label the rows of a chunk by their numbers; ``counts`` has the rows of all chunks."""
    return number_rows(block, sum(counts[:position]), **kwargs)


@kernel(scratch=0.0)
def number_rows(
    block: Any,
    first: int,
    drop: bool,
    options: tuple[tuple[str, Any], ...] = (),
    labels: range | None = None,
) -> Any:
    """Label the rows of a chunk by their numbers from ``first`` on, or by ``labels`` there."""
    old = block.index
    block = block.copy(deep=False) if drop else block.reset_index(**dict(options))
    block.index = numbers_of(labels, first, len(block))
    return block if drop else with_objects(block, old, range(old.nlevels))


@kernel(scratch=0.0)
def reset_levels(block: Any, level: list[int], drop: bool, **options: Any) -> Any:
    """Return rows whose labels lack some levels, which become columns unless they are dropped."""
    rows = block.reset_index(level=level, drop=drop, **options)
    return rows if drop else with_objects(rows, block.index, sorted({*level}))


def with_objects(rows: Any, labels: pd.Index, levels: Sequence[int]) -> Any:
    """Return rows whose first columns are levels of labels: objects stay, which a chunk hides."""
    for at, level in enumerate(levels):
        values = level_at(labels, level)
        if values.dtype == object:
            rows.isetitem(at, pd.Series(values.array, rows.index, dtype=object))
    return rows


@overload
def reset_index(obj: S, level: Any = None, *, drop: Literal[True], **options: Any) -> S: ...
@overload
def reset_index(
    obj: Any, level: Any = None, *, drop: Literal[False] = False, **options: Any
) -> Any: ...
def reset_index(obj: Any, level: Any = None, *, drop: bool = False, **options: Any) -> Any:
    """Label the rows from 0; the old labels become columns unless they are dropped.

    With ``level`` only some levels do, and the rows keep the others as their labels. See
    pandas.DataFrame.reset_index.
    """
    labels = obj.node.meta.index
    levels = level if isinstance(level, list | tuple | range) else [level]
    # Without ``level`` nothing is looked up: numbers may be the names of other levels.
    numbers = [] if level is None else [*map(labels._get_level_number, levels)]
    if level is not None and len({*numbers}) < labels.nlevels:
        return rowwise(NewLabels(reset_levels), obj, level=numbers, drop=drop, **options)
    return wrap(ResetIndex(obj.node, drop, tuple(options.items())))


def without_numbers(node: Node, keys: Iterable[Hashable]) -> Node:
    """Return the node without new numbers that only replace its labels, none named as a key."""
    below = node
    while isinstance(below, ResetIndex) and below.drop:
        below = below.a
    return below if {*keys}.isdisjoint(below.meta.index.names) else node
