"""Operations that work chunk by chunk: columns, arithmetic, casts."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any
from typing import cast as typed

import numpy as np
import pandas as pd

from marsdask.core.arguments import check_no_lazy_rows, keeps_lazy
from marsdask.core.collection import Collection, wrap
from marsdask.core.grids.blockwise import Blockwise
from marsdask.core.grids.grid import Grid
from marsdask.core.machine.costs import FunctionWrapper, kernel
from marsdask.core.node import Columns, Node, PartOf, Taken
from marsdask.core.sizes import Chunks, unknown_sizes
from marsdask.core.snapshots.functions import function_name
from marsdask.core.traits import Traits, kept
from marsdask.scheduler.base import all_dtypes

from ..nodes.categories import over_all_categories
from ..nodes.dtypes import is_small
from ..nodes.frame_node import (
    FrameNode,
    SameKind,
    dtypes_of,
    is_row,
    is_several,
    is_wide,
    join_labels,
    rows_among,
)
from ..nodes.samples import row_of, rows_with_gaps, samples_of
from ..nodes.traits import (
    carry_all,
    carry_column,
    carry_relabelled,
    carry_renamed,
    carry_to_frame,
    carry_to_labels,
    carry_unassigned,
    comparable,
    has_missing_labels,
    kept_labels,
)
from ..relations import columns
from ..relations.functions import METHODS, OPERATORS, Operation, Translation
from ..relations.relation import Table, together
from ..relations.replacements import REPLACEMENTS
from ..rows import aligned_rows, as_one_chunk, check_aligned, empty_rows, level_at
from ..schemas.samples import gaps_of, sample, with_replaced, without_rows
from ..schemas.schema import result_of
from .row_functions import (
    ARITHMETIC,
    all_columns,
    assigned,
    chosen,
    labels_and_columns,
    no_columns,
    record_of,
    reindexed,
    relabelled_columns,
    renamed_columns,
    row_function,
)


@dataclass(frozen=True, eq=False)
class Rowwise(FrameNode):
    """``func`` of objects with the same rows, and of constants.

    ``func`` takes the pandas objects of a chunk; the empty metas give the type of the result.
    Lazy scalars, and rows of one value per column, are passed whole to every chunk.
    """

    func: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: tuple[tuple[str, Any], ...] = ()

    @property
    def label(self) -> str:
        return record_of(self.func).label or function_name(self.func).strip("_")

    @property
    def meta(self) -> Any:
        labels = tuple(tuple(row.row_labels) for row in self._labelled_rows)
        return result_of(self.func, (*self.args, labels), self.kwargs, self._found)

    @property
    def _labelled_rows(self) -> list[FrameNode]:
        """The nodes of one value per column, if these are aligned by labels that are known."""
        rows = [node for node in self.inputs if is_several(node)]
        aligned = rows and any(isinstance(node.meta, pd.DataFrame) for node in self.inputs)
        aligned = aligned and function_name(self.func).strip("_") in ARITHMETIC
        nodes = [row for row in rows if isinstance(row, FrameNode)] if aligned else []
        return [row for row in nodes if row.row_labels is not None]

    def _found(self) -> Any:
        if self._reads_gaps:
            return empty_rows(self._with_gaps())
        metas = [arg.meta if isinstance(arg, Node) else arg for arg in self.args]
        rows = self._labelled_rows
        if rows:
            metas = [
                row_of(arg) if isinstance(arg, Node) and arg in rows else meta
                for arg, meta in zip(self.args, metas, strict=True)
            ]
        if isinstance(self.func, AlongRows):
            return without_rows(self.func(sample(metas[0]), **dict(self.kwargs)), metas[0])
        result = self.func(*metas, **dict(self.kwargs))
        if isinstance(self.func, Unsettled):
            return self.func.general(result, *metas, **dict(self.kwargs))
        return self._general(result) if depends_on_values(self.func) else result

    def _general(self, found: Any) -> Any:
        """Return the result's types if values may be missing or divided by zero."""
        if any(isinstance(node.meta, pd.Index) or is_several(node) for node in self.inputs):
            return found
        dtypes = dtypes_of(found)
        holds_all = all(getattr(dtype, "kind", "O") not in "iub" for dtype in dtypes)
        if dtypes and holds_all and function_name(self.func) not in PUTS:
            return found  # these types have a missing value
        samples = samples_of(self.args)
        if function_name(self.func) == "replace":
            samples[0] = with_replaced(samples[0], dict(self.kwargs).get("to_replace"))
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the call with the values warns
                return without_rows(self.func(*samples, **dict(self.kwargs)), found)
        except (TypeError, ValueError, AttributeError, ArithmeticError):
            return found  # the sample may be invalid input

    @property
    def _reads_gaps(self) -> bool:
        """Whether it makes other labels, or columns, of levels with gaps."""
        reads = self.relabels or function_name(self.func) in READ_LEVELS
        return reads and any(node.level_gaps for node in self.inputs)

    def _with_gaps(self) -> Any:
        """Return the function of rows whose labels have gaps."""
        return self.func(*rows_with_gaps(self.args), **dict(self.kwargs))

    @property
    def level_gaps(self) -> frozenset[int]:
        return gaps_of(self._with_gaps()) if self._reads_gaps else super().level_gaps

    @property
    def settled(self) -> bool:
        by_values = depends_on_values(self.func) or isinstance(self.func, Unsettled)
        return not (by_values or self._reads_gaps) and all(child.settled for child in self.inputs)

    @property
    def has_one_type(self) -> bool:
        """Whether no values decide the types: those that may be missing leave them as they are."""
        replaces = function_name(self.func).strip("_") in BY_VALUES and not self.opens_types
        parts = (x.has_one_type if isinstance(x, Rowwise) else x.settled for x in self.inputs)
        return self.settled or (replaces and not self._has_types_of_values and all(parts))

    @property
    def opens_types(self) -> bool:
        return isinstance(self.func, Unsettled)

    @property
    def types_by_rows(self) -> bool:
        below = super().types_by_rows and (is_wide(self.meta) or self.may_widen)
        return self._has_types_of_values or below

    @property
    def _has_types_of_values(self) -> bool:
        """Whether the function gives other types where values are missing or divided by zero."""
        if isinstance(self.func, Unsettled):
            return self.func.by_rows
        if not depends_on_values(self.func) and not self._reads_gaps:
            return False
        if function_name(self.func) == "replace":
            return True  # the new values may be of any type
        metas = [arg.meta if isinstance(arg, Node) else arg for arg in self.args]
        return all_dtypes(self.func(*metas, **dict(self.kwargs))) != all_dtypes(self.meta)

    @property
    def keeps_types(self) -> bool:
        return record_of(self.func).keeps_types

    def runs_inline(self) -> bool:
        arguments = (*self.args, *(value for _, value in self.kwargs))
        is_known = isinstance(self.func, Method | Member) or bool(translation_of(self.func))
        return is_known and not any(map(callable, arguments))

    @property
    def row_operands(self) -> tuple[Node, ...]:
        """The inputs that have its rows."""
        return rows_among(self.inputs)

    @property
    def traits(self) -> Traits:
        """The rows are those of the operands, unless the function changes the labels."""
        below = self.row_operands[0].traits
        traits = below.of(self.name) if self.relabels else below
        return traits.carried(self._carry)

    @property
    def relabels(self) -> bool:
        """Whether the labels of the result are others."""
        return record_of(self.func).changes_labels or isinstance(self.func, NewLabels)

    def _carry(self, key: Hashable) -> Hashable | None:
        """Return the key of the result that has the values of a key of the first operand."""
        if isinstance(self.func, NewLabels):
            return None
        rule = record_of(self.func).carry
        if rule is None:
            return comparable(self.meta, kept_labels)(key)
        below = self.row_operands[0].meta
        return comparable(self.meta, lambda old: rule(below, old, dict(self.kwargs)))(key)

    @property
    def chunks(self) -> Chunks:
        if join_labels(self.row_operands):
            return (unknown_sizes(self.name, [None]),)
        return max((node.chunks for node in self.row_operands), key=lambda chunks: len(chunks[0]))

    def requires(self, wanted: Columns) -> tuple[Columns, ...]:
        return record_of(self.func).columns(self, wanted).columns

    def narrowed(self, columns: frozenset[Any]) -> Node:
        arguments = record_of(self.func).columns(self, columns).arguments
        return self.replaced(**arguments) if arguments else self

    def relation(self, inputs: Sequence[Any]) -> Table | None:
        translation = translation_of(self.func)
        tables = together([item for item in inputs if isinstance(item, Table)])
        if translation is None or not tables:
            return None
        sources = iter(tables)
        operands = iter([next(sources) if isinstance(item, Table) else item for item in inputs])
        args = tuple(next(operands) if isinstance(arg, Node) else arg for arg in self.args)
        first = self.args[0].meta if isinstance(self.args[0], Node) else None
        labels = first.columns if isinstance(first, pd.DataFrame) else None
        table = translation(Operation(args, dict(self.kwargs), labels))
        return table if table and len(table.columns) == len(dtypes_of(self.meta)) else None

    def made_of(self, label: Hashable | None) -> list[tuple[Node, Hashable | None]]:
        if self.func is with_columns and label is not None:
            names = dict(self.kwargs)["names"]
            at = 1 + names.index(label) if label in names else 0
            return [(self.args[at], None if at else label)]
        if self.func is column_of and isinstance(self.meta, pd.Series):
            return [(self.args[0], dict(self.kwargs)["key"])]
        return super().made_of(label)

    def sliced(self, taken: Taken, part: PartOf) -> Node | None:
        """Return the function of some rows; types that other rows decide stay those of all."""
        # Of many rows, those that are asked for decide the types.
        moves = taken[0] is not None and (self.has_one_type or not is_small(self))
        if not moves or any(node.chunks != self.chunks for node in self.row_operands):
            return None
        return self.with_inputs({node: part(node, taken) for node in self.row_operands})

    def tile(self, *grids: Grid) -> Any:
        rows = [
            grid for grid, node in zip(grids, self.inputs, strict=True) if node in self.row_operands
        ]
        if join_labels(self.row_operands) or len({grid.chunks for grid in rows}) == 1:
            return self._map(grids, rows)
        return self._tile(grids, rows)

    def _tile(self, grids: tuple[Grid, ...], rows: list[Grid]) -> Any:
        blocks, _ = yield from aligned_rows(rows)
        new = dict(zip((grid.name for grid in rows), blocks, strict=True))
        return self._map(tuple(new.get(grid.name, grid) for grid in grids), list(blocks))

    def _map(self, grids: tuple[Grid, ...], rows: list[Grid]) -> Grid:
        whole = [node not in self.row_operands for node in self.inputs]
        sources = tuple(
            as_one_chunk(grid) if alone else grid for grid, alone in zip(grids, whole, strict=True)
        )
        axes = tuple(
            (None,) * grid.ndim if alone else (0,)
            for grid, alone in zip(sources, whole, strict=True)
        )
        if all(isinstance(arg, Node) for arg in self.args):
            rule = Blockwise(self.func, sources, axes, dict(self.kwargs))
        else:
            call = Partial(
                self.func,
                tuple(None if isinstance(arg, Node) else arg for arg in self.args),
                tuple(isinstance(arg, Node) for arg in self.args),
            )
            rule = Blockwise(call, sources, axes, dict(self.kwargs))
        partitioning = kept(rows[0].partitioning, self._carry)
        sizes = (self if join_labels(self.row_operands) else rows[0]).chunks[0]
        return self.grid(rule, sizes, partitioning=partitioning)


