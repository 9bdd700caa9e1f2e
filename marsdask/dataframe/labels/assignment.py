"""Assign to some rows and columns: the object is bound to a new node, and others keep theirs.

As in pandas 3, no other object changes: what was selected before is a copy.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pandas.api.extensions import ExtensionArray
from pandas.api.types import is_integer, is_list_like, is_object_dtype

from marsdask.core.collection import Collection, rebind
from marsdask.core.machine.costs import kernel
from marsdask.core.sizes import total
from marsdask.tensor.creation.from_shape import zeros

from ..elementwise.operands import (
    aligned_tensor,
    aligned_values,
    array_of,
    check_order,
    is_mask,
    labelled_values,
)
from ..elementwise.rowwise import relabelled, rowwise
from ..nodes.frame_node import FrameNode, dtypes_of, is_array, is_masked, is_row
from ..schemas.samples import sample
from .masks import (
    check_array,
    check_cells,
    check_cells_mask,
    check_label_kind,
    check_labels,
    check_levels,
    check_within_intervals,
    column_places,
    columns_in,
    has_label,
    has_levels,
    is_between,
    is_other_kind,
    label_in_memory,
    listed_key,
    positions_of_mask,
    slice_bounds,
    without_axes,
)
from .numbered_rows import MANY_ROWS, has_rows, is_empty_slice, numbers_of, takes_no_row

MASK_LENGTH = "Boolean index has wrong length: {} instead of {}"
VALUE_LENGTH = "cannot set using a list-like indexer with a different length than the value"


@kernel(scratch=2.0)
def put_rows(
    block: Any,
    mask: Any,
    *values: Any,
    places: tuple[int, ...] | None,
    by_row: tuple[bool, ...],
    dtypes: tuple[Any, ...],
    strict: bool = True,
) -> Any:
    """Return rows with other values where a mask is true; a value or a column of them each.

    The columns are told by position, since labels may be equal, missing or tuples. They are first
    cast to ``dtypes``, which hold the values of all chunks. Unless ``strict``, values that no row
    takes may be of any type.
    """
    block = block.copy(deep=False)
    rows: Any = slice(None) if mask is None else mask.to_numpy(dtype=bool, na_value=False)
    if not strict and mask is not None and not rows.any():
        return block
    items = [
        value._values[rows] if aligned else without_axes(value)
        for value, aligned in zip(values, by_row, strict=True)
    ]
    if block.ndim == 1:
        block = block if dtypes[0] is None else block.astype(dtypes[0])
        block.loc[rows] = items[0]
        return block
    for place, value, dtype in zip(places or (), items, dtypes, strict=True):
        if dtype is not None:
            block.isetitem(place, block.iloc[:, place].astype(dtype))
        if isinstance(value, pd.Series):
            value = _of_column(value, block.columns[place])  # noqa: PLW2901
        block.iloc[rows, place] = value
    return block


def _of_column(row: pd.Series, name: Any) -> Any:
    """Return the value of a row for a column; NaN if it has none."""
    return row.iloc[row.index.get_loc(name)] if name in row.index else np.nan


@kernel(scratch=2.0)
def put_where(block: Any, mask: Any, value: Any) -> Any:
    """Return a frame with other values where a frame of truth values is true."""
    block = block.copy(deep=False)
    block[mask] = value
    return block


def assign_loc(obj: Any, key: Any, value: Any, *, strict: bool = True) -> None:
    """Assign to the rows of labels or of a mask, and to columns of labels.

    To all columns of a mask's rows, and unless ``strict``, pandas assigns values of other types
    where no row is chosen.
    """
    value = list(value) if isinstance(value, range) else value
    rows, columns = _two_parts(obj, key)
    rows = rows(obj) if callable(rows) and not isinstance(rows, Collection) else rows
    whole = isinstance(rows, slice) and rows == slice(None)
    places = None
    if obj.ndim == 2:
        columns = columns_in(obj.columns, columns)
        places = column_places(obj.columns, columns)
        if -1 in places:
            return _assign_new(obj, columns, places, value, whole)
    if obj.ndim == 2 and not whole and takes_no_row(obj, rows):
        return None
    positions = positions_of_mask(rows)
    mask = None if whole else _mask(obj, rows)
    by_mask = positions is not None or (mask is not None and mask is rows)
    if by_mask and obj.ndim == 2 and isinstance(columns, slice) and columns == slice(None):
        strict = _is_one_strict_column(obj.node.meta)
    by_label = not (whole or by_mask or isinstance(rows, slice | Collection | pd.Series))
    how = {"strict": strict or not by_mask, "chosen": by_label and np.size(rows) > 0}
    return _put(obj, mask, places, value, whole, positions, **how)


def _is_one_strict_column(meta: Any) -> bool:
    """Tell whether pandas asks the only column's type about a value that no row takes."""
    dtypes = dtypes_of(meta)
    is_category = isinstance(dtypes[0], pd.CategoricalDtype) if dtypes else False
    return len(dtypes) == 1 and (is_category or is_masked(dtypes[0]))


