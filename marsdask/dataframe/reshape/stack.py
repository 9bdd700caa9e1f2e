"""Column labels become a level of the row labels, and a level becomes column labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd
from pandas.api.extensions import no_default
from pandas.api.types import is_object_dtype

from marsdask.core.grids.grid import Grid
from marsdask.core.grids.tree import gather
from marsdask.core.machine.costs import kernel
from marsdask.core.node import Columns, Node
from marsdask.core.sizes import Chunks, Sizes, unknown_sizes
from marsdask.core.traits import Traits

from ..elementwise.filter import Filter
from ..elementwise.rowwise import NewLabels, Rowwise, column_of, rowwise
from ..keyed.group_aggregation import GroupByAggregation
from ..keyed.key_types import by_keys, types_of_objects
from ..keyed.shuffle import shuffle
from ..keyed.unique import DropDuplicates
from ..labels.by_position import ListedRows
from ..labels.loc import ChosenLabels
from ..nodes.dtypes import OneType, is_small
from ..nodes.frame_node import OCCURRENCE, FrameNode, dtypes_of, orders_beside, row_bytes
from ..ordered.positions import Positions
from ..ordered.sort_values import SortValues
from ..reduction.floats import NarrowFloats
from ..reduction.fold import FrameFold
from ..reduction.reductions import collection_of
from ..rows import concat as joined
from ..rows import level_at, levels_in, with_level_types
from ..schemas.samples import row
from .concat import Concat
from .explode import at_objects, inferred_objects, with_number
from .flat_map import FlatMap

#: Operations that choose rows, or change their types, and keep the levels of their labels.
CHOICES = (ChosenLabels, DropDuplicates, Filter, ListedRows, NarrowFloats, OneType, Positions)
if TYPE_CHECKING:
    from ..frame import DataFrame
    from ..series import Series


@kernel(scratch=2.0)
def stacked_rows(block: Any, level: Any) -> Any:
    """Return a row for each label of some column levels; objects stay objects."""
    if block.columns.nlevels > 1:  # whose types are those of joined columns
        return block.stack(level) if len(block) else row(block).stack(level).iloc[:0]
    if not len(block) or not at_objects(block):
        return block.stack(level)
    result = with_number(block).stack(level)
    return result.iloc[: len(result) // (len(block) + 1) * len(block)]


@dataclass(frozen=True, eq=False)
class Stack(FlatMap):
    """Rows for each label of some column levels."""

    @property
    def level_orders(self) -> tuple[Any, ...]:
        columns, first = self.a.meta.columns, orders_beside(self.a)
        if columns.nlevels == 1:
            return (*first, columns if columns.is_unique else OCCURRENCE)
        return (*first, *self.meta.index.levels[len(first) :])


def stack(
    frame: DataFrame,
    level: Any = -1,
    dropna: Any = no_default,
    sort: Any = no_default,
    future_stack: bool = True,
) -> DataFrame | Series:
    """Return a row for each column label. See pandas.DataFrame.stack."""
    if not future_stack:
        raise NotImplementedError(
            "stack(future_stack=False) is not supported; use stack(), then dropna() or sort_index()"
        )
    if dropna is not no_default or sort is not no_default:
        raise ValueError("dropna and sort cannot be specified: use dropna() or sort_index()")
    level = tuple(level) if isinstance(level, list) else level
    meta = frame.node.meta
    meta.stack(level)  # raises pandas's errors
    columns = meta.columns
    times = len(columns) if columns.nlevels == 1 else None
    rows: DataFrame | Series = collection_of(
        Stack(frame.node, stacked_rows, (("level", level),), times)
    )
    are_joined = columns.nlevels > 1 or len(set(dtypes_of(meta))) < 2
    return rows if are_joined or not at_objects(meta) else inferred_objects(rows)


@dataclass(frozen=True, eq=False)
class Unstack(SortValues):
    """Rows of equal keys become one row: other keys tell the column of each value.

    The columns of ``a`` are numbered: keys of rows, keys of columns, values. Rows are sorted by
    their keys.
    """

    label: ClassVar[str] = "unstack"

    like: Any = field(repr=False)
    """The result's types and its columns: for each value all column keys."""
    keys: int
    """How many columns of ``a`` are keys of rows, and how many of columns."""
    series: bool
    """Whether the column labels do not name the values."""
    fill_value: Any = None
    order: tuple[pd.Index, ...] | None = None
    """The labels of each level of keys in the order of the result; by default they are sorted."""
    gaps: frozenset[int] = frozenset()
    """The levels of the row labels that may have gaps."""

    @property
    def meta(self) -> Any:
        return self.like

    @property
    def level_gaps(self) -> frozenset[int]:
        return self.gaps

    @property
    def settled(self) -> bool:
        return False  # integers stay integers where no value is missing

    @property
    def traits(self) -> Traits:
        return Traits(self.name)

    @property
    def no_op(self) -> Node | None:
        return None

    @property
    def chunks(self) -> Chunks:
        return (unknown_sizes(self.name, [None] * len(self.a.chunks[0])),)

    def requires(self, wanted: Columns) -> tuple[Columns, ...]:
        del wanted
        return (None,)

    def relation(self, inputs: Sequence[Any]) -> None:
        del inputs

    @property
    def _wide(self) -> dict[str, Any]:
        return {
            "like": self.like,
            "by": self.by,
            "keys": self.keys,
            "series": self.series,
            "fill_value": self.fill_value,
            "order": self.order,
            "gaps": {at: self.like.index.levels[at].dtype for at in self.level_gaps},
        }

    def tile(self, a: Grid) -> Any:
        return super().tile(a) if self.order is None else self._whole(a)

    def tile_blind(self, a: Grid) -> Grid:
        return super().tile_blind(a) if self.order is None else self._whole(a)

    def _whole(self, a: Grid) -> Grid:
        return gather(
            unstacked,
            a,
            chunks=(unknown_sizes(self.name, [None]),),
            meta=self.meta,
            itemsize=row_bytes(self.meta),
            kwargs=self._wide,
        )

    def _shuffle(self, splits: Grid, sizes: Sizes) -> Grid:
        return shuffle(
            splits, unstacked, sizes, self._wide, meta=self.meta, width=row_bytes(self.meta)
        )


