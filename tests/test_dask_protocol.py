"""Tensors as Dask collections: every verb, every scheduler, in both directions."""

from __future__ import annotations

import gc
import pickle
import sys
from typing import Any

import dask
import dask.array as da
import numpy as np
import pandas as pd
import pytest
from dask.base import is_dask_collection, tokenize
from dask.delayed import delayed
from dask.distributed import Client, LocalCluster, futures_of

import marsdask.dataframe as md
import marsdask.scheduler as schedulers
import marsdask.tensor as mt
from marsdask.core.protocol.layer import MarsLayer
from marsdask.core.session import new_session, stop_server
from tests.core.recording import recording_session

DATA = np.arange(30.0).reshape(5, 6)

GETTERS = {
    "sync": "sync",
    "threads": "threads",
    "get": schedulers.get,
    "get_sync": schedulers.get_sync,
}


@pytest.fixture(autouse=True)
def no_session_left():
    yield
    stop_server()


@pytest.fixture(scope="module")
def cluster():
    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0"
    ) as cluster:
        yield cluster


@pytest.fixture
def client(cluster):
    with Client(cluster) as client:
        yield client


def tensor():
    return mt.ones((5, 6), chunk_size=(2, 3)) * DATA


def array():
    return da.from_array(DATA, chunks=(3, 2))


def increment(value):
    return value + 1


def test_a_graph_is_shown_without_being_made():
    """Whoever asks for it gets one lazy layer, whatever the number of chunks."""
    x = mt.ones((10**4, 10**4), chunk_size=10).sum()
    graph = x.__dask_graph__()
    assert is_dask_collection(x)
    (layer,) = graph.layers.values()
    assert isinstance(layer, MarsLayer)
    assert not layer.is_materialized()
    assert "lazy" in repr(layer)
    assert graph.layers.keys() == set(x.__dask_layers__())


def test_a_layer_pickles_small_and_expands_to_the_same_tasks():
    """Ten chunks or a million."""
    few, many = (mt.ones((n, n), chunk_size=10) + 1 for n in (20, 10**4))
    assert len(pickle.dumps(few.__dask_graph__())) < 1000
    assert len(pickle.dumps(many.__dask_graph__())) < 6000
    copy = pickle.loads(pickle.dumps(few.__dask_graph__()))
    assert set(copy) == set(few.__dask_graph__())
    assert "expanded" in repr(next(iter(copy.layers.values())))


def test_a_long_expression_pickles():
    """Pickling does not recurse along it."""
    x = mt.ones(3)
    for _ in range(sys.getrecursionlimit()):
        x = x + 1
    graph = pickle.loads(pickle.dumps(x.__dask_graph__()))
    assert x.__dask_keys__()[0] in graph


def test_a_long_collection_pickles():
    """Nor does pickling the tensor itself."""
    x = mt.ones(3)
    for _ in range(sys.getrecursionlimit()):
        x = x + 1
    assert pickle.loads(pickle.dumps(x)).node is x.node


def test_keys_are_the_name_and_the_index():
    """Nested by axis, as dask.array's are, over the chunks that users see."""
    x = tensor()
    keys = x.__dask_keys__()
    assert keys[2][1] == (x.node.name, 2, 1)
    assert (len(keys), len(keys[0])) == (3, 2)
    assert mt.ones(4).sum().__dask_keys__() == [(mt.ones(4).sum().node.name,)]
    assert {key for row in keys for key in row} <= set(x.__dask_graph__())


def test_tokens_are_deterministic():
    """Equal expressions have equal tokens, different ones others."""
    assert tokenize(tensor()) == tokenize(tensor())
    assert tokenize(tensor()) != tokenize(tensor() + 1)


@pytest.mark.parametrize("get", GETTERS.values(), ids=GETTERS)
def test_every_scheduler_computes_it(get):
    """Dask's and ours."""
    np.testing.assert_array_equal(tensor().compute(scheduler=get), DATA)
    assert (tensor() + 1).sum().compute(scheduler=get) == DATA.sum() + 30


def test_processes_compute_it():
    """Every task can leave this process: by Dask's getter and by our scheduler."""
    x = (tensor() + 1).sum(axis=0)
    expected = (DATA + 1).sum(axis=0)
    np.testing.assert_array_equal(x.compute(scheduler="processes", num_workers=1), expected)
    with new_session("processes", n_workers=1) as session:
        np.testing.assert_array_equal(x.compute(session=session), expected)
        y = x.execute(session=session)
        np.testing.assert_array_equal(y.compute(scheduler="sync"), expected)