def assign_iloc(obj: Any, key: Any, value: Any) -> None:
    """Assign to rows and columns by position; an unknown number of rows is computed."""
    rows, columns = (
        part(obj) if callable(part) and not isinstance(part, Collection) else part
        for part in _two_parts(obj, key)
    )
    places: Any = None
    if obj.ndim == 2:
        if not obj.columns.is_unique:
            if isinstance(value, Collection) and is_row(value.node):
                raise NotImplementedError(
                    "iloc[] = of a row to columns of equal labels is not supported; use set_axis()"
                )
            return _by_number(obj, assign_iloc, key, value)
        places = np.atleast_1d(np.arange(len(obj.columns))[columns]).tolist()
        value = _labelled(value, obj.columns[places])
    if isinstance(rows.node.meta if isinstance(rows, Collection) else rows, pd.DataFrame):
        raise TypeError("DataFrame indexer for .iloc is not supported")
    if isinstance(rows, slice) and rows == slice(None):
        return _put(obj, None, places, value, True, None)
    if obj.ndim == 2 and is_empty_slice(rows):
        return None
    is_empty = isinstance(rows, list) and not rows
    positions = rows if isinstance(rows, slice) else np.asarray(rows, int if is_empty else None)
    if isinstance(positions, np.ndarray) and positions.dtype == bool and positions.size:
        if len(rows) != len(obj):
            raise IndexError(MASK_LENGTH.format(len(rows), len(obj)))
        positions = np.flatnonzero(rows)
    try:
        mask = _mask_at(obj, positions)
    except IndexError as error:
        raise IndexError("iloc cannot enlarge its target object") from error
    return _put(obj, mask, places, value, False, positions, chosen=has_rows(positions, len(obj)))


def _mask_at(obj: Any, positions: Any) -> Any:
    """Return a lazy mask of the rows at some positions."""
    if len(obj) < MANY_ROWS:
        mask = np.zeros(len(obj), dtype=bool)
        mask[positions] = True
        return aligned_values(obj, mask, MASK_LENGTH)
    flags = zeros(len(obj), dtype=bool, chunk_size=obj.node.chunks[:1])
    flags[positions.tolist() if isinstance(positions, np.ndarray) else positions] = True
    return aligned_tensor(obj, flags, MASK_LENGTH)


def _mask_of_numbers(obj: Any, key: Any) -> Any:
    """Return a lazy mask of many rows whose labels are their positions, ``None`` of others."""
    numbers = numbers_of(obj.node)
    is_key = isinstance(key, slice | list | np.ndarray | pd.Index | int | np.integer)
    if numbers is None or len(numbers) < MANY_ROWS or not is_key:
        return None
    if isinstance(key, slice):
        ends = [end for end in (key.start, key.stop) if end is not None]
        if key.step is not None or not all(is_integer(end) and end >= 0 for end in ends):
            return None
        return _mask_at(obj, slice(key.start, None if key.stop is None else key.stop + 1))
    labels = np.atleast_1d(np.asarray(key))
    if labels.dtype.kind not in "iu" or not len(labels):
        return None
    inside = labels.min() >= 0 and labels.max() < len(numbers)
    return _mask_at(obj, labels) if inside else None


def _by_number(frame: Any, assign: Any, key: Any, value: Any) -> None:
    """Assign to columns while numbers are their labels, of which some are equal."""
    table = rowwise(relabelled, frame, columns=pd.RangeIndex(len(frame.columns)))
    assign(table, key, value)
    rebind(frame, rowwise(relabelled, table, columns=frame.columns).node)


def _labelled(value: Any, labels: pd.Index[Any]) -> Any:
    """Return a frame with the labels of the columns that its own are assigned to by position."""
    if not isinstance(value, Collection) or not isinstance(value.node.meta, pd.DataFrame):
        return value
    if len(value.node.meta.columns) != len(labels):
        raise ValueError(VALUE_LENGTH)
    return rowwise(relabelled, value, columns=labels)


