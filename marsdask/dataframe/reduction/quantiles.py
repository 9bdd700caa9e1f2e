"""Medians and quantiles of columns, exact by selection (see marsdask.tensor.quantile.exact)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from pandas.api.types import is_object_dtype

from marsdask.core.sizes import total
from marsdask.tensor.quantile.exact import Quantile
from marsdask.tensor.quantile.methods import MIDDLE

from ..create import from_pandas
from ..elementwise.column_selection import numeric_part
from ..elementwise.exemplars import as_scalar
from ..elementwise.rowwise import Method, columns_at, rowwise
from ..nodes.frame_node import axis_number, dtypes_of, is_masked
from ..tensors import to_tensor
from .column_blocks import PandasCall, by_blocks
from .fold import FrameFold, assembled
from .reductions import SHORT, RowReduction, collection_of, one_row

if TYPE_CHECKING:
    from marsdask.tensor import Tensor

    from ..frame import DataFrame
    from ..series import Series


@dataclass(frozen=True, eq=False)
class ColumnQuantile(Quantile):
    """Quantiles of a column; those of no values are NaN, without a warning."""

    @property
    def _whole(self) -> Callable[..., Any]:
        return column_quantile if self.skip_nan else column_quantile_of_all


def column_quantile(block: Any, q: Any, axis: Any = None, *, method: Any, **options: Any) -> Any:
    """Return quantiles of the values that are there."""
    del axis, options
    values = block[~np.isnan(block)] if block.dtype.kind == "f" else block
    if not len(values):
        own = method == MIDDLE and block.dtype.kind == "f"
        return np.full(np.shape(q), np.nan, block.dtype if own else float)
    return np.median(values) if method == MIDDLE else np.quantile(values, q, method=method)


def column_quantile_of_all(
    block: Any, q: Any, axis: Any = None, *, method: str, **options: Any
) -> Any:
    """Return quantiles, NaN if a value is missing."""
    if block.dtype.kind == "f" and np.isnan(block).any():
        return np.full(np.shape(q), np.nan, block.dtype)
    return column_quantile(block, q, axis, method=method, **options)


def selected(
    column: Any, q: Any, method: str, *, skipna: bool = True, present: bool = False
) -> Any:
    """Return quantiles of a column as a tensor; all values are known to be ``present``, or not."""
    dtype = column.node.meta.dtype
    may_miss = not present and dtype.kind in "iu" and not column.node.settled
    if is_masked(dtype) or may_miss:
        column = rowwise(Method("astype"), column, dtype="float64")
    values = to_tensor(column).node
    return collection_of(ColumnQuantile(values, np.asarray(q, float), (0,), method, False, skipna))


#: Statistics that pandas has of objects too.
MIDDLES = {"median", "quantile"}


def numeric_columns(obj: Any, name: str, *, numeric_only: bool) -> Any:
    """Return the columns that are numbers; raise if others are there and are not left out."""
    meta = obj.node.meta
    if numeric_only and isinstance(meta, pd.DataFrame):
        obj = numeric_part(obj)
    for dtype in dtypes_of(obj.node.meta):
        if isinstance(dtype, np.dtype) and dtype.kind in "biuf":
            continue
        if is_masked(dtype):
            continue
        values = isinstance(dtype, pd.PeriodDtype) or (name in MIDDLES and is_object_dtype(dtype))
        values = values or pd.api.types.is_numeric_dtype(dtype)
        if not values and getattr(dtype, "kind", "O") not in "mM":
            raise TypeError(f"Cannot perform reduction {name!r} with {dtype} dtype")
        raise NotImplementedError(
            f"{name}() of {dtype} is not supported; use astype() to a numeric type of NumPy"
        )
    return obj


def columns_of(obj: Any) -> list[Any]:
    """Return the columns of a frame one by one, several of which may have one label."""
    meta = obj.node.meta
    if isinstance(meta, pd.Series):
        return [obj]
    return [columns_at(obj, at) for at in range(len(meta.columns))]


def stacked(*values: Any, labels: Any, name: Any, dtype: Any) -> pd.Series:
    """Return one value for each label; without ``dtype`` the values tell the type."""
    dtype = np.result_type(*values) if dtype is None else dtype
    return pd.Series(list(values), labels, _dtype_for(values, dtype), name)


def _dtype_for(values: Any, dtype: Any) -> Any:
    """Return that of integers or truth values only if none is missing, as of no rows."""
    array = np.asarray(values)
    has_nan = array.dtype.kind == "f" and np.isnan(array).any()
    return array.dtype if has_nan and getattr(dtype, "kind", "O") in "iub" else dtype


def beside(*values: Any, rows: Any, columns: Any, dtypes: Any, name: Any = None) -> Any:
    """Return an array for each column as a frame, or the only one as a series."""
    parts = [
        x.set_axis(rows) if isinstance(x, pd.Series) else pd.Series(x, rows, _dtype_for(x, dtype))
        for x, dtype in zip(values, dtypes, strict=True)
    ]
    if columns is None:
        return parts[0].rename(name)
    frame = pd.concat(parts, axis=1) if parts else pd.DataFrame(index=rows)
    return frame.set_axis(columns, axis=1)


def _missing_as_na(found: Tensor, dtype: Any) -> Tensor:
    """Return a scalar, NA in place of NaN if the column has a mask."""
    if not is_masked(dtype):
        return found
    like = np.float32() if isinstance(dtype, pd.Float32Dtype) else np.float64()
    scalar: Tensor = assembled(na_of_nan, [found], like, title="quantile", dtype=like.dtype)
    return scalar


def na_of_nan(found: Any, dtype: Any) -> Any:
    """Return a scalar of a type, NA in place of NaN."""
    return pd.NA if np.isnan(found) else dtype.type(found)


def _quantiles(column: Any, q: Any, interpolation: str) -> Any:
    """Return quantiles of a column as a tensor, or as rows if the column has a mask."""
    meta = column.node.meta
    if not is_masked(meta.dtype):
        return selected(column, q, interpolation)
    shares = np.atleast_1d(np.asarray(q, float)).tolist()
    values = rowwise(Method("astype"), column.dropna(), meta.dtype.numpy_dtype)
    counts = [column.count(), column.isna().sum()]
    like = one_row(meta).quantile(shares, interpolation=interpolation)
    how = {"dtype": meta.dtype, "shares": tuple(shares), "interpolation": interpolation}
    parts = [selected(values, shares, interpolation, present=True), *counts]
    if not column.node.settled:  # integers may be declared as floats, as by convert_dtypes()
        parts.append(_row_of(column.node))
    return assembled(masked_quantiles, parts, like, title="quantile", typed=False, **how)


def masked_quantiles(
    found: Any, present: Any, missing: Any, *row: Any, dtype: Any, shares: Any, interpolation: str
) -> pd.Series:
    """Return quantiles of the values that are there, of the type that pandas gives them.

    A row, if it is given, tells the type of all.
    """
    if row and row[0].item() is not None:
        dtype = row[0].item().dtype
    if not present:
        rows: Any = pd.Series([None] * min(int(missing), 1), dtype=dtype)
        found = rows.quantile(list(shares), interpolation=interpolation).array
        return pd.Series(found, shares)
    own = dtype.numpy_dtype
    if missing and (own.kind == "f" or (found == found.astype(own)).all()):
        found = found.astype(own)
    return pd.Series(pd.array(found), shares)


def first_quantile(*values: Any, **labels: Any) -> Any:
    """Return the quantiles of one share: a row of a frame, or one of a series."""
    return beside(*values, **labels).iloc[0]


@dataclass(frozen=True)
class BesideGaps:
    """Gives quantiles of short floats the type that pandas gives them: theirs beside gaps.

    After a value for each column come the numbers of missing values of some types.
    """

    func: Callable[..., Any]
    dtypes: tuple[Any, ...]
    """The type of each column."""
    short: tuple[Any, ...]
    """Types of short floats, whose numbers of missing values come last."""

    @property
    def __name__(self) -> str:
        return self.func.__name__

    def __call__(self, *values: Any, **labels: Any) -> Any:
        count = len(self.dtypes)
        gaps = dict(zip(self.short, values[count:], strict=True))
        found = [
            np.asarray(value).astype(dtype)[()] if gaps.get(dtype) else value
            for value, dtype in zip(values[:count], self.dtypes, strict=True)
        ]
        return self.func(*found, **labels)


def _beside_gaps(func: Callable[..., Any], columns: list[Any]) -> tuple[Any, list[Any]]:
    """Return ``func`` with the types of columns, and the numbers of values missing in each type.

    Columns of one type are one block of pandas: a gap in one tells the type of all.
    """
    dtypes = tuple(column.node.meta.dtype for column in columns)
    short = tuple(dtype for dtype in dict.fromkeys(dtypes) if dtype in SHORT)
    gaps = [
        sum(one.isna().sum() for one, own in zip(columns, dtypes, strict=True) if own == dtype)
        for dtype in short
    ]
    return (BesideGaps(func, dtypes, short) if short else func), gaps


#: Methods whose quantiles are values.
PICKED = ("lower", "higher", "nearest")


@dataclass(frozen=True)
class OwnTypes:
    """Gives quantiles that are values of columns the types of these, which the rows decide.

    A row of each of these columns comes last.
    """

    func: Callable[..., Any]
    places: tuple[int, ...]

    @property
    def __name__(self) -> str:
        return self.func.__name__

    def __call__(self, *values: Any, **labels: Any) -> Any:
        count = len(values) - len(self.places)
        found = list(values[:count])
        for at, row in zip(self.places, values[count:], strict=True):
            found[at] = found[at] if row.item() is None else found[at].astype(row.item().dtype)
        return self.func(*found, **labels)


def first_row(*blocks: Any) -> Any:
    """Return one row in the type of all blocks."""
    return pd.concat([block.iloc[:1] for block in blocks], ignore_index=True).iloc[:1]


def _is_open(node: Any, dtype: Any, interpolation: str) -> bool:
    """Tell whether quantiles have the type of the rows, which these decide."""
    if node.settled or interpolation not in PICKED:
        return False
    if not isinstance(dtype, np.dtype):
        return isinstance(dtype, pd.Float32Dtype | pd.Float64Dtype)  # as of convert_dtypes()
    return dtype.kind in "iu" or (dtype == np.float64 and node.may_narrow)


def _by_gaps(column: Any, interpolation: str) -> bool:
    """Tell whether missing values decide the type of quantiles of a column."""
    dtype = column.node.meta.dtype
    return dtype in SHORT or _is_open(column.node, dtype, interpolation)


def _with_own_types(func: Any, columns: list[Any], interpolation: str) -> tuple[Any, list[Any]]:
    """Return ``func`` of quantiles, and what else it needs to know to give them their types."""
    func, parts = _beside_gaps(func, columns)
    places = tuple(
        at
        for at, column in enumerate(columns)
        if _is_open(column.node, column.node.meta.dtype, interpolation)
    )
    if not places:
        return func, parts
    nodes = [columns[at].node for at in places]
    return OwnTypes(func, places), [*parts, *map(_row_of, nodes)]


def _row_of(node: Any) -> Any:
    """Return one row of a column in the type of all, ``None`` if it has none."""
    like, steps = np.empty((), object), (first_row, first_row, as_scalar)
    return collection_of(FrameFold(like, None, False, "row", node, steps))


def median(
    obj: Any, axis: Any = 0, *, skipna: bool = True, numeric_only: bool = False
) -> Series | Tensor:
    """Return the exact medians down the rows. See pandas.DataFrame.median.

    Costs two passes over each column.
    """
    meta = obj.node.meta
    if axis is None:
        raise NotImplementedError(
            "median(axis=None) is not supported; use to_tensor() and mt.median()"
        )
    if axis_number(meta, axis) == 1:
        how = {"skipna": skipna, "numeric_only": numeric_only}
        across: Series = rowwise(RowReduction("median"), obj, **how)
        return across
    obj = numeric_columns(obj, "median", numeric_only=numeric_only)
    if isinstance(meta, pd.Series):
        middle = selected(obj, 0.5, MIDDLE, skipna=skipna)
        tensor: Tensor = _missing_as_na(middle, meta.dtype)
        return tensor
    like = one_row(obj.node.meta).median(skipna=skipna)
    call = PandasCall("median", options=(("skipna", skipna),))
    blocks: Series | None = by_blocks(obj, call, like, row=True)
    if blocks is not None:
        return blocks
    parts = [selected(column, 0.5, MIDDLE, skipna=skipna) for column in columns_of(obj)]
    options = {"labels": like.index, "name": None, "dtype": like.dtype}
    if parts and like.dtype in (np.float16, np.float32):
        parts.append(columns_of(obj)[0].isna().count())
        options |= {"title": "median", "row": True, "typed": False}
        short: Series = assembled(short_medians, parts, like, **options)
        return short
    medians: Series = assembled(stacked, parts, like, title="median", row=True, **options)
    return medians


def short_medians(*values: Any, dtype: Any, **labels: Any) -> pd.Series:
    """Return one value for each label; the last value is the number of rows."""
    return stacked(*values[:-1], dtype=dtype if values[-1] else np.dtype(float), **labels)


def quantile(
    frame: Any,
    q: Any = 0.5,
    axis: Any = 0,
    numeric_only: bool = False,
    interpolation: str = "linear",
    method: str = "single",
) -> Series | DataFrame:
    """Return exact quantiles of each column: one row for each of several ``q``.

    See pandas.DataFrame.quantile. Costs two passes over each column.
    """
    if method not in ("single", "table"):
        raise ValueError(f"Invalid method: {method}. Method must be in {{'single', 'table'}}.")
    if method == "table":
        raise NotImplementedError(
            "quantile(method='table') is not supported; use method='single', or sort_values()"
        )
    if axis_number(frame.node.meta, axis) == 1:
        if total(frame.node.chunks[0]) == 0:  # pandas then has labels of columns
            none: Series = from_pandas(frame.node.meta.quantile(q, 1, numeric_only, interpolation))
            return none
        if np.ndim(q):
            raise NotImplementedError(
                "quantile(axis=1) of several q is not supported; use one at a time"
            )
        return _across(frame, q, numeric_only=numeric_only, interpolation=interpolation)
    _check_categories(() if numeric_only else frame.node.meta.dtypes)
    frame = numeric_columns(frame, "quantile", numeric_only=numeric_only)
    # The quantiles of one row raise at once, as in pandas.
    like: Any = one_row(frame.node.meta).quantile(q, interpolation=interpolation)
    call = PandasCall("quantile", (q,), (("interpolation", interpolation),))
    is_typed = not any(
        is_masked(dtype) or dtype in SHORT or _is_open(frame.node, dtype, interpolation)
        for dtype in dtypes_of(frame.node.meta)
    )
    blocks: Any = by_blocks(frame, call, like, row=np.ndim(q) == 0, typed=is_typed)
    if blocks is not None:
        return blocks  # type: ignore[no-any-return]
    return _by_columns(frame, q, interpolation, like)  # type: ignore[no-any-return]


def _by_columns(frame: Any, q: Any, interpolation: str, like: Any) -> Any:
    """Return the quantiles of columns, which are computed one by one."""
    plain = not any(map(is_masked, dtypes_of(frame.node.meta)))
    columns = columns_of(frame)
    untyped = [_by_gaps(column, interpolation) for column in columns]
    typed = plain and not any(untyped)
    found = [_quantiles(column, q, interpolation) for column in columns]
    if np.ndim(q) == 0 and plain:
        func, gaps = _with_own_types(stacked, columns, interpolation)
        how: dict[str, Any] = {"title": "quantile", "row": True, "typed": typed}
        own = None if any(untyped) else like.dtype
        how |= {"labels": like.index, "name": like.name, "dtype": own}
        return assembled(func, [*found, *gaps], like, **how)
    many: Any = one_row(frame.node.meta).quantile(np.atleast_1d(q), interpolation=interpolation)
    labels: dict[str, Any] = {"title": "quantile", "typed": typed, "rows": many.index}
    types = zip(untyped, dtypes_of(many), strict=True)
    dtypes = tuple(None if is_untyped else dtype for is_untyped, dtype in types)
    labels |= {"columns": many.columns, "dtypes": dtypes}
    base = beside if np.ndim(q) else first_quantile
    func, gaps = _with_own_types(base, columns, interpolation)
    return assembled(func, [*found, *gaps], like, row=np.ndim(q) == 0, **labels)


def _across(frame: Any, q: Any, **how: Any) -> Series:
    """Return a quantile of each row."""
    across: Series = rowwise(RowReduction("quantile"), frame, q=q, **how)
    return across


def _check_categories(dtypes: Iterable[Any]) -> None:
    if any(isinstance(dtype, pd.CategoricalDtype) for dtype in dtypes):
        raise NotImplementedError(
            "quantile() of categories is not supported; use column.cat.codes, or numeric_only=True"
        )


def quantile_of(series: Any, q: Any = 0.5, interpolation: str = "linear") -> Series | Tensor:
    """Return exact quantiles: a series for several ``q``. See pandas.Series.quantile."""
    _check_categories([series.node.meta.dtype])
    series = numeric_columns(series, "quantile", numeric_only=False)
    like: Any = one_row(series.node.meta).quantile(q, interpolation=interpolation)
    result = _quantiles(series, q, interpolation)
    dtype, untyped = series.node.meta.dtype, _by_gaps(series, interpolation)
    if np.ndim(q) == 0 and not is_masked(dtype) and not untyped:
        plain: Tensor = result
        return plain
    labels: dict[str, Any] = {"rows": like.index if np.ndim(q) else [0], "columns": None}
    own = None if untyped else getattr(like, "dtype", None)
    labels |= {"title": "quantile", "dtypes": (own,)}
    if np.ndim(q) == 0:
        func, gaps = _with_own_types(first_quantile, [series], interpolation)
        value: Tensor = assembled(func, [result, *gaps], like, typed=not untyped, **labels)
        return value
    func, gaps = _with_own_types(beside, [series], interpolation)
    labels["typed"] = not (is_masked(dtype) or untyped)
    several: Series = assembled(func, [result, *gaps], like, name=like.name, **labels)
    return several
