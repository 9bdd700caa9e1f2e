"""The base class of frames' nodes, and the nodes of pandas objects in memory."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

import numpy as np
import pandas as pd
from pandas.api.extensions import ExtensionDtype
from pandas.arrays import BooleanArray, FloatingArray, IntegerArray

from marsdask.core.collection import Collection
from marsdask.core.grids.blockwise import Blockwise, map_blocks, same
from marsdask.core.grids.grid import Grid
from marsdask.core.node import Columns, Node, PartOf, Planner, SameChunks, Taken, lacks_detail
from marsdask.core.results.stored import InMemoryBlocks
from marsdask.core.sizes import Chunks, Index, Sizes, borders, total
from marsdask.core.snapshots.tokens import foreign, register_token, token
from marsdask.core.traits import Partitioning, Traits
from marsdask.scheduler.base import all_dtypes

from ..relations.inputs import held
from ..relations.planning import plan_relations, tell_relations
from ..relations.relation import Table
from ..schemas.samples import gaps_of
from ..schemas.schema import once_a_schema
from ..small_programs import value_of
from .traits import comparable, kept_labels, of_labels

if TYPE_CHECKING:
    from marsdask.core.session import Session

S = TypeVar("S", bound=Any)
"""A DataFrame, Series or Index; mypy does not see their common methods."""


class SameKind(Protocol):
    """A method that returns an object of the class that it is called on."""

    def __get__(self, obj: S, owner: Any, /) -> Callable[..., S]: ...


#: The assumed bytes of a string or an object.
TEXT_BYTES = 32


def row_bytes(meta: Any) -> float:
    """Estimate the bytes of one row of a frame, a series or an index."""
    return once_a_schema(_row_bytes, meta)


def _row_bytes(meta: Any) -> float:
    if isinstance(meta, pd.DataFrame):
        return label_bytes(meta.index) + sum(map(_dtype_bytes, meta.dtypes))
    if isinstance(meta, pd.Series):
        return label_bytes(meta.index) + _dtype_bytes(meta.dtype)
    if isinstance(meta, pd.MultiIndex):
        return float(sum(map(_dtype_bytes, meta.dtypes)))
    return _dtype_bytes(meta.dtype)


def dtypes_of(meta: Any) -> list[Any]:
    """Return the type of each column, or the one of a series or an index."""
    return list(meta.dtypes) if isinstance(meta, pd.DataFrame) else [meta.dtype]


def is_masked(dtype: Any) -> bool:
    """Tell whether a type is a number or truth value of pandas, with a mask of missing values."""
    if not isinstance(dtype, ExtensionDtype):
        return False
    return issubclass(dtype.construct_array_type(), IntegerArray | FloatingArray | BooleanArray)


def hold_gaps(dtypes: Iterable[Any]) -> bool:
    """Tell whether values of any of these types may be missing."""
    return any(not isinstance(dtype, np.dtype) or dtype.kind not in "biu" for dtype in dtypes)


def is_wide(meta: Any) -> bool:
    """Tell whether columns or labels are floats or objects, which values of other types become."""
    return any(getattr(dtype, "kind", "") in ("f", "O") for dtype in all_dtypes(meta))


def has_na(dtype: Any) -> bool:
    """Tell whether the missing value of a type is NA."""
    if isinstance(dtype, pd.StringDtype):
        return dtype.na_value is pd.NA
    return is_masked(dtype) or isinstance(dtype, pd.ArrowDtype)


def _levels(meta: Any) -> list[tuple[Hashable, Any]]:
    """Return the names and types of the levels of row labels."""
    labels = meta if isinstance(meta, pd.Index) else getattr(meta, "index", None)
    if not isinstance(labels, pd.MultiIndex):
        return []
    return [(level.name, level.dtype) for level in labels.levels]


def label_bytes(index: pd.Index) -> float:
    """Estimate the bytes of one row's label; numbers of rows take none."""
    return 0.0 if isinstance(index, pd.RangeIndex) else row_bytes(index)


def _dtype_bytes(dtype: Any) -> float:
    if isinstance(dtype, pd.StringDtype) or getattr(dtype, "kind", None) == "O":
        return TEXT_BYTES
    return float(getattr(dtype, "itemsize", TEXT_BYTES))


