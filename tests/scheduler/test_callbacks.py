"""Dask's callbacks on our schedulers, measured by what dask.threaded tells them."""

import threading

import dask
import dask.array as da
import dask.threaded
import pytest
from dask.callbacks import Callback
from dask.diagnostics import CacheProfiler, Profiler, ProgressBar, ResourceProfiler

import marsdask.scheduler as ms
from marsdask.scheduler.callbacks import Observer, observing
from marsdask.scheduler.testing.tools import DEADLINE, Broken, fail

shared = ms.get_threads.__globals__["_shared"]

GETTERS = [ms.get_threads, ms.get_processes, ms.get_sync]


@pytest.fixture(autouse=True)
def nothing_left_running():
    """Close the shared schedulers after each test."""
    yield
    while shared:
        shared.popitem()[1].scheduler.close()


def inc(x):
    return x + 1


class Notes(Callback):
    """Records all calls of a callback, with the state at that time."""

    def __init__(self):
        self.notes = []
        self.values = {}
        self.states = []
        self.workers = set()

    def _note(self, what, state, *more):
        pending = len(state["ready"]) + len(state["waiting"])
        counts = pending, len(state["running"]), len(state["finished"])
        self.notes.append((what, *counts, *more))

    def _start(self, dsk):
        self.notes.append(("start", len(dsk)))

    def _start_state(self, dsk, state):
        self._note("state", state, len(state["ready"]))
        names = ("dependencies", "dependents", "waiting", "waiting_data")
        self.states.append({name: {k: set(v) for k, v in state[name].items()} for name in names})
        self.states.append((set(state["ready"]), dict(state["cache"])))

    def _pretask(self, key, dsk, state):
        assert key in dsk
        assert key in state["running"]
        self._note("pre", state)

    def _posttask(self, key, value, dsk, state, worker_id):
        assert key in state["finished"]
        self._note("post", state)
        self.values[key] = value
        self.workers.add(worker_id)

    def _finish(self, dsk, state, failed):
        self._note("finish", state, failed)
        self.states.append((set(state["released"]), set(state["finished"])))


GRAPH = {"x": 1, "y": (inc, "x"), "z": (inc, "y"), "unused": (inc, "x")}
DIAMOND = {"a": 1, "b": (inc, "a"), "c": (inc, "b"), "d": (inc, "b"), "e": (sum, ["c", "d", "a"])}


def told(get, graph, keys):
    with Notes() as notes:
        get(graph, keys, num_workers=1)
    return notes


@pytest.mark.parametrize("get", GETTERS)
@pytest.mark.parametrize(
    ("graph", "keys"), [(GRAPH, "z"), (DIAMOND, ["e", ["b"]]), ({"x": 1}, "x")]
)
def test_as_on_dask_threaded(get, graph, keys):
    """The counts at each call, the state at the start and at the end, and the values agree."""
    ours, theirs = told(get, graph, keys), told(dask.threaded.get, graph, keys)
    assert ours.notes == theirs.notes
    assert ours.states == theirs.states
    assert ours.values == theirs.values


def test_an_array_as_on_dask_threaded():
    """So do those of an array's graph, with several workers, but for the order."""
    array = (da.ones((40, 40), chunks=10) + 1).sum(axis=0)
    notes = []
    for get in (ms.get, dask.threaded.get):
        with Notes() as seen:  # Dask names the last task of compute() anew each time
            get(array.__dask_graph__(), array.__dask_keys__())
        notes.append(seen)
    ours, theirs = notes
    assert ours.states == theirs.states
    assert ours.notes[:2] == theirs.notes[:2]
    assert ours.notes[-1] == theirs.notes[-1] == ("finish", 0, 0, len(theirs.values), False)
    assert ours.values.keys() == theirs.values.keys()


def test_the_next_task_is_the_last_of_the_ready():
    """As Dask's, which takes them from the end."""
    ready, begun = [], []
    with Callback(
        start_state=lambda dsk, state: ready.extend(state["ready"]),
        pretask=lambda key, dsk, state: begun.append(key),
    ):
        ms.get(dict.fromkeys("abc", (int,)), ["a", "b", "c"], num_workers=1)
    assert begun == ready[::-1] == ["a", "b", "c"]


@pytest.mark.parametrize("get", GETTERS)
def test_failure(get):
    """After a failure, callbacks are called with failed=True, and the task is running."""
    with Notes() as notes, pytest.raises(Broken):
        get({"x": (fail,), "y": (inc, "x")}, "y")
    assert notes.notes[-1] == ("finish", 1, 1, 0, True)


