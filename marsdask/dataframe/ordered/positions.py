"""Runs of rows by position: only the chunks that contain them are computed."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from marsdask.core.grids.blockwise import Blockwise, Via
from marsdask.core.grids.chunk_positions import ChunkAt
from marsdask.core.grids.grid import Grid, Look
from marsdask.core.grids.lengths import first_chunks, resolved
from marsdask.core.grids.parts import is_small_part, part_of
from marsdask.core.grids.select import cut_axis
from marsdask.core.grids.tree import gather
from marsdask.core.machine.costs import kernel
from marsdask.core.node import Columns, Node, PartOf, SameMeta, Taken
from marsdask.core.sizes import Chunks, Index, known, numbers, total, unknown_sizes, upper
from marsdask.core.traits import Traits

from ..nodes.frame_node import FrameNode, row_bytes
from ..relations.relation import FirstRows, Table
from ..rows import concat, take
from .row_numbers import row_counts


def pieces_of(sizes: tuple[int, ...], rows: slice) -> list[tuple[int, slice, int]]:
    """List the chunks that contain some rows, in order: position, slice and number of rows."""
    slices = cut_axis(sizes, range(*rows.indices(sum(sizes))))
    return list(zip(slices.positions, slices.parts, slices.sizes, strict=True))


@dataclass(frozen=True)
class RowSliceAt:
    """Gives each chunk its slice."""

    slices: tuple[slice, ...]

    def __call__(self, index: Index) -> tuple[slice]:
        return (self.slices[index[0]],)


@dataclass(frozen=True, eq=False)
class Positions(SameMeta, FrameNode):
    """Some rows by position."""

    label: ClassVar[str] = "iloc"
    keeps_types: ClassVar[bool] = True

    rows: slice

    def runs_inline(self) -> bool:
        return True

    @property
    def traits(self) -> Traits:
        """Aligned objects stay aligned if the same positions are selected."""
        below = self.a.traits
        traits = below.of(f"{below.rows}[{self.rows}]")
        return traits if (self.rows.step or 1) > 0 else traits.unordered()

    @property
    def chunks(self) -> Chunks:
        sizes = self.a.chunks[0]
        if known(sizes):
            return (tuple(count for *_, count in pieces_of(numbers(sizes), self.rows)),)
        return (unknown_sizes(self.alignment, [self._bound]),)

    @property
    def _bound(self) -> int | None:
        limit = upper(total(self.a.chunks[0]))
        prefix = self._prefix
        return prefix if limit is None or (prefix is not None and prefix < limit) else limit

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
        result: Table = table.over(FirstRows(table.relation, self.rows.stop))
        return result

    def sliced(self, taken: Taken, part: PartOf) -> Node | None:
        (own,) = taken
        rows = total(self.a.chunks[0])
        if own is None or not isinstance(rows, int):
            return None
        return part(self.a, (range(rows)[self.rows][as_slice(own)],))

    @property
    def first_needed(self) -> int | None:
        return None if known(self.a.chunks[0]) else self._prefix

    def pushed_down(self) -> Node | None:
        rows = total(self.a.chunks[0])
        if not isinstance(rows, int) or not is_small_part(self.shape, self.a):
            return None
        node = self.a.sliced((range(rows)[self.rows],), part_of)
        # Rows are not cut anew: that costs more than what is saved.
        return node if node is None or node.chunks == self.chunks else None

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


def as_slice(rows: range) -> slice:
    """Return the slice of positions that are not counted from the end."""
    stop = rows.stop if rows.stop >= 0 else None
    return slice(rows.start, stop, rows.step) if rows else slice(0, 0)


def sliced_rows(node: Node, taken: Taken) -> Node:
    """Return the node of some rows of another."""
    (rows,) = taken
    return node if rows is None else Positions(node, as_slice(rows))


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
