"""A sink may be its own source, and a failed write leaves what was there."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import marsdask.tensor as mt
from marsdask.core.config import option_context

zarr: Any = pytest.importorskip("zarr")
h5py: Any = pytest.importorskip("h5py")

X = np.arange(1200.0).reshape(120, 10)


class Sink(NamedTuple):
    """A writer, and the reader of what it writes."""

    name: str
    write: Callable[[Any, Path], Any]
    read: Callable[[Path], Any]
    """Reads lazily."""
    later: Callable[[Any, Path], Any] | None = None
    """Returns a tensor whose execution writes."""


def _zarr_group(path: Path) -> Any:
    return mt.from_zarr(str(path), "g/h", "x")


def _memmap(path: Path) -> Any:
    return np.memmap(path, "f8", "r+", shape=X.shape)


def _store_memmap(x: Any, path: Path) -> None:
    if not path.exists():
        X.tofile(path)
    x.store(_memmap(path))


def _zarr_array(path: Path) -> Any:
    if not path.exists():
        zarr.create_array(path, shape=X.shape, dtype="f8", chunks=(30, 4))
    return zarr.open_array(path, mode="r+")


SINKS: dict[str, Sink] = {
    "to_zarr": Sink(
        "x.zarr",
        lambda x, path: x.to_zarr(str(path), overwrite=True),
        lambda path: mt.from_zarr(str(path)),
        lambda x, path: x.to_zarr(str(path), overwrite=True, compute=False),
    ),
    "to_zarr, mode": Sink(
        "x.zarr",
        lambda x, path: mt.to_zarr(path, x, mode="w"),
        lambda path: mt.from_zarr(str(path)),
    ),
    "to_zarr, a source that is open": Sink(
        "x.zarr",
        lambda x, path: x.to_zarr(str(path), overwrite=True),
        lambda path: mt.from_zarr(zarr.open_array(path, mode="r+")),
    ),
    "to_zarr, group": Sink(
        "x.zarr",
        lambda x, path: mt.to_zarr(path, x, "g/h", "x", overwrite=True),
        _zarr_group,
    ),
    "to_zarr, returned": Sink(
        "x.zarr",
        lambda x, path: x.to_zarr(str(path), overwrite=True, return_stored=True).compute(),
        lambda path: mt.from_zarr(str(path)),
        lambda x, path: x.to_zarr(str(path), overwrite=True, return_stored=True, compute=False),
    ),
    "to_zarr, the array": Sink(
        "x.zarr",
        lambda x, path: x.to_zarr(_zarr_array(path)),
        lambda path: mt.from_zarr(_zarr_array(path)),
    ),
    "store, zarr": Sink(
        "x.zarr",
        lambda x, path: x.store(_zarr_array(path)),
        lambda path: mt.from_array(_zarr_array(path), chunks=(40, 10)),
    ),
    "store, memmap": Sink("x.bin", _store_memmap, lambda path: mt.from_array(_memmap(path))),
    "store, memmap of fromfile": Sink(
        "x.bin", _store_memmap, lambda path: mt.fromfile(path).reshape(X.shape)
    ),
    "to_npy_stack": Sink(
        "x",
        lambda x, path: mt.to_npy_stack(path, x),
        mt.from_npy_stack,
    ),
    "save": Sink(
        "x.npy",
        lambda x, path: mt.save(path, x),
        lambda path: mt.load(path, chunk_size=50),
        lambda x, path: mt.save(path, x, compute=False),
    ),
    "savez": Sink(
        "x.npz",
        lambda x, path: mt.savez(path, x=x),
        lambda path: mt.tensor(np.load(path)["x"]),
    ),
    "savez_compressed": Sink(
        "x.npz",
        lambda x, path: mt.savez_compressed(path, x=x),
        lambda path: mt.tensor(np.load(path)["x"]),
    ),
    "savetxt": Sink("x.txt", lambda x, path: mt.savetxt(path, x), mt.loadtxt),
    "savetxt, packed": Sink("x.txt.gz", lambda x, path: mt.savetxt(path, x), mt.loadtxt),
    "to_hdf5": Sink(
        "x.h5",
        lambda x, path: mt.to_hdf5(path, x, dataset="x"),
        lambda path: mt.from_hdf5(path, dataset="x"),
    ),
    "to_hdf5, several": Sink(
        "x.h5",
        lambda x, path: mt.to_hdf5(path, {"x": x, "y": x + 1}),
        lambda path: mt.from_hdf5(path, dataset="x"),
    ),
}


def tree(folder: Path) -> list[str]:
    """Return all files below a folder."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("coalesce", [True, False])
