"""One value in one file: a pickle-5 stream followed by its buffers, read back by a private mmap.

``[pickle stream][buffer 0][buffer 1]...[index][trailer]``, every buffer aligned for any dtype. The
buffers are written from where they lie and mapped on reading, so neither direction copies them; the
mapping is private: what is read may be modified in place and the file stays as it was.
"""

from __future__ import annotations

import copyreg
import mmap
import os
import pickle
import struct
from pathlib import Path
from typing import IO, Any

import cloudpickle
import numpy as np

_MAGIC = b"marsdsk1"
_TRAILER = struct.Struct("<QQ8s")
_ALIGNMENT = 64

#: Smaller files are read rather than mapped: cheaper, and mappings are a limited resource.
_MAP_FROM = 128 * 1024

#: What a pickler raises for an object that is not importable by name.
UNPICKLABLE = (pickle.PicklingError, AttributeError, TypeError)


def _as_datetimes(data: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    return data.view(dtype)


def _reduce_array(array: np.ndarray[Any, Any]) -> Any:
    """Reduce an array so that its data leave the stream, also where NumPy would keep them in it."""
    if array.dtype.hasobject or array.dtype.names or not array.size:
        return array.__reduce_ex__(pickle.HIGHEST_PROTOCOL)
    if not (array.flags.c_contiguous or array.flags.f_contiguous):
        array = np.ascontiguousarray(array)
    if array.dtype.kind in "mM":  # without the buffer protocol
        return _as_datetimes, (array.view(np.int64), array.dtype)
    return array.__reduce_ex__(pickle.HIGHEST_PROTOCOL)


def _dump(pickler_class: type[pickle.Pickler], file: IO[bytes], value: Any) -> list[memoryview]:
    buffers: list[pickle.PickleBuffer] = []
    pickler = pickler_class(file, pickle.HIGHEST_PROTOCOL, buffer_callback=buffers.append)
    # A copy, because `copyreg` is shared by the process and others may extend it later.
    pickler.dispatch_table = {
        **getattr(pickler, "dispatch_table", copyreg.dispatch_table),
        np.ndarray: _reduce_array,
    }
    pickler.dump(value)
    return [buffer.raw() for buffer in buffers]


def _write(file: IO[bytes], value: Any, by_value: bool) -> int:
    try:
        buffers = _dump(cloudpickle.Pickler if by_value else pickle.Pickler, file, value)
    except UNPICKLABLE:
        if by_value:
            raise
        file.seek(0)
        file.truncate()
        buffers = _dump(cloudpickle.Pickler, file, value)
    position = file.tell()
    index = []
    for buffer in buffers:
        start = -(-position // _ALIGNMENT) * _ALIGNMENT
        file.write(bytes(start - position))
        file.write(buffer)
        position = start + buffer.nbytes
        index += [start, position]
    file.write(struct.pack(f"<{len(index)}Q", *index))
    file.write(_TRAILER.pack(position, len(buffers), _MAGIC))
    return position + 8 * len(index) + _TRAILER.size


def write(path: str | os.PathLike[str], value: Any, *, by_value: bool = False) -> int:
    """Write ``value`` to the new file ``path`` and return the file's size; no file on failure.

    ``by_value`` includes the definitions of what lives in ``__main__``, which a process with
    another ``__main__`` could not import. Raises ``OSError`` when the disk is full or not writable,
    and what pickling raises otherwise.
    """
    try:
        with Path(path).open("xb") as file:
            return _write(file, value, by_value)
    except FileExistsError:
        raise
    except BaseException:  # also an interrupt: no half a file may stay
        Path(path).unlink(missing_ok=True)
        raise


def _contents(path: str | os.PathLike[str]) -> memoryview:
    with Path(path).open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size >= _MAP_FROM:
            return memoryview(mmap.mmap(file.fileno(), size, access=mmap.ACCESS_COPY))
        data = bytearray(size)
        file.readinto(data)
        return memoryview(data)


def read(path: str | os.PathLike[str]) -> Any:
    """Return the value in the file; its arrays are writable and never write through to the file.

    The file may be removed while the value is in use (on POSIX).
    """
    view = _contents(path)
    try:
        end, count, magic = _TRAILER.unpack_from(view, len(view) - _TRAILER.size)
        if magic != _MAGIC:
            raise struct.error
        index = struct.unpack_from(f"<{2 * count}Q", view, end)
    except struct.error:
        raise ValueError(f"{os.fspath(path)} is not a complete value file") from None
    buffers = [view[a:b] for a, b in zip(index[::2], index[1::2], strict=True)]
    return pickle.loads(view, buffers=buffers)
