"""What programs written for dask.array find in the module."""

from __future__ import annotations

import dask.array as da
import numpy as np
import pandas as pd
import pytest

import marsdask.dataframe as md
import marsdask.tensor as mt


def test_names_of_types() -> None:
    """``Array`` is what functions return, and warnings can be filtered by name."""
    assert isinstance(mt.ones(3), mt.Array)
    assert issubclass(mt.PerformanceWarning, Warning)
    mt.register_chunk_type(np.ndarray)
    with pytest.raises(NotImplementedError, match="map_blocks"):
        mt.register_chunk_type(list)


def test_compute_and_optimize() -> None:
    """As functions of the module."""
    x = mt.ones((4, 4), chunk_size=2)
    values = mt.compute(x.sum(), x + 1)
    assert values[0] == 16
    np.testing.assert_array_equal(values[1], np.full((4, 4), 2.0))
    assert mt.compute(x.sum(), scheduler="sync") == (16,)
    graph = mt.optimize(x.__dask_graph__(), x.__dask_keys__())
    assert x.name in graph.layers


def test_assert_eq_tells_what_differs() -> None:
    """Values, types, shapes; of lazy arrays and others."""
    x = mt.arange(5, chunk_size=2)
    assert mt.assert_eq(x, np.arange(5))
    assert mt.assert_eq(x, da.arange(5), scheduler="sync")
    assert mt.assert_eq(x * np.nan, np.full(5, np.nan))
    assert mt.assert_eq(x[x > 2], [3, 4])
    masked = np.ma.masked_array([1, 2], mask=np.array([0, 1], bool))
    assert mt.assert_eq(mt.tensor(masked), masked)
    assert mt.assert_eq(np.array(["a"]), mt.tensor(["a"]))
    for other, match in [(np.arange(5.0), "types"), (np.arange(6), "shapes"), ([[1]], "axes"),
                         ([0, 1, 2, 3, 5], "values")]:  # fmt: skip
        with pytest.raises(AssertionError, match=match):
            mt.assert_eq(x, np.asarray(other))
    with pytest.raises(AssertionError, match="was to be"):
        mt.assert_eq(x.map_blocks(lambda block: block[:1], dtype=int), [0, 2, 4])
    with pytest.raises(AssertionError, match="type was to be"):
        mt.assert_eq(mt.arange(5).map_blocks(lambda block: block * 1.0, dtype=int), x)


def test_frames_become_tensors() -> None:
    """Lazy frames and those of pandas."""
    frame = pd.DataFrame({"a": [1, 2, 3], "b": [4.0, 5.0, 6.0]})
    for given in (frame, md.DataFrame(frame, chunk_size=2)):
        np.testing.assert_array_equal(mt.from_dataframe(given).compute(), frame.to_numpy())
    found = mt.from_series(md.Series(frame["a"], chunk_size=2), dtype="f4")
    assert found.dtype == np.dtype("f4")
    np.testing.assert_array_equal(found.compute(), [1, 2, 3])


def test_backends_and_drawings() -> None:
    """There is NumPy; chunks are drawn as Dask draws them."""
    x = mt.ones((4, 4), chunk_size=2)
    assert x.to_backend("numpy") is x
    with pytest.raises(NotImplementedError, match="cupy"):
        x.to_backend("cupy")
    assert x.to_svg().startswith("<svg")
    assert x.name == x.__dask_keys__()[0][0][0]
    for bad, words in (
        (x[x > 3], "unknown chunk sizes"),
        (x.sum(), "0 dimensions"),
        (x[:0], "0-length dimensions"),
    ):
        with pytest.raises(NotImplementedError, match=words):
            bad.to_svg()
