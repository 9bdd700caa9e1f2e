"""Select rows by position: only the chunks that contain them are computed."""

from __future__ import annotations

import operator
from copy import copy
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, overload

import numpy as np
import pandas as pd
from pandas.errors import IndexingError

from marsdask.core.arguments import in_memory, keeps_lazy
from marsdask.core.collection import Collection, wrap
from marsdask.core.grids.blockwise import blockwise
from marsdask.core.grids.grid import Grid
from marsdask.core.machine.costs import kernel
from marsdask.core.node import Node
from marsdask.core.public import public_methods
from marsdask.core.sizes import Chunks, known, numbers

from ..elementwise.operands import aligned_values, is_mask
from ..elementwise.rowwise import columns_at
from ..labels.assignment import assign_iloc
from ..labels.by_position import rows_in_order, whole_numbers
from ..labels.masks import key_of_axes, listed_key
from ..nodes.dtypes import in_one_type
from ..nodes.frame_node import FrameNode, S, axis_number, row_bytes
from ..reduction.reductions import one_row
from ..rows import without_ellipsis
from ..whole.fallback import with_fallback
from ..whole.origin import MadeOfRows
from .positions import Positions
from .row_numbers import ResetIndex


def positions(obj: S, rows: slice) -> S:
    """Return some rows by position."""
    if rows.step == 0:
        raise ValueError("slice step cannot be zero")
    node, selection = obj.node, Positions(in_one_type(obj.node), rows)
    if isinstance(node, ResetIndex) and selection.from_start and not known(node.chunks[0]):
        # The first rows have the first numbers, so the others need not be counted.
        result: S = wrap(node.replaced(a=Positions(in_one_type(node.a), rows)))
    else:
        result = wrap(selection)
    return result


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

    label: ClassVar[str] = "iloc"
    is_row: ClassVar[bool] = True

    a: Node
    at: int

    @property
    def meta(self) -> Any:
        sample = one_row(self.a.meta)
        if isinstance(sample, pd.DataFrame):
            return sample.iloc[0].iloc[:0].rename(None)
        value = np.empty((), sample.dtype if isinstance(sample.dtype, np.dtype) else object)
        if not isinstance(sample.dtype, np.dtype):
            ordered = isinstance(sample.dtype, pd.CategoricalDtype)
            categories: Any = sample.dtype.categories if ordered else ()
            # Operators are tried with it.
            value[()] = categories[0] if len(categories) else sample.iloc[0]
        return value

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


@kernel(view=True)
def row_at(block: Any, at: int) -> Any:
    """Return the only row of a chunk."""
    if not len(block):
        raise IndexError(f"single positional indexer is out-of-bounds: {at}")
    return block.iloc[0]


#: Pandas's message for masks of a wrong length, a template for the two lengths.
BOOLEAN = "Boolean index has wrong length: {} instead of {}"


@public_methods
@with_fallback
class ILoc(MadeOfRows, Generic[S]):
    """``iloc``: rows (and columns) by position."""

    def __init__(self, obj: S) -> None:
        self._obj = obj
        self._axis: int | None = None

    def __call__(self, axis: int | str | None = None) -> ILoc[S]:
        """Return the same of one axis: the key is of its positions alone."""
        positions = ILoc(self._obj)
        positions._axis = None if axis is None else axis_number(self._obj.node.meta, axis)
        return positions

    @overload
    def __getitem__(self, key: slice) -> S: ...
    @overload
    def __getitem__(self, key: Any) -> Any: ...
    def __getitem__(self, key: Any) -> Any:
        obj: Any = self._obj
        key = without_ellipsis(key_of_axes(obj, self._axis, key), obj.node.meta.ndim)
        if isinstance(key, tuple):
            rows, columns = _two_parts(obj, key)
            obj, key = columns_at(obj, in_memory(columns)) if obj.ndim == 2 else obj, rows
        if isinstance(key, Collection) and not key.node.chunks:
            key = key.compute()
        key = key[()] if isinstance(key, np.ndarray) and not key.ndim else key
        if isinstance(key, slice):
            return copy(obj) if key == slice(None) else positions(obj, key)
        if isinstance(key, int | np.integer) and not isinstance(key, bool):
            return _row(obj, int(key))
        if isinstance(key, str | float):
            raise TypeError(f"Cannot index by location index with a non-integer key: {key!r}")
        if isinstance(key, bool | np.bool_):
            raise TypeError(f"Cannot index by location index with a non-integer key: {key!r}")
        key = listed_key(list(key) if isinstance(key, range | tuple) else key)
        if isinstance(key, list | np.ndarray | pd.Index):
            if is_mask(key):
                return obj[aligned_values(obj, np.asarray(key, bool), BOOLEAN, IndexError)]
            return rows_in_order(obj, whole_numbers(key))
        if isinstance(key, set | frozenset):
            raise TypeError("Passing a set as an indexer is not supported. Use a list instead.")
        raise NotImplementedError(
            f"iloc by {type(key).__name__} is not supported; use an int, a slice, or df[mask]"
        )

    @keeps_lazy("arguments")
    def __setitem__(self, key: Any, value: Any) -> None:
        key = key_of_axes(self._obj, self._axis, key)
        assign_iloc(self._obj, without_ellipsis(key, self._obj.node.meta.ndim), value)


def _two_parts(obj: Any, key: tuple[Any, ...]) -> tuple[Any, Any]:
    """Return the indexers of rows and of columns in a key."""
    if len(key) > obj.node.meta.ndim:
        raise IndexingError("Too many indexers")
    return key[0], key[1] if len(key) > 1 else slice(None)


def _row(obj: Any, at: int) -> Any:
    sizes = obj.node.chunks[0]
    if known(sizes) and not -sum(numbers(sizes)) <= at < sum(numbers(sizes)):
        raise IndexError("single positional indexer is out-of-bounds")
    rows = slice(at, at + 1 if at != -1 else None)
    return wrap(Row(Positions(in_one_type(obj.node), rows), at))
