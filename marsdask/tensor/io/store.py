"""Write tensors to objects that support slice assignment: arrays, zarr arrays, HDF5 datasets."""

from __future__ import annotations

import contextlib
import math
import os
import threading
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from dask.delayed import Delayed
from dask.utils import SerializableLock

from marsdask.core.collection import Collection, execute, wrap
from marsdask.core.compilation.costs import kernel
from marsdask.core.grids.blockwise import map_blocks
from marsdask.core.grids.chunk_positions import SlicesAt
from marsdask.core.grids.grid import Grid
from marsdask.core.grids.lengths import resolved
from marsdask.core.node import Node
from marsdask.core.session import ensure_session
from marsdask.core.sizes import Chunks, Index, Sizes, numbers, shape_text

from ..chunkwise.rechunk import rechunk
from ..creation.from_data import Dataset, inside
from ..operands import as_node, empty, with_complete_type
from .targets import Target

if TYPE_CHECKING:
    from ..tensor import Tensor

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


@dataclass(frozen=True)
class RegionAt:
    """Gives each chunk its slices of the target."""

    parts: SlicesAt
    region: tuple[slice, ...]

    def __call__(self, index: Index) -> tuple[tuple[slice, ...]]:
        return (within(self.region, self.parts(index)[0]),)


def within(region: tuple[slice, ...], parts: tuple[slice, ...]) -> tuple[slice, ...]:
    """Return the slices for parts of a region."""
    if not region:
        return parts
    found = []
    for outer, part in zip(region, parts, strict=True):
        start, step = outer.start or 0, outer.step or 1
        found.append(slice(start + step * part.start, start + step * part.stop, step))
    return tuple(found)


@dataclass(frozen=True, eq=False)
class Write(Node):
    """Every chunk written to its position; blocks are the written values, or placeholders."""

    pins_grid: ClassVar[bool] = True

    a: Node
    target: Any = field(repr=False)
    region: tuple[slice, ...] = ()
    returns: bool = False
    """Whether the blocks are read back."""
    serial: str = field(default_factory=lambda: uuid.uuid4().hex)
    """Writing again is not the same as having written."""

    @property
    def label(self) -> str:
        return "store"

    @property
    def meta(self) -> Any:
        dtype = self.a.meta.dtype if self.returns else np.dtype(bool)
        return empty(dtype, len(self.a.chunks))

    @property
    def chunks(self) -> Chunks:
        return self._out_chunks(self.a.chunks)

    def _out_chunks(self, chunks: Chunks) -> Chunks:
        return chunks if self.returns else tuple((1,) * len(sizes) for sizes in chunks)

    def tile(self, a: Grid) -> Any:
        (a,) = yield from resolved(a)
        return map_blocks(
            write_block,
            a,
            chunks=self._out_chunks(a.chunks),
            meta=self.meta,
            varying=RegionAt(SlicesAt(a.chunks), self.region),
            kwargs={"target": self.target, "returns": self.returns},
        )


@kernel(scratch=1.0)
def write_block(block: Any, parts: tuple[slice, ...], target: Any, returns: bool) -> Any:
    """Write a block to its place."""
    if block.size:
        target.write(parts, block)
    if returns:
        return target(parts) if block.size else block
    return np.ones((1,) * block.ndim, bool)


def write(
    tensors: Sequence[Any],
    targets: Sequence[Any],
    regions: Sequence[tuple[slice, ...]],
    *,
    compute: bool = True,
    returns: bool = False,
    **options: Any,
) -> list[Any]:
    """Write tensors, immediately or when the returned node is executed.

    With ``returns`` the values are read back; a later execution writes first.
    """
    triples = list(zip(tensors, targets, regions, strict=True))
    written = [
        wrap(Write(as_node(x), target, region, returns=returns and not compute))
        for x, target, region in triples
    ]
    if not compute:
        return written
    if options:
        for item in written:
            item.compute(**options)
    else:
        if not ensure_session().scheduler.capabilities.shared_memory:
            for target in targets:
                if isinstance(target, Target):
                    target.check_shareable()
        execute(*written)
    if not returns:
        return written
    return [
        wrap(Dataset(Region(target, region), (item.node.name,), x.dtype, _known(x)))
        for item, (x, target, region) in zip(written, triples, strict=True)
    ]


def _known(tensor: Any) -> Chunks:
    return tuple(numbers(sizes) for sizes in tensor.compute_chunk_sizes().node.chunks)


