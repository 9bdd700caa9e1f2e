"""The Index: lazy row labels."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import pandas as pd

from marsdask.core.arguments import plain_values
from marsdask.core.collection import Collection, rebind, register_collection
from marsdask.core.node import Node
from marsdask.core.public import public_methods, returns_itself
from marsdask.core.session import Session
from marsdask.tensor.tensor import method

from . import batches, protocols
from .accessors import extension_values
from .arguments.pandas_arguments import check_no_axes, checked_arguments
from .collection import Rows
from .create import in_memory
from .elementwise.operands import binary
from .elementwise.rowwise import rowwise
from .labels import index_methods as methods
from .labels import index_positions as positions
from .labels import index_times as by_time
from .partitions import repartition as moves
from .reduction import properties
from .tensors import to_tensor
from .whole.fallback import missing_attribute, with_fallback
from .whole.missing_names import CONVERSIONS
from .whole.object_types import with_known_types

if TYPE_CHECKING:
    from marsdask.tensor import Tensor

    from .accessors.extension_values import ExtensionValues
    from .frame_base import FrameBase
    from .series import Series


#: Labels that are times.
TIMES = (pd.DatetimeIndex, pd.TimedeltaIndex, pd.PeriodIndex)

#: The parts of times that an Index of them has as Indexes.
FIELDS = {
    *("year", "month", "day", "hour", "minute", "second", "microsecond", "nanosecond", "quarter"),
    *("dayofweek", "day_of_week", "weekday", "dayofyear", "day_of_year", "days_in_month"),
}


#: What an Index of times tells of each, as an array.
FLAGS = {
    *("is_leap_year", "is_month_end", "is_month_start", "is_quarter_end", "is_quarter_start"),
    *("is_year_end", "is_year_start"),
}


@dataclass(frozen=True)
class Field:
    """Reads a part of times."""

    name: str

    @property
    def __name__(self) -> str:
        return self.name

    def __call__(self, block: Any) -> Any:
        return getattr(block, self.name)


@checked_arguments(pd.Index, pd.MultiIndex, *TIMES)
@public_methods
@with_fallback
class Index(Rows):
    """Lazy row labels."""

    __slots__ = ("_owner",)

    if TYPE_CHECKING:  # the types of the values

        def fetch(
            self, session: Session | None = None, *, batch_size: int | None = None
        ) -> pd.Index[Any]: ...
        def compute(
            self, *, session: Session | None = None, **dask_options: Any
        ) -> pd.Index[Any]: ...

    def __init__(
        self,
        data: Any = None,
        dtype: Any = None,
        copy: bool | None = True,
        name: Any = None,
        tupleize_cols: bool = True,
        *,
        session: Session | None = None,
        chunk_size: Any = None,
        num_partitions: int | None = None,
    ) -> None:
        if isinstance(data, Collection) and data.node.chunks and data.node.meta.ndim == 1:
            data = methods.labels_of(data, dtype, name).node
        elif not isinstance(data, Node):
            own = copy is not False
            how: Any = {"dtype": dtype, "name": name, "tupleize_cols": tupleize_cols}
            labels = pd.Index(plain_values(data), copy=own, **how)
            data = in_memory(labels, chunk_size, num_partitions, copy=own).node
        super().__init__(data, session)
        self._owner: FrameBase | None = None
        """The frame or series whose labels they are: names that are set are its names, too."""

    @property
    def _meta(self) -> Any:
        """The meta: a copy, whose name is the caller's."""
        return super()._meta.view()

    @property
    def dtype(self) -> Any:
        """The type of the labels."""
        return self._meta.dtype

    @property
    def values(self) -> Tensor | ExtensionValues:
        """The labels: a tensor, or those of a type that NumPy lacks. See pandas.Index.values."""
        return extension_values.values_of(self)

    @property
    def array(self) -> ExtensionValues:
        """The labels, which compute to pandas's array. See pandas.Index.array."""
        return extension_values.ExtensionValues(self)

    @property
    def name(self) -> Hashable:
        """The name of the labels."""
        name: Hashable = self._node.meta.name
        return name

    @name.setter
    def name(self, label: Hashable) -> None:
        self.names = [label]

    @property
    def ndim(self) -> int:
        """The number of axes, 1."""
        return 1

    @property
    def names(self) -> Sequence[Hashable]:
        """The names of the levels."""
        names: Sequence[Hashable] = self._node.meta.names
        return names

    @names.setter
    def names(self, labels: Sequence[Hashable]) -> None:
        old, owner = self._node.name, self._owner
        rebind(self, methods.rename(self, labels[0] if self.nlevels == 1 else labels).node)
        if owner is not None and owner.index.node.name == old:
            rebind(owner, owner.rename_axis(index=list(labels)).node)

    def _become(self, other: Index) -> None:
        self.names = other.names

    @property
    def nlevels(self) -> int:
        """The number of levels."""
        return int(self._node.meta.nlevels)

    @property
    def size(self) -> int | float:
        """The number of labels, nan if it is unknown."""
        return self.shape[0]

    @property
    def empty(self) -> bool:
        """Whether there are no labels; computes an unknown number."""
        return not len(self)

    @property
    def inferred_type(self) -> builtins.str:
        """The kind of the labels; computes those of objects. See pandas.Index."""
        if self.dtype == object:
            return str(self.compute().inferred_type)
        return str(self._node.meta.inferred_type)

    @property
    def nbytes(self) -> Tensor:
        """The bytes of the labels; lazy."""
        return positions.memory_usage(self)

    @property
    def is_unique(self) -> Tensor:
        """Whether no label occurs twice; lazy."""
        return properties.is_unique(methods.column(self))

    @property
    def has_duplicates(self) -> Tensor:
        """Whether a label occurs twice; lazy."""
        return ~properties.is_unique(methods.column(self))

    @property
    def hasnans(self) -> Tensor:
        """Whether any label is missing; lazy."""
        return properties.hasnans(methods.column(self))

    @property
    def is_monotonic_increasing(self) -> Tensor:
        """Whether labels never fall; lazy."""
        return properties.monotonic(methods.column(self), rising=True)

    @property
    def is_monotonic_decreasing(self) -> Tensor:
        """Whether labels never rise; lazy."""
        return properties.monotonic(methods.column(self), rising=False)

    @property
    def T(self) -> Index:
        """The labels themselves."""
        return self

    @returns_itself
    def transpose(self, *axes: Any) -> Index:
        """Return the labels themselves. See pandas.Index.transpose.

        Parameters
        ----------
        *axes : None
            Nothing: there is one axis.
        """
        check_no_axes(axes)
        return self

    def copy(self, name: Hashable = None, deep: bool = False) -> Index:
        """Return the same labels, by another name if it is given. See pandas.Index.copy."""
        del deep
        result: Index = Index(self._node) if name is None else self.rename(name)
        return result

    def __getitem__(self, key: Any) -> Index | Tensor:
        result: Index | Tensor = methods.chosen(self, key)
        return result

    __contains__ = batches.holds_label
    tolist: Final = protocols.tolist
    to_list: Final = protocols.tolist

    append: Final = method(methods.append)
    astype: Final = method(methods.astype)
    equals: Final = method(methods.equals)
    get_level_values: Final = method(methods.get_level_values)
    rename: Final = method(methods.rename)
    set_names: Final = method(methods.set_names)
    to_frame: Final = method(methods.to_frame)
    to_series: Final = method(methods.to_series_of)

    difference: Final = method(methods.difference)
    drop: Final = method(methods.drop)
    intersection: Final = method(methods.intersection)
    symmetric_difference: Final = method(methods.symmetric_difference)
    union: Final = method(methods.union)

    droplevel: Final = method(methods.droplevel)
    identical: Final = method(methods.identical)
    is_: Final = method(methods.is_)
    item: Final = method(methods.item)
    putmask: Final = method(methods.putmask)
    ravel: Final = method(methods.ravel)
    searchsorted: Final = method(methods.searchsorted)
    where: Final = method(methods.where)
    to_flat_index: Final = method(methods.to_flat_index)

    @property
    def str(self) -> methods.TextLabels:
        """The methods of texts. See pandas.Index.str."""
        return methods.TextLabels(self)

    delete: Final = method(positions.delete)
    factorize: Final = method(methods.factorize)
    get_indexer: Final = method(positions.get_indexer)
    get_indexer_for: Final = method(positions.get_indexer_for)
    get_indexer_non_unique: Final = method(positions.get_indexer_non_unique)
    get_loc: Final = method(positions.get_loc)
    insert: Final = method(positions.insert)
    memory_usage: Final = method(positions.memory_usage)
    rebalance: Final = method(moves.rebalance)
    rechunk: Final = method(moves.rechunk)
    reindex: Final = method(positions.reindex)

    asof: Final = method(by_time.asof)
    get_slice_bound: Final = method(by_time.get_slice_bound)
    groupby: Final = method(by_time.groupby)
    join: Final = method(by_time.join)
    slice_indexer: Final = method(by_time.slice_indexer)
    slice_locs: Final = method(by_time.slice_locs)

    diff: Final = methods.through_column("diff")
    drop_duplicates: Final = methods.through_column("drop_duplicates")
    dropna: Final = methods.through_column("dropna", checked=True)
    fillna: Final = methods.through_column("fillna")
    infer_objects: Final = methods.through_column("infer_objects")
    map: Final = method(methods.map_labels)
    repeat: Final = methods.through_column("repeat")
    sort_values: Final = method(methods.sort_labels)
    take: Final = method(methods.take)
    unique: Final = methods.through_column("drop_duplicates")

    all: Final = methods.of_column("all")
    any: Final = methods.of_column("any")
    argmax: Final = methods.of_column("argmax")
    argmin: Final = methods.of_column("argmin")
    argsort: Final = methods.of_column("argsort")
    duplicated: Final = methods.of_column("duplicated")
    isin: Final = method(methods.isin)
    isna: Final = methods.of_column("isna")
    isnull: Final = isna
    max: Final = methods.of_column("max")
    min: Final = methods.of_column("min")
    notna: Final = methods.of_column("notna")
    notnull: Final = notna
    nunique: Final = methods.of_column("nunique")

    as_unit: Final = methods.of_times("as_unit")
    ceil: Final = methods.of_times("ceil")
    day_name: Final = methods.of_times("day_name")
    floor: Final = methods.of_times("floor")
    month_name: Final = methods.of_times("month_name")
    normalize: Final = methods.of_times("normalize")
    round: Final = methods.of_times("round")
    shift: Final = methods.of_times("shift")
    strftime: Final = methods.of_times("strftime")
    tz_convert: Final = methods.of_times("tz_convert")
    tz_localize: Final = methods.of_times("tz_localize")

    def value_counts(self, **options: Any) -> Series:
        """Return how often each label is there. See pandas.Index.value_counts."""
        counts: Series = methods.column(self).rename_axis(index=None).value_counts(**options)
        return counts

    def __getattr__(self, name: builtins.str) -> Any:
        if name in FIELDS and isinstance(self._node.meta, pd.DatetimeIndex):
            fields: Index = rowwise(Field(name), self)
            return fields
        if name in FLAGS and isinstance(self._node.meta, pd.DatetimeIndex):
            return to_tensor(getattr(methods.column(self).dt, name))
        if name in {"tz", "tzinfo", "unit"} and self._node.meta.dtype.kind in "mM":
            return getattr(self._node.meta, name)
        if (attribute := by_time.attribute(self, name)) is not ...:
            return attribute
        if any(hasattr(kind, name) for kind in TIMES) and not hasattr(pd.Index, name):
            labels = with_known_types(self)
            if labels is not self:
                return getattr(labels, name)
        return missing_attribute(self, name, type(self._node.meta), CONVERSIONS)

    __hash__ = None  # type: ignore[assignment]
    __eq__ = methods.comparison(operator.eq)  # type: ignore[assignment]
    __ne__ = methods.comparison(operator.ne)  # type: ignore[assignment]
    __lt__ = methods.comparison(operator.lt)
    __le__ = methods.comparison(operator.le)
    __gt__ = methods.comparison(operator.gt)
    __ge__ = methods.comparison(operator.ge)
    __add__ = binary(operator.add)
    __radd__ = binary(operator.add, reflected=True)
    __sub__ = binary(operator.sub)
    __rsub__ = binary(operator.sub, reflected=True)
    __mul__ = binary(operator.mul)
    __rmul__ = binary(operator.mul, reflected=True)
    __truediv__ = binary(operator.truediv)
    __rtruediv__ = binary(operator.truediv, reflected=True)
    __floordiv__ = binary(operator.floordiv)
    __rfloordiv__ = binary(operator.floordiv, reflected=True)
    __mod__ = binary(operator.mod)
    __rmod__ = binary(operator.mod, reflected=True)
    __pow__ = binary(operator.pow)
    __rpow__ = binary(operator.pow, reflected=True)
    __and__ = binary(operator.and_)
    __rand__ = binary(operator.and_, reflected=True)
    __or__ = binary(operator.or_)
    __ror__ = binary(operator.or_, reflected=True)
    __xor__ = binary(operator.xor)
    __rxor__ = binary(operator.xor, reflected=True)
    __neg__ = methods.of_times("__neg__")

    def __divmod__(self, other: Any) -> tuple[Index, Index]:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> tuple[Index, Index]:
        return other // self, other % self


register_collection(pd.Index, Index)