def assign_where(obj: Any, mask: Any, value: Any) -> None:
    """Assign where a lazy mask is true: a column of rows, or a frame of values."""
    if mask.node.meta.ndim == 2:
        check_cells_mask(mask, value)
        rebind(obj, rowwise(put_where, obj, mask, value).node)
    else:
        assign_loc(obj, mask, value, strict=False)


def assign_items(frame: Any, key: Any, value: Any) -> None:
    """Assign to columns of a list of labels, or to rows of a mask in memory."""
    if is_mask(key):
        rows = total(frame.node.chunks[0])
        if isinstance(rows, int) and rows != len(key):
            raise ValueError(f"Item wrong length {len(key)} instead of {rows}!")
        assign_loc(frame, np.asarray(key), value)
    else:
        assign_columns(frame, list(key), value)


def assign_columns(frame: Any, names: list[Any], value: Any) -> None:
    """Assign several columns: those of a frame by position, or one value to each."""
    if isinstance(value, list | tuple) and any(isinstance(item, Collection) for item in value):
        raise NotImplementedError(
            "assignment of a list of lazy columns is not supported, since pandas takes its items "
            "for rows; use assign(), or one column at a time"
        )
    framed = isinstance(value, Collection) and isinstance(value.node.meta, pd.DataFrame)
    places = frame.columns.get_indexer_for(pd.Index(names, dtype=object))
    if len(places) > len(names) and not framed and not pd.api.types.is_scalar(value):
        if -1 in places:
            raise NotImplementedError(
                "assignment to new columns and to some of equal labels is not supported; use "
                "assign() first"
            )
        _by_number(frame, assign_columns, places.tolist(), value)
    else:
        result = frame
        for name, column in zip(names, _values_of_columns(names, len(places), value), strict=True):
            result = result._with({name: column})
        rebind(frame, result.node)


def _values_of_columns(names: list[Any], count: int, value: Any) -> list[Any]:
    """Return the value of each name, of ``count`` columns in all."""
    lazy: Any = value
    if isinstance(value, list | tuple) and np.ndim(value) > 1:
        value = pd.DataFrame(value).to_numpy()  # the items are rows
    if isinstance(value, Collection) and isinstance(value.node.meta, pd.DataFrame):
        if len(lazy.columns) != count:
            raise ValueError("Columns must be same length as key")
        return [lazy[label] for label in lazy.columns[: len(names)]]
    if isinstance(value, np.ndarray) and value.ndim == 2:
        if value.shape[1] != len(names):
            raise ValueError("Columns must be same length as key")
        return list(value.T)
    if isinstance(value, list | tuple | np.ndarray):
        if len(value) != len(names):
            raise ValueError("Columns must be same length as key")
        return list(value)
    if isinstance(value, Collection | pd.Series | pd.DataFrame):
        raise NotImplementedError(
            "several columns of a pandas object or of a Series are not supported; use one column "
            "at a time, or md.DataFrame(x)"
        )
    return [value] * len(names)


def _two_parts(obj: Any, key: Any) -> tuple[Any, Any]:
    parts = [listed_key(part) for part in (key if isinstance(key, tuple) else (key,))]
    if len(parts) > obj.ndim:
        if obj.ndim == 1 and obj.node.meta.index.nlevels > 1:
            return key, slice(None)
        check_levels(obj, key)
        raise pd.errors.IndexingError("Too many indexers")
    return parts[0], parts[1] if len(parts) > 1 else slice(None)


def _mask_of_levels(obj: Any, key: Any) -> Any:
    """Return a lazy mask of the rows whose labels have some first levels."""
    mask = rowwise(has_levels, obj, key=key if isinstance(key, tuple) else (key,))
    if not bool(mask.any().compute()):
        raise NotImplementedError(
            f"loc[{key!r}] = of a row that is not there is not supported; use concat()"
        )
    return mask


