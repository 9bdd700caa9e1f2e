"""One value in one file: pickle-5 streams followed by their buffers, mapped or read back.

``[pickle stream][buffer]...`` is a record with every buffer aligned for any dtype. An index and a
trailer follow the records. A list of large entries has a record for each entry, which can be read
alone. Buffers are written without copying them.

:func:`read` maps the buffers privately, so values may be modified in place without changing the
file. :func:`load` reads the buffers into memory, which a budget can count.
"""

from __future__ import annotations

import copyreg
import mmap
import os
import pickle
import struct
import sys
from collections import ChainMap
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import cloudpickle
import numpy as np

from .sizes import size_of

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

_MAGIC = b"marsdsk2"
_TRAILER = struct.Struct("<QQ8s")
_ALIGNMENT = 64

#: Smaller files are read, which is cheaper: the number of mappings is limited.
_MAP_FROM = 128 * 1024

#: From Python 3.13 on a mapping needs no descriptor of its own.
UNTRACKED: dict[str, Any] = (
    {"trackfd": False} if sys.version_info >= (3, 13) and sys.platform != "win32" else {}
)

#: Share of a process's descriptors for values; the others are for connections.
_VALUES_SHARE = 3 / 4

#: Minimum average bytes of a list's entries for writing them separately.
_DIVIDE_FROM = 4096

#: The errors of a pickler for an object that cannot be imported by name.
UNPICKLABLE = (pickle.PicklingError, AttributeError, TypeError)