@pytest.mark.parametrize("linked", [False, True])
@pytest.mark.parametrize("sink", SINKS)
def test_a_sink_that_is_its_own_source(
    tmp_path: Path, sink: str, linked: bool, coalesce: bool
) -> None:
    """Every row is computed from what was there, also by another name of the place."""
    name, write, read, later = SINKS[sink]
    path = tmp_path / name
    write(mt.tensor(X, chunk_size=(40, 10)), path)
    files = tree(tmp_path)
    source = path
    if linked:
        (tmp_path / "link").symlink_to(tmp_path)
        source = tmp_path / "link" / name
    with option_context({"coalesce": coalesce}):
        write(read(source)[::-1] + 1, path)
        np.testing.assert_array_equal(read(path).compute(), X[::-1] + 1)
        if later is not None:
            lazy = later(read(source) * 2, path)
            np.testing.assert_array_equal(read(path).compute(), X[::-1] + 1)
            lazy.execute()
            np.testing.assert_array_equal(read(path).compute(), (X[::-1] + 1) * 2)
    assert tree(tmp_path) == files


def failing(x: Any, error: type[BaseException]) -> Any:
    """Return a tensor of which the last chunk raises."""

    def check(block: Any) -> Any:
        if (block % 1190 == 0).any() and (block >= 1190).any():
            raise error("no such row")
        return block

    return x.map_blocks(check, dtype=x.dtype, meta=np.empty((0, 0)))


#: Arrays of the user's that are written in place: what is computed is written.
IN_PLACE = {"to_zarr, the array", "store, zarr", "store, memmap", "store, memmap of fromfile"}


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
@pytest.mark.parametrize("sink", SINKS)
def test_a_failed_write(tmp_path: Path, sink: str, error: type[BaseException], own: bool) -> None:
    """What was there is there, nothing lies beside it, and it can be written at once."""
    name, write, read, _ = SINKS[sink]
    if sink in IN_PLACE and not own:
        pytest.skip("a target of the user's that is not read is filled chunk by chunk")
    path = tmp_path / name
    write(mt.tensor(X, chunk_size=(40, 10)), path)
    files = tree(tmp_path)
    source = read(path) if own else mt.tensor(X, chunk_size=(40, 10))
    with pytest.raises(error):
        write(failing(source, error), path)
    np.testing.assert_array_equal(read(path).compute(), X)
    assert tree(tmp_path) == files
    write(mt.tensor(X + 1, chunk_size=(40, 10)), path)
    np.testing.assert_array_equal(read(path).compute(), X + 1)
    if name == "x.h5":
        h5py.File(path, "w").close()  # no handle is open


@pytest.mark.parametrize("sink", sorted({*SINKS} - IN_PLACE))
def test_a_failed_first_write(tmp_path: Path, sink: str) -> None:
    """Nothing is left of it."""
    name, write, _, _ = SINKS[sink]
    with pytest.raises(ZeroDivisionError):
        write(failing(mt.tensor(X, chunk_size=(40, 10)), ZeroDivisionError), tmp_path / name)
    assert tree(tmp_path) == []


@pytest.mark.parametrize("sink", [name for name, sink in SINKS.items() if sink.later is not None])
def test_nothing_is_deleted_before_a_lazy_write(tmp_path: Path, sink: str) -> None:
    """A failure of the tasks leaves what was there; the next execution writes."""
    name, write, read, later = SINKS[sink]
    path = tmp_path / name
    write(mt.tensor(X, chunk_size=(40, 10)), path)
    assert later is not None
    lazy = later(failing(read(path), ZeroDivisionError), path)
    with pytest.raises(ZeroDivisionError):
        lazy.execute()
    np.testing.assert_array_equal(read(path).compute(), X)
    lazy = later(read(path) + 1, path)
    lazy.compute()
    np.testing.assert_array_equal(read(path).compute(), X + 1)


LATER: dict[str, tuple[str, Callable[[Path], Any], Callable[[Any, Path], Any]]] = {
    "memmap": (
        "x.bin",
        lambda path: mt.tensor(_memmap(path)),
        lambda x, path: x.store(_memmap(path), compute=False),
    ),
    "zarr": (
        "x.zarr",
        lambda path: mt.from_zarr(str(path)),
        lambda x, path: x.store(_zarr_array(path), compute=False),
    ),
    "a region of zarr": (
        "x.zarr",
        lambda path: mt.from_zarr(str(path))[:60],
        lambda x, path: mt.to_zarr(
            x, _zarr_array(path), region=(slice(60, 120), slice(None)), compute=False
        ),
    ),
    "hdf5": (
        "x.h5",
        lambda path: mt.from_hdf5(path, "x"),
        lambda x, path: mt.to_hdf5(path, x, dataset="x", compute=False),
    ),
}


