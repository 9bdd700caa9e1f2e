"""Reductions over rows: map each chunk, combine the partials, finalize.

``RECIPES`` has one row for each reduction. Partials are those of frames: a series is a frame of one
column. The partial of a chunk without rows is ``NoRows``, so that it decides a dtype only if there
are no others.
"""

from __future__ import annotations

import numbers
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial as partial_of
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, overload
from typing import cast as typed

import numpy as np
import pandas as pd
from pandas.api.types import is_object_dtype

from marsdask.core.collection import wrap
from marsdask.core.grids.blockwise import blockwise, map_blocks
from marsdask.core.grids.grid import Grid
from marsdask.core.grids.tree import Pairwise, tree
from marsdask.core.machine.costs import kernel
from marsdask.core.node import Node
from marsdask.core.sizes import Chunks, total

from ..create import series_from_tensor
from ..elementwise.column_selection import columns_where, numeric_part
from ..elementwise.rowwise import rowwise
from ..nodes.frame_node import FrameNode, dtypes_of, is_masked, row_bytes
from ..relations.aggregates import aggregation, reduce
from ..relations.relation import Table
from ..schemas import decimals
from ..schemas.precision import in_doubles
from ..schemas.samples import ROWS as SAMPLE_ROWS
from ..schemas.samples import column
from ..schemas.schema import interned, result_of
from ..tensors import to_tensor
from .moments import finish_kurt, finish_skew, map_powers, merge_powers

if TYPE_CHECKING:
    from marsdask.tensor import Tensor

    from ..frame import DataFrame
    from ..series import Series


class OfColumns(Protocol):
    """A reduction of a DataFrame: one value per column or per row, or a single one."""

    @overload
    def __call__(self, axis: None, **kwargs: Any) -> Tensor: ...
    @overload
    def __call__(self, axis: int | str = 0, **kwargs: Any) -> Series: ...


class OfColumn(Protocol):
    """A reduction of a Series."""

    def __call__(self, axis: int | str | None = 0, **kwargs: Any) -> Tensor: ...


class ReductionMethod(Protocol):
    """A reduction as a method."""

    @overload
    def __get__(self, obj: DataFrame, owner: Any, /) -> OfColumns: ...
    @overload
    def __get__(self, obj: Series, owner: Any, /) -> OfColumn: ...
    @overload
    def __get__(self, obj: object, owner: Any, /) -> Callable[..., Any]: ...


#: The reductions that engines know.
REDUCED = {"sum", "mean", "count", "min", "max"}

#: Types of results that are computed of doubles.
SHORT = (np.dtype("float16"), np.dtype("float32"))

#: What is computed of doubles also of float16, whose sums pandas leaves as they are.
DEVIATIONS = {"var", "std", "sem", "skew", "kurt"}

#: The assumed bytes of a partial.
PARTIAL_BYTES = 1024.0


@dataclass(frozen=True)
class FrameRecipe:
    """The three functions of a reduction."""

    map: Callable[..., Any]
    """``map(frame, **kwargs)`` returns a partial."""
    combine: Callable[[Any, Any], Any]
    finalize: Callable[..., pd.Series]
    """``finalize(partial, **kwargs)`` returns one value per column."""


