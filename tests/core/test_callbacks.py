"""Dask's callbacks hear of what sessions compute."""

from __future__ import annotations

from collections import Counter
from typing import Any

import dask
import dask.threaded
import pytest
from dask.callbacks import Callback
from dask.diagnostics import CacheProfiler, Profiler, ProgressBar, ResourceProfiler

import marsdask.tensor as mt
from marsdask.core.session import new_session, set_default_session, stop_server


@pytest.fixture(autouse=True)
def no_default_session():
    yield
    stop_server()
    set_default_session(None)


class Told(Callback):
    """Which callbacks were called, and what the last one found in the state."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.failed: bool | None = None
        self.tasks = 0
        self.state: dict[str, Any] = {}
        self.begun: list[Any] = []
        self.ended: list[Any] = []

    def _start(self, dsk):
        self.calls.append("start")

    def _start_state(self, dsk, state):
        self.calls.append("state")
        self.tasks = len(state["ready"]) + len(state["waiting"])

    def _pretask(self, key, dsk, state):
        assert key in dsk
        self.begun.append(key)

    def _posttask(self, key, value, dsk, state, worker_id):
        self.ended.append(key)

    def _finish(self, dsk, state, failed):
        self.calls.append("finish")
        self.failed, self.state = failed, state


def broken(block):
    raise RuntimeError("broken block")


def expression():
    return (mt.ones((20, 20), chunk_size=5) * 2).sum(axis=0)


RUNS = {
    "execute": lambda x: x.execute(),
    "compute": lambda x: x.compute(),
    "persist": lambda x: x.persist(),
    "future": lambda x: x.execute(wait=False).result(),
    "dask.compute": dask.compute,
    "optimize_graph": lambda x: x.compute(optimize_graph=False),
}


@pytest.mark.parametrize("how", RUNS)
def test_each_way_to_compute_is_told(how):
    """With one start and one end, and each task once between them."""
    with Told() as told:
        RUNS[how](expression())
    assert told.calls == ["start", "state", "finish"]
    assert told.begun
    assert Counter(told.begun) == Counter(told.ended)
    assert told.failed is False
    assert told.state["finished"] == set(told.ended)
    assert not any(told.state[name] for name in ("ready", "waiting", "running"))


@pytest.mark.parametrize("name", ["inline", "threads", "synchronous", "processes"])
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_dask_diagnostics(name, capsys):
    """Dask's progress bar and profilers work on every scheduler of this process."""
    x = mt.random.rand(40, 40, chunk_size=10)
    with (
        new_session(name, default=False) as session,
        ProgressBar(),
        Profiler() as tasks,
        CacheProfiler() as cache,
        ResourceProfiler(dt=0.01) as resources,
    ):
        (x @ x.T).sum().execute(session=session)
    assert capsys.readouterr().out.split("\r")[-1].startswith(f"[{'#' * 40}] | 100% Completed")
    assert tasks.results
    assert all(one.start_time < one.end_time for one in tasks.results)
    assert all(isinstance(one.worker_id, int) for one in tasks.results)
    assert {one.key for one in cache.results} == {one.key for one in tasks.results}
    assert resources.results


def test_dasks_own_scheduler_tells_once():
    """Where Dask runs the tasks it calls the callbacks, and nobody else does."""
    with new_session(dask.threaded.get, default=False) as session, Told() as told:
        expression().execute(session=session)
    assert told.calls == ["start", "state", "finish"]
    assert Counter(told.begun) == Counter(told.ended)


def test_stages_are_one_computation():
    """What looks at values first is told with one start and one end, and the graph grows."""
    x = mt.random.rand(4000, chunk_size=500)
    with Told() as told, Profiler() as profiler:
        x[x > 0.5].rechunk(300).execute()
    assert told.calls == ["start", "state", "finish"]
    assert len(told.state["finished"]) > told.tasks, "the lengths were looked at in a first graph"
    assert Counter(told.begun) == Counter(told.ended)
    assert len(set(told.ended)) == len(told.ended) == len(profiler.results)
    assert told.state["finished"] == set(told.ended)
    assert not any(told.state[name] for name in ("ready", "waiting", "running"))


def test_what_is_there_is_not_told_again():
    """An executed input is no task of what is built on it."""
    x = mt.random.rand(20, 20, chunk_size=5).execute()
    with Told() as told:
        (x + 1).execute()
    assert told.begun
    assert told.state["finished"] == set(told.ended)
    with Told() as told:
        x.execute()
    assert not told.calls


def test_failures_are_told():
    """The end says so, the task is among the running, and the user gets its error."""
    x = mt.ones((20, 20), chunk_size=5).map_blocks(broken, dtype=float)
    with Told() as told, pytest.raises(RuntimeError, match="broken block"):
        x.execute()
    assert told.failed is True
    assert told.state["running"]
    assert not told.ended


def test_a_registered_callback_hears_of_all_until_it_goes():
    """``register()`` is for every computation that follows."""
    told = Told()
    told.register()
    try:
        expression().execute()
        (expression() + 1).compute()
    finally:
        told.unregister()
    assert told.calls == ["start", "state", "finish"] * 2
    (expression() + 2).execute()
    assert len(told.calls) == 6


def test_computations_inside_of_tasks_are_not_told():
    """Only the outermost is, as on Dask's schedulers."""

    def nested(block):
        return block + (mt.ones(4, chunk_size=2) * 3).sum().compute()

    with Told() as told:
        found = mt.ones(8, chunk_size=4).map_blocks(nested, dtype=float).compute()
    assert found.tolist() == [13.0] * 8
    assert told.calls == ["start", "state", "finish"]
