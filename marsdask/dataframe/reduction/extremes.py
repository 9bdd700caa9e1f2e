"""The rows of extreme values, and their labels: a few rows of each chunk decide.

Each chunk keeps, in their order, the rows that may decide. A tree joins them and chooses again, and
pandas computes the result of the last ones. So ties, missing values and errors are pandas's own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, overload
from typing import cast as typed

import numpy as np
import pandas as pd
from pandas.api.types import is_object_dtype

from marsdask.core.machine.costs import kernel
from marsdask.core.sizes import total

from ..elementwise.column_selection import numeric_part, with_types_of_rows
from ..elementwise.rowwise import column_of, rowwise
from ..nodes.frame_node import axis_number, dtypes_of, row_bytes
from ..rows import concat
from ..schemas.samples import labels_like, sample
from .fold import FrameFold
from .reductions import RowReduction, collection_of

if TYPE_CHECKING:
    from marsdask.tensor import Tensor

    from ..frame import DataFrame
    from ..series import Series


class LabelMethod(Protocol):
    """The labels of extremes as a method: one of a Series, one for each column of a DataFrame."""

    @overload
    def __get__(self, obj: DataFrame, owner: Any, /) -> Callable[..., Series]: ...
    @overload
    def __get__(self, obj: Series, owner: Any, /) -> Callable[..., Tensor]: ...
    @overload
    def __get__(self, obj: object, owner: Any, /) -> Callable[..., Any]: ...


#: Returns the positions of the rows of a chunk that may decide.
Choice = Callable[[Any], Any]


@dataclass(frozen=True)
class ExtremePlaces:
    """Chooses for each column the first extreme value, and the first missing one."""

    name: str

    def __call__(self, block: Any) -> Any:
        places: list[int] = []
        for at in range(block.shape[1] if block.ndim == 2 else 1):
            column = block.iloc[:, at] if block.ndim == 2 else block
            missing = column.isna().to_numpy()
            if missing.any():
                places.append(int(missing.argmax()))
            if not missing.all():
                places.append(getattr(unlabelled_rows(column), self.name)())
        return places


@dataclass(frozen=True)
class MostPlaces:
    """Chooses the rows of the largest or smallest values."""

    name: str
    n: int
    keep: str
    by: tuple[Any, ...] | None
    """The columns, ``None`` for a series."""

    def __call__(self, block: Any) -> Any:
        rows = unlabelled_rows(block)
        # One more row than wanted shows pandas that these are not all rows.
        if self.by is None or len(self.by) == 1:
            column = rows if self.by is None else rows[self.by[0]]
            result = getattr(column, self.name)(self.n + 1, keep=self.keep)
        else:
            result = first_rows_by(rows, self.by, self.name, self.n + 1, self.keep)
        return result.index.to_numpy()


def first_rows_by(rows: Any, by: tuple[Any, ...], name: str, n: int, keep: str) -> Any:
    """Return the rows of the extreme values of several columns, missing ones last.

    pandas's own function returns too many rows, or raises, where missing values are among them.
    """
    leading = getattr(unlabelled_rows(rows)[by[0]], name)(n, keep="all")
    rows = rows.iloc[np.sort(leading.index.to_numpy())]
    rows = rows.iloc[::-1] if keep == "last" else rows
    order = unlabelled_rows(rows).sort_values(
        list(by), ascending=name == "nsmallest", kind="stable"
    )
    rows = rows.iloc[order.index]  # a level of the labels may have the name of a column
    if keep == "all" and 0 < n < len(rows):
        keys = column_of(rows, list(by))
        after, last = keys.iloc[n:], keys.iloc[n - 1]
        n += int(((after == last) | (after.isna() & last.isna())).all(axis=1).sum())
    return rows.head(max(n, 0))


def unlabelled_rows(block: Any) -> Any:
    """Return the rows labelled from 0, so that labels are positions."""
    return block.set_axis(pd.RangeIndex(len(block)), axis=0)


@dataclass(frozen=True)
class ChosenRows:
    """Keeps the chosen rows of a chunk, in their order."""

    choice: Choice

    def __call__(self, block: Any) -> Any:
        return block.iloc[np.unique(np.asarray(self.choice(block), np.intp))]


@dataclass(frozen=True)
class ChosenOfBoth:
    """Chooses again among the rows of two runs of chunks."""

    choice: Choice

    def __call__(self, a: Any, b: Any) -> Any:
        if not (len(a) and len(b)):
            return a if len(a) else b
        return ChosenRows(self.choice)(concat([a, b]))


class ExtremeRows(FrameFold):
    """The rows that decide; the types are those of the chunks, also of no rows."""

    skips_empty = False


@kernel(scratch=2.0)
def finish_label(rows: Any, *, name: str, skipna: bool) -> Any:
    """Return the labels of the extremes among the rows that decide."""
    return getattr(rows, name)(skipna=skipna)


def _decided(
    obj: Any,
    choice: Choice,
    name: str,
    like: Any,
    rows: int | None,
    kept: float,
    finish: Callable[..., Any],
    **options: Any,
) -> Any:
    """Return the result of the rows that decide, about ``kept`` of each chunk."""
    steps = (ChosenRows(choice), ChosenOfBoth(choice), finish)
    finished = {"name": name, **options}
    nbytes = kept * row_bytes(obj.node.meta)
    row = isinstance(like, pd.Series) and rows is not None
    node = ExtremeRows(like, rows, row, name, obj.node, steps, tuple(finished.items()), nbytes)
    return collection_of(node)


def extreme_label(name: str) -> LabelMethod:
    """Return ``idxmax`` or ``idxmin`` as a method."""

    def call(
        self: Any, axis: Any = 0, skipna: bool = True, numeric_only: bool = False
    ) -> Series | Tensor:
        meta = self.node.meta
        if numeric_only:
            self = numeric_part(self)
        if axis_number(meta, axis) == 1:
            self = with_types_of_rows(self, "O")
            _check_types(self.node.meta, name, axis=1)
            labels: Series = rowwise(RowReduction(name), self, skipna=skipna)
            return labels
        like = _labels_of(self, name)
        rows = None if like.ndim == 0 else len(self.node.meta.columns)
        count = 2.0 * (rows or 1)
        result: Series | Tensor = _decided(
            self, ExtremePlaces(name), name, like, rows, count, finish_label, skipna=skipna
        )
        return result

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"""Return the label of the first extreme value. See pandas.DataFrame.{name}.

    Missing values are an error where the values are computed.
    """
    return typed("LabelMethod", call)


def _labels_of(obj: Any, name: str) -> Any:
    """Return the empty result: labels of the rows. Raise pandas's errors for types and no rows."""
    meta = obj.node.meta
    _check_types(meta, name)
    if total(obj.node.chunks[0]) == 0:
        getattr(meta, name)()
    if meta.ndim == 2:
        labels = labels_like(meta.index).take([0] * len(meta.columns))
        by_rows = labels.nlevels == 1 and labels.dtype == object  # only the rows tell texts
        return pd.Series(labels._values, meta.columns, object if by_rows else None).iloc[:0]
    if meta.index.nlevels > 1:
        raise NotImplementedError(
            f"{name}() of rows with several index levels is not supported; use reset_index()"
        )
    return np.empty((), meta.index.dtype if isinstance(meta.index.dtype, np.dtype) else object)