def _mask(obj: Any, key: Any) -> Any:
    """Return a lazy mask of the rows of labels."""
    key = label_in_memory(key)
    mask = key if isinstance(key, Collection) else _mask_of_numbers(obj, key)
    if mask is not None:
        return mask
    if isinstance(key, dict | set):
        check_label_kind(obj.node.meta.index, key)
    if isinstance(key, slice):
        start, stop = slice_bounds(obj, key)
        return rowwise(is_between, obj, start=start, stop=stop)
    if isinstance(key, pd.Series):
        return labelled_values(obj, key, "loc")
    several = isinstance(key, list | np.ndarray | pd.Index)
    check_within_intervals(obj.node.meta.index, key if several else [key])
    if several and is_mask(key):
        first = obj if obj.ndim == 1 else obj.iloc[:, 0]
        return aligned_values(first, np.asarray(key), MASK_LENGTH, IndexError)
    check_labels(obj, key if several else [key])
    levels = obj.node.meta.index.nlevels
    if levels > 1 and not several:
        return _mask_of_levels(obj, key)
    if levels > 1 and not all(isinstance(item, tuple) and len(item) == levels for item in key):
        raise NotImplementedError(
            "loc[] = of a list of first levels is not supported; use one at a time, or a mask"
        )
    labels = pd.Index(key if several else [key])
    mask = rowwise(has_label, obj, labels=labels)
    matches = mask[mask].index.compute()
    difference = labels[~labels.isin(matches)]
    if not several and is_other_kind(obj.node.meta.index, key):
        if isinstance(key, bool):
            raise KeyError("cannot use a single bool to index into setitem")
        difference = labels
    if len(difference) and several:
        raise KeyError(f"{list(difference)} not in index")
    if len(difference):
        raise NotImplementedError(
            f"loc[{key!r}] = of a row that is not there is not supported; use concat()"
        )
    return mask


def _assign_new(obj: Any, columns: Any, places: list[int], value: Any, whole: bool) -> None:
    """Assign whole columns, some of which are not there yet."""
    new = columns
    if isinstance(columns, list | np.ndarray | pd.Index):
        new = [label for label in columns if label not in obj.columns]
    if not whole:
        raise NotImplementedError(
            f"assignment to some rows of new columns {new} is not supported; use assign() first"
        )
    if len(places) > 1:
        raise NotImplementedError(
            f"loc[:, {columns}] = of new columns {new} is not supported; use assign()"
        )
    one = pd.api.types.is_scalar(columns) and pd.api.types.is_scalar(value)
    if one and total(obj.node.chunks[0]) == 0:
        raise ValueError("cannot set a frame with no defined index and a scalar")
    obj[columns[0] if isinstance(columns, list | np.ndarray | pd.Index) else columns] = value


def _put(
    obj: Any,
    mask: Any,
    places: list[int] | None,
    value: Any,
    whole: bool,
    positions: Any,
    *,
    strict: bool = True,
    chosen: bool = False,
) -> None:
    """Assign to the rows of a mask; ``chosen`` means that there are any for certain."""
    if positions is not None and is_array(value):
        value = value.compute()
    if isinstance(value, Collection):
        values = _lazy_values(obj, value, places)
    else:
        values = _values(obj, value, places, whole, positions)
    dtypes = tuple(item.dtype if isinstance(item, ColumnValues) else None for item in values)
    values = [item.lazy if isinstance(item, ColumnValues) else item for item in values]
    by_row = tuple(isinstance(item, Collection) and not is_row(item.node) for item in values)
    how: dict[str, Any] = {"places": None if places is None else tuple(places), "by_row": by_row}
    if chosen or (whole and total(obj.node.chunks[0])):
        _check_scalars(obj, places, values)
    how |= {} if strict else {"strict": False}
    rebind(obj, rowwise(put_rows, obj, mask, *values, dtypes=dtypes, **how).node)


def _check_scalars(obj: Any, places: Any, values: list[Any]) -> None:
    """Raise what pandas raises if columns of known types refuse scalars."""
    open_types = isinstance(obj.node, FrameNode) and obj.node.types_by_rows
    if obj.node.incomplete or open_types:
        return
    row = sample(obj.node.meta).iloc[:1]
    for place, value in zip([None] if places is None else places, values, strict=True):
        if pd.api.types.is_scalar(value):
            target = row.copy() if place is None else row.iloc[:, place].copy()
            target.iloc[0] = value


class ColumnValues(NamedTuple):
    """Values in memory for the chosen rows, as lazy ones of all rows."""

    lazy: Any
    dtype: Any
    """The type that a column needs to hold them, ``None`` if only its chunks tell."""