def depends_on_values(func: Callable[..., Any]) -> bool:
    """Tell whether the type of a function's result may depend on the values."""
    while isinstance(func, Keywords):
        func = func.func
    of_accessor = isinstance(func, Member) or (isinstance(func, Method) and bool(func.accessor))
    return of_accessor or function_name(func).strip("_") in BY_VALUES


@dataclass(frozen=True)
class NewLabels(FunctionWrapper):
    """A function that gives rows other labels, in the same order."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.func(*args, **kwargs)


class Unsettled:
    """A function whose results show their types only when they are computed."""

    @property
    def by_rows(self) -> bool:
        """Whether values that are missing in some rows decide the types of all."""
        return False

    def general(self, found: Any, *metas: Any, **kwargs: Any) -> Any:
        """Return the types to announce, given those of no rows: the most general ones."""
        del metas, kwargs
        return found


#: Functions whose result has another type if values are missing, or a divisor is zero.
BY_VALUES = {
    *("where", "mask", "clip"),
    *("floordiv", "mod", "floor_divide", "remainder", "divmod", "rfloordiv", "rmod"),
    *("fillna", "replace", "combine_first"),
    *("put_rows", "put_where"),
}

#: Functions that make values of a level of row labels.
READ_LEVELS = {"level_values", "get_level_values", "droplevel"}

#: Functions that replace some values by others, which may be of another type.
PUTS = {"where", "mask", "fillna", "replace", "put_rows", "put_where"}


@dataclass(frozen=True)
class Partial(FunctionWrapper):
    """A function with constants for some of its arguments."""

    template: tuple[Any, ...]
    is_chunk: tuple[bool, ...]

    def __call__(self, *blocks: Any, **kwargs: Any) -> Any:
        values = iter(blocks)
        pairs = zip(self.is_chunk, self.template, strict=True)
        return self.func(*[next(values) if flag else item for flag, item in pairs], **kwargs)


@dataclass(frozen=True)
class Keywords(FunctionWrapper):
    """A function that takes its last arguments as keywords: chunks are positional."""

    names: tuple[str, ...]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        first = len(args) - len(self.names)
        return self.func(
            *args[:first], **dict(zip(self.names, args[first:], strict=True)), **kwargs
        )


def rowwise(func: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Return ``func(*args, **kwargs)`` as a lazy operation on rows."""
    lazy = tuple(name for name, arg in kwargs.items() if isinstance(arg, Collection))
    if lazy:
        func, args = Keywords(func, lazy), (*args, *map(kwargs.pop, lazy))
    nodes = tuple(arg.node if isinstance(arg, Collection) else arg for arg in args)
    check_no_lazy_rows(func.__name__.strip("_"), (*args, *kwargs.values()))
    rows = [node for node in nodes if isinstance(node, Node) and not is_row(node)]
    check_aligned(rows, func.__name__.strip("_"))
    node: Rowwise = Rowwise(func, nodes, tuple(sorted(kwargs.items())))
    if any(child.incomplete for child in node.inputs):
        node = _over_all_categories(node)
    if func in BY_TYPES:
        _check_types(node)
    return wrap(node)


