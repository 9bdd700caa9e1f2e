"""Tensors written to zarr arrays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import marsdask.tensor as mt
from tests.strategies import assert_same

X = np.arange(30.0).reshape(5, 6)


def tensor(chunks: Any = (2, 4)) -> Any:
    return mt.tensor(X, chunk_size=chunks)


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


def test_a_path_is_that_of_the_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tasks may run in another folder, where they read and write."""
    pytest.importorskip("zarr")
    monkeypatch.chdir(tmp_path)
    mt.arange(6, chunk_size=2).to_zarr("a")
    lazy = mt.from_zarr("a")
    written = (lazy + 1).to_zarr("b", compute=False)
    monkeypatch.chdir("/")
    assert_same(lazy, np.arange(6))
    written.compute()
    assert_same(mt.from_zarr(tmp_path / "b"), np.arange(1, 7))


def test_the_path_of_an_open_array_is_that_of_the_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Elsewhere zarr would read fill values without an error, and write to another array."""
    zarr = pytest.importorskip("zarr")
    monkeypatch.chdir(tmp_path)
    mt.arange(6, chunk_size=2).to_zarr("a")
    opened = zarr.open_array("a", mode="r+")
    read = [mt.from_zarr(opened), mt.from_array(opened, chunks=2)]
    stored = (mt.arange(6, chunk_size=2) + 1).store(opened, compute=False)
    written = (mt.arange(6, chunk_size=2) + 2).to_zarr(opened, compute=False)
    monkeypatch.chdir("/")
    for lazy in read:
        assert_same(lazy, np.arange(6))
    for rows, first in ((stored, 1), (written, 2)):
        rows.compute()
        assert_same(mt.from_zarr(tmp_path / "a"), np.arange(first, first + 6))
