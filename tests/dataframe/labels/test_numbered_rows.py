"""Labels that number the rows tell positions, below filters too."""

from __future__ import annotations

import tracemalloc

import dask
import numpy as np
import pandas as pd
import pytest

import marsdask.dataframe as md
import marsdask.tensor as mt

N = 10**10

#: Rows of labels of a filtered frame.
PROGRAMS = {
    "label": lambda f: f[f.a > 5].loc[7],
    "column": lambda f: f.a[f.a > 5].loc[7],
    "columns": lambda f: f[f.a > 5][["b"]].loc[7],
    "query": lambda f: f.query("a > 5").loc[7],
    "twice": lambda f: f[f.a > 5][f[f.a > 5].b < 90].loc[7],
    "slice": lambda f: f[f.a > 5].loc[1:4],
    "slice that begins before": lambda f: f[f.a > 5].loc[-3:4],
    "slice that begins at the first": lambda f: f[f.a > 5].loc[:4],
    "list": lambda f: f[f.a > 5].loc[[9, 7]],
    "reindex": lambda f: f[f.a > 5].reindex([7, 2, 9]),
    "at": lambda f: f[f.a > 5].at[7, "b"],
}


@pytest.fixture(autouse=True)
def _chunks():
    """Large chunks are large here."""
    with dask.config.set({"array.chunk-size": "8MiB"}):
        yield


def frame(rows, chunk_size=None):
    """Return a frame of two columns of numbers."""
    return md.DataFrame(
        mt.arange(2 * rows).reshape(-1, 2).rechunk(chunk_size or "auto"), columns=["a", "b"]
    )


def computed(value):
    """Return a value in memory."""
    return value.compute() if hasattr(value, "compute") else value


def assert_equal(found, expected):
    """Compare labels, types and values."""
    if isinstance(expected, pd.DataFrame):
        pd.testing.assert_frame_equal(found, expected)
    elif isinstance(expected, pd.Series):
        pd.testing.assert_series_equal(found, expected)
    else:
        assert found == expected


@pytest.mark.parametrize("name", PROGRAMS)
def test_labels_of_huge_filtered_frames(name):
    """What lies far from the labels is not filtered."""
    few = pd.DataFrame(np.arange(200).reshape(-1, 2), columns=["a", "b"])
    tracemalloc.start()
    try:
        found = computed(PROGRAMS[name](frame(N)))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert_equal(found, PROGRAMS[name](few))
    assert peak < 64 * 2**20


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("chunk_size", [3, 100])
def test_labels_of_filtered_frames(name, chunk_size):
    """As pandas's."""
    few = pd.DataFrame(np.arange(200).reshape(-1, 2), columns=["a", "b"])
    assert_equal(computed(PROGRAMS[name](frame(100, chunk_size))), PROGRAMS[name](few))


@pytest.mark.parametrize("label", [0, 2, -1, N, 2.5, "a"])
def test_labels_that_are_filtered_out(label):
    """They are refused at once."""
    rows = frame(N)
    with pytest.raises(KeyError):
        rows[rows.a > 5].loc[label]