def _values(
    obj: Any, value: Any, places: list[int] | None, whole: bool, positions: Any
) -> list[Any]:
    """Return a value in memory for each column: one for all rows, or one for each row."""
    columns: Any = [None] if places is None else places
    if isinstance(value, pd.Series | pd.DataFrame):
        raise NotImplementedError(
            "assignment of a pandas object in memory is not supported; use md.Series(x)"
        )
    if not any(is_object_dtype(dtype) for dtype in dtypes_of(obj.node.meta)):
        check_order(value)
    if not isinstance(value, list | tuple | np.ndarray | ExtensionArray | pd.Index):
        if is_list_like(value):
            raise NotImplementedError(
                f"assignment of a {type(value).__name__} is not supported; use a list"
            )
        return [value] * len(columns)
    if np.ndim(value) == 2:  # type: ignore[arg-type]
        table = np.array(value, dtype=object) if isinstance(value, list | tuple) else value
        if table.shape[1] != len(columns):
            if len(columns) == 1:
                check_cells(obj, columns[0])
            raise ValueError(VALUE_LENGTH)
        parts: list[Any] = list(table.T)  # type: ignore[union-attr]
        items = [part.tolist() if part.dtype == object else part for part in parts]
    elif len(columns) > 1:
        if len(value) != len(columns):
            raise ValueError(VALUE_LENGTH)
        if any(map(is_list_like, value)):
            raise NotImplementedError(
                "assignment of lists of different lengths is not supported; use one column at a "
                "time"
            )
        return list(value)
    else:
        items = [value]
    pairs = zip(columns, items, strict=True)
    return [_spread(obj, place, values, whole, positions) for place, values in pairs]


def _lazy_values(obj: Any, value: Collection, places: list[int] | None) -> list[Any]:
    """Return a value for each column: those of a frame by their labels, NaN for others."""
    count = 1 if places is None else len(places)
    meta = value.node.meta
    if is_array(value):
        check_array(obj, value)
        value = aligned_tensor(obj, value, VALUE_LENGTH)
        meta = value.node.meta
    if is_row(value.node) or meta.ndim == 1:
        if count > 1 and not is_row(value.node):
            raise NotImplementedError(
                "assignment of a Series to several columns is not supported; use one at a time"
            )
        return [value] * count
    columns: Any = value
    if places is None:
        raise ValueError("Incompatible indexer with DataFrame")
    if not meta.columns.is_unique:
        raise ValueError("Setting with non-unique columns is not allowed.")
    found = meta.columns.get_indexer(obj.columns[places])
    return [columns.iloc[:, at] if at >= 0 else np.nan for at in found]


def _spread(obj: Any, place: int | None, values: Any, whole: bool, positions: Any) -> ColumnValues:
    """Return values in memory for the chosen rows of a column as lazy ones of all rows."""
    if positions is None and not whole:
        raise NotImplementedError(
            "assignment of a list to rows of labels or of a lazy mask is not supported; use iloc[] "
            "=, or a lazy column of the same rows"
        )
    indexer: Any = None
    if not len(values) or total(obj.node.chunks[0]) == 0:
        raise NotImplementedError(
            "assignment of a list to no rows is not supported; use a frame with rows"
        )
    if not whole:
        indexer = np.arange(len(obj))[positions]
        if np.ndim(indexer) == 0 or len(values) == 1 != len(indexer):
            raise NotImplementedError(
                "assignment of a list to one row, or of one item to several, is not supported; "
                "use a scalar"
            )
        if len(indexer) != len(values):
            check_cells(obj, place)
            raise ValueError(VALUE_LENGTH)
    array, dtype = array_of(values), None
    if obj.node.settled and len(values):
        meta = _column(obj.node.meta, place)
        array = _held(meta, values, framed=place is not None, whole=whole)
        dtype = array.dtype if array.dtype != meta.dtype else None
    if not whole:
        places = np.zeros(len(obj), dtype=np.intp)
        places[indexer] = np.arange(len(indexer))
        array = array.take(places)
    series = pd.Series(array, dtype=array.dtype)  # objects stay objects
    return ColumnValues(aligned_values(_rows(obj), series, VALUE_LENGTH), dtype)


def _column(meta: Any, place: int | None) -> Any:
    return meta if place is None else meta.iloc[:, place]


def _held(meta: Any, values: Any, *, framed: bool, whole: bool) -> Any:
    """Return what pandas stores when values are assigned to rows of a column: all decide the type.

    ``whole`` assignments may replace the column; others leave a row as it is.
    """
    count = len(values)
    rows = sample(meta).iloc[[0] * (count if whole else count + 1)].reset_index(drop=True)
    indexer = slice(None) if whole else np.arange(count + 1) < count
    if framed:
        table = rows.to_frame(0)
        table.loc[indexer, 0] = values
        rows = table[0]
    else:
        rows.loc[indexer] = values
    return rows.array[:count]


def _rows(obj: Any) -> Any:
    """Return a column of an object's rows."""
    return obj if obj.ndim == 1 else rowwise(has_label, obj, labels=pd.Index([]))
