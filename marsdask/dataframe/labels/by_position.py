"""Rows at a list of positions, and samples of rows."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np
import pandas as pd
from pandas.api.extensions import ExtensionArray

from marsdask.core.arguments import in_memory
from marsdask.core.collection import Collection
from marsdask.core.grids.blockwise import Blockwise, Via
from marsdask.core.grids.grid import Grid
from marsdask.core.grids.lengths import resolved
from marsdask.core.grids.parts import MOST_RUNS, is_small_part, outer_cut, part_of
from marsdask.core.grids.select import concatenate_grids
from marsdask.core.grids.tree import gather
from marsdask.core.node import Columns, Node, SameMeta
from marsdask.core.sizes import Chunks, Index, borders, known, total
from marsdask.core.traits import Traits

from ..nodes.dtypes import in_one_type
from ..nodes.frame_node import FrameNode, S, axis_number, row_bytes
from ..rows import concat

#: The most bytes of rows that are chosen one by one, into one chunk.
LARGEST = 2**28


@dataclass(frozen=True)
class PositionsAt:
    """Gives each chunk the positions of its chosen rows."""

    parts: tuple[tuple[int, ...], ...]

    def __call__(self, index: Index) -> tuple[Any]:
        return (np.array(self.parts[index[0]], dtype=np.intp),)


@dataclass(frozen=True, eq=False)
class ListedRows(SameMeta, FrameNode):
    """The rows at a list of positions, in its order, in one chunk."""

    label: ClassVar[str] = "take"

    positions: tuple[int, ...]

    @property
    def traits(self) -> Traits:
        """Aligned objects stay aligned if the same positions are selected."""
        return Traits(f"{self.a.alignment}[{self.positions}]")

    @property
    def chunks(self) -> Chunks:
        return ((len(self.positions),),)

    def requires(self, wanted: Columns) -> tuple[Columns, ...]:
        return (wanted,)

    def pushed_down(self) -> Node | None:
        rows = total(self.a.chunks[0])
        if not isinstance(rows, int) or not self.positions or not is_small_part(self.shape, self.a):
            return None
        span = outer_cut(np.array(self.positions, dtype=np.intp))
        if span is None or len(span.runs) > MOST_RUNS or span.length > 16 * len(self.positions):
            return None
        parts = [self.a.sliced((run,), part_of) for run in span.runs]
        if None in parts:
            return None
        a = parts[0] if len(parts) == 1 else ChosenRuns(tuple(parts))  # type: ignore[arg-type]
        return self.replaced(a=a, positions=tuple(map(int, span.local)))

    def tile(self, a: Grid) -> Generator[Any, Any, Grid]:
        if not known(a.chunks[0]):
            (a,) = yield from resolved(a)
        starts = borders(a.chunks[0])
        at = np.array(self.positions, dtype=np.intp)
        if len(at) and (at.max() >= starts[-1] or at.min() < -starts[-1]):
            raise IndexError("positional indexers are out-of-bounds")
        at = np.where(at < 0, at + starts[-1], at)
        order = np.argsort(at, kind="stable")
        chunk = np.searchsorted(starts, at[order], side="right") - 1
        numbers = [int(number) for number in np.unique(chunk)] or [0]
        parts = tuple(tuple(int(x) for x in at[order][chunk == i] - starts[i]) for i in numbers)
        rule = Blockwise(rows_at, (a,), ((Via(0, tuple(numbers)),),), varying=PositionsAt(parts))
        pieces = self.grid(rule, tuple(map(len, parts)))
        options = {"meta": self.meta, "itemsize": self.itemsize, "kwargs": {"order": order}}
        return gather(joined_at, pieces, chunks=self.chunks, **options)


@dataclass(frozen=True, eq=False)
class ChosenRuns(FrameNode):
    """Runs of the rows of one object, one after the other."""

    runs: tuple[Node, ...]

    @property
    def meta(self) -> Any:
        return self.runs[0].meta

    @property
    def chunks(self) -> Chunks:
        return (tuple(size for run in self.runs for size in run.chunks[0]),)

    def requires(self, wanted: Columns) -> tuple[Columns, ...]:
        return (wanted,) * len(self.runs)

    def tile(self, *grids: Grid) -> Grid:
        return concatenate_grids(grids, 0, self.meta)


def rows_at(block: Any, positions: Any) -> Any:
    """Return the rows of a chunk at some positions."""
    return block.take(positions) if isinstance(block, pd.Index) else block.iloc[positions]


def joined_at(parts: list[Any], order: Any) -> Any:
    """Join the rows of all chunks, in the order that was asked for."""
    return rows_at(concat(parts), np.argsort(order, kind="stable"))


def check_count(count: int, width: float) -> None:
    """Raise for so many rows that one chunk of them would be too large."""
    if count * width > LARGEST:
        raise NotImplementedError(
            f"{count} rows by position are not supported, since they are one chunk; use a mask, "
            "or a slice"
        )


def whole_numbers(positions: Any) -> list[int]:
    """Return positions as integers; raise pandas's errors for others."""
    if isinstance(positions, pd.Index | ExtensionArray):
        found = positions.to_numpy(np.intp)  # which raises for missing ones
    else:
        found = np.array(positions).astype(np.intp)
    if found.ndim != 1:
        raise ValueError(f"Buffer has wrong number of dimensions (expected 1, got {found.ndim})")
    return cast("list[int]", found.tolist())


