"""The base class of DataFrame and Series: rows with labels."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar
from typing import cast as typed

import pandas as pd

from marsdask.core.arguments import keeps_lazy
from marsdask.core.collection import rebind
from marsdask.core.public import public_methods, returns_itself
from marsdask.tensor.tensor import method

from .arguments.dask_arguments import IGNORED, ignore_arguments
from .arguments.pandas_arguments import checked_arguments
from .attributes import LazyFlags, flags, set_flags
from .collection import Rows
from .elementwise import apply as users
from .elementwise import combination, missing_data, values
from .elementwise import combine as combine_two
from .elementwise.arithmetic import arithmetic
from .elementwise.astype import astype
from .elementwise.operands import aligned_tensor, binary, in_place
from .elementwise.rowwise import index_of, method_of, rowwise
from .io import conversions, dask_frames
from .keyed import groupby, unique
from .keyed.aggregation import GroupByMethod
from .labels import by_position, names, replacement
from .labels.loc import At, Loc
from .nodes.frame_node import is_array
from .ordered import cumulative as scan
from .ordered import iloc as position
from .ordered import shift
from .ordered import sort_values as order
from .ordered.row_numbers import ResetMethod
from .partitions import divisions as bounds
from .partitions import map_partitions as maps
from .partitions import random_split as pieces
from .partitions import repartition as moves
from .plotting.accessor import PlotAccessor
from .reduction import extremes, properties
from .reduction import reductions as reduce
from .reduction import times as times_of
from .reduction.describe import describe
from .reduction.info import info
from .reshape import object_labels, transpose
from .whole.fallback import with_fallback
from .windows import ewm, expanding, fill, resample, rolling, times

if TYPE_CHECKING:
    from .index import Index
    from .nodes.frame_node import SameKind

T = TypeVar("T")


@ignore_arguments(IGNORED)
@checked_arguments(pd.DataFrame, pd.Series)
@public_methods
@with_fallback
class FrameBase(Rows):
    """Lazy rows with labels."""

    __slots__ = ("_attrs",)
    __hash__ = None  # type: ignore[assignment]

    @property
    def index(self) -> Index:
        """The lazy row labels."""
        labels: Index = rowwise(index_of, self)
        labels._owner = self
        return labels

    @index.setter
    def index(self, labels: Any) -> None:
        rebind(self, names.set_axis(self, labels).node)

    @property
    def empty(self) -> bool:
        """Whether there are no rows; computes an unknown number of rows."""
        return not len(self)

    @property
    def attrs(self) -> dict[Any, Any]:
        """The user's metadata; ``to_pandas()`` returns an object with the same.

        Differs from pandas: other objects that are made of it have none.
        """
        try:
            return self._attrs
        except AttributeError:
            self._attrs: dict[Any, Any] = {}
            return self._attrs

    @attrs.setter
    def attrs(self, notes: Any) -> None:
        self._attrs = dict(notes)

    @property
    def flags(self) -> LazyFlags:
        """The flags: labels may be duplicated. See pandas.DataFrame.flags."""
        return flags(self)

    @property
    def iloc(self) -> position.ILoc[Self]:
        """Rows and columns by position."""
        return position.ILoc(self)

    @property
    def loc(self) -> Loc[Self]:
        """Rows by label or by a mask, columns by label."""
        return Loc(self)

    @property
    def at(self) -> At[Self]:
        """One value by its label, and its column."""
        return At(self, "at")

    @property
    def iat(self) -> At[Self]:
        """One value by its positions."""
        return At(self, "iat")

    def __divmod__(self, other: Any) -> tuple[Self, Self]:
        return self // other, self % other

    def __round__(self, decimals: int = 0) -> Self:
        return self.round(decimals)

    def __rdivmod__(self, other: Any) -> tuple[Self, Self]:
        return other // self, other % self

    @property
    def plot(self) -> PlotAccessor:
        """Plots, of rows that are reduced where they are. See pandas.DataFrame.plot."""
        return PlotAccessor(self)

    def _filtered(self, mask: Any) -> Self:
        if is_array(mask) and len(mask.node.chunks) == 1:
            mask = aligned_tensor(self, mask, position.BOOLEAN)
        return super()._filtered(mask)

    @property
    def divisions(self) -> tuple[Any, ...]:
        """The labels at which partitions begin, and the last one; ``None`` where unknown."""
        return bounds.divisions(self)

    @property
    def known_divisions(self) -> bool:
        """Whether the labels are known at which partitions begin."""
        return bounds.known_divisions(self)

    @property
    def partitions(self) -> bounds.PartitionView[Self]:
        """The partitions, indexed like items."""
        return bounds.PartitionView(self)

    @keeps_lazy("items")
    @returns_itself
    def pipe(
        self, func: Callable[..., T] | tuple[Callable[..., T], str], *args: Any, **kwargs: Any
    ) -> T:
        """Return what a function of the object returns. See pandas.DataFrame.pipe."""
        if not isinstance(func, tuple):
            return func(self.copy(), *args, **kwargs)
        call, target = func
        if target in kwargs:
            raise ValueError(f"{target} is both the pipe target and a keyword argument")
        return call(*args, **{target: self.copy()}, **kwargs)

    asof: Final = method(times.asof)
    asfreq: Final = method(times.asfreq)
    at_time: Final = method(times.at_time)
    between_time: Final = method(times.between_time)
    first_valid_index: Final = method(times.first_valid_index)
    last_valid_index: Final = method(times.last_valid_index)
    to_period: Final = method(times.to_period)
    to_timestamp: Final = method(times.to_timestamp)
    truncate: Final = method(times.truncate)
    tz_convert: Final = method(times.tz_convert)
    tz_localize: Final = method(times.tz_localize)

    set_flags: Final = method(set_flags)
    align: Final = method(combination.align)
    compare: Final = method(combine_two.compare)
    convert_dtypes: Final = method(combination.convert_dtypes)
    dot: Final = method(combination.dot)
    equals: Final = method(combination.equals)
    infer_objects: Final = method(combination.infer_objects)
    reindex_like: Final = method(combination.reindex_like)
    update: Final = method(combination.update)
    xs: Final = method(combination.xs)
    __matmul__: Final = method(combination.dot)

    clear_divisions: Final = method(bounds.clear_divisions)
    get_partition: Final = method(bounds.get_partition)
    map_chunk: Final = method(maps.map_chunk)
    map_overlap: Final = method(maps.map_overlap)
    map_partitions: Final = method(maps.map_own_partitions)
    median_approximate: Final = method(pieces.median_approximate)
    memory_usage_per_partition: Final = method(pieces.memory_usage_per_partition)
    nunique_approx: Final = method(pieces.nunique_approx)
    random_split: Final = method(pieces.random_split)
    rebalance: Final = method(moves.rebalance)
    rechunk: Final = method(moves.rechunk)
    repartition: Final = method(moves.repartition)
    shuffle: Final = method(moves.shuffle_rows)
    to_dask_array: Final = method(dask_frames.to_dask_array)
    to_dask_dataframe: Final = method(dask_frames.to_dask_dataframe)

    to_clipboard: Final = conversions.through_pandas("to_clipboard", "copy them to the clipboard")
    to_excel: Final = conversions.through_pandas("to_excel", "write a sheet")
    to_hdf: Final = conversions.through_pandas("to_hdf", "write an HDF5 file")
    to_latex: Final = conversions.through_pandas("to_latex", "return a table of LaTeX")
    to_pickle: Final = conversions.through_pandas("to_pickle", "write a pickle")
    to_xarray: Final = conversions.through_pandas("to_xarray", "return an object of xarray")

    droplevel: Final = method(transpose.droplevel)
    reorder_levels: Final = method(transpose.reorder_levels)
    swaplevel: Final = method(transpose.swaplevel)
    add_prefix: Final = method(names.add_prefix)
    add_suffix: Final = method(names.add_suffix)
    copy: Final = method(names.copy)
    keys: Final = method(names.keys)
    reindex: Final = method(names.reindex)
    rename_axis: Final = method(names.rename_axis)
    sample: Final = method(by_position.sample)
    set_axis: Final = method(names.set_axis)
    squeeze: Final = method(names.squeeze)
    take: Final = method(by_position.take)

    drop_duplicates: Final = method(unique.drop_duplicates)
    dropna: Final = method(missing_data.dropna)
    groupby: Final = typed("GroupByMethod", method(groupby.groupby))
    head: Final = method(position.head)
    reset_index: Final = typed("ResetMethod", method(object_labels.reset_index))
    sort_index: Final = method(order.sort_index)
    sort_values: Final = method(order.sort_values)
    tail: Final = method(position.tail)

    bfill: Final = method(fill.bfill)
    diff: Final = method(shift.diff)
    ewm: Final = method(ewm.ewm)
    expanding: Final = method(expanding.expanding)
    ffill: Final = method(fill.ffill)
    interpolate: Final = method(fill.interpolate)
    pct_change: Final = method(fill.pct_change)
    resample: Final = method(resample.resample)
    rolling: Final = method(rolling.rolling)
    shift: Final = method(shift.shift)

    sum: Final = reduce.reduction("sum")
    mean: Final = typed("reduce.ReductionMethod", method(times_of.mean))
    count: Final = reduce.reduction("count")
    min: Final = reduce.reduction("min")
    max: Final = reduce.reduction("max")
    var: Final = reduce.reduction("var")
    std: Final = reduce.reduction("std")
    any: Final = reduce.reduction("any")
    all: Final = reduce.reduction("all")
    prod: Final = reduce.reduction("prod")
    product: Final = prod
    sem: Final = reduce.reduction("sem")
    skew: Final = reduce.reduction("skew")
    kurt: Final = reduce.reduction("kurt")
    kurtosis: Final = kurt
    describe: Final = typed("SameKind", method(describe))
    info: Final = method(info)
    memory_usage: Final = typed("extremes.LabelMethod", method(properties.memory_usage))
    idxmax: Final = extremes.extreme_label("idxmax")
    idxmin: Final = extremes.extreme_label("idxmin")
    median: Final = typed("reduce.ReductionMethod", method(times_of.median))

    cumsum: Final = scan.cumulative("cumsum")
    cumprod: Final = scan.cumulative("cumprod")
    cummax: Final = scan.cumulative("cummax")
    cummin: Final = scan.cumulative("cummin")

    abs: Final = method_of("abs")
    __abs__: Final = method_of("abs")
    astype: Final = method(astype)
    clip: Final = method(values.clip)
    combine_first: Final = method(values.combine_first)
    fillna: Final = method(values.fillna)
    isin: Final = method(values.isin)
    isna: Final = method_of("isna")
    isnull: Final = isna
    mask: Final = method(replacement.mask)
    notna: Final = method_of("notna")
    notnull: Final = notna
    replace: Final = method(values.replace)
    round: Final = method_of("round")
    transform: Final = method(users.transform)
    where: Final = method(replacement.where)

    add: Final = arithmetic("add")
    radd: Final = arithmetic("radd")
    sub: Final = arithmetic("sub")
    rsub: Final = arithmetic("rsub")
    mul: Final = arithmetic("mul")
    rmul: Final = arithmetic("rmul")
    truediv: Final = arithmetic("truediv")
    rtruediv: Final = arithmetic("rtruediv")
    floordiv: Final = arithmetic("floordiv")
    rfloordiv: Final = arithmetic("rfloordiv")
    mod: Final = arithmetic("mod")
    rmod: Final = arithmetic("rmod")
    pow: Final = arithmetic("pow")
    rpow: Final = arithmetic("rpow")
    div: Final = truediv
    divide: Final = truediv
    rdiv: Final = rtruediv
    multiply: Final = mul
    subtract: Final = sub
    lt: Final = arithmetic("lt")
    le: Final = arithmetic("le")
    gt: Final = arithmetic("gt")
    ge: Final = arithmetic("ge")
    eq: Final = arithmetic("eq")
    ne: Final = arithmetic("ne")

    __pos__: Final = method_of("__pos__")
    __neg__: Final = method_of("__neg__")
    __invert__: Final = method_of("__invert__")
    __lt__: Final = binary(operator.lt)
    __le__: Final = binary(operator.le)
    __gt__: Final = binary(operator.gt)
    __ge__: Final = binary(operator.ge)
    __eq__: Final = binary(operator.eq)  # type: ignore[assignment]
    __ne__: Final = binary(operator.ne)  # type: ignore[assignment]
    __add__: Final = binary(operator.add)
    __radd__: Final = binary(operator.add, reflected=True)
    __sub__: Final = binary(operator.sub)
    __rsub__: Final = binary(operator.sub, reflected=True)
    __mul__: Final = binary(operator.mul)
    __rmul__: Final = binary(operator.mul, reflected=True)
    __truediv__: Final = binary(operator.truediv)
    __rtruediv__: Final = binary(operator.truediv, reflected=True)
    __floordiv__: Final = binary(operator.floordiv)
    __rfloordiv__: Final = binary(operator.floordiv, reflected=True)
    __mod__: Final = binary(operator.mod)
    __rmod__: Final = binary(operator.mod, reflected=True)
    __pow__: Final = binary(operator.pow)
    __rpow__: Final = binary(operator.pow, reflected=True)
    __and__: Final = binary(operator.and_)
    __rand__: Final = binary(operator.and_, reflected=True)
    __or__: Final = binary(operator.or_)
    __ror__: Final = binary(operator.or_, reflected=True)
    __xor__: Final = binary(operator.xor)
    __rxor__: Final = binary(operator.xor, reflected=True)
    __iadd__: Final = in_place(operator.add)
    __isub__: Final = in_place(operator.sub)
    __imul__: Final = in_place(operator.mul)
    __itruediv__: Final = in_place(operator.truediv)
    __ifloordiv__: Final = in_place(operator.floordiv)
    __imod__: Final = in_place(operator.mod)
    __ipow__: Final = in_place(operator.pow)
    __iand__: Final = in_place(operator.and_)
    __ior__: Final = in_place(operator.or_)
    __ixor__: Final = in_place(operator.xor)
