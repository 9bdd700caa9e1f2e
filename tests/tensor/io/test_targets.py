"""Objects that other processes write into."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import marsdask.tensor as mt
from marsdask import new_session
from marsdask.tensor.io.targets import Target

X = np.arange(30.0).reshape(5, 6)


@pytest.fixture
def mapped(tmp_path: Path) -> Any:
    """Return an array of zeros in a file, behind sixteen other bytes."""
    return np.memmap(tmp_path / "map", np.float64, "w+", offset=16, shape=(7, 12))


def test_other_processes_write_into_files(mapped: Any) -> None:
    """They map the same part of the file, steps and backward strides included."""
    target = mapped[6:1:-1, ::2]
    with new_session("processes", n_workers=2):
        mt.store(mt.tensor(X, chunk_size=2), target)
        np.testing.assert_array_equal(mapped[6:1:-1, ::2], X)
        stored = mt.store(mt.tensor(X), np.asarray(mapped)[:5, :6], return_stored=True)
        np.testing.assert_array_equal(stored.compute(), X)
    assert mapped[5, 7] == 0


def test_arrays_in_memory_are_refused() -> None:
    """Nothing is written that would be lost with the other process; the error says what works."""
    lazy = mt.tensor(X, chunk_size=2)
    words = r"into an array in memory .* is not supported; use a numpy\.memmap"
    for target in (np.zeros((5, 6)), np.ma.zeros((5, 6))):
        with new_session("processes", n_workers=2):
            with pytest.raises(NotImplementedError, match=words):
                mt.store(lazy, target)
            later = mt.store(lazy, target, compute=False)
            with pytest.raises(NotImplementedError, match=words):
                later.execute()
        with pytest.raises(NotImplementedError, match=words):
            mt.store(lazy, target, scheduler="processes")
        assert not target.any()


def test_where_this_process_alone_can_write(tmp_path: Path) -> None:
    """Private maps, objects, and handles that a pickle cannot take along."""
    private = np.load(_saved(tmp_path), mmap_mode="c")
    targets: dict[str, Any] = {"an array": private, "array in": np.array([None])}
    zarr = pytest.importorskip("zarr")
    targets["a zarr array in memory"] = zarr.create_array({}, shape=3, dtype="f8")
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "x.h5", "w") as file:
        targets["an open HDF5 file"] = file.create_dataset("x", 3, "f8")
        for words, target in targets.items():
            with pytest.raises(NotImplementedError, match=words):
                pickle.dumps(Target(target))
    Target(zarr.create_array(tmp_path / "z", shape=3, dtype="f8")).check_shareable()
    Target([0, 0]).check_shareable()


def test_pickles_refer_to_files(mapped: Any, tmp_path: Path) -> None:
    """What one writes the other reads; a map that was opened to read stays one."""
    target = Target(mapped[1:3])
    again = pickle.loads(pickle.dumps(target))
    again.write((slice(1), slice(None)), np.ones((1, 12)))
    assert mapped[1].all()
    assert mapped.sum() == 12
    assert again.token_name == target.token_name
    frozen = pickle.loads(pickle.dumps(Target(np.load(_saved(tmp_path), mmap_mode="r"))))
    assert frozen((slice(2),)).tolist() == [0, 1]
    with pytest.raises(ValueError, match="read-only"):
        frozen.write((slice(1),), 5)


def _saved(folder: Path) -> Path:
    path = folder / "a.npy"
    np.save(path, np.arange(3))
    return path
