"""Convert frames to tensors."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from marsdask.core.collection import wrap
from marsdask.core.grids.blockwise import blockwise
from marsdask.core.grids.grid import Grid
from marsdask.core.machine.costs import kernel
from marsdask.core.node import Node, PartOf, Taken
from marsdask.core.sizes import Chunks

from .nodes.dtypes import in_one_type, is_small
from .nodes.frame_node import FrameNode, dtypes_of

if TYPE_CHECKING:
    from marsdask.tensor import Tensor


@dataclass(frozen=True, eq=False)
class ToTensor(Node):
    """The values of a frame; each chunk has all columns."""

    a: Node
    may_widen: bool = False
    """Whether integers or truth values may have gaps, as those of rows in no group."""

    @property
    def meta(self) -> Any:
        values = to_numpy(self.a.meta)
        dtype = values.dtype
        if isinstance(self.a, FrameNode) and self.a.opens_types and dtype.kind in "mM":
            dtype = np.dtype(dtype.kind)  # only values tell the unit
        if self.may_widen and dtype.kind in "biu":
            dtype = np.dtype(object if dtype.kind == "b" else float)
        return np.empty((0,) * values.ndim, dtype)

    @property
    def may_narrow(self) -> bool:
        return (self.may_widen or super().may_narrow) and is_small(self.a)

    @property
    def chunks(self) -> Chunks:
        return self._chunks(self.a.chunks)

    def _chunks(self, rows: Chunks) -> Chunks:
        meta = self.a.meta
        return (*rows, (len(meta.columns),)) if isinstance(meta, pd.DataFrame) else rows

    def sliced(self, taken: Taken, part: PartOf) -> Node | None:
        # A selection of columns would choose among labels that may be equal.
        if taken[0] is None or any(columns is not None for columns in taken[1:]):
            return None
        return self.replaced(a=part(self.a, taken[:1]))

    def tile(self, a: Grid) -> Grid:
        chunks = self._chunks(a.chunks)
        by_values = self.may_narrow or self.meta.dtype in ("M8", "m8")
        kwargs = {"dtype": None if by_values else self.meta.dtype}
        meta = None if self.may_narrow else self.meta
        return blockwise(to_numpy, [(a, (0,))], chunks=chunks, meta=meta, kwargs=kwargs)

    def tile_blind(self, a: Grid) -> Grid:
        kwargs = {"dtype": self.meta.dtype}
        chunks = self._chunks(a.chunks)
        return blockwise(to_numpy, [(a, (0,))], chunks=chunks, meta=self.meta, kwargs=kwargs)


@kernel(scratch=0.0)
def to_numpy(block: Any, dtype: Any = None) -> Any:
    """Return the values as an array; ``dtype`` is that of all chunks.

    Values of a chunk that cannot be cast to it are an error.
    """
    values = block.to_numpy()
    if dtype is None or values.dtype == dtype:
        return values
    if not np.can_cast(values.dtype, dtype, "safe"):
        raise TypeError(
            f"Cannot cast values from {values.dtype!r} to {dtype!r} according to the rule "
            "'safe'; use execute() before to_tensor(), or astype()"
        )
    return values.astype(dtype)


def in_utc(block: Any) -> Any:
    """Return times with a zone as those of UTC, without one."""
    times: Any = block if isinstance(block, pd.Index) else block.dt
    return times.tz_convert(None)


def to_tensor(obj: Any) -> Tensor:
    """Return the values of a frame, a series or an index as a tensor."""
    node = obj.node
    several = isinstance(node.meta, pd.DataFrame)
    tensor: Tensor = wrap(ToTensor(in_one_type(node) if several else node, _may_widen(node)))
    return tensor


def _may_widen(node: Node) -> bool:
    """Tell whether rows may have gaps that the declared integers or truth values cannot have."""
    if not _has_wide_source(node):
        return False
    stack: list[tuple[Node, Hashable | None]] = [(node, None)]
    visited = {*stack}
    while stack:
        rows, label = stack.pop()
        if not isinstance(rows, FrameNode) or not (kinds := _kinds(rows, label)):
            continue
        if rows.may_widen:
            return True
        # Numbers of truth values may have their gaps, but truth values of numbers have none.
        least = "b" if "b" in kinds else "biu"
        below = [pair for pair in rows.made_of(label) if {*_kinds(*pair)} & {*least, *kinds}]
        fresh = [pair for pair in below if pair not in visited]
        visited.update(fresh)
        stack += fresh
    return False


def _has_wide_source(node: Node) -> bool:
    """Tell whether any rows below may have gaps among integers or truth values."""
    nodes, stack = {node}, [node]
    while stack:
        rows = stack.pop()
        if isinstance(rows, FrameNode) and rows.may_widen:
            return True
        fresh = [child for child in rows.inputs if child not in nodes]
        nodes.update(fresh)
        stack += fresh
    return False


def _kinds(rows: Node, label: Hashable | None) -> set[str]:
    """Return the kinds of integers and truth values of rows, or of one of their columns."""
    meta = rows.meta
    if not isinstance(meta, pd.DataFrame | pd.Series):
        return set()
    if label is not None and meta.ndim == 2:
        meta = meta.loc[:, [own == label for own in meta.columns]]
    kinds: set[str] = {t.kind for t in dtypes_of(meta) if isinstance(t, np.dtype)}
    return kinds & {*"biu"}