@dataclass(frozen=True, eq=False)
class FrameNode(Node):
    """An operation whose chunks are runs of rows; its grid has one axis."""

    planner = Planner(plan_relations, tell_relations)

    @property
    def itemsize(self) -> float:
        """Bytes of one row."""
        return row_bytes(self.meta)

    @property
    def opens_types(self) -> bool:
        """Whether its values tell which categories its columns have."""
        return self.values_tell

    @property
    def incomplete(self) -> bool:
        opened = self.opens_types or any(child.incomplete for child in self.inputs)
        return opened and self._lacks_detail

    @property
    def types_by_rows(self) -> bool:
        """Whether a chunk may have other types than all rows together, as after a join.

        Whoever chooses some of the rows has to make the types equal before: see ``in_one_type``.
        """
        return any(isinstance(child, FrameNode) and child.types_by_rows for child in self.inputs)

    @property
    def may_narrow(self) -> bool:
        return (self.types_by_rows and is_wide(self.meta)) or super().may_narrow

    @property
    def may_widen(self) -> bool:
        """Whether its integers or truth values have gaps in some rows, as those without a key.

        Of truth values only the node that has the gaps says so: comparisons have none.
        """
        plain = [dtype for dtype in dtypes_of(self.meta) if isinstance(dtype, np.dtype)]
        nodes = (child for child in self.inputs if isinstance(child, FrameNode))
        return any(dtype.kind in "iu" for dtype in plain) and any(n.may_widen for n in nodes)

    def made_of(self, label: Hashable | None) -> list[tuple[Node, Hashable | None]]:
        """Return the rows that values, or those of a column, are made of, and the column of each.

        ``None`` stands for all columns.
        """
        rows = [child for child in self.inputs if isinstance(child, FrameNode)]
        metas = [child.meta for child in rows]
        has_label = [isinstance(meta, pd.DataFrame) and label in meta.columns for meta in metas]
        return [(node, label if has else None) for node, has in zip(rows, has_label, strict=True)]

    @property
    def level_gaps(self) -> frozenset[int]:
        nodes = [child for child in self.inputs if child.level_gaps]
        levels = _levels(self.meta) if nodes else []
        below = [(child.level_gaps, _levels(child.meta)) for child in nodes]
        return frozenset().union(*(gaps for gaps, own in below if own == levels[: len(own)]))

    @property
    def level_orders(self) -> tuple[Any, ...]:
        is_row = self.is_row and isinstance(self.meta, pd.Series)
        if is_row and isinstance(self.meta.index, pd.MultiIndex):
            return tuple(self.meta.index.levels)  # those of the columns
        nodes = [child for child in self.inputs if child.level_orders]
        return next((n.level_orders for n in nodes if n.alignment == self.alignment), ())

    @property
    def common_keys(self) -> frozenset[Any]:
        """The columns that a join made of both sides: their type does not depend on matches."""
        return frozenset()

    def incomplete_in(self, wanted: Columns) -> bool:
        if wanted is None or not isinstance(self.meta, pd.DataFrame):
            return self.incomplete
        meta = self.meta.loc[:, [label in wanted for label in self.meta.columns]]
        return self.incomplete and any(map(lacks_detail, all_dtypes(meta)))

    @property
    def row_labels(self) -> Any:
        """The labels of one value per column, if they are known."""
        return None

    def at_hand(self, session: Session) -> Any:
        return value_of(self, session)

    def with_value(self, session: Session) -> InMemoryBlocks | None:
        value = self.at_hand(session)
        if value is None:
            return None
        return InMemoryBlocks(
            self.name,
            self.meta,
            self.chunks,
            given_level_gaps=self.level_gaps,
            block_chunks=((len(value),),),
            blocks={(0,): value},
        )

    def grid(self, rule: Any, sizes: Sizes, *, partitioning: Partitioning | None = None) -> Grid:
        """Return this node's grid."""
        return Grid(rule, (sizes,), self.meta, self.itemsize, partitioning=partitioning)

    def mapped(
        self,
        func: Callable[..., Any],
        *grids: Grid,
        chunks: Chunks | None = None,
        kwargs: Mapping[str, Any] | None = None,
        cheap: bool = False,
        partitioning: Partitioning | None = None,
    ) -> Grid:
        """Map a kernel over grids of the same rows, chunk by chunk."""
        grid = map_blocks(
            func,
            *grids,
            chunks=chunks,
            meta=self.meta,
            itemsize=self.itemsize,
            kwargs=kwargs,
            cheap=cheap,
        )
        return replace(grid, partitioning=partitioning)


