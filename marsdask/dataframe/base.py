"""What every frame family needs: frames as nodes, grids of rows, operands brought together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from marsdask.core.chunk import Grid
from marsdask.core.collection import Collection
from marsdask.core.node import Node
from marsdask.core.shapes import Blockwise, map_blocks, same
from marsdask.core.tokens import register_token
from marsdask.core.types import Chunks, Index, Sizes, borders

#: Labels of columns of which something is needed; ``None`` is all of them.
Columns: TypeAlias = frozenset[Any] | None

#: What a string or an object is taken to weigh before anybody has looked.
TEXT_BYTES = 32


def row_bytes(meta: Any) -> float:
    """Estimate the bytes of one row of a frame, a series or an index."""
    if isinstance(meta, pd.DataFrame):
        return _index_bytes(meta.index) + sum(map(_dtype_bytes, meta.dtypes))
    if isinstance(meta, pd.Series):
        return _index_bytes(meta.index) + _dtype_bytes(meta.dtype)
    if isinstance(meta, pd.MultiIndex):
        return float(sum(map(_dtype_bytes, meta.dtypes)))
    return _dtype_bytes(meta.dtype)


def _index_bytes(index: pd.Index) -> float:
    return 0.0 if isinstance(index, pd.RangeIndex) else row_bytes(index)


def _dtype_bytes(dtype: Any) -> float:
    if isinstance(dtype, pd.StringDtype) or getattr(dtype, "kind", None) == "O":
        return TEXT_BYTES
    return float(getattr(dtype, "itemsize", TEXT_BYTES))


@dataclass(frozen=True, eq=False)
class FrameNode(Node):
    """An operation whose chunks are runs of rows; the only axis of its grid is the rows."""

    @property
    def itemsize(self) -> float:
        """Bytes of one row."""
        return row_bytes(self.meta)

    def requires(self, wanted: Columns) -> tuple[Columns, ...]:
        """Say for each input which of its columns the ``wanted`` ones of the result need."""
        del wanted
        return (None,) * len(self.inputs)

    def grid(self, rule: Any, sizes: Sizes) -> Grid:
        """Return this node's grid."""
        return Grid(rule, (sizes,), self.meta, row_bytes(self.meta))

    def mapped(
        self,
        func: Callable[..., Any],
        *grids: Grid,
        chunks: Chunks | None = None,
        kwargs: Mapping[str, Any] | None = None,
        cheap: bool = False,
    ) -> Grid:
        """Map a kernel over chunks that hold the same rows."""
        return map_blocks(
            func,
            *grids,
            chunks=chunks,
            meta=self.meta,
            itemsize=row_bytes(self.meta),
            kwargs=kwargs,
            cheap=cheap,
        )


@dataclass(frozen=True)
class RowsAt:
    """Gives each chunk its rows of an object in memory, without copying."""

    name: str
    data: Any = field(repr=False)
    sizes: Sizes = field(repr=False)

    @property
    def token_name(self) -> str:
        return f"{self.name}:{self.sizes}"

    @cached_property
    def _starts(self) -> list[int]:
        return borders(self.sizes)

    def __call__(self, index: Index) -> tuple[Any]:
        (i,) = index
        rows = slice(self._starts[i], self._starts[i + 1])
        return (self.data[rows] if isinstance(self.data, pd.Index) else self.data.iloc[rows],)


def axis_number(meta: Any, axis: Any) -> int:
    """Return the number of an axis that pandas knows by number or by name."""
    number = {0: 0, "index": 0, "rows": 0, 1: 1, "columns": 1}.get(axis)
    if number is None or number >= meta.ndim:
        raise ValueError(f"No axis named {axis} for object type {type(meta).__name__}")
    return number


@dataclass(frozen=True, eq=False)
class FromPandas(FrameNode):
    """A pandas object in memory, its chunks views of it."""

    data: Any = field(repr=False)
    sizes: Sizes

    @property
    def label(self) -> str:
        return "from_pandas"

    @cached_property
    def meta(self) -> Any:
        return self.data[:0] if isinstance(self.data, pd.Index) else self.data.iloc[:0]

    @property
    def alignment(self) -> str:
        """Rows labelled from 0 are equal where they are equally many."""
        index = getattr(self.data, "index", None)
        default = isinstance(index, pd.RangeIndex) and index.start == 0 and index.step == 1
        return f"range:{len(self.data)}" if default else self.name

    @property
    def chunks(self) -> Chunks:
        return (self.sizes,)

    def tile(self, *inputs: Any) -> Grid:
        del inputs
        rule = Blockwise(same, varying=RowsAt(self.name, self.data, self.sizes), cheap=True)
        return self.grid(rule, self.sizes)

    def regrid(self, new: Mapping[Sizes, Sizes]) -> Node:
        return self.replaced(sizes=new.get(self.sizes, self.sizes))


@dataclass(frozen=True, eq=False)
class Beside(FromPandas):
    """Values in memory that lie beside some rows, whatever these are labelled."""

    rows: str
    """The alignment of the rows."""

    @property
    def alignment(self) -> str:
        return self.rows


def is_row(node: Node) -> bool:
    """Tell whether a node is a scalar or one value a column, which every chunk needs whole."""
    return (
        not node.chunks or bool(getattr(node, "is_row", False)) or isinstance(node.meta, np.ndarray)
    )


def as_node(obj: Any) -> Node:
    """Return the node of a frame, a series or an index of ours."""
    if isinstance(obj, Collection):
        return obj.node
    if isinstance(obj, Node):
        return obj
    raise TypeError(f"expected a marsdask frame or series, not {type(obj).__name__}")


def _write_extension_dtype(dtype: Any) -> str:
    return f"{type(dtype).__name__}:{dtype!r}"


for _kind in (pd.StringDtype, pd.DatetimeTZDtype, pd.ArrowDtype, pd.PeriodDtype):
    register_token(_kind, _write_extension_dtype)