@pytest.mark.parametrize("target", LATER)
def test_later_writes_in_place_are_refused(tmp_path: Path, target: str) -> None:
    """The error names the place and what to do; a computed source may be written later."""
    name, read, later = LATER[target]
    path = tmp_path / name
    SINKS[{"memmap": "store, memmap", "hdf5": "to_hdf5"}.get(target, "to_zarr")].write(
        mt.tensor(X), path
    )
    with pytest.raises(ValueError, match=rf"{name}.*execute\(\)|the array.*execute\(\)"):
        later(read(path) + 1, path)
    np.testing.assert_array_equal(read(path).compute(), X[: len(read(path))])
    computed = (read(path) + 1).execute()
    later(computed, path).execute()
    np.testing.assert_array_equal(np.asarray(read(path)[:3]), X[:3] + (target[0] != "a"))


def test_several_targets_that_are_sources_of_each_other(tmp_path: Path) -> None:
    """Both are read before either is written."""
    a, b = X.copy(), X.copy() + 5
    first, second = mt.tensor(a, copy=False, chunk_size=7), mt.tensor(b, copy=False, chunk_size=7)
    mt.store([second[::-1], first * 2], [a, b])
    np.testing.assert_array_equal(a, X[::-1] + 5)
    np.testing.assert_array_equal(b, X * 2)


def test_a_hard_link_is_the_same_file(tmp_path: Path) -> None:
    """A file that is mapped by another name is read before it is written."""
    X.tofile(tmp_path / "a")
    os.link(tmp_path / "a", tmp_path / "b")
    mt.tensor(_memmap(tmp_path / "a"), chunk_size=7)[::-1].store(_memmap(tmp_path / "b"))
    np.testing.assert_array_equal(_memmap(tmp_path / "a"), X[::-1])


def test_stores_in_memory() -> None:
    """A store that renames nothing is not emptied before the values are known."""
    store = zarr.storage.MemoryStore()
    mt.tensor(X, chunk_size=50).to_zarr(store)
    source = mt.from_zarr(zarr.open_array(store, mode="r"))
    with pytest.raises(ZeroDivisionError):
        failing(source, ZeroDivisionError).to_zarr(store, overwrite=True)
    np.testing.assert_array_equal(zarr.open_array(store)[:], X)
    with pytest.raises(ValueError, match="execute"):
        (source + 1).to_zarr(store, overwrite=True, compute=False)
    (source[::-1] + 1).to_zarr(store, overwrite=True)
    np.testing.assert_array_equal(zarr.open_array(store)[:], X[::-1] + 1)


def test_other_arrays_of_a_group_stay(tmp_path: Path) -> None:
    """One array is replaced; a longer stack leaves no files behind."""
    mt.to_zarr(tmp_path / "z", mt.tensor(X), "g", "x")
    mt.to_zarr(tmp_path / "z", mt.tensor(X) + 1, "g", "y")
    mt.to_zarr(
        tmp_path / "z", mt.from_zarr(str(tmp_path / "z"), "g", "y"), "g", "x", overwrite=True
    )
    group = zarr.open_group(tmp_path / "z", mode="r")
    assert sorted(group["g"].array_keys()) == ["x", "y"]
    np.testing.assert_array_equal(group["g/x"][:], X + 1)
    mt.to_npy_stack(tmp_path / "s", mt.tensor(X, chunk_size=10))
    (tmp_path / "s" / "notes").write_text("mine")
    mt.to_npy_stack(tmp_path / "s", mt.from_npy_stack(tmp_path / "s")[:20])
    assert tree(tmp_path / "s") == ["0.npy", "1.npy", "info", "notes"]
    np.testing.assert_array_equal(mt.from_npy_stack(tmp_path / "s").compute(), X[:20])


def test_other_datasets_of_a_file_stay(tmp_path: Path) -> None:
    """Also after a failure."""
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        file["x"] = X
        file["x"].attrs["unit"] = "m"
        file["y"] = X + 1
    mt.to_hdf5(path, mt.from_hdf5(path, "x")[::-1], dataset="x")
    with pytest.raises(ZeroDivisionError):
        mt.to_hdf5(path, failing(mt.tensor(X, chunk_size=(40, 10)), ZeroDivisionError), dataset="z")
    with h5py.File(path, "r") as file:
        assert sorted(file) == ["x", "y"]
        assert file["x"].attrs["unit"] == "m"
        np.testing.assert_array_equal(file["x"][:], X[::-1])
        np.testing.assert_array_equal(file["y"][:], X + 1)


def test_an_open_file(tmp_path: Path) -> None:
    """A dataset of it is read before it is written, and stays if reading it fails."""
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["x"] = X
        source = mt.from_hdf5(file["x"], chunk_size=(30, 10))
        with pytest.raises(ZeroDivisionError):
            mt.to_hdf5(file, failing(source, ZeroDivisionError), dataset="x")
        np.testing.assert_array_equal(file["x"][:], X)
        mt.to_hdf5(file, source[::-1] + 1, dataset="x")
        np.testing.assert_array_equal(file["x"][:], X[::-1] + 1)
        source.store(file["x"], regions=(slice(120), slice(10)))
        mt.from_hdf5(file["x"])[::-1].store(file["x"])
        np.testing.assert_array_equal(file["x"][:], X + 1)
