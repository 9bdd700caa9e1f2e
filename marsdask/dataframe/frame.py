"""The DataFrame: a lazy table."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import TYPE_CHECKING, Any, Final, overload

import numpy as np
import pandas as pd
from pandas.api.extensions import ExtensionArray

from marsdask.core.arguments import keeps_lazy, plain_values
from marsdask.core.collection import Collection, rebind, register_collection
from marsdask.core.node import Node
from marsdask.core.public import public_methods
from marsdask.core.session import Session
from marsdask.core.sizes import total
from marsdask.tensor.tensor import method

from . import batches
from .arguments.dask_arguments import IGNORED, ignore_arguments
from .arguments.pandas_arguments import checked_arguments
from .create import as_lazy, make_frame
from .elementwise import apply as users
from .elementwise import combine as combine_two
from .elementwise import expressions
from .elementwise.column_selection import columns_of_levels
from .elementwise.operands import aligned_tensor, aligned_values, is_mask, labelled_values
from .elementwise.rowwise import (
    by_column,
    column_of,
    relabelled,
    rowwise,
    with_columns,
)
from .elementwise.values import cells_where
from .frame_base import FrameBase
from .io import arrow, conversions, parquet, sql, text, whole_files
from .io import json as json_files
from .keyed import unique, value_counts
from .keyed.join import join
from .keyed.join import merge as merge_frames
from .labels import names
from .labels.assignment import assign_items, assign_where
from .labels.lazy_columns import frame_of_lazy, frame_of_records, has_lazy_columns
from .labels.loc import rows_sliced
from .labels.masks import check_one_column, label_in_memory, listed_key
from .labels.progressions import as_ranges
from .nodes.frame_node import PlainValues, is_array
from .ordered import rank
from .plotting import box, histogram
from .reduction import aggregate, extremes, pairs, quantiles
from .reshape.explode import explode
from .reshape.melt import melt
from .reshape.pivot import pivot, pivot_table
from .reshape.stack import stack, unstack
from .reshape.transpose import transpose
from .whole.fallback import missing_attribute, with_fallback
from .whole.missing_names import CONVERSIONS

if TYPE_CHECKING:
    from marsdask.tensor import Tensor

    from .series import Series


#: Pandas's message for keys that are no labels of columns, a template for their type.
NO_KEYS = (
    'The parameter "keys" may be a column key, one-dimensional array, or a list containing only '
    "valid column keys and one-dimensional arrays.. Received column of type {}"
)


def _has_rows(value: Any) -> bool:
    """Tell whether a column is given as values in memory."""
    if isinstance(value, np.ndarray):
        return value.ndim > 0 and len(value) > 0
    kinds: Any = (list, tuple, range, pd.Series, pd.Index, ExtensionArray)
    return isinstance(value, kinds) and len(value) > 0


@ignore_arguments(IGNORED)
@checked_arguments(pd.DataFrame)
@public_methods
@with_fallback
class DataFrame(FrameBase):
    """A lazy table in chunks of rows, with the methods of pandas, Mars and Dask.

    ``pd.DataFrame(df)`` keeps the values, but loses the labels. Use ``df.to_pandas()`` or
    ``pd.DataFrame.from_arrow(df)``.
    """

    __slots__ = ("_labels",)

    if TYPE_CHECKING:  # the types of the values

        def fetch(
            self, session: Session | None = None, *, batch_size: int | None = None
        ) -> pd.DataFrame: ...
        def compute(
            self, *, session: Session | None = None, **dask_options: Any
        ) -> pd.DataFrame: ...

    def __init__(
        self,
        data: Any = None,
        index: Any = None,
        columns: Any = None,
        dtype: Any = None,
        copy: bool | None = True,
        *,
        session: Session | None = None,
        chunk_size: Any = None,
        num_partitions: int | None = None,
    ) -> None:
        if has_lazy_columns(data):
            data = frame_of_lazy(data, index, columns, dtype).node
        elif not isinstance(data, Node):
            how = (chunk_size, num_partitions)
            data = make_frame(data, index, columns, dtype, *how, copy=copy is not False).node
        self._labels: tuple[str, pd.Index[Any]] | None = None
        """The column labels that a user has, whose names may be set, and the node's name."""
        super().__init__(data, session)

    @property
    def node(self) -> Node:
        """The operation behind it; column labels have the names that a user gave them."""
        node = super().node
        if self._labels is None:
            return node
        name, labels = self._labels
        if name == node.name and list(labels.names) != list(node.meta.columns.names):
            self._labels = None
            self.columns = labels
            return super().node
        return node

    @classmethod
    def from_dict(
        cls,
        data: Any,
        orient: str = "columns",
        dtype: Any = None,
        columns: Any = None,
        *,
        npartitions: int | None = None,
    ) -> DataFrame:
        """Return a lazy frame of a dict of columns or rows. See pandas.DataFrame.from_dict."""
        make: Any = pd.DataFrame.from_dict
        return cls(make(data, orient, dtype, columns), num_partitions=npartitions)

    @classmethod
    def from_records(cls, data: Any, *args: Any, **options: Any) -> DataFrame:
        """Return a lazy frame of records, lazy ones too. See pandas.DataFrame.from_records."""
        if isinstance(data, Collection):
            return frame_of_records(data, *args, **options)
        return cls(pd.DataFrame.from_records(data, *args, **options))

    @property
    def columns(self) -> pd.Index[Any]:
        """The column labels."""
        node = self._node
        if self._labels is None or self._labels[0] != node.name:
            self._labels = (node.name, node.meta.columns.view())
        return self._labels[1]

    @columns.setter
    def columns(self, labels: Any) -> None:
        rebind(self, rowwise(relabelled, self, columns=names.as_labels(labels)).node)

    @property
    def dtypes(self) -> pd.Series[Any]:
        """The type of each column."""
        dtypes: pd.Series[Any] = self._meta.dtypes
        return dtypes

    @property
    def shape(self) -> tuple[int | float, ...]:
        """The numbers of rows and columns; that of rows is nan if it is unknown."""
        return (*super().shape, len(self.columns))

    @property
    def ndim(self) -> int:
        """The number of axes, 2."""
        return 2

    def __setattr__(self, name: str, value: Any) -> None:
        own = hasattr(type(self), name)
        if not own and name in self.columns:
            self[name] = value
        else:
            super().__setattr__(name, value)

    def __getattr__(self, name: str) -> Series:
        if not name.startswith("_") and name in self._node.meta.columns:
            return self[name]
        attribute: Series = missing_attribute(self, name, pd.DataFrame, CONVERSIONS)
        return attribute

    def __dir__(self) -> list[str]:
        names = [name for name in self.columns if isinstance(name, str) and name.isidentifier()]
        return [*super().__dir__(), *names]

    @overload
    def __getitem__(  # type: ignore[overload-overlap]  # some of them can be hashed
        self,
        key: Collection
        | pd.Series[bool]
        | pd.Index[Any]
        | list[Any]
        | np.ndarray[Any, Any]
        | slice[Any, Any, Any],
    ) -> DataFrame: ...
    @overload
    def __getitem__(self, key: Hashable) -> Series: ...
    def __getitem__(self, key: Any) -> Any:
        key = key(self) if callable(key) and not isinstance(key, Collection) else key
        if isinstance(key, Collection) and not isinstance(key.node.meta, pd.Series):
            key = label_in_memory(key)
        if isinstance(key, pd.DataFrame):
            key = labelled_values(self, key, "where")
        if isinstance(key, Collection) and isinstance(key.node.meta, pd.DataFrame):
            return cells_where(self, key)
        if isinstance(key, Collection) or (isinstance(key, pd.Series) and is_mask(key)):
            return self._filtered(key)
        if isinstance(key, slice):
            return rows_sliced(self, key)
        if isinstance(key, tuple) and any(isinstance(part, slice | list) for part in key):
            return columns_of_levels(self, key)
        key = listed_key(key)
        if isinstance(key, list | np.ndarray | pd.Index | pd.Series):
            if is_mask(key):
                complaint = "Item wrong length {} instead of {}."
                return self._filtered(aligned_values(self, np.asarray(key, bool), complaint))
            key = list(key)
        # Equal labels have one name: those that pandas returns are NumPy's.
        return rowwise(column_of, self, key=int(key) if isinstance(key, np.integer) else key)

    @keeps_lazy("arguments")
    def __setitem__(self, name: Any, value: Any) -> None:
        if isinstance(name, Collection):
            assign_where(self, name, value)
        elif isinstance(name, list | np.ndarray | pd.Index):
            assign_items(self, name, value)
        elif isinstance(name, slice):
            raise NotImplementedError(
                "frame[start:stop] = is not supported; use iloc[start:stop] = or loc[start:stop] ="
            )
        else:
            check_one_column(self, name, value)
            rebind(self, self._with({name: value}).node)

    @keeps_lazy("arguments")
    def assign(self, **columns: Any) -> DataFrame:
        """Return the frame with columns added or replaced; functions are called with the frame."""
        frame = self
        for name, value in columns.items():
            frame = frame._with({name: value(frame) if callable(value) else value})
        return frame

    def _with(self, columns: dict[Any, Any]) -> DataFrame:
        if not any(self.node.chunks[0]) and any(map(_has_rows, columns.values())):
            rows = self.node.meta.copy()  # which takes the labels of the values
            for name, value in columns.items():
                rows[name] = value
            frame: DataFrame = as_lazy(rows)
            return frame
        values = [self._column(value) for value in columns.values()]
        return self._changed(with_columns, *values, names=tuple(columns))

    def _changed(self, func: Callable[..., Any], *args: Any, **kwargs: Any) -> DataFrame:
        frame: DataFrame = rowwise(func, self, *args, **kwargs)
        return frame

    def _column(self, value: Any) -> Any:
        complaint = "Length of values ({}) does not match length of index ({})"
        if isinstance(value, pd.Series):
            return labelled_values(self, value, "assign")
        if isinstance(value, dict):
            raise NotImplementedError("a dict as a column is not supported; use its values")
        if isinstance(value, set | frozenset):
            raise TypeError(f"{type(value).__name__!r} type is unordered")
        if isinstance(value, list | tuple | range):
            # Lists and arrays in it are values, not rows; of no values pandas makes floats.
            value = pd.Series(list(value), dtype=None if len(value) else float).array
        if isinstance(value, np.ndarray) and value.ndim == 0:
            return value[()]
        if isinstance(value, np.ndarray | pd.Index | ExtensionArray):
            if len(value) and total(self._node.chunks[0]) == 0:
                raise NotImplementedError(
                    "values for the rows of a frame that has none are not supported; use "
                    "md.DataFrame(x)"
                )
            return aligned_values(self, value, complaint)
        if is_array(value):
            return aligned_tensor(self, value, complaint)
        return value

    @keeps_lazy("items")
    def set_index(
        self,
        keys: Any,
        *,
        drop: bool = True,
        append: bool = False,
        verify_integrity: bool = False,
        sort: bool = False,
        divisions: Any = None,
    ) -> DataFrame:
        """Use columns as row labels. See pandas.DataFrame.set_index.

        The order of the rows stays as in pandas. ``sort=True`` sorts them by their labels, as Dask
        does unless told not to; ``divisions`` also puts them in partitions by ranges of labels.
        """
        keys = [list(keys)] if isinstance(keys, Iterator) else plain_values(keys)
        keys = pd.Index(keys) if isinstance(keys, pd.Series) else keys
        arrays = np.ndarray | pd.Index
        for key in keys if isinstance(keys, list) else [keys]:
            if isinstance(key, ExtensionArray | PlainValues):
                raise TypeError(NO_KEYS.format(type(key)))
        if isinstance(keys, list) and len(keys) == 1 and isinstance(keys[0], arrays):
            keys = keys[0]
        elif isinstance(keys, list) and len(keys) == 1 and isinstance(keys[0], list):
            keys = self._column(keys[0])
        index = None if append else keys
        if isinstance(keys, list) and any(isinstance(key, arrays | Collection) for key in keys):
            raise NotImplementedError(
                "set_index() by a list with arrays or lazy rows is not supported; use assign() "
                "first, and their labels"
            )
        if isinstance(keys, arrays | Collection):
            keys = self._column(keys)
        rows = self._changed(by_column, key=keys, drop=drop, append=append)
        frame: DataFrame = names.in_frequency(as_ranges(rows), index)
        if verify_integrity and not frame.index.is_unique.compute():
            raise ValueError("Index has duplicate keys")
        if divisions is not None:
            return frame.repartition(divisions=divisions)
        return frame.sort_index() if sort else frame

    agg: Final = method(aggregate.aggregate)
    aggregate: Final = agg
    apply: Final = method(users.apply_rows)
    combine: Final = method(combine_two.combine_columns)
    boxplot: Final = method(box.boxplot)
    duplicated: Final = method(unique.duplicated)
    eval: Final = method(expressions.evaluate)
    map: Final = method(users.map_values)
    corr: Final = method(pairs.corr)
    corrwith: Final = method(pairs.corrwith)
    cov: Final = method(pairs.cov)
    hist: Final = method(histogram.hist_columns)
    join: Final = method(join)
    merge: Final = method(merge_frames)
    mode: Final = method(value_counts.column_modes)
    nlargest: Final = extremes.extreme_rows("nlargest", "largest")
    nsmallest: Final = extremes.extreme_rows("nsmallest", "smallest")
    nunique: Final = method(unique.column_nunique)
    quantile: Final = method(quantiles.quantile)
    query: Final = method(expressions.query)
    rank: Final = method(rank.rank_columns)
    to_csv: Final = method(text.to_csv)
    to_dict: Final = method(conversions.to_dict)
    to_feather: Final = method(whole_files.to_feather)
    to_html: Final = method(conversions.to_html)
    to_json: Final = method(json_files.to_json)
    to_markdown: Final = method(conversions.to_markdown)
    to_orc: Final = method(whole_files.to_orc)
    to_parquet: Final = method(parquet.to_parquet)
    to_records: Final = method(conversions.to_records)
    to_sql: Final = method(sql.to_sql)
    to_stata: Final = conversions.through_pandas("to_stata", "write a file of Stata")
    to_string: Final = method(conversions.to_string)
    to_xml: Final = conversions.through_pandas("to_xml", "return or write XML")
    value_counts: Final = method(value_counts.row_counts)

    explode: Final = method(explode)
    melt: Final = method(melt)
    pivot: Final = method(pivot)
    pivot_table: Final = method(pivot_table)
    stack: Final = method(stack)
    unstack: Final = method(unstack)
    transpose: Final = method(transpose)

    @property
    def T(self) -> DataFrame:
        """The rows as columns. See pandas.DataFrame.transpose."""
        return transpose(self)

    drop: Final = method(names.drop)
    filter: Final = method(names.filter_labels)
    get: Final = method(names.get)
    insert: Final = method(names.insert)
    isetitem: Final = method(names.isetitem)
    pop: Final = method(names.pop)
    rename: Final = method(names.rename)
    select_dtypes: Final = method(names.select_dtypes)

    def to_pandas(self) -> pd.DataFrame:
        """Compute and return the pandas object.

        Returns
        -------
        pandas.DataFrame
            The value.

        Examples
        --------
        >>> md.DataFrame({"a": [1, 2]}).to_pandas()
           a
        0  1
        1  2
        """
        computed: pd.DataFrame = self.compute()
        computed.attrs |= self.attrs
        return computed

    @property
    def size(self) -> int | float:
        """The number of values, nan if it is unknown."""
        return self.shape[0] * len(self.columns)

    @property
    def empty(self) -> bool:
        """Whether there are no rows or no columns; computes an unknown number of rows."""
        return not len(self.columns) or not len(self)

    @property
    def values(self) -> Tensor:
        """The values as a tensor, in the common type of the columns."""
        return self.to_tensor()

    @property
    def axes(self) -> list[object]:
        """The lazy row labels, and the column labels."""
        return [self.index, self.columns]

    def __delitem__(self, name: Any) -> None:
        names.pop(self, name)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.columns)

    def __contains__(self, name: Any) -> bool:
        return name in self.columns

    items: Final = batches.columns
    iterrows: Final = batches.labelled_rows
    itertuples: Final = batches.tuples

    __arrow_c_stream__: Final = arrow.stream
    __dataframe__: Final = arrow.interchange


register_collection(pd.DataFrame, DataFrame)
