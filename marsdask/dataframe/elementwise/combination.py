"""Two objects of the same rows: equality, updates, products; types by all values."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar
from typing import cast as typed

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype

from marsdask.core.collection import Collection, compute, rebind
from marsdask.core.machine.costs import FunctionWrapper, kernel

from ..labels.index_methods import column
from ..nodes.frame_node import S, axis_number, dtypes_of, is_masked, is_row
from ..reduction.fold import assembled
from ..rows import alignment, level_at
from ..schemas.samples import sample, without_rows
from .operands import lazy_rows
from .row_functions import no_columns, row_function
from .rowwise import Method, NewLabels, Unsettled, column_of, relabelled, rowwise

if TYPE_CHECKING:
    from marsdask.tensor import Tensor

    from ..frame import DataFrame
    from ..series import Series


def equals(obj: Any, other: Any) -> bool:
    """Compute whether two objects have equal types, labels and values.

    See pandas.DataFrame.equals. Missing values are equal.
    """
    if isinstance(other, pd.DataFrame | pd.Series):
        other = type(obj)(other) if obj.ndim == other.ndim else other
    if type(other) is not type(obj):
        return False
    mine, theirs = obj.node.meta, other.node.meta
    if dtypes_of(mine) != dtypes_of(theirs) or mine.index.nlevels != theirs.index.nlevels:
        return False
    if obj.ndim == 2 and not obj.columns.equals(other.columns):
        return False
    if len(obj) != len(other):
        return False
    rows, other_rows = (item.reset_index(drop=True) for item in (obj, other))
    matches = rowwise(rows_equal, rows, other_rows).all()
    if mine.index.nlevels > 1:
        labels = [rowwise(labels_as_columns, item).reset_index(drop=True) for item in (obj, other)]
    else:
        labels = [column(item.index).reset_index(drop=True) for item in (obj, other)]
    return bool((matches & rowwise(rows_equal, *labels).all()).compute())


@row_function(no_columns)
def labels_as_columns(block: Any) -> Any:
    """Return the levels of row labels as columns."""
    return block.index.to_frame()


def _nested(column: pd.Series) -> np.ndarray[Any, Any]:
    """Tell which cells of a column of objects hold arrays."""
    return np.fromiter((isinstance(value, np.ndarray) for value in column), bool, len(column))


def _equal_cells(mine: Any, theirs: Any) -> bool:
    """Tell whether two arrays in cells are equal; an array equals nothing else."""
    if not (isinstance(mine, np.ndarray) and isinstance(theirs, np.ndarray)):
        return False
    return mine.shape == theirs.shape and pd.Series(mine.ravel()).equals(pd.Series(theirs.ravel()))


@kernel(scratch=2.0)
def rows_equal(block: Any, other: Any) -> Any:
    """Tell of each row whether its values are equal to others, or missing as they are."""
    frames = [item.to_frame() if item.ndim == 1 else item for item in (block, other)]
    mask = np.ones(len(block), dtype=bool)
    for at in range(frames[0].shape[1]):
        mine, theirs = (frame.iloc[:, at] for frame in frames)
        nested = _nested(mine) | _nested(theirs) if mine.dtype == object else None
        if nested is not None and nested.any():
            pairs = list(zip(mine.to_numpy()[nested], theirs.to_numpy()[nested], strict=True))
            mask[nested] &= [_equal_cells(*pair) for pair in pairs]
            mine, theirs = mine.mask(nested), theirs.mask(nested)
        matches = (mine == theirs) | (mine.isna() & theirs.isna())
        mask &= matches.to_numpy(dtype=bool, na_value=False)
    return pd.Series(mask, index=block.index)


def update(
    obj: Any,
    other: Any,
    join: str = "left",
    overwrite: bool = True,
    filter_func: Callable[..., Any] | None = None,
    errors: str = "ignore",
) -> None:
    """Replace values in place by those of another object that are there.

    See pandas.DataFrame.update. The rows must be the same ones; ``filter_func`` and
    ``errors="raise"`` are not supported.
    """
    if join != "left" or filter_func is not None or errors != "ignore":
        raise NotImplementedError(
            "update(join=, filter_func=, errors=) is not supported; use where() or mask()"
        )
    other = lazy_rows(obj, other, "update")
    if not isinstance(other, Collection):
        raise NotImplementedError(
            "update() by values without labels is not supported; use md.Series(x)"
        )
    rebind(obj, rowwise(updated, obj, other, overwrite=overwrite).node)


@kernel(scratch=2.0)
def updated(block: Any, other: Any, overwrite: bool) -> Any:
    """Return rows with the values of others that are not missing."""
    result = block.copy(deep=False)
    if block.ndim == 1:
        result.update(other)
    else:
        result.update(other, overwrite=overwrite)
    return result


def align(
    obj: S,
    other: Any,
    join: str = "outer",
    axis: Any = None,
    level: Any = None,
    copy: Any = None,
    fill_value: Any = None,
) -> tuple[S, Any]:
    """Return two objects of the same rows with the same columns. See pandas.DataFrame.align.

    Objects of other rows are not supported, nor is ``level=``.
    """
    del copy  # of no effect
    if level is not None:
        raise NotImplementedError("align(level=) is not supported; use reset_index() and merge()")
    other = lazy_rows(obj, other, "align")
    if not isinstance(other, Collection) or is_row(other.node):
        raise NotImplementedError(
            "align() with values in memory is not supported; use md.Series(x)"
        )
    if alignment(obj.node) != alignment(other.node):
        raise NotImplementedError(
            "align() of objects with different indexes is not supported; use merge() or join()"
        )
    by_column = axis is None or axis_number(obj.node.meta, axis) == 1
    if obj.ndim == 1 or other.node.meta.ndim == 1 or not by_column:
        return type(obj)(obj.node), type(other)(other.node)
    numbers = [
        pd.DataFrame([range(len(meta.columns))], columns=meta.columns)
        for meta in (obj.node.meta, other.node.meta)
    ]
    joined: Any = join
    pair = zip((obj, other), numbers[0].align(numbers[1], join=joined, axis=1), strict=True)
    how = {} if fill_value is None else {"fill_value": fill_value}
    mine, theirs = (_with_columns(frame, places, how) for frame, places in pair)
    return mine, theirs


def _with_columns(frame: Any, places: pd.DataFrame, how: dict[str, Any]) -> Any:
    """Return columns under labels, by their positions; NaN stands for one that is not there."""
    if frame.columns.is_unique:
        return frame.reindex(columns=places.columns, **how)
    table = rowwise(relabelled, frame, columns=pd.RangeIndex(len(frame.columns)))
    rows = table.reindex(columns=places.iloc[0].fillna(-1).astype(int).tolist(), **how)
    return rowwise(relabelled, rows, columns=places.columns)


def reindex_like(
    obj: S, other: Any, method: Any = None, limit: Any = None, tolerance: Any = None
) -> S:
    """Return rows and columns that have the labels of another object.

    See pandas.DataFrame.reindex_like. A lazy object must have the same rows.
    """
    if any(option is not None for option in (method, limit, tolerance)):
        raise NotImplementedError("reindex_like(method=) is not supported; use ffill() or bfill()")
    result: S = obj
    if isinstance(other, Collection):
        if alignment(obj.node) != alignment(other.node):
            raise NotImplementedError(
                "reindex_like() of an object with another index is not supported; use merge()"
            )
        meta = other.node.meta
    else:
        meta = other
        result = result.reindex(other.index)
    if obj.ndim == 2 and not obj.node.meta.columns.equals(meta.columns):
        result = result.reindex(columns=meta.columns)
    return result


def dot(obj: Any, other: Any) -> Series | Tensor:
    """Return the product with a Series of the same rows, or with what has a row a column.

    See pandas.DataFrame.dot. Products with lazy frames are for ``to_tensor()``.
    """
    product: Series = _dot(obj, other)
    return product


def _dot(obj: Any, other: Any) -> Any:
    lazy = isinstance(other, Collection)
    if obj.ndim == 1 and lazy and other.node.meta.ndim == 1 and not is_row(other.node):
        return _dot_of_rows(obj, other)
    if obj.ndim == 1 or (lazy and not is_row(other.node)):
        raise NotImplementedError(
            "dot() of a Series with values in memory, or of lazy frames, is not supported; use "
            "to_tensor() and @"
        )
    return rowwise(Method("dot"), obj, other)


def _dot_of_rows(a: Any, b: Any) -> Any:
    """Return a product as NumPy does: of its type, and missing where any value is."""
    dtypes = [rows.node.meta.dtype for rows in (a, b)]
    if all(map(is_bool_dtype, dtypes)):
        matches = (a & b).any()
        if not any(map(is_masked, dtypes)):
            return matches
        gaps = a.isna().any() | b.isna().any()
        return assembled(na_of_gaps, [matches, gaps], np.bool_(), title="dot", typed=False)
    products = a * b
    dtype = products.node.meta.dtype
    total = products.sum(skipna=False)
    if is_masked(dtype):
        return assembled(nan_of_na, [total], np.float64(0), title="dot", typed=False)
    return total.astype(dtype) if isinstance(dtype, np.dtype) and dtype.kind in "iu" else total


def na_of_gaps(matches: Any, gaps: Any) -> Any:
    """Return whether any rows match, NA if any row has no value."""
    return np.asarray(pd.NA, object) if gaps else matches


def nan_of_na(total: Any) -> Any:
    """Return a sum, NaN for NA: NumPy has the values of such columns as floats."""
    value = total[()] if isinstance(total, np.ndarray) else total
    return np.asarray(np.nan if value is pd.NA else value)


#: Floats whose integers have other statistics: those of 32 bits, and not of 64.
NARROW = (np.dtype("float16"), np.dtype("float32"))
#: Integers are less.
INTEGERS = 2.0**63


class Converted(FunctionWrapper, Unsettled):
    """Calls a method whose types depend on all values of a chunk."""

    by_rows: ClassVar[bool] = True

    def __call__(self, block: Any, *args: Any, **kwargs: Any) -> Any:
        return self.func(block, *args, **kwargs)

    def general(self, found: Any, *metas: Any, **kwargs: Any) -> Any:
        """Return the types that convert_dtypes() gives numbers that are not all whole."""
        if self.func.__name__ != "convert_dtypes":
            return found
        rows = sample(metas[0])
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # infinity is no integer
            return without_rows(self.func(rows, *metas[1:], **kwargs), found)


def convert_dtypes(obj: S, *args: Any, **kwargs: Any) -> S:
    """Return the columns with types that have a missing value. See pandas.DataFrame.convert_dtypes.

    Floats are announced as ``Float64``; where all are whole, the result has integers. Columns of
    objects are not supported. Whether all narrow floats are whole is computed at the call.
    """
    _check_objects(obj, "convert_dtypes")
    result: S = rowwise(Converted(Method("convert_dtypes")), obj, *args, **kwargs)
    narrow = [at for at, dtype in enumerate(dtypes_of(obj.node.meta)) if dtype in NARROW]
    if narrow and kwargs.get("convert_integer", True):
        result = typed("Any", result).astype(_narrow_types(obj, narrow, kwargs))
    return result


def _narrow_types(obj: Any, narrow: list[int], kwargs: dict[str, Any]) -> Any:
    """Compute the types that narrow floats get: that of a series, or those of some columns."""
    meta = obj.node.meta
    if meta.ndim == 1:
        whole = bool(compute(rowwise(are_whole, obj).all())[0])
        return _converted(meta.dtype, kwargs, whole=whole)
    labels = list(meta.columns[narrow])
    if not meta.columns.is_unique:
        raise NotImplementedError(
            "convert_dtypes() of narrow floats and equal labels is not supported; use "
            "set_axis(axis=1)"
        )
    (flags,) = compute(rowwise(are_whole, rowwise(column_of, obj, key=labels)).all())
    return {
        label: _converted(meta[label].dtype, kwargs, whole=bool(flag))
        for label, flag in zip(labels, flags, strict=True)
    }


def are_whole(block: Any) -> Any:
    """Tell which floats integers of 64 bits hold; missing values are such."""
    return ((block % 1 == 0) & (block.abs() < INTEGERS)) | block.isna()


def _converted(dtype: Any, kwargs: dict[str, Any], *, whole: bool) -> Any:
    """Return the type that convert_dtypes() gives floats that are, or are not, all whole."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the call itself warns of its arguments
        return pd.Series([1.0 if whole else 1.5], dtype=dtype).convert_dtypes(**kwargs).dtype