@dataclass(frozen=True, eq=False)
class SameRows(SameChunks, FrameNode):
    """An operation whose result has the rows of its input, in the same chunks."""

    title: str
    all_columns: bool = field(default=False, kw_only=True)
    """Whether a column of the result depends on other columns."""

    @property
    def label(self) -> str:
        return self.title

    @property
    def traits(self) -> Traits:
        """The rows are those of the input."""
        return self.a.traits.carried(comparable(self.meta, kept_labels))

    @property
    def rows_behind(self) -> int | None:
        """On how many rows behind it a row depends, at most; ``None`` if that is not known."""
        return None

    def sliced(self, taken: Taken, part: PartOf) -> Node | None:
        """Return some rows of a prefix: rows behind have no effect, those before may have one."""
        (rows,), length, behind = taken, total(self.a.chunks[0]), self.rows_behind
        if rows is None or behind is None or not isinstance(length, int):
            return None
        stop = 1 + max(rows[0], rows[-1]) + behind if rows else 0
        if 2 * stop > length:
            return None
        return part(self.replaced(a=part(self.a, (range(stop),))), taken)

    def requires(self, wanted: Columns) -> tuple[Columns, ...]:
        return (None if self.all_columns else wanted,)


@dataclass(frozen=True)
class RowsAt:
    """Gives each chunk its rows of an object in memory, without copying."""

    name: str
    data: Any = field(repr=False)
    sizes: Sizes = field(repr=False)
    lends: bool = False
    """Whether the memory is the user's: lasting results are copies."""

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
    """Return the number of an axis that is given by number or by name."""
    number = {0: 0, "index": 0, "rows": 0, 1: 1, "columns": 1}.get(axis)
    if number is None or number >= meta.ndim:
        raise ValueError(f"No axis named {axis} for object type {type(meta).__name__}")
    return number


def is_numbered(index: Any) -> bool:
    """Tell whether rows are labelled from 0 on."""
    return isinstance(index, pd.RangeIndex) and index.start == 0 and index.step == 1


#: The order of labels as they occur: see ``Node.level_orders``.
OCCURRENCE = "occurrence"


def _order_of_level(level: pd.Index, codes: Any) -> Any:
    """Return the order of a level of labels in memory: unused labels let pandas make another."""
    if level.is_monotonic_increasing:
        return None
    used = pd.unique(codes[codes >= 0])
    return level if len(used) == len(level) else level.take(used)


def orders_beside(node: Node) -> tuple[Any, ...]:
    """Return the orders of the levels that the labels of rows become beside other levels."""
    count = node.meta.index.nlevels
    return (node.level_orders or (None,) * count) if count > 1 else (OCCURRENCE,)


@dataclass(frozen=True, eq=False)
class FromPandas(FrameNode):
    """A pandas object in memory, which nobody changes; its chunks are views."""

    label: ClassVar[str] = "from_pandas"

    data: Any = field(repr=False)
    sizes: Sizes
    content: str = field(default="", repr=False, kw_only=True)
    """The part of the name that stands for the object; by default a hash of all values."""
    lent: bool = field(default=False, repr=False, kw_only=True)
    """Whether the memory is the user's, who promised not to change it."""

    def runs_inline(self) -> bool:
        return True

    @property
    def _content(self) -> str:
        return self.content or token(self.data)

    @property
    def name(self) -> str:
        return f"{self.label}-{token(type(self), self._content, *self._form)}"

    @property
    def _form(self) -> tuple[Any, ...]:
        return (self.sizes,)

    @property
    def meta(self) -> Any:
        return self.data[:0] if isinstance(self.data, pd.Index) else self.data.iloc[:0]

    @property
    def level_gaps(self) -> frozenset[int]:
        return gaps_of(self.data)

    @property
    def level_orders(self) -> tuple[Any, ...]:
        labels = self.data if isinstance(self.data, pd.Index) else self.data.index
        if not isinstance(labels, pd.MultiIndex):
            return ()
        return tuple(map(_order_of_level, labels.levels, labels.codes))

    @property
    def traits(self) -> Traits:
        """Rows labelled from 0 are equal where they are equally many."""
        index = getattr(self.data, "index", None)
        if index is None:
            return Traits(self.name)
        return of_labels(f"range:{len(self.data)}" if is_numbered(index) else self.name, index)

    @property
    def chunks(self) -> Chunks:
        return (self.sizes,)

    def relation(self, inputs: Sequence[Any]) -> Table | None:
        del inputs
        return held(self, numbered=is_numbered(getattr(self.data, "index", None)))

    def tile(self, *inputs: Any) -> Grid:
        del inputs
        varying = RowsAt(self.name, self.data, self.sizes, self.lent)
        rule = Blockwise(same, varying=varying, cheap=True)
        return self.grid(rule, self.sizes)

    def regrid(self, new: Mapping[Sizes, Sizes]) -> Node:
        return self.replaced(sizes=new.get(self.sizes, self.sizes), content=self._content)


