"""Rows become columns, and levels of labels other ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from marsdask.core.grids.grid import Grid
from marsdask.core.grids.tree import gather
from marsdask.core.machine.costs import kernel
from marsdask.core.node import Node

from ..elementwise.rowwise import Method, NewLabels, rowwise
from ..nodes.frame_node import S, axis_number, row_bytes
from ..reduction.fold import SmallResult
from ..reduction.reductions import collection_of
from ..rows import concat
from ..schemas.samples import row

if TYPE_CHECKING:
    from ..frame import DataFrame

#: The most bytes of rows that become columns.
LARGEST = 2**28


@dataclass(frozen=True, eq=False)
class Transpose(SmallResult):
    """Rows as columns, in one chunk."""

    a: Node

    @property
    def level_orders(self) -> tuple[Any, ...]:
        labels = self.meta.index
        return tuple(labels.levels) if isinstance(labels, pd.MultiIndex) else ()

    def tile(self, a: Grid) -> Grid:
        like = {"meta": self.meta, "itemsize": row_bytes(self.meta)}
        return gather(transposed, a, chunks=self.chunks, **like)


@kernel(scratch=2.0)
def transposed(blocks: list[Any]) -> Any:
    """Return the rows of all chunks as columns."""
    return concat(blocks).T


def transpose(frame: DataFrame, *args: Any) -> DataFrame:
    """Return the rows as columns, in one chunk. See pandas.DataFrame.transpose.

    Computes the labels of the rows at the call.
    """
    if args not in {(), (None,)}:
        raise ValueError("the 'axes' parameter is not supported in the pandas implementation")
    meta = frame.node.meta
    rows = len(frame)
    if rows * row_bytes(meta) > LARGEST:
        raise NotImplementedError(
            f"transpose() of {rows} rows is not supported, since each becomes a column; use "
            "to_tensor().T"
        )
    labels = frame.index.compute()
    dtype = row(meta).T.dtypes.iloc[0]
    columns = {at: pd.Series([], dtype=dtype) for at in range(rows)}
    like = pd.DataFrame(columns).set_axis(meta.columns[:0]).set_axis(labels, axis=1)
    node = Transpose(like, len(meta.columns), False, "transpose", frame.node)
    result: DataFrame = collection_of(node)
    return result


def droplevel(obj: S, level: Any, axis: int | str = 0) -> S:
    """Return the object without a level of its labels. See pandas.DataFrame.droplevel."""
    return _relabelled("droplevel", obj, axis, level=level)


def swaplevel(obj: S, i: Any = -2, j: Any = -1, axis: int | str = 0) -> S:
    """Return the object with two levels of its labels swapped. See pandas.DataFrame.swaplevel."""
    return _relabelled("swaplevel", obj, axis, i=i, j=j)


def reorder_levels(obj: S, order: Sequence[int | str], axis: int | str = 0) -> S:
    """Return the object with the levels of its labels in another order.

    See pandas.DataFrame.reorder_levels.
    """
    return _relabelled("reorder_levels", obj, axis, order=list(order))


def _relabelled(name: str, obj: S, axis: Any, **options: Any) -> S:
    number = axis_number(obj.node.meta, axis)
    if obj.ndim == 2:
        options["axis"] = number
    result: S = rowwise(Method(name) if number else NewLabels(Method(name)), obj, **options)
    return result
