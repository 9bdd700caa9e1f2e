"""The verbs of xarray on tensors: they stay tensors, and give what NumPy's arrays give."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from typing import Any

import numpy as np
import pytest

import marsdask.tensor as mt

xr = pytest.importorskip("xarray", reason="the package xarray is not installed: extra xarray")
pytest.importorskip("marsdask.compat.xarray")

ENTRY = "marsdask.compat.xarray:TensorManager"
VALUES = np.arange(60.0).reshape(12, 5)
VALUES[3, 2] = np.nan

VERBS = {
    "mean": lambda a: a.mean("t"),
    "std": lambda a: a.std(),
    "median": lambda a: a.median("y"),
    "quantile": lambda a: a.chunk(t=-1).quantile(0.3, "t") if a.chunks else a.quantile(0.3, "t"),
    "rolling": lambda a: a.rolling(t=3).mean(),
    "centred": lambda a: a.rolling(t=3, center=True, min_periods=1).min(),
    "windows": lambda a: a.rolling(t=3).construct("w"),
    "groupby": lambda a: a.groupby(a.t % 3).mean(),
    "groups": lambda a: a.groupby(a.t % 3).map(lambda group: group - group.mean("t")),
    "ufunc": lambda a: xr.apply_ufunc(np.sqrt, a, dask="parallelized"),
    "core": lambda a: xr.apply_ufunc(
        row_sums, a, input_core_dims=[["y"]], dask="parallelized", output_dtypes=[float]
    ),
    "isel": lambda a: a.isel(t=[1, 5, 3]),
    "points": lambda a: a.isel(t=xr.DataArray([1, 2], dims="p"), y=xr.DataArray([0, 3], dims="p")),
    "where": lambda a: a.where(a > 3).fillna(-1),
    "shift": lambda a: a.shift(t=2),
    "diff": lambda a: a.diff("t"),
    "cumsum": lambda a: a.cumsum("t"),
    "concat": lambda a: xr.concat([a, a], "t"),
    "coarsen": lambda a: a.coarsen(t=3).sum(),
    "pad": lambda a: a.pad(t=2),
    "dot": lambda a: xr.dot(a, a, dim="y"),
    "stack": lambda a: a.stack(z=("t", "y")),
    "transpose": lambda a: a.T,
}


def row_sums(block):
    return block.sum(-1)


@pytest.fixture(scope="module", autouse=True)
def manager():
    """Register the manager as an installation with this version does."""
    from xarray.namedarray import parallelcompat

    managers = parallelcompat.list_chunkmanagers()
    entry = EntryPoint("marsdask", ENTRY, "xarray.chunkmanagers")
    managers.update(parallelcompat.load_chunkmanagers([entry]))
    yield managers["marsdask"]
    parallelcompat.list_chunkmanagers.cache_clear()


@pytest.fixture(scope="module")
def plain():
    coordinates = {"t": np.arange(12), "y": np.arange(5.0)}
    return xr.DataArray(VALUES, dims=("t", "y"), coords=coordinates, name="v")


@pytest.fixture(scope="module")
def chunked(plain):
    return plain.chunk({"t": 4}, chunked_array_type="marsdask")


@pytest.mark.parametrize("verb", VERBS)
def test_verbs(plain, chunked, verb):
    """Each verb gives a tensor of the values that arrays give."""
    found = VERBS[verb](chunked)
    assert isinstance(found.data, mt.Tensor)
    xr.testing.assert_allclose(found.compute(), VERBS[verb](plain))


def test_interp(plain, chunked):
    """Coordinates that xarray cuts by itself are tensors too, where the option says so."""
    with xr.set_options(chunk_manager="marsdask"):
        found = chunked.interp(t=[0.5, 3.3])
    assert isinstance(found.data, mt.Tensor)
    xr.testing.assert_allclose(found.compute(), plain.interp(t=[0.5, 3.3]))


def test_map_blocks(plain, chunked):
    """The package's map_blocks builds Dask's graphs: right values, in Dask's arrays."""
    found = xr.map_blocks(lambda part: part * 2, chunked)
    xr.testing.assert_allclose(found.compute(), plain * 2)


def test_zarr(plain, tmp_path):
    """A store written from tensors is read into tensors of the stored chunks."""
    pytest.importorskip("zarr")
    plain.to_dataset().chunk({"t": 4}, chunked_array_type="marsdask").to_zarr(
        tmp_path / "x.zarr", zarr_format=2
    )
    found = xr.open_zarr(tmp_path / "x.zarr", chunked_array_type="marsdask", chunks={})
    assert isinstance(found.v.data, mt.Tensor)
    assert found.v.chunks == ((4, 4, 4), (5,))
    xr.testing.assert_equal(found.compute(), plain.to_dataset())


def test_chunks(chunked):
    """Chunks are cut anew along the named axes only, whoever is asked."""
    assert chunked.chunks == ((4, 4, 4), (5,))
    both = chunked.chunk({"y": 2})
    assert isinstance(both.data, mt.Tensor)
    assert both.chunks == ((4, 4, 4), (2, 2, 1))
    whole = both.chunk({"t": -1})
    assert whole.chunks == ((12,), (2, 2, 1))


def test_persist(chunked):
    """Persisted data are executed tensors."""
    held = (chunked + 1).persist()
    assert isinstance(held.data, mt.Tensor)
    np.testing.assert_array_equal(held.data.fetch(), VALUES + 1)


def test_dask_arrays_stay_dask(plain):
    """Who asks for Dask, or for nothing, has Dask's arrays."""
    import dask.array as da

    assert isinstance(plain.chunk({"t": 4}).mean("t").data, da.Array)


@pytest.mark.parametrize("keys", [([0, 2], [1, 3]), ([2, 0], [0, 1, 3]), (1, [0, 3]), ([1], 2)])
def test_lists_choose_along_their_own_axes(keys: Any) -> None:
    """Several at once, too: ``isel`` is no point-by-point indexing as NumPy's is."""
    array = xr.DataArray(np.arange(24).reshape(4, 6), dims=("x", "y"))
    ours = array.chunk({"x": 3, "y": 2}, chunked_array_type="marsdask")
    wanted = dict(zip(("x", "y"), keys, strict=True))
    found = ours.isel(wanted)
    assert isinstance(found.data, mt.Tensor)
    xr.testing.assert_identical(found.compute(), array.isel(wanted))
    theirs = array.chunk({"x": 3, "y": 2}).isel(wanted)
    xr.testing.assert_identical(theirs.compute(), array.isel(wanted))
