"""Values that stand for all rows: with them pandas finds in a chunk what only all rows tell."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass, field
from math import isnan
from typing import Any

import numpy as np
import pandas as pd

from marsdask.core.collection import compute
from marsdask.core.machine.costs import FunctionWrapper, kernel
from marsdask.core.node import Node
from marsdask.core.sizes import is_single

from ..nodes.dtypes import OneType, in_one_type, is_small
from ..nodes.frame_node import FrameNode, dtypes_of, is_masked, is_row
from ..reduction.fold import FrameFold
from ..reduction.reductions import collection_of
from ..schemas.samples import sample, without_rows
from .column_selection import is_open
from .rowwise import Method, Unsettled, depends_on_values, rowwise

#: Exemplars of each column, ``()`` of columns that need none.
Exemplars = tuple[tuple[Any, ...], ...]

#: The classes of points of time and of durations, and of missing ones.
TIMES = (pd.Timestamp, pd.Timedelta, type(pd.NaT))

#: What pandas infers of objects that are the values of a kind of numbers.
KINDS = {"i": "integer", "u": "integer", "f": "floating"}

#: The ticks of a second, by the unit of times.
TICKS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def by_values(func: Callable[..., Any], rows: Any, *args: Any, **kwargs: Any) -> Any:
    """Return ``func`` of rows; from objects and categories pandas finds its types in the values.

    Every chunk gets exemplars of all rows then, which costs a look at them.
    """
    return with_exemplars(func, rows, _tells_no_kind, *args, **kwargs)


def itself(value: Any) -> Any:
    """Return a value."""
    return value


def inferred(block: Any) -> Any:
    """Return objects in the type that pandas finds for results of functions."""
    return block.map(itself)


@dataclass(frozen=True, eq=False)
class Listed:
    """Returns objects in the types that results of rows have; declares those of a guess."""

    like: Any

    @property
    def __name__(self) -> str:
        return "listed"

    def __call__(self, block: Any) -> Any:
        if not len(block):
            return self.like.set_axis(block.index)
        if block.ndim == 2:
            return block.infer_objects()
        return pd.Series(block.tolist(), block.index, name=block.name)


class Inferred(Listed):
    """Returns objects in the type that pandas finds for results of functions."""

    def __call__(self, block: Any) -> Any:
        return inferred(block) if len(block) else super().__call__(block)


def tells_no_unit(found: Any, meta: Any) -> bool:
    """Tell whether results are times whose unit the texts, or other objects, of all rows decide."""
    if not isinstance(found, pd.Series) or not isinstance(meta, pd.Series):
        return False
    return found.dtype.kind in "mM" and meta.dtype in (object, "str")


def constructed(block: Any, labels: tuple[Any, ...] | None = None) -> Any:
    """Return objects, or columns of them, in the types that new objects of pandas have."""
    if block.ndim == 1:
        is_object = block.dtype == object  # and no truth values of a join without gaps
        return pd.Series(block.to_numpy(), block.index, name=block.name) if is_object else block
    block = block.copy(deep=False)
    for label in labels or ():
        block[label] = constructed(block[label])
    return block


def keys_in_one_type(node: Node, keys: Sequence[Hashable]) -> Node:
    """Return rows whose keys have the type of all rows, as the keys of results do.

    Chunks that have no missing key would have integers, or truth values.
    """
    opens = isinstance(node, FrameNode) and node.types_by_rows
    return in_one_type(node) if opens and any(is_open(node, key) for key in keys) else node


def mapped_from(block: Any, dtype: Any) -> Any:
    """Return objects in the type that pandas finds for what values of a type are mapped to."""
    if is_masked(dtype) and block.isna().all() and not any(value is pd.NaT for value in block):
        return block.astype(dtype)
    keys: Any = pd.RangeIndex(len(block)).astype("Int64")
    if isinstance(dtype, pd.StringDtype):
        keys = keys.astype(str).astype(dtype)
    mapping = pd.Series(block.to_numpy(object), keys, object)
    return pd.Series(keys, block.index, keys.dtype, block.name).map(mapping)


def as_texts(func: Callable[..., Any], rows: Any, *args: Any, **kwargs: Any) -> Any:
    """Return ``func``, a cast to texts: those of times all have the digits that one needs."""
    return with_exemplars(func, rows, tells_texts, *args, **kwargs)


def texts_of_all(columns: Sequence[Any]) -> list[Any]:
    """Return casts to texts of columns, with the digits that one of all values needs.

    Computes the exemplars of the columns at the call: rows that are written are not kept until all
    are known.
    """
    steps = (ExemplarsOf((0,)), join_exemplars, as_scalar)
    folds = [
        FrameFold(np.empty((), object), None, False, "exemplars", column.node, steps)
        for column in columns
    ]
    values = compute(*map(collection_of, folds))
    func = WithExemplars(Method("astype"))
    return [
        rowwise(func, column, value if isinstance(value, np.ndarray) else as_scalar(value), "str")
        for column, value in zip(columns, values, strict=True)
    ]


def with_exemplars(
    func: Callable[..., Any],
    rows: Any,
    needs: Callable[[Any], bool],
    *args: Any,
    **kwargs: Any,
) -> Any:
    """Return ``func`` of rows, with exemplars of the columns whose types need some."""
    node = rows.node
    places = tuple(at for at, dtype in enumerate(dtypes_of(node.meta)) if needs(dtype))
    if not places or (is_single(node.chunks[0]) and node.settled):
        return rowwise(func, rows, *args, **kwargs)
    rows = rows if node.settled else type(rows)(OneType(node))
    steps = (ExemplarsOf(places), join_exemplars, as_scalar)
    exemplars = FrameFold(np.empty((), object), None, False, "exemplars", rows.node, steps)
    return rowwise(WithExemplars(func), rows, collection_of(exemplars), *args, **kwargs)


def chosen(func: Callable[..., Any], rows: Any, cond: Any, other: Any, *, where: bool) -> Any:
    """Return ``where`` or ``mask`` of a column, in the type that all replacements need."""
    node = other.node
    exemplars = FrameFold(np.empty((), object), None, False, "exemplars", node, NUMBERS)
    changes = ~cond.all() if where else cond.any()
    return rowwise(Chosen(func, where), rows, cond, other, collection_of(exemplars), changes)


def needs_all_replacements(rows: Any, other: Any) -> bool:
    """Tell whether numbers may be replaced by numbers that their type cannot hold."""
    dtype = rows.node.meta.dtype
    if not isinstance(dtype, np.dtype) or dtype.kind not in "iuf":
        return False
    if dtype == other and rows.node.settled:
        return False
    return is_masked(other) or getattr(other, "kind", "") == "f"


@kernel(scratch=1.0)
def number_exemplars(block: Any) -> Any:
    """Return numbers of each kind: a missing one, one with a fraction, the least and the largest.

    A type that holds them holds all.
    """
    present = block.dropna()
    fractions = present[present % 1 != 0]
    ends = [present.min(), present.max()] if len(present) else []
    some = [block[block.isna()].iloc[:1], fractions.iloc[:1], pd.Series(ends, dtype=block.dtype)]
    return pd.concat(some, ignore_index=True)


@kernel(scratch=0.0)
def join_numbers(a: Any, b: Any) -> Any:
    """Return the exemplars of the numbers of two chunks."""
    return number_exemplars(pd.concat([a, b], ignore_index=True))


@dataclass(frozen=True)
class Chosen(FunctionWrapper, Unsettled):
    """Calls ``where`` or ``mask`` with exemplars behind, so that all chunks have one type."""

    where: bool

    def general(self, found: Any, *metas: Any, **kwargs: Any) -> Any:
        """Return the types of rows whose replacements may be missing."""
        block, _, other, *_ = metas
        cond = pd.Series([not self.where])
        first = sample(block).iloc[:1].reset_index(drop=True)
        missing = pd.Series([None], dtype=other.dtype)
        return without_rows(self.func(first, cond, missing, **kwargs), found)

    def __call__(
        self, block: Any, cond: Any, other: Any, exemplars: Any, changes: Any, **kwargs: Any
    ) -> Any:
        values = exemplars.item()
        if not len(block) or values is None or not len(values) or not changes:
            return self.func(block, cond, other, **kwargs)
        again = [0] * len(values)
        replaced = pd.Series([not self.where] * len(values), dtype=cond.dtype)
        pairs = ((block, block.iloc[again]), (cond, replaced), (other, values))
        parts = [pd.concat(pair, ignore_index=True) for pair in pairs]
        result = self.func(*parts, **kwargs)
        return result.iloc[: len(block)].set_axis(block.index).rename(block.name)


def _tells_no_kind(dtype: Any) -> bool:
    return isinstance(dtype, pd.CategoricalDtype) or pd.api.types.is_object_dtype(dtype)


def tells_texts(dtype: Any) -> bool:
    """Tell whether other rows decide the text of a value: of times, and of numbers with gaps."""
    if isinstance(dtype, pd.CategoricalDtype):
        return dtype.categories is None or dtype.categories.dtype.kind != "O"
    return is_time(dtype)


def is_time(dtype: Any) -> bool:
    """Tell whether values are points of time or durations, in ticks."""
    return isinstance(dtype, np.dtype | pd.DatetimeTZDtype) and dtype.kind in "mM"


def is_datetimelike(dtype: Any) -> bool:
    """Tell whether values are points of time, durations or periods."""
    return is_time(dtype) or isinstance(dtype, pd.PeriodDtype)


@dataclass(frozen=True)
class ExemplarsOf:
    """Finds exemplars of some columns of a chunk."""

    places: tuple[int, ...]

    @property
    def __name__(self) -> str:
        return "exemplars"

    def __call__(self, block: Any) -> Exemplars:
        return tuple(
            exemplars_of(column) if at in self.places else ()
            for at, column in enumerate(_columns(block))
        )


@kernel(scratch=0.0)
def join_exemplars(a: Exemplars, b: Exemplars) -> Exemplars:
    """Return the exemplars of two chunks."""
    return tuple(
        exemplars_of(objects_of([*first, *second], len(first) + len(second)))
        for first, second in zip(a, b, strict=True)
    )


def as_scalar(exemplars: Any) -> Any:
    """Return exemplars as they are passed to every chunk."""
    scalar = np.empty((), object)
    scalar[()] = exemplars
    return scalar


#: How exemplars of numbers are found: in a chunk, of two chunks, and at the end.
NUMBERS = (number_exemplars, join_numbers, as_scalar)


def _columns(block: Any) -> Iterable[Any]:
    return [block] if block.ndim == 1 else (block.iloc[:, at] for at in range(block.shape[1]))


def objects_of(values: Iterable[Any], count: int) -> Any:
    """Return an array of objects, of which some may be lists."""
    return np.fromiter(values, object, count)


def with_one_nan(rows: Any) -> Any:
    """Return objects in which every missing float is the object ``np.nan``.

    pandas and users' functions look for it with ``is``, and what another process sends is a copy.
    """
    if rows.dtype != object:
        return rows
    values = rows.to_numpy()
    copies = [
        at
        for at, value in enumerate(values)
        if type(value) is float and isnan(value) and value is not np.nan  # noqa: PLW0177
    ]
    if not copies:
        return rows
    values = values.copy()
    values[copies] = np.nan
    return pd.Series(values, rows.index, object, rows.name)


def with_missing_key(mapping: Any) -> Any:
    """Return a dict with the one object that pandas looks up for missing values as their key."""
    nans = [key for key in mapping if isinstance(key, float) and np.isnan(key)]
    if nans:  # a copy of nan is another key
        mapping = copy(mapping)
        mapping[np.nan] = mapping.pop(nans[0])
    return mapping


def exemplars_of(values: Any) -> tuple[Any, ...]:
    """Return a value of each kind; of times the one that needs most digits."""
    if is_time(values.dtype):
        return _most_digits(values.dropna())
    objects = np.asarray(values, object)
    if {*map(type, objects)} in ({pd.Timestamp}, {pd.Timedelta}):
        times = pd.Series(objects)
        if is_time(times.dtype):  # of one zone
            return _most_digits(times)
    return _one_of_each(objects)


def _most_digits(times: Any) -> tuple[Any, ...]:
    ticks = (times.dt.tz_localize(None) if times.dtype.kind == "M" else times).astype("int64")
    second = TICKS[times.dt.unit]
    for step in (second // 10**6, second // 10**3, second, 86400 * second):
        finer = ticks % step != 0 if step > 1 else None
        if finer is not None and finer.any():
            return (times[finer].iloc[0],)
    return (times.iloc[0],) if len(times) else ()


def _one_of_each(values: Any) -> tuple[Any, ...]:
    """Return a value of each class; also the longest text or list, and the largest integer."""
    missing = pd.isna(values)
    present = values[~missing]
    exemplars = [*_of_classes(values[missing]), *_of_classes(present)]
    kinds = list(map(type, present))
    for kind in dict.fromkeys(kinds):
        size: Any = len if hasattr(kind, "__len__") else abs if issubclass(kind, int) else None
        if size is not None:
            alike = (value for value, own in zip(present, kinds, strict=True) if own is kind)
            exemplars.append(max(alike, key=size))
    return tuple(exemplars)


def _of_classes(values: Any) -> Iterable[Any]:
    return dict(zip(map(type, values[::-1]), values[::-1], strict=True)).values()


@dataclass(frozen=True)
class WithExemplars(FunctionWrapper, Unsettled):
    """Calls a function of rows with exemplars behind them, whose results are dropped."""

    @property
    def by_rows(self) -> bool:
        by_rows = isinstance(self.func, Unsettled) and self.func.by_rows
        return by_rows or depends_on_values(self.func)

    def general(self, found: Any, *metas: Any, **kwargs: Any) -> Any:
        """Return the types that a sample of rows has."""
        block, _, *args = metas
        if not depends_on_values(self.func):
            return found
        try:
            return without_rows(self.func(sample(block), *args, **kwargs), found)
        except (TypeError, ValueError, AttributeError):
            return found  # the sample may be invalid input

    def __call__(self, block: Any, exemplars: Any, *args: Any, **kwargs: Any) -> Any:
        columns = exemplars.item()
        count = max(map(len, columns)) if isinstance(columns, tuple) else 0
        if not len(block) or not count:
            return self.func(block, *args, **kwargs)
        rows = _extended(block, columns, count)
        args = tuple(
            pd.concat([arg, arg.iloc[[0] * count]], ignore_index=True)
            if isinstance(arg, pd.Series)
            else arg
            for arg in args
        )
        result = self.func(rows, *args, **kwargs)
        return result.iloc[: len(block)].set_axis(block.index)


def _extended(block: Any, columns: Exemplars, count: int) -> Any:
    """Return rows with exemplars behind them; other columns repeat a value of the chunk."""
    if block.ndim == 1:
        return _with_values(block, columns[0])
    extended = {}
    for at, (column, values) in enumerate(zip(_columns(block), columns, strict=True)):
        if values:
            extended[at] = _with_values(column, (*values, *values[:1] * (count - len(values))))
        else:
            extended[at] = column.iloc[[*range(len(column)), *[0] * count]].reset_index(drop=True)
    return pd.DataFrame(extended).set_axis(block.columns, axis=1)


def _with_values(column: Any, values: tuple[Any, ...]) -> Any:
    dtype = column.dtype
    are_times = is_time(dtype) and all(isinstance(value, TIMES) for value in values)
    are_texts = isinstance(dtype, pd.StringDtype) and pd.api.types.infer_dtype(values) == "string"
    # Truth values of a join are objects only where a row has none.
    are_flags = dtype == "bool" and pd.api.types.infer_dtype(values) == "boolean"
    # Labels of concat() are numbers where the parts of other types have no rows.
    plain = isinstance(dtype, np.dtype)
    are_numbers = plain and KINDS.get(dtype.kind) == pd.api.types.infer_dtype(values)
    is_kept = are_times or are_texts or are_flags or are_numbers
    if not (is_kept or isinstance(dtype, pd.CategoricalDtype)):
        dtype = np.dtype(object)  # a chunk of its own may have been taken for another type
    behind = pd.Series(objects_of(values, len(values)), dtype=dtype)
    extended = pd.concat([column.astype(dtype), behind], ignore_index=True)
    extended.name = column.name
    return extended


def typed_by_all(call: Any, untyped_call: Any, rows: Any) -> Any:
    """Return results of a function of values, whose type depends on whether all are missing.

    Of large sources results of a chunk that are all missing have the type of other values.
    """
    if is_row(rows.node) or not is_small(rows.node):
        return rowwise(call, rows)
    untyped = rowwise(untyped_call, rows)
    steps = (types_of_missing, join_types_of_missing, as_scalar)
    types = FrameFold(np.empty((), object), None, False, "types", untyped.node, steps)
    return rowwise(TypedResults(call.name, call.meta), untyped, collection_of(types))


@dataclass(frozen=True, eq=False)
class TypedResults:
    """Gives results of a chunk the types of all rows, if there is a value: those that one shows.

    Where all rows are missing, in one way, they have the type that pandas finds for these.
    """

    name: str
    meta: Any = field(repr=False)

    @property
    def __name__(self) -> str:
        return self.name

    def __call__(self, block: Any, types: Any) -> Any:
        of_columns = types.item()
        if of_columns is None:
            return self.meta
        if block.ndim == 1:
            return _typed(block, self.meta, *of_columns)
        columns = [
            _typed(block.iloc[:, at], self.meta.iloc[:, at], own)
            for at, own in enumerate(of_columns)
        ]
        typed_block = pd.concat(columns, axis=1) if columns else block
        return typed_block.set_axis(block.columns, axis=1)


def _typed(block: Any, meta: Any, all_types: Any) -> Any:
    if all_types is not None and len(all_types) < 2:
        return block
    return without_values(block, meta.dtype) if len(block) else meta.set_axis(block.index)


@kernel(scratch=1.0)
def types_of_missing(block: Any) -> tuple[Any, ...]:
    """Return for each column the types of its results, ``None`` if one of them is a value."""
    columns = [block] if block.ndim == 1 else [block.iloc[:, at] for at in range(block.shape[1])]
    return tuple(
        None if column.notna().any() else frozenset({column.dtype} if len(column) else ())
        for column in columns
    )


@kernel(scratch=0.0)
def join_types_of_missing(a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the types of the results of two chunks."""
    pairs = zip(a, b, strict=True)
    return tuple(None if None in (first, second) else first | second for first, second in pairs)


def without_values(found: Any, dtype: Any) -> Any:
    """Return results in the type that missing ones have beside values of a type, if all are."""
    is_other_time = found.dtype.kind in "mM" and not is_datetimelike(dtype)
    if found.dtype == dtype or is_other_time or not found.isna().all():
        return found
    plain = isinstance(dtype, np.dtype)
    if plain and dtype.kind in "Ob":  # beside truth values, what is missing stays what it is
        return found.astype(object)
    kind = np.float64 if plain and dtype.kind in "iu" else dtype
    return pd.Series([None] * len(found), found.index, kind, found.name)
