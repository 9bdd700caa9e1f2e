"""Tensors from dask.arrays and delayed values, and back."""

from __future__ import annotations

import dask
import dask.array as da
import numpy as np
import pandas as pd
import pytest
from dask.delayed import delayed

import marsdask.tensor as mt
from tests.core.recording import recording_session

DATA = np.arange(30.0).reshape(5, 6)


@pytest.fixture(autouse=True)
def session():
    with recording_session() as (_, scheduler):
        yield scheduler


@pytest.mark.parametrize("chunks", [(5, 6), (2, 3), ((1, 0, 4), (6,)), 1])
@pytest.mark.parametrize("dtype", ["f8", "i2", "c8", "M8[s]", "S3"])
def test_an_array_keeps_its_name_chunks_and_values(chunks, dtype):
    """In both directions."""
    data = DATA.astype("i8").astype(dtype)
    array = da.from_array(data, chunks=chunks)
    x = mt.from_dask(array)
    assert x.node.name == array.name
    assert x.chunks == array.chunks
    assert x.dtype == data.dtype
    np.testing.assert_array_equal(x.compute(), data)
    back = x.to_dask()
    assert back.name == array.name
    np.testing.assert_array_equal(back.compute(scheduler="sync"), data)


def test_ours_come_back_as_they_were():
    """A tensor sent to Dask and back is the same node."""
    x = mt.ones((4, 4), chunk_size=2) + 1
    assert mt.from_dask(x.to_dask()).node is x.node
    assert mt.from_dask(x) is x


def test_an_array_is_computed_once_with_what_uses_it(session):
    """Its tasks enter our graph; no value is embedded."""
    calls = []

    def count(block):
        calls.append(block.shape)
        return block

    array = da.ones((4, 4), chunks=2).map_blocks(count, dtype=float, meta=np.empty((0, 0)))
    x = mt.from_dask(array)
    assert (x + x.sum()).sum().compute() == 16 + 16 * 16
    assert len(calls) == 4


def test_zero_dimensions_and_unknown_sizes():
    """A 0-d array; chunks whose lengths only running tells."""
    assert mt.from_dask(da.ones(4).sum()).compute() == 4
    array = da.from_array(DATA, chunks=(2, 6))
    x = mt.from_dask(array[array[:, 0] > 7])
    assert np.isnan(x.shape[0])
    np.testing.assert_array_equal(x.compute(), DATA[DATA[:, 0] > 7])
    x.execute()
    assert x.shape == (3, 6)


def test_delayed_values_become_chunks():
    """Of the shape and dtype that the user states."""
    x = mt.from_delayed(delayed(np.ones)((2, 3)), shape=(2, 3), dtype=float)
    assert x.shape == (2, 3)
    assert (x + 1).sum().compute() == 12
    np.testing.assert_array_equal(x.to_dask().compute(scheduler="sync"), np.ones((2, 3)))
    scalar = mt.from_delayed(delayed(float)(3), shape=(), dtype=float)
    assert scalar.compute(scheduler="sync") == scalar.compute() == 3
    parts = [mt.from_delayed(delayed(np.arange)(n), (np.nan,), dtype=int) for n in (2, 3)]
    assert np.isnan(parts[0].shape[0])
    assert mt.concatenate(parts).compute().tolist() == [0, 1, 0, 1, 2]


def test_chunks_become_delayed_values():
    """One for each, at its place."""
    x = mt.ones((4, 6), chunk_size=(2, 3)) * np.arange(6.0)
    parts = x.to_delayed()
    assert parts.shape == (2, 2)
    values = dask.compute(*parts.ravel(), scheduler="sync")
    np.testing.assert_array_equal(values[1], np.tile([3.0, 4.0, 5.0], (2, 1)))
    assert delayed(np.sum)(parts[0, 0]).compute(scheduler="sync") == 6


def test_what_is_no_array_is_refused():
    """With the function that takes it."""
    with pytest.raises(TypeError, match="from_delayed"):
        mt.from_dask(delayed(1))
    with pytest.raises(TypeError, match="ndarray"):
        mt.from_dask(DATA)


def test_dask_arrays_are_operands():
    """A tensor and a dask.array in one expression make a tensor; nothing is computed for it."""
    array = da.from_array(DATA, chunks=(3, 2))
    x = mt.ones((5, 6), chunk_size=2)
    for y in (x + array, array + x, mt.add(array, x), mt.add(array, 1)):
        assert isinstance(y, mt.Tensor)
        np.testing.assert_array_equal(y.compute(), DATA + 1)


@pytest.mark.parametrize("chunks", [(5, 6), (2, 6), ((1, 0, 4), (6,))])
def test_columns_become_those_of_frames(chunks):
    """Ours and Dask's."""
    x = mt.from_dask(da.from_array(DATA, chunks=chunks))
    names = list("abcdef")
    wanted = pd.DataFrame(DATA, columns=names)
    pd.testing.assert_frame_equal(x.to_dataframe(columns=names).compute(), wanted)
    theirs = x.rechunk({1: -1}).to_dask_dataframe(columns=names).compute(scheduler="sync")
    np.testing.assert_array_equal(theirs, wanted)
