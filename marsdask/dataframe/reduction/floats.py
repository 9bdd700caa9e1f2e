"""Results in 64 bits become floats of fewer bits, where pandas's do: all chunks decide together."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from marsdask.core.grids.blockwise import blockwise, map_blocks
from marsdask.core.grids.grid import Grid
from marsdask.core.grids.tree import Pairwise, tree
from marsdask.core.machine.costs import kernel
from marsdask.core.node import Columns, Node, SameChunks
from marsdask.core.traits import Traits

from ..elementwise.rowwise import column_of
from ..nodes.frame_node import FrameNode, row_bytes
from ..nodes.traits import comparable, kept_labels
from .fold import FrameFold

#: Aggregations that pandas returns in 32 bits only if no value changes much.
CLOSE = {"std", "sem", "median", "skew", "kurt"}
#: Those that it computes of 16 bits in 32.
SINGLE = {"sum", "prod", "mean", "var"}
#: How much a value may change in 32 bits.
TOLERANCE = 5e-4


@dataclass(frozen=True)
class Narrowing:
    """The types of pandas's columns, and the aggregations that were computed of doubles."""

    dtypes: tuple[Any, ...]
    names: tuple[str | None, ...]
    """The aggregation of each column, ``None`` if its type is pandas's already."""
    sources: tuple[Hashable, ...]
    """The column that each of them aggregates."""
    together: bool
    """Whether columns of one type stay wide together."""
    keys: tuple[Hashable, ...]
    """The columns of the keys of groups."""
    sort: bool = True
    dropna: bool = True
    in_order: bool = False
    """Whether pandas sorts the rows by the keys before, as by the times of bins."""

    def rows(self, block: Any) -> tuple[Any, bool, frozenset[Any]]:
        """Return some keys, whether the groups rise, and which columns have gaps."""
        keys = column_of(block, list(self.keys))
        gaps = frozenset(
            dtype if self.together else at
            for at, (dtype, name) in enumerate(zip(self.dtypes, self.names, strict=True))
            if name is not None and block[self.sources[at]].isna().any()
        )
        return self._ends(keys), self._rise(keys), gaps

    def joined(self, a: Any, b: Any) -> tuple[Any, bool, frozenset[Any]]:
        """Return the same of two runs of rows."""
        (first, rise, gaps), (last, rises, more) = a, b
        keys = pd.concat([first, last])
        rise = rise and rises and self._rise(keys)
        return self._ends(keys) if rise else keys.iloc[:1], rise, gaps | more

    def _rise(self, keys: Any) -> bool:
        """Tell whether pandas's numbers of the groups never fall: -1 is that of no group."""
        groups = keys.groupby(list(keys), sort=self.sort, dropna=self.dropna, observed=True)
        return self.in_order or bool(groups.ngroup().fillna(-1).is_monotonic_increasing)

    def _ends(self, keys: Any) -> Any:
        """Return the rows that later keys are compared to."""
        return keys.iloc[[0, -1]] if self.sort else keys.drop_duplicates()

    def wide_means(self, rows: Any) -> Any:
        """Return the means that pandas computes of doubles: of groups in order without gaps."""
        result = np.empty((), dtype=object)
        default: tuple[Any, bool, frozenset[Any]] = (None, False, frozenset())
        keys, rise, gaps = rows or default
        rise = rise and not (self.dropna and keys.isna().any(axis=1).all())  # there are groups
        columns = enumerate(zip(self.dtypes, self.names, strict=True))
        means = {dtype if self.together else at for at, (dtype, how) in columns if how == "mean"}
        result[()] = frozenset(("mean", label) for label in means - gaps) if rise else frozenset()
        return result

    def general(self) -> frozenset[Any]:
        """Return what is declared not to fit: values of 16 bits, and means, which may stay wide."""
        columns = [
            (dtype if self.together else at, dtype, name)
            for at, (dtype, name) in enumerate(zip(self.dtypes, self.names, strict=True))
            if name is not None
        ]
        wide = {label for label, dtype, _ in columns if dtype == np.float16}
        return frozenset(wide | {("mean", label) for label, _, name in columns if name == "mean"})

    def misfits(self, block: Any) -> frozenset[Any]:
        """Return the columns, or the types, some of whose values change in fewer bits."""
        columns = enumerate(zip(self.dtypes, self.names, strict=True))
        return frozenset(
            dtype if self.together else at
            for at, (dtype, name) in columns
            if name is not None and not _fits(_column(block, at), dtype, name)
        )

    def __call__(self, block: Any, misfits: frozenset[Any]) -> Any:
        """Return the columns in pandas's types, but for those that do not fit."""
        result = block.copy(deep=False)
        for at, (dtype, name) in enumerate(zip(self.dtypes, self.names, strict=True)):
            if name is None:
                continue
            wide = (dtype if self.together else at) in misfits
            if wide and (dtype.itemsize == np.float32().itemsize or name not in SINGLE):
                continue
            if ("mean", dtype if self.together else at) in misfits:
                continue
            with np.errstate(over="ignore"):
                column = _column(result, at).astype(np.float32 if wide else dtype)
            if result.ndim == 1:
                return column
            result.isetitem(at, column)
        return result