@dataclass(frozen=True, eq=False)
class FrameReduction(FrameNode):
    """One value for each column; a scalar for a series."""

    is_row: ClassVar[bool] = True

    recipe: str
    a: Node
    kwargs: tuple[tuple[str, Any], ...]

    @property
    def label(self) -> str:
        return self.recipe

    @property
    def _form(self) -> tuple[Any, Chunks]:
        """The meta and the chunks: those of the reduction of a row of ones.

        If the object is known to have no rows, those of the reduction of no rows.
        """
        rows = total(self.a.chunks[0]) if self.a.chunks else 1
        args = self.recipe, self.a, self.kwargs, rows == 0
        form: tuple[Any, Chunks] = result_of(
            FrameReduction, args, (), lambda: self._computed(none=rows == 0)
        )
        return form

    def _computed(self, *, none: bool) -> tuple[Any, Chunks]:
        over = self.a.meta if none else one_row(self.a.meta)
        whole = reduce_whole(over, self.recipe, self.kwargs)
        if whole is pd.NA and not none:  # one row has no deviation, and NA has no dtype
            rows = pd.concat([over] * SAMPLE_ROWS)
            rows = rows if _is_of_arrow_only(over.dtype) else rows.cumsum()
            whole = reduce_whole(rows, self.recipe, self.kwargs)
            whole = np.nan if whole is pd.NA else whole
        if isinstance(whole, pd.Series):
            return interned(whole.iloc[:0]), ((len(whole),),)
        dtype = self.a.meta.dtype
        if self.recipe in {"min", "max"} and isinstance(dtype, pd.StringDtype):
            whole = None if none else ""  # of all missing ones, pandas has a NaN
        by_category = self.recipe in {"min", "max"} and isinstance(dtype, pd.CategoricalDtype)
        if by_category and len(dtype.categories) and not none:
            whole = dtype.categories[0]
        no_text = whole is None or (isinstance(whole, str) and (by_category or not whole))
        meta = np.zeros((), object if no_text else np.asarray(whole).dtype)
        if meta.dtype == object:
            meta[()] = whole  # such as a time: types of later results depend on it
        return meta, ()

    @property
    def meta(self) -> Any:
        return self._form[0]

    @property
    def row_labels(self) -> Any:
        meta = self.a.meta
        return meta.columns if isinstance(meta, pd.DataFrame) else None

    @property
    def chunks(self) -> Chunks:
        return self._form[1]

    def relation(self, inputs: Sequence[Any]) -> Table | None:
        (table,) = inputs
        # What is computed of no rows, pandas says.
        if self.kwargs or self.chunks or self.recipe not in REDUCED or None in table.columns:
            return None
        return reduce(table, [aggregation(self.recipe, term) for term in table.columns])

    def tile(self, a: Grid) -> Grid:
        names: dict[str, Any] = {"recipe": self.recipe, "kwargs": self.kwargs}
        opens = not self.a.settled
        sizes = (1,) * len(a)
        func = partial_moments if self.recipe in {"var", "std", "sem"} else partial
        partials = map_blocks(func, a, chunks=(sizes,), itemsize=PARTIAL_BYTES, kwargs=names)
        combined = tree(partials, Pairwise(CombinePartials(self.recipe)), [0])
        return blockwise(
            finish,
            [(combined, (None,))],
            chunks=self.chunks,
            meta=self.meta,
            itemsize=row_bytes(self.meta) if self.chunks else None,
            kwargs={**names, "like": self.a.meta, "dtype": self.meta.dtype, "opens": opens},
        )


def one_row(meta: Any) -> Any:
    """Return one row of the meta's dtypes: ones, or missing values for other types."""
    frame = meta.to_frame() if isinstance(meta, pd.Series) else meta
    columns: dict[int, Any] = {}
    for position, dtype in enumerate(frame.dtypes):
        plain = getattr(dtype, "kind", "O") in "biufcmM"
        if isinstance(dtype, np.dtype) and dtype.kind in "biufc":
            columns[position] = np.ones(1, dtype)
        elif isinstance(dtype, pd.IntervalDtype) or _is_of_arrow_only(dtype):
            columns[position] = column(dtype)[:1]  # those of integers cannot be missing
        else:
            columns[position] = pd.Series([1 if plain else None], dtype=dtype)
    row = pd.DataFrame(columns, index=pd.RangeIndex(1))  # without columns, too
    row.columns = frame.columns
    return row.iloc[:, 0].rename(meta.name) if isinstance(meta, pd.Series) else row  # type: ignore[call-overload]


def _is_of_arrow_only(dtype: Any) -> bool:
    """Tell whether a type has values, such as decimals, whose results only a value shows."""
    return isinstance(dtype, pd.ArrowDtype) and dtype.kind == "O" and column(dtype).notna().any()


def reduce_whole(data: Any, recipe: str, kwargs: tuple[tuple[str, Any], ...]) -> Any:
    """Reduce a whole pandas object with pandas."""
    return getattr(data, recipe)(**dict(kwargs))


def check_supported(meta: Any, recipe: str, kwargs: tuple[tuple[str, Any], ...]) -> None:
    """Raise at once if pandas raises."""
    reduce_whole(meta, recipe, kwargs)


def partial(block: Any, recipe: str, kwargs: tuple[tuple[str, Any], ...]) -> Any:
    """Reduce one chunk to a partial."""
    if not len(block):
        return NoRows(block)
    frame = block.to_frame("x") if isinstance(block, pd.Series) else block
    return RECIPES[recipe].map(frame, **dict(kwargs))


@kernel(scratch=2.2)
def partial_moments(block: Any, recipe: str, kwargs: tuple[tuple[str, Any], ...]) -> Any:
    """Reduce one chunk to counts, means and sums of squared deviations."""
    return partial(block, recipe, kwargs)


