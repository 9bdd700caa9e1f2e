"""``import marsdask as dask``: the module serves programs written for Dask, and for Mars."""

from __future__ import annotations

import subprocess
import sys

import dask as original
import dask.array as da
import numpy as np
import pytest

import marsdask
import marsdask as dask
import marsdask.config
import marsdask.session
import marsdask.tensor as mt
from tests.source import ROOT


@pytest.fixture(autouse=True)
def no_session_left():
    yield
    marsdask.stop_server()


def test_compute_keeps_the_places():
    """Containers, constants and collections of several kinds come back where they were."""
    x, y = mt.ones((4, 4), chunk_size=2), da.ones((3,), chunks=2)
    late = dask.delayed(len)([1, 2])
    values = dask.compute(y, late, y + 1, x.sum(), [late, {"x": x.sum() + 1}], 5)
    np.testing.assert_array_equal(values[0], [1, 1, 1])
    np.testing.assert_array_equal(values[2], [2, 2, 2])
    assert values[1:2] + values[3:] == (2, 16, [2, {"x": 17}], 5)


def test_compute_of_ours_may_look_at_data():
    """The session computes what Dask's graphs cannot express."""
    ragged = mt.ones(10, chunk_size=5).map_chunk(np.flatnonzero, dtype=int)
    (value,) = dask.compute(ragged + mt.ones(10, chunk_size=3))
    np.testing.assert_array_equal(value, np.array([0, 1, 2, 3, 4] * 2) + 1.0)


@pytest.mark.parametrize("verb", [dask.compute, original.compute], ids=["ours", "dask"])
def test_tuples_of_tensors_are_computed_like_dasks(verb):
    """What returns several arrays is one argument, and one tuple of values."""
    pair = marsdask.ExecutableTuple([mt.ones((4, 4), chunk_size=2), mt.ones(3).sum()])
    ((array, total), again) = verb(pair, mt.ones(2).sum())
    np.testing.assert_array_equal(array, np.ones((4, 4)))
    assert (total, again) == (3, 2)
    (kept,) = original.persist(pair)
    assert type(kept) is marsdask.ExecutableTuple
    assert kept[1].compute() == 3


def test_compute_without_collections_returns_the_arguments():
    """As Dask does."""
    assert dask.compute(1, [2]) == (1, [2])


@pytest.mark.parametrize("options", [{}, {"scheduler": "sync"}])
def test_persist_keeps_results(options):
    """Ours stay in the session unless Dask is asked to compute."""
    x, y = mt.ones(4) + 1, da.ones(3)
    (kept,) = dask.persist(x, **options)
    np.testing.assert_array_equal(kept.compute(), [2, 2, 2, 2])
    both = dask.persist(x, [y], **options)
    np.testing.assert_array_equal(both[1][0].compute(), [1, 1, 1])


def test_annotate_optimize_and_the_rest_are_dasks():
    """One object under both names."""
    assert dask.annotate is original.annotate
    assert dask.delayed is original.delayed
    assert dask.is_dask_collection is original.is_dask_collection
    assert dask.tokenize is original.base.tokenize
    (optimised,) = dask.optimize(mt.ones(3) + 1)
    np.testing.assert_array_equal(optimised.compute(), [2, 2, 2])


def test_config_serves_both():
    """Dask's ``config.set`` and Mars's ``options`` in one module."""
    with dask.config.set(scheduler="synchronous"):
        assert original.config.get("scheduler") == "synchronous"
        assert mt.ones(3).sum().compute() == 3
    assert dask.config.options is marsdask.options
    with dask.config.option_context({"split_every": 3}) as options:
        assert options.combine_size == 3
    assert dask.config.config is original.config.config


def test_sessions_are_found_where_mars_has_them():
    """``from marsdask.session import new_session``."""
    with marsdask.session.new_session("synchronous").as_default() as session:
        assert marsdask.get_default_session() is session
        assert marsdask.execute(mt.ones(3)).fetch().sum() == 3
        assert marsdask.fetch(mt.ones(3).execute()).sum() == 3


def test_parts_are_imported_when_used():
    """``marsdask.tensor`` is there without being imported by name; what does not exist is not."""
    code = "import marsdask; assert marsdask.tensor.ones(3).sum().compute() == 3"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)
    with pytest.raises(AttributeError, match="no attribute"):
        _ = marsdask.nonsense


def test_a_tensor_program_loads_no_other_library():
    """Importing tensors is as light as importing dask.array."""
    heavy = ["distributed", "pandas", "sklearn", "bokeh", "pyarrow", "tqdm", "scipy"]
    code = f"import sys, marsdask.tensor\nprint([name for name in {heavy} if name in sys.modules])"
    output = subprocess.run(
        [sys.executable, "-c", code], check=True, cwd=ROOT, capture_output=True, text=True
    ).stdout
    assert output.strip() == "[]"