@pytest.mark.parametrize("get", [*GETTERS.values(), None], ids=[*GETTERS, "default"])
def test_a_mixed_compute(get):
    """Tensors, arrays, delayed values and nested containers in one compute, each at its place."""
    x, y = tensor(), array()
    options = {} if get is None else {"scheduler": get}
    both, total, late, nested, again = dask.compute(
        x + mt.from_dask(y), x.sum(), delayed(increment)(x.sum()), {"y": [y]}, x * 2, **options
    )
    np.testing.assert_array_equal(both, 2 * DATA)
    assert total == DATA.sum()
    assert late == DATA.sum() + 1
    np.testing.assert_array_equal(nested["y"][0], DATA)
    np.testing.assert_array_equal(again, 2 * DATA)


def test_persist_and_optimize_give_tensors():
    """Of the same name, over results or over the optimised graph."""
    x = tensor() + 1
    (kept,) = dask.persist(x)
    (optimised,) = dask.optimize(x)
    for y in (kept, optimised):
        assert type(y) is type(x)
        assert y.node.name == x.node.name
        assert y.chunks == x.chunks
        np.testing.assert_array_equal(y.compute(), DATA + 1)
        np.testing.assert_array_equal((y * 2).compute(scheduler="sync"), 2 * (DATA + 1))
        np.testing.assert_array_equal(y.to_dask().compute(), DATA + 1)


def test_optimizing_merges_our_layers():
    """What several layers of ours share is done once, also through an array between them."""
    x = tensor() + 1
    y = mt.from_dask(x.to_dask() * 2) + x
    graph = y.__dask_graph__()
    assert sum(isinstance(layer, MarsLayer) for layer in graph.layers.values()) == 2
    np.testing.assert_array_equal(y.compute(scheduler="sync"), 3 * (DATA + 1))
    np.testing.assert_array_equal(y.compute(), 3 * (DATA + 1))
    two = dask.highlevelgraph.HighLevelGraph.merge((x + 1).__dask_graph__(), x.__dask_graph__())
    optimised = x.__dask_optimize__(two, [])
    assert len(optimised.layers) == 1
    assert set((x + 1).__dask_graph__()) <= set(optimised)


def test_delayed_takes_tensors():
    """As an argument, and inside of containers."""
    assert delayed(sum)([tensor().sum(), tensor().sum()]).compute() == 2 * DATA.sum()
    assert delayed(np.shape)(tensor()).compute() == (5, 6)


def test_executed_results_enter_graphs_as_they_are():
    """Nothing is computed again, and nobody can write into what the session holds."""
    with recording_session() as (_, scheduler):
        x = (mt.ones((4, 6), chunk_size=2) + 1).execute()
        tasks = scheduler.tasks
        y = x.to_dask()
        assert y.chunks == x.chunks
        block = y.blocks[0, 0].compute(scheduler="sync")
        assert block.shape == (2, 2)
        np.testing.assert_array_equal((y + y).compute(scheduler="sync"), np.full((4, 6), 4.0))
        np.testing.assert_array_equal(x.compute(scheduler="sync"), np.full((4, 6), 2.0))
        assert scheduler.tasks == tasks
        stored: Any = x.node
        held = stored.embedded().blocks
        assert not any(block.flags.writeable for block in held.values())


def test_unknown_sizes_keep_the_grid():
    """Chunks of unknown length have keys like others, and nan for a size."""
    x = mt.ones(10, chunk_size=5).map_chunk(np.flatnonzero, dtype=int)
    assert len(x.__dask_keys__()) == 2
    assert np.isnan(x.to_dask().chunks[0][0])
    np.testing.assert_array_equal(x.compute(scheduler="sync"), [0, 1, 2, 3, 4] * 2)
    np.testing.assert_array_equal(x.to_dask().compute(scheduler="sync"), [0, 1, 2, 3, 4] * 2)
    back = mt.from_dask(da.from_array(DATA)[da.from_array(DATA) > 3])
    assert back.compute().shape == (26,)


