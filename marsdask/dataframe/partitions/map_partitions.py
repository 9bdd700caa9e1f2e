"""Users' functions of partitions, and of partitions with some rows of their neighbours."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from marsdask.core.arguments import keeps_lazy
from marsdask.core.collection import Collection
from marsdask.core.grids.blockwise import Blockwise
from marsdask.core.grids.chunk_positions import ChunkAt
from marsdask.core.grids.grid import Grid
from marsdask.core.machine.costs import FunctionWrapper, kernel
from marsdask.core.node import Node
from marsdask.core.public import public_call
from marsdask.core.sizes import Chunks, unknown_sizes
from marsdask.core.snapshots.functions import function_label, function_name

from ..nodes.dtypes import OneType
from ..nodes.frame_node import FrameNode, is_row
from ..ordered.row_numbers import reset_index
from ..ordered.shift import RowStencil
from ..reduction.reductions import collection_of as lazy
from ..rows import as_one_chunk, concat, declared, empty_rows
from ..schemas.samples import labels_like, sample

if TYPE_CHECKING:
    from ..frame import DataFrame
    from ..index import Index
    from ..series import Series

#: Arguments of Dask about labels, which are never assumed here.
IGNORED = ("transform_divisions", "clear_divisions", "parent_meta", "required_columns", "token")

ROWS = (pd.DataFrame, pd.Series, pd.Index)


class Argument(Enum):
    """The placeholder of a partition among the arguments, in all processes."""

    PARTITION = "partition"


@dataclass(frozen=True)
class OfPartition(FunctionWrapper):
    """A function of partitions and constants, whose result is checked."""

    template: tuple[Any, ...]
    names: tuple[str, ...]
    """The keywords of the last arguments."""
    place: str | None
    """The keyword that says which partition it is: Dask's or Mars's."""
    like: Any = field(repr=False)
    checks: bool

    def __call__(self, *given: Any, **kwargs: Any) -> Any:
        blocks, number = (given[:-1], given[-1]) if self.place else (given, 0)
        if self.place is not None:
            kwargs[self.place] = place_of(self.place, number, blocks[0])
        parts = iter(blocks)
        args = [next(parts) if arg is Argument.PARTITION else arg for arg in self.template]
        first = len(args) - len(self.names)
        kwargs.update(zip(self.names, args[first:], strict=True))
        return conformed(self.func(*args[:first], **kwargs), self.like, checks=self.checks)


def place_of(keyword: str, number: int, block: Any) -> Any:
    """Return what a function is told of the place of its partition."""
    if keyword == "partition_info":
        return {"number": number, "division": None}
    return (number, 0) if isinstance(block, pd.DataFrame) else (number,)


def conformed(found: Any, like: Any, *, checks: bool) -> Any:
    """Return a partition of the result; a scalar becomes a row."""
    if not isinstance(found, ROWS):
        if np.ndim(found):
            raise TypeError(
                f"the function returned a {type(found).__name__} for a partition; return a "
                "DataFrame, a Series or a scalar"
            )
        found = pd.Series([found])
    if not checks:
        return found
    kinds = [next(cls for cls in ROWS if isinstance(item, cls)) for item in (found, like)]
    if kinds[0] is not kinds[1]:
        raise TypeError(
            f"the function returned a {kinds[0].__name__} for a partition, and a "
            f"{kinds[1].__name__} was expected; pass meta="
        )
    if not len(found):
        return like
    if kinds[0] is pd.Series:
        return _of_missing(found, like.dtype).rename(like.name)
    if kinds[0] is pd.Index:
        return found.rename(like.name)
    if not found.columns.equals(like.columns):
        if sorted(map(str, found.columns)) != sorted(map(str, like.columns)):
            raise ValueError(
                "The columns in the computed data do not match the columns in the provided "
                f"metadata: {list(found.columns)}, expected {list(like.columns)}; pass meta="
            )
        found = found[list(like.columns)]
    for at, dtype in enumerate(like.dtypes):
        column = found.iloc[:, at]
        if (values := _of_missing(column, dtype)) is not column:
            found = found.copy(deep=False)
            found.isetitem(at, values)
    return found


def _of_missing(column: Any, dtype: Any) -> Any:
    """Return a column of missing values only in the type that others have."""
    untyped = column.dtype in ("object", "float64") and column.dtype != dtype
    if not untyped or dtype == "object" or not column.isna().all():
        return column
    gaps = isinstance(dtype, np.dtype) and dtype.kind in "iub"
    return column.astype(float if gaps else dtype)


@dataclass(frozen=True, eq=False)
class MapPartitions(FrameNode):
    """A user's function of the partitions of equal number, and of constants."""

    settled: ClassVar[bool] = False

    pins_grid = True
    values_tell: ClassVar[bool] = True

    func: Callable[..., Any]
    args: tuple[Any, ...]
    names: tuple[str, ...]
    """The keywords of the last arguments."""
    kwargs: tuple[tuple[str, Any], ...]
    place: str | None
    found: Any = field(repr=False)
    """The result without rows."""
    checks: bool

    @property
    def label(self) -> str:
        return function_label(self.func)

    @property
    def meta(self) -> Any:
        return self.found

    @property
    def _count(self) -> int:
        return max(len(node.chunks[0]) for node in self.inputs if not is_row(node))

    @property
    def chunks(self) -> Chunks:
        return (unknown_sizes(self.name, [None] * self._count),)

    def tile(self, *grids: Grid) -> Grid:
        count = self._count
        whole = [is_row(node) or len(node.chunks[0]) < count for node in self.inputs]
        sources = tuple(
            as_one_chunk(grid) if alone and grid.ndim else grid
            for grid, alone in zip(grids, whole, strict=True)
        )
        axes = tuple(
            (None,) * grid.ndim if alone else (0,)
            for grid, alone in zip(sources, whole, strict=True)
        )
        template = tuple(Argument.PARTITION if isinstance(arg, Node) else arg for arg in self.args)
        call = OfPartition(self.func, template, self.names, self.place, self.found, self.checks)
        varying = ChunkAt() if self.place else None
        return self.grid(Blockwise(call, sources, axes, dict(self.kwargs), varying), self.chunks[0])


