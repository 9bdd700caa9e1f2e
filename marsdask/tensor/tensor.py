"""The Tensor: a lazy array."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from marsdask.core.chunk import Grid
from marsdask.core.collection import Collection, register_collection
from marsdask.core.types import Chunks, Index, public

from . import (
    argreduce,
    arrange,
    bins,
    blocks,
    choices,
    derived,
    deviations,
    edits,
    elementwise,
    exchange,
    index,
    layout,
    mapblocks,
    masks,
    overlap,
    protocols,
    reduce,
    regroup,
    scan,
    setitem,
    sparse,
    storage,
    tiledb_arrays,
    views,
)
from .device import to_cpu, to_gpu
from .linalg import dot, matmul
from .rechunk import rechunk, recut
from .reshape import flatten, ravel, reshape
from .shape import matrix_transpose, squeeze, swapaxes, transpose
from .sort import argpartition, argsort, partition_in_place, sort_in_place
from .topk import argtopk, topk


def method(func: Callable[..., Any]) -> Any:
    """Return a function of a tensor as a method."""

    def call(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        return func(self, *args, **kwargs)

    call.__name__ = func.__name__
    call.__doc__ = func.__doc__
    call.__wrapped__ = func  # type: ignore[attr-defined]  # what signatures and help() show
    return call


class Tensor(Collection):
    """A lazy n-dimensional array over chunks; NumPy's vocabulary, Mars's and Dask's verbs."""

    __slots__ = ()
    __array_priority__ = 20

    @property
    def dtype(self) -> np.dtype[Any]:
        """The element type."""
        dtype: np.dtype[Any] = self._node.meta.dtype
        return dtype

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self._node.chunks)

    @property
    def shape(self) -> tuple[int | float, ...]:
        """The length of each axis; nan where only running can tell."""
        return tuple(map(public, self._node.shape))

    @shape.setter
    def shape(self, value: Any) -> None:
        self._node = reshape(self, value).node

    @property
    def chunks(self) -> tuple[tuple[int | float, ...], ...]:
        """The logical chunk sizes along each axis."""
        return tuple(tuple(map(public, sizes)) for sizes in self._node.chunks)

    @classmethod
    def _assemble(cls, parts: Mapping[Index, Any], meta: Any, *, owned: bool) -> Any:
        return blocks.assemble(parts, meta, owned=owned)

    @classmethod
    def _recut(cls, grid: Grid, chunks: Chunks) -> Grid:
        return recut(grid, chunks)

    def __repr__(self) -> str:
        return blocks.representation(self) if self._is_executed() else self._describe()

    def __str__(self) -> str:
        return blocks.text(self) if self._is_executed() else self._describe()

    def _repr_html_(self) -> str:
        return blocks.html(self)

    to_numpy = Collection.to_object
    to_dask = method(exchange.to_dask)
    to_dask_dataframe = method(exchange.to_dask_dataframe)
    to_dataframe = method(exchange.to_dataframe)
    to_delayed = method(exchange.to_delayed)
    store = method(storage.store)
    to_zarr = method(storage.to_zarr)
    to_tiledb = method(tiledb_arrays.to_tiledb)
    totiledb = to_tiledb
    map_chunk = method(mapblocks.map_chunk)
    to_svg = method(blocks.svg)
    to_backend = method(exchange.to_backend)
    map_overlap = method(overlap.map_overlap_method)
    blocks = property(mapblocks.BlockView)
    partitions = property(mapblocks.BlockView)
    vindex = property(index.PointView)
    shuffle = method(regroup.shuffle)

    @property
    def name(self) -> str:
        """The name of the operation, by which its keys begin."""
        return self._node.name

    def map_blocks(self, func: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call a function of the chunks; see :func:`marsdask.tensor.map_blocks`."""
        return mapblocks.map_blocks(func, self, *args, **kwargs)

    def to_hdf5(self, filename: Any, datapath: str, **options: Any) -> Any:
        """Write to a dataset of an HDF5 file; see :func:`marsdask.tensor.to_hdf5`."""
        return storage.to_hdf5(filename, datapath, self, **options)

    @property
    def numblocks(self) -> tuple[int, ...]:
        """The number of logical chunks along each axis."""
        return tuple(map(len, self.chunks))

    @property
    def npartitions(self) -> int:
        """The number of logical chunks."""
        return math.prod(self.numblocks)

    @property
    def chunksize(self) -> tuple[int | float, ...]:
        """The largest chunk size along each axis."""
        return tuple(max(sizes, default=0) for sizes in self.chunks)

    def compute_chunk_sizes(self) -> Tensor:
        """Execute if sizes are not known, and return the tensor itself."""
        if any(map(math.isnan, self.shape)):
            self.execute()
        return self

    @property
    def size(self) -> int | float:
        """The number of elements; nan where only running can tell."""
        return math.prod(self.shape)

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int | float:
        """Bytes of all elements; nan where only running can tell."""
        return self.size * self.itemsize

    @property
    def flags(self) -> Any:
        """How the array that is computed lies in memory."""
        return np.empty((1,) * self.ndim, self.dtype).flags

    # NumPy's protocols.
    __array_ufunc__ = protocols.array_ufunc
    __array_function__ = protocols.array_function
    __array__ = protocols.array
    __array_namespace__ = protocols.array_namespace
    # Python's: what needs a value computes it.
    __bool__ = protocols.truth
    __int__ = protocols.as_int
    __float__ = protocols.as_float
    __complex__ = protocols.as_complex
    __index__ = protocols.as_index
    __format__ = protocols.formatted
    __len__ = protocols.length
    __contains__ = protocols.contains
    __iter__ = protocols.iterate
    item = protocols.item
    tolist = protocols.tolist
    # Equal tensors are not equal objects: == is elementwise.
    __hash__ = None  # type: ignore[assignment]
    __add__ = protocols.binary(elementwise.add)
    __radd__ = protocols.reflected(elementwise.add)
    __iadd__ = protocols.inplace(np.add)
    __sub__ = protocols.binary(elementwise.subtract)
    __rsub__ = protocols.reflected(elementwise.subtract)
    __isub__ = protocols.inplace(np.subtract)
    __mul__ = protocols.binary(elementwise.multiply)
    __rmul__ = protocols.reflected(elementwise.multiply)
    __imul__ = protocols.inplace(np.multiply)
    __truediv__ = protocols.binary(elementwise.divide)
    __rtruediv__ = protocols.reflected(elementwise.divide)
    __itruediv__ = protocols.inplace(np.divide)
    __floordiv__ = protocols.binary(elementwise.floor_divide)
    __rfloordiv__ = protocols.reflected(elementwise.floor_divide)
    __ifloordiv__ = protocols.inplace(np.floor_divide)
    __mod__ = protocols.binary(elementwise.remainder)
    __rmod__ = protocols.reflected(elementwise.remainder)
    __imod__ = protocols.inplace(np.remainder)
    __divmod__ = protocols.binary(elementwise.divmod)
    __rdivmod__ = protocols.reflected(elementwise.divmod)
    __pow__ = protocols.power
    __rpow__ = protocols.reflected(elementwise.power)
    __ipow__ = protocols.inplace(np.power)
    __matmul__ = protocols.binary(matmul)
    __rmatmul__ = protocols.reflected(matmul)
    __imatmul__ = protocols.inplace_by(matmul)
    __and__ = protocols.binary(elementwise.bitwise_and)
    __rand__ = protocols.reflected(elementwise.bitwise_and)
    __iand__ = protocols.inplace(np.bitwise_and)
    __or__ = protocols.binary(elementwise.bitwise_or)
    __ror__ = protocols.reflected(elementwise.bitwise_or)
    __ior__ = protocols.inplace(np.bitwise_or)
    __xor__ = protocols.binary(elementwise.bitwise_xor)
    __rxor__ = protocols.reflected(elementwise.bitwise_xor)
    __ixor__ = protocols.inplace(np.bitwise_xor)
    __lshift__ = protocols.binary(elementwise.left_shift)
    __rlshift__ = protocols.reflected(elementwise.left_shift)
    __ilshift__ = protocols.inplace(np.left_shift)
    __rshift__ = protocols.binary(elementwise.right_shift)
    __rrshift__ = protocols.reflected(elementwise.right_shift)
    __irshift__ = protocols.inplace(np.right_shift)
    __eq__ = protocols.binary(elementwise.alike)
    __ne__ = protocols.binary(elementwise.unlike)
    __lt__ = protocols.binary(elementwise.less)
    __le__ = protocols.binary(elementwise.less_equal)
    __gt__ = protocols.binary(elementwise.greater)
    __ge__ = protocols.binary(elementwise.greater_equal)
    __neg__ = method(elementwise.negative)
    __pos__ = method(elementwise.positive)
    __abs__ = method(elementwise.absolute)
    __invert__ = method(elementwise.invert)
    __dlpack__ = protocols.dlpack
    __dlpack_device__ = protocols.dlpack_device
    device = property(protocols.device)
    to_device = protocols.to_device
    real = property(elementwise.real, edits.set_real)
    imag = property(elementwise.imag, edits.set_imag)
    astype = method(elementwise.astype)
    clip = method(elementwise.clip)
    round = method(elementwise.around)
    conj = method(elementwise.conj)
    conjugate = method(elementwise.conjugate)
    sum = method(reduce.sum)
    prod = method(reduce.prod)
    min = method(reduce.min)
    max = method(reduce.max)
    mean = method(reduce.mean)
    var = method(deviations.var)
    std = method(deviations.std)
    any = method(reduce.any)
    all = method(reduce.all)
    ptp = method(reduce.ptp)
    moment = method(derived.moment)
    argmin = method(argreduce.argmin)
    argmax = method(argreduce.argmax)
    cumsum = method(scan.cumsum)
    cumprod = method(scan.cumprod)
    dot = method(dot)
    sort = method(sort_in_place)
    argsort = method(argsort)
    partition = method(partition_in_place)
    argpartition = method(argpartition)
    topk = method(topk)
    argtopk = method(argtopk)
    rechunk = method(rechunk)
    rebalance = method(layout.rebalance)
    get_chunk_slices = method(layout.chunk_slices)
    is_scalar = method(layout.is_scalar)
    isscalar = method(layout.is_scalar)
    __getitem__ = method(index.getitem)
    __setitem__ = method(setitem.setitem)
    take = method(index.take)
    choose = method(choices.choose)
    searchsorted = method(bins.searchsorted)
    fill = method(edits.fill)
    put = method(edits.put)
    resize = method(edits.resize_in_place)
    flat = property(views.Flat, views.set_flat)
    view = method(views.view)
    byteswap = method(views.byteswap)
    repeat = method(arrange.repeat)
    diagonal = method(arrange.diagonal)
    trace = method(arrange.trace)
    nonzero = method(masks.nonzero)
    compress = method(masks.compressed)
    reshape = method(reshape)
    ravel = method(ravel)
    flatten = method(flatten)
    T = property(transpose)
    mT = property(matrix_transpose)  # noqa: N815 - NumPy's name
    transpose = method(transpose)
    swapaxes = method(swapaxes)
    squeeze = method(squeeze)
    copy = method(derived.copy)
    to_gpu = method(to_gpu)
    to_cpu = method(to_cpu)
    tosparse = method(sparse.tosparse)
    todense = method(sparse.todense)
    issparse = method(sparse.issparse)
    is_sparse = issparse


register_collection(np.ndarray, Tensor)
