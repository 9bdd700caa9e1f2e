"""Tensors of existing data: arrays, nested lists, memory maps, zarr and HDF5 datasets."""

from __future__ import annotations

import operator
import os
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from dask.utils import SerializableLock

from marsdask.core.collection import Collection, collect
from marsdask.core.config import options
from marsdask.core.files.places import Place, file_place, of_the_call, places_of
from marsdask.core.files.stamps import Stamp, local_stamp, unchanged
from marsdask.core.grids.blockwise import blockwise
from marsdask.core.grids.chunk_positions import SlicesAt
from marsdask.core.grids.grid import Grid
from marsdask.core.node import Node
from marsdask.core.sizes import Chunks, Sizes, numbers, shape_text
from marsdask.core.snapshots.kinds import ByReference
from marsdask.core.snapshots.tokens import token
from marsdask.tensor.chunkwise.rechunk import rechunk

from ..chunks import check_device, check_order, normalize_chunks
from ..device import to_gpu, wants_gpu
from ..elementwise.ufuncs import astype
from ..manipulation.shape import expand_dims
from ..memory_order import in_order_of, letter_of, lies_as
from ..operands import as_node, empty, sparse_literal
from ..protocols import is_tensor, module
from ..signatures import shows
from ..sparse.blocks import is_sparse
from ..sparse.conversion import tosparse
from ..typing import itself, public, view_face
from .from_shape import chunks_from
from .zarr_codecs import check_codecs
from .zarr_versions import ZarrVersion


@public
@shows("chunks", "device", "copy")
def tensor(
    data: Any = None,
    dtype: Any = None,
    order: str = "K",
    chunk_size: Any = None,
    gpu: Any = None,
    sparse: bool = False,
    **extra: Any,
) -> Node:
    """Return a tensor of an array, a tensor, a scalar, or nested lists of any of them.

    An array is copied, so later writes to it have no effect. The copy takes as much memory again,
    and is not counted in any limit. ``copy=False`` shares the array's memory: do not modify it
    while the tensor is in use, since other views cannot be made read-only. Memory maps, h5py
    datasets and zarr arrays are shared and read when they are needed; ``copy=True`` reads a memory
    map at once.

    Parameters
    ----------
    data : array_like
        An array, a tensor, a frame, a scalar, or nested lists of any of them.
    dtype : dtype, optional
        The element type; by default that of the data.
    order : {"K", "A", "C", "F"}
        How the elements lie in memory; by default as those of the data.
    chunk_size : int, str, tuple or dict, optional
        The sizes of chunks; by default they are chosen. ``chunks`` is Dask's name of it.
    gpu : bool, optional
        Whether blocks lie on the GPU. ``device`` is the standard's name of it.
    sparse : bool
        Whether blocks are sparse.
    copy : bool, optional
        Whether to copy an array. By default NumPy's arrays are copied, files are not.

    Returns
    -------
    Tensor
        A lazy tensor.

    Raises
    ------
    ValueError
        If ``copy=False`` cannot be kept.

    Examples
    --------
    >>> mt.tensor([[1, 2], [3, 4]], chunk_size=1).sum(axis=0).compute()
    array([4, 6])
    """
    copy = extra.pop("copy", None)
    if wants_gpu(gpu, extra.pop("device", None)):
        return to_gpu.node(
            tensor.node(data, dtype, order, chunk_size, sparse=sparse, copy=copy, **extra)
        )
    chunk_size = chunks_from(chunk_size, {**extra, "order": order})
    if sparse:
        return tosparse.node(tensor.node(data, dtype, chunk_size=chunk_size, copy=copy))
    if is_sparse(data):
        return sparse_literal(data, chunk_size, dtype)
    letter = letter_of(order, data)
    if isinstance(data, Collection):
        if copy is False and dtype is not None and getattr(data, "dtype", None) != dtype:
            raise ValueError(
                f"Unable to avoid copy while creating an array as requested: "
                f"the dtype is not {dtype}"
            )
        return _as_given(collect(data.node) if copy else data, dtype, chunk_size, letter)
    if isinstance(data, list | tuple) and _holds_tensor(data):
        rows = "F" if letter == "F" else "C"
        return _as_given(collect(_stacked(data)), dtype, chunk_size, rows)
    if isinstance(data, np.ma.MaskedArray):
        masked: Node = module().ma.masked_array.node(data, dtype=dtype, chunk_size=chunk_size)
        return masked
    if copy is None and (source := _stored_array(data, chunk_size)) is not None:
        source = source if dtype is None else astype.node(source, dtype)
        return in_order_of(source, letter)
    node = as_node(data, chunk_size, dtype=dtype, copy=copy, order=letter)
    return in_order_of(node, letter)  # an array of Dask's too