@dataclass(frozen=True)
class Region:
    """Reads parts of a region that was written to a target."""

    target: Any = field(repr=False)
    region: tuple[slice, ...]

    def __call__(self, parts: tuple[slice, ...]) -> Any:
        return self.target(within(self.region, parts))


def store(
    sources: Any,
    targets: Any,
    lock: Any = True,
    regions: Any = None,
    compute: bool = True,
    return_stored: bool = False,
    load_stored: bool | None = None,
    **kwargs: Any,
) -> Any:  # nothing, a tensor or several: compute= and return_stored= decide
    """Write tensors to objects that support slice assignment. See dask.array.store.

    ``lock=True`` writes one chunk at a time into each target. Return nothing, or with
    ``return_stored`` tensors over the written data. Without ``compute``, return tensors whose
    execution writes.

    Raise ``NotImplementedError`` if other processes compute the chunks and the target is in this
    process's memory. Use a memory-mapped file, a zarr array on disk or the path of an HDF5 file.
    """
    del load_stored
    if isinstance(sources, Collection):
        sources, targets = [sources], [targets]
    sources, targets = list(sources), list(targets)
    if not all(isinstance(source, Collection) for source in sources):
        raise ValueError("All sources must be tensors")
    if len(sources) != len(targets):
        raise ValueError(
            f"Different number of sources [{len(sources)}] and targets [{len(targets)}]"
        )
    several = isinstance(regions, list) or (
        isinstance(regions, tuple) and any(isinstance(item, tuple) for item in regions)
    )
    places = list(regions) if several else [regions] * len(sources)
    if len(places) != len(sources):
        raise ValueError(
            f"Different number of sources [{len(sources)}] and targets [{len(targets)}] than "
            f"regions [{len(places)}]"
        )
    opened = [item.compute() if isinstance(item, Delayed) else item for item in targets]
    wanted = [_region(place, x.ndim) for place, x in zip(places, sources, strict=True)]
    sources = list(map(_fitted, sources, opened, wanted))
    held = [
        Target(target, SerializableLock() if lock is True else lock or None) for target in opened
    ]
    found = write(sources, held, wanted, compute=compute, returns=return_stored, **kwargs)
    if compute and not return_stored:
        return None
    return found[0] if len(found) == 1 else tuple(found)


def _fitted(x: Any, target: Any, region: tuple[slice, ...]) -> Any:
    """Check a tensor's shape, and rechunk it so that no two tasks write to one zarr chunk."""
    _check_shape(target, x, region)
    if not x.ndim or type(target).__module__.partition(".")[0] != "zarr":
        return x
    x = x.compute_chunk_sizes()
    cut = getattr(target, "shards", None) or target.chunks
    return rechunk(x, _storage_cut(x.node.chunks, cut, region))


def _region(region: Any, ndim: int) -> tuple[slice, ...]:
    if region is None:
        return ()
    items = region if isinstance(region, tuple) else (region,)
    if not all(isinstance(item, slice) for item in items) or len(items) > ndim:
        raise ValueError(f"a region is a tuple of {ndim} slices, not {region!r}")
    if any((item.start or 0) < 0 or (item.step or 1) < 0 for item in items):
        raise ValueError(f"a region counts from the start, forwards: {region!r}")
    return (*items, *[slice(None)] * (ndim - len(items)))


def _check_shape(target: Any, x: Any, region: tuple[slice, ...]) -> None:
    """Raise ``ValueError`` if a target or its region has another shape, if known."""
    shape = getattr(target, "shape", None)
    if shape is None:
        return
    if region and len(shape) == len(region):
        shape = tuple(len(range(*part.indices(n))) for part, n in zip(region, shape, strict=True))
    fits = len(shape) == x.ndim and all(
        math.isnan(own) or own == n for own, n in zip(x.shape, shape, strict=True)
    )
    if not fits:
        raise ValueError(
            f"could not broadcast input array from shape {shape_text(x.shape)} into shape "
            f"{shape_text(shape)}"
        )


