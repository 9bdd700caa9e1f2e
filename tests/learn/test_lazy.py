"""Dask's collections are taken as tensors and frames, and calls run in the session they name."""

from __future__ import annotations

from typing import Any

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import marsdask
import marsdask.dataframe as md
import marsdask.tensor as mt
from marsdask.core.session import ensure_session, get_default_session
from marsdask.learn.lazy import adopted, running
from marsdask.learn.preprocessing import StandardScaler
from tests.learn.samples import blobs


def test_collections_of_dask_are_adopted():
    """Arrays become tensors of the same chunks, frames our frames, others stay as they are."""
    array = adopted(da.ones((6, 2), chunks=4))
    assert isinstance(array, mt.Tensor)
    assert array.chunks == ((4, 2), (2,))
    frame = adopted(dd.from_pandas(pd.DataFrame({"a": [1.0, 2.0]}), npartitions=2))
    assert isinstance(frame, md.DataFrame)
    for item in (None, [1, 2], array, StandardScaler):
        assert adopted(item) is item


def test_estimators_take_collections_of_dask():
    """What was learnt is scikit-learn's, and the result is lazy."""
    samples = blobs()
    scaled = StandardScaler().fit_transform(da.from_array(samples, chunks=(17, 4)))
    assert hasattr(scaled, "execute")
    np.testing.assert_allclose(scaled.compute().std(axis=0), 1.0)


def test_a_call_runs_in_the_session_that_it_names():
    """Even if another holds the samples; the default session stays what it was."""
    before = get_default_session()
    executed = mt.tensor(blobs(), chunk_size=20).execute()
    with marsdask.new_session("synchronous", default=False) as session:
        assert get_default_session() is session  # a session in a with is the default
    assert get_default_session() is before
    other = marsdask.new_session("synchronous", default=False)
    try:
        with running(other):
            assert ensure_session() is other
            assert (executed + 1).execute()._session is other
        assert ensure_session() is not other
        scaler: Any = StandardScaler()
        model = scaler.fit(executed, session=other, run_kwargs={"show_progress": False})
        np.testing.assert_allclose(model.mean_, blobs().mean(axis=0))
    finally:
        other.close()


def test_unknown_options_of_a_run_are_refused():
    """By TypeError, which names them."""
    scaler: Any = StandardScaler()
    with pytest.raises(TypeError, match="n_workers"):
        scaler.fit(blobs(), run_kwargs={"n_workers": 2})
    with pytest.raises(TypeError, match="session= must be a Session"):
        scaler.fit(blobs(), session="tcp://here")