@public_call
def map_partitions(
    func: Callable[..., Any],
    *args: Any,
    meta: Any = None,
    enforce_metadata: bool = True,
    align_dataframes: bool = False,
    **kwargs: Any,
) -> DataFrame | Series | Index:
    """Call a function with each partition. See dask.dataframe.map_partitions.

    Frames among the arguments have as many partitions, or one. Without ``meta`` the function is
    called with made-up rows, which show the columns and types of the result. It is called with
    ``partition_info`` if it has an argument of this name.

    Parameters
    ----------
    func : callable
        Returns a DataFrame, a Series, an Index or a scalar.
    *args
        Frames, series and constants.
    meta : pandas object, dict or tuple, optional
        The columns and types of the result.
    enforce_metadata : bool
        Whether each result is checked against ``meta``.
    align_dataframes : bool
        Not supported.
    **kwargs
        Keywords of the function.

    Returns
    -------
    DataFrame, Series or Index
        The results, one after the other.

    Raises
    ------
    ValueError
        If the numbers of partitions differ, or if the function raises for made-up rows.
    NotImplementedError
        For ``align_dataframes``.

    Examples
    --------
    >>> frame = md.DataFrame({"a": [1, 2, 3]}, chunk_size=2)
    >>> md.map_partitions(len, frame).compute().tolist()
    [2, 1]
    """
    place = "partition_info" if "partition_info" in keywords_of(func) else None
    if align_dataframes:
        raise NotImplementedError(
            "map_partitions(align_dataframes=True) is not supported; use merge(), or "
            "repartition() both by equal divisions"
        )
    kwargs = {name: value for name, value in kwargs.items() if name not in IGNORED}
    result: DataFrame | Series | Index
    result = _mapped(func, args, kwargs, meta, place, checks=enforce_metadata)
    return result


def _mapped(
    func: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    meta: Any,
    place: str | None,
    *,
    checks: bool,
) -> Any:
    names = tuple(name for name, value in kwargs.items() if isinstance(value, Collection))
    inputs = (*args, *map(kwargs.pop, names))
    nodes = tuple(_operand(arg.node) if isinstance(arg, Collection) else arg for arg in inputs)
    rows = [arg for arg in nodes if isinstance(arg, Node) and not is_row(arg)]
    counts = {len(arg.chunks[0]) for arg in rows}
    if not rows:
        raise ValueError("map_partitions() expects a DataFrame or a Series among its arguments")
    if len(counts - {1}) > 1:
        raise ValueError(f"the numbers of partitions differ: {sorted(counts)}; use repartition()")
    if meta is None or meta is pd.api.extensions.no_default:
        result = _shown(func, nodes, names, kwargs, place)
    else:
        result = meta[:0] if isinstance(meta, pd.Index) else declared(meta, rows[0].meta)
    scalar = not isinstance(result, ROWS)
    like = pd.Series([], dtype=np.asarray(result).dtype) if scalar else result
    node = MapPartitions(func, nodes, names, tuple(kwargs.items()), place, like, checks)
    return reset_index(lazy(node), drop=True) if scalar else lazy(node)


def _operand(node: Node) -> Node:
    """Return a node whose partitions have one type, as a function sees them in pandas."""
    return node if node.settled or is_row(node) else OneType(node)


def _shown(
    func: Any, nodes: tuple[Any, ...], names: tuple[str, ...], kwargs: Any, place: str | None
) -> Any:
    """Return what a function gives for made-up rows, without rows."""
    args = [made_up(node) if isinstance(node, Node) else node for node in nodes]
    first = len(args) - len(names)
    options = {**kwargs, **dict(zip(names, args[first:], strict=True))}
    if place is not None:
        options[place] = place_of(place, 0, args[0])
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = func(*args[:first], **options)
    except Exception as error:
        name = function_name(func)
        raise ValueError(
            f"Metadata inference failed in `{name}`: it was called with made-up rows to find the "
            f"columns and types of the result, and raised {type(error).__name__}: {error}; pass "
            "meta="
        ) from error
    return empty_rows(result) if isinstance(result, ROWS) else result


