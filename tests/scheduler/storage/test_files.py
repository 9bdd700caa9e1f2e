"""One value in one file."""

import os
import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from marsdask.scheduler.storage import files
from marsdask.scheduler.storage.buffers import BufferUsage, charges

LARGE = np.arange(200_000.0)

ARRAYS = {
    "float": LARGE,
    "small": np.arange(3),
    "empty": np.zeros((0, 3)),
    "no dimension": np.array(5.0),
    "fortran": np.asfortranarray(LARGE.reshape(400, 500)),
    "transposed": np.moveaxis(LARGE.reshape(10, 20, 1000), 1, 0),
    "strided": LARGE[::3],
    "reversed": LARGE[::-1],
    "broadcast": np.broadcast_to(np.arange(3.0), (4, 3)),
    "datetime": LARGE.astype("M8[ns]"),
    "timedelta": LARGE[::2].astype("m8[s]"),
    "empty datetime": np.zeros((3, 0), "M8[D]"),
    "big endian": LARGE.astype(">f4"),
    "bool": LARGE > 5,
    "complex": LARGE[:10] * 1j,
    "object": np.array(["a", None, 3, LARGE[:2]], dtype=object),
    "text": np.array(["one", "three"]),
    "bytes": np.array([b"ab", b"c"]),
    "strings": np.array(["one", "three"], dtype=np.dtypes.StringDType()),
    "structured": np.zeros(3, [("a", int), ("when", "M8[ns]")]),
    "masked": np.ma.array(LARGE[:4], mask=[False, True, False, True]),
}


def round_trip(folder, value):
    path = folder / "value"
    size = files.write(path, value)
    assert size == path.stat().st_size
    result = files.read(path)
    path.unlink()
    return result


def test_what_cannot_be_mapped_is_read(tmp_path, monkeypatch):
    """The system allows so many mappings."""

    def refused(*args, **options):
        raise OSError(12, "Cannot allocate memory")

    monkeypatch.setattr("mmap.mmap", refused)
    assert (round_trip(tmp_path, LARGE) == LARGE).all()


DIVISIBLE: dict[str, tuple[Any, int]] = {
    "arrays": ([LARGE, LARGE[:0], LARGE[5:90_000]], 3),
    "tuples": ([(LARGE, LARGE.astype(int)), (LARGE[:4], LARGE[::2])], 2),
    "frames": ([pd.DataFrame({"x": LARGE}), pd.DataFrame({"y": ["a", "b"]})], 2),
    "small": ([LARGE[:3], LARGE[:4]], 0),
    "one": ([LARGE], 0),
    "scalars": ([LARGE, 5], 0),
    "shared": ([LARGE, LARGE], 0),
    "not a list": ((LARGE, LARGE[5:]), 0),
}


@pytest.mark.parametrize("name", DIVISIBLE)
def test_entries_of_a_list(tmp_path, name):
    """A list of large arrays or frames is read whole, or one entry without the others."""
    value, count = DIVISIBLE[name]
    path = tmp_path / "value"
    files.write(path, value)
    assert files.entries(value) == count
    for found in (files.read(path), files.load(path)):
        assert type(found) is type(value)
        assert_same(list(found), list(value))
    for entry in range(count):
        assert_same([files.load(path, entry)], [value[entry]])


def assert_same(found, wanted):
    for a, b in zip(found, wanted, strict=True):
        if isinstance(b, tuple):
            assert_same(a, b)
        elif isinstance(b, pd.DataFrame):
            pd.testing.assert_frame_equal(a, b)
        else:
            np.testing.assert_array_equal(a, b, strict=True)


@pytest.mark.skipif(sys.platform != "linux", reason="reads what Linux counts")
def test_an_entry_costs_its_own_bytes(tmp_path):
    """Of a large list, one entry is read from the file and held in memory, nothing else."""
    path = tmp_path / "value"
    files.write(path, [LARGE + i for i in range(20)])

    def read_so_far():
        fields = dict(line.split(": ") for line in Path("/proc/self/io").read_text().splitlines())
        return int(fields["rchar"])

    start = read_so_far()
    found = files.load(path, 7)
    assert read_so_far() - start < 1.1 * LARGE.nbytes
    assert charges(found, BufferUsage()) == ((id(found.base), LARGE.nbytes),)