def _stored_array(data: Any, chunk_size: Any) -> Node | None:
    """Return the node of an open h5py dataset or zarr array, None for other objects."""
    library = type(data).__module__.partition(".")[0]
    if library == "h5py" and hasattr(data, "chunks") and os.path.exists(data.file.filename):
        return from_hdf5.node(data, chunk_size=chunk_size)
    if library == "zarr" and hasattr(data, "store_path"):
        return from_zarr.node(data, chunk_size="auto" if chunk_size is None else chunk_size)
    return None


@public
def array(
    x: Any,
    dtype: Any = None,
    copy: bool | None = None,
    order: str = "K",
    ndmin: int = 0,
    chunk_size: Any = None,
    **extra: Any,
) -> Node:
    """Return a new tensor of ``x``, with axes in front if it has fewer than ``ndmin``.

    See numpy.array. Differs from NumPy: with ``copy=None``, arrays are copied too.
    """
    result = tensor.node(x, dtype, order, chunk_size, copy=copy, **extra)
    node = result.node if isinstance(result, Collection) else result
    # In another tensor: in-place changes of one do not affect the other.
    new_axes = range(ndmin - len(node.chunks))
    if new_axes:
        return expand_dims.node(node, tuple(new_axes))
    return result if copy is False else node


@public
@shows("chunks", "gpu", "sparse", "device", "copy")
def asarray(
    a: Any, dtype: Any = None, order: str = "K", chunk_size: Any = None, **extra: Any
) -> Node:
    """Return ``a`` as a tensor, itself if it is one. See numpy.asarray.

    Differs from NumPy: an array's memory is shared only with ``copy=False``.
    """
    check_order(order)
    letter = "K" if order in ("A", "a") else order  # what needs no copy is not copied
    return tensor.node(a, dtype, letter, chunk_size, **extra)


def _is_copied(found: Node, x: Any, /, *, copy: bool | None = None, **options: Any) -> bool:
    """Tell whether a copy was asked for."""
    del found, x, options
    return bool(copy)


@view_face(copies=_is_copied)
def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Node:
    """Return a tensor of another library's array. See numpy.from_dlpack.

    Differs from NumPy: the memory is shared only with ``copy=False``.
    """
    check_device(device)
    if isinstance(x, Collection):
        return x.node
    return as_node(np.from_dlpack(x, copy=False if copy is False else None), copy=copy)


def _as_given(data: Any, dtype: Any, chunk_size: Any, letter: str) -> Node:
    """Return a tensor in the requested type, chunks and order, itself if it has them."""
    if not is_tensor(data):
        data = data.to_tensor()
    if dtype is not None and data.dtype != dtype:
        data = astype.node(data, dtype)
    result = itself(data) if isinstance(data, Collection) else data
    if not lies_as(data, letter):
        result = in_order_of(as_node(data, sparse=True), letter)
    return result if chunk_size is None else rechunk.node(result, chunk_size)


def _holds_tensor(items: Any) -> bool:
    return isinstance(items, Collection) or (
        isinstance(items, list | tuple) and any(map(_holds_tensor, items))
    )


def _stacked(items: Any) -> Node:
    """Stack nested lists, some of whose items are tensors."""
    if isinstance(items, Collection):
        return items.node
    if isinstance(items, list | tuple) and _holds_tensor(items):
        together: Node = module().stack.node([_stacked(item) for item in items])
        return together
    return as_node(items)


@dataclass(frozen=True, eq=False)
class Dataset(Node):
    """An array in a file, whose chunks are read on demand."""

    label: ClassVar[str] = "read"

    reader: Any
    version: tuple[Any, ...]
    """The identity of a content: path, size and time of change."""
    dtype: np.dtype[Any]
    splits: Chunks = field(repr=False)

    @property
    def reads_from(self) -> tuple[Place, ...]:
        places: tuple[Place, ...] = self.reader.places
        return places

    @property
    def meta(self) -> Any:
        return empty(self.dtype, len(self.splits))

    @property
    def chunks(self) -> Chunks:
        return self.splits

    def tile(self, *inputs: Any) -> Grid:
        del inputs
        return blockwise(
            read_block,
            [],
            chunks=self.splits,
            meta=self.meta,
            kwargs={"reader": self.reader},
            varying=SlicesAt(self.splits),
        )

    def regrid(self, new: Mapping[Sizes, Sizes]) -> Node:
        return self.replaced(splits=tuple(new.get(sizes, sizes) for sizes in self.splits))


