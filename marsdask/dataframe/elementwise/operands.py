"""Operands of arithmetic: scalars, other rows, and arrays in the order of the rows."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from pandas.api.extensions import ExtensionArray

from marsdask.core.arguments import keeps_lazy
from marsdask.core.collection import Collection, rebind, wrap
from marsdask.core.grids.blockwise import blockwise, map_blocks
from marsdask.core.grids.grid import Grid
from marsdask.core.machine.costs import Cost, kernel, register_cost
from marsdask.core.node import Node, SameChunks
from marsdask.core.public import returns_itself
from marsdask.core.sizes import Chunks, known, numbers, total
from marsdask.core.traits import Traits
from marsdask.tensor.manipulation.repetition import repeat

from ..create import FromTensor
from ..nodes.frame_node import AlignedValues, FrameNode, FromPandas, S, is_array, is_row
from ..rows import alignment
from ..schemas.schema import interned
from .row_functions import no_columns, row_function
from .rowwise import labelled_as, renamed, rowwise

#: The message for labels in memory that differ from those of lazy rows.
OTHER_LABELS = (
    "{}() with a pandas object of other labels is not supported; use merge() on a column, or "
    "reindex() it first"
)
#: NumPy's message for lengths that differ.
BROADCAST = "operands could not be broadcast together with shapes ({1},) ({0},)"


@dataclass(frozen=True, eq=False)
class AlignedTensor(FromTensor):
    """A tensor's values for the rows of another object, in their order, whatever the labels."""

    rows: str
    """The alignment of the rows."""

    @property
    def traits(self) -> Traits:
        return Traits(self.rows)


@dataclass(frozen=True, eq=False)
class AlignedLabels(SameChunks, FrameNode):
    """The values of an index for the rows of another object, in their order."""

    title: Any
    """The name of the series."""
    rows: str
    """The alignment of the rows."""

    @property
    def meta(self) -> Any:
        return as_column(self.a.meta, self.title)

    @property
    def traits(self) -> Traits:
        return Traits(self.rows)

    def tile(self, a: Grid) -> Any:
        kwargs = {"name": self.title}
        return map_blocks(as_column, a, meta=self.meta, itemsize=self.itemsize, kwargs=kwargs)


@dataclass(frozen=True, eq=False)
class ValuesOfColumns(FrameNode):
    """The values of a tensor of one axis, one for each column of a frame."""

    is_row: ClassVar[bool] = True

    a: Node
    labels: pd.Index

    @property
    def meta(self) -> Any:
        return interned(pd.Series(np.empty(0, self.a.meta.dtype), index=self.labels[:0]))

    @property
    def row_labels(self) -> pd.Index:
        return self.labels

    @property
    def chunks(self) -> Chunks:
        return ((len(self.labels),),)

    def tile(self, a: Grid) -> Grid:
        return blockwise(
            values_of_columns,
            [(a, (None,))],
            chunks=self.chunks,
            meta=self.meta,
            itemsize=a.itemsize,
            kwargs={"labels": self.labels},
        )


@kernel(view=True)
def values_of_columns(block: Any, labels: pd.Index) -> pd.Series:
    """Return an array as a series of the labels of columns."""
    return pd.Series(block, index=labels)


@kernel(view=True)
def as_column(block: Any, name: Any) -> Any:
    """Return the values of an index as a series of that name."""
    return pd.Series(block.array, dtype=block.dtype, name=name)


def aligned_values(
    obj: Any, values: Any, complaint: str, error: type[Exception] = ValueError
) -> Any:
    """Return values in memory as lazy rows with an object's labels, in its order.

    ``complaint`` is pandas's message of its error for a wrong length, a template for both lengths.
    """
    meta, sizes = obj.node.meta, _known_sizes(obj)
    wide = np.ndim(values) >= 2
    rows: Any = (
        pd.DataFrame(values, columns=meta.columns, copy=True)
        if wide
        else pd.Series(values, name=_name(meta), copy=True)
    )
    if len(rows) != sum(sizes):
        raise error(complaint.format(len(rows), sum(sizes)))
    node = AlignedValues(rows, sizes, alignment(obj.node))
    return rowwise(labelled_as, obj, node)


def _known_sizes(obj: Any) -> tuple[int, ...]:
    """Return the lengths of an object's chunks, for values that are in memory."""
    sizes = obj.node.chunks[0]
    if not known(sizes):
        raise NotImplementedError(
            "values in memory for rows of unknown number are not supported; use execute() first"
        )
    return numbers(sizes)