@dataclass(frozen=True, eq=False)
class AlignedValues(FromPandas):
    """Values in memory for the rows of another object, in their order, whatever the labels."""

    rows: str
    """The alignment of the rows."""

    @property
    def _form(self) -> tuple[Any, ...]:
        return (self.sizes, self.rows)

    @property
    def traits(self) -> Traits:
        return Traits(self.rows)


def is_row(node: Node) -> bool:
    """Tell whether a node is a scalar or one value per column, needed by every chunk."""
    return not node.chunks or node.is_row or isinstance(node.meta, np.ndarray)


def rows_among(nodes: Sequence[Node]) -> tuple[Node, ...]:
    """Return the nodes that have rows, or, if there are none, those that are no scalars."""
    rows = [node for node in nodes if not is_row(node)]
    return tuple(rows or [node for node in nodes if node.chunks])


def is_several(node: Node) -> bool:
    """Tell whether a node is one value per column, of unknown labels."""
    return is_row(node) and bool(node.chunks)


def join_labels(nodes: Sequence[Node]) -> bool:
    """Tell whether operands are values of columns that differ."""
    if len(nodes) == 1 or not all(map(is_several, nodes)):
        return False
    labels = [node.row_labels for node in nodes if isinstance(node, FrameNode)]
    if len(labels) < len(nodes) or any(columns is None for columns in labels):
        return len({total(node.chunks[0]) for node in nodes}) > 1
    return not all(columns.equals(labels[0]) for columns in labels)


class PlainValues:
    """A collection whose node is an index, and that has values rather than labels."""

    __slots__ = ()


def is_array(value: Any) -> bool:
    """Tell whether lazy values have an axis and no labels: they belong to rows by position."""
    if not isinstance(value, Collection) or not value.node.chunks:
        return False
    return isinstance(value, PlainValues) or isinstance(value.node.meta, np.ndarray)


def as_node(obj: Any) -> Node:
    """Return the node of a lazy frame, series or index."""
    if isinstance(obj, Collection):
        return obj.node
    if isinstance(obj, Node):
        return obj
    raise TypeError(f"expected a marsdask DataFrame or Series, got {type(obj).__name__}")


def _write_extension_dtype(dtype: Any) -> str:
    return f"{type(dtype).__name__}:{dtype!r}"


def _write_table(obj: Any) -> str:
    """Return the token of a pandas object, of its types and of its objects (see core.tokens)."""
    return _described(obj) if len(obj) else once_a_schema(_described, obj)


def _described(obj: Any) -> str:
    return ":".join([foreign(obj), *filter(None, map(_column_token, _columns(obj)))])


def _columns(obj: Any) -> Iterator[Any]:
    """Yield the columns of a pandas object, the levels of its labels, and their categories."""
    if isinstance(obj, pd.MultiIndex):
        for level in obj.levels:
            yield from _columns(level)
        return
    for column in _typed_columns(obj) if isinstance(obj, pd.DataFrame) else [obj]:
        yield column
        if isinstance(column.dtype, pd.CategoricalDtype):
            yield from _columns(column.dtype.categories)
    for name in ("index", "columns"):
        if (labels := getattr(obj, name, None)) is not None:
            yield from _columns(labels)


def _typed_columns(frame: pd.DataFrame) -> Iterator[Any]:
    """Yield the columns but those of NumPy's plain types, whose values tell all."""
    for at, dtype in enumerate(frame.dtypes):
        if not isinstance(dtype, np.dtype) or dtype.kind == "O":
            yield frame.iloc[:, at]


def _column_token(column: Any) -> str:
    """Return a token of what Dask ignores in a column: pandas's type, and the types of objects."""
    dtype = column.dtype
    if isinstance(dtype, np.dtype):
        return foreign(column.to_numpy()) if dtype.kind == "O" else ""
    if dtype == "string[python]":
        return f"{dtype!r}:{foreign(np.asarray(column, object))}"
    # The categories have tokens of their own.
    return "" if isinstance(dtype, pd.CategoricalDtype) else repr(dtype)


for _table in (pd.DataFrame, pd.Series, pd.Index, pd.MultiIndex, pd.CategoricalIndex):
    register_token(_table, _write_table)
for _kind in (pd.StringDtype, pd.DatetimeTZDtype, pd.ArrowDtype, pd.PeriodDtype):
    register_token(_kind, _write_extension_dtype)