def _column(block: Any, at: int) -> Any:
    return block if isinstance(block, pd.Series) else block.iloc[:, at]


def _fits(column: Any, dtype: Any, name: str) -> bool:
    single = dtype.itemsize == np.float32().itemsize
    if single and name not in CLOSE:
        return True
    values = column.to_numpy()
    with np.errstate(over="ignore"):
        short = values.astype(dtype)
    return np.allclose(short, values, rtol=0, atol=TOLERANCE if single else 0, equal_nan=True)


@dataclass(frozen=True, eq=False)
class NarrowFloats(SameChunks, FrameNode):
    """The same rows with floats of fewer bits, if the values of all chunks fit into them."""

    settled: ClassVar[bool] = False

    rows: Node
    """Which means stay wide."""
    how: Narrowing

    @property
    def meta(self) -> Any:
        return self.how(self.a.meta, self.how.general())

    @property
    def traits(self) -> Traits:
        return self.a.traits.carried(comparable(self.meta, kept_labels))

    def requires(self, wanted: Columns) -> tuple[Columns, ...]:
        del wanted
        return None, None

    def tile(self, a: Grid, rows: Grid) -> Grid:
        kwargs = {"how": self.how}
        chunks = ((1,) * len(a),)
        misfits = map_blocks(misfits_of, a, chunks=chunks, itemsize=64.0, kwargs=kwargs)
        return blockwise(
            narrowed,
            [(a, (0,)), (tree(misfits, Pairwise(both), [0]), (None,)), (rows, ())],
            chunks=a.chunks,
            meta=self.meta,
            itemsize=row_bytes(self.meta),
            kwargs=kwargs,
        )


@kernel(scratch=1.5)
def misfits_of(block: Any, how: Narrowing) -> Any:
    """Return which columns do not fit into fewer bits."""
    return how.misfits(block)


def both(a: Any, b: Any) -> Any:
    """Return the columns that do not fit in one of two runs of rows."""
    return a | b


@kernel(scratch=1.5)
def narrowed(block: Any, misfits: Any, wide_means: Any, how: Narrowing) -> Any:
    """Return the columns in fewer bits."""
    return how(block, misfits | wide_means.item())


def narrow_floats(found: Node, rows: Node, how: Narrowing | None) -> Node:
    """Return aggregations of rows with floats of fewer bits, where pandas has these."""
    if how is None:
        return found
    initial = np.empty((), dtype=object)
    steps = (how.rows, how.joined, how.wide_means)
    return NarrowFloats(found, FrameFold(initial, None, False, "groupby", rows, steps), how)