def _over_all_categories(node: Rowwise) -> Any:
    """Return a node over the categories of all rows, if those that are declared are too few."""
    try:
        _ = node.meta
    except (TypeError, ValueError):
        children = [child for child in node.inputs if child.incomplete]
        return node.with_inputs({child: over_all_categories(child) for child in children})
    return node


def _check_types(node: Rowwise) -> None:
    """Raise pandas's error for rows of these types."""
    arguments = (*node.args, *(value for _, value in node.kwargs))
    dtypes = {
        dtype
        for arg in arguments
        for dtype in (dtypes_of(arg.meta) if isinstance(arg, Node) else (np.asarray(arg).dtype,))
    }
    if np.dtype(object) in dtypes or {getattr(dtype, "kind", "O") for dtype in dtypes} <= set(
        "biu"
    ):
        return  # objects may have any type; integers and booleans never raise
    samples = samples_of(node.args)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        node.func(*samples, **dict(node.kwargs))


def method_of(name: str) -> SameKind:
    """Return a method that applies the pandas method of that name to each chunk."""

    @keeps_lazy("arguments")
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        return rowwise(Method(name), self, *args, **kwargs)

    call.__name__ = name
    call.__doc__ = f"Apply ``{name}`` to each row's values. See pandas.Series.{name}."
    return typed("SameKind", call)