def read_block(parts: tuple[slice, ...], reader: Any) -> Any:
    """Read the part of a dataset for a chunk."""
    return reader(parts)


@dataclass(frozen=True)
class HDF5Reader:
    """Reads from an HDF5 file, which is opened each time: a handle cannot be pickled."""

    path: str
    name: str
    stamp: Stamp | None = None
    """The version that is read, unless it is open for writing."""

    @property
    def places(self) -> tuple[Place, ...]:
        """The source that is read."""
        return (file_place(self.path),)

    def __call__(self, parts: tuple[slice, ...]) -> Any:
        # h5py is optional.
        import h5py

        versions = [(self.path, self.stamp)] if self.stamp else []
        with unchanged(versions, "from_hdf5"), h5py.File(self.path, "r") as file:
            return file[self.name][parts]


@dataclass(frozen=True)
class ZarrReader(ByReference):
    """Reads from a zarr array."""

    array: Any = field(repr=False)
    name: str
    version: ZarrVersion | None = None
    """The version of a local array that nobody is about to write to."""

    @property
    def places(self) -> tuple[Place, ...]:
        """The source that is read."""
        return places_of(self.array)

    @property
    def token_name(self) -> str:
        return f"{self.name}:{token(self.version)}"

    def __call__(self, parts: tuple[slice, ...]) -> Any:
        if self.version is None:
            return np.asarray(self.array[parts])
        with self.version.unchanged(self.array, parts):
            return np.asarray(self.array[parts])


@dataclass(frozen=True)
class ArrayReader(ByReference):
    """Reads parts of an object that takes slices, one at a time if there is a lock."""

    array: Any = field(repr=False)
    name: str
    getitem: Callable[[Any, tuple[slice, ...]], Any] = operator.getitem
    lock: Any = None

    @property
    def places(self) -> tuple[Place, ...]:
        """The source that is read."""
        return places_of(self.array)

    @property
    def token_name(self) -> str:
        return self.name

    def __call__(self, parts: tuple[slice, ...]) -> Any:
        block = self.read(parts)
        shape = tuple(part.stop - part.start for part in parts)
        if block.shape != shape:
            where = ", ".join(f"{part.start}:{part.stop}" for part in parts)
            raise ValueError(
                f"from_array(): {type(self.array).__name__}[{where}] has the shape "
                f"{shape_text(block.shape)}, but the object's shape "
                f"{shape_text(tuple(self.array.shape))} promises {shape_text(shape)}"
            )
        return block

    def read(self, parts: tuple[slice, ...]) -> Any:
        """Return what the object has there, of whatever shape."""
        if self.lock is not None:
            self.lock.acquire()
        try:
            block = self.getitem(self.array, parts)
            # Another thread may be faster at what is only read now.
            return block if isinstance(block, np.ma.MaskedArray) else np.asarray(block)
        finally:
            if self.lock is not None:
                self.lock.release()


@dataclass(frozen=True, eq=False)
class SlicedObject(Dataset):
    """An object that is asked for the chunks that its user chose, and no others."""

    def regrid(self, new: Mapping[Sizes, Sizes]) -> Node:
        """Keep the chunks."""
        del new
        return self


def read_lazily(array: Any, chunks: Any, getitem: Any, lock: Any) -> Node:
    """Return the node of an object that has a shape and takes slices, read chunk by chunk."""
    reader = ArrayReader(
        of_the_call(array),
        uuid.uuid4().hex,
        operator.getitem if getitem is None else getitem,
        SerializableLock() if lock is True else lock or None,
    )
    dtype = getattr(array, "dtype", None)
    if dtype is None:
        dtype = reader.read((slice(0, 0),) * len(array.shape)).dtype
    splits = normalize_chunks(chunks, array.shape, dtype)
    return SlicedObject(reader, (reader.name,), np.dtype(dtype), splits)


@public
def from_hdf5(
    data: Any, group: Any = None, dataset: Any = None, chunk_size: Any = None, **extra: Any
) -> Node:
    """Return a tensor over an HDF5 dataset: an ``h5py.Dataset``, or a file's path and its name.

    Parameters
    ----------
    data : h5py.Dataset, h5py.File or str
        The dataset, or the file or its path.
    group : str, optional
        The group in which the dataset lies.
    dataset : str, optional
        The name of the dataset.
    chunk_size : int, tuple or dict, optional
        The sizes of chunks; by default they are chosen.
    **extra
        Further arguments of Mars and Dask, such as ``chunks``.

    Returns
    -------
    Tensor
        A tensor that reads the dataset when it is computed.

    Raises
    ------
    ValueError
        If a file is given and no dataset is named.

    Examples
    --------
    >>> x = mt.from_hdf5("data.h5", dataset="x")  # doctest: +SKIP
    """
    # h5py is optional.
    import h5py

    chunk_size = chunks_from(chunk_size, extra)
    if isinstance(data, h5py.Dataset):
        return _hdf5(data, chunk_size)
    name = inside(group, dataset)
    if not name:
        raise ValueError("from_hdf5() takes the name of the dataset with a path")
    path = data.filename if isinstance(data, h5py.File) else os.fspath(data)
    with h5py.File(path, "r") as file:
        return _hdf5(file[name], chunk_size)