@kernel(scratch=4.0)
def unstacked(
    parts: list[Any],
    like: Any,
    by: tuple[int, ...],
    keys: int,
    series: bool,
    fill_value: Any,
    order: tuple[pd.Index, ...] | None,
    gaps: Mapping[int, Any],
) -> Any:
    """Return one row for the rows of equal keys."""
    block = joined(parts, labels=False)
    if not len(block):
        return like
    values = list(block.columns[keys:])
    labels = list(block.columns[:keys])
    long = block.set_index(labels)
    if order is not None:
        long.index = in_levels([block[label] for label in labels], order)
    levels = list(range(len(by), keys))
    result = (long[values[0]] if series else long).unstack(levels, fill_value=fill_value)
    wanted = like.columns if series else numbered(like.columns, values, len(levels))
    at = result.columns.get_indexer(wanted)
    if (at < 0).any():
        result = _with_absent(result, at, block[values], fill_value)
    elif not (at == np.arange(len(at))).all():
        result = result.iloc[:, at]
    result = result.set_axis(like.columns, axis=1)
    index = with_level_types(result.index, gaps)
    return result.set_axis(index.set_names(like.index.names))


def in_levels(keys: Sequence[Any], order: Sequence[pd.Index]) -> pd.MultiIndex:
    """Return labels whose levels have an order of their own, as those of unsorted groups."""
    pairs = zip(keys, order, strict=True)
    codes: Any = [level.get_indexer(pd.Index(key)) for key, level in pairs]
    levels: Any = list(order)
    return pd.MultiIndex(levels, codes, verify_integrity=False)


def numbered(columns: pd.Index, values: list[Any], levels: int) -> pd.MultiIndex:
    """Return column labels with the numbers of the values in place of their labels."""
    count = len(columns) // max(1, len(values))
    inner = levels_in(columns)[-levels:]
    return pd.MultiIndex.from_arrays([np.repeat(values, count), *inner])


