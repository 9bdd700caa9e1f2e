"""The Series: a lazy column with its index."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, Final

import pandas as pd
from pandas.api.extensions import no_default

from marsdask.core.arguments import keeps_lazy
from marsdask.core.collection import Collection, rebind, register_collection
from marsdask.core.node import Node
from marsdask.core.public import public_methods, returns_itself
from marsdask.core.session import Session
from marsdask.tensor.tensor import method

from . import batches, protocols
from .accessors import extension_values
from .accessors.accessor import Accessor
from .arguments.dask_arguments import IGNORED, ignore_arguments
from .arguments.pandas_arguments import check_no_axes, checked_arguments
from .create import make_series
from .elementwise import apply as users
from .elementwise import combine as combine_two
from .elementwise.rowwise import rowwise, to_frame
from .elementwise.values import between
from .frame_base import FrameBase
from .io import arrow, conversions, sql, text
from .io import json as json_files
from .keyed import unique, value_counts
from .labels import names
from .labels.assignment import assign_loc
from .labels.lazy_columns import series_of_lazy
from .labels.loc import Loc, has_row, row_of_tuple, rows_sliced
from .labels.masks import chosen_values, label_in_memory
from .ordered import cumulative as scan
from .ordered import rank
from .plotting import histogram
from .reduction import aggregate, extremes, pairs, properties
from .reduction import times as times_of
from .reshape.categories import factorize_series
from .reshape.explode import explode_series, repeat
from .reshape.stack import unstack_series
from .rows import without_ellipsis
from .whole.fallback import missing_attribute, with_fallback
from .whole.missing_names import CONVERSIONS

if TYPE_CHECKING:
    from marsdask.tensor import Tensor

    from .accessors.extension_values import ExtensionValues
    from .frame import DataFrame


StrType = str  # ``Series.str`` hides the type inside the class


@ignore_arguments(IGNORED)
@checked_arguments(pd.Series)
@public_methods
@with_fallback
class Series(FrameBase):
    """A lazy column with row labels, and the methods of pandas, Mars and Dask.

    ``pd.Series(s)`` keeps the values, but loses the labels. Use ``s.to_pandas()``.
    """

    __slots__ = ()

    if TYPE_CHECKING:  # the types of the values

        def fetch(
            self, session: Session | None = None, *, batch_size: int | None = None
        ) -> pd.Series[Any]: ...
        def compute(
            self, *, session: Session | None = None, **dask_options: Any
        ) -> pd.Series[Any]: ...

    def __init__(
        self,
        data: Any = None,
        index: Any = None,
        dtype: Any = None,
        name: Any = None,
        copy: bool | None = True,
        *,
        session: Session | None = None,
        chunk_size: Any = None,
        num_partitions: int | None = None,
    ) -> None:
        if isinstance(data, Collection):
            data = series_of_lazy(data, index, dtype, name).node
        elif not isinstance(data, Node):
            how = (chunk_size, num_partitions)
            data = make_series(data, index, dtype, name, *how, copy=copy is not False).node
        super().__init__(data, session)

    @property
    def dtype(self) -> Any:
        """The type of the values."""
        return self._meta.dtype

    @property
    def values(self) -> Tensor | ExtensionValues:
        """The values: a tensor, or those of a type that NumPy lacks. See pandas.Series.values."""
        return extension_values.values_of(self)

    @property
    def array(self) -> ExtensionValues:
        """The values, which compute to pandas's array. See pandas.Series.array."""
        return extension_values.ExtensionValues(self)

    @property
    def name(self) -> Hashable:
        """The label of the column."""
        name: Hashable = self._node.meta.name
        return name

    @name.setter
    def name(self, label: Hashable) -> None:
        rebind(self, names.with_name(self, label).node)

    def __getitem__(self, key: Any) -> Series | Tensor:
        if isinstance(key, tuple) and len(key) == 1 and isinstance(key[0], slice):
            (key,) = key  # as in pandas, a slice in a tuple is one
        key = label_in_memory(slice(None) if key is Ellipsis else key)
        if isinstance(key, Collection | pd.Series):
            return self._filtered(key)
        if isinstance(key, slice):
            return rows_sliced(self, key)
        if isinstance(key, tuple) and self.node.meta.index.nlevels == 1 and ... not in key:
            row: Series | Tensor = row_of_tuple(self, key)
            return row
        rows: Series = Loc(self, flags=True)[key]
        return rows

    @keeps_lazy("arguments")
    def __setitem__(self, key: Any, value: Any) -> None:
        key = slice(None) if key is Ellipsis else key
        if isinstance(key, slice):
            if key != slice(None):
                raise NotImplementedError(
                    "series[start:stop] = is not supported; use iloc[start:stop] ="
                )
            self.iloc[:] = value
        else:
            key = without_ellipsis(key, 1)
            value = chosen_values(key, value)
            assign_loc(self, [key] if has_row(self, key) else key, value, strict=False)

    def to_frame(self, name: Any = no_default) -> DataFrame:
        """Return a DataFrame of this one column."""
        own = no_default if self.name is None else self.name
        frame: DataFrame = rowwise(to_frame, self, name=own if name is no_default else name)
        return frame

    @property
    def str(self) -> Accessor:
        """Functions of strings. See pandas.Series.str."""
        return Accessor(self, "str")

    @property
    def dt(self) -> Accessor:
        """Functions of dates and times. See pandas.Series.dt."""
        return Accessor(self, "dt")

    @property
    def cat(self) -> Accessor:
        """Functions of categories. See pandas.Series.cat."""
        return Accessor(self, "cat")

    def to_pandas(self) -> pd.Series[Any]:
        """Compute and return the pandas object.

        Returns
        -------
        pandas.Series
            The value.

        Examples
        --------
        >>> md.Series([1, 2], name="a").to_pandas()
        0    1
        1    2
        Name: a, dtype: int64
        """
        computed: pd.Series[Any] = self.compute()
        computed.attrs |= self.attrs
        return computed

    @property
    def size(self) -> int | float:
        """The number of values, nan if it is unknown."""
        return self.shape[0]

    @property
    def hasnans(self) -> Tensor:
        """Whether any value is missing; lazy."""
        return properties.hasnans(self)

    @property
    def is_unique(self) -> Tensor:
        """Whether no value occurs twice; lazy."""
        return properties.is_unique(self)

    @property
    def is_monotonic_increasing(self) -> Tensor:
        """Whether values never fall; lazy."""
        return properties.monotonic(self, rising=True)

    @property
    def is_monotonic_decreasing(self) -> Tensor:
        """Whether values never rise; lazy."""
        return properties.monotonic(self, rising=False)

    @property
    def ndim(self) -> int:
        """The number of axes, 1."""
        return 1

    @property
    def dtypes(self) -> object:
        """The type of the values."""
        dtype: object = self.dtype
        return dtype

    @property
    def axes(self) -> list[object]:
        """The lazy row labels, in a list."""
        return [self.index]

    @property
    def T(self) -> Series:
        """The series itself."""
        return self

    @returns_itself
    def transpose(self, *axes: Any) -> Series:
        """Return the series itself. See pandas.Series.transpose.

        Parameters
        ----------
        *axes : None
            Nothing: there is one axis.
        """
        check_no_axes(axes)
        return self

    @property
    def nbytes(self) -> Tensor:
        """The bytes of the values; lazy."""
        size: Tensor = self.memory_usage(index=False)
        return size

    def item(self) -> object:
        """Compute, and return the only value. See pandas.Series.item."""
        value: object = self.compute().item()
        return value

    def divmod(self, other: Any, *args: Any, **kwargs: Any) -> tuple[Series, Series]:
        """Return the quotient and the remainder. See pandas.Series.divmod."""
        return self.floordiv(other, *args, **kwargs), self.mod(other, *args, **kwargs)

    def rdivmod(self, other: Any, *args: Any, **kwargs: Any) -> tuple[Series, Series]:
        """Return the quotient and the remainder of another one. See pandas.Series.rdivmod."""
        return self.rfloordiv(other, *args, **kwargs), self.rmod(other, *args, **kwargs)

    def __getattr__(self, name: StrType) -> Any:
        return missing_attribute(self, name, pd.Series, CONVERSIONS)

    def __delitem__(self, label: Any) -> None:
        names.pop_row(self, label)

    def __contains__(self, label: Any) -> bool:
        return label in self.index

    __arrow_c_stream__: Final = arrow.values_stream
    items: Final = batches.labelled_values
    to_csv: Final = method(text.to_csv)
    to_dict: Final = method(conversions.to_dict)
    to_json: Final = method(json_files.to_json)
    to_markdown: Final = method(conversions.to_markdown)
    to_sql: Final = method(sql.to_sql)
    to_string: Final = method(conversions.to_string)
    tolist: Final = protocols.tolist
    to_list: Final = protocols.tolist

    agg: Final = method(aggregate.aggregate_column)
    aggregate: Final = agg
    argmax: Final = scan.extreme_position("argmax")
    argmin: Final = scan.extreme_position("argmin")
    apply: Final = method(users.apply_values)
    argsort: Final = method(rank.argsort)
    autocorr: Final = method(pairs.autocorr)
    case_when: Final = method(combine_two.case_when)
    combine: Final = method(combine_two.combine_values)
    corr: Final = method(pairs.corr_with)
    drop: Final = method(names.drop_rows)
    get: Final = method(names.get_row)
    pop: Final = method(names.pop_row)
    cov: Final = method(pairs.cov_with)
    quantile: Final = method(times_of.quantile)
    explode: Final = method(explode_series)
    repeat: Final = method(repeat)
    factorize: Final = method(factorize_series)
    unstack: Final = method(unstack_series)
    between: Final = method(between)
    duplicated: Final = method(unique.duplicated_values)
    filter: Final = method(names.filter_labels)
    hist: Final = method(histogram.hist_values)
    map: Final = method(users.map_values)
    mode: Final = method(value_counts.mode)
    nlargest: Final = extremes.extremes("nlargest", "largest")
    nsmallest: Final = extremes.extremes("nsmallest", "smallest")
    nunique: Final = method(unique.nunique)
    rank: Final = method(rank.rank)
    rename: Final = method(names.rename_series)
    searchsorted: Final = method(scan.searchsorted)
    unique: Final = method(extension_values.distinct_values)
    value_counts: Final = method(value_counts.value_counts)


register_collection(pd.Series, Series)
