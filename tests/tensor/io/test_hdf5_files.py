"""Tensors written to HDF5 files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
import pytest

import marsdask.tensor as mt
from marsdask import new_session
from tests.strategies import assert_same

X = np.arange(30.0).reshape(5, 6)


def tensor(chunks: Any = (2, 4)) -> Any:
    return mt.tensor(X, chunk_size=chunks)


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
