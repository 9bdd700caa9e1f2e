"""NumPy's own files."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import marsdask.tensor as mt
from marsdask.core.files.stamps import FileChanged
from marsdask.tensor.io.npy_files import read_part
from tests.file_changes import CHANGES
from tests.strategies import DTYPES, arrays_and_chunks, assert_same

X = np.arange(30.0).reshape(5, 6)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(array_and_chunks=arrays_and_chunks(DTYPES))
def test_single_files(tmp_path: Path, array_and_chunks: Any) -> None:
    """What is saved is what NumPy reads, and what is read is what NumPy saved."""
    array, chunks = array_and_chunks
    mt.save(tmp_path / "x", mt.tensor(array, chunks=chunks))
    found = np.load(tmp_path / "x.npy")
    assert found.dtype == array.dtype
    np.testing.assert_array_equal(found, array)
    assert_same(mt.load(tmp_path / "x.npy", chunk_size=2), array)


def test_files_are_read_when_they_are_needed(tmp_path: Path) -> None:
    """Not at the call; a changed file is another tensor."""
    np.save(tmp_path / "x.npy", X)
    lazy = mt.load(tmp_path / "x.npy", chunks=(2, 3))
    assert lazy.chunks == ((2, 2, 1), (3, 3))
    again = mt.load(tmp_path / "x.npy", chunks=(2, 3))
    assert again.node is lazy.node
    np.save(tmp_path / "x.npy", np.vstack([X, X]))
    assert mt.load(tmp_path / "x.npy").node is not lazy.node
    mt.save(tmp_path / "y.npy", lazy, compute=False)
    assert not (tmp_path / "y.npy").exists()


def test_what_is_not_read_says_so(tmp_path: Path) -> None:
    """Archives and objects."""
    np.savez(tmp_path / "x.npz", a=X)
    np.save(tmp_path / "o.npy", np.array([{}]))
    for name in ("x.npz", "o.npy"):
        with pytest.raises(NotImplementedError, match=r"numpy\.load"):
            mt.load(tmp_path / name)
    with pytest.raises(NotImplementedError, match="objects"):
        mt.save(tmp_path / "y.npy", np.array([{}]), compute=False)
    with pytest.raises(ValueError, match="allow_pickle"):
        mt.save(tmp_path / "y.npy", np.array([{}]), allow_pickle=False)
    with pytest.raises(FileNotFoundError):
        mt.load(tmp_path / "nothing.npy")


@pytest.mark.parametrize("axis", [0, 1])
def test_stacks_are_dasks(tmp_path: Path, axis: int) -> None:
    """Written by one, read by the other."""
    mt.to_npy_stack(tmp_path / "ours", mt.tensor(X, chunk_size=(2, 4)), axis=axis)
    theirs = da.from_npy_stack(str(tmp_path / "ours"))
    np.testing.assert_array_equal(theirs.compute(scheduler="sync"), X)
    da.to_npy_stack(str(tmp_path / "theirs"), da.from_array(X, chunks=(2, 4)), axis=axis)
    ours = mt.from_npy_stack(tmp_path / "theirs")
    assert ours.chunks == theirs.chunks
    assert_same(ours, X)
    assert_same(ours[1:4].rechunk((3, 5)) * 2, X[1:4] * 2)


class Calls:
    """Calls a function where it is unpickled."""

    def __init__(self, function: Any, argument: str) -> None:
        self.function, self.argument = function, argument

    def __reduce__(self) -> tuple[Any, ...]:
        return self.function, (self.argument,)


def test_a_stack_runs_no_code(tmp_path: Path) -> None:
    """Numbers and dtypes of NumPy are read; whatever else a pickle names is refused."""
    dtype = np.dtype([("a", "M8[s]")])
    info: dict[str, Any] = {"chunks": ((2,), (np.int64(6),)), "dtype": dtype, "axis": 0}
    np.save(tmp_path / "0.npy", np.zeros((2, 6), dtype))
    (tmp_path / "info").write_bytes(pickle.dumps(info))
    assert mt.from_npy_stack(tmp_path).shape == (2, 6)
    for function in (os.mkdir, np.load, np.lib.npyio.NpzFile):
        code = pickle.dumps(info | {"more": Calls(function, str(tmp_path / "run"))})
        (tmp_path / "info").write_bytes(code)
        with pytest.raises(pickle.UnpicklingError, match="could run code"):
            mt.from_npy_stack(tmp_path)
    assert not (tmp_path / "run").exists()


def test_stacks_of_nothing(tmp_path: Path) -> None:
    """One empty file; chunks without elements make none."""
    mt.to_npy_stack(tmp_path / "x", mt.ones((0, 3)))
    assert_same(mt.from_npy_stack(tmp_path / "x"), np.ones((0, 3)))
    mt.to_npy_stack(tmp_path / "y", mt.tensor(X, chunk_size=((0, 2, 0, 3), (6,))))
    assert_same(mt.from_npy_stack(tmp_path / "y"), X)


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"count": 4},
        {"count": 99},
        {"count": 0},
        {"offset": 16},
        {"offset": 999},
        {"dtype": "S0"},
        {"dtype": [("a", "f4"), ("b", "i2")]},
        {"dtype": object},
        {"dtype": "u1", "sep": " "},
        {"offset": -3},
    ],
    ids=str,
)
def test_files_of_elements(tmp_path: Path, how: Any) -> None:
    """What NumPy reads of a file without a header, or the type of its error."""
    X.tofile(tmp_path / "x")
    try:
        expected = np.fromfile(tmp_path / "x", **how)
    except (ValueError, OSError) as error:
        with pytest.raises(type(error)):
            mt.fromfile(tmp_path / "x", **how)
        return
    found = mt.fromfile(tmp_path / "x", chunk_size=4, **how)
    assert found.shape == expected.shape
    np.testing.assert_array_equal(found.compute(), expected, strict=True)


def test_open_files_of_elements(tmp_path: Path) -> None:
    """Are read at the call, from where they stand."""
    X.tofile(tmp_path / "x")
    with open(tmp_path / "x", "rb") as file:
        assert_same(mt.fromfile(file, count=2), X.ravel()[:2])
        assert_same(mt.fromfile(file, count=2), X.ravel()[2:4])


def _image(path: Path) -> None:
    image: Any = pytest.importorskip("PIL.Image")
    image.fromarray(X.astype("u1")).save(path)


def _images(path: Path) -> None:
    _image(path)
    _image(path.with_name("y.png"))


def _hdf5(path: Path) -> None:
    h5py: Any = pytest.importorskip("h5py")
    with h5py.File(path, "w") as file:
        file["x"] = X


def _of_open_hdf5(path: Path) -> Any:
    h5py: Any = pytest.importorskip("h5py")
    with h5py.File(path, "r") as file:
        return mt.from_hdf5(file["x"])


READERS: dict[str, tuple[str, Callable[[Path], Any], Callable[[Path], Any]]] = {
    "load": ("x.npy", lambda path: np.save(path, X), mt.load),
    "load, columns": (
        "x.npy",
        lambda path: np.save(path, np.asfortranarray(X)),
        lambda path: mt.load(path, chunk_size=2),
    ),
    "fromfile": ("x.bin", X.tofile, mt.fromfile),
    "from_npy_stack": (
        "1.npy",
        lambda path: da.to_npy_stack(str(path.parent), da.from_array(X, chunks=(2, 6))),
        lambda path: mt.from_npy_stack(path.parent),
    ),
    "imread": ("x.png", _image, mt.imread),
    "imread, several": (
        "x.png",
        _images,
        lambda path: mt.imread(str(path.parent / "*.png")),
    ),
    "from_hdf5": ("x.h5", _hdf5, lambda path: mt.from_hdf5(path, dataset="x")),
    "from_hdf5, open": ("x.h5", _hdf5, _of_open_hdf5),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("reader", READERS)
def test_a_file_that_changes_after_the_call(tmp_path: Path, reader: str, change: str) -> None:
    """Computing raises an error that names the file and the function."""
    name, write, read = READERS[reader]
    write(tmp_path / name)
    lazy = read(tmp_path / name)
    expected = lazy.compute()
    assert_same(lazy, expected)
    held = lazy[::-1].execute()
    CHANGES[change](tmp_path / name)
    function = reader.partition(",")[0]
    with pytest.raises(FileChanged, match=rf"{name} has changed since {function}\(\)"):
        lazy.compute()
    np.testing.assert_array_equal(held.fetch(), expected[::-1])  # what was computed reads no file


@pytest.mark.parametrize("reader", [x for x in READERS if not x.endswith("open")])
def test_a_path_is_that_of_the_call(
    tmp_path: Path, reader: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tasks may run in another folder."""
    name, write, read = READERS[reader]
    write(tmp_path / name)
    monkeypatch.chdir(tmp_path)
    lazy = read(Path(name))
    monkeypatch.chdir("/")
    lazy.compute()


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["f8", "M8[s]", "U3", [("a", "i1"), ("b", "f8")]])
def test_parts_of_files(tmp_path: Path, order: Any, dtype: Any) -> None:
    """Whole rows, columns and blocks, each with memory of its own."""
    array = np.arange(60).reshape(5, 12).astype(dtype, order=order)
    np.save(tmp_path / "x.npy", array)
    for parts in ((slice(1, 4), slice(12)), (slice(5), slice(2, 7)), (slice(1, 3), slice(4, 6))):
        part = read_part(str(tmp_path / "x.npy"), parts)
        np.testing.assert_array_equal(part, array[parts])
        assert type(part) is np.ndarray
        assert part.dtype == array.dtype
        assert not isinstance(part.base, np.memmap)
        assert part.flags.writeable
