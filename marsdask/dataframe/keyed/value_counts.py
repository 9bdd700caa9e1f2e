"""How often values and rows occur, and which occur most often."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar
from typing import cast as typed

import numpy as np
import pandas as pd

from marsdask.core.traits import Level

from ..elementwise.astype import as_plain_numbers
from ..elementwise.column_selection import numeric_part
from ..elementwise.rowwise import NewLabels, column_of, renamed, rowwise
from ..nodes.dtypes import in_one_type
from ..nodes.frame_node import FrameNode, axis_number, dtypes_of, is_masked, is_row
from ..nodes.traits import dtype_of_key
from ..ordered.sort_values import sort_values
from ..reduction.aggregate import scalar_of
from ..reduction.column_blocks import PandasCall, column_blocks, of_all_rows
from ..reduction.fold import FrameFold, assembled
from ..reduction.quantiles import columns_of
from ..reduction.reductions import collection_of, one_row
from .groupby import groupby

if TYPE_CHECKING:
    from ..frame import DataFrame
    from ..series import Series


def value_counts(
    obj: Series,
    normalize: bool = False,
    sort: bool = True,
    ascending: bool = False,
    bins: Any = None,
    dropna: bool = True,
) -> Series:
    """Count each distinct value, the most frequent first. See pandas.Series.value_counts.

    Counts of objects, of categories, of ``bins`` and of missing masked values are one chunk.
    """
    if bins is not None:
        how = {"sort": sort, "ascending": ascending, "dropna": dropna}
        return _counts_in_bins(obj, bins, normalize, **how)
    counts = _counts(obj, dropna=dropna)
    if isinstance(obj.node.meta.dtype, pd.CategoricalDtype):
        like = counts.node.meta
        counts = assembled(with_all_categories, [counts], like, title="value_counts", sized=False)
    elif is_masked(obj.node.meta.dtype) and not dropna:
        like = counts.node.meta
        counts = assembled(missing_last, [counts], like, title="value_counts", sized=False)
    if normalize:
        counts = counts / counts.sum()
    # Counts of masked types are masked, too.
    meta = obj.node.meta.value_counts(normalize=normalize)
    if counts.dtype != meta.dtype:
        counts = counts.astype(meta.dtype)
    return _ordered(counts, meta.name, sort=sort, ascending=ascending)


def _ordered(counts: Series, name: Any, *, sort: bool, ascending: bool) -> Series:
    series: Series = rowwise(renamed, counts, name=name)
    return sort_values(series, ascending=ascending) if sort else series


def _counts(obj: Series, *, dropna: bool) -> Series:
    """Return the number of each value, in order of first occurrence."""
    name = obj.node.meta.name
    if obj.node.meta.dtype == object:
        return _counts_of_objects(obj, dropna=dropna)
    frame = obj.to_frame("values" if name is None else name)
    frame = rowwise(NewLabels(without_label_names), frame)  # which would be keys, too
    sizes: Series = groupby(frame, list(frame.columns), sort=False, dropna=dropna).size()
    return typed("Series", rowwise(unnamed_index, sizes)) if name is None else sizes


def _counts_of_objects(obj: Series, *, dropna: bool) -> Series:
    """Count objects as they are: groups infer other types, and merge what is missing."""
    like = obj.node.meta.value_counts()
    how = {"dropna": dropna, "name": obj.node.meta.name}
    steps = (object_counts, merge_counts, finish_counts)
    rows = in_one_type(obj.node)
    fold = CountsOfObjects(like, None, False, "value_counts", rows, steps, tuple(how.items()))
    result: Series = collection_of(fold)
    return result


@dataclass(frozen=True, eq=False)
class CountsOfObjects(FrameFold):
    """The number of each value of declared objects, whose type the rows may tell."""

    skips_empty: ClassVar[bool] = False


def object_counts(block: Any) -> tuple[Any, Any, Any]:
    """Return the distinct objects of a chunk, how often each occurs, and their type."""
    counts = block.value_counts(sort=False, dropna=False)
    return counts.index.to_numpy(object), counts.to_numpy(), block.dtype


def merge_counts(a: Any, b: Any) -> tuple[Any, Any, Any]:
    """Add the counts of two runs of rows."""
    kinds = {kind for values, _, kind in (a, b) if len(values)} or {a[2]}
    kind = kinds.pop() if len(kinds) == 1 else np.dtype(object)
    values, counts = (np.concatenate(pair) for pair in zip(a[:2], b[:2], strict=True))
    distinct = pd.Series(values, dtype=object).drop_duplicates().to_numpy()
    places = pd.Index(distinct, dtype=object).get_indexer(pd.Index(values, dtype=object))
    return distinct, np.bincount(places, counts, len(distinct)).astype(np.int64), kind


def finish_counts(found: Any, *, dropna: bool, name: Any) -> Any:
    """Return the counts by object."""
    values, counts, kind = found
    index = pd.Index(values, dtype=object, name=name).astype(kind)
    series = pd.Series(counts, index, name="count")
    return series[index.notna()] if dropna else series


def unnamed_index(block: Any) -> Any:
    """Return a series whose index has no name."""
    return block.rename_axis(None)


def missing_last(counts: Any) -> Any:
    """Return the counts with that of missing values behind the others."""
    return counts.iloc[np.argsort(counts.index.isna(), kind="stable")]


def with_all_categories(counts: Any) -> Any:
    """Return the counts in the order of the categories, 0 for those that do not occur."""
    labels = counts.index
    if not isinstance(labels.dtype, pd.CategoricalDtype):
        return counts  # a function gave something for missing values, which are no category
    codes = np.arange(len(labels.categories))
    if (labels.codes < 0).any():
        codes = np.append(codes, -1)
    series = pd.Series(counts.to_numpy(), labels.codes).reindex(codes, fill_value=0)
    index = pd.Categorical.from_codes(codes, dtype=labels.dtype)
    return series.set_axis(pd.CategoricalIndex(index, name=labels.name)).rename(counts.name)


def _counts_in_bins(obj: Series, bins: Any, normalize: bool, **options: bool) -> Series:
    """Count the values in intervals."""
    obj = obj if is_row(obj.node) else as_plain_numbers(obj)
    node, meta, several = obj.node, obj.node.meta, np.ndim(bins) > 0
    own = isinstance(meta.dtype, np.dtype | pd.DatetimeTZDtype) or is_masked(meta.dtype)
    kind = getattr(meta.dtype, "kind", "O") if own else "O"
    opens = isinstance(node, FrameNode) and (node.types_by_rows or node.opens_types)
    chunks_tell = kind == "O" and (opens or meta.dtype == "object")  # which may be numbers
    if kind not in "biufmM" and not chunks_tell:
        raise TypeError("bins argument only works with numeric data.")
    if not several and kind in "mM":
        raise NotImplementedError(
            "value_counts(bins=) of times by a number is not supported; use a list of borders"
        )
    if is_row(node):
        how = {"bins": bins, "normalize": normalize, **options}
        call = PandasCall("value_counts", options=tuple(how.items()))
        alone: Series = of_all_rows(obj, call, one_row(meta).value_counts(**how))
        return alone
    ends = () if several else (obj.min(), obj.max())
    counts = _counts(rowwise(bin_numbers, obj, *ends, bins=bins), dropna=True)
    labels = pd.cut(meta if several else pd.Series([0.0, 1.0]), bins).cat.categories[:0]
    like = pd.Series([], labels, float if normalize else int, name=_title(normalize))
    how = {"none": meta, "bins": bins, "normalize": normalize, **options}
    result: Series = assembled(
        counts_of_bins, (counts, *ends), like, title="value_counts", sized=False, **how
    )
    return result


def _title(normalize: bool) -> str:
    return "proportion" if normalize else "count"


def bin_numbers(block: Any, *ends: Any, bins: Any) -> Any:
    """Return the number of each value's interval, -1 for none."""
    return pd.cut(block, _borders(bins, ends), include_lowest=True).cat.codes