def _as_datetimes(data: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    return data.view(dtype)


def _reduce_array(array: np.ndarray[Any, Any]) -> Any:
    """Reduce an array so that its data are a buffer, also where NumPy would copy them."""
    if array.dtype.hasobject or array.dtype.names or not array.size:
        return array.__reduce_ex__(pickle.HIGHEST_PROTOCOL)
    if not (array.flags.c_contiguous or array.flags.f_contiguous):
        array = np.ascontiguousarray(array)
    if array.dtype.kind in "mM":  # without the buffer protocol
        return _as_datetimes, (array.view(np.int64), array.dtype)
    return array.__reduce_ex__(pickle.HIGHEST_PROTOCOL)


_ARRAYS: dict[Any, Any] = {np.ndarray: _reduce_array}
_PLAIN: dict[Any, Any] = copyreg.dispatch_table


# The tables are chained, because other modules may extend `copyreg` later. They are attributes of
# the class, because cloudpickle ignores a table of the instance.
class _Pickler(pickle.Pickler):
    dispatch_table = ChainMap(_ARRAYS, _PLAIN)  # noqa: RUF012


class _CloudPickler(cloudpickle.Pickler):  # type: ignore[misc]
    dispatch_table = ChainMap(_ARRAYS, cloudpickle.Pickler.dispatch_table)  # noqa: RUF012


def _dump(pickler_class: type[pickle.Pickler], file: IO[bytes], value: Any) -> list[memoryview]:
    buffers: list[pickle.PickleBuffer] = []
    pickler_class(file, pickle.HIGHEST_PROTOCOL, buffer_callback=buffers.append).dump(value)
    return [buffer.raw() for buffer in buffers]


def dump(file: IO[bytes], value: Any, by_value: bool) -> list[memoryview]:
    """Append the pickle of ``value`` to ``file`` and return its buffers, which are not written."""
    start = file.tell()
    try:
        return _dump(_CloudPickler if by_value else _Pickler, file, value)
    except UNPICKLABLE:
        if by_value:
            raise
        file.seek(start)
        file.truncate()
        return _dump(_CloudPickler, file, value)


def aligned(position: int) -> int:
    """Return the position of a buffer after one that ended at ``position``."""
    return -(-position // _ALIGNMENT) * _ALIGNMENT


def _write_record(file: IO[bytes], value: Any, by_value: bool) -> list[int]:
    """Append a value; return the bounds of its stream, the number of its buffers, their bounds."""
    start = file.tell()
    buffers = dump(file, value, by_value)
    position = file.tell()
    entry = [start, position, len(buffers)]
    for buffer in buffers:
        begin = aligned(position)
        file.write(bytes(begin - position))
        file.write(buffer)
        position = begin + buffer.nbytes
        entry += [begin, position]
    return entry


def entries(value: Any) -> int:
    """Return the number of entries that can be read alone; 0 if only the whole value can.

    Such values are lists of arrays or frames, or of tuples of these, as in a shuffle.
    """
    if type(value) is not list or len(value) < 2:
        return 0
    blocks = [block for entry in value for block in (entry if type(entry) is tuple else (entry,))]
    # Every entry has its own stream, so shared objects would be written twice.
    apart = all(hasattr(block, "ndim") for block in blocks) and len({*map(id, blocks)}) == len(
        blocks
    )
    return len(value) if apart and size_of(value) >= _DIVIDE_FROM * len(value) else 0


def _write(file: IO[bytes], value: Any, by_value: bool) -> int:
    count = entries(value)
    index = []
    for entry in value if count else [value]:
        index += _write_record(file, entry, by_value)
    position = file.tell()
    file.write(struct.pack(f"<{len(index)}Q", *index))
    file.write(_TRAILER.pack(position, count, _MAGIC))
    return position + 8 * len(index) + _TRAILER.size


def _start_writing(file: IO[bytes]) -> None:
    """Let the system write the file soon, not only when its page cache is full."""
    if hasattr(os, "posix_fadvise"):
        file.flush()
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def write(path: str | os.PathLike[str], value: Any, *, by_value: bool = False) -> int:
    """Write ``value`` to the new file ``path`` and return its size; on failure, remove the file.

    ``by_value`` includes definitions of ``__main__``, which a process with another ``__main__``
    could not import. Raises ``OSError`` for a disk that is full or not writable, and the errors of
    pickling.
    """
    try:
        with Path(path).open("xb") as file:
            size = _write(file, value, by_value)
            _start_writing(file)
            return size
    except FileExistsError:
        raise
    except BaseException:  # also an interrupt: no incomplete file may stay
        Path(path).unlink(missing_ok=True)
        raise


@dataclass(frozen=True)
class _Record:
    """The positions of a value in a file: its stream and its buffers."""

    stream: slice
    buffers: list[slice]


class _Incomplete(ValueError):
    def __init__(self, path: str | os.PathLike[str]) -> None:
        super().__init__(f"incomplete value file: {os.fspath(path)}")


def _records(
    path: str | os.PathLike[str], size: int, fetch: Callable[[int, int], Any]
) -> tuple[list[_Record], int]:
    """Return the records and the number of entries, 0 for an undivided value."""
    end = size - _TRAILER.size
    if end < 0:
        raise _Incomplete(path)
    position, count, magic = _TRAILER.unpack(fetch(end, size))
    if magic != _MAGIC or not 0 <= position <= end:
        raise _Incomplete(path)
    numbers = iter(struct.unpack(f"<{(end - position) // 8}Q", fetch(position, end)))
    return list(_parsed(numbers)), count


def _parsed(numbers: Iterator[int]) -> Iterator[_Record]:
    for start in numbers:
        stop, count = next(numbers), next(numbers)
        yield _Record(
            slice(start, stop), [slice(next(numbers), next(numbers)) for _ in range(count)]
        )


def read(path: str | os.PathLike[str]) -> Any:
    """Return the value in the file; its arrays are writable and never write through to the file.

    The file may be removed while the value is in use (on POSIX).
    """
    view = contents(path)
    records, count = _records(path, len(view), lambda start, stop: view[start:stop])
    values = [
        pickle.loads(view[record.stream], buffers=[view[part] for part in record.buffers])
        for record in records
    ]
    return values if count else values[0]


def contents(path: str | os.PathLike[str], start: int = 0) -> memoryview:
    """Return the bytes of a file from a position on; modifying them does not change the file.

    The file may be removed meanwhile (on POSIX).
    """
    with Path(path).open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size >= _MAP_FROM and not scarce(file.fileno()):
            with suppress(OSError):  # the system's limit of mappings is reached
                return memoryview(
                    mmap.mmap(file.fileno(), size, access=mmap.ACCESS_COPY, **UNTRACKED)
                )[start:]
        data = bytearray(size)
        file.readinto(data)
        return memoryview(data)[start:]


def scarce(descriptor: int) -> bool:
    """Return whether the remaining descriptors are reserved for connections.

    The kernel assigns the lowest free descriptor.
    """
    if resource is None:
        return False
    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        another = os.dup(descriptor)
    except OSError:
        return True
    os.close(another)
    return most != resource.RLIM_INFINITY and another >= _VALUES_SHARE * most


def load(path: str | os.PathLike[str], entry: int | None = None) -> Any:
    """Return the value in the file, or one entry of it, in private memory."""
    with Path(path).open("rb", buffering=0) as file:
        reader = _Reader(file)
        if entry is not None and hasattr(os, "posix_fadvise"):
            # Read-ahead would load megabytes of other entries.
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_RANDOM)
        records, count = _records(path, reader.size, reader.bytes)
        if entry is not None:
            return reader.value(records[entry])
        values = [reader.value(record) for record in records]
        return values if count else values[0]


class _Reader:
    """Reads parts of a file into memory."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self.size = os.fstat(file.fileno()).st_size

    def value(self, record: _Record) -> Any:
        """Read a record; each buffer has its own memory, which can be freed separately."""
        stream = self.bytes(record.stream.start, record.stream.stop)
        return pickle.loads(stream, buffers=[self.array(part) for part in record.buffers])

    def bytes(self, start: int, stop: int) -> Any:
        """Read a few bytes."""
        return self.array(slice(start, stop)).data

    def array(self, part: slice) -> np.ndarray[Any, Any]:
        """Read bytes into an array, whose owner the accounting of buffers can determine."""
        array = np.empty(part.stop - part.start, np.uint8)
        self._file.seek(part.start)
        view = array.data
        while view:
            count = self._file.readinto(view)  # at most 2 GiB at a time
            if not count:
                raise EOFError("unexpected end of a value file")
            view = view[count:]
        return array