def rows_in_order(obj: S, positions: Sequence[Any]) -> S:
    """Return the rows at a list of positions."""
    check_count(len(positions), row_bytes(obj.node.meta))
    rows = total(obj.node.chunks[0])
    if isinstance(rows, int) and any(not -rows <= position < rows for position in positions):
        raise IndexError("positional indexers are out-of-bounds")
    # What is counted from the end is told from the start, so that equal rows have equal names.
    at = [int(x) + rows if x < 0 and isinstance(rows, int) else int(x) for x in positions]
    result: S = type(obj)(ListedRows(in_one_type(obj.node), tuple(at)))
    return result


def take(obj: S, indices: Any, axis: int | str = 0) -> S:
    """Return rows by position. See pandas.DataFrame.take.

    The rows are one chunk.
    """
    if axis_number(obj.node.meta, axis) == 1:
        rows: S = obj.iloc[:, list(indices)]
        return rows
    return rows_in_order(obj, whole_numbers(indices))


#: The most rows among which NumPy's old generators draw: they shuffle the positions of all.
MOST_SHUFFLED = 2**28


def drawn_positions(
    rows: int,
    width: float,
    n: int | None,
    frac: float | None,
    replace: bool,
    random_state: Any,
) -> list[int]:
    """Return the positions that pandas draws from so many rows.

    It makes a list of all of them, so of very many the same generator draws here.
    """
    if rows <= MOST_SHUFFLED:
        options = {"n": n, "frac": frac, "replace": replace, "random_state": random_state}
        positions: list[int] = pd.Series(np.arange(rows)).sample(**options).tolist()
        return positions
    pd.Series([0]).sample(n and min(n, 1), frac, replace, random_state=0)  # checks the arguments
    count = round(frac * rows) if frac is not None else 1 if n is None else n
    if count > rows and not replace:
        raise ValueError("Cannot take a larger sample than population when 'replace=False'")
    check_count(count, width)
    source = np.random.default_rng() if random_state is None else random_state
    if not isinstance(source, np.random.Generator | np.random.RandomState):
        source = np.random.RandomState(source)
    if not replace and isinstance(source, np.random.RandomState):
        raise NotImplementedError(
            f"sample() of {rows} rows by RandomState is not supported, since it shuffles the "
            "positions of all; use random_state=np.random.default_rng()"
        )
    numbers: list[int] = source.choice(rows, size=count, replace=replace).tolist()
    return numbers


def _drawn_by_weights(obj: Any, weights: Any, options: dict[str, Any]) -> list[int]:
    """Return the positions that pandas draws of rows by their weights."""
    rows = len(obj)
    if rows > MOST_SHUFFLED:
        raise NotImplementedError(
            f"sample(weights=) of {rows} rows is not supported; use a mask, or a slice, before it"
        )
    if obj.ndim == 2 and isinstance(weights, str):
        if weights not in obj.node.meta.columns:
            raise KeyError("String passed to weights not a valid column")
        weights = obj[weights].array
    weights = weights.compute() if isinstance(weights, Collection) else weights
    labels = obj.index.compute() if isinstance(weights, pd.Series) else None
    places = pd.Series(np.arange(rows), labels).sample(weights=weights, **options)
    positions: list[int] = places.tolist()
    return positions


def sample(
    obj: S,
    n: int | None = None,
    frac: float | None = None,
    replace: bool = False,
    weights: Any = None,
    random_state: Any = None,
    axis: int | str | None = None,
    ignore_index: bool = False,
) -> S:
    """Return some rows at random, those that pandas draws. See pandas.DataFrame.sample.

    The rows are one chunk, and an unknown number of rows is computed, as are lazy weights.
    """
    options = {"n": n, "frac": frac, "replace": replace, "random_state": random_state}
    meta: Any = obj.node.meta
    if axis is not None and axis_number(meta, axis) == 1:
        places = pd.DataFrame([range(len(meta.columns))], columns=meta.columns)
        drawn = places.sample(
            weights=in_memory(weights), axis=1, ignore_index=ignore_index, **options
        )
        columns: S = obj.iloc[:, drawn.iloc[0].tolist()].set_axis(drawn.columns, axis=1)
        return columns
    positions = (
        drawn_positions(len(obj), row_bytes(meta), **options)
        if weights is None
        else _drawn_by_weights(obj, weights, options)
    )
    rows = rows_in_order(obj, positions)
    result: S = rows.reset_index(drop=True) if ignore_index else rows
    return result