@dataclass(frozen=True)
class NoRows:
    """The partial of a chunk without rows: these have types."""

    rows: Any


@dataclass(frozen=True)
class CombinePartials:
    """Combines two partials of a recipe."""

    recipe: str

    def __call__(self, a: Any, b: Any) -> Any:
        if isinstance(a, NoRows) or isinstance(b, NoRows):
            return a if isinstance(b, NoRows) else b
        return RECIPES[self.recipe].combine(a, b)


def finish(
    partial: Any,
    recipe: str,
    kwargs: tuple[tuple[str, Any], ...],
    like: Any,
    dtype: Any,
    *,
    opens: bool,
) -> Any:
    """Compute the result from the combined partial; without rows pandas computes it.

    If it ``opens``, only the rows tell their types.
    """
    if isinstance(partial, NoRows):
        value = reduce_whole(partial.rows if opens else like, recipe, kwargs)
        return np.float64(value) if type(value) is float else value  # a nan with a dtype
    if recipe == "mean" and decimals.has_decimals(dtypes_of(like)):
        result = decimals.means(partial[0], partial[1], dtypes_of(like))
        return result.astype(dtype) if isinstance(like, pd.DataFrame) else result.iloc[0]
    result = RECIPES[recipe].finalize(partial, **dict(kwargs))
    if isinstance(like, pd.DataFrame) and result.dtype in (np.dtype(float), pd.Float64Dtype()):
        result = _in_own_types(result, like, SHORT if recipe in DEVIATIONS else SHORT[1:])
    if dtype in SHORT or isinstance(dtype, pd.Float32Dtype | pd.Float64Dtype):
        # Declared floats may be integers with a mask: see convert_dtypes().
        kinds = dtypes_of(like)
        opens = any(own.kind == "f" for own in kinds)
        opens &= all(own.kind == "f" or is_masked(own) for own in kinds)
        whole = result.dtype.kind in "iu" and opens
        whole = whole or _are_whole_numbers(partial, like, dict(kwargs).get("min_count", 0))
        result = result if whole else result.astype(dtype)
    if isinstance(dtype, pd.ArrowDtype) and result.dtype == np.float64:
        result = result.astype(dtype)
    if isinstance(like, pd.DataFrame):
        is_bare = recipe in LOGICAL and result.dtype == object
        result = result.astype(bool) if is_bare else result
        objects = is_object_dtype(dtype) and any(map(is_object_dtype, like.dtypes))
        result = result.astype(object) if objects and result.dtype == float else result
        least = dict(kwargs).get("min_count", 0)
        return _with_none(result, like, partial[1] < least) if objects and least else result
    scalar = np.nan if result.iloc[0] is None else result.iloc[0]
    masked = is_masked(like.dtype) or isinstance(like.dtype, pd.ArrowDtype)
    return pd.NA if masked and pd.isna(scalar) else scalar


def _in_own_types(result: Any, like: Any, short: tuple[Any, ...]) -> Any:
    """Round the doubles of short floats to their own types, as pandas does beside other columns."""
    short = (*short, pd.Float32Dtype())
    values = zip(result.array, like.dtypes, strict=True)
    rounded = [
        dtype.type(value) if dtype in short and value is not pd.NA else value
        for value, dtype in values
    ]
    return pd.Series(rounded, result.index, result.dtype, name=result.name)


def _are_whole_numbers(partial: Any, like: Any, least: int) -> bool:
    """Tell whether sums of integers stay such: only those without a mask turn into floats."""
    if not least or not isinstance(like, pd.DataFrame):
        return False
    pairs = list(zip(like.dtypes, partial[1], strict=True))
    gaps = any(isinstance(dtype, np.dtype) and count < least for dtype, count in pairs)
    return not gaps and all(dtype.kind in "iub" for dtype, _ in pairs)


def _with_none(result: pd.Series, like: pd.DataFrame, short: pd.Series) -> pd.Series:
    """Return ``None``, as pandas does, for columns of objects that hold too few values."""
    values = list(result)
    for at, dtype in enumerate(like.dtypes):
        if is_object_dtype(dtype) and short.iloc[at]:
            values[at] = None
    return pd.Series(values, result.index, object, result.name)


def add(a: Any, b: Any) -> Any:
    """Add partials, item by item."""
    return tuple(decimals.by_items(operator.add, x, y) for x, y in zip(a, b, strict=True))