def _borders(bins: Any, ends: tuple[Any, ...]) -> Any:
    """Return the borders of intervals, as many as wanted between the least and largest value."""
    return pd.cut(_pair(ends), bins, include_lowest=True, retbins=True)[1] if ends else bins


def _pair(ends: tuple[Any, ...]) -> pd.Series:
    """Return the least and the largest value as a series."""
    return pd.Series(list(map(scalar_of, ends)))


def counts_of_bins(
    counts: Any,
    *ends: Any,
    none: Any,
    bins: Any,
    normalize: bool,
    sort: bool,
    ascending: bool,
    dropna: bool,
) -> Any:
    """Label the counts of intervals, 0 for those without values."""
    intervals = pd.cut(_pair(ends) if ends else none, bins, include_lowest=True)
    labels = intervals.cat.categories
    result = pd.Series(counts.reindex(range(len(labels)), fill_value=0).to_numpy(), labels)
    if dropna and (result == 0).all():
        result = result.iloc[:0]
    if sort:
        result = result.sort_values(ascending=ascending, kind="stable")
    return (result / counts.sum() if normalize else result).rename(_title(normalize))


def row_counts(
    frame: DataFrame,
    subset: Any = None,
    normalize: bool = False,
    sort: bool = True,
    ascending: bool = False,
    dropna: bool = True,
) -> Series:
    """Count each distinct row, the most frequent first. See pandas.DataFrame.value_counts."""
    several = subset is None or pd.api.types.is_list_like(subset)
    by = list(frame.node.meta.columns if subset is None else subset) if several else [subset]
    columns, names = frame.node.meta.columns, frame.node.meta.index.names
    levels = [names.index(label) for label in by if label not in columns and label in names]
    others = [label for label in by if label in columns or label not in names]
    rows = rowwise(column_of, frame, key=others)
    meta = rows.node.meta
    dtypes = [*dtypes_of(meta), *(dtype_of_key(meta, Level(number)) for number in levels)]
    if any(isinstance(dtype, pd.CategoricalDtype) for dtype in dtypes):
        raise NotImplementedError(
            "value_counts() of rows with categories is not supported, since it counts pairs that "
            "do not occur; use groupby(columns, sort=False).size()"
        )
    how = {"normalize": normalize, "sort": sort, "ascending": ascending, "dropna": dropna}
    if not levels and len(column_blocks(rows)) == 1:
        call = PandasCall("value_counts", options=tuple(how.items()))
        together: Series = of_all_rows(rows, call, one_row(meta).value_counts(**how))
        return together
    counts = groupby(rows, by, sort=False, dropna=dropna).size()
    if several and len(by) == 1:
        counts = rowwise(NewLabels(labelled_by_one), counts)
    if normalize:
        counts = counts / counts.sum()
    return _ordered(counts, _title(normalize), sort=sort, ascending=ascending)