def test_nothing_is_told_after_the_end():
    """Neither the end of a task that was running when another failed, nor a second failure."""
    begun, go_on, ended = threading.Event(), threading.Event(), threading.Event()

    def slow():
        begun.set()
        go_on.wait(DEADLINE)

    def failing():
        begun.wait(DEADLINE)
        raise Broken

    class Ends(Notes):
        def _finish(self, dsk, state, failed):
            super()._finish(dsk, state, failed)
            ended.set()

    with Ends() as notes:
        with pytest.raises(Broken):
            ms.get(
                {"slow": (slow,), "bad": (failing,), "y": (max, "slow", "bad")}, "y", num_workers=2
            )
        assert ended.is_set()
        go_on.set()
        shared.popitem()[1].scheduler.close()  # which waits for the task
    assert notes.notes[-1] == ("finish", 1, 2, 0, True)


def test_an_error_of_a_callback_is_raised():
    """As on Dask's schedulers, and the others hear that it failed."""

    class Wrong(Callback):
        def _posttask(self, key, value, dsk, state, worker_id):
            raise Broken

    for get in (*GETTERS, dask.threaded.get):
        with Notes() as notes, Wrong(), pytest.raises(Broken):
            get(GRAPH, "z")
        assert notes.notes[-1][0] == "finish"
        assert notes.notes[-1][-1]


def test_a_cache_may_fill_the_graph():
    """A result that a callback puts into the graph is not computed."""

    class Cached(Callback):
        def _start(self, dsk):
            dsk["y"] = 10

    with Cached(), Notes() as notes:
        assert ms.get(GRAPH, "z") == 11
    assert notes.values == {"z": 11}
    assert notes.notes[-1] == ("finish", 0, 0, 1, False)


def test_inner_computations_are_not_observed():
    """Only the outermost computation is, as Dask does."""
    with Notes() as notes:
        assert ms.get({"a": (lambda: ms.get(GRAPH, "z"),)}, "a") == 3
    assert notes.values == {"a": 3}


def test_a_registration_outlives_computations():
    """Also those of other threads, which Dask would forget it by."""
    notes = Notes()
    inside, outside = threading.Event(), threading.Event()

    def waits():
        inside.set()
        outside.wait(DEADLINE)

    notes.register()
    try:
        first = threading.Thread(target=ms.get, args=({"a": (waits,)}, "a"))
        first.start()
        inside.wait(DEADLINE)

        def other():
            outside.set()
            first.join(DEADLINE)

        ms.get({"b": (other,)}, "b")
        ms.get(GRAPH, "z")
    finally:
        notes.unregister()
    assert notes.values.keys() == {"a", "y", "z"}
    ms.get(GRAPH, "z")
    assert len(notes.values) == 3


def test_without_callbacks_there_is_no_observer():
    """An empty list of callbacks has no effect."""
    with observing() as none, observing([]) as nobody:
        assert (none, nobody) == ((), ())
    with Notes(), observing() as found:
        assert [type(one) for one in found] == [Observer]
    with Notes(), observing([]) as found:
        assert found == ()


@pytest.mark.parametrize("get", GETTERS)
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_dask_diagnostics(get, capsys):
    """Dask's progress bar and profilers tell what they tell on its own schedulers."""
    array = da.ones(100, chunks=10)
    seen = []
    for scheduler in (get, dask.threaded.get):
        with (
            ProgressBar(),
            Profiler() as tasks,
            CacheProfiler() as cache,
            ResourceProfiler(dt=0.01) as resources,
        ):
            assert array.sum().compute(scheduler=scheduler) == 100
        out = capsys.readouterr().out
        assert out.endswith("\n")
        assert out.split("\r")[-1].startswith(f"[{'#' * 40}] | 100% Completed")
        assert all(one.start_time < one.end_time for one in tasks.results)
        assert all(isinstance(one.worker_id, int) for one in tasks.results)
        assert all(one.cache_time <= one.free_time for one in cache.results)
        assert resources.results
        assert all(one.mem > 0 for one in resources.results)
        seen.append((len(tasks.results), len(cache.results)))
    assert seen[0] == seen[1]


def test_a_profiler_frees_what_nobody_reads():
    """Results leave the CacheProfiler when their last reader ends, in the order of that."""
    chain = {f"x{i}": (inc, f"x{i - 1}") for i in range(1, 5)} | {"x0": (int,)}
    with CacheProfiler() as cache:
        ms.get(chain, "x4", num_workers=1)
    assert [one.key for one in cache.results] == ["x0", "x1", "x2", "x3", "x4"]
    assert cache.results[0].free_time < cache.results[1].free_time