@dataclass(frozen=True)
class Method:
    """Calls a method of a pandas object, or of one of its accessors."""

    name: str
    accessor: str | None = None

    @property
    def __name__(self) -> str:
        return self.name

    def __call__(self, block: Any, *args: Any, **kwargs: Any) -> Any:
        owner = block if self.accessor is None else getattr(block, self.accessor)
        return getattr(owner, self.name)(*args, **kwargs)


class AlongRows(Method):
    """Calls a method along each row, of which pandas has types of its own without rows."""


def along_rows(obj: Any, name: str, **kwargs: Any) -> Any:
    """Return what a method of pandas makes of the values of each row."""
    method = AlongRows(name) if any(obj.node.chunks[0]) else Method(name)
    return rowwise(method, obj, axis=1, **kwargs)


#: Functions for which pandas raises by the types of values, but not without rows.
BY_TYPES: set[Callable[..., Any]] = {
    *(operator.and_, operator.or_, operator.xor),
    *(Method("__invert__"), Method("round")),
}


@dataclass(frozen=True)
class Member:
    """Reads a property of an accessor of a pandas object."""

    name: str
    accessor: str

    @property
    def __name__(self) -> str:
        return self.name

    def __call__(self, block: Any) -> Any:
        return getattr(getattr(block, self.accessor), self.name)


@row_function(no_columns, label="index", keeps_types=True)
def index_of(block: Any) -> Any:
    """Return the row labels."""
    return block.index


@row_function(all_columns, carry=carry_to_frame, translation=columns.unchanged, keeps_types=True)
@kernel(view=True)
def to_frame(block: Any, name: Any) -> Any:
    """Return a frame of one column."""
    return block.to_frame(name)


@kernel(view=True)
def to_series(block: Any, name: Any) -> Any:
    """Return the labels of rows as values."""
    return pd.Series(block, block, block.dtype, name)


@row_function(no_columns)
def level_values(block: Any, level: int) -> Any:
    """Return a level of the row labels as values."""
    return pd.Series(level_at(block.index, level), index=block.index)


