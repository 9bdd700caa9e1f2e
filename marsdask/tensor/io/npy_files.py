"""NumPy's own files, read and written chunk by chunk: of one array, bare ones, and stacks."""

from __future__ import annotations

import os
import pickle
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from marsdask.core.collection import wrap
from marsdask.core.files.places import Place, file_place
from marsdask.core.files.replacement import remove, take_place
from marsdask.core.files.stamps import Stamp, local_stamp, unchanged
from marsdask.core.grids.rechunk import cover
from marsdask.core.node import Node
from marsdask.core.sizes import Sizes, borders, numbers

from ..chunks import normalize_chunks
from ..chunkwise.rechunk import rechunk
from ..creation.from_data import Dataset, array
from ..creation.from_shape import chunks_from
from ..manipulation.shape import normalize_axis
from ..operands import as_node, with_complete_type
from ..typing import ArrayLike, public
from .replacements import Replacement
from .store import write

if TYPE_CHECKING:
    from ..tensor import Tensor


@dataclass(frozen=True)
class NpyFile:
    """A file of one array, memory-mapped each time."""

    path: str
    stamp: Stamp | None = None
    """The version that is read, if it is not written."""

    @property
    def places(self) -> tuple[Place, ...]:
        """The files that are read."""
        return (file_place(self.path),)

    def write(self, parts: tuple[slice, ...], block: Any) -> None:
        """Write a block."""
        array = np.lib.format.open_memmap(self.path, "r+")
        array[parts] = block
        array.flush()

    def __call__(self, parts: tuple[slice, ...]) -> Any:
        with unchanged([(self.path, self.stamp)] if self.stamp else [], "load"):
            return read_part(self.path, parts)


def read_part(path: str, parts: tuple[slice, ...]) -> Any:
    """Read a part of a file: a mapped one would change with the file, or end the process."""
    memmap = np.load(path, mmap_mode="r")
    part = memmap[(*parts, ...)]
    flat = part if part.flags.c_contiguous else part.T
    if not flat.flags.c_contiguous or not flat.size:
        return np.array(part, subok=False)
    start = memmap.offset + part.__array_interface__["data"][0]
    start -= memmap.__array_interface__["data"][0]
    content = np.fromfile(path, np.uint8, flat.nbytes, offset=start)
    array = np.ndarray(flat.shape, flat.dtype, content)
    return array if flat is part else array.T