fromhdf5 = from_hdf5


def inside(group: Any, dataset: Any) -> str:
    """Return the path inside a file of a dataset, or of one given as a group."""
    return "/".join(item.strip("/") for item in (group, dataset) if item)


def _hdf5(dataset: Any, chunk_size: Any) -> Node:
    path = os.path.abspath(dataset.file.filename)
    is_written = dataset.file.mode != "r" or not os.path.exists(path)
    reader = HDF5Reader(path, dataset.name, None if is_written else local_stamp(path))
    chunk_size = _fitting(chunk_size, dataset)
    splits = normalize_chunks(chunk_size, dataset.shape, dataset.dtype)
    # Data written through an open handle may reach the file later.
    version = (path, uuid.uuid4().hex if is_written else "")
    return Dataset(reader, version, dataset.dtype, splits)


@public
def from_zarr(
    path: Any,
    group: Any = None,
    dataset: Any = None,
    chunk_size: Any = None,
    *,
    component: Any = None,
    storage_options: Any = None,
    inline_array: bool = False,
    **extra: Any,
) -> Node:
    """Return a tensor over a zarr array: the array, or its path (and group and name inside).

    Parameters
    ----------
    path : str, zarr.Array or zarr.Group
        The array, or where it lies.
    group : str, optional
        The group in which the array lies.
    dataset : str, optional
        The name of the array.
    chunk_size : int, str, tuple or dict, optional
        The sizes of chunks, by default those of the array or its shards; "auto" chooses several of
        them.
    component : str, optional
        Dask's name of the path inside.
    storage_options : dict, optional
        Options of the file system.
    inline_array : bool
        Has no effect.
    **extra
        Further arguments of Mars and Dask, such as ``chunks``.

    Returns
    -------
    Tensor
        A tensor that reads the array when it is computed.

    Examples
    --------
    >>> x = mt.from_zarr("data.zarr")  # doctest: +SKIP
    """
    del inline_array
    # zarr is optional.
    import zarr

    chunk_size = chunks_from(chunk_size, extra)
    source = of_the_call(path)
    if not isinstance(path, zarr.Array):
        where = component or inside(group, dataset)
        if isinstance(path, str | os.PathLike) and "://" not in os.fspath(path):
            path = os.path.abspath(path)  # tasks may run in another folder
        source = zarr.open_array(path, mode="r", path=where, storage_options=storage_options)
    name = str(source.store_path)
    check_codecs(source, name)
    path = name.removeprefix("file://")
    local = source.read_only and os.path.isdir(path)
    stamp = ZarrVersion.of(path) if local else None
    version = () if local else file_version(path)
    if chunk_size is None and options.chunk_size is None:
        chunk_size = _stored_chunks(source)
    splits = normalize_chunks(_fitting(chunk_size, source), source.shape, source.dtype)
    return Dataset(ZarrReader(source, name, stamp), version, source.dtype, splits)


fromzarr = from_zarr


def _fitting(chunk_size: Any, source: Any) -> Any:
    """Choose whole storage chunks of a good total size, unless chunks are given."""
    storage = _stored_chunks(source)
    if not storage or not (
        chunk_size is None or (isinstance(chunk_size, str) and chunk_size == "auto")
    ):
        return chunk_size
    splits = normalize_chunks(None, source.shape, source.dtype)
    return tuple(
        max(size, max(numbers(sizes)) // size * size)
        for sizes, size in zip(splits, storage, strict=True)
    )


def _stored_chunks(source: Any) -> Any:
    """Return the lengths of what an array in a file is stored in: shards, if it has them."""
    return getattr(source, "shards", None) or source.chunks


def file_version(path: str) -> tuple[Any, ...]:
    """Return the properties that change with a file or a directory of files."""
    if not os.path.exists(path):
        return (path, uuid.uuid4().hex)
    newest, size = 0, 0
    for folder, _, files in os.walk(path) if os.path.isdir(path) else [("", [], [path])]:
        for name in files:
            status = os.stat(os.path.join(folder, name))
            newest, size = max(newest, status.st_mtime_ns), size + status.st_size
    return (path, newest, size)
