"""Aggregate groups: combine partials in a tree, or shuffle rows by their keys."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, cast

import numpy as np
import pandas as pd
from pandas.api.types import is_object_dtype

from marsdask.core.grids.blockwise import map_blocks
from marsdask.core.grids.grid import Grid, Look
from marsdask.core.grids.tree import gather, sizes_at_most, tree
from marsdask.core.machine.sizing import GROUPED_ROWS, SHUFFLED_ROWS, TREE_ROWS, is_tight
from marsdask.core.node import Columns, Node
from marsdask.core.sizes import Chunks, Sizes, numbers, total, unknown_sizes, upper
from marsdask.core.traits import Level, Traits, kept

from ..elementwise.row_functions import labels_of
from ..elementwise.rowwise import Method, Rowwise, column_of, with_columns
from ..nodes.dtypes import of_one_type
from ..nodes.frame_node import OCCURRENCE, FrameNode, dtypes_of, row_bytes
from ..nodes.traits import comparable, dtype_of_key, levels, ordering_by
from ..ordered.row_numbers import without_numbers
from ..ordered.sort_values import SortValues
from ..reduction.floats import Narrowing
from ..relations.aggregates import aggregation, group
from ..relations.expression import has_gaps
from ..relations.relation import Table
from ..rows import as_one_chunk, levels_in
from ..schemas.decimals import is_decimal
from ..schemas.samples import labels_like, sample
from ..schemas.schema import once_a_schema, types_of
from ..whole.calls import refuse_sample
from .aggregation import (
    AGGREGATES,
    LONG,
    AggregationPlan,
    GroupByCall,
    Pairs,
    aggregate_groups,
    calls_user,
    combine_partials,
    count_distinct,
    count_distinct_in_chunk,
    finished_parts,
    finished_rows,
    first_met,
    groups_of,
    partials,
    restore_order,
)
from .chunk_sizing import MeasuredGrid, may_be_tight, measure, repartition, split_large
from .shuffle import (
    Counts,
    casts_of,
    counted_parts,
    cut_by_hash,
    cut_by_range,
    samples_of,
    shuffle,
)


def kernels_of(call: GroupByCall) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return the kernels of complete groups: in several chunks, and in one.

    Distinct values take more memory than others to count.
    """
    if "nunique" in call.names:
        return count_distinct, count_distinct_in_chunk
    return aggregate_groups, groups_of


#: Aggregations that pandas computes of doubles, or whose sums lose digits in fewer bits.
WIDE = {"sum", "prod", "mean", "var", "std", "sem", "median", "skew", "kurt"}


