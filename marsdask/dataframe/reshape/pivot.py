"""Tables by two sets of keys: those of rows, and those of columns."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from pandas.api.extensions import ExtensionArray, no_default
from pandas.api.types import is_object_dtype

from marsdask.core.collection import Collection, compute
from marsdask.core.public import public_call
from marsdask.core.snapshots.functions import function_name

from ..create import from_pandas
from ..elementwise.rowwise import Method, column_of, relabelled, renamed, rowwise
from ..labels.group_labels import LevelNumber
from ..nodes.frame_node import as_node, dtypes_of
from ..rows import level_at, levels_in, without_names
from ..schemas.samples import row
from ..whole.fallback import function_with_fallback
from .explode import inferred_objects
from .stack import types_of_levels, widened

if TYPE_CHECKING:
    from ..frame import DataFrame


@public_call
@function_with_fallback
def pivot(
    data: DataFrame, *, columns: Any, index: Any = no_default, values: Any = no_default
) -> DataFrame:
    """Return a column for each value of some columns. See pandas.DataFrame.pivot.

    Computes the labels of the new columns at the call.
    """
    meta = as_node(data).meta
    like = meta.pivot(columns=columns, index=index, values=values)  # raises pandas's errors
    own = index is no_default
    rows, names = [] if own else _listed(index), _listed(columns)
    indexed: Any = data.set_index([*rows, *names], append=own, drop=values is no_default)
    first = meta.index.nlevels if own else len(rows)
    if values is not no_default:
        indexed = indexed[values]
        if indexed.ndim == 1:
            indexed = inferred_objects(rowwise(renamed, indexed, name=None))
        else:
            indexed = _of_one_type(indexed)
    levels = list(range(first, first + len(names)))
    result = widened(indexed, list(range(first)), levels, None)
    if result.node.meta.index.names != like.index.names:  # a text column named None has another
        result = result.rename_axis(index=list(like.index.names))
    return result


def _listed(labels: Any) -> list[Any]:
    several = pd.api.types.is_list_like(labels) and not isinstance(labels, Collection)
    return list(labels) if several else [labels]


def _of_one_type(frame: Any) -> Any:
    """Return columns of the types that they have as one array, as pandas makes of chosen values."""
    small = row(frame.node.meta)
    array, own = small.to_numpy(), dtypes_of(small)
    if not any(map(is_object_dtype, own)) and list(pd.DataFrame(array).dtypes) == own:
        return frame
    table = rowwise(Method("astype"), frame, array.dtype)
    return inferred_objects(table) if is_object_dtype(array.dtype) else table


@public_call
@function_with_fallback
def pivot_table(
    data: DataFrame,
    values: Any = None,
    index: Any = None,
    columns: Any = None,
    aggfunc: Any = "mean",
    fill_value: Any = None,
    margins: bool = False,
    dropna: bool = True,
    margins_name: Hashable = "All",
    observed: bool = True,
    sort: bool = True,
    **kwargs: Any,
) -> DataFrame:
    """Aggregate values by keys of rows and of columns. See pandas.DataFrame.pivot_table.

    Computes the labels of the columns at the call; with ``margins``, several functions, or without
    ``index``, all groups.
    """
    if not (dropna and sort):
        raise NotImplementedError(
            "pivot_table(dropna=False, sort=False) is not supported; use groupby() and unstack()"
        )
    rows, names = _keys(data, index), _keys(data, columns)
    several = values is None or pd.api.types.is_list_like(values)
    keys = [*rows, *names]
    selection = _values(data, values, keys)
    labels = dict.fromkeys([*keys, *selection])
    inputs = [label for label in labels if label in data.columns]
    frame = rowwise(column_of, data, key=inputs)

    def table(func: Any) -> Any:
        groups = Groups(frame, rows, names, selection, func, kwargs, observed)
        result = groups.table(fill_value, margins_name if margins else None)
        if rows and not several and result.ndim == 2 and result.columns.nlevels > 1:
            labels: Any = result.columns
            result = rowwise(relabelled, result, columns=labels.droplevel(0))
        return result

    if not isinstance(aggfunc, list):
        single: DataFrame = table(aggfunc)
        return single
    titles = [function_name(item) if callable(item) else item for item in aggfunc]
    block: Any = pd.concat(compute(*map(table, aggfunc)), keys=titles, axis=1)
    result: DataFrame = from_pandas(block)
    return result


def _keys(data: DataFrame, by: Any) -> list[Any]:
    """Return the columns and levels that are keys."""
    labels = [] if by is None else _listed(by)
    for label in [by, *labels] if isinstance(by, np.ndarray | ExtensionArray) else labels:
        values = isinstance(label, Collection | pd.Grouper | np.ndarray | ExtensionArray)
        if not isinstance(label, Hashable) or callable(label) or values:
            raise NotImplementedError(
                "pivot_table() by other keys than columns is not supported; use assign() first"
            )
        if label not in data.columns and label not in data.node.meta.index.names:
            raise KeyError(label)
    return labels


def _values(data: DataFrame, values: Any, keys: list[Any]) -> list[Any]:
    """Return the columns that are aggregated."""
    if not keys:
        raise ValueError("No group keys passed!")
    if not data.columns.is_unique:
        raise NotImplementedError(
            "pivot_table() of columns of equal labels is not supported; use set_axis(axis=1)"
        )
    labels = [key for key in data.columns if key not in keys] if values is None else _listed(values)
    for key in labels:
        if key not in data.columns:
            raise KeyError(key)
    if not labels:
        raise NotImplementedError(
            "pivot_table() without columns to aggregate is not supported; use crosstab()"
        )
    return labels


@dataclass(frozen=True)
class Groups:
    """Values of a frame that are aggregated by keys of rows and of columns."""

    frame: DataFrame
    rows: list[Any]
    columns: list[Any]
    values: list[Any]
    func: Any
    kwargs: dict[str, Any]
    observed: bool

    def by(self, keys: Any, frame: Any = None) -> Any:
        """Return the aggregated values of each group, of other rows only of groups with rows."""
        observed = self.observed or frame is not None
        frame = self.frame if frame is None else frame
        return frame.groupby(keys, observed=observed)[self.values].agg(self.func, **self.kwargs)

    @property
    def _levels(self) -> list[LevelNumber]:
        """The levels of the keys of columns, behind those of rows."""
        return list(map(LevelNumber, range(len(self.rows), len(self.rows) + len(self.columns))))

    def table(self, fill_value: Any, margins_name: Any) -> Any:
        """Return the table, with margins if these have a name."""
        if margins_name is None and isinstance(self.func, str) and self.func == "size":
            return self.sizes(fill_value)
        if margins_name is None and self.rows:
            return self.wide(fill_value)
        return from_pandas(self.small(fill_value, margins_name))

    def sizes(self, fill_value: Any) -> Any:
        """Return the numbers of rows lazily: a series unless there are keys of columns."""
        sizes = self.by([*self.rows, *self.columns])
        if not (self.rows and self.columns):
            return sizes
        table = widened(sizes, list(range(len(self.rows))), self._levels, fill_value)
        order = pd.DataFrame(columns=table.columns).sort_index(axis=1).columns
        if not order.equals(table.columns):
            table = rowwise(column_of, table, key=list(order))
        return table if fill_value is None else table.fillna(fill_value)

    def wide(self, fill_value: Any) -> Any:
        """Return the table lazily; which columns there are is computed."""
        groups = self.by([*self.rows, *self.columns])
        long = groups.dropna(how="all")
        if not self.columns:
            counts = long.count().compute()
            table, has_values = long, {label: bool(counts[label]) for label in long.columns}
        else:
            counts = long.groupby(level=self._levels).count().compute()
            labels = pd.DataFrame(dict(enumerate(levels_in(counts.index))))
            labels = labels.astype(types_of_levels(groups, self._levels))
            table = widened(long, list(range(len(self.rows))), self._levels, fill_value, labels)
            places = dict(zip(counts.index, counts.to_numpy(), strict=True))
            at = {label: position for position, label in enumerate(counts.columns)}
            first = long.columns.nlevels
            pairs = [(_label(column[:first]), _label(column[first:])) for column in table.columns]
            flags = [key in places and bool(places[key][at[value]]) for value, key in pairs]
            has_values = dict(zip(table.columns, flags, strict=True))
        order = pd.DataFrame(columns=table.columns).sort_index(axis=1).columns
        full = [label for label in order if has_values[label] or fill_value is not None]
        table = rowwise(column_of, table, key=full)
        return table if fill_value is None else table.fillna(fill_value)

    def small(self, fill_value: Any, margins_name: Any) -> pd.DataFrame:
        """Return the computed table, with margins if these have a name."""
        if margins_name is not None:
            if not self.rows:
                raise NotImplementedError(
                    "pivot_table(margins=True) without index= is not supported; use margins=False"
                )
            table = self._with_margins(fill_value, margins_name)
        else:
            table = _laid_out(self.by(self.columns).compute(), [], fill_value).T
        result: pd.DataFrame = table.dropna(how="all", axis=1)
        return result

    def _with_margins(self, fill_value: Any, name: str) -> Any:
        complete = self.frame.dropna()
        all_rows = complete[self.values[0]].isna()
        groups, by_rows, by_columns, grand = compute(
            self.by([*self.rows, *self.columns]),
            self.by(self.rows, complete),
            self.by(self.columns or self.rows, complete),
            self.by([all_rows], complete),
        )
        table = _laid_out(groups, self._levels, fill_value)
        axes = [table.index, table.columns] if self.columns else [table.index]
        if any(name in labels.get_level_values(at) for labels in axes for at in labels.names if at):
            raise ValueError(f'Conflicting name "{name}" in margins')
        totals = {label: column.iloc[0] for label, column in grand.items() if len(column)}
        if not len(grand) and isinstance(self.func, str):
            meta = self.frame.node.meta
            totals = {label: getattr(meta[label], self.func)() for label in self.values}
        if self.columns and not len(table.columns):
            return table
        if not self.columns:
            margin = pd.Series(totals, dtype=object)
        else:
            table, margin = _with_column_margins(table, by_rows, by_columns, totals, name)
        key = (name, *[""] * (len(self.rows) - 1)) if len(self.rows) > 1 else name
        return _with_row(table, margin.infer_objects(), key, fill_value)


def _label(parts: tuple[Any, ...]) -> Any:
    """Return the label of some levels: of one level its own."""
    return parts if len(parts) > 1 else parts[0]


def _laid_out(groups: Any, levels: Sequence[int], fill_value: Any) -> Any:
    """Return groups with the keys of columns as column labels."""
    table = groups.dropna(how="all")
    if levels:
        names = table.index.names
        table = table.set_axis(without_names(table.index)).unstack(levels, fill_value=fill_value)
        table.columns.names = [*table.columns.names[: -len(levels)], *names[levels[0] :]]
        table.index.names = names[: levels[0]]
    table = table.sort_index(axis=1)
    return table if fill_value is None else table.fillna(fill_value)


def _with_column_margins(
    table: Any, by_rows: Any, by_columns: Any, totals: dict[Any, Any], name: str
) -> tuple[Any, Any]:
    """Return a table with a margin behind the columns of each value, and the margin of rows."""
    pieces = []
    for value in dict.fromkeys(level_at(table.columns, 0)):
        piece = table.loc[:, [value]].copy()
        piece[(value, name, *[""] * (table.columns.nlevels - 2))] = by_rows[value]
        pieces.append(piece)
    margin = by_columns.stack(list(range(by_columns.columns.nlevels)))
    margin = margin.set_axis(without_names(margin.index)).reorder_levels(
        [margin.index.nlevels - 1, *range(margin.index.nlevels - 1)]
    )
    for value, total in totals.items():
        margin[(value, name, *[""] * (table.columns.nlevels - 2))] = total
    return pd.concat(pieces, axis=1), margin


def _with_row(table: Any, margin: Any, key: Any, fill_value: Any) -> Any:
    """Return a table with a row of totals, of the types of the columns where they fit."""
    margin = margin.reindex(table.columns, fill_value=fill_value)
    last = pd.DataFrame(margin, columns=pd.Index([key])).T
    for at, dtype in enumerate(table.dtypes):
        last.isetitem(at, _downcast(last.iloc[:, at], dtype))
    last.columns = table.columns
    return pd.concat([table, last]).rename_axis(index=table.index.names)


def _downcast(column: Any, dtype: Any) -> Any:
    """Return a column of a type, if this changes no value."""
    try:
        result = column.astype(dtype)
    except (TypeError, ValueError):
        return column
    return result if dtype == "object" or (result == column).all() else column
