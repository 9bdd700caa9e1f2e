"""Inputs of results are forgotten, and lost results are computed again from their rules."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import marsdask
import marsdask.tensor as mt
from marsdask.scheduler.remote.client import SupervisorScheduler
from marsdask.scheduler.supervisor import jobs
from marsdask.scheduler.supervisor.lineage import Lineage, needed
from marsdask.scheduler.supervisor.submissions import SubmittedGraphs
from tests.cluster.loop import beside


@pytest.fixture(scope="module")
def cluster():
    """Start a supervisor that checks its states, and two workers, in this process."""
    with beside({"nthreads": 1}, {"nthreads": 1}, validate=True) as cluster:
        yield cluster


@pytest.fixture
def session(cluster, monkeypatch):
    """Return a session whose jobs are large from the tenth task on."""
    monkeypatch.setattr(jobs, "BATCH", 10)
    monkeypatch.setattr(jobs, "AHEAD", 30)
    monkeypatch.setattr(jobs, "AHEAD_EACH", 1)
    scheduler = SupervisorScheduler(cluster.scheduler_address)
    with (
        marsdask.new_session(scheduler, default=False) as session,
        marsdask.option_context({"coalesce": False}),
    ):
        yield session
    scheduler.close()


def of_jobs(scheduler):
    """Return the tasks of jobs, which have keys of tensors."""
    return [ts for ts in scheduler.tasks.values() if isinstance(ts.key, tuple)]


def lose(scheduler, many):
    """Lose results whose inputs are forgotten, as if workers had died; return their number."""
    keys = [
        ts.key
        for ts in of_jobs(scheduler)
        if ts.state == "memory" and isinstance(ts.run_spec, Lineage)
    ]
    scheduler.transitions(dict.fromkeys(keys[:many], "released"), "lost")
    return len(keys[:many])


@pytest.fixture
def losses(cluster, monkeypatch):
    """Lose results whenever a batch is sent; return how many each time."""
    found: list[int] = []
    send = SubmittedGraphs.send

    def spy(self, prepared):
        send(self, prepared)
        found.append(lose(cluster.scheduler, len(found) % 3))

    monkeypatch.setattr(SubmittedGraphs, "send", spy)
    return found


def test_inputs_of_results_are_forgotten(session, cluster):
    """Of three hundred tasks those of the last batches are left, and none when the result goes."""
    scheduler = cluster.scheduler
    before = len(of_jobs(scheduler))
    x = (mt.ones(200, chunk_size=1) + 1).sum()
    x.execute(session=session)
    job = list(scheduler.jobs.jobs.values())[-1]
    assert job.total == job.done > 200
    assert len(of_jobs(scheduler)) - before < 40
    assert x.fetch(session=session) == 400


SHAPES = {
    "tree": lambda: (mt.ones((120, 2), chunk_size=(2, 2)) + 1).sum(axis=0),
    "looks": lambda: mt.sort(mt.arange(120, chunk_size=4)[::-1]) * 1,
    "used twice": lambda: mt.cumsum(mt.ones(60, chunk_size=2) - mt.ones(60, chunk_size=2).mean()),
}


@pytest.mark.parametrize("name", SHAPES)
def test_results_that_are_lost_meanwhile(session, losses, name):
    """Each is computed again, whatever the shape of the graph, and the value is right."""
    expected = SHAPES[name]().compute(scheduler="synchronous")
    x = SHAPES[name]()
    x.execute(session=session)
    assert sum(losses) > 2
    assert np.array_equal(x.fetch(session=session), expected)


def test_results_that_are_lost_afterwards(session, cluster):
    """The job has ended, but what compiled it lives as long as its results."""
    x = mt.arange(60, chunk_size=1) + 1
    x.execute(session=session)
    client = session.scheduler.client
    lost = client.run_on_scheduler(lambda dask_scheduler: lose(dask_scheduler, 1000))
    assert lost > 40
    assert np.array_equal(x.fetch(session=session), np.arange(60) + 1)


def test_results_that_cannot_be_made_again(session, cluster, monkeypatch, caplog):
    """They are lost, and who waits for them is told."""
    x = mt.arange(60, chunk_size=1) + 2
    x.execute(session=session)

    async def broken(self, *args):
        raise ArithmeticError("no compilation")

    monkeypatch.setattr(Lineage, "_submit", broken)
    client = session.scheduler.client
    client.run_on_scheduler(lambda dask_scheduler: lose(dask_scheduler, 1))
    with pytest.raises(Exception, match=r"lost|cancelled"):
        x.fetch(session=session)
    assert "cannot make the tasks of lost results again" in caplog.text


def test_jobs_that_read_others_results_keep_their_tasks(session, cluster):
    """They could not make those again once they are released."""
    base = mt.arange(60, chunk_size=1) + 3
    base.execute(session=session)
    x = (base * 2).sum()
    x.execute(session=session)
    client = session.scheduler.client
    del base
    client.sync(asyncio.sleep, 0)
    client.submit(abs, -1).result()
    client.run_on_scheduler(lose_all)
    assert x.fetch(session=session) == sum(2 * (i + 3) for i in range(60))


def lose_all(dask_scheduler):
    """Lose every result of jobs."""
    keys = [ts.key for ts in of_jobs(dask_scheduler) if ts.state == "memory"]
    dask_scheduler.transitions(dict.fromkeys(keys, "released"), "lost")


def test_the_same_graph_again(session, cluster):
    """A second job of the same names computes nothing below results with a lineage."""
    first = mt.arange(60, chunk_size=1) + 4
    first.execute(session=session)
    scheduler = SupervisorScheduler(cluster.scheduler_address)
    with marsdask.new_session(scheduler, default=False) as other:
        second = mt.arange(60, chunk_size=1) + 4
        before = len(of_jobs(cluster.scheduler))
        second.execute(session=other)
        assert len(of_jobs(cluster.scheduler)) == before
        assert np.array_equal(second.fetch(session=other), np.arange(60) + 4)
    scheduler.close()


def test_needed_without_lineage():
    """A graph stays as it is."""
    graph: Any = {"a": None}
    assert needed({}, graph, ["a"]) is graph


def test_needed_ends_at_held_results():
    """What results in memory were made of is not computed again; lost ones and their inputs are."""
    lineage = object.__new__(Lineage)
    nodes = {"a": (), "b": ("a",), "c": ("b",), "d": ()}
    graph: Any = {key: SimpleNamespace(dependencies=below) for key, below in nodes.items()}
    tasks: Any = {
        key: SimpleNamespace(run_spec=lineage, state=state)
        for key, state in {"b": "memory", "c": "no-worker"}.items()
    }
    assert set(needed(tasks, graph, ["c"])) == {"c"}
    tasks["b"].state = "no-worker"
    assert set(needed(tasks, graph, ["c"])) == {"a", "b", "c"}