def _with_absent(found: Any, at: Any, values: Any, fill_value: Any) -> Any:
    """Return the columns in another order, with those that are not there."""
    count = len(at) // values.shape[1]
    blanks = [blank(values.iloc[:, i], found.index, fill_value) for i in range(values.shape[1])]
    columns = {}
    for place, number in enumerate(at):
        gap = blanks[place // count]
        columns[place] = gap if number < 0 else found.iloc[:, number].astype(gap.dtype)
    return pd.DataFrame(columns, index=found.index)


def blank(values: Any, index: Any, fill_value: Any = None) -> Any:
    """Return missing values, or one value, of the type that some values have with it."""
    options = {} if fill_value is None else {"fill_value": fill_value}
    like = values.iloc[:0].set_axis(pd.RangeIndex(0))
    return like.reindex(range(len(index)), **options).set_axis(index)


@kernel(scratch=1.0)
def flattened(block: Any, order: tuple[int, ...]) -> Any:
    """Return levels of the row labels and the values as numbered columns."""
    labels = [level_at(block.index, at) for at in order]
    columns = [pd.Series(level, range(len(block)), level.dtype, None) for level in labels]
    values = block.to_frame() if isinstance(block, pd.Series) else block
    columns += [values.iloc[:, at].set_axis(range(len(block))) for at in range(values.shape[1])]
    return pd.concat(columns, axis=1, keys=range(len(columns)))


def unstack(
    obj: Any, level: Any = -1, fill_value: Any = None, sort: bool = True
) -> DataFrame | Series:
    """Return a column for each label of some levels. See pandas.DataFrame.unstack.

    Computes the labels of these levels at the call. Differs from pandas: of more than 256 MiB of
    rows, levels that have an order of their own are sorted, unless these are groups. So are those
    of rows that were executed after others had been left out.
    """
    meta = obj.node.meta
    if meta.index.nlevels == 1:
        meta.unstack(level, fill_value)  # raises pandas's errors
        return _columns_as_rows(obj)
    names = list(level) if isinstance(level, list | tuple) else [level]
    levels = [meta.index._get_level_number(name) for name in names]
    rows = [at for at in range(meta.index.nlevels) if at not in levels]
    if not sort or not rows or fill_value is pd.NA:
        raise NotImplementedError(
            "unstack() of all levels, or with sort=False, is not supported; use reset_index(), and "
            "sort_values() of the result"
        )
    return widened(obj, rows, levels, fill_value)


def unstack_series(
    series: Series, level: Any = -1, fill_value: Any = None, sort: bool = True
) -> DataFrame:
    """Return a column for each label of some levels. See pandas.Series.unstack.

    Computes the labels of these levels at the call. Differs from pandas: of more than 256 MiB of
    rows, levels that have an order of their own are sorted, unless these are groups. So are those
    of rows that were executed after others had been left out.
    """
    result: Any = unstack(series, level, fill_value, sort)
    frame: DataFrame = result
    return frame


def widened(
    obj: Any, rows: Sequence[int], levels: Sequence[int], fill_value: Any, labels: Any = None
) -> DataFrame:
    """Return a column for each label of some levels, of the rows of equal other levels.

    The labels are computed if they are not given.
    """
    flat = rowwise(NewLabels(flattened), obj, order=(*rows, *levels))
    keys, names = len(rows) + len(levels), obj.node.meta.index.names
    order = _order_of_levels(obj.node, (*rows, *levels))
    if labels is None:
        labels = flat[list(range(len(rows), keys))].drop_duplicates().compute()
        if _are_sorted_groups(obj.node):
            labels = by_keys(labels, list(labels.columns))
    by = tuple(range(len(rows)))
    index = flat.node.meta.set_index(list(by)).index.set_names([names[at] for at in rows])
    gaps = _gap_types(obj.node, rows) if len(rows) > 1 else {}
    index = with_level_types(index, gaps)
    inner = None if order is None else order[len(rows) :]
    columns = _columns(labels, obj.node.meta, [names[at] for at in levels], inner)
    first = columns.nlevels - len(levels)
    columns = with_level_types(columns, _gap_types(obj.node, levels, first))
    values = flat.node.meta.iloc[:, keys:]
    count = len(columns) // max(1, values.shape[1])
    like = pd.DataFrame(
        {at: blank(values.iloc[:, at // count], index, fill_value) for at in range(len(columns))},
        index=index,
    ).set_axis(columns, axis=1)
    series = obj.ndim == 1
    rising = (True,) * len(by)
    options = (series, fill_value, order, frozenset(gaps))
    node = Unstack(flat.node, by, rising, True, like, keys, *options)
    result: DataFrame = collection_of(node)
    return result


def _gap_types(node: Node, levels: Sequence[int], first: int = 0) -> dict[int, Any]:
    """Return the types of levels with gaps, by their places among labels from ``first`` on."""
    types = node.meta.index.dtypes
    pairs = enumerate(levels, first)
    return {place: types.iloc[at] for place, at in pairs if at in node.level_gaps}


def _are_sorted_groups(node: Node) -> bool:
    """Tell whether rows are groups: pandas then has their categories in order, not as they come."""
    while isinstance(node, Rowwise | NarrowFloats):
        if isinstance(node, Rowwise) and node.relabels:
            return False
        node = node.inputs[0]
    return isinstance(node, GroupByAggregation) and node.call.sort


def _order_of_levels(node: Node, levels: Sequence[int]) -> tuple[pd.Index, ...] | None:
    """Return the labels of levels in the order that pandas gives them, ``None`` if it sorts all.

    Chosen rows keep the order of a level if they have all its labels, else these are in the order
    in which they occur.
    """
    base, sorts = node, False
    while _keeps_levels(base):
        sorts |= _sorts_labels(base)
        base = base.inputs[0]
    if base.meta.index.nlevels != len(levels):
        return None  # the values of rows add levels
    orders = base.level_orders or (None,) * len(levels)
    is_unsorted = not sorts and any(order is not None for order in orders)
    if not (base.is_row or is_small(base)) or _has_categories(base.meta.index):
        groups = isinstance(base, GroupByAggregation) and is_unsorted
        return _labels_of(base, levels) if groups else None
    if base is node and not is_unsorted:
        return _order_of_keys(base, levels)
    labels = chosen = _labels_of(base, levels)
    if base is not node:
        chosen = _labels_of(node, levels)
    pairs = [(orders[at], every) for at, every in zip(levels, labels, strict=True)]
    lacking = [
        not (order if isinstance(order, pd.Index) else every).isin(some).all()
        for (order, every), some in zip(pairs, chosen, strict=True)
    ]
    if not is_unsorted and not any(lacking):
        return None
    return tuple(
        (some if isinstance(order, str) else some.dropna())
        if lacks
        else _in_order(every, None if sorts else order)
        for (order, every), some, lacks in zip(pairs, chosen, lacking, strict=True)
    )


def _order_of_keys(node: Node, levels: Sequence[int]) -> tuple[pd.Index, ...] | None:
    """Return the labels of keys in pandas's order, where rows without a key have other labels."""
    if not (isinstance(node, GroupByAggregation) and node.call.sort and node.call.dropna):
        return None
    if not node.call.one_row or len(node.call.by) != len(levels) or not is_small(node.a):
        return None
    keys: Any = rowwise(column_of, collection_of(node.a), key=list(node.call.by))
    keys = keys.set_axis(range(len(levels)), axis=1)
    if all(dtype.kind in "iub" for dtype in dtypes_of(keys.node.meta)):
        return None
    partial: Any = keys[keys.isna().any(axis=1)].drop_duplicates().compute()
    if not len(partial):
        return None
    rows = by_keys(keys.dropna().drop_duplicates().compute(), list(range(len(levels))))
    objects = [at for at in levels if rows[at].dtype == object]
    types = types_of_objects(pd.concat([rows, partial]), objects, dropna=True)
    rows = rows.astype(types)
    labels = [pd.Index(rows[at].drop_duplicates()).rename(None) for at in levels]
    lacking = [
        not partial[at].dropna().isin(own).all() for at, own in zip(levels, labels, strict=True)
    ]
    if not any(lacking):
        return None
    return tuple(
        own if lacks else own.sort_values() for own, lacks in zip(labels, lacking, strict=True)
    )


def _in_order(labels: pd.Index, order: Any) -> pd.Index:
    """Return the labels of a level, which are in the order in which they occur, in its order."""
    if order is None:  # a missing label is no label of a level
        return labels.dropna().sort_values()
    return order if isinstance(order, pd.Index) else labels


def types_of_levels(obj: Any, levels: Sequence[int]) -> dict[int, Any]:
    """Return the types of levels that are declared to be of objects, of which only rows tell."""
    declared = obj.node.meta.index.dtypes
    places = [at for at, level in enumerate(levels) if is_object_dtype(declared.iloc[level])]
    labels = _labels_of(obj.node, [levels[at] for at in places]) if places else ()
    return {at: label.dtype for at, label in zip(places, labels, strict=True)}


def _labels_of(node: Node, levels: Sequence[int]) -> tuple[pd.Index, ...]:
    """Compute the labels of levels of rows, each in the order in which they occur."""
    flat = rowwise(NewLabels(flattened), collection_of(node), order=tuple(levels))
    labels = flat[list(range(len(levels)))].drop_duplicates().compute()
    return tuple(pd.Index(labels[at].drop_duplicates()) for at in labels.columns)


def _has_categories(index: pd.MultiIndex) -> bool:
    return any(isinstance(dtype, pd.CategoricalDtype) for dtype in index.dtypes)


def _keeps_levels(node: Node) -> bool:
    if isinstance(node, Rowwise):
        return not node.relabels and node.inputs[0].meta.index.nlevels > 1
    if isinstance(node, FrameFold):
        return node.title in {"nlargest", "nsmallest"}
    aligned = isinstance(node, FrameNode) and bool(node.inputs)
    return isinstance(node, (*CHOICES, SortValues)) or (
        aligned and node.alignment == node.inputs[0].alignment
    )


def _sorts_labels(node: Node) -> bool:
    """Tell whether a node sorts rows by their labels, whose levels pandas then sorts."""
    return isinstance(node, SortValues) and (node.by == () or node.of_labels)


def _columns(
    labels: pd.DataFrame, meta: Any, names: list[Any], order: Sequence[pd.Index] | None
) -> pd.Index:
    """Return the columns that pandas makes of labels, for each value."""
    zeros = pd.Index(np.zeros(len(labels), dtype=int))
    keys = [zeros, *(pd.Index(labels[at]).rename(None) for at in labels.columns)]
    if order is None:
        index = pd.MultiIndex.from_arrays(keys)
    else:
        index = in_levels(keys, [zeros[:1], *order])
    if isinstance(meta, pd.Series):
        small: Any = pd.Series(0, index=index)
    else:
        small = pd.DataFrame(0, index=index, columns=meta.columns)
    columns: pd.Index = small.unstack(list(range(1, index.nlevels))).columns
    return columns.set_names([*columns.names[: -len(names)], *names])


@kernel(scratch=1.0)
def labelled_column(block: Any, at: int) -> Any:
    """Return a column, whose label is the first level of the row labels."""
    labels = block.columns[[at] * len(block)]
    index = pd.MultiIndex.from_arrays([*levels_in(labels), *levels_in(block.index)])
    return block.iloc[:, at].set_axis(index).rename(None)


def _columns_as_rows(frame: Any) -> Series:
    """Return all columns, one after the other."""
    meta = frame.node.meta
    parts = [rowwise(NewLabels(labelled_column), frame, at=at) for at in range(len(meta.columns))]
    nodes = tuple(part.node for part in parts)
    count = (1,) * len(parts)
    values: Series = collection_of(Concat(nodes, count, meta.columns.nlevels))
    dtype = row(meta).unstack().dtype
    return values if values.dtype == dtype else values.astype(dtype)
