"""Places that programs read from and write to, and whether two of them overlap."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..graph import Graph

if TYPE_CHECKING:
    from ..node import Node


@dataclass(frozen=True)
class FilePlace:
    """A file or a folder, or what a URL names; folders overlap what is in them."""

    parts: tuple[str, ...]
    inode: tuple[int, int] | None = None
    """The device and the number of a local file, which may have several names."""

    def overlaps(self, other: Place) -> bool:
        """Tell whether writing to one place can change what is read from the other."""
        if not isinstance(other, FilePlace):
            return False
        if self.inode is not None and self.inode == other.inode:
            return True
        return all(map(str.__eq__, self.parts, other.parts))

    def __str__(self) -> str:
        return os.path.join(*self.parts)


@dataclass(frozen=True)
class MemoryPlace:
    """Bytes of this process's memory."""

    start: int
    stop: int

    def overlaps(self, other: Place) -> bool:
        """Tell whether writing to one place can change what is read from the other."""
        return (
            isinstance(other, MemoryPlace) and self.start < other.stop and other.start < self.stop
        )

    def __str__(self) -> str:
        return "the array"


@dataclass(frozen=True)
class ObjectPlace:
    """An object that takes slices, of which no more is known."""

    identity: int
    kind: str

    def overlaps(self, other: Place) -> bool:
        """Tell whether writing to one place can change what is read from the other."""
        return self == other

    def __str__(self) -> str:
        return f"the {self.kind}"


Place = FilePlace | MemoryPlace | ObjectPlace


def file_place(path: str) -> FilePlace:
    """Return the place of a path or a URL, whatever links lead to it."""
    if "://" in path and not path.startswith("file://"):
        protocol, _, path_in_store = path.partition("://")
        return FilePlace((f"{protocol}://", *filter(None, path_in_store.split("/"))))
    real = os.path.realpath(path.removeprefix("file://"))
    parts = (os.sep, *filter(None, real.split(os.sep)))
    try:
        status = os.stat(real)
    except OSError:
        return FilePlace(parts)
    return FilePlace(parts, None if os.path.isdir(real) else (status.st_dev, status.st_ino))


def places_of(array: Any) -> tuple[Place, ...]:
    """Return the places of the values of an array: in memory, in a mapped file or in a store."""
    if isinstance(array, np.ndarray):
        memory: Place = MemoryPlace(*np.lib.array_utils.byte_bounds(array))
        file = _mapped_file(array)
        return (memory,) if file is None else (memory, file_place(file))
    library = type(array).__module__.partition(".")[0]
    if library == "zarr" and hasattr(array, "store_path"):
        return (file_place(str(array.store_path)),)
    if library == "h5py" and hasattr(array, "chunks"):
        return (file_place(array.file.filename),)
    return (ObjectPlace(id(array), type(array).__name__),)


def of_the_call(array: Any) -> Any:
    """Return a zarr array whose local folder has an absolute path, and others unchanged.

    Tasks may run in another folder, where zarr reads fill values of an array that is not there.
    """
    if type(array).__module__.partition(".")[0] != "zarr" or not hasattr(array, "store_path"):
        return array
    # zarr is optional.
    import zarr

    store = array.store_path.store
    if not isinstance(store, zarr.storage.LocalStore) or store.root.is_absolute():
        return array
    root = zarr.storage.LocalStore(store.root.absolute(), read_only=store.read_only)
    return zarr.open_array(root, path=array.path, mode="r" if array.read_only else "r+")


def _mapped_file(array: Any) -> str | None:
    while array is not None:
        if isinstance(array, np.memmap) and array.filename:
            return str(array.filename)
        array = getattr(array, "base", None)
    return None


def read_by(nodes: Iterable[Node]) -> list[Place]:
    """Return all places that the tasks of nodes read from."""
    return [place for node in Graph(list(nodes)).nodes for place in node.reads_from]


def overlap(nodes: Iterable[Node], places: Sequence[Place]) -> Place | None:
    """Return a place of these from which nodes read, ``None`` if there is none."""
    sources = read_by(nodes)
    pairs = (place for place in places for source in sources if place.overlaps(source))
    return next(pairs, None)
