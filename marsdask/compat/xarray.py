"""Tensors in xarray: the chunk manager behind ``chunk(chunked_array_type="marsdask")``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from xarray.core.indexing import DaskIndexingAdapter
from xarray.namedarray.daskmanager import DaskManager
from xarray.namedarray.parallelcompat import ChunkManagerEntrypoint


def is_tensor(data: Any) -> bool:
    """Tell tensors from Dask's arrays, without importing what nobody has used."""
    kinds = ((kind.__module__, kind.__name__) for kind in type(data).__mro__)
    return ("marsdask.tensor.tensor", "Tensor") in kinds


def is_dask_array(self: DaskManager, data: Any) -> bool:
    """Leave tensors, which are Dask collections too, to their own manager."""
    return not is_tensor(data) and take(self, data)


def from_array(self: DaskManager, data: Any, chunks: Any, **kwargs: Any) -> Any:
    """Let tensors be tensors where a call without ``chunked_array_type`` cuts them anew."""
    if is_tensor(data):
        return TensorManager().rechunk(data, _asked(chunks, data.shape))
    return make(self, data, chunks, **kwargs)


def along_each_axis(self: DaskIndexingAdapter, indexer: Any) -> Any:
    """Index axis by axis: several lists are points to tensors, and Dask refuses them."""
    value = self.array
    if not is_tensor(value):
        return outer(self, indexer)
    for axis, part in reversed(list(enumerate(indexer.tuple))):
        value = value[(*(slice(None),) * axis, part)]
    return value


outer: Callable[[DaskIndexingAdapter, Any], Any] = DaskIndexingAdapter._oindex_get
DaskIndexingAdapter._oindex_get = along_each_axis
take: Callable[[DaskManager, Any], bool] = DaskManager.is_chunked_array
make: Callable[..., Any] = DaskManager.from_array
# xarray refuses arrays that two managers take, and Dask's takes every collection (ADR 0061).
DaskManager.is_chunked_array = is_dask_array
DaskManager.from_array = from_array


class TensorManager(ChunkManagerEntrypoint[Any]):
    """The chunk manager by which xarray uses ``marsdask.tensor``."""

    available = True

    def __init__(self) -> None:
        """Keep what loads nothing: xarray makes every manager that is installed."""

    @property
    def array_cls(self) -> type[Any]:
        """The class of the arrays."""
        cls: type[Any] = self.array_api.Tensor
        return cls

    @property
    def array_api(self) -> Any:
        """The functions of NumPy's names."""
        import marsdask.tensor  # the first tensor loads it

        return marsdask.tensor

    def is_chunked_array(self, data: Any) -> bool:
        return is_tensor(data)

    def chunks(self, data: Any) -> Any:
        return data.chunks

    def normalize_chunks(
        self,
        chunks: Any,
        shape: tuple[int, ...] | None = None,
        limit: int | None = None,
        dtype: Any = None,
        previous_chunks: Any = None,
    ) -> Any:
        from dask.array.core import normalize_chunks  # only Dask knows `previous_chunks`

        return normalize_chunks(
            chunks, shape=shape, limit=limit, dtype=dtype, previous_chunks=previous_chunks
        )

    def from_array(self, data: Any, chunks: Any, **kwargs: Any) -> Any:
        kwargs.pop("name", None)
        kwargs.pop("meta", None)
        whole = _whole_if_empty(chunks, data.shape)
        return self.array_api.from_array(data, _filled(whole, data.shape), **kwargs)

    def rechunk(self, data: Any, chunks: Any, **kwargs: Any) -> Any:
        return data.rechunk(_whole_if_empty(chunks, data.shape), **kwargs)

    def compute(self, *data: Any, **kwargs: Any) -> tuple[Any, ...]:
        values: tuple[Any, ...] = self.array_api.compute(*data, **kwargs)
        return values

    def persist(self, *data: Any, **kwargs: Any) -> tuple[Any, ...]:
        return tuple(array.persist(**kwargs) if is_tensor(array) else array for array in data)

    def reduction(
        self,
        arr: Any,
        func: Callable[..., Any],
        combine_func: Callable[..., Any] | None = None,
        aggregate_func: Callable[..., Any] | None = None,
        axis: int | Sequence[int] | None = None,
        dtype: Any = None,
        keepdims: bool = False,
    ) -> Any:
        how = {"axis": axis, "dtype": dtype, "keepdims": keepdims}
        return self.array_api.reduction(
            arr, func, aggregate_func or combine_func or func, combine=combine_func, **how
        )

    def scan(
        self,
        func: Callable[..., Any],
        binop: Callable[..., Any],
        ident: float,
        arr: Any,
        axis: int | None = None,
        dtype: Any = None,
        **kwargs: Any,
    ) -> Any:
        from marsdask.tensor.scan.user_scan import cumreduction  # with the first tensor

        return cumreduction(func, binop, ident, arr, axis=axis, dtype=dtype, **kwargs)

    def apply_gufunc(self, func: Callable[..., Any], signature: str, *args: Any, **how: Any) -> Any:
        return self.array_api.apply_gufunc(func, signature, *args, **how)

    def map_blocks(self, func: Callable[..., Any], *args: Any, **how: Any) -> Any:
        return self.array_api.map_blocks(func, *args, **how)

    def blockwise(self, func: Callable[..., Any], out_ind: Any, *args: Any, **how: Any) -> Any:
        return self.array_api.blockwise(func, out_ind, *args, **how)

    def unify_chunks(self, *args: Any, **kwargs: Any) -> tuple[dict[str, Any], list[Any]]:
        result: tuple[dict[str, Any], list[Any]] = self.array_api.unify_chunks(*args, **kwargs)
        return result

    def store(self, sources: Any, targets: Any, **kwargs: Any) -> Any:
        return self.array_api.store(sources, targets, **kwargs)

    def shuffle(self, x: Any, indexer: list[list[int]], axis: int, chunks: Any) -> Any:
        return self.array_api.shuffle(x, indexer, axis, "auto" if chunks is None else chunks)

    def get_auto_chunk_size(self) -> int:
        from marsdask.core.config import options  # with the first tensor

        return int(options.chunk_store_limit)


def _whole_if_empty(chunks: Any, shape: tuple[int, ...]) -> Any:
    """Return the shape for automatic chunks of nothing, whose bytes cannot be divided."""
    sizes = chunks.values() if isinstance(chunks, Mapping) else chunks
    automatic = isinstance(sizes, str) or (np.iterable(sizes) and "auto" in list(sizes))
    return shape if automatic and 0 in shape else chunks


def _asked(chunks: Any, shape: tuple[int, ...]) -> Any:
    """Return the chunks of the axes that were named: xarray fills in the length of all others."""
    if not isinstance(chunks, tuple) or chunks == shape:
        return chunks
    pairs = enumerate(zip(chunks, shape, strict=True))
    return {axis: item for axis, (item, length) in pairs if item != length}


def _filled(chunks: Any, shape: tuple[int, ...]) -> Any:
    """Name the chunks of all axes: in xarray those left out are whole."""
    if not isinstance(chunks, Mapping):
        return chunks
    return tuple(chunks.get(axis, -1) for axis in range(len(shape)))
