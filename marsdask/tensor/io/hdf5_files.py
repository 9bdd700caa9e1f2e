"""Write tensors to datasets of HDF5 files."""

from __future__ import annotations

import contextlib
import functools
import math
import os
import shutil
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from dask.utils import SerializableLock

from marsdask.core.collection import Collection, wrap
from marsdask.core.files.places import Place, file_place, overlap
from marsdask.core.files.replacement import remove, replacing
from marsdask.core.sizes import numbers

from ..creation.from_data import inside
from ..operands import as_node, with_complete_type
from .store import apart, write
from .targets import Target

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


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

    @property
    def places(self) -> tuple[Place, ...]:
        """The dataset, which is written and read back."""
        return (file_place(self.path),)

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
    if is_open and not compute:
        raise NotImplementedError(
            "to_hdf5(compute=False) into an open file is not supported; use the file's path"
        )
    require = functools.partial(_require, names=list(data), chunks=chunks, options=options)
    if is_open:
        tensors = apart(tensors, [HDF5Target(path, "")], compute=True)
        datasets = require(hdf5_file, tensors=tensors)
        targets: list[Any] = [
            Target(target, SerializableLock("marsdask-hdf5")) for target in datasets
        ]
        results = write(tensors, targets, [()] * len(tensors))
    else:
        results = _to_hdf5_path(path, tensors, list(data), require, compute=compute)
    return results[0] if len(results) == 1 else tuple(results)


def _to_hdf5_path(
    path: str, tensors: list[Any], names: list[str], require: Any, *, compute: bool
) -> list[Any]:
    """Write datasets of a file; a copy replaces a file that is read, or has datasets of the names.

    In other files a failure leaves nothing new.
    """
    # h5py is optional.
    import h5py

    is_new, there = not os.path.exists(path), False
    if not is_new:
        with h5py.File(path, "r") as file:
            there = any(name in file for name in names)
    regions: list[Any] = [()] * len(names)
    if not compute or not (there or overlap([x.node for x in tensors], [file_place(path)])):
        targets = [HDF5Target(path, name) for name in names]
        apart(tensors, targets, compute=compute)
        try:
            with h5py.File(path, "a") as file:
                require(file, tensors=tensors)
            return write(tensors, targets, regions, compute=compute)
        except BaseException:
            _drop(path, [] if there else names, is_new=is_new)
            raise
    with replacing(path) as new:
        with exclusively(path):
            shutil.copyfile(path, new)
        with h5py.File(new, "a") as file:
            require(file, tensors=tensors)
        return write(tensors, [HDF5Target(new, name) for name in names], regions)


def _drop(path: str, names: list[str], *, is_new: bool) -> None:
    """Remove datasets that were not completed, or the file if it has no others."""
    # h5py is optional.
    import h5py

    if is_new:
        remove(path)
        return
    with h5py.File(path, "a") as file:
        for name in names:
            if name in file:
                del file[name]


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


def _require(
    file: Any, tensors: Sequence[Any], names: Sequence[str], chunks: Any, options: Any
) -> list[Any]:
    """Return datasets of a file for tensors, made if they are not there."""
    return [
        file.require_dataset(
            name, shape=x.shape, dtype=x.dtype, chunks=_hdf5_chunks(x, chunks), **options
        )
        for name, x in zip(names, tensors, strict=True)
    ]


def _hdf5_chunks(x: Any, chunks: Any) -> Any:
    """Return the storage's chunks: the tensor's own, unless HDF5 cannot have them."""
    if chunks is not True:
        return chunks
    if not x.ndim or not x.size:
        return None
    own = tuple(max(numbers(sizes)) for sizes in x.node.chunks)
    # HDF5 chunks are smaller than 4 GiB; one chunk for a whole dataset is slower than none.
    return None if own == x.shape else own if math.prod(own) * x.itemsize < 2**32 else True


tohdf5 = to_hdf5
