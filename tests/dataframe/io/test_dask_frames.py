"""Frames from dask.dataframe and delayed values, and back."""

from __future__ import annotations

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from dask.delayed import delayed

import marsdask.dataframe as md
from tests.core.recording import recording_session

DATA = pd.DataFrame({"a": np.arange(10.0), "b": list("abcdefghij")})


@pytest.fixture(autouse=True)
def session():
    with recording_session() as (_, scheduler):
        yield scheduler


def theirs():
    return dd.from_pandas(DATA, npartitions=3)


@pytest.mark.parametrize(
    "select",
    [lambda frame: frame, lambda frame: frame["a"], lambda frame: frame[frame["a"] > 2]],
    ids=["frame", "series", "filtered"],
)
def test_partitions_become_chunks(select):
    """Values, index and kind are what Dask would compute; sizes are known once executed."""
    expected = select(theirs()).compute(scheduler="sync")
    x = md.from_dask(select(theirs()))
    assert x.npartitions == 3
    assert np.isnan(x.shape[0])
    assert x.execute().shape[0] == len(expected)
    assert x.fetch().equals(expected)


def test_an_index_travels_too():
    """In both directions."""
    x = md.from_dask(theirs().index)
    assert x.compute().equals(DATA.index)
    assert x.to_dask().compute(scheduler="sync").equals(DATA.index)


def test_their_tasks_run_with_ours():
    """One graph, nothing embedded."""
    assert md.from_dask(theirs())["a"].sum().compute() == 45


def test_frames_become_dasks():
    """Over our keys, also of what was executed, with one partition for each chunk."""
    x = md.from_pandas(DATA, chunk_size=4)
    for frame in (x, md.from_pandas(DATA, chunk_size=4).execute()):
        y = frame.to_dask()
        assert y.npartitions == 3
        assert y.compute(scheduler="sync").equals(DATA)
        assert y["a"].sum().compute(scheduler="sync") == 45
    assert md.from_dask(x) is x


def test_a_mixed_compute_warns_and_is_right():
    """Dask warns that it mixes graphs and expressions; each value is at its place."""
    x = md.from_pandas(DATA, chunk_size=4)
    with pytest.warns(UserWarning, match="mixed collections"):
        values = dask.compute(x, theirs()["a"].sum(), x["a"].sum(), da.ones(3), scheduler="sync")
    assert values[0].equals(DATA)
    assert values[1] == values[2] == 45
    np.testing.assert_array_equal(values[3], np.ones(3))


def test_delayed_values():
    """Partitions as delayed values, and frames of them."""
    parts = md.from_pandas(DATA, chunk_size=4).to_delayed()
    assert [len(part) for part in dask.compute(*parts, scheduler="sync")] == [4, 4, 2]
    assert md.from_delayed(parts, DATA).compute().equals(DATA)


def test_what_is_no_frame_is_refused():
    """With the function that takes it."""
    with pytest.raises(TypeError, match="from_delayed"):
        md.from_dask(delayed(1))
    with pytest.raises(TypeError, match=r"tensor\.from_dask"):
        md.from_dask(da.ones(3))