def labelled_values(obj: Any, values: Any, name: str) -> Any:
    """Return a pandas object in memory as lazy rows of an object that has equal labels."""
    sizes, labels = _known_sizes(obj), obj.node.meta.index
    if len(values) != sum(sizes) or values.index.nlevels != labels.nlevels:
        raise NotImplementedError(OTHER_LABELS.format(name))
    at_hand = _labels_at_hand(obj.node)
    if at_hand is not None and not at_hand.equals(values.index):
        raise NotImplementedError(OTHER_LABELS.format(name))
    node = AlignedValues(values.copy(), sizes, alignment(obj.node))
    return rowwise(with_equal_labels, obj, node, name=name)


def _labels_at_hand(node: Node) -> pd.Index | None:
    """Return the labels of rows that are those of a pandas object in memory, else ``None``."""
    rows = alignment(node)
    while not isinstance(node, FromPandas):
        aligned = [item for item in node.inputs if alignment(item) == rows]
        if not aligned:
            return None
        node = aligned[0]
    return node.data if isinstance(node.data, pd.Index) else node.data.index


def lazy_rows(obj: Any, other: Any, name: str) -> Any:
    """Return a pandas object in memory as lazy rows of an object; other values as they are."""
    in_memory = isinstance(other, pd.Series | pd.DataFrame)
    return labelled_values(obj, other, name) if in_memory else other


@row_function(no_columns, keeps_types=True)
@kernel(view=True)
def with_equal_labels(block: Any, values: Any, name: str) -> Any:
    """Return values whose labels are those of a block."""
    if len(block) and not block.index.equals(values.index):
        raise NotImplementedError(OTHER_LABELS.format(name))
    return values


#: What holds a value for each row, or for each column, without labels to align by.
ROW_VALUES: Any = list | tuple | range | np.ndarray | ExtensionArray


def is_mask(key: Any) -> bool:
    """Tell whether a list, an array or an index has truth values: an empty array tells by type."""
    flags = all(isinstance(flag, bool | np.bool_) for flag in key)
    return flags and (len(key) > 0 or getattr(getattr(key, "dtype", None), "kind", "") == "b")


def check_order(values: Any) -> None:
    """Raise pandas's error for values of rows that have no order."""
    if isinstance(values, set | frozenset):
        raise TypeError(f"{type(values).__name__!r} type is unordered")


def array_of(values: Any) -> np.ndarray[Any, Any]:
    """Return the array that pandas makes of a list: missing values among texts stay missing.

    NumPy would make the text "nan" of them, and texts of numbers.
    """
    array = np.asarray(values)
    return np.asarray(values, dtype=object) if array.dtype.kind in "SU" else array


def aligned_tensor(obj: Any, values: Any, complaint: str) -> Any:
    """Return a tensor, one value or row for each row of an object, as its lazy rows."""
    node, meta = values.node, obj.node.meta
    lengths = [total(item.chunks[0]) for item in (node, obj.node)]
    if known(lengths) and lengths[0] != lengths[1]:
        raise ValueError(complaint.format(*lengths))
    if isinstance(node.meta, pd.Index):
        rows = AlignedLabels(node, _name(meta), alignment(obj.node))
        return rowwise(labelled_as, obj, rows)
    several = len(node.chunks) == 2
    columns, kind = (meta.columns, pd.DataFrame) if several else (_name(meta), pd.Series)
    return rowwise(labelled_as, obj, AlignedTensor(node, columns, kind, alignment(obj.node)))


def _name(meta: Any) -> Any:
    return None if isinstance(meta, pd.DataFrame) else meta.name


def operand(obj: Any, other: Any) -> Any:
    """Return the other operand of an object's operator: arrays become rows, in its order.

    As in pandas, an array of one axis has one value for each column of a DataFrame.
    """
    if isinstance(other, pd.Series | pd.DataFrame):
        return _labelled_operand(obj, other)
    if isinstance(other, pd.Index):
        if obj.ndim == 2:
            raise NotImplementedError(
                "arithmetic of a DataFrame with an Index is not supported; use its values"
            )
        return rowwise(renamed, _array_operand(obj, other.array), name=other.name)
    if isinstance(other, Collection):
        check_kinds(obj.node, other.node)
    if is_array(other):
        return _tensor_operand(obj, other)
    if isinstance(other, ROW_VALUES):
        return _array_operand(obj, other)
    return other


def _labelled_operand(obj: Any, other: Any) -> Any:
    """Return a pandas object as rows of equal labels; a frame has a series for its columns."""
    if obj.ndim == 2 and other.ndim == 1:
        return other
    if other.ndim > obj.ndim:
        raise NotImplementedError(
            "arithmetic of a Series with a DataFrame is not supported; use the frame's columns "
            "one by one"
        )
    return labelled_values(obj, other, "arithmetic")