def without_label_names(block: Any) -> Any:
    """Return rows whose labels have no names."""
    return block.set_axis(block.index.set_names([None] * block.index.nlevels))


def labelled_by_one(block: Any) -> Any:
    """Return a series with a MultiIndex of one level."""
    return block.set_axis(pd.MultiIndex.from_arrays([block.index], names=[block.index.name]))


def _most_frequent(obj: Series, *, dropna: bool) -> Series:
    """Return the values of the largest count, in order of first occurrence."""
    counts = _counts(obj, dropna=dropna)
    most = counts[counts == counts.max()]
    meta = obj.node.meta
    bytes_of_width = meta.dtype if meta.dtype.kind == "S" else None
    values: Series = rowwise(
        NewLabels(labels_as_values), most, name=meta.name, dtype=bytes_of_width
    )
    return values


def labels_as_values(block: Any, name: Any, dtype: Any = None) -> Any:
    """Return the labels of rows as values, labelled from 0; bytes of a width are no labels."""
    labels = block.index if dtype is None else block.index.to_numpy()
    return pd.Series(labels, dtype=dtype or block.index.dtype, name=name)


def mode(series: Series, dropna: bool = True) -> Series:
    """Return the most frequent values, in order. See pandas.Series.mode.

    They are one chunk.
    """
    values = _most_frequent(series, dropna=dropna)
    like = series.node.meta.set_axis(pd.RangeIndex(0))
    result: Series = assembled(modes, [values], like, title="mode", sized=False, dropna=dropna)
    return result


def modes(values: Any, dropna: bool) -> Any:
    """Return values that occur once each, in the order of pandas's modes."""
    return values.mode(dropna=dropna)


def column_modes(
    frame: DataFrame, axis: Any = 0, numeric_only: bool = False, dropna: bool = True
) -> DataFrame:
    """Return the most frequent values of each column, in order. See pandas.DataFrame.mode.

    They are one chunk.
    """
    if axis_number(frame.node.meta, axis) == 1:
        raise NotImplementedError(
            "mode(axis=1) is not supported; use apply(axis=1) with a function of one row"
        )
    if numeric_only:
        frame = numeric_part(frame)
    meta = frame.node.meta
    like = meta.set_axis(pd.RangeIndex(0))
    options: dict[str, Any] = {"title": "mode", "sized": False}
    if blocks := column_blocks(frame):
        call = PandasCall("mode", options=(("dropna", dropna),))
        places = [slice(block.start, block.stop) for block in blocks]
        parts = [assembled(call, [frame.iloc[:, p]], like.iloc[:, p], **options) for p in places]
        wide: DataFrame = assembled(modes_of_blocks, parts, like, **options)
        return wide
    values = [_most_frequent(column, dropna=dropna) for column in columns_of(frame)]
    options |= {"columns": meta.columns, "dropna": dropna}
    result: DataFrame = assembled(modes_beside, values, like, **options)
    return result


def modes_of_blocks(*blocks: Any) -> Any:
    """Return the modes of blocks of columns beside each other."""
    return pd.concat(blocks, axis=1)


def modes_beside(*values: Any, columns: Any, dropna: bool) -> Any:
    """Return the modes of columns beside each other, missing values below the shorter ones."""
    frame = pd.DataFrame({at: series.mode(dropna=dropna) for at, series in enumerate(values)})
    return frame.set_axis(columns, axis=1)