def to_zarr(
    arr: Any,
    url: Any,
    component: Any = None,
    dataset: Any = None,
    *,
    group: Any = None,
    storage_options: Any = None,
    region: Any = None,
    overwrite: bool = False,
    compute: bool = True,
    return_stored: bool = False,
    mode: str = "a",
    **zarr_options: Any,
) -> Tensor:
    """Write a tensor to a zarr array, chunk by chunk, side by side.

    Supports Dask's ``to_zarr(tensor, url, component)``, and Mars's ``to_zarr(path, tensor, group,
    dataset)``. With ``region``, ``url`` is a zarr array, part of which is filled. Other options are
    passed to ``zarr.create_array``. Return the executed tensor, or the tensor over the array with
    ``return_stored``.

    Parameters
    ----------
    arr : Tensor or str
        The tensor; the path if the arguments are Mars's.
    url : str, zarr.Array or Tensor
        Where to make the array, or the array to fill.
    component : str, optional
        The path of the array inside; the group if the arguments are Mars's.
    dataset : str, optional
        The name of the array.
    group : str, optional
        The group in which the array is made.
    storage_options : dict, optional
        Options of the file system.
    region : tuple of slice, optional
        Which part of an existing array to fill.
    overwrite : bool
        Whether to replace an array that is there.
    compute : bool
        Whether to write now.
    return_stored : bool
        Whether to return a tensor over the array.
    mode : str
        The mode in which zarr opens the path.
    **zarr_options
        Options of ``zarr.create_array``.

    Returns
    -------
    Tensor
        What was executed, or with ``return_stored`` the tensor over the array.

    Raises
    ------
    ValueError
        If there is a region but no array to fill, or the mode only reads.

    Examples
    --------
    >>> written = mt.to_zarr(mt.ones(3), "data.zarr")  # doctest: +SKIP
    """
    # zarr is optional.
    import zarr

    if not isinstance(arr, Collection | np.ndarray):
        arr, url = url, arr
    arr = with_complete_type(wrap(as_node(arr))).compute_chunk_sizes()
    place = _region(region, arr.ndim)
    if isinstance(url, zarr.Array):
        _check_shape(url, arr, place)
        target = url
    else:
        if region is not None:
            raise ValueError("Cannot use `region` keyword when url is not a `zarr.Array`.")
        if mode == "r":
            raise ValueError("Cannot use mode `r` (read-only) when writing to zarr.")
        name = inside(component or group, dataset) or zarr_options.pop("name", None)
        chunks = tuple(max(1, *map(max, [numbers(sizes)])) for sizes in arr.node.chunks)
        settings = {"shape": arr.shape, "dtype": arr.dtype, "chunks": chunks, **zarr_options}
        place_ = _zarr_store(url, storage_options)
        overwrite = overwrite or mode == "w"
        target = zarr.create_array(place_, name=name, overwrite=overwrite, **settings)
    cut = getattr(target, "shards", None) or target.chunks
    arr = rechunk(arr, _storage_cut(arr.node.chunks, cut, place)) if arr.ndim else arr
    found: Tensor
    (found,) = write([arr], [Target(target)], [place], compute=compute, returns=return_stored)
    return found


def _zarr_store(url: Any, storage_options: Any) -> Any:
    if storage_options is None:
        return os.fspath(url) if isinstance(url, os.PathLike) else url
    # zarr is optional.
    from zarr.storage import FsspecStore

    return FsspecStore.from_url(os.fspath(url), storage_options=dict(storage_options))


