"""Methods of an Index: its labels are handled as a column, and become an Index again."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any
from typing import cast as typed

import numpy as np
import pandas as pd
from pandas.api.extensions import no_default
from pandas.api.types import is_object_dtype

from marsdask.core.collection import Collection
from marsdask.core.machine.costs import kernel
from marsdask.core.traits import Level, SortKey

from ..create import series_from_tensor
from ..elementwise.exemplars import constructed, is_datetimelike, with_exemplars
from ..elementwise.rowwise import Method, NewLabels, rowwise, to_series
from ..nodes.frame_node import is_masked
from ..reduction.properties import monotonic
from ..reshape.concat import concat
from ..reshape.object_labels import inferred_values
from ..tensors import to_tensor
from ..whole.object_types import with_known_types

if TYPE_CHECKING:
    from marsdask.tensor import Tensor

    from ..frame import DataFrame
    from ..index import Index
    from ..series import Series


@kernel(view=True)
def as_labels(block: Any) -> Any:
    """Return the values of a column as labels."""
    return pd.Index(block.array, dtype=block.dtype, name=block.name)


@kernel(view=True)
def labels_renamed(block: Any, names: Any) -> Any:
    """Return labels under other names."""
    return block.set_names(names)


def column(index: Any) -> Any:
    """Return the labels as a column that is labelled by them."""
    if index.node.meta.nlevels > 1:
        raise NotImplementedError(
            "methods of labels of several levels are not supported; use get_level_values()"
        )
    return rowwise(to_series, index, name=index.name)


def is_sorted(obj: Any) -> bool:
    """Tell whether row labels never fall: compute it where it is not known."""
    is_known = obj.node.traits.is_sorted([SortKey(Level())])
    return is_known or bool(monotonic(column(obj.index), rising=True).compute())


def as_index(series: Any) -> Index:
    """Return the values of a column as an Index."""
    labels: Index = rowwise(as_labels, series)
    return labels


def labels_of(data: Any, dtype: Any, name: Hashable) -> Index:
    """Return lazy values as an Index, of another type and under another name if these are given."""
    if isinstance(data.node.meta, np.ndarray):
        data = series_from_tensor(data)
    labels = data if isinstance(data.node.meta, pd.Index) else as_index(data)
    labels = labels if dtype is None else astype(labels, dtype)
    return labels if name is None else rename(labels, name)


def through_column(name: str, *, checked: bool = False) -> Callable[..., Index]:
    """Return the method of a column of that name as one of an Index.

    With ``checked``, an Index without labels takes the arguments first.
    """

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if checked:
            getattr(self.node.meta, name)(*args, **kwargs)  # raises at once, as in pandas
        return as_index(getattr(column(self), name)(*args, **kwargs))

    call.__name__ = name
    call.__doc__ = f"Return the labels that ``{name}`` makes. See pandas.Index.{name}."
    return typed("Callable[..., Index]", call)


#: The masked types of results of functions of masked labels.
MASKED = {"b": "boolean", "i": "Int64", "u": "UInt64", "f": "Float64"}


def map_labels(index: Index, mapper: Any, na_action: Any = None) -> Index:
    """Return what a function makes of each label. See pandas.Index.map."""
    values = column(index).map(mapper, na_action=na_action)
    return as_index(rowwise(as_masked, values) if is_masked(index.node.meta.dtype) else values)


@kernel(scratch=1.0)
def as_masked(values: Any) -> Any:
    """Return results of masked labels in their masked types, and texts as objects."""
    if not len(values):
        return values
    if isinstance(values.dtype, pd.StringDtype):
        return values.astype(object)
    numbers = isinstance(values.dtype, np.dtype) and values.dtype.kind in MASKED
    return values.astype(MASKED[values.dtype.kind]) if numbers else values


def of_column(name: str) -> Callable[..., Tensor]:
    """Return the method of a column of that name, whose values are an array."""

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if name in {"max", "min"} and "skipna" in kwargs:
            kwargs["skipna"] = bool(kwargs["skipna"])  # as pandas takes it here
        result = getattr(column(self), name)(*args, **kwargs)
        return to_tensor(result) if result.node.chunks else result

    call.__name__ = name
    call.__doc__ = f"Return what ``{name}`` tells of the labels. See pandas.Index.{name}."
    return typed("Callable[..., Tensor]", call)


def comparison(func: Callable[[Any, Any], Any]) -> Callable[[Index, Any], Tensor]:
    """Return a comparison of labels as a method."""

    def call(self: Any, other: Any) -> Any:
        theirs = column(other) if isinstance(other, type(self)) else other
        return to_tensor(func(column(self), theirs))

    call.__name__ = func.__name__
    return call


def of_times(name: str) -> Callable[..., Index]:
    """Return the method of that name of an Index of times."""

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        return rowwise(Method(name), with_known_types(self), *args, **kwargs)

    call.__name__ = name
    call.__doc__ = f"Return other labels for those of times. See pandas.DatetimeIndex.{name}."
    return typed("Callable[..., Index]", call)


def isin(index: Index, values: Any, level: Any = None) -> Tensor:
    """Tell for each label, or that of a level, whether it is in values. See pandas.Index.isin."""
    labels = index if level is None else index.get_level_values(level)
    return to_tensor(column(labels).isin(values))


def sort_labels(
    index: Index,
    *,
    return_indexer: bool = False,
    ascending: Any = True,
    na_position: str = "last",
    key: Callable[[Any], Any] | None = None,
) -> Index | tuple[Index, Tensor]:
    """Sort the labels. See pandas.Index.sort_values.

    With ``return_indexer`` their positions are returned beside them.
    """
    rows = column(index).reset_index(drop=True)
    rows = rows.sort_values(ascending=bool(ascending), na_position=na_position, key=key)
    return (as_index(rows), to_tensor(rows.index)) if return_indexer else as_index(rows)


def take(
    index: Index, indices: Any, axis: Any = 0, allow_fill: bool = True, fill_value: Any = None
) -> Index:
    """Return labels by position. See pandas.Index.take."""
    if allow_fill and fill_value is not None:
        raise NotImplementedError("take(fill_value=) is not supported; use reindex()")
    return as_index(column(index).take(indices, axis=axis))


def astype(index: Index, dtype: Any, copy: bool = True) -> Index:
    """Cast the labels. See pandas.Index.astype."""
    del copy
    labels: Index = rowwise(Method("astype"), index, dtype)
    return labels


def rename(index: Index, name: Any) -> Index:
    """Return the labels under another name. See pandas.Index.rename."""
    index.node.meta.rename(name)  # raises at once, as in pandas
    labels: Index = rowwise(labels_renamed, index, names=name)
    return labels


def set_names(index: Index, names: Any, *, level: Any = None) -> Index:
    """Return the labels under other names. See pandas.Index.set_names."""
    if level is not None:
        raise NotImplementedError("set_names(level=) is not supported; name all levels")
    renamed: Index = rowwise(labels_renamed, index, names=names)
    return renamed


def to_series_of(labels: Index, index: Any = None, name: Hashable = None) -> Series:
    """Return the labels as a column that is labelled by them. See pandas.Index.to_series."""
    if index is not None:
        raise NotImplementedError("to_series(index=) is not supported; use set_axis()")
    series: Any = column(labels)
    if is_object_dtype(labels.node.meta.dtype):
        series = with_exemplars(constructed, series, is_object_dtype)
    renamed: Series = series if name is None else series.rename(name)
    return renamed


def to_frame(labels: Index, index: bool = True, name: Any = no_default) -> DataFrame:
    """Return the labels as a frame. See pandas.Index.to_frame."""
    names = {} if name is no_default else {"name": name}
    frame: DataFrame = rowwise(NewLabels(Method("to_frame")), labels, **names)
    return frame if index else frame.reset_index(drop=True)


def get_level_values(index: Index, level: Any) -> Index:
    """Return the labels of one level. See pandas.Index.get_level_values."""
    labels: Index = rowwise(Method("get_level_values"), index, level)
    return labels


def append(index: Index, other: Any) -> Index:
    """Return the labels with others behind them. See pandas.Index.append."""
    indexes = other if isinstance(other, list | tuple) else [other]
    if not all(isinstance(entry, Collection) for entry in indexes):
        raise NotImplementedError("append() of labels in memory is not supported; use md.Index(x)")
    columns = [column(index), *map(column, indexes)]
    names = {entry.name for entry in columns}
    rows = concat(columns)
    if is_object_dtype(rows.node.meta.dtype):  # pandas infers a type of all objects
        rows = with_exemplars(inferred_values, rows, is_object_dtype)
    return as_index(rows).rename(index.name if len(names) == 1 else None)


def chosen(index: Any, key: Any) -> Any:
    """Return some labels: of a mask, of positions, or one as a value."""
    rows = column(index)
    if isinstance(key, Collection):
        return as_index(rows[key])
    result = rows.iloc[key]
    return result if isinstance(key, int | np.integer) else as_index(result)


def _labels_at_hand(other: Any, name: str) -> pd.Index[Any]:
    if isinstance(other, Collection):
        raise NotImplementedError(
            f"{name}() with lazy labels is not supported; use {name}(labels.compute()), or merge()"
        )
    labels: pd.Index[Any] = pd.Index(other)
    return labels


def _named(found: Index, index: Any, other: Any) -> Index:
    """Return labels under the name that both have; what has no names at all does not count."""
    if not isinstance(other, pd.Index | pd.Series) or other.name == index.name:
        return found
    without: Index = rename(found, None)
    return without


def _sort_flag(sort: Any) -> bool | None:
    """Return whether to sort; pandas takes what equals a flag, and is none, for ``None``."""
    if sort not in (None, True, False):
        raise ValueError(f"sort is None, True or False, not {sort!r}")
    return sort if isinstance(sort, bool) else None


def difference(index: Index, other: Any, sort: bool | None = None) -> Index:
    """Return the distinct labels that others lack. See pandas.Index.difference."""
    sort = _sort_flag(sort)
    labels = _labels_at_hand(other, "difference")
    rows = column(index)
    values = rows[~rows.isin(labels)].drop_duplicates()
    return _named(as_index(values if sort is False else values.sort_values()), index, other)


def intersection(index: Index, other: Any, sort: bool | None = False) -> Index:
    """Return the distinct labels that others have, too. See pandas.Index.intersection."""
    sort = _sort_flag(sort)
    labels = _labels_at_hand(other, "intersection")
    rows = column(index)
    values = rows[rows.isin(labels)].drop_duplicates()
    is_sorted = bool(sort) or (sort is None and not equals(index, labels))
    return _named(as_index(values.sort_values() if is_sorted else values), index, other)


def symmetric_difference(index: Index, other: Any, sort: bool | None = None) -> Index:
    """Return the distinct labels that one side lacks. See pandas.Index.symmetric_difference.

    Looks which ones both have.
    """
    sort = _sort_flag(sort)
    labels = _labels_at_hand(other, "symmetric_difference")
    rows = column(index)
    mine = rows[~rows.isin(labels)].drop_duplicates()
    theirs = labels[~labels.isin(_met(index, labels))].unique()
    return _named(_joined(mine, theirs, sort=sort is not False), index, other)


def union(index: Index, other: Any, sort: bool | None = None) -> Index:
    """Return the labels of both sides, each as often as where it is more often.

    See pandas.Index.union. Looks which ones both have. Differs from pandas: labels that repeat stay
    where they are with ``sort=False``.
    """
    sort = _sort_flag(sort)
    labels = _labels_at_hand(other, "union")
    counts = _met(index, labels).value_counts(dropna=False)
    here = counts.reindex(labels).fillna(0).to_numpy()
    among = pd.Series(np.ones(len(labels)), labels).groupby(level=0, dropna=False).cumcount()
    more = labels[among.to_numpy() >= here]
    # pandas does not sort equal labels, nor those beside none.
    keeps_order = sort is None and (not len(labels) or not len(index) or equals(index, labels))
    is_sorted = bool(sort) or (sort is None and not keeps_order)
    return _named(_joined(column(index), more, sort=is_sorted), index, other)


def _met(index: Any, labels: pd.Index[Any]) -> pd.Index[Any]:
    """Compute the labels that others have, too."""
    there: Any = chosen(index, index.isin(labels))
    result: pd.Index[Any] = there.compute()
    return result


def _joined(mine: Any, theirs: pd.Index[Any], *, sort: bool) -> Index:
    """Return a column and other labels behind it as labels."""
    right = type(mine)(pd.Series(theirs, theirs, name=mine.name))
    values = concat([mine, right]) if len(theirs) else mine
    return as_index(values.sort_values() if sort else values)


def where(index: Index, cond: Any, other: Any = np.nan) -> Index:
    """Return the labels where a condition is true, and others elsewhere. See pandas.Index.where."""
    rows = column(index)
    return as_index(rows.where(_beside(rows, cond), other))


def putmask(index: Index, mask: Any, value: Any) -> Index:
    """Return the labels with others where a mask is true. See pandas.Index.putmask."""
    if not pd.api.types.is_scalar(value):
        raise NotImplementedError("putmask() of several values is not supported; use where()")
    rows = column(index)
    return as_index(rows.mask(_beside(rows, mask), value))


def _beside(rows: Any, values: Any) -> Any:
    """Return a tensor, which comparisons of labels are, as a column beside others."""
    if isinstance(values, Collection) and not hasattr(values, "index"):
        return rows.to_frame("labels").assign(values=values)["values"]
    return values


def searchsorted(index: Index, value: Any, side: Any = "left", sorter: Any = None) -> Tensor:
    """Return where values belong among sorted labels. See pandas.Index.searchsorted."""
    positions: Tensor = column(index).searchsorted(value, side, sorter)
    return positions


def item(index: Index) -> object:
    """Compute, and return the only label. See pandas.Index.item."""
    value: object = column(index).item()
    return value


def identical(index: Index, other: Any) -> bool:
    """Compute whether labels, names and types are equal. See pandas.Index.identical."""
    if not isinstance(other, type(index) | pd.Index) or list(index.names) != list(other.names):
        return False
    return bool(index.dtype == other.dtype) and equals(index, other)


def is_(index: Index, other: Any) -> bool:
    """Tell whether labels are the same operation. See pandas.Index.is_."""
    return isinstance(other, type(index)) and index.node is other.node


def ravel(index: Index, order: str = "C") -> Index:
    """Return the labels themselves. See pandas.Index.ravel."""
    del order
    return index


def droplevel(index: Index, level: Any = 0) -> Index:
    """Return the labels without some levels. See pandas.Index.droplevel."""
    labels: Index = rowwise(Method("droplevel"), index, level)
    return labels


def to_flat_index(index: Index) -> Index:
    """Return labels of several levels as tuples. See pandas.Index.to_flat_index."""
    labels: Index = rowwise(Method("to_flat_index"), index)
    return labels


def factorize(
    index: Index, sort: bool = False, use_na_sentinel: bool = True
) -> tuple[Tensor, Index]:
    """Return the number of each label among the distinct ones, and these.

    See pandas.Index.factorize. Computes the distinct labels at the call.
    """
    result: tuple[Tensor, Index] = column(index).factorize(sort, use_na_sentinel)
    return result


class TextLabels:
    """The methods of texts of labels: texts become labels, and answers an array."""

    __slots__ = ("_texts",)

    #: ``[]`` takes any position, so iteration by it would not end.
    __iter__ = None

    def __init__(self, index: Index) -> None:
        self._texts = column(index).str

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._texts, name)

        def call(*args: Any, **kwargs: Any) -> Any:
            result = method(*args, **kwargs)
            if result.ndim == 2:
                return result.reset_index(drop=True)
            return to_tensor(result) if result.dtype.kind == "b" else as_index(result)

        return call

    def __getitem__(self, part: Any) -> Index:
        return as_index(self._texts[part])


def equals(index: Index, other: Any) -> bool:
    """Compute whether labels are equal, and in equal order. See pandas.Index.equals."""
    if isinstance(other, pd.Index):
        other = type(index)(other)
    if not isinstance(other, type(index)) or len(index) != len(other):
        return False
    rows, right_rows = (column(labels).reset_index(drop=True) for labels in (index, other))
    is_equal: bool = bool(rowwise(are_same, rows, right_rows).all().compute())
    return is_equal


def are_same(block: Any, other: Any) -> Any:
    """Tell of each row whether two values are equal, or both missing."""
    with_gaps = block.isna() & other.isna()
    return ((block == other) | with_gaps).astype(bool)


def absent(labels: pd.Index[Any], there: pd.Index[Any]) -> pd.Index[Any]:
    """Return the labels that are not there; a missing one is whatever the others are missing by."""
    if labels.nlevels > 1 or there.nlevels > 1:
        return labels[~labels.isin(there)]
    return labels[there.unique().get_indexer_for(labels) < 0]


def check_there(labels: Any, there: Any, errors: str) -> None:
    """Raise, as pandas does, for labels that are not there, unless ``errors`` ignores them."""
    missing = absent(labels, there) if errors != "ignore" else ()
    if len(missing):
        raise KeyError(f"{list(missing)} not found in axis")


def drop(index: Index, labels: Any, errors: str = "raise") -> Index:
    """Return the labels without some. See pandas.Index.drop.

    Looks which ones there are, unless ``errors="ignore"``.
    """
    if not isinstance(labels, pd.Index):
        labels = pd.Index(list(labels) if pd.api.types.is_list_like(labels) else [labels])
    if is_datetimelike(index.node.meta.dtype) and not is_datetimelike(labels.dtype):
        raise NotImplementedError(
            "Index.drop() of texts among times is not supported; use pd.to_datetime()"
        )
    mask: Any = index.isin(labels)
    if errors != "ignore":
        there: Any = chosen(index, mask)
        check_there(labels, there.compute(), errors)
    result: Any = chosen(index, ~mask)
    remainder: Index = result
    return remainder