def infer_objects(obj: S, copy: Any = None) -> S:
    """Return columns of objects with better types. See pandas.DataFrame.infer_objects.

    There must be none of them, since all rows tell.
    """
    del copy
    _check_objects(obj, "infer_objects")
    result: S = type(obj)(obj.node)
    return result


def _check_objects(obj: Any, name: str) -> None:
    if object in dtypes_of(obj.node.meta):
        raise NotImplementedError(
            f"{name}() of objects is not supported, since all rows tell; use astype()"
        )


def xs(
    obj: Any, key: Any, axis: Any = 0, level: Any = None, drop_level: bool = True
) -> DataFrame | Series | Tensor:
    """Return the rows or the column of a label. See pandas.DataFrame.xs.

    Counts the rows.
    """
    if axis_number(obj.node.meta, axis) == 1:
        columns: DataFrame | Series = _columns_at(obj, key, level, drop_level)
        return columns
    if level is None and (drop_level or obj.node.meta.index.nlevels == 1):
        values: DataFrame | Series | Tensor = obj.loc[key]
        return values
    if level is None:
        keys = key if isinstance(key, tuple) else (key,)
        mask = rowwise(at_levels, obj, keys=keys, levels=tuple(range(len(keys))))
        rows: DataFrame | Series = obj[mask]
        if not len(rows):
            raise KeyError(key)
        return rows
    labels = obj.node.meta.index
    if labels.nlevels == 1:
        raise TypeError("Index must be a MultiIndex")
    keys, levels = (key, level) if isinstance(level, list | tuple) else ((key,), (level,))
    places = tuple(map(labels._get_level_number, levels))
    matches: DataFrame | Series = obj[rowwise(at_levels, obj, keys=tuple(keys), levels=places)]
    if not len(matches):
        raise KeyError(key)
    if not drop_level or len(levels) == obj.node.meta.index.nlevels:
        return matches
    result: DataFrame | Series = rowwise(NewLabels(Method("droplevel")), matches, level)
    return result


def _columns_at(frame: Any, key: Any, level: Any, drop_level: bool) -> Any:
    """Return the columns of a label, or of a label of a level."""
    labels = frame.columns
    if level is None and labels.nlevels == 1 and drop_level:
        return frame[key]
    places = pd.DataFrame([range(len(labels))], columns=labels)
    table = places.xs(key, axis=1, level=level, drop_level=drop_level)
    if table.ndim == 1 and not isinstance(labels.get_loc(key), slice | np.ndarray):
        return frame[key]
    columns = frame.iloc[:, table.iloc[0].tolist()]
    columns.columns = table.columns
    return columns


@row_function(no_columns)
def at_levels(block: Any, keys: tuple[Any, ...], levels: tuple[int, ...]) -> Any:
    """Tell of each row whether some levels of its label are keys."""
    pairs = zip(keys, levels, strict=True)
    values = [level_at(block.index, level) == key for key, level in pairs]
    return pd.Series(np.logical_and.reduce(values), index=block.index)


def at_level(block: Any, key: Any, level: Any) -> Any:
    """Tell of each row whether a level of its label is a key."""
    return pd.Series(block.index.get_level_values(level) == key, index=block.index)
