"""Frames of what a function returns, of arrays and of dicts, in Dask's words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import pandas as pd

from marsdask.core import sizes
from marsdask.core.grids.blockwise import Blockwise
from marsdask.core.grids.grid import Grid
from marsdask.core.public import public_call
from marsdask.core.sizes import Chunks, unknown_sizes
from marsdask.core.snapshots.functions import function_name, shown_text
from marsdask.tensor import from_dask as tensor_from_dask
from marsdask.tensor import tensor

from ..create import frame_from_tensor, from_pandas, series_from_tensor
from ..nodes.frame_node import FrameNode
from ..reduction.reductions import collection_of as lazy
from ..rows import declared, empty_rows
from .map_partitions import ROWS, conformed

if TYPE_CHECKING:
    from ..frame import DataFrame
    from ..index import Index
    from ..series import Series


@dataclass(frozen=True)
class ItemsAt:
    """Gives each chunk the items of its number."""

    items: tuple[tuple[Any, ...], ...] = field(repr=False)

    def __call__(self, index: sizes.Index) -> tuple[tuple[Any, ...]]:
        return (self.items[index[0]],)


@dataclass(frozen=True, eq=False)
class FromMap(FrameNode):
    """Partitions that a function returns, one for each item."""

    settled: ClassVar[bool] = False

    pins_grid = True
    values_tell: ClassVar[bool] = True

    func: Callable[..., Any]
    items: tuple[tuple[Any, ...], ...] = field(repr=False)
    args: tuple[Any, ...]
    kwargs: tuple[tuple[str, Any], ...]
    found: Any = field(repr=False)
    """The result without rows."""
    checks: bool

    @property
    def meta(self) -> Any:
        return self.found

    @property
    def chunks(self) -> Chunks:
        return (unknown_sizes(self.name, [None] * len(self.items)),)

    def chunk_origin(self, index: sizes.Index) -> str:
        return f"{function_name(self.func)} of {shown_text(self.items[index[0]])}"

    def tile(self, *inputs: Any) -> Grid:
        del inputs
        how = {"args": self.args, "kwargs": self.kwargs}
        kwargs = {"func": self.func, "like": self.found, "checks": self.checks, **how}
        return self.grid(Blockwise(made, (), (), kwargs, ItemsAt(self.items)), self.chunks[0])


def made(
    items: tuple[Any, ...],
    *,
    func: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: tuple[tuple[str, Any], ...],
    like: Any,
    checks: bool,
) -> Any:
    """Return the partition of an item."""
    return conformed(func(*items, *args, **dict(kwargs)), like, checks=checks)


@public_call
def from_map(
    func: Callable[..., Any],
    *iterables: Iterable[Any],
    args: tuple[Any, ...] = (),
    meta: Any = None,
    label: str | None = None,
    divisions: Any = None,
    enforce_metadata: bool = False,
    **kwargs: Any,
) -> DataFrame | Series | Index:
    """Return a frame of what a function returns for each item. See dask.dataframe.from_map.

    Without ``meta`` the function is called at once with the first items. ``label`` and
    ``divisions`` change nothing.

    Returns
    -------
    DataFrame, Series or Index
        The results, one after the other.
    """
    del label, divisions
    items = tuple(zip(*iterables, strict=True))
    if not iterables or not items:
        raise ValueError("`iterables` must have a non-zero length")
    arguments = tuple(args or ())
    no_default = pd.api.extensions.no_default
    if meta is None or meta is no_default:
        meta = func(*items[0], *arguments, **kwargs)
    if not isinstance(meta, pd.Index):
        meta = declared(meta, pd.Series(dtype=object))
    like = empty_rows(meta)
    if not isinstance(like, ROWS):
        raise TypeError(f"from_map() expects a function of pandas objects, got {type(like)}")
    node = FromMap(func, items, arguments, tuple(kwargs.items()), like, enforce_metadata)
    frame: DataFrame | Series | Index = lazy(node)
    return frame


@public_call
def from_array(
    arr: Any, chunksize: int = 50_000, columns: Any = None, meta: Any = None
) -> DataFrame | Series:
    """Return a frame of an array of one or two axes. See dask.dataframe.from_array.

    An array of one axis gives a Series, whose name is ``columns``. ``meta`` changes nothing.
    """
    del meta
    values = tensor(arr, chunk_size=chunksize)
    return _of_tensor(values, columns)


@public_call
def from_dask_array(
    x: Any, columns: Any = None, index: Any = None, meta: Any = None
) -> DataFrame | Series:
    """Return a frame over the chunks of a dask.array. See dask.dataframe.from_dask_array.

    Returns
    -------
    DataFrame or Series
        A lazy object over the same chunks.
    """
    del meta
    if index is not None:
        raise NotImplementedError("from_dask_array(index=) is not supported; use set_index()")
    return _of_tensor(tensor_from_dask(x), columns)


def _of_tensor(values: Any, columns: Any) -> DataFrame | Series:
    if values.ndim == 1:
        return series_from_tensor(values, columns)
    return frame_from_tensor(values, columns)


@public_call
def from_dict(
    data: Mapping[Any, Any],
    npartitions: int | None = None,
    orient: str = "columns",
    dtype: Any = None,
    columns: Any = None,
) -> DataFrame:
    """Return a frame of a dict of columns or rows. See dask.dataframe.from_dict.

    Returns
    -------
    DataFrame
        A lazy frame.
    """
    frame: pd.DataFrame = pd.DataFrame.from_dict(
        data,
        orient,
        dtype=dtype,
        columns=columns,  # type: ignore[call-overload]
    )
    lazy_frame: DataFrame = from_pandas(frame, npartitions=npartitions)
    return lazy_frame