@row_function(
    chosen, label="getitem", carry=carry_column, translation=columns.choose, keeps_types=True
)
@kernel(view=True)
def column_of(block: Any, key: Any) -> Any:
    """Return a column, or a frame of several."""
    if isinstance(key, list) and all(isinstance(flag, bool | np.bool_) for flag in key):
        return block.iloc[:, block.columns.get_indexer_for(key)]  # labels, and no mask
    return block[key]


def columns_at(obj: Any, place: Any) -> Any:
    """Return the column at a position, or a frame of several.

    By label where each column has its own: then the others are not read.
    """
    labels = obj.node.meta.columns
    single = isinstance(place, int | np.integer)
    if labels.is_unique and not has_missing_labels(labels):
        return rowwise(column_of, obj, key=labels[place] if single else list(labels[place]))
    position = np.arange(len(labels))[place]
    return rowwise(column_at, obj, position=int(position) if single else position.tolist())


@row_function(all_columns, keeps_types=True)
@kernel(view=True)
def column_at(block: Any, position: int | list[int]) -> Any:
    """Return the column at a position, or several: many may have one label."""
    return block.iloc[:, position]


@row_function(
    all_columns, label="rename", carry=carry_all, translation=columns.unchanged, keeps_types=True
)
@kernel(view=True)
def renamed(block: Any, name: Any) -> Any:
    """Return a column under another name."""
    return block.rename(name)


@row_function(no_columns, keeps_types=True)
@kernel(view=True)
def labelled_as(block: Any, values: Any) -> Any:
    """Return values with the labels of a block, or as an Index for an Index."""
    if isinstance(block, pd.Index):
        return pd.Index(values.array, dtype=values.dtype, name=block.name)
    if isinstance(values, pd.DataFrame):
        return values.set_axis(block.index)
    return pd.Series(values.array, block.index, values.dtype, values.name)


@row_function(
    assigned, label="assign", carry=carry_unassigned, translation=columns.assign, keeps_types=True
)
@kernel(view=True)
def with_columns(block: Any, *values: Any, names: tuple[Any, ...]) -> Any:
    """Return the frame with columns added or replaced."""
    block = block.copy(deep=False)
    for name, value in zip(names, values, strict=True):
        unique = block.columns.is_unique
        places = [-1] if unique else block.columns.get_indexer_for([name])
        if isinstance(value, pd.DataFrame) or -1 in places:
            block[name] = value
        else:
            # By position: pandas spreads rows over columns of one label if they are as many.
            for at in places:
                block.isetitem(at, value)
    return block


@row_function(
    labels_and_columns,
    label="set_index",
    carry=carry_to_labels,
    translation=columns.index,
    changes_labels=True,
)
@kernel(view=True)
def by_column(block: Any, key: Any, drop: bool, append: bool) -> Any:
    """Return the frame with columns as row labels."""
    if isinstance(key, pd.Series):
        key = pd.Index(key.array, dtype=key.dtype, name=key.name)  # objects stay objects
    rows = block.set_index(key, drop=drop, append=append)
    if append or not isinstance(rows.index, pd.RangeIndex):
        return rows
    labels = key if isinstance(key, pd.Index) else block[key[0] if isinstance(key, list) else key]
    # All rows tell whether they make a range, which a chunk may be, too.
    return rows if labels.dtype == rows.index.dtype else rows.set_axis(pd.Index(labels))


@row_function(
    relabelled_columns,
    label="rename",
    carry=carry_relabelled,
    translation=columns.unchanged,
    keeps_types=True,
)
@kernel(view=True)
def relabelled(block: Any, columns: Any, before: Any = None) -> Any:
    """Return the frame, or those columns that had the labels ``before``, with other labels."""
    block = block.copy(deep=False) if before is None else column_of(block, list(before))
    block.columns = columns
    return block


@row_function(
    renamed_columns,
    label="rename",
    carry=carry_renamed,
    translation=columns.unchanged,
    keeps_types=True,
)
@kernel(view=True)
def with_names(block: Any, names: tuple[tuple[Any, Any], ...]) -> Any:
    """Return the frame with some columns renamed: ``names`` has pairs of old and new."""
    return block.rename(columns=dict(names))


for _name in ("add_prefix", "add_suffix"):
    row_function(renamed_columns)(Method(_name))
row_function(reindexed)(Method("reindex"))


def translation_of(func: Callable[..., Any]) -> Translation | None:
    """Return how a function is translated to expressions, ``None`` if only pandas knows it."""
    if isinstance(func, Method | Member):
        name = func.accessor, func.name
        return METHODS.get(name) or REPLACEMENTS.get(name)
    return OPERATORS.get(func) or record_of(func).translation
