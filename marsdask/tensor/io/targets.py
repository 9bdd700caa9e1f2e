"""Targets of writes, and whether other processes can write to them."""

from __future__ import annotations

import contextlib
import mmap
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from marsdask.core.files.places import Place, places_of
from marsdask.core.snapshots.kinds import ByReference

_REMEDY = (
    "use a numpy.memmap with a file, a zarr array on disk, an HDF5 file by its path (to_hdf5), or "
    "scheduler='threads'"
)


@contextlib.contextmanager
def _held(lock: Any) -> Iterator[None]:
    """Hold a lock, which need not be a context manager, or none."""
    if lock is None:
        yield
        return
    lock.acquire()
    try:
        yield
    finally:
        lock.release()


@dataclass(frozen=True, eq=False)
class Target(ByReference):
    """An object with slice assignment, and the lock that is held meanwhile.

    Its pickle refers to the same file. Arrays without a file have no pickle: another process would
    write to a copy.
    """

    array: Any = field(repr=False)
    lock: Any = None
    token_name: str = field(default_factory=lambda: uuid.uuid4().hex)

    @property
    def places(self) -> tuple[Place, ...]:
        """The target, which is written and read back."""
        return places_of(self.array)

    def write(self, parts: tuple[slice, ...], block: Any) -> None:
        """Write a block."""
        with _held(self.lock):
            self.array[parts] = block

    def __call__(self, parts: tuple[slice, ...]) -> Any:
        with _held(self.lock):
            return np.asarray(self.array[parts])

    def check_shareable(self) -> None:
        """Raise ``NotImplementedError`` if only this process can write to the object."""
        if not isinstance(self.array, np.ndarray):
            target = _process_local(self.array)
        else:
            target = "an array in memory" if _file_of(self.array) is None else ""
        if target:
            raise NotImplementedError(
                f"writing into {target} from other processes is not supported; {_REMEDY}"
            )

    def __reduce__(self) -> tuple[Any, ...]:
        self.check_shareable()
        array = self.array
        if not isinstance(array, np.ndarray):
            return Target, (array, self.lock, self.token_name)
        file = _file_of(array)
        offset = file.offset + _address(array) - _address(file)
        mode = "r+" if array.flags.writeable else "r"
        place = (str(file.filename), mode, offset, array.shape, array.strides, array.dtype)
        return _opened, (place, self.lock, self.token_name)


def _opened(place: tuple[Any, ...], lock: Any, name: str) -> Target:
    """Return a target over a part of a file that is mapped in this process."""
    path, mode, offset, shape, strides, dtype = place
    memory = np.memmap(path, np.uint8, mode)
    return Target(np.ndarray(shape, dtype, memory, offset, strides), lock, name)


def _address(array: Any) -> int:
    address: int = array.__array_interface__["data"][0]
    return address


def _file_of(array: Any) -> Any:
    """Return the memory map of which an array is a view, ``None`` without a writable file."""
    if isinstance(array, np.ma.MaskedArray) or array.dtype.hasobject:
        return None
    while isinstance(array, np.ndarray):
        if isinstance(array, np.memmap) and isinstance(array.base, mmap.mmap):
            return array if array.filename and array.mode != "c" else None
        array = array.base
    return None


def _process_local(target: Any) -> str:
    """Name an object of an optional library that only this process can write to."""
    library = type(target).__module__.partition(".")[0]
    if library == "h5py":
        return "an open HDF5 file"
    if library != "zarr":
        return ""
    # zarr is optional.
    import zarr.storage

    is_local = isinstance(getattr(target, "store", None), zarr.storage.MemoryStore)
    return "a zarr array in memory" if is_local else ""
