"""The Tensor: a lazy array."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Final, ParamSpec, TypeAlias, TypeVar
from typing import cast as typed

import numpy as np

from marsdask.core.collection import Collection, register_collection
from marsdask.core.grids.grid import Grid
from marsdask.core.grids.rechunk import split_chunks
from marsdask.core.node import MemoryOrder
from marsdask.core.sizes import Chunks, Index, known_or_nan

from . import blocks, protocols
from .array_function import array_function
from .chunkwise import coarsen, map_blocks, overlap
from .chunkwise import rebalance as layout
from .chunkwise.map_blocks import BlockView
from .chunkwise.rechunk import rechunk, recut
from .creation.from_array import copied_in_c
from .device import to_cpu, to_gpu
from .elementwise import ufuncs
from .indexing import boolean, getitem, inplace, setitem
from .indexing import choose as choices
from .indexing.slicing import sliced_tensor
from .io import dask_arrays, hdf5_files, tiledb_arrays, zarr_arrays
from .io import store as storage
from .linalg import dot, matmul
from .manipulation import diagonals, repetition, views
from .manipulation.reshape import flatten, ravel, reshape
from .manipulation.shape import matrix_transpose, squeeze, swapaxes, transpose
from .memory_order import in_place
from .reduction import argreduce, deviations, reductions
from .reduction.moment import moment as moment_of
from .scan import cumulative
from .sharing import views as views_of
from .sharing.flags import Flags, TensorOrder, setflags
from .sharing.memory import base_of
from .sorting import searchsorted as bins
from .sorting.sort import argpartition, argsort, partition_in_place, sort_in_place
from .sorting.topk import argtopk, topk
from .sparse import conversion
from .typing import ArrayLike

P = ParamSpec("P")
R = TypeVar("R")
Comparison: TypeAlias = "Callable[[Any, Any], Tensor]"
"""``==``, which takes anything and is not a truth value."""


def method(func: Callable[P, R]) -> Callable[P, R]:
    """Return a function of a collection as a method."""

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        return func(self, *args, **kwargs)

    call.__name__ = func.__name__
    call.__doc__ = func.__doc__
    call.__wrapped__ = func  # type: ignore[attr-defined]  # what signatures and help() show
    return typed("Callable[P, R]", call)


class Tensor(Collection):
    """A lazy n-dimensional array over chunks; NumPy's functions, Mars's and Dask's methods."""

    __slots__ = ()
    __array_priority__: ClassVar[int] = 20
    #: Operators of pandas's objects call ours, which are lazy; those of lazy rows do not.
    __pandas_priority__: ClassVar[int] = 4900

    @property
    def dtype(self) -> np.dtype[Any]:
        """The element type; texts have no width, and times no unit, that only values tell."""
        dtype: np.dtype[Any] = self._node.shown_dtype
        return dtype

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self._node.chunks)

    @property
    def shape(self) -> tuple[int | float, ...]:
        """The length of each axis; nan if it is unknown."""
        return tuple(map(known_or_nan, self._node.shape))

    @shape.setter
    def shape(self, value: Any) -> None:
        views_of.shapeshift(self, value)

    @property
    def base(self) -> Tensor | None:
        """The tensor whose elements it shows, ``None`` if they are its own."""
        return typed("Tensor | None", base_of(self))

    @property
    def chunks(self) -> tuple[tuple[int | float, ...], ...]:
        """The logical chunk sizes along each axis."""
        return tuple(tuple(map(known_or_nan, sizes)) for sizes in self._node.chunks)

    @classmethod
    def _assemble(
        cls, parts: Mapping[Index, Any], meta: Any, *, owned: bool, order: MemoryOrder = None
    ) -> Any:
        return blocks.assemble(parts, meta, owned=owned, order=order)

    _in_place = staticmethod(in_place)
    _given = staticmethod(blocks.given)

    _show = views_of.show
    _settled = staticmethod(blocks.meta_from_infos)
    _cast = staticmethod(blocks.cast_chunks)
    _part_of = staticmethod(sliced_tensor)

    @classmethod
    def _recut(cls, grid: Grid, chunks: Chunks) -> Grid:
        views = split_chunks(grid, chunks)
        return recut(grid, chunks) if views is None else views

    def __repr__(self) -> str:
        return blocks.representation(self) if self._is_executed() else self._describe()

    def __str__(self) -> str:
        return blocks.text(self) if self._is_executed() else self._describe()

    def _repr_html_(self) -> str:
        return blocks.html(self)

    to_numpy: Final = Collection.to_object
    to_dask: Final = method(dask_arrays.to_dask)
    to_dask_dataframe: Final = method(dask_arrays.to_dask_dataframe)
    to_dataframe: Final = method(dask_arrays.to_dataframe)
    to_delayed: Final = method(dask_arrays.to_delayed)
    store: Final = method(storage.store)
    to_zarr: Final = method(zarr_arrays.to_zarr)
    to_tiledb: Final = method(tiledb_arrays.to_tiledb)
    totiledb: Final = to_tiledb
    map_chunk: Final = method(map_blocks.map_chunk)
    to_svg: Final = method(blocks.svg)
    to_backend: Final = method(dask_arrays.to_backend)
    map_overlap: Final = method(overlap.map_overlap_method)
    shuffle: Final = method(coarsen.shuffle)

    @property
    def name(self) -> str:
        """The name of the operation, with which its keys begin."""
        return self._node.name

    @property
    def dask(self) -> Mapping[Any, Any]:
        """The graph of Dask's tasks."""
        graph: Mapping[Any, Any] = self.__dask_graph__()
        return graph

    def map_blocks(self, func: Callable[..., Any], *args: Any, **kwargs: Any) -> Tensor:
        """Call a function of the chunks; see :func:`marsdask.tensor.map_blocks`.

        Returns
        -------
        Tensor
            The results, side by side.
        """
        return map_blocks.map_blocks(func, self, *args, **kwargs)

    def to_hdf5(self, filename: Any, datapath: str, **options: Any) -> Tensor:
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
        result: Tensor = hdf5_files.to_hdf5(filename, datapath, self, **options)
        return result

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
        """The number of elements; nan if it is unknown."""
        return math.prod(self.shape)

    @property
    def itemsize(self) -> int | float:
        """Bytes of one element; nan if only the values tell."""
        return self.dtype.itemsize or (math.nan if self._node.incomplete else 0)

    @property
    def nbytes(self) -> int | float:
        """Bytes of all elements; nan if it is unknown."""
        return self.size * self.itemsize

    @property
    def flags(self) -> Flags:
        """The memory layout of NumPy's array."""
        return Flags(self)

    @property
    def order(self) -> TensorOrder:
        """The letter of the memory order: "F" for Fortran's order alone, else "C"."""
        return TensorOrder.F_ORDER if self.flags.fnc else TensorOrder.C_ORDER

    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes from one element to the next along each axis of NumPy's array."""
        strides: tuple[int, ...] = views_of.array_of(self).strides
        return strides

    @property
    def blocks(self) -> BlockView:
        """Parts of the tensor by the positions of chunks."""
        return BlockView(self)

    @property
    def partitions(self) -> BlockView:
        """Dask's other name of :attr:`blocks`."""
        return BlockView(self)

    @property
    def vindex(self) -> getitem.PointView:
        """Elements by their positions along each axis."""
        return getitem.PointView(self)

    @property
    def device(self) -> str:
        """The device of the chunks, as the array API names it."""
        return protocols.device(self)

    @property
    def real(self) -> Tensor:
        """The real part."""
        return ufuncs.real(self)

    @real.setter
    def real(self, value: ArrayLike) -> None:
        inplace.set_real(self, value)

    @property
    def imag(self) -> Tensor:
        """The imaginary part."""
        return ufuncs.imag(self)

    @imag.setter
    def imag(self, value: ArrayLike) -> None:
        inplace.set_imag(self, value)

    @property
    def flat(self) -> views.Flat:
        """The elements in C order."""
        return views.Flat(self)

    @flat.setter
    def flat(self, value: ArrayLike) -> None:
        views.set_flat(self, value)

    @property
    def T(self) -> Tensor:
        """The tensor with its axes in reverse order."""
        return transpose(self)

    @property
    def mT(self) -> Tensor:  # noqa: N802 - NumPy's name
        """The tensor with its last two axes swapped."""
        return matrix_transpose(self)

    # NumPy's protocols.
    __array_ufunc__: ClassVar[Callable[..., Any]] = protocols.array_ufunc
    __array_function__: Final = array_function
    __array__: Final = protocols.array
    __buffer__: Final = protocols.buffer
    __array_namespace__: Final = protocols.array_namespace
    # Python's: a value is computed if needed.
    __bool__: Final = protocols.truth
    __int__: Final = protocols.as_int
    __float__: Final = protocols.as_float
    __round__: Final = protocols.as_rounded
    __complex__: Final = protocols.as_complex
    __index__: Final = protocols.as_index
    __format__: Final = protocols.formatted
    __len__: Final = protocols.length
    __contains__: Final = protocols.contains
    __iter__: Final = protocols.iterate
    item: Final = protocols.item
    tolist: Final = protocols.tolist
    # Equal tensors are not equal objects: == is elementwise.
    __hash__ = None  # type: ignore[assignment]
    __add__: Final = protocols.binary(ufuncs.add)
    __radd__: Final = protocols.reflected(ufuncs.add)
    __iadd__: Final = protocols.inplace(np.add)
    __sub__: Final = protocols.binary(ufuncs.subtract)
    __rsub__: Final = protocols.reflected(ufuncs.subtract)
    __isub__: Final = protocols.inplace(np.subtract)
    __mul__: Final = protocols.binary(ufuncs.multiply)
    __rmul__: Final = protocols.reflected(ufuncs.multiply)
    __imul__: Final = protocols.inplace(np.multiply)
    __truediv__: Final = protocols.binary(ufuncs.divide)
    __rtruediv__: Final = protocols.reflected(ufuncs.divide)
    __itruediv__: Final = protocols.inplace(np.divide)
    __floordiv__: Final = protocols.binary(ufuncs.floor_divide)
    __rfloordiv__: Final = protocols.reflected(ufuncs.floor_divide)
    __ifloordiv__: Final = protocols.inplace(np.floor_divide)
    __mod__: Final = protocols.binary(ufuncs.remainder)
    __rmod__: Final = protocols.reflected(ufuncs.remainder)
    __imod__: Final = protocols.inplace(np.remainder)
    __divmod__: Final = protocols.binary(ufuncs.divmod)
    __rdivmod__: Final = protocols.reflected(ufuncs.divmod)
    __pow__: Final = protocols.power
    __rpow__: Final = protocols.reflected(ufuncs.power)
    __ipow__: Final = protocols.inplace(np.power)
    __matmul__: Final = protocols.binary(matmul)
    __rmatmul__: Final = protocols.reflected(matmul)
    __imatmul__: Final = protocols.inplace_by(matmul)
    __and__: Final = protocols.binary(ufuncs.bitwise_and)
    __rand__: Final = protocols.reflected(ufuncs.bitwise_and)
    __iand__: Final = protocols.inplace(np.bitwise_and)
    __or__: Final = protocols.binary(ufuncs.bitwise_or)
    __ror__: Final = protocols.reflected(ufuncs.bitwise_or)
    __ior__: Final = protocols.inplace(np.bitwise_or)
    __xor__: Final = protocols.binary(ufuncs.bitwise_xor)
    __rxor__: Final = protocols.reflected(ufuncs.bitwise_xor)
    __ixor__: Final = protocols.inplace(np.bitwise_xor)
    __lshift__: Final = protocols.binary(ufuncs.left_shift)
    __rlshift__: Final = protocols.reflected(ufuncs.left_shift)
    __ilshift__: Final = protocols.inplace(np.left_shift)
    __rshift__: Final = protocols.binary(ufuncs.right_shift)
    __rrshift__: Final = protocols.reflected(ufuncs.right_shift)
    __irshift__: Final = protocols.inplace(np.right_shift)
    __eq__: ClassVar[Comparison] = protocols.binary(ufuncs.alike)  # type: ignore[assignment]
    __ne__: ClassVar[Comparison] = protocols.binary(ufuncs.unlike)  # type: ignore[assignment]
    __lt__: Final = protocols.binary(ufuncs.less)
    __le__: Final = protocols.binary(ufuncs.less_equal)
    __gt__: Final = protocols.binary(ufuncs.greater)
    __ge__: Final = protocols.binary(ufuncs.greater_equal)
    __neg__: Final = method(ufuncs.negative)
    __pos__: Final = method(ufuncs.positive)
    __abs__: Final = method(ufuncs.absolute)
    __invert__: Final = method(ufuncs.invert)
    __dlpack__: Final = protocols.dlpack
    __dlpack_device__: Final = protocols.dlpack_device
    to_device: Final = protocols.to_device
    astype: ClassVar[Callable[..., Tensor]] = method(ufuncs.astype)
    clip: Final = method(ufuncs.clip)
    round: Final = method(ufuncs.around)
    conj: Final = protocols.conjugated
    conjugate: Final = protocols.conjugated
    sum: Final = method(reductions.sum)
    prod: Final = method(reductions.prod)
    min: Final = method(reductions.min)
    max: Final = method(reductions.max)
    mean: Final = method(reductions.mean)
    var: Final = method(deviations.var)
    std: Final = method(deviations.std)
    any: Final = method(reductions.any)
    all: Final = method(reductions.all)
    ptp: Final = method(reductions.ptp)
    moment: Final = method(moment_of)
    argmin: Final = method(argreduce.argmin)
    argmax: Final = method(argreduce.argmax)
    cumsum: Final = method(cumulative.cumsum)
    cumprod: Final = method(cumulative.cumprod)
    dot: Final = method(dot)
    sort: Final = method(sort_in_place)
    argsort: Final = method(argsort)
    partition: Final = method(partition_in_place)
    argpartition: Final = method(argpartition)
    topk: Final = method(topk)
    argtopk: Final = method(argtopk)
    rechunk: Final = method(rechunk)
    rebalance: Final = method(layout.rebalance)
    get_chunk_slices: Final = method(layout.chunk_slices)
    is_scalar: Final = method(layout.is_scalar)
    isscalar: Final = method(layout.is_scalar)
    __getitem__: Final = method(getitem.getitem)
    __setitem__: ClassVar[Callable[..., None]] = method(setitem.setitem)
    take: Final = method(getitem.take)
    choose: Final = method(choices.choose)
    searchsorted: Final = method(bins.searchsorted)
    fill: Final = method(inplace.fill)
    put: Final = method(inplace.put)
    resize: Final = method(inplace.resize_in_place)
    setflags: Final = method(setflags)
    view: Final = method(views.view)
    byteswap: Final = method(views.byteswap)
    repeat: Final = method(repetition.repeat)
    diagonal: Final = method(diagonals.diagonal)
    trace: Final = method(diagonals.trace)
    nonzero: Final = method(boolean.nonzero)
    compress: Final = method(boolean.compressed)
    reshape: Final = method(reshape)
    ravel: Final = method(ravel)
    flatten: Final = method(flatten)
    transpose: Final = method(transpose)
    swapaxes: Final = method(swapaxes)
    squeeze: Final = method(squeeze)
    copy: Final = method(copied_in_c)
    to_gpu: Final = method(to_gpu)
    to_cpu: Final = method(to_cpu)
    tosparse: Final = method(conversion.tosparse)
    todense: Final = method(conversion.todense)
    issparse: Final = method(conversion.issparse)
    is_sparse: Final = issparse


register_collection(np.ndarray, Tensor)