def _tensor_operand(obj: Any, tensor: Any) -> Any:
    if obj.node.meta.ndim == 2 and tensor.ndim <= 2:
        return _frame_operand(obj, tensor)
    if tensor.ndim != obj.node.meta.ndim or _is_single(tensor.shape[0], obj):
        return tensor
    return aligned_tensor(obj, tensor, BROADCAST)


def _frame_operand(obj: Any, tensor: Any) -> Any:
    """Return a tensor as a row for each row of a frame, or as a value for each column."""
    labels = obj.node.meta.columns
    if tensor.ndim == 2:
        if not _is_single(tensor.shape[0], obj):
            is_column = tensor.shape[1] == 1 != len(labels)
            rows = repeat(tensor, len(labels), axis=1) if is_column else tensor
            return aligned_tensor(obj, rows, BROADCAST)
        tensor = tensor[0]
    (length,) = tensor.shape
    if length != len(labels):
        raise ValueError(
            f"Unable to coerce to Series, length must be {len(labels)}: given {length}"
        )
    return wrap(ValuesOfColumns(tensor.rechunk(-1).node, labels))


def _array_operand(obj: Any, values: Any) -> Any:
    meta = obj.node.meta
    if np.ndim(values) != meta.ndim or _is_single(len(values), obj):
        return values
    if meta.ndim == 2:
        if not isinstance(values, np.ndarray | ExtensionArray):
            _check_list(values, len(meta.columns))
        values = np.broadcast_to(values, (len(values), len(meta.columns)))
    return aligned_values(obj, values, BROADCAST)


def _check_list(values: Any, width: int) -> None:
    """Raise pandas's error for a list of rows, which it takes for values of columns."""
    if len(values) != width:
        raise ValueError(f"Unable to coerce to Series, length must be {width}: given {len(values)}")
    raise NotImplementedError(
        "arithmetic of a DataFrame with lists of lists is not supported; use np.array(x)"
    )


def _is_single(length: Any, obj: Any) -> bool:
    """Tell whether a single value is given for all rows."""
    return bool(length == 1 and total(obj.node.chunks[0]) != 1)


def binary(func: Callable[[Any, Any], Any], *, reflected: bool = False) -> Callable[[S, Any], S]:
    """Return a binary operator as a method."""
    register_cost(func, Cost(scratch=0.0))

    @keeps_lazy("arguments")
    def call(self: Any, other: Any) -> Any:
        if func in LOGICAL and isinstance(other, list | tuple) and self.ndim == 1:
            raise TypeError(
                "Logical ops (and, or, xor) between Pandas objects and dtype-less sequences "
                "(e.g. list, tuple) are not supported; use np.array(x)"
            )
        other = operand(self, other)
        if func in COMPARISONS and isinstance(other, Collection):
            _check_comparable(self.node, other.node)
        return rowwise(func, other, self) if reflected else rowwise(func, self, other)

    call.__name__ = func.__name__
    return call


def in_place(func: Callable[[Any, Any], Any]) -> Callable[[S, Any], S]:
    """Return a binary operator that changes its first operand, which keeps its columns."""
    forward = binary(func)

    @keeps_lazy("arguments")
    @returns_itself
    def call(self: Any, other: Any) -> Any:
        result: Any = forward(self, other)
        if self.ndim == 1:
            result = rowwise(renamed, result, name=self.name)
        elif not result.columns.equals(self.columns):
            result = rowwise(columns_like, result, columns=self.columns)
        rebind(self, result.node)
        return self

    call.__name__ = func.__name__
    return call


def columns_like(block: Any, columns: Any) -> Any:
    """Return the columns of some labels."""
    return block.reindex(columns=columns)


#: Operators of truth values and bits.
LOGICAL = {operator.and_, operator.or_, operator.xor}

#: Operators for which pandas does not align labels.
COMPARISONS = {operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne}


def _check_comparable(a: Node, b: Node) -> None:
    """Raise, as pandas does, if the numbers of rows are known to differ."""
    rows = [node for node in (a, b) if not is_row(node)]
    lengths = {total(node.chunks[0]) for node in rows}
    if known(tuple(lengths)) and len(lengths) > 1:
        framed = isinstance(a.meta, pd.DataFrame)
        kind = "(both index and columns) DataFrame" if framed else "Series"
        raise ValueError(f"Can only compare identically-labeled {kind} objects")


def check_kinds(a: Node, b: Node) -> None:
    """Raise for a frame with a series: pandas would align the series with the columns."""
    metas = [node.meta for node in (a, b) if not is_row(node)]
    if any(isinstance(meta, pd.DataFrame) for meta in metas) and any(
        isinstance(meta, pd.Series) for meta in metas
    ):
        raise NotImplementedError(
            "arithmetic of a DataFrame with a Series of rows is not supported; use the frame's "
            "columns one by one"
        )
