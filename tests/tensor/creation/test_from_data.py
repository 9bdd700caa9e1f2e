"""Tensors over arrays, lists, memory maps and datasets in files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import marsdask.tensor as mt
from marsdask.core.config import option_context
from tests.strategies import assert_same


def test_tensor_of_anything() -> None:
    """Arrays, scalars and nested lists become tensors; a tensor stays itself."""
    array = np.arange(6.0).reshape(2, 3)
    lazy = mt.tensor(array, chunk_size=2)
    assert lazy.chunks == ((2,), (2, 1))
    assert_same(lazy, array)
    assert_same(mt.tensor(5), np.array(5))
    assert_same(mt.array([[1, 2], [3, 4]], dtype="f4"), np.array([[1, 2], [3, 4]], "f4"))
    assert mt.asarray(lazy) is lazy
    assert_same(mt.tensor(lazy, dtype="i4"), array.astype("i4"))
    assert mt.tensor(lazy, chunk_size=1).chunks == ((1, 1), (1, 1, 1))


def test_array_is_a_new_tensor() -> None:
    """A change in place of the copy is none of the original's; axes are put in front."""
    lazy = mt.arange(3, chunk_size=2)
    new = mt.array(lazy)
    new[0] = 7
    assert_same(lazy, np.arange(3))
    assert_same(new, np.array([7, 1, 2]))
    assert mt.array(lazy, copy=False) is lazy
    assert mt.asarray(lazy, dtype=lazy.dtype) is lazy
    assert_same(mt.array(lazy, "f4", ndmin=3), np.array(np.arange(3), "f4", ndmin=3))
    assert_same(mt.array(5, ndmin=1), np.array(5, ndmin=1))
    assert mt.array([[1]], ndmin=1).shape == (1, 1)


def test_an_unknown_order_is_refused() -> None:
    """An order of memory that does not exist is refused."""
    with pytest.raises(ValueError, match="order"):
        mt.tensor([1], order="X")


def test_memory_maps_are_read_chunk_by_chunk(tmp_path: Path) -> None:
    """A memory map is an array like any other."""
    array = np.arange(100.0)
    array.tofile(tmp_path / "data")
    lazy = mt.tensor(np.memmap(tmp_path / "data", "f8", "r"), chunk_size=30)
    assert_same(lazy * 2, array * 2)


def test_hdf5(tmp_path: Path) -> None:
    """A dataset in an HDF5 file, by handle and by name; a changed file is another tensor."""
    h5py = pytest.importorskip("h5py")
    array = np.arange(24.0).reshape(6, 4)
    path = tmp_path / "data.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("x", data=array, chunks=(2, 4))
        lazy = mt.from_hdf5(file["x"], chunk_size=4)
    assert lazy.chunks == ((4, 2), (4,))
    first = mt.fromhdf5(str(path), "x", chunk_size=3)
    assert_same(first + 1, array + 1)
    with h5py.File(path, "a") as file:
        file["x"][...] = 7
    assert mt.fromhdf5(str(path), "x", chunk_size=3).node.name != first.node.name
    with pytest.raises(ValueError, match="name"):
        mt.from_hdf5(path)


def test_zarr(tmp_path: Path) -> None:
    """A zarr array, by handle and by path; chunks are those of the store, or whole ones of it."""
    zarr = pytest.importorskip("zarr")
    array = np.arange(24.0).reshape(6, 4)
    stored = zarr.create_array(tmp_path / "data.zarr", shape=(6, 4), chunks=(2, 4), dtype="f8")
    stored[...] = array
    assert_same(mt.from_zarr(stored, chunk_size=2).sum(axis=0), array.sum(axis=0))
    lazy = mt.fromzarr(str(tmp_path / "data.zarr"))
    assert lazy.chunks == ((2, 2, 2), (4,))
    assert_same(lazy, array)
    assert mt.from_array(stored).chunks == ((6,), (4,))
    shards = zarr.create_array({}, shape=(9, 4), chunks=(1, 4), shards=(3, 4), dtype="f8")
    assert mt.from_zarr(shards).chunks == ((3, 3, 3), (4,))
    with option_context({"chunk_store_limit": 7 * 32.0}):
        assert mt.from_array(shards).chunks == ((6, 3), (4,))


def test_open_files_are_not_read(tmp_path: Path) -> None:
    """Datasets of open files and zarr arrays stay where they are; later writes are seen."""
    h5py = pytest.importorskip("h5py")
    zarr = pytest.importorskip("zarr")
    array = np.arange(24.0).reshape(6, 4)
    with h5py.File(tmp_path / "data.h5", "w") as file:
        stored = zarr.create_array(tmp_path / "data.zarr", data=array)
        for source in (file.create_dataset("x", data=array), stored):
            lazy = mt.from_array(source, chunks=3)
            assert lazy.node.label == "read"
            assert_same(lazy, array)
            source[0] = 7.0
            assert_same(mt.tensor(source, dtype="f4"), np.asarray(source[:], "f4"))
            assert mt.asarray(source).node.label == "read"


class FewerRows:
    """A source that has fewer rows than its shape says."""

    shape = (10, 2)
    dtype = np.dtype(float)

    def __getitem__(self, parts):
        return np.ones((4, 2))[parts]


def test_sources_keep_what_their_shape_promises():
    """Or else the error names the source, and both shapes."""
    for chunks in (10, 5, 3):
        with pytest.raises(ValueError, match=r"FewerRows\[.*\] has the shape .*, but .*\(10,2\)"):
            mt.from_array(FewerRows(), chunks=chunks).compute()
