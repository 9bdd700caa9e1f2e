"""Approximate quantiles are within their bound, on every input."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.tensor as mt
from marsdask.tensor.quantile import sketch
from tests.strategies import chunkings
from tests.tensor.stages import first_graph

RNG = np.random.default_rng(0)
ARRAYS = {
    "normal": RNG.normal(size=900),
    "sorted": np.arange(900.0).reshape(30, 30),
    "skewed": np.exp(4 * RNG.normal(size=900)).astype("f4"),
    "ties": RNG.integers(0, 4, 900),
    "one": np.ones(1),
    "nan": np.where(RNG.random(900) < 0.3, np.nan, RNG.normal(size=900)),
}
QS = np.array([0.0, 0.01, 0.25, 0.5, 0.9, 1.0])


@pytest.mark.parametrize("name", ARRAYS)
@given(data=st.data())
def test_ranks_are_within_the_bound(name, data):
    """A result lies between elements whose ranks are at most N / POINTS and one a chunk away."""
    x = ARRAYS[name]
    chunks = data.draw(chunkings(x.shape))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sketch, "POINTS", 16)
        t = mt.tensor(x, chunks=chunks)
        found = mt.nanquantile(t, QS, internal_method="tdigest")
        values = found.compute()
    assert found.dtype == values.dtype == np.nanquantile(x, QS).dtype
    real = np.sort(x[~np.isnan(x)], axis=None)
    slack = len(real) / 16 + t.npartitions + 1
    for q, value in zip(QS * (len(real) - 1), values, strict=True):
        lowest = np.searchsorted(real, np.nextafter(value, -np.inf), "left")
        highest = np.searchsorted(real, np.nextafter(value, np.inf), "right")
        assert lowest - slack <= q <= highest + slack
    np.testing.assert_array_equal(values[[0, -1]], real[[0, -1]])


def test_few_elements_are_exact():
    """Chunks that keep all they have make no error."""
    x = RNG.normal(size=(20, 30))
    found = mt.percentile(mt.tensor(x, chunk_size=7), [10, 50], internal_method="tdigest")
    np.testing.assert_allclose(found.compute(), np.percentile(x, [10, 50]))


def test_nan_and_nothing():
    """NaN is kept unless it is to be left out; nothing has no quantiles."""
    x = ARRAYS["nan"]
    how = {"internal_method": "dask"}
    assert np.isnan(mt.quantile(mt.tensor(x, chunk_size=99), 0.5, **how).compute())
    assert np.isnan(mt.nanquantile(mt.tensor(np.full(3, np.nan)), 0.5, **how).compute())
    kept = mt.quantile(mt.tensor(np.ones((2, 3))), [0.5], keepdims=True, **how)
    assert kept.compute().tolist() == [[[1.0]]]


def test_one_task_a_chunk_and_one_pass():
    """The first stage is the last, and the data are read once."""
    graph = first_graph(mt.percentile(mt.ones(400, chunk_size=100), 5, internal_method="tdigest"))
    assert len(graph) <= 4 + 1
