"""One value in one file: pickle-5 streams followed by their buffers, mapped or read back.

``[pickle stream][buffer]...`` is a record, every buffer aligned for any dtype; behind the records
stand an index and a trailer. A list of large entries is a record for each, so that one entry can be
read without the others. Buffers are written from where they lie. :func:`read` maps them privately:
what is read may be modified in place and the file stays as it was. :func:`load` reads them into
memory of their own, which is what a budget can count.
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
from dask.sizeof import sizeof

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

_MAGIC = b"marsdsk2"
_TRAILER = struct.Struct("<QQ8s")
_ALIGNMENT = 64

#: Smaller files are read rather than mapped: cheaper, and mappings are a limited resource.
_MAP_FROM = 128 * 1024

#: From Python 3.13 on a mapping needs no descriptor of its own.
UNTRACKED: dict[str, Any] = (
    {"trackfd": False} if sys.version_info >= (3, 13) and sys.platform != "win32" else {}
)

#: Of the descriptors that a process may have, those for values; the others are for connections.
_VALUES_SHARE = 3 / 4

#: A list whose entries are of this many bytes on average is written entry by entry.
_DIVIDE_FROM = 4096
#: How many entries of a list are weighed.
_WEIGHED = 16

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


_ARRAYS: dict[Any, Any] = {np.ndarray: _reduce_array}
_PLAIN: dict[Any, Any] = copyreg.dispatch_table


# Chained, because `copyreg` is shared by the process and others may extend it later; of the class,
# because cloudpickle's does not heed one of the instance.
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
    """Return where the next buffer begins if the last one ended at ``position``."""
    return -(-position // _ALIGNMENT) * _ALIGNMENT


def _write_record(file: IO[bytes], value: Any, by_value: bool) -> list[int]:
    """Append a value; return where its stream ends, the number of its buffers, and their ends."""
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
    """Return how many entries of a value can be read alone; 0 if only the whole can.

    These are lists of arrays or frames (or tuples of them), as what is to be exchanged comes in.
    """
    if type(value) is not list or len(value) < 2:
        return 0
    blocks = [block for entry in value for block in (entry if type(entry) is tuple else (entry,))]
    # Every entry is a stream of its own, so what two of them share would be written twice.
    apart = all(hasattr(block, "ndim") for block in blocks) and len({*map(id, blocks)}) == len(
        blocks
    )
    # Not the list's size: dask weighs some entries at random, and who reads must find as many.
    some = value[:: -(-len(value) // _WEIGHED)]
    return len(value) if apart and sum(map(sizeof, some)) >= _DIVIDE_FROM * len(some) else 0


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
    """Have the system write the file soon, not when its memory is full of what waits for that."""
    if hasattr(os, "posix_fadvise"):
        file.flush()
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def write(path: str | os.PathLike[str], value: Any, *, by_value: bool = False) -> int:
    """Write ``value`` to the new file ``path`` and return the file's size; no file on failure.

    ``by_value`` includes the definitions of what lives in ``__main__``, which a process with
    another ``__main__`` could not import. Raises ``OSError`` when the disk is full or not writable,
    and what pickling raises otherwise.
    """
    try:
        with Path(path).open("xb") as file:
            size = _write(file, value, by_value)
            _start_writing(file)
            return size
    except FileExistsError:
        raise
    except BaseException:  # also an interrupt: no half a file may stay
        Path(path).unlink(missing_ok=True)
        raise


@dataclass(frozen=True)
class _Record:
    """Where in a file a value lies: its stream, and each of its buffers."""

    stream: slice
    buffers: list[slice]


class _Incomplete(ValueError):
    def __init__(self, path: str | os.PathLike[str]) -> None:
        super().__init__(f"incomplete value file: {os.fspath(path)}")


def _records(
    path: str | os.PathLike[str], size: int, fetch: Callable[[int, int], Any]
) -> tuple[list[_Record], int]:
    """Return the records and the number of entries, which is 0 of what is not a divided list."""
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
    """Return what a file has from a position on, which may be modified and stays what it is there.

    The file may be removed meanwhile (on POSIX).
    """
    with Path(path).open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size >= _MAP_FROM and not scarce(file.fileno()):
            with suppress(OSError):  # there are as many mappings as the system allows
                return memoryview(
                    mmap.mmap(file.fileno(), size, access=mmap.ACCESS_COPY, **UNTRACKED)
                )[start:]
        data = bytearray(size)
        file.readinto(data)
        return memoryview(data)[start:]


def scarce(descriptor: int) -> bool:
    """Whether so many descriptors are open, this one too, that values had better take none.

    The kernel gives the lowest number that is free.
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
    """Return the value in the file, or one entry of it alone, in memory that is nobody else's."""
    with Path(path).open("rb", buffering=0) as file:
        reader = _Reader(file)
        if entry is not None and hasattr(os, "posix_fadvise"):
            # Reading ahead, as systems do by megabytes, would read what is not asked for.
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
        """Read a record; each buffer has memory of its own, which can be freed alone."""
        stream = self.bytes(record.stream.start, record.stream.stop)
        return pickle.loads(stream, buffers=[self.array(part) for part in record.buffers])

    def bytes(self, start: int, stop: int) -> Any:
        """Read a few bytes."""
        return self.array(slice(start, stop)).data

    def array(self, part: slice) -> np.ndarray[Any, Any]:
        """Read bytes into an array, which is what a ledger of buffers can tell the owner of."""
        array = np.empty(part.stop - part.start, np.uint8)
        self._file.seek(part.start)
        rest = array.data
        while rest:
            count = self._file.readinto(rest)  # at most 2 GiB at a time
            if not count:
                raise EOFError("unexpected end of a value file")
            rest = rest[count:]
        return array
