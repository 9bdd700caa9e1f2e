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
import marsdask.dataframe as md
import marsdask.learn
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


def test_stencils_of_the_documentation_of_dask():
    """``import marsdask.tensor as da``: a derivative, and functions of chunks with halos."""
    x = mt.from_array(np.array([1, 1, 2, 3, 3, 3, 2, 1, 1]), chunks=5)
    slope = x.map_overlap(lambda block: block - np.roll(block, 1), depth=1, boundary=0)
    np.testing.assert_array_equal(slope.compute(), [1, 0, 1, 1, 0, 0, -1, -1, 0])
    d = mt.from_array(np.arange(16).reshape(4, 4), chunks=(2, 2))
    sums = mt.map_overlap(lambda b: b + b.size, d, depth=1, boundary="reflect")
    np.testing.assert_array_equal(sums.compute(), np.arange(16).reshape(4, 4) + 16)
    g = mt.overlap.overlap(d, depth={0: 2, 1: 1}, boundary={0: 100, 1: "reflect"})
    assert g.map_blocks(lambda b: b * 2, dtype=int).chunks == ((6, 6), (4, 4))
    trimmed = mt.overlap.trim_internal(g, {0: 2, 1: 1}, boundary={0: 100, 1: "reflect"})
    np.testing.assert_array_equal(trimmed.compute(), d.compute())


def test_functions_of_chunks_of_the_documentation_of_dask():
    """Generalised ufuncs, labels, reductions, blocks, points."""
    a = mt.random.normal(size=(10, 20, 30), chunks=(5, 10, 30))
    mean, std = mt.apply_gufunc(
        lambda x: (np.mean(x, axis=-1), np.std(x, axis=-1)), "(i)->(),()", a,
        output_dtypes=2 * (a.dtype,),
    )  # fmt: skip
    assert (mean.compute().shape, std.shape) == ((10, 20), (10, 20))
    x = mt.arange(4, chunks=2)
    z = mt.blockwise(np.multiply.outer, "ij", x, "i", x, "j", dtype="f8")
    assert z.chunks == ((2, 2), (2, 2))
    ones = mt.ones((8, 8), chunks=(4, 4))
    assert mt.reduction(ones, np.sum, np.sum, dtype="f8").compute() == 64
    assert mt.coarsen(np.sum, ones, {0: 2, 1: 2}).compute().sum() == 64
    assert ones.blocks[0].shape == ones.partitions[0].shape == (4, 8)
    assert ones.vindex[[0, 1], [2, 3]].compute().tolist() == [1, 1]
    assert mt.topk(np.array([5, 1, 3, 6]), 2).compute().tolist() == [6, 5]
    info = ones.map_blocks(lambda b, block_info=None: b * block_info[0]["chunk-location"][0],
                           dtype=float)  # fmt: skip
    assert info.compute().sum() == 32
    assert mt.block([[ones, ones], [ones, ones]]).shape == (16, 16)


def test_masks_and_files_of_the_documentation_of_dask(tmp_path):
    """Masked arrays, lengths that nobody knows, stores."""
    x = mt.from_array(np.array([1, -1, 3, -1, 5]), chunks=2)
    assert mt.ma.masked_equal(x, -1).mean().compute() == 3
    kept = x[x > 0]
    assert kept.compute_chunk_sizes().shape == (3,)
    target = np.zeros(5)
    mt.store(x, target)
    np.testing.assert_array_equal(target, x.compute())
    mt.to_npy_stack(tmp_path / "stack", mt.ones((5, 4), chunks=(2, 4)))
    assert mt.from_npy_stack(tmp_path / "stack").sum().compute() == 20
    late = original.delayed(np.ones)((3, 4))
    assert mt.stack([mt.from_delayed(late, (3, 4), float)] * 2).sum().compute() == 24
    total, _ = mt.compute(x.sum(), x.max())
    assert mt.assert_eq(x.sum(), total)


@pytest.mark.parametrize("module", [mt, md, marsdask.learn], ids=lambda module: module.__name__)
def test_modules_show_what_is_public(module):
    """Completion offers the names of ``__all__``, not the folders of the implementation."""
    assert sorted(dir(module)) == sorted(set(module.__all__))
    for name in ("creation", "elementwise", "keyed", "base", "protocols"):
        assert name not in dir(module)


def test_the_package_shows_its_parts():
    """The packages that are imported on first use are among them, the imports are not."""
    assert {"tensor", "dataframe", "learn", "compute", "__version__"} <= set(dir(marsdask))
    assert not {"core", "functools", "limited_by", "Any"} & set(dir(marsdask))
