"""Cumulative sums and products; the positions of extremes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar
from typing import cast as typed

import numpy as np
import pandas as pd
from pandas.arrays import FloatingArray

import marsdask.tensor as mt
from marsdask.core.arguments import keeps_lazy
from marsdask.core.collection import Collection, wrap
from marsdask.core.grids.grid import Grid
from marsdask.core.grids.scan import scan
from marsdask.core.machine.costs import kernel

from ..elementwise.column_selection import numeric_part
from ..elementwise.rowwise import Method, along_rows
from ..nodes.frame_node import SameKind, SameRows, dtypes_of, is_masked
from ..tensors import to_tensor
from .rows_at_once import at_once

if TYPE_CHECKING:
    from ..series import Series

#: For each scan the total of a column, and the ufunc that combines totals.
TOTALS: dict[str, tuple[str, np.ufunc]] = {
    "cumsum": ("sum", np.add),
    "cumprod": ("prod", np.multiply),
    "cummax": ("max", np.fmax),
    "cummin": ("min", np.fmin),
}

#: What combines totals if missing values are not skipped.
PROPAGATING: dict[str, np.ufunc] = {"cummax": np.maximum, "cummin": np.minimum}


@dataclass(frozen=True, eq=False)
class RowScan(SameRows):
    """The scan of each column: each row combines all rows up to it."""

    rows_behind: ClassVar[int] = 0

    skipna: bool

    @property
    def meta(self) -> Any:
        return getattr(self.a.meta, self.title)(skipna=self.skipna)

    def tile(self, a: Grid) -> Grid:
        masked = tuple(map(_has_masked_floats, dtypes_of(self.a.meta)))
        kwargs = {"name": self.title, "skipna": self.skipna, "masked": masked}
        return scan(
            a,
            0,
            total_rows,
            start_rows,
            scan_rows,
            total_kwargs=kwargs,
            starts_kwargs=kwargs,
            step_kwargs=kwargs,
            meta=self.meta,
            itemsize=self.itemsize,
        )


def _columns(block: Any) -> list[Any]:
    several = isinstance(block, pd.DataFrame)
    return [block.iloc[:, at] for at in range(block.shape[1])] if several else [block]


@kernel(scratch=1.0)
def total_rows(block: Any, name: str, skipna: bool, masked: Sequence[bool]) -> list[Any]:
    """Return the totals of a chunk's columns."""
    total, combine = TOTALS[name]
    if not len(block) and combine.identity is None:
        return [None] * len(_columns(block))
    return [
        _masked_total(column, _combination(name, skipna=False), skipna=skipna)
        if has_mask
        else getattr(column, total)(skipna=skipna)
        for column, has_mask in zip(_columns(block), masked, strict=True)
    ]


def _masked_total(column: Any, combine: np.ufunc, *, skipna: bool) -> Any:
    """Return the total of floats with a mask: NaN below no mask is a value, and never skipped."""
    present = column[column.notna()]
    is_missing = len(present) < len(column) and not (skipna and len(present))
    return pd.NA if is_missing else combine.reduce(_floats(present))


def _floats(column: Any) -> Any:
    """Return floats without their mask."""
    return column.to_numpy(column.dtype.numpy_dtype, na_value=1)


def start_rows(
    totals: list[list[Any]], name: str, skipna: bool, masked: Sequence[bool]
) -> list[Any]:
    """Return the totals of all rows before each chunk, ``None`` for the first one."""
    combines = [_combination(name, skipna=skipna and not has_mask) for has_mask in masked]
    starts: list[Any] = [None, totals[0]]
    for total in totals[1:]:
        pairs = zip(starts[-1], total, combines, strict=True)
        starts.append([_total(a, b, combine, skipna) for a, b, combine in pairs])
    return starts


def _total(a: Any, b: Any, combine: np.ufunc, skipna: bool) -> Any:
    """Combine two totals; ``None`` has no rows, and NA no value."""
    if a is None or (skipna and a is pd.NA):
        return b
    if b is None or (skipna and b is pd.NA):
        return a
    return pd.NA if a is pd.NA or b is pd.NA else combine(a, b)


def _combination(name: str, *, skipna: bool) -> np.ufunc:
    """Return what combines totals: missing extremes are skipped, or stay."""
    _, combine = TOTALS[name]
    ufunc: np.ufunc = combine if skipna else PROPAGATING.get(name, combine)
    return ufunc