def _storage_cut(chunks: Chunks, storage: Sequence[int], region: tuple[slice, ...]) -> Chunks:
    """Split axes at borders of the storage's chunks, so that no two tasks write to one of them."""
    found: list[Sizes] = []
    for axis, (sizes, stored) in enumerate(zip(chunks, storage, strict=True)):
        part = region[axis] if region else slice(None)
        start, step = part.start or 0, part.step or 1
        length = sum(numbers(sizes))
        if step != 1:
            found.append((length,))
            continue
        whole = max(stored, max(numbers(sizes), default=1) // stored * stored)
        borders = [*range((start // whole + 1) * whole, start + length, whole), start + length]
        found.append(tuple(b - a for a, b in zip([start, *borders], borders, strict=False)) or (0,))
    return tuple(found)


#: Only one thread of a process writes to HDF5 files, and one process to each file.
_HDF5_LOCK = threading.Lock()


@contextlib.contextmanager
def exclusively(path: str) -> Iterator[None]:
    """Lock a file against writes of other threads and of other processes of this machine."""
    with _HDF5_LOCK, open(path, "rb") as file:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


@dataclass(frozen=True)
class HDF5Target:
    """Writes to an HDF5 file, which is opened each time: a handle cannot be pickled."""

    path: str
    name: str

    def write(self, parts: tuple[slice, ...], block: Any) -> None:
        """Write a block."""
        # h5py is optional.
        import h5py

        # HDF5's own lock would raise instead of waiting.
        with exclusively(self.path), h5py.File(self.path, "r+", locking=False) as file:
            file[self.name][parts] = block

    def __call__(self, parts: tuple[slice, ...]) -> Any:
        # h5py is optional.
        import h5py

        with exclusively(self.path), h5py.File(self.path, "r", locking=False) as file:
            return file[self.name][parts]


def to_hdf5(
    hdf5_file: Any,
    x: Any,
    group: Any = None,
    dataset: Any = None,
    *,
    chunks: Any = True,
    compute: bool = True,
    **options: Any,
) -> Any:  # a tensor, or several for a dict of them
    """Write tensors to datasets of an HDF5 file, one chunk at a time.

    Supports Mars's ``to_hdf5(file, tensor, group, dataset)``, and Dask's ``to_hdf5(path, name,
    tensor)`` or ``to_hdf5(path, {name: tensor})``. Other options are passed to
    ``h5py.File.require_dataset``. Return the executed result.

    Parameters
    ----------
    hdf5_file : str or h5py.File
        The file, or its path.
    x : Tensor, str or dict
        The tensor; Dask's name of the dataset, or a dict of tensors by names.
    group : str, optional
        The group in which the dataset is made.
    dataset : str, optional
        The name of the dataset.
    chunks : tuple or bool
        The chunks of the dataset; True takes those of the tensor.
    compute : bool
        Whether to write now.
    **options
        Options of ``h5py.File.require_dataset``.

    Returns
    -------
    Tensor or tuple of Tensor
        What was executed; what is to be executed unless ``compute``.

    Raises
    ------
    ValueError
        If the tensor comes before the file.
    NotImplementedError
        If an open file is to be written later.

    Examples
    --------
    >>> written = mt.to_hdf5("data.h5", mt.ones(3), dataset="x")  # doctest: +SKIP
    """
    # h5py is optional.
    import h5py

    if isinstance(hdf5_file, Collection | np.ndarray):
        raise ValueError("to_hdf5() takes the file first, then the tensor")
    data = _named(x, group, dataset)
    tensors = [
        with_complete_type(wrap(as_node(item))).compute_chunk_sizes() for item in data.values()
    ]
    is_open = isinstance(hdf5_file, h5py.File)
    path = os.path.abspath(hdf5_file.filename if is_open else os.fspath(hdf5_file))
    with contextlib.nullcontext(hdf5_file) if is_open else h5py.File(path, "a") as file:
        made = [
            _require(file, name, item, chunks, options)
            for name, item in zip(data, tensors, strict=True)
        ]
        if is_open:
            targets: list[Any] = [Target(one, SerializableLock("marsdask-hdf5")) for one in made]
        else:
            targets = [HDF5Target(path, name) for name in data]
    if is_open and not compute:
        raise NotImplementedError(
            "to_hdf5(compute=False) into an open file is not supported; use the file's path"
        )
    written = write(tensors, targets, [()] * len(tensors), compute=compute)
    return written[0] if len(written) == 1 else tuple(written)


def _named(x: Any, group: Any, dataset: Any) -> dict[str, Any]:
    """Return the tensors by the names of their datasets, for each form of arguments."""
    if isinstance(x, Mapping):
        return dict(x)
    if isinstance(x, str):
        return {x: group}
    name = inside(group, dataset)
    if not name:
        raise ValueError("to_hdf5() takes the name of the dataset")
    return {name: x}


def _require(file: Any, name: str, x: Any, chunks: Any, options: Mapping[str, Any]) -> Any:
    chunks = _hdf5_chunks(x, chunks)
    return file.require_dataset(name, shape=x.shape, dtype=x.dtype, chunks=chunks, **options)


def _hdf5_chunks(x: Any, chunks: Any) -> Any:
    """Return the storage's chunks: the tensor's own, unless HDF5 cannot have them."""
    if chunks is not True:
        return chunks
    if not x.ndim or not x.size:
        return None
    own = tuple(max(numbers(sizes)) for sizes in x.node.chunks)
    # HDF5 chunks are smaller than 4 GiB; one chunk for a whole dataset is slower than none.
    return None if own == x.shape else own if math.prod(own) * x.itemsize < 2**32 else True


tozarr = to_zarr
tohdf5 = to_hdf5