def map_sum(frame: pd.DataFrame, *, skipna: bool = True, min_count: int = 0) -> Any:
    """Return sums and counts."""
    return frame.sum(skipna=skipna), frame.count() if min_count else pd.Series(0, frame.columns)


def finish_sum(partial: Any, *, skipna: bool = True, min_count: int = 0) -> Any:
    """Return sums (or products), missing ones for fewer than ``min_count`` values."""
    del skipna
    total, count = partial
    return total.where(count >= min_count) if min_count else total


def map_count(frame: pd.DataFrame) -> Any:
    """Return counts."""
    return (frame.count(),)


def first_of(partial: Any, **options: Any) -> Any:
    """Return the only item of a partial."""
    del options
    return partial[0]


def map_moments(frame: pd.DataFrame, *, skipna: bool = True, ddof: int = 1) -> Any:
    """Return counts, means and sums of squared deviations."""
    del ddof
    count = frame.count() if skipna else pd.Series(len(frame), frame.columns)
    frame = _of_numbers(in_doubles(frame, SHORT))
    mean = frame.mean(skipna=skipna)
    with np.errstate(invalid="ignore"):
        squares = _squared(frame - mean).sum(skipna=skipna)
    # Distances to an infinite mean are nan, and only missing values may be skipped.
    return count, mean, squares.where(mean.abs().astype(float).lt(np.inf) | (count == 0))


def map_error_moments(frame: pd.DataFrame, *, skipna: bool = True, ddof: int = 1) -> Any:
    """Return the moments of standard errors, which pandas computes of doubles for Float32, too."""
    return map_moments(in_doubles(frame, (pd.Float32Dtype(),)), skipna=skipna, ddof=ddof)


def _of_numbers(frame: pd.DataFrame) -> pd.DataFrame:
    """Return objects without Python's other numbers, which have no difference to a float."""
    frame = frame.copy(deep=False)
    for at, dtype in enumerate(frame.dtypes):
        if is_object_dtype(dtype):
            frame.isetitem(at, frame.iloc[:, at].map(_as_number).astype(object).array)
    return frame


def _squared(distances: Any) -> Any:
    """Return squares, of complex numbers among objects those of their lengths."""
    objects = object in dtypes_of(distances)
    return (distances.abs() if objects else distances) ** 2


def merge_moments(a: Any, b: Any) -> Any:
    """Merge moments (Chan, Golub and LeVeque 1979)."""
    (n, x, s), (m, y, t) = a, b
    total = n + m
    x, y = x.where(n > 0, y), y.where(m > 0, x)
    delta = y - x
    share = m / total.where(total > 0)
    # Without values on one side, there is no distance between the means.
    between = (_squared(delta) * n * share).where((n > 0) & (m > 0), 0.0)
    return total, x + delta * share, s + t + between


def finish_mean(partial: Any, *, skipna: bool = True) -> Any:
    """Return means."""
    del skipna
    total, count = partial
    if total.dtype == object:
        total = total.map(_as_number)
    return total / count


def _as_number(total: Any) -> Any:
    """Return a sum of Python's other numbers, such as decimals, as a float, as pandas does."""
    is_foreign = isinstance(total, numbers.Number) and not isinstance(total, int | float | complex)
    return float(total) if is_foreign else total


def map_mean(frame: pd.DataFrame, *, skipna: bool = True) -> Any:
    """Return sums and counts, as floats."""
    count = frame.count() if skipna else pd.Series(len(frame), frame.columns)
    return float_sums(frame, skipna=skipna), count


def float_sums(frame: pd.DataFrame, *, skipna: bool) -> pd.Series:
    """Return sums, those of integers as floats, since integers may overflow."""
    whole = [
        at
        for at, dtype in enumerate(frame.dtypes)
        if isinstance(dtype, np.dtype) and dtype.kind in "iu"
    ]
    sums = [frame.iloc[:, at].to_numpy().sum(dtype=float) for at in whole]
    if len(sums) == frame.shape[1]:
        return pd.Series(sums, frame.columns, dtype=float)
    result = frame.sum(skipna=skipna)
    result = result.astype(float) if result.dtype.kind in "iu" else result
    for at, value in zip(whole, sums, strict=True):
        result.iloc[at] = value
    return result


def finish_var(partial: Any, *, skipna: bool = True, ddof: int = 1) -> Any:
    """Return variances, nan for too few values."""
    del skipna
    count, _, squares = partial
    return squares / (count - ddof).where(count > ddof)


