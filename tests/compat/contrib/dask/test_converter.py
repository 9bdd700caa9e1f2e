"""Collections of Dask become Objects, and graphs of Dask run on the default session."""

from __future__ import annotations

from operator import add, truediv

import dask
import dask.array as da
import numpy as np
import pytest

import marsdask
from marsdask.compat.contrib.dask import convert_dask_collection, mars_dask_get, mars_scheduler


def test_collections_become_objects() -> None:
    """Their values are what Dask computes; other values are refused."""
    with marsdask.new_session("synchronous"):
        found = convert_dask_collection(da.arange(5, chunks=2)).execute().fetch()
        np.testing.assert_array_equal(found, np.arange(5))
        assert convert_dask_collection(dask.delayed(add)(1, 2)).execute().fetch() == 3
    with pytest.raises(TypeError, match="dc must be a dask collection, not list"):
        convert_dask_collection([1, 2])


def test_graphs_run_on_the_default_session() -> None:
    """Values are nested as the keys are; a key may mean another task in the next call."""
    with marsdask.new_session("synchronous"):
        graph = {"x": 1, "y": (add, "x", 2)}
        assert mars_dask_get(graph, ["y", ["x", "y"]]) == (3, (1, 3))
        assert mars_dask_get(graph | {"x": 5}, "y") == 7
        both = da.ones(6, chunks=2).sum(), dask.delayed(add)(1, 2)
        assert dask.compute(*both, scheduler=mars_scheduler) == (6, 3)
        with pytest.raises(ZeroDivisionError):
            mars_dask_get({"x": (truediv, 1, 0)}, "x")
