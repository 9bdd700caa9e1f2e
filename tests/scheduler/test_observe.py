"""Dask's callbacks on our schedulers."""

import dask.array as da
import pytest
from dask.callbacks import Callback
from dask.diagnostics import Profiler, ProgressBar

import marsdask.scheduler as ms
from marsdask.scheduler.testing.tools import Broken, fail

shared = ms.get_threads.__globals__["_shared"]


@pytest.fixture(autouse=True)
def nothing_left_running():
    """Close the shared schedulers after each test."""
    yield
    while shared:
        shared.popitem()[1].scheduler.close()


def inc(x):
    return x + 1


class Notes(Callback):
    def __init__(self):
        self.notes = []
        self.values = {}

    def _start(self, dsk):
        self.notes.append(("start", len(dsk)))

    def _start_state(self, dsk, state):
        self.notes.append(("state", len(state["waiting"])))

    def _pretask(self, key, dsk, state):
        assert key in dsk
        assert key in state["running"]
        self.notes.append(("pre", key))

    def _posttask(self, key, value, dsk, state, worker_id):
        assert key in state["finished"]
        self.notes.append(("post", key))
        self.values[key] = value

    def _finish(self, dsk, state, failed):
        self.notes.append(("finish", failed))


GRAPH = {"x": 1, "y": (inc, "x"), "z": (inc, "y"), "unused": (inc, "x")}


@pytest.mark.parametrize("get", [ms.get_threads, ms.get_processes, ms.get_sync])
def test_callbacks(get):
    """Callbacks hear of the graph's start and end, and of each task with its result."""
    with Notes() as notes:
        assert get(GRAPH, "z") == 3
    assert notes.notes[:2] == [("start", 3), ("state", 2)]
    tasks = [note for note in notes.notes[2:-1] if note[1] != "x"]
    assert tasks == [("pre", "y"), ("post", "y"), ("pre", "z"), ("post", "z")]
    assert (notes.values["y"], notes.values["z"]) == (2, 3)
    assert notes.notes[-1] == ("finish", False)


@pytest.mark.parametrize("get", [ms.get_threads, ms.get_processes, ms.get_sync])
def test_failure(get):
    """After a failure callbacks are told that it failed."""
    with Notes() as notes, pytest.raises(Broken):
        get({"x": (fail,)}, "x")
    assert notes.notes[-1] == ("finish", True)


def test_a_cache_may_fill_the_graph():
    """What a callback puts into the graph at the start is not computed."""

    class Cached(Callback):
        def _start(self, dsk):
            dsk["y"] = 10

    with Cached(), Notes() as notes:
        assert ms.get(GRAPH, "z") == 11
    assert ("pre", "y") not in notes.notes


def test_inner_computations_are_not_observed():
    """Only the outermost computation is, as Dask does."""
    with Notes() as notes:
        assert ms.get({"a": (lambda: ms.get(GRAPH, "z"),)}, "a") == 3
    assert [note for note in notes.notes if note[0] == "pre"] == [("pre", "a")]


def test_dask_diagnostics(capsys):
    """Dask's progress bar and profiler work."""
    array = da.ones(100, chunks=10)
    with ProgressBar(), Profiler() as profiler:
        assert array.sum().compute(scheduler=ms.get) == 100
    assert "100% Completed" in capsys.readouterr().out
    assert len(profiler.results) >= 10