def finish_std(partial: Any, *, skipna: bool = True, ddof: int = 1) -> Any:
    """Return standard deviations."""
    return _root(finish_var(partial, skipna=skipna, ddof=ddof))


def _root(found: pd.Series) -> Any:
    """Return square roots, those of objects as floats."""
    return np.sqrt(found.astype(float) if found.dtype == object else found)


def finish_sem(partial: Any, *, skipna: bool = True, ddof: int = 1) -> Any:
    """Return standard errors of means."""
    del skipna
    count = partial[0]
    return _root(finish_var(partial, ddof=ddof) / count.where(count > 0))


@dataclass(frozen=True)
class Extreme:
    """Returns one row: the extreme of each column, in the column's dtype."""

    name: str

    def __call__(self, frame: pd.DataFrame, *, skipna: bool = True) -> Any:
        dtypes = set(frame.dtypes)
        if len(dtypes) == 1 and not isinstance(next(iter(dtypes)), pd.IntervalDtype):
            row = getattr(frame, self.name)(skipna=skipna).to_frame().T
            return row.astype(dtypes.pop())
        values = [self._of(series, skipna=skipna) for _, series in frame.items()]
        row = pd.concat(values, axis=1) if values else pd.DataFrame(index=[0])
        row.columns = frame.columns
        return row

    def _of(self, values: pd.Series, *, skipna: bool) -> pd.Series:
        if isinstance(values.dtype, pd.IntervalDtype) and values.isna().all():
            return values.iloc[:1].reset_index(drop=True)  # pandas raises for them
        return pd.Series([getattr(values, self.name)(skipna=skipna)], dtype=values.dtype)

    def finish(self, rows: pd.DataFrame, *, skipna: bool = True) -> Any:
        """Return the extreme of each column of the joined rows."""
        return getattr(rows, self.name)(skipna=skipna)


def join_partials(a: pd.DataFrame, b: pd.DataFrame) -> Any:
    """Join the rows of both partials."""
    return pd.concat([a, b])


LEAST, LARGEST = Extreme("min"), Extreme("max")


#: The reductions to truth values, in the order of their partials.
LOGICAL = ("any", "all")


def map_logical(frame: pd.DataFrame, *, skipna: bool = True) -> Any:
    """Return whether any and whether all values are true."""
    if skipna or not any(isinstance(dtype, pd.ArrowDtype) for dtype in frame.dtypes):
        return frame.any(skipna=skipna), frame.all(skipna=skipna)
    # Of a chunk whose values are missing pandas's frames raise: the other chunks decide.
    columns = [frame.iloc[:, at] for at in range(frame.shape[1])]
    every = ([getattr(column, name)(skipna=False) for column in columns] for name in LOGICAL)
    any_, all_ = (pd.Series(values, frame.columns, object) for values in every)
    return any_, all_


def either(a: Any, b: Any) -> Any:
    """Combine the results of any and of all."""
    return decimals.by_items(operator.or_, a[0], b[0]), decimals.by_items(operator.and_, a[1], b[1])


def finish_any(partial: Any, *, skipna: bool = True) -> Any:
    """Return whether any value is true."""
    del skipna
    return partial[0]


def finish_all(partial: Any, *, skipna: bool = True) -> Any:
    """Return whether all values are true."""
    del skipna
    return partial[1]


def map_prod(frame: pd.DataFrame, *, skipna: bool = True, min_count: int = 0) -> Any:
    """Return products and counts."""
    return frame.prod(skipna=skipna), frame.count() if min_count else pd.Series(0, frame.columns)


def multiply(a: Any, b: Any) -> Any:
    """Multiply products, add counts."""
    return decimals.by_items(operator.mul, a[0], b[0]), a[1] + b[1]


RECIPES = {
    "any": FrameRecipe(map_logical, either, finish_any),
    "all": FrameRecipe(map_logical, either, finish_all),
    "prod": FrameRecipe(map_prod, multiply, finish_sum),
    "sum": FrameRecipe(map_sum, add, finish_sum),
    "count": FrameRecipe(map_count, add, first_of),
    "mean": FrameRecipe(map_mean, add, finish_mean),
    "min": FrameRecipe(LEAST, join_partials, LEAST.finish),
    "max": FrameRecipe(LARGEST, join_partials, LARGEST.finish),
    "var": FrameRecipe(map_moments, merge_moments, finish_var),
    "std": FrameRecipe(map_moments, merge_moments, finish_std),
    "sem": FrameRecipe(map_error_moments, merge_moments, finish_sem),
    "skew": FrameRecipe(map_powers, merge_powers, finish_skew),
    "kurt": FrameRecipe(map_powers, merge_powers, finish_kurt),
}


