"""Tensors written into arrays, zarr arrays and HDF5 datasets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.tensor as mt
from marsdask import new_session
from tests.strategies import arrays_and_chunks, assert_same

X = np.arange(30.0).reshape(5, 6)


def tensor(chunks: Any = (2, 4)) -> Any:
    return mt.tensor(X, chunk_size=chunks)


@given(arrays_and_chunks(("f8", "i4")), st.booleans())
def test_store_fills_what_takes_slices(array_and_chunks: Any, masked: bool) -> None:
    """Whatever the chunks, and with lengths that nobody knows."""
    array, chunks = array_and_chunks
    lazy = mt.tensor(array, chunks=chunks)
    if masked and array.ndim:
        lazy = lazy[mt.tensor(np.ones(len(array), bool), chunk_size=2) > 0]
    target = np.zeros_like(array)
    assert mt.store(lazy, target) is None
    np.testing.assert_array_equal(target, array)


def test_several_tensors_and_regions() -> None:
    """In one computation; ``regions`` says where in the targets."""
    a, b = np.zeros((10, 12)), np.zeros((5, 6))
    region = (slice(1, 10, 2), slice(6, 12))
    mt.store([tensor(), tensor() + 1], [a, b], regions=[region, None], lock=False)
    np.testing.assert_array_equal(a[region], X)
    assert a.sum() == X.sum()
    np.testing.assert_array_equal(b, X + 1)
    tensor().store(a, regions=(slice(5), slice(6)), scheduler="sync")
    np.testing.assert_array_equal(a[:5, :6], X)


def test_storing_later_and_what_was_stored() -> None:
    """Dask's ``compute`` and ``return_stored``; writing again writes again."""
    target = np.zeros((5, 6))
    later = tensor().store(target, compute=False)
    assert not target.any()
    later.execute()
    np.testing.assert_array_equal(target, X)
    target[...] = 0
    tensor().store(target)
    np.testing.assert_array_equal(target, X)
    stored = tensor().store(target, return_stored=True)
    target[0, 0] = 7
    assert stored[0, 0].compute() == 7
    other = np.zeros((5, 6))
    both = mt.store([tensor(), tensor()], [target, other], compute=False, return_stored=True)
    assert_same(both[0] + both[1], 2 * X)
    mt.store(tensor(), dask.delayed(lambda: other)())


@pytest.mark.parametrize(
    ("args", "options", "match"),
    [
        ((X, X), {}, "tensors"),
        (([tensor()], [X, X]), {}, "Different number"),
        (([tensor()], [X]), {"regions": [None, None]}, "regions"),
        ((tensor(), np.zeros((5, 5))), {}, "shape"),
        ((tensor(), np.zeros((5, 6))), {"regions": (slice(2), slice(6))}, "shape"),
        ((tensor(), np.zeros((5, 6))), {"regions": (1, 2)}, "slices"),
        ((tensor(), np.zeros((5, 6))), {"regions": (slice(-5, None),)}, "start"),
    ],
)
def test_what_does_not_fit_is_refused_at_the_call(args: Any, options: Any, match: str) -> None:
    """With the numbers."""
    with pytest.raises(ValueError, match=match):
        mt.store(*args, **options)


def test_zarr(tmp_path: Path) -> None:
    """As Dask and as Mars name the arguments, chunks side by side."""
    zarr = pytest.importorskip("zarr")
    tensor().to_zarr(str(tmp_path / "a.zarr"))
    assert_same(mt.from_zarr(str(tmp_path / "a.zarr")), X)
    assert zarr.open_array(tmp_path / "a.zarr").chunks == (2, 4)
    mt.tozarr(tmp_path / "b.zarr", tensor(), group="g", dataset="x").execute()
    assert_same(mt.fromzarr(str(tmp_path / "b.zarr"), "g", "x"), X)
    stored = mt.to_zarr(tensor(((1, 3, 1), (5, 1))), tmp_path / "c.zarr", "x", return_stored=True)
    assert_same(stored, X)
    assert_same(mt.from_zarr(str(tmp_path / "c.zarr"), component="x"), X)
    with pytest.raises(ValueError, match="exist"):
        tensor().to_zarr(str(tmp_path / "a.zarr"))
    (tensor() * 2).to_zarr(str(tmp_path / "a.zarr"), overwrite=True, compute=False).execute()
    assert_same(mt.from_zarr(str(tmp_path / "a.zarr")), 2 * X)
    kept = tensor()[tensor()[:, 0] > 6]
    mt.to_zarr(kept, str(tmp_path / "d.zarr"), chunks=(2, 2))
    assert_same(mt.from_zarr(str(tmp_path / "d.zarr")), X[2:])
    for bad in ({"mode": "r"}, {"region": (slice(2),)}):
        with pytest.raises(ValueError, match=r"mode|region"):
            tensor().to_zarr(str(tmp_path / "e.zarr"), **bad)


def test_regions_of_zarr_arrays(tmp_path: Path) -> None:
    """No two tasks write to one chunk of the storage."""
    zarr = pytest.importorskip("zarr")
    stored = zarr.create_array(tmp_path / "a.zarr", shape=(12, 12), chunks=(3, 4), dtype="f8")
    region = (slice(2, 7), slice(5, 11))
    written = mt.to_zarr(tensor(1), stored, region=region, compute=False)
    assert written.node.inputs[0].chunks == ((1, 3, 1), (3, 3))
    written.execute()
    np.testing.assert_array_equal(stored[2:7, 5:11], X)
    written = mt.store(tensor(1), stored, regions=region, compute=False)
    assert written.node.inputs[0].chunks == ((1, 3, 1), (3, 3))
    assert stored[...].sum() == X.sum()


def test_hdf5(tmp_path: Path) -> None:
    """By path, by handle, several at once; groups and options of the dataset."""
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "x.h5"
    mt.to_hdf5(path, "/a/x", tensor())
    mt.tohdf5(str(path), tensor() + 1, group="g", dataset="y", compression="gzip").execute()
    mt.to_hdf5(path, {"p": tensor(), "q": tensor().sum(axis=0)}, chunks=None)
    tensor(1).to_hdf5(path, "whole")
    assert_same(mt.from_hdf5(path, "a/x"), X)
    assert_same(mt.fromhdf5(path, "g", "y", chunk_size=3), X + 1)
    assert_same(mt.from_hdf5(path, dataset="q"), X.sum(axis=0))
    with h5py.File(path, "a") as file:
        assert file["g/y"].compression == "gzip"
        assert (file["a/x"].chunks, file["p"].chunks, file["whole"].chunks) == (
            (2, 4),
            None,
            (1, 1),
        )
        mt.to_hdf5(file, tensor(), dataset="open")
        np.testing.assert_array_equal(file["open"][...], X)
        with pytest.raises(NotImplementedError, match="path"):
            mt.to_hdf5(file, tensor(), dataset="later", compute=False)
    da.from_array(X, chunks=2).to_hdf5(str(path), "theirs")
    assert_same(mt.from_hdf5(path, "theirs"), X)
    for bad in ((path, tensor()), (tensor(), path)):
        with pytest.raises((ValueError, TypeError), match=r"name|file"):
            mt.to_hdf5(*bad)


def test_processes_take_turns_at_a_file(tmp_path: Path) -> None:
    """Each writes while it holds the lock."""
    pytest.importorskip("h5py")
    with new_session("processes", n_workers=2).as_default():
        tensor(1).to_hdf5(tmp_path / "x.h5", "x")
        assert_same(mt.from_hdf5(tmp_path / "x.h5", "x", chunk_size=3), X)