def test_loaded_arrays_are_charged_by_their_memory(tmp_path):
    """A loaded value is writable and private, and any view of it counts in full."""
    path = tmp_path / "value"
    files.write(path, {"x": LARGE, "y": LARGE[:10]})
    value = files.load(path)
    assert value["x"].flags.writeable
    view = value["x"][:5]
    del value
    ((_, nbytes),) = charges(view, BufferUsage())
    assert nbytes == LARGE.nbytes


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays(tmp_path, name):
    """Arrays of every kind come back equal, of the same type and writable."""
    array = ARRAYS[name]
    result = round_trip(tmp_path, array)
    assert type(result) is type(array)
    assert (result.dtype, result.shape) == (array.dtype, array.shape)
    assert result.flags.writeable
    if name == "object":
        np.testing.assert_array_equal(result[3], array[3])
        result, array = result[:3], array[:3]
    np.testing.assert_array_equal(result, array)


@pytest.mark.filterwarnings("ignore:Series.values returning:DeprecationWarning")  # in pyarrow
def test_frames(tmp_path):
    """Frames with strings, categories, times and missing values come back equal."""
    n = 5000
    frame = pd.DataFrame(
        {
            "i": range(n),
            "s": [f"s{i}" for i in range(n)],
            "t": pd.date_range("2020", periods=n),
            "z": pd.date_range("2020", periods=n, tz="UTC"),
            "c": pd.Categorical(["a", "b"] * (n // 2)),
            "n": pd.array([1, None] * (n // 2), dtype="Int64"),
            "o": [object, None] * (n // 2),
        }
    )
    pd.testing.assert_frame_equal(round_trip(tmp_path, frame), frame)
    pd.testing.assert_series_equal(round_trip(tmp_path, frame["s"][:3]), frame["s"][:3])
    table = pa.table(frame.drop(columns=["o"]))
    assert round_trip(tmp_path, table).equals(table)


@pytest.mark.parametrize("by_value", [False, True])
def test_large_arrays_leave_the_stream(by_value, tmp_path):
    """Array data lie outside of the pickle stream, also datetimes and strided ones."""
    for array in (LARGE, LARGE.astype("M8[ns]"), LARGE[::2]):
        path = tmp_path / "value"
        files.write(path, {"x": array}, by_value=by_value)
        data = path.read_bytes()
        stop = data.index(array.tobytes())
        assert stop < 1000
        assert stop % 64 == 0
        path.unlink()


def test_reading_is_private(tmp_path):
    """Changing what was read changes neither the file nor what others read."""
    path = tmp_path / "value"
    files.write(path, LARGE)
    first, second = files.read(path), files.read(path)
    first += 1
    np.testing.assert_array_equal(second, LARGE)
    np.testing.assert_array_equal(files.read(path), LARGE)


@pytest.mark.skipif(os.name == "nt", reason="a mapped file cannot be removed")
def test_value_outlives_its_file(tmp_path):
    """A value that was read stays valid after the file is removed."""
    result = round_trip(tmp_path, LARGE)
    assert not list(tmp_path.iterdir())
    np.testing.assert_array_equal(result, LARGE)


def test_read_only_stays_read_only(tmp_path):
    """An array that could not be written to cannot be afterwards."""
    array = LARGE.copy()
    array.flags.writeable = False
    assert not round_trip(tmp_path, array).flags.writeable


def test_lambda(tmp_path):
    """Values that pickle cannot serialise are written by cloudpickle."""
    assert round_trip(tmp_path, {"f": lambda x: x + 1})["f"](1) == 2


def test_unpicklable(tmp_path):
    """A value that cannot be pickled raises and leaves no file."""
    with pytest.raises(TypeError):
        files.write(tmp_path / "value", (i for i in range(3)))
    assert not list(tmp_path.iterdir())


def test_existing_file_is_kept(tmp_path):
    """Writing to an existing file is refused and leaves it alone."""
    path = tmp_path / "value"
    files.write(path, 1)
    with pytest.raises(FileExistsError):
        files.write(path, 2)
    assert files.read(path) == 1


def test_full_disk(monkeypatch, tmp_path):
    """A disk that fills up raises its OSError and leaves no file."""

    class Full:
        @staticmethod
        def pack(*values):
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(files, "_TRAILER", Full)
    with pytest.raises(OSError, match="No space"):
        files.write(tmp_path / "value", LARGE)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("data", [b"", b"short", pickle.dumps(list(range(100)))])
def test_incomplete_file(tmp_path, data):
    """A file that was not written to its end is refused by name."""
    path = tmp_path / "value"
    path.write_bytes(data)
    for reader in (files.read, files.load):
        with pytest.raises(ValueError, match=r"incomplete value file: .*value"):
            reader(path)


def test_the_number_of_entries_is_always_the_same():
    """Who writes a list and who reads it agree, though its entries weigh about what decides."""
    value = [np.zeros(1000 * (1 + i % 2), np.uint8) for i in range(98)]
    value += [np.zeros(2**17, np.uint8), np.zeros(2**17 + 1, np.uint8)]
    assert len({files.entries(value) for _ in range(100)}) == 1