def reduction(name: str) -> ReductionMethod:
    """Return the lazy reduction of that name, as a method."""

    def reduce(self: Any, axis: Any = 0, **kwargs: Any) -> Any:
        node = self.node
        where = {} if axis in ROWS else {"axis": axis}
        options = (*where.items(), *kwargs.items())
        result_of(
            check_supported,
            (node, name, options),
            (),
            lambda: check_supported(node.meta, name, options),
        )
        # NumPy's functions pass these; pandas accepts only their defaults.
        kwargs = {key: value for key, value in kwargs.items() if key not in NUMPY_KEYWORDS}
        if axis in {1, "columns"}:
            return rowwise(RowReduction(name), self, **kwargs)
        self = _chosen(self, kwargs)
        check_kinds(self.node.meta, name)
        result = collection_of(FrameReduction(name, self.node, tuple(sorted(kwargs.items()))))
        if axis is not None or not isinstance(node.meta, pd.DataFrame):
            return result
        least = kwargs.get("min_count", 0)
        if name not in REPEATABLE or least > 1:
            return _over_all(self, name, kwargs)
        if name in ("sum", "prod") and not least:
            kwargs["skipna"] = False  # a column's sum is missing for infinities, as that of all is
        return getattr(result, name)(**kwargs)

    reduce.__name__ = reduce.__qualname__ = name
    reduce.__doc__ = f"Reduce down the rows. See pandas.DataFrame.{name}."
    return typed("ReductionMethod", reduce)


def collection_of(node: Node) -> Any:
    """Return the lazy result of a statistic."""
    return wrap(node)


def _chosen(obj: Any, kwargs: dict[str, Any]) -> Any:
    """Return the columns that are reduced; take the arguments that choose them away."""
    numeric_only, bool_only = (kwargs.pop(f"{kind}_only", False) for kind in ("numeric", "bool"))
    if obj.ndim == 1:
        return obj
    obj = numeric_part(obj) if numeric_only else obj
    return columns_where(obj, partial_of(operator.eq, np.dtype(bool))) if bool_only else obj


def _over_all(obj: Any, name: str, kwargs: dict[str, Any]) -> Any:
    """Reduce the values of all columns as one column."""
    values = to_tensor(obj)
    if values.dtype.kind not in "biuf":
        raise NotImplementedError(
            f"{name}(axis=None) of these types is not supported; use to_tensor().{name}()"
        )
    column = series_from_tensor(values.reshape(-1))
    return getattr(column, name)(**kwargs)


def check_kinds(meta: Any, name: str) -> None:
    """Raise for means of dates, and deviations of times or complex numbers: sums are not real."""
    dtypes = [meta.dtype] if isinstance(meta, pd.Series) else list(meta.dtypes)
    decimals.check_times(dtypes, name)
    kinds = {getattr(dtype, "kind", "O") for dtype in dtypes}
    if kinds & UNFIT.get(name, set()):
        raise NotImplementedError(
            f"{name}() of dates, times or complex numbers is not supported; use real numbers, "
            f"such as (x - start).dt.total_seconds().{name}()"
        )


#: Keywords of NumPy of which pandas accepts only the defaults.
NUMPY_KEYWORDS = {"dtype", "out", "keepdims"}
#: Kinds of dtypes that pandas reduces and we do not.
UNFIT = {"mean": {"M"}, "std": {"M", "m", "c"}, "var": {"c"}, "sem": {"M", "m", "c"}}
UNFIT |= {"skew": {"c"}, "kurt": {"c"}}
#: pandas's names of the axis of reductions.
ROWS = (0, "index", "rows")
#: Reductions that give the result over all values from those of the columns.
REPEATABLE = {"sum", "prod", "min", "max", "any", "all"}


@dataclass(frozen=True)
class RowReduction:
    """Reduces each row to one value."""

    name: str

    @property
    def __name__(self) -> str:
        return self.name

    def __call__(self, block: pd.DataFrame, **kwargs: Any) -> Any:
        # Without rows pandas does not infer the type.
        rows = block if len(block) else one_row(block)
        result = getattr(rows, self.name)(axis=1, **kwargs)
        return result if len(block) else result.iloc[:0].set_axis(block.index)
