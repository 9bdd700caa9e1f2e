"""Tasks for which there is no worker: a warning with the reason, and an error after a deadline."""

from __future__ import annotations

import logging
import queue
from concurrent.futures import ThreadPoolExecutor

import dask.config
import pytest
from distributed import Client
from distributed.scheduler import NoValidWorkerError

import marsdask
import marsdask.tensor as mt
from marsdask.scheduler.cluster.failures import NoWorkers
from marsdask.scheduler.remote import client as remote
from marsdask.scheduler.remote.client import SupervisorScheduler
from marsdask.scheduler.supervisor import waiting_tasks
from tests.cluster.commands import DEADLINE
from tests.cluster.loop import beside


@pytest.fixture(scope="module")
def cluster():
    """Start a supervisor and a worker."""
    with dask.config.set({"marsdask.no-workers-timeout": "1h"}), beside({"nthreads": 1}) as cluster:
        yield cluster


@pytest.fixture
def session(cluster, monkeypatch):
    """Return a session of that supervisor that soon asks for reasons; a worker is there."""
    monkeypatch.setattr(waiting_tasks, "_SOON", 0.1)
    monkeypatch.setattr(remote, "_SOON", 0.2)
    cluster.scale(1)
    cluster.scheduler.no_workers_timeout = 3600
    scheduler = SupervisorScheduler(cluster.scheduler_address)
    scheduler.client.wait_for_workers(1, timeout=DEADLINE)
    with marsdask.new_session(scheduler, default=False) as session:
        yield session
        scheduler.close()


@pytest.fixture
def warnings():
    """Return what clients warn of, as it comes."""
    logger = logging.getLogger(remote.__name__)
    logger.addHandler(handler := logging.Handler())
    said: queue.SimpleQueue[str] = queue.SimpleQueue()
    handler.emit = lambda record: said.put(record.getMessage())  # type: ignore[method-assign]
    yield said
    logger.removeHandler(handler)


@pytest.mark.parametrize("returns", [True, False])
def test_the_results_of_the_last_worker(cluster, session, warnings, returns):
    """Who fetches them hears the reason; then the next worker computes them, or none in time."""
    x = (mt.arange(40, chunk_size=10) + 1).execute(session=session)
    client = session.scheduler.client
    client.retire_workers()  # as the preStop of a pod does
    cluster.scale(0)
    while client.sync(client.scheduler.ncores):
        assert session.scheduler.client.status == "running"
    with ThreadPoolExecutor(1) as thread:
        fetched = thread.submit(x.fetch, session=session)
        message = warnings.get(timeout=DEADLINE)
        endpoint = cluster.scheduler_address.removeprefix("tcp://")
        assert message.startswith("the job waits: no workers since ")
        assert f"UTC: start some with mars-worker -s {endpoint}; its job fails after " in message
        if returns:
            cluster.scale(1)
            assert fetched.result(DEADLINE).tolist() == list(range(1, 41))
        else:
            cluster.scheduler.no_workers_timeout = 0.5
            with pytest.raises(NoWorkers, match=r"no worker joined.*500\.00 ms.*mars-worker -s"):
                fetched.result(DEADLINE)


def test_resources_that_no_worker_has(cluster, session):
    """Only the client whose task asks for them is told so, until the task fails."""
    client = session.scheduler.client
    with Client(cluster.scheduler_address, set_as_default=False) as other:
        first = other.submit(pow, 2, 5, resources={"GPU": 1})
        last = other.submit(pow, first, 2)
        while (reason := other.sync(other.scheduler.mars_waiting, client=other.id)) is None:
            assert last.status == "pending"
        assert reason.startswith(f"no worker for the task {first.key!r} since ")
        assert "start one with the resources {'GPU': 1}; its job fails after 60m" in reason
        assert client.sync(client.scheduler.mars_waiting, client=client.id) is None
        cluster.scheduler.no_workers_timeout = 0.1
        with pytest.raises(NoValidWorkerError):
            last.result(DEADLINE)