def test_what_has_to_look_first_says_so():
    """An operation that chooses its tasks by the data has no Dask graph before it ran."""
    x = mt.ones(10, chunk_size=5).map_chunk(np.flatnonzero, dtype=int) + mt.ones(10, chunk_size=3)
    with pytest.raises(NotImplementedError, match="execute"):
        x.compute(scheduler="sync")
    for ask in (x.__dask_keys__, x.to_dask, x.to_delayed):
        with pytest.raises(NotImplementedError, match="execute"):
            ask()
    np.testing.assert_array_equal(x.compute(), np.array([0, 1, 2, 3, 4] * 2) + 1.0)


def test_annotations_reach_the_tasks():
    """Ours tell the memory that a task takes; the user's stay beside them."""
    with dask.annotate(priority=7):
        graph = (mt.ones((4, 4), chunk_size=2) + 1).__dask_graph__()
    (layer,) = pickle.loads(pickle.dumps(graph)).layers.values()
    assert layer.annotations["priority"] == 7
    key = next(iter(layer))
    assert layer.annotations["mars_mem"](key) >= 4 * 8
    assert layer.annotations["mars_mem"]("of another layer") is None


def test_a_cluster_computes_and_keeps(client):
    """Client.compute, persist, gather and published datasets."""
    x = tensor() + 1
    assert client.compute(x.sum()).result() == DATA.sum() + 30
    kept = client.persist(x)
    np.testing.assert_array_equal(kept.compute(), DATA + 1)
    np.testing.assert_array_equal((kept * 2).to_dask().compute(), 2 * (DATA + 1))
    values = client.gather(client.compute([x, kept.sum()]))
    np.testing.assert_array_equal(values[0], DATA + 1)
    assert values[1] == DATA.sum() + 30
    client.publish_dataset(tensor=kept)
    try:
        del kept
        gc.collect()
        np.testing.assert_array_equal(client.get_dataset("tensor").compute(), DATA + 1)
    finally:
        client.unpublish_dataset("tensor")


def test_an_active_client_runs_what_names_no_session(client):
    """Results stay on the cluster as Futures: pickled by key, used where they lie, gathered."""
    x = (tensor() + 1).execute()
    assert x._session.scheduler.name == "dask"
    assert len(pickle.dumps(x)) < 4000
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(x)).compute(), DATA + 1)
    np.testing.assert_array_equal((x + 1).compute(), DATA + 2)
    np.testing.assert_array_equal((x.to_dask() + 1).compute(), DATA + 2)
    np.testing.assert_array_equal(dask.compute(x)[0], DATA + 1)
    with new_session("synchronous", default=False) as near:
        np.testing.assert_array_equal((x + 1).compute(session=near), DATA + 2)
        far = client.persist(tensor() + 5)
        np.testing.assert_array_equal((far + 1).compute(session=near), DATA + 6)


def test_user_functions_without_a_name_travel(client):
    """The keys that the client asks for are those that the scheduler makes."""
    x = tensor().map_blocks(lambda block: block + 7, dtype=float)
    np.testing.assert_array_equal(x.compute(scheduler=client), DATA + 7)
    np.testing.assert_array_equal(client.persist(x).compute(), DATA + 7)


def test_the_session_of_a_client_does_not_close_it(client):
    """Whoever passes a client closes it."""
    with new_session(client) as session:
        assert (tensor() + 1).sum().compute(session=session) == DATA.sum() + 30
    assert client.status == "running"


def test_types_after_execute_are_those_of_the_values(client):
    """Whatever was declared; the chunks on the cluster are all of that type."""
    frame = pd.DataFrame({"k": range(6)})
    parts = [delayed(frame), delayed(frame * 0.5)]
    lazy: Any = md.from_delayed(parts, frame).execute()
    assert lazy._session.scheduler.name == "dask"
    assert lazy.k.dtype == float
    assert [block.k.dtype for block in client.gather(futures_of(lazy))] == [float] * 2
    pd.testing.assert_frame_equal(lazy.fetch(), pd.concat([frame, frame * 0.5]))


def test_worker_processes_compute_it():
    """The same through processes of their own, whose workers import what they need."""
    with (
        LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        assert dask.compute((tensor() + 1).sum())[0] == DATA.sum() + 30
        assert client.compute(tensor().sum()).result() == DATA.sum()