def made_up(node: Node) -> Any:
    """Return a few rows of a node's types and labels."""
    meta = node.meta
    if is_row(node):
        return np.ones_like(meta) if isinstance(meta, np.ndarray) else meta
    if isinstance(meta, pd.Index):
        return labels_like(meta)
    return sample(meta).set_axis(labels_like(meta.index), axis=0)


def keywords_of(func: Any) -> list[str]:
    """Return the names of a function's parameters, if it tells them."""
    try:
        return list(inspect.signature(func).parameters)
    except (TypeError, ValueError):
        return []


@keeps_lazy("arguments")
def map_own_partitions(
    obj: Any, func: Callable[..., Any], *args: Any, **kwargs: Any
) -> DataFrame | Series | Index:
    """Call a function with each partition. See dask.dataframe.map_partitions.

    Returns
    -------
    DataFrame, Series or Index
        The results, one after the other.
    """
    return map_partitions(func, obj, *args, **kwargs)


@keeps_lazy("arguments")
def map_chunk(
    obj: Any,
    func: Callable[..., Any],
    args: tuple[Any, ...] = (),
    *,
    with_chunk_index: bool = False,
    meta: Any = None,
    **kwargs: Any,
) -> DataFrame | Series:
    """Call a function with each chunk, as in Mars.

    Parameters
    ----------
    func : callable
        Returns a DataFrame, a Series or a scalar.
    args : tuple
        Further arguments.
    with_chunk_index : bool
        Whether the function is called with ``chunk_index``, the position of the chunk.
    meta : pandas object, dict or tuple, optional
        The columns and types of the result.
    **kwargs
        Keywords of the function, and ``dtypes``, ``dtype``, ``name`` and ``index`` of Mars.

    Returns
    -------
    DataFrame or Series
        The results, one after the other.

    Examples
    --------
    >>> md.DataFrame({"a": [1, 2, 3]}, chunk_size=2).map_chunk(lambda x: x * 2).a.compute().tolist()
    [2, 4, 6]
    """
    dtypes, dtype, name = (kwargs.pop(option, None) for option in ("dtypes", "dtype", "name"))
    for unsaid in ("skip_infer", "output_type", "index"):
        kwargs.pop(unsaid, None)
    if meta is None and dtypes is not None:
        meta = list(pd.Series(dtypes).items())
    elif meta is None and dtype is not None:
        meta = (name, dtype)
    place = "chunk_index" if with_chunk_index else None
    chunks: DataFrame | Series = _mapped(func, (obj, *args), kwargs, meta, place, checks=True)
    return chunks


@kernel(scratch=3.0)
def overlapped(
    parts: list[Any],
    own: Any,
    begin: int,
    *,
    func: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: tuple[tuple[str, Any], ...],
    like: Any,
) -> Any:
    """Return a function's result for a partition and some rows around it, without these rows."""
    if not len(own):
        return like.set_axis(own.index, axis=0)
    rows = concat(parts)
    result = conformed(func(rows, *args, **dict(kwargs)), like, checks=True)
    if len(result) != len(rows):
        raise ValueError(
            f"the function returned {len(result)} rows for {len(rows)}; map_overlap() needs as "
            "many, use map_partitions() for others"
        )
    return result.iloc[begin : begin + len(own)].set_axis(own.index, axis=0)


@dataclass(frozen=True, eq=False)
class Overlapped(RowStencil):
    """A function of the user, who sees whole chunks."""

    @property
    def rows_behind(self) -> None:
        return None


@keeps_lazy("arguments")
def map_overlap(
    obj: Any,
    func: Callable[..., Any],
    before: int,
    after: int,
    *args: Any,
    meta: Any = None,
    **kwargs: Any,
) -> DataFrame | Series:
    """Call a function with each partition and rows around it. See dask.dataframe.map_overlap.

    The function returns as many rows as it gets; those of the neighbours are dropped.

    Returns
    -------
    DataFrame or Series
        The results, one after the other.
    """
    whole = isinstance(before, int | np.integer) and isinstance(after, int | np.integer)
    if not whole:
        raise NotImplementedError(
            "map_overlap() of a time is not supported; use numbers of rows before and after"
        )
    if before < 0 or after < 0:
        raise ValueError("before and after must be positive integers")
    kwargs = {name: value for name, value in kwargs.items() if name not in IGNORED}
    node = _operand(obj.node)
    if meta is None or meta is pd.api.extensions.no_default:
        like = _shown(func, (node, *args), (), kwargs, None)
    else:
        like = declared(meta, node.meta)
    call = {"func": func, "args": args, "kwargs": tuple(kwargs.items()), "like": like}
    depth = (int(before), int(after))
    result: DataFrame | Series = lazy(
        Overlapped(node, "map_overlap", overlapped, depth, tuple(call.items()))
    )
    return result
