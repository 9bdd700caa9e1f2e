"""Plain Dask programs on our schedulers."""

import threading
from concurrent.futures import ThreadPoolExecutor

import dask
import dask.array as da
import dask.bag as db
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import marsdask.scheduler as ms
from marsdask.scheduler.testing.tools import DEADLINE, Broken, fail
from tests.subprocesses import children

# The module has the name of the function that the package exports.
shared = ms.get_threads.__globals__["_shared"]

#: What a processes scheduler makes is shared by the tests and ended after the last.
GETTERS = [ms.get_threads, ms.get_processes, ms.get_sync]


@pytest.fixture(autouse=True)
def nothing_left_running():
    """Look at the end of the module only, for which the shared schedulers last."""


@pytest.fixture(scope="module", autouse=True)
def _close():
    yield
    while shared:
        shared.popitem()[1].scheduler.close()
    assert not children()


def inc(x):
    return x + 1


@pytest.mark.parametrize("get", GETTERS)
def test_collections(get):
    """Arrays, frames, bags and delayed calls compute as on Dask's own schedulers."""
    array = da.arange(100, chunks=7)
    frame = dd.from_pandas(pd.DataFrame({"k": list("ab") * 10, "v": range(20)}), npartitions=3)
    expected = np.arange(100)[::-1].cumsum()
    np.testing.assert_array_equal(array[::-1].cumsum(axis=0).compute(scheduler=get), expected)
    pd.testing.assert_series_equal(
        frame.groupby("k")["v"].sum().compute(scheduler=get),
        frame.groupby("k")["v"].sum().compute(scheduler="sync"),
    )
    assert db.range(10, npartitions=3).map(inc).sum().compute(scheduler=get) == 55
    delayed = dask.delayed(sum)([1, dask.delayed(max)(2, 3)])
    assert dask.compute(delayed, array.max(), scheduler=get) == (4, 99)


@pytest.mark.parametrize("get", GETTERS)
def test_legacy_graph(get):
    """Graphs of tuples and nested keys work, and the result has the shape of the keys."""
    dsk = {"x": 1, "y": (inc, "x"), "z": [["x", "y"]], ("t", 0): (sum, ["x", "y"])}
    assert get(dsk, [["x"], "y", "z", ("t", 0)]) == ((1,), 2, [[1, 2]], 3)
    assert get(dsk, "y") == 2
    assert get(dsk, ("t", 0)) == 3
    assert get(dsk, []) == ()


@pytest.mark.parametrize("get", GETTERS)
def test_failure(get):
    """The task's exception arrives, and the next call works."""
    with pytest.raises(Broken):
        get({"x": (fail, 1), "y": (inc, "x")}, "y")
    assert get({"x": (inc, 1)}, "x") == 2


@pytest.mark.parametrize("get", GETTERS)
def test_missing_key(get):
    """A key that the graph lacks is a KeyError."""
    for callbacks in (None, [dask.callbacks.Callback()._callback]):
        with pytest.raises(KeyError, match="nowhere"):
            get({"x": 1}, "nowhere", callbacks=callbacks)


def test_equal_keys_of_different_graphs():
    """Two calls at once, or one inside the other, may use a key for different things."""
    outer, inner = {"x": (inc, 1)}, {"x": (inc, 10)}
    assert ms.get({"x": (lambda: (ms.get(inner, "x"), ms.get(outer, "x")),)}, "x") == (11, 2)
    barrier = threading.Barrier(2, timeout=DEADLINE)
    results = {}

    def work(number):
        results[number] = ms.get({"x": (lambda: barrier.wait() * 0 + number,)}, "x")

    threads = [threading.Thread(target=work, args=(number,)) for number in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(DEADLINE)
    assert results == {1: 1, 2: 2}


def test_nested():
    """Tasks may compute collections of their own on the same scheduler."""

    def inner(n):
        return int(da.ones(n, chunks=3).sum().compute(scheduler=ms.get))

    total = dask.delayed(sum)([dask.delayed(inner)(n) for n in range(20)])
    assert total.compute(scheduler=ms.get) == 190


def test_schedulers_are_shared():
    """Calls of equal configuration use one scheduler; Dask's options choose it."""
    with ThreadPoolExecutor(3) as pool:
        for options in ({"num_workers": 3}, {"pool": pool}):
            ms.get({"x": 1}, "x", **options)
        with dask.config.set(num_workers=3):
            ms.get({"x": 1}, "x")
    threes = [entry for entry in shared.items() if entry[0][1:] == ("threads", 3)]
    assert len(threes) == 1
    assert threes[0][1].scheduler.nthreads == 3
    assert not threes[0][1].running


def test_nothing_is_held():
    """After a call the scheduler holds none of its results, whether it failed or not."""
    graph = {"x": (inc, 1), "y": (fail, "x")}
    with pytest.raises(Broken):
        ms.get(graph, ["x", "y"])
    ms.get(graph, "x")
    for entry in shared.values():
        with pytest.raises(KeyError):
            entry.scheduler.gather(["x"])


def test_rerun_exceptions_locally():
    """Dask's option to run again what failed, in the calling thread, is honoured."""
    threads = []

    def note():
        threads.append(threading.current_thread())
        raise Broken

    for _ in range(2):
        with pytest.raises(Broken):
            ms.get({"x": (note,)}, "x", rerun_exceptions_locally=True)
    assert threads[-1] is threading.main_thread()
    assert len(threads) == 4


def test_default_is_threads():
    """``marsdask.scheduler.get`` is the getter of the default scheduler."""
    assert ms.get is ms.get_threads
    np.testing.assert_array_equal(da.ones(3).compute(scheduler=ms.get), np.ones(3))