@dataclass(frozen=True, eq=False)
class GroupByAggregation(FrameNode):
    """One row for each group."""

    label: ClassVar[str] = "groupby"

    a: Node
    call: GroupByCall

    def runs_inline(self) -> bool:
        return self.call.like is None and not calls_user(self.call)

    @property
    def meta(self) -> Any:
        return types_of(self, lambda: meta_of_groups(self.call, self.a.meta))

    @property
    def settled(self) -> bool:
        by_values = self.call.uses_labels or self._may_be_long or self.call.needs_rows
        return not by_values and all(child.settled for child in self.inputs)

    @property
    def types_by_rows(self) -> bool:
        return self.call.needs_rows or super().types_by_rows

    @property
    def _may_be_long(self) -> bool:
        """Whether sums have 64 bits if they need them."""
        is_sum = not self.call.names.isdisjoint({"sum", "prod"})
        return is_sum and any(str(dtype) in LONG for dtype in dtypes_of(self.meta))

    @property
    def level_orders(self) -> tuple[Any, ...]:
        if self.call.sort:
            return ()
        rows, groups = (
            [level.dtype for level in levels_in(meta.index)] for meta in (self.a.meta, self.meta)
        )
        keys = len(self.call.by)
        # pandas sorts the labels of rows, not those that functions give their results.
        of_rows = self.call.uses_labels and groups[keys:] == rows
        return (OCCURRENCE,) * keys + (None if of_rows else OCCURRENCE,) * (len(groups) - keys)

    @property
    def traits(self) -> Traits:
        """The groups do not depend on the aggregation."""
        call, keys = self.call, levels(self.meta)
        if not call.one_row or call.is_whole:
            return Traits(self.name)
        rows = _with_keys(self.a, call.by).name
        traits = Traits(f"groups:{rows}:{call.by}:{call.sort}:{call.dropna}")
        traits = traits.and_unique(keys)
        if call.sort:
            na_first = None if call.dropna else False
            traits = traits.sorted_by(ordering_by(keys, [True] * len(keys), na_first))
        return traits.carried(comparable(self.meta))

    @property
    def chunks(self) -> Chunks:
        return (unknown_sizes(self.alignment, [self._bound]),)

    @property
    def _bound(self) -> int | None:
        return upper(total(self.a.chunks[0]))

    def requires(self, wanted: Columns) -> tuple[Columns, ...]:
        call = self.call if wanted is None else self._only(wanted)
        return (call.needs(self.a.meta.columns),)

    def narrowed(self, columns: frozenset[Any]) -> Node:
        call = self._only(columns)
        return self if call is self.call else self.replaced(call=call)

    def _only(self, wanted: frozenset[Any]) -> GroupByCall:
        """Return the call that aggregates some columns alone, if it aggregates each of its own."""
        call, labels = self.call, labels_of(self.a.meta)
        simple = call.selection is ... and call.method in AGGREGATES and not call.args
        if not simple or labels is None or call.is_whole or self._widens_together:
            return call
        columns = tuple(label for label in labels if label in wanted and label not in call.by)
        return replace(call, selection=columns) if columns else call

    def relation(self, inputs: Sequence[Any]) -> Table | None:
        (table,) = inputs
        position = partial(place_of, self.a.meta.columns)
        pairs = _pairs(self.call, self.a.meta, self.meta)
        keys = [table.columns[position(label)] for label in self.call.by]
        if self.call.is_whole or pairs is None or self._widens_together:
            return None
        if any(key is None or has_gaps(key) for key in keys):
            return None
        ddof = dict(self.call.kwargs).get("ddof", 1)
        values = [
            aggregation(how, table.columns[position(label)], ddof=ddof) for label, how in pairs
        ]
        return group(table, keys, values, sort=self.call.sort, dropna=self.call.dropna)

    def absorb(self, alone: Callable[[Node], bool]) -> Node:
        if self.call.uses_labels:
            return self
        below = without_numbers(self.a, self.call.by)
        return self if below is self.a else self.replaced(a=below)

    def tile(self, a: Grid) -> Any:
        a = split_large(a)
        if len(a) == 1 or self.call.is_whole:
            return self._one(a)
        plan = self._plan
        if a.partitioning is not None and a.partitioning.holds_whole(self.call.by):
            if self._come_in_order:
                return self._by_chunk(a)
            if plan is None and self.call.one_row and (self.call.dropna or len(self.call.by) == 1):
                return self._sorted_groups(self._by_chunk(a))
        return self._whole_groups(a) if plan is None else self._combined(a, plan)

    @property
    def _come_in_order(self) -> bool:
        """Whether groups occur in the order of the result."""
        by = self.call.by
        order = ordering_by(by, [True] * len(by), na_first=False)
        return not self.call.sort or self.a.traits.is_sorted(order)

    def _by_chunk(self, a: Grid) -> Grid:
        """Aggregate each chunk by itself: its groups are complete."""
        bounds = [upper(size) for size in a.chunks[0]]
        return self.mapped(
            kernels_of(self.call)[1],
            a,
            chunks=(unknown_sizes(f"{self.alignment}:{a.name}", bounds),),
            kwargs={"call": self.call},
            partitioning=kept(a.partitioning, self._level_of),
        )

    def _level_of(self, key: Hashable) -> Hashable | None:
        return Level(self.call.by.index(key)) if key in self.call.by else None

    def _sorted_groups(self, groups: Grid) -> Generator[Look, Any, Grid]:
        """Sort complete groups by their keys."""
        (source,) = yield from measure(groups)
        rising = (True,) * len(self.call.by)
        tiling: Any = SortValues(self, (), rising, na_first=False).tile(source.grid)
        return cast(Grid, (yield from tiling) if isinstance(tiling, Generator) else tiling)

    @property
    def _plan(self) -> AggregationPlan | None:
        """The plan of partials; ``None`` if all rows of a group are needed."""
        specs = specs_of(self.call, self.a.meta, self.meta)
        if specs is None:
            return None
        position = partial(place_of, self.a.meta.columns)
        ddof = dict(self.call.kwargs).get("ddof", 1)
        keys = tuple(position(label) for label in self.call.by)
        columns, together = tuple((position(c), f) for c, f in specs), self.call.is_one_sum
        types = dtypes_of(self.a.meta)
        objects = tuple(at for at, key in enumerate(keys) if is_object_dtype(types[key]))
        options = (self.call.dropna, ddof, together, self._has_types_of_all, objects)
        return AggregationPlan(keys, columns, *options)

    @property
    def _has_types_of_all(self) -> bool:
        """Whether rows of no group count for the types of the result."""
        return self.call.dropna and isinstance(self.a, FrameNode) and self.a.types_by_rows

    @property
    def _widens_together(self) -> bool:
        """Whether the type of a sum may depend on another column, which a query does not see."""
        types = [dtype for dtype in dtypes_of(self.meta) or () if isinstance(dtype, np.dtype)]
        short = [dtype for dtype in types if str(dtype) in LONG]
        return self._may_be_long and self.call.is_one_sum and len(set(short)) < len(short)

    def tile_blind(self, a: Grid) -> Any:
        plan = self._plan
        if len(a) == 1 or self.call.is_whole or (plan is None and not self.call.sort):
            return self._one(a)
        if plan is None:
            by = self.call.by
            splits = self._cut(a, samples_of(a, by), by, len(a))
            return as_one_chunk(
                self._shuffle(splits, self._kernel, self._out(len(a)), {"call": self.call})
            )
        return self._tree(self._partials(a, plan), plan)

    def _out(self, count: int) -> tuple[Any, ...]:
        return unknown_sizes(self.alignment, [self._bound if count == 1 else None] * count)

    def _one(self, a: Grid) -> Grid:
        options = {"chunks": (self._out(1),), "meta": self.meta, "itemsize": row_bytes(self.meta)}
        return gather(self._kernel, a, kwargs={"call": self.call}, **options)

    @property
    def _kernel(self) -> Callable[..., Any]:
        return kernels_of(self.call)[0]

    def _partials(self, a: Grid, plan: AggregationPlan) -> Grid:
        sizes = unknown_sizes(self.name, [upper(size) for size in a.chunks[0]])
        width = row_bytes(self.a.meta.iloc[:, list(plan.keys)]) + 8 * len(plan.slots)
        return map_blocks(partials, a, chunks=(sizes,), kwargs={"plan": plan}, itemsize=width)

    def _combined(self, a: Grid, plan: AggregationPlan) -> Any:
        parts = self._partials(a, plan)
        limit = self._bound or TREE_ROWS + 1
        if not may_be_tight(parts) and (limit <= TREE_ROWS or not self.call.sort):
            return self._tree(parts, plan)
        by = tuple(range(len(plan.keys)))
        samples = samples_of(parts, by)
        (source,) = yield from measure(parts, keep=(samples,) if self.call.sort else ())
        if not is_tight(source.total) and (source.rows <= TREE_ROWS or not self.call.sort):
            return self._tree(source.grid, plan)
        if plan.counts_all:
            grid = yield from of_one_type(source.grid, partials(self.a.meta, plan))
            source = source._replace(grid=grid)
        if self.call.sort:
            return (
                yield from self._ranges(source, samples, by, finished_parts, self._finish(plan))
            )
        groups = yield from self._met(source, by, plan)
        return self.mapped(finished_rows, groups, kwargs=self._finish(plan))

    def _tree(self, parts: Grid, plan: AggregationPlan) -> Grid:
        grid = tree(parts, combine_partials, [0], sizes=sizes_at_most, kwargs={"plan": plan})
        # Computed partials tell more than the rows below.
        sizes = unknown_sizes(self.alignment, [upper(total(parts.chunks[0]))])
        return self.mapped(finished_rows, grid, chunks=(sizes,), kwargs=self._finish(plan))

    def _finish(self, plan: AggregationPlan) -> dict[str, Any]:
        return {"plan": plan, "sort": self.call.sort, "like": self.meta}

    def _cut(self, a: Grid, samples: Grid, by: tuple[Any, ...], count: int) -> Grid:
        rising, labels = (True,) * len(by), self.call.uses_labels
        return cut_by_range(a, samples, by, count, ascending=rising, labels=labels)

    def _ranges(
        self,
        source: MeasuredGrid,
        samples: Grid,
        by: tuple[Any, ...],
        merge: Callable[..., Any],
        kwargs: dict[str, Any],
    ) -> Generator[Look, Any, Grid]:
        """Shuffle rows by ranges of their keys, so that groups are sorted."""
        count = self._count(source)
        splits = self._cut(repartition(source), samples, by, count)
        rows: Counts = [None] * count
        if is_tight(source.total):
            (rows,) = yield from counted_parts(splits, count=count)
        # The number of groups in a chunk depends on where the chunks were cut.
        sizes = unknown_sizes(f"{self.alignment}:{splits.name}", rows)
        return self._shuffle(splits, merge, sizes, kwargs)

    def _count(self, source: MeasuredGrid) -> int:
        return max(2, -(-source.rows // SHUFFLED_ROWS), source.parts())

    def _shuffle(
        self, splits: Grid, merge: Callable[..., Any], sizes: Sizes, kwargs: dict[str, Any]
    ) -> Grid:
        width = max(row_bytes(self.meta), splits.width or 0.0)
        return shuffle(splits, merge, sizes, kwargs, meta=self.meta, width=width)

    def _met(
        self, source: MeasuredGrid, by: tuple[Any, ...] | None, plan: AggregationPlan | None
    ) -> Generator[Look, Any, Grid]:
        """Shuffle rows by hash and aggregate; each group returns to the chunk of its first row."""
        count = self._count(source)
        casts = casts_of(dtype_of_key(self.a.meta, key) for key in self.call.by)
        keep = "labels" if self.call.uses_labels else "at"
        splits = cut_by_hash(repartition(source), by, count, casts=casts, keep=keep)
        (rows,) = yield from counted_parts(splits, count=count)
        groups = shuffle(
            splits,
            first_met,
            unknown_sizes(f"{self.name}:met", rows),
            {"call": self.call, "plan": plan},
            width=splits.width,
        )
        sizes = unknown_sizes(f"{self.name}:{splits.name}", numbers(splits.chunks[0]))
        return shuffle(groups, restore_order, sizes, meta=self.meta, width=splits.width)

    def _whole_groups(self, a: Grid) -> Any:
        rows = self._bound
        if rows is not None and rows <= GROUPED_ROWS and not may_be_tight(a):
            return self._one(a)
        samples = samples_of(a, self.call.by)
        (source,) = yield from measure(a, keep=(samples,) if self.call.sort else ())
        if not is_tight(source.total) and (source.rows <= GROUPED_ROWS or not self.call.sort):
            return self._one(source.grid)
        if not self.call.sort and not self.call.one_row:
            return self._one(source.grid)  # only rows that are one a group are put in order
        if self._has_types_of_all:
            grid = yield from of_one_type(source.grid, self.a.meta)
            source = source._replace(grid=grid)
        if not self.call.sort:
            return (yield from self._met(source, self.call.by, None))
        call = self.call
        if call.method == "describe":  # of no groups pandas returns no frame, or raises
            call = replace(call, like=self.meta)
        return (yield from self._ranges(source, samples, call.by, self._kernel, {"call": call}))


def empty_result(meta: Any) -> Any:
    """Return what ``meta=`` declares, without rows."""
    return meta.iloc[:0] if isinstance(meta, pd.DataFrame | pd.Series) else meta


def meta_of_groups(call: GroupByCall, meta: Any) -> Any:
    """Return the result without rows: that of a sample, where rows decide its types."""
    if call.like is not None:
        return call.like
    user = calls_user(call)
    if not (user or call.shows_types_by_rows):
        return empty_result(call(meta))  # categories without rows are groups, too
    rows = sample(meta).set_axis(labels_like(meta.index), axis=0)
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            rows = call.sampled(rows)
            return call(rows[:1] if call.needs_rows else rows).iloc[:0]
    except Exception as error:
        if not user:
            raise
        error.add_note(
            f"{call.method}() was tried with a sample of rows; use meta= to declare what the "
            "function returns, as an empty pandas object"
        )
        refuse_sample(error)


def _with_keys(node: Node, keys: Sequence[Hashable]) -> Node:
    """Return the node whose rows have the same keys before other columns were assigned."""
    while isinstance(node, Rowwise) and node.func is with_columns:
        if not set(keys).isdisjoint(dict(node.kwargs)["names"]):
            break
        node = node.args[0]
    return node


def in_doubles(
    node: Node, call: GroupByCall, *, bins: bool = False
) -> tuple[Node, Narrowing | None]:
    """Return rows with floats of fewer bits as doubles, and how results become short again.

    pandas adds up short floats in 64 bits, and returns a type that all groups decide together;
    rows of ``bins`` are in their order.
    """
    meta: pd.DataFrame = node.meta
    short = once_a_schema(_short_columns, meta)
    how = call.transformed
    if not short or call.like is not None or calls_user(how):
        return node, None
    like = meta_of_groups(how, meta)
    pairs = _pairs(how, meta, like) if how.one_row else None
    columns = [label for label, name in pairs or () if name in WIDE and label in short]
    columns = [label for label in dict.fromkeys(columns) if label not in call.by]
    if not columns or pairs is None:
        return node, None
    values = [Rowwise(column_of, (node,), (("key", label),)) for label in columns]
    wide = [Rowwise(Method("astype"), (column, np.dtype(float))) for column in values]
    rows = Rowwise(with_columns, (node, *wide), (("names", tuple(columns)),))
    names = tuple(name if label in columns else None for label, name in pairs)
    sources = tuple(label for label, _ in pairs)
    groups = (call.by, call.sort, call.dropna, bins)
    return rows, Narrowing(tuple(dtypes_of(like)), names, sources, how.is_one_sum, *groups)


def _short_columns(meta: pd.DataFrame) -> list[Any]:
    if not meta.columns.is_unique:
        return []
    pairs = zip(meta.columns, meta.dtypes, strict=True)
    return [label for label, dtype in pairs if dtype in (np.float16, np.float32)]


def place_of(columns: pd.Index, label: Hashable) -> int:
    """Return the position of a column, of which the first levels of its label may be given."""
    place: int = np.arange(len(columns))[columns.get_loc(label)].item()
    return place


def specs_of(call: GroupByCall, frame: pd.DataFrame, result: Any) -> list[tuple[Any, str]] | None:
    """Return the source column and the aggregation of each column of the result.

    ``None`` if an aggregation needs all rows of a group in one chunk.
    """
    pairs = _pairs(call, frame, result) if call.one_row else None
    is_known = pairs is not None and all(_has_partials(name, frame[label]) for label, name in pairs)
    return pairs if is_known else None


def _has_partials(name: Any, column: pd.Series) -> bool:
    """Tell whether an aggregation of a column combines those of chunks."""
    dtype: Any = column.dtype
    if not isinstance(name, str) or name not in AGGREGATES or isinstance(dtype, pd.SparseDtype):
        return False
    if name in {"sum", "prod"} and dtype == "object":
        return False  # chunks without values have a sum of 0, which no text is added to
    if is_decimal(dtype) and name in {"mean", "prod"}:
        return False  # sums have more digits, and Arrow rounds each product
    if isinstance(dtype, pd.Float32Dtype) and name in {"mean", "var", "std"}:
        return False  # their type is that of the values of all groups
    if name not in {"mean", "var", "std"} or (name == "mean" and dtype.kind in "mc"):
        return True
    return pd.api.types.is_numeric_dtype(dtype) and dtype.kind != "c"


def _pairs(call: GroupByCall, frame: pd.DataFrame, result: Any) -> list[tuple[Any, Any]] | None:
    options = {name for name, _ in call.kwargs}
    if not frame.columns.is_unique:
        return None
    if call.method != "agg":
        if not options <= {"numeric_only", "ddof"} or call.args or not call.by_column:
            return None
        if call.method == "size":
            return [(call.by[0], "size")]
        if call.series:
            return [(call.selection, call.method)]
        columns = [result.name] if isinstance(result, pd.Series) else list(result.columns)
        return [(column, call.method) for column in columns]
    key = call.selection
    if key is ...:
        columns = [column for column in frame.columns if column not in call.by]
    else:
        columns = list(key) if isinstance(key, tuple) else [key]
    if not call.args:
        return [tuple(how) if isinstance(how, tuple) else (key, how) for _, how in call.kwargs]
    if options:
        return None
    how, *more = call.args
    if more:
        return None
    if isinstance(how, Pairs):
        return [(column, func) for column, funcs in how for func in _as_list(funcs)]
    return [(column, func) for column in columns for func in _as_list(how)]


def _as_list(how: Any) -> list[Any]:
    return how if isinstance(how, list) else [how]
