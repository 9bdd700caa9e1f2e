"""The Tensor: a lazy array."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from marsdask.core.collection import Collection, rebind, register_collection
from marsdask.core.grids.grid import Grid
from marsdask.core.grids.rechunk import refined
from marsdask.core.sizes import Chunks, Index, known_or_nan

from . import blocks, protocols
from .array_function import array_function
from .chunkwise import coarsen, map_blocks, overlap
from .chunkwise import rebalance as layout
from .chunkwise.rechunk import rechunk, recut
from .creation.from_array import copy as copied
from .device import to_cpu, to_gpu
from .elementwise import ufuncs
from .indexing import boolean, getitem, inplace, setitem
from .indexing import choose as choices
from .io import dask_arrays, tiledb_arrays
from .io import store as storage
from .linalg import dot, matmul
from .manipulation import diagonals, views
from .manipulation.reshape import flatten, ravel, reshape
from .manipulation.shape import matrix_transpose, squeeze, swapaxes, transpose
from .reduction import argreduce, deviations, reductions
from .reduction.moment import moment as moment_of
from .scan import cumulative
from .sorting import searchsorted as bins
from .sorting.sort import argpartition, argsort, partition_in_place, sort_in_place
from .sorting.topk import argtopk, topk
from .sparse import conversion


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
        return tuple(map(known_or_nan, self._node.shape))

    @shape.setter
    def shape(self, value: Any) -> None:
        rebind(self, reshape(self, value).node)

    @property
    def chunks(self) -> tuple[tuple[int | float, ...], ...]:
        """The logical chunk sizes along each axis."""
        return tuple(tuple(map(known_or_nan, sizes)) for sizes in self._node.chunks)

    @classmethod
    def _assemble(cls, parts: Mapping[Index, Any], meta: Any, *, owned: bool) -> Any:
        return blocks.assemble(parts, meta, owned=owned)

    _settled = staticmethod(blocks.settled)
    _cast = staticmethod(blocks.cast_chunks)

    @classmethod
    def _recut(cls, grid: Grid, chunks: Chunks) -> Grid:
        views = refined(grid, chunks)
        return recut(grid, chunks) if views is None else views

    def __repr__(self) -> str:
        return blocks.representation(self) if self._is_executed() else self._describe()

    def __str__(self) -> str:
        return blocks.text(self) if self._is_executed() else self._describe()

    def _repr_html_(self) -> str:
        return blocks.html(self)

    to_numpy = Collection.to_object
    to_dask = method(dask_arrays.to_dask)
    to_dask_dataframe = method(dask_arrays.to_dask_dataframe)
    to_dataframe = method(dask_arrays.to_dataframe)
    to_delayed = method(dask_arrays.to_delayed)
    store = method(storage.store)
    to_zarr = method(storage.to_zarr)
    to_tiledb = method(tiledb_arrays.to_tiledb)
    totiledb = to_tiledb
    map_chunk = method(map_blocks.map_chunk)
    to_svg = method(blocks.svg)
    to_backend = method(dask_arrays.to_backend)
    map_overlap = method(overlap.map_overlap_method)
    blocks = property(map_blocks.BlockView)
    partitions = property(map_blocks.BlockView)
    vindex = property(getitem.PointView)
    shuffle = method(coarsen.shuffle)

    @property
    def name(self) -> str:
        """The name of the operation, by which its keys begin."""
        return self._node.name

    def map_blocks(self, func: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call a function of the chunks; see :func:`marsdask.tensor.map_blocks`.

        Returns
        -------
        Tensor
            The results, side by side.
        """
        return map_blocks.map_blocks(func, self, *args, **kwargs)

    def to_hdf5(self, filename: Any, datapath: str, **options: Any) -> Any:
        """Write to a dataset of an HDF5 file; see :func:`marsdask.tensor.to_hdf5`.

        Parameters
        ----------
        filename : str or h5py.File
            The file, or its path.
        datapath : str
            The name of the dataset.
        **options
            Further arguments of :func:`marsdask.tensor.to_hdf5`.

        Returns
        -------
        Tensor
            What was executed.
        """
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
        """Execute if sizes are not known, and return the tensor itself.

        Returns
        -------
        Tensor
            The tensor itself.
        """
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
    __array_function__ = array_function
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
    __add__ = protocols.binary(ufuncs.add)
    __radd__ = protocols.reflected(ufuncs.add)
    __iadd__ = protocols.inplace(np.add)
    __sub__ = protocols.binary(ufuncs.subtract)
    __rsub__ = protocols.reflected(ufuncs.subtract)
    __isub__ = protocols.inplace(np.subtract)
    __mul__ = protocols.binary(ufuncs.multiply)
    __rmul__ = protocols.reflected(ufuncs.multiply)
    __imul__ = protocols.inplace(np.multiply)
    __truediv__ = protocols.binary(ufuncs.divide)
    __rtruediv__ = protocols.reflected(ufuncs.divide)
    __itruediv__ = protocols.inplace(np.divide)
    __floordiv__ = protocols.binary(ufuncs.floor_divide)
    __rfloordiv__ = protocols.reflected(ufuncs.floor_divide)
    __ifloordiv__ = protocols.inplace(np.floor_divide)
    __mod__ = protocols.binary(ufuncs.remainder)
    __rmod__ = protocols.reflected(ufuncs.remainder)
    __imod__ = protocols.inplace(np.remainder)
    __divmod__ = protocols.binary(ufuncs.divmod)
    __rdivmod__ = protocols.reflected(ufuncs.divmod)
    __pow__ = protocols.power
    __rpow__ = protocols.reflected(ufuncs.power)
    __ipow__ = protocols.inplace(np.power)
    __matmul__ = protocols.binary(matmul)
    __rmatmul__ = protocols.reflected(matmul)
    __imatmul__ = protocols.inplace_by(matmul)
    __and__ = protocols.binary(ufuncs.bitwise_and)
    __rand__ = protocols.reflected(ufuncs.bitwise_and)
    __iand__ = protocols.inplace(np.bitwise_and)
    __or__ = protocols.binary(ufuncs.bitwise_or)
    __ror__ = protocols.reflected(ufuncs.bitwise_or)
    __ior__ = protocols.inplace(np.bitwise_or)
    __xor__ = protocols.binary(ufuncs.bitwise_xor)
    __rxor__ = protocols.reflected(ufuncs.bitwise_xor)
    __ixor__ = protocols.inplace(np.bitwise_xor)
    __lshift__ = protocols.binary(ufuncs.left_shift)
    __rlshift__ = protocols.reflected(ufuncs.left_shift)
    __ilshift__ = protocols.inplace(np.left_shift)
    __rshift__ = protocols.binary(ufuncs.right_shift)
    __rrshift__ = protocols.reflected(ufuncs.right_shift)
    __irshift__ = protocols.inplace(np.right_shift)
    __eq__ = protocols.binary(ufuncs.alike)
    __ne__ = protocols.binary(ufuncs.unlike)
    __lt__ = protocols.binary(ufuncs.less)
    __le__ = protocols.binary(ufuncs.less_equal)
    __gt__ = protocols.binary(ufuncs.greater)
    __ge__ = protocols.binary(ufuncs.greater_equal)
    __neg__ = method(ufuncs.negative)
    __pos__ = method(ufuncs.positive)
    __abs__ = method(ufuncs.absolute)
    __invert__ = method(ufuncs.invert)
    __dlpack__ = protocols.dlpack
    __dlpack_device__ = protocols.dlpack_device
    device = property(protocols.device)
    to_device = protocols.to_device
    real = property(ufuncs.real, inplace.set_real)
    imag = property(ufuncs.imag, inplace.set_imag)
    astype = method(ufuncs.astype)
    clip = method(ufuncs.clip)
    round = method(ufuncs.around)
    conj = method(ufuncs.conj)
    conjugate = method(ufuncs.conjugate)
    sum = method(reductions.sum)
    prod = method(reductions.prod)
    min = method(reductions.min)
    max = method(reductions.max)
    mean = method(reductions.mean)
    var = method(deviations.var)
    std = method(deviations.std)
    any = method(reductions.any)
    all = method(reductions.all)
    ptp = method(reductions.ptp)
    moment = method(moment_of)
    argmin = method(argreduce.argmin)
    argmax = method(argreduce.argmax)
    cumsum = method(cumulative.cumsum)
    cumprod = method(cumulative.cumprod)
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
    __getitem__ = method(getitem.getitem)
    __setitem__ = method(setitem.setitem)
    take = method(getitem.take)
    choose = method(choices.choose)
    searchsorted = method(bins.searchsorted)
    fill = method(inplace.fill)
    put = method(inplace.put)
    resize = method(inplace.resize_in_place)
    flat = property(views.Flat, views.set_flat)
    view = method(views.view)
    byteswap = method(views.byteswap)
    repeat = method(diagonals.repeat)
    diagonal = method(diagonals.diagonal)
    trace = method(diagonals.trace)
    nonzero = method(boolean.nonzero)
    compress = method(boolean.compressed)
    reshape = method(reshape)
    ravel = method(ravel)
    flatten = method(flatten)
    T = property(transpose)
    mT = property(matrix_transpose)  # noqa: N815 - NumPy's name
    transpose = method(transpose)
    swapaxes = method(swapaxes)
    squeeze = method(squeeze)
    copy = method(copied)
    to_gpu = method(to_gpu)
    to_cpu = method(to_cpu)
    tosparse = method(conversion.tosparse)
    todense = method(conversion.todense)
    issparse = method(conversion.issparse)
    is_sparse = issparse


register_collection(np.ndarray, Tensor)