@dataclass(frozen=True)
class NpyReplacement(Replacement):
    """A ``.npy`` file."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]

    def begin(self) -> None:
        """Make a file of zeros."""
        np.lib.format.open_memmap(self.new, "w+", dtype=self.dtype, shape=self.shape)

    def write(self, parts: tuple[slice, ...], block: Any) -> None:
        """Write a block beside."""
        NpyFile(self.new).write(parts, block)

    def __call__(self, parts: tuple[slice, ...]) -> Any:
        """Read a part of what was written."""
        return NpyFile(self.path)(parts)


def load(
    file: Any,
    mmap_mode: Any = "r",
    allow_pickle: bool = False,
    chunk_size: Any = None,
    **extra: Any,
) -> Tensor:
    """Return a tensor over a ``.npy`` file, read chunk by chunk when it is needed. See numpy.load.

    Differs from NumPy: archives (``.npz``) and objects are not read.
    """
    chunk_size = chunks_from(chunk_size, extra)
    path = os.path.abspath(os.fspath(file))
    stamp = local_stamp(path)
    try:
        array = np.load(path, mmap_mode=mmap_mode)
    except ValueError as error:
        if "object" not in str(error).lower():
            raise
        raise NotImplementedError(
            f"{path} with Python objects is not supported; "
            "use tensor(numpy.load(path, allow_pickle=True))"
        ) from error
    if not isinstance(array, np.ndarray):
        array.close()
        raise NotImplementedError(
            f"archive {path} is not supported; use tensor(numpy.load(path)[name])"
        )
    splits = normalize_chunks(chunk_size, array.shape, array.dtype)
    node = Dataset(NpyFile(path, stamp), (path, stamp), array.dtype, splits)
    tensor: Tensor = wrap(node)
    return tensor


def save(
    file: Any, arr: ArrayLike, allow_pickle: bool = True, *, compute: bool = True
) -> Tensor | None:
    """Write a tensor into one ``.npy`` file, its chunks side by side. See numpy.save.

    Objects, and tensors for an open file, are computed immediately. With ``compute=False`` the
    writing is returned, to be executed.

    Returns
    -------
    Tensor or None
        With ``compute=False`` what is to be executed.
    """
    tensor = with_complete_type(wrap(as_node(arr)))
    if hasattr(file, "write") or tensor.dtype.hasobject:
        if not compute:
            raise NotImplementedError(
                "compute=False with open files or objects is not supported; use a path"
            )
        np.save(file, np.asarray(tensor.compute()), allow_pickle)
        return None
    tensor = tensor.compute_chunk_sizes()
    path = os.path.abspath(os.fspath(file))
    path = path if path.endswith(".npy") else path + ".npy"
    target = NpyReplacement(path, tensor.dtype, tensor.shape)
    result: Tensor
    (result,) = write([tensor], [target], [()], compute=compute)
    return None if compute else result


@dataclass(frozen=True)
class BareFile:
    """A file of elements without a header."""

    path: str
    dtype: np.dtype[Any]
    offset: int
    stamp: Stamp

    @property
    def places(self) -> tuple[Place, ...]:
        """The files that are read."""
        return (file_place(self.path),)

    def __call__(self, parts: tuple[slice, ...]) -> Any:
        (part,) = parts
        start = self.offset + part.start * self.dtype.itemsize
        with unchanged([(self.path, self.stamp)], "fromfile"):
            return np.fromfile(self.path, self.dtype, part.stop - part.start, offset=start)


@public
def fromfile(
    file: Any,
    dtype: Any = float,
    count: int = -1,
    sep: str = "",
    offset: int = 0,
    *,
    chunk_size: Any = None,
    **extra: Any,
) -> Node:
    """Return a tensor over a file of elements, read chunk by chunk. See numpy.fromfile.

    Text (``sep``), open files and other special files such as pipes are read immediately.

    Returns
    -------
    Tensor
        A tensor that reads the file when it is computed.
    """
    chunk_size = chunks_from(chunk_size, extra)
    kind = np.dtype(dtype)
    if sep or hasattr(file, "read") or not os.path.isfile(file) or not kind.itemsize:
        return array.node(np.fromfile(file, kind, count, sep, offset), chunk_size=chunk_size)
    path = os.path.abspath(os.fspath(file))
    stamp = local_stamp(path)
    length = (stamp.size - offset) // kind.itemsize
    # NumPy raises immediately for invalid types and offsets.
    np.fromfile(path, kind, min(length, 0), offset=offset)
    splits = normalize_chunks(chunk_size, (length if count < 0 else min(count, length),), kind)
    return Dataset(BareFile(path, kind, offset, stamp), (path, stamp), kind, splits)


@dataclass(frozen=True)
class NpyStack:
    """A folder of files, one after the other along an axis."""

    folder: str
    axis: int
    sizes: Sizes
    stamps: tuple[Stamp, ...] = ()
    """The versions of the files that are read, if they are not written."""

    @property
    def places(self) -> tuple[Place, ...]:
        """The files that are read."""
        return (file_place(self.folder),)

    def _path(self, position: int) -> str:
        return os.path.join(self.folder, f"{position}.npy")

    @property
    def _starts(self) -> list[int]:
        return borders(self.sizes)

    def write(self, parts: tuple[slice, ...], block: Any) -> None:
        """Write a block as a whole file."""
        ((position, _), *_) = cover(self._starts, parts[self.axis].start, parts[self.axis].stop)
        np.save(self._path(position), block)

    def __call__(self, parts: tuple[slice, ...]) -> Any:
        blocks = []
        for position, part in cover(self._starts, parts[self.axis].start, parts[self.axis].stop):
            place = (*parts[: self.axis], part, *parts[self.axis + 1 :])
            path = self._path(position)
            versions = [(path, self.stamps[position])] if self.stamps else []
            with unchanged(versions, "from_npy_stack"):
                blocks.append(read_part(path, place))
        return blocks[0] if len(blocks) == 1 else np.concatenate(blocks, axis=self.axis)


@dataclass(frozen=True)
class StackReplacement(Replacement):
    """A folder of ``.npy`` files; other files in the folder are left as they are."""

    axis: int
    sizes: Sizes
    info: Mapping[str, Any] = field(repr=False)

    def begin(self) -> None:
        """Make a folder."""
        remove(self.new)
        os.makedirs(self.new)
        with open(os.path.join(self.new, "info"), "wb") as file:
            pickle.dump(dict(self.info), file)

    def write(self, parts: tuple[slice, ...], block: Any) -> None:
        """Write a block as a whole file beside."""
        NpyStack(self.new, self.axis, self.sizes).write(parts, block)

    def finish(self) -> None:
        """Move the files to their folder, and remove those of an earlier and longer stack."""
        if not os.path.isdir(self.path):
            take_place(self.new, self.path)
            return
        names = set(os.listdir(self.new))
        for name in sorted(names):
            os.replace(os.path.join(self.new, name), os.path.join(self.path, name))
        for name in os.listdir(self.path):
            if re.fullmatch(r"\d+\.npy", name) and name not in names:
                remove(os.path.join(self.path, name))
        remove(self.new)

    def __call__(self, parts: tuple[slice, ...]) -> Any:
        """Read a part of what was written."""
        return NpyStack(self.path, self.axis, self.sizes)(parts)


def to_npy_stack(dirname: Any, x: Any, axis: int = 0) -> None:
    """Write a folder of ``.npy`` files, one per chunk along an axis. See dask.array.to_npy_stack.

    Parameters
    ----------
    dirname : str
        The folder.
    x : array_like
        The tensor.
    axis : int
        The axis along which to divide.
    """
    tensor = with_complete_type(wrap(as_node(x))).compute_chunk_sizes()
    axis = normalize_axis(axis, tensor.ndim)
    tensor = rechunk(tensor, tuple(None if i == axis else -1 for i in range(tensor.ndim)))
    sizes = tuple(filter(None, numbers(tensor.node.chunks[axis]))) or (0,)
    tensor = rechunk(tensor, {axis: sizes})
    folder = os.path.abspath(os.fspath(dirname))
    info = {"chunks": tensor.chunks, "dtype": tensor.dtype, "axis": axis}
    target = StackReplacement(folder, axis, sizes, info)
    if not tensor.size:
        target.begin()
        np.save(os.path.join(target.new, "0.npy"), np.empty(tensor.shape, tensor.dtype))
        target.finish()
        return
    write([tensor], [target], [()])


class _StackInfo(pickle.Unpickler):
    """Unpickles what Dask and we write: numbers, tuples and a dtype, nothing that runs code."""

    def find_class(self, module: str, name: str) -> Any:
        """Return a name that describes numbers and dtypes."""
        package, _, inner = module.partition(".")
        if package == "numpy" and (
            (not inner and name == "dtype")
            or (inner == "dtypes" and name.endswith("DType"))
            or (inner in ("_core.multiarray", "core.multiarray") and name == "scalar")
        ):
            return super().find_class(module, name)
        raise pickle.UnpicklingError(
            f"from_npy_stack: the file 'info' contains {module}.{name}, which could run code: "
            "to_npy_stack has not written it"
        )


@public
def from_npy_stack(dirname: Any, mmap_mode: Any = "r") -> Node:
    """Return a tensor over a folder of ``.npy`` files. See dask.array.from_npy_stack.

    Returns
    -------
    Tensor
        A tensor that reads the files when it is computed.
    """
    folder = os.path.abspath(os.fspath(dirname))
    with open(os.path.join(folder, "info"), "rb") as file:
        info = _StackInfo(file).load()
    axis, chunks = info["axis"], tuple(map(tuple, info["chunks"]))
    paths = [os.path.join(folder, f"{number}.npy") for number in range(len(chunks[axis]))]
    np.load(paths[0], mmap_mode=mmap_mode)  # raises for an invalid mode
    reader = NpyStack(folder, axis, chunks[axis], tuple(map(local_stamp, paths)))
    return Dataset(reader, (folder,), np.dtype(info["dtype"]), chunks)