def _check_types(meta: Any, name: str, **options: Any) -> None:
    """Raise pandas's error for types that have no order."""
    try:
        getattr(sample(meta), name)(**options)
    except ValueError:
        return  # values are missing in the sample


def extremes(name: str, which: str) -> Callable[..., Series]:
    """Return ``nlargest`` or ``nsmallest`` as a method of a Series."""

    def call(self: Any, n: int = 5, keep: str = "first") -> Series:
        result: Series = _most(self, name, n, None, keep=keep)
        return result

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"""Return the {which} values, in order. See pandas.Series.{name}.

    They are one chunk.
    """
    return call


def extreme_rows(name: str, which: str) -> Callable[..., DataFrame]:
    """Return ``nlargest`` or ``nsmallest`` as a method of a DataFrame."""

    def call(self: Any, n: int, columns: Any, keep: str = "first") -> DataFrame:
        several = pd.api.types.is_list_like(columns) and not isinstance(columns, tuple)
        by = tuple(columns) if several else (columns,)
        result: DataFrame = _most(self, name, n, by, columns=list(by), keep=keep)
        return result

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"""Return the rows of the {which} values, in order. See pandas.DataFrame.{name}.

    They are one chunk.

    Differs from pandas: rows that miss a value come last, where pandas returns more than ``n`` rows
    of several columns, or raises.
    """
    return call


@kernel(scratch=2.0)
def finish_extremes(rows: Any, *, n: int, keep: str, by: Any, name: str) -> Any:
    """Return the rows of the extreme values among those that decide."""
    if by is None:
        return getattr(rows, name)(n, keep=keep)
    result = first_rows_by(rows, by, name, n, keep)
    if len(by) > 1 and column_of(result, list(by[:-1])).isna().to_numpy().any():
        return result
    return getattr(rows, name)(n, columns=list(by), keep=keep)


def _most(obj: Any, name: str, n: int, by: tuple[Any, ...] | None, **options: Any) -> Any:
    meta = obj.node.meta
    columns = meta if by is None else column_of(meta, [label for label in by if label in meta])
    if not obj.node.settled and any(map(is_object_dtype, dtypes_of(columns))):
        raise NotImplementedError(
            f"{name}() of objects that may be numbers is not supported; use execute() or astype() "
            "before"
        )
    like = getattr(meta, name)(n, **options)  # raises pandas's errors
    choice = MostPlaces(name, n, options["keep"], by)
    finished = {"n": n, "keep": options["keep"], "by": by}
    count = max(n + 1, 1)
    return _decided(obj, choice, name, like.iloc[:0], None, count, finish_extremes, **finished)