@kernel(scratch=2.0)
def scan_rows(
    block: Any,
    starts: Any = None,
    position: int = 0,
    *,
    name: str,
    skipna: bool,
    masked: Sequence[bool],
) -> Any:
    """Scan the rows of a chunk, from the totals before it."""
    result = getattr(block, name)(skipna=skipna)
    if not position:
        return result
    columns = [
        _joined(_combination(name, skipna=skipna and not has_mask), column, start, skipna=skipna)
        for column, start, has_mask in zip(_columns(result), starts[position], masked, strict=True)
    ]
    if isinstance(result, pd.Series):
        return columns[0]
    for at, column in enumerate(columns):
        result.isetitem(at, column)
    return result


def _joined(combine: np.ufunc, column: Any, start: Any, *, skipna: bool) -> Any:
    """Combine the rows of a chunk with what is before it; missing values stay missing."""
    if start is None or (start is pd.NA and skipna):
        return column
    if start is pd.NA:
        return column.where(np.zeros(len(column), bool))
    if _has_masked_floats(column.dtype):
        values = combine(_floats(column), start).astype(column.dtype.numpy_dtype)
        floats = FloatingArray(values, column.isna().to_numpy())
        return pd.Series(floats, column.index, name=column.name)
    result = combine(column, start).astype(column.dtype)
    return result.where(column.notna()) if combine in {np.fmax, np.fmin} else result


def cumulative(name: str) -> SameKind:
    """Return the scan of that name as a method."""

    def call(
        self: Any,
        axis: Any = 0,
        skipna: bool = True,
        dtype: Any = None,
        out: Any = None,
        **options: Any,
    ) -> Any:
        how = {key: arg for key, arg in {"dtype": dtype, "out": out}.items() if arg is not None}
        getattr(self.node.meta, name)(axis, skipna=skipna, **how, **options)  # raises at once
        if options.get("numeric_only") and self.ndim == 2:
            self = numeric_part(self)
        if axis not in ROWS:
            return along_rows(self, name, skipna=skipna)
        if not all(map(_is_number, dtypes_of(self.node.meta))):
            return at_once(self, name, Method(name), skipna=skipna)
        return wrap(RowScan(self.node, name, skipna))

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"Accumulate down the rows. See pandas.Series.{name}."
    return typed("SameKind", call)


def extreme_position(name: str) -> Callable[..., mt.Tensor]:
    """Return ``argmax`` or ``argmin`` as a method."""

    def call(self: Any, axis: Any = None, skipna: bool = True, out: Any = None) -> Any:
        if out is not None or axis not in {None, *ROWS}:
            raise NotImplementedError(
                f"{name}(axis=, out=) is not supported; use to_tensor().{name}()"
            )
        dtype = self.node.meta.dtype
        if not _is_plain(dtype) or (dtype.kind == "f" and not skipna):
            rows = self.reset_index(drop=True)
            return getattr(rows, name.replace("arg", "idx"))(skipna=skipna)
        return getattr(mt, f"nan{name}")(to_tensor(self))

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"Return the position of an extreme value. See pandas.Series.{name}."
    return call


@keeps_lazy("arguments")
def searchsorted(series: Series, value: Any, side: str = "left", sorter: None = None) -> mt.Tensor:
    """Return where values belong among sorted ones. See pandas.Series.searchsorted."""
    if sorter is not None:
        raise NotImplementedError("searchsorted(sorter=) is not supported; use sort_values() first")
    dtype = series.node.meta.dtype
    if not isinstance(dtype, np.dtype) or dtype.kind not in "biufmM":
        raise NotImplementedError(
            f"searchsorted() of {dtype} is not supported; use (series < value).sum()"
        )
    kind = dtype if dtype.kind in "mM" else None
    lazy: Any = value if isinstance(value, Collection) else np.asarray(value, kind)
    return mt.searchsorted(to_tensor(series), lazy, side)


def _has_masked_floats(dtype: Any) -> bool:
    """Tell whether values are floats, of which a mask tells the missing ones."""
    return is_masked(dtype) and dtype.kind == "f"


def _is_number(dtype: Any) -> bool:
    """Tell whether a type is numeric, of NumPy or with a mask."""
    return _is_plain(dtype) or is_masked(dtype)


def _is_plain(dtype: Any) -> bool:
    """Tell whether a type is numeric, and NumPy's."""
    return isinstance(dtype, np.dtype) and dtype.kind in "biuf"


#: pandas's names of the axis of scans.
ROWS = (None, 0, "index", "rows")
