"""The versions of zarr arrays: whatever changes after the call that looks at one is an error."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import marsdask.tensor as mt
from marsdask.core.files.stamps import FileChanged

zarr: Any = pytest.importorskip("zarr")

X = np.arange(24.0).reshape(6, 4) + 1


def _appended(path: Path) -> None:
    zarr.open_array(path, mode="r+").append(X)


def _written(path: Path) -> None:
    zarr.open_array(path, mode="r+")[3, 3] = 7


def _replaced(path: Path) -> None:
    zarr.open_array(path, mode="w", shape=X.shape, dtype=X.dtype, chunks=(2, 3))[:] = X + 1


def _shrunk(path: Path) -> None:
    zarr.open_array(path, mode="r+").resize((2, 4))


def _chunk_deleted(path: Path) -> None:
    (file,) = [*path.glob("c/1/1"), *path.glob("1.1")]
    file.unlink()


CHANGES: dict[str, Callable[[Path], None]] = {
    "appended": _appended,
    "written": _written,
    "replaced": _replaced,
    "shrunk": _shrunk,
    "a chunk deleted": _chunk_deleted,
    "deleted": shutil.rmtree,
}


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_array(tmp_path: Path, change: str, zarr_format: int) -> None:
    """The error names a file and the function; a new tensor is of the new array."""
    path = tmp_path / "x"
    array = zarr.create_array(
        path, shape=X.shape, dtype=X.dtype, chunks=(2, 3), zarr_format=zarr_format
    )
    array[:] = X
    lazy = mt.from_zarr(str(path))
    np.testing.assert_array_equal(lazy.compute(), X)
    CHANGES[change](path)
    with pytest.raises(FileChanged, match=r"x/.* has changed since from_zarr\(\)"):
        lazy.compute()
    if change != "deleted":
        assert mt.from_zarr(str(path)).node is not lazy.node


def test_chunks_that_were_never_written(tmp_path: Path) -> None:
    """They have the fill value, and are no change."""
    array = zarr.create_array(tmp_path / "x", shape=(6,), dtype="f8", chunks=(2,), shards=None)
    array[:2] = 3
    assert mt.from_zarr(str(tmp_path / "x")).compute().tolist() == [3, 3, 0, 0, 0, 0]


def test_an_array_that_is_open_for_writing(tmp_path: Path) -> None:
    """Whoever holds it may write to it: its values are read when they are needed."""
    array = zarr.create_array(tmp_path / "x", shape=(6,), dtype="f8", chunks=(2,))
    lazy = mt.from_zarr(array)
    array[:] = 5
    assert lazy.sum().compute() == 30


def test_shards(tmp_path: Path) -> None:
    """Files are of shards, which have several chunks."""
    array = zarr.create_array(tmp_path / "x", shape=(8,), dtype="f8", chunks=(2,), shards=(4,))
    array[:] = 5
    lazy = mt.from_zarr(str(tmp_path / "x"))
    assert lazy.sum().compute() == 40
    zarr.open_array(tmp_path / "x", mode="r+")[7] = 6
    with pytest.raises(FileChanged, match="from_zarr"):
        lazy.compute()
